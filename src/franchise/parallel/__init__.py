"""Engines: where chains run. The draws do not depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franchise.parallel.threads import Threads

if TYPE_CHECKING:
    from franchise.cluster.ray_engine import Ray

__all__ = ["Ray", "Threads"]


def __getattr__(name: str) -> Any:
    """Import the engine for clusters when it is first used."""
    if name != "Ray":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from franchise.parallel.threads import ray_class

    return ray_class()
