"""The model and the state of a chain."""
