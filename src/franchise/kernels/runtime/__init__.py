"""How kernels are compiled, and how threads share the blocks of a sweep."""
