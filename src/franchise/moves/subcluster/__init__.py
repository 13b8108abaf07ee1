"""The sub-cluster sampler of Chang and Fisher (2014)."""
