"""The named samplers: lists of moves, each with an initial state."""
