"""The named samplers: lists of moves, each with an initial state. The loops are in `moves` and `kernels`."""
