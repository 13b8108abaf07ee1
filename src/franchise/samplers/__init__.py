"""The named samplers: lists of moves, each with an initial state. The sampling itself is in `moves` and `kernels`."""
