"""Where work runs: the same functions, the same answers, somewhere."""

from franchise.engines.ray import Ray
from franchise.engines.threads import Threads

__all__ = ["Ray", "Threads"]
