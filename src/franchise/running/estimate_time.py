"""Estimates of the time and memory of a run, measured on a few sweeps before it begins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from franchise.parallel.threads import Threads
from franchise.running.kept_draws import MOST_BYTES, MOST_KEPT

_SHORT = 20_000_000
"""Observations times sweeps below which a run is as short as the measurement."""

_PROBED = 3
"""Number of trial sweeps. The first also compiles, so it is not measured."""


class Estimate(NamedTuple):
    """Expected time and memory of a run."""

    seconds: float
    memory: int | None  # bytes; None where the system does not say

    def __str__(self) -> str:
        """Return the estimate in words."""
        memory = "" if self.memory is None else f" and {self.memory / 2**30:.1f} GiB of memory"
        return f"about {_in_words(self.seconds)}{memory}"


def estimate(draw: Callable[..., Any], n_observations: int, asked: dict[str, Any]) -> Estimate | None:
    """Try a few sweeps of all chains; None if the whole run is short.

    `asked` are the arguments of `draw`, which gives a posterior of chains on threads of this process. The number
    of topics changes the time of sweeps, so the time is approximate.
    """
    sweeps = asked["warmup"] + asked["draws"] * asked["thin"]
    if sweeps * asked["chains"] * n_observations < _SHORT or sweeps <= 2 * _PROBED:
        return None
    tried = {**asked, "draws": 1, "thin": 1, "warmup": _PROBED - 1, "time_limit": None}
    posterior = draw(**tried, progress=False)
    clock = np.hstack([posterior.warmup_trace["seconds"], posterior.trace["seconds"]])
    of_chains = np.diff(clock, axis=1).mean(axis=1)
    in_turns = of_chains.sum() / Threads(asked.get("workers")).workers  # with more chains than threads
    seconds = max(float(of_chains.max()), float(in_turns)) * sweeps
    limit = asked["time_limit"]
    kept = asked["chains"] * min(MOST_BYTES, 2 * min(MOST_KEPT, asked["draws"]) * n_observations)
    memory = _peak_memory()
    return Estimate(seconds if limit is None else min(seconds, limit), memory and memory + kept)


def _peak_memory() -> int | None:
    """Return the peak memory of this process, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)


def _in_words(seconds: float) -> str:
    for size, name in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{max(1.0, seconds):.0f} seconds"
