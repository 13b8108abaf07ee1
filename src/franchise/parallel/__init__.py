"""Where work runs: the same functions, the same answers, somewhere."""

from franchise.cluster.ray_engine import Ray
from franchise.parallel.threads import Threads

__all__ = ["Ray", "Threads"]
