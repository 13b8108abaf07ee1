"""Engines, the places where chains run: `Threads` of this process (the default), or actors of a cluster (`Ray`)."""

from franchise.cluster.ray_engine import Ray
from franchise.parallel.threads import Threads

__all__ = ["Ray", "Threads"]
