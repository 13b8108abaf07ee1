"""Random numbers for kernels: named streams, generators, and draws from the usual distributions."""
