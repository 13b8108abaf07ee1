"""Is it any good: convergence of traces, held-out scores; NumPy in, numbers out."""
