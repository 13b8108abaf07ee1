"""Running chains: random streams, starts, sweeps, traces, storage, resuming, progress."""
