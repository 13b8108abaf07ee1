"""Examples of Hypothesis have no time limit, so that a busy machine fails no test."""

from hypothesis import settings

settings.register_profile("data", deadline=None)
settings.load_profile("data")
