"""Progress: a live line for each chain, drawn by rich; nothing when nobody is looking."""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any, Protocol

_SECONDS_BETWEEN_UPDATES = 0.1


class Progress(Protocol):
    """What a run tells while it goes on."""

    def __enter__(self) -> Progress:
        """Begin."""

    def __exit__(self, *details: object) -> None:
        """End."""

    def update(self, chain: int, sweeps: int, values: dict[str, float]) -> None:
        """Show that a chain has done this many sweeps; `values` are what was measured after the last."""


class Silence:
    """No progress shown."""

    def __enter__(self) -> Silence:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def update(self, chain: int, sweeps: int, values: dict[str, float]) -> None:
        """Nothing."""


class Bars:
    """A bar for each chain: sweeps, topics, log likelihood and speed per observation, time left."""

    def __init__(self, chains: int, total: int, done: list[int], n_observations: int, unit: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._n_observations, self._unit = n_observations, unit
        self._shown = [0.0] * chains
        self._begun = [(time.perf_counter(), sweeps) for sweeps in done]
        self._bars: Any = RichProgress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            transient=False,
        )
        self._tasks = [
            self._bars.add_task(f"chain {chain}", total=total, completed=done[chain], status="")
            for chain in range(chains)
        ]
        self._total = total

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._bars.stop()

    def update(self, chain: int, sweeps: int, values: dict[str, float]) -> None:
        """Redraw the chain's bar, but not more often than the eye can follow."""
        now = time.perf_counter()
        if now - self._shown[chain] < _SECONDS_BETWEEN_UPDATES and sweeps < self._total:
            return
        self._shown[chain] = now
        begun, before = self._begun[chain]
        speed = (sweeps - before) * self._n_observations / max(now - begun, 1e-9)
        status = (
            f"{values['n_topics']:.0f} topics  "
            f"{values['log_likelihood_per_observation']:.3f} nats/{self._unit}  "
            f"{_short(speed)} {self._unit}s/s"
        )
        self._bars.update(self._tasks[chain], completed=sweeps, status=status)


@cache
def say_once(line: str) -> None:
    """Print a line on the standard error stream; the same line only once in a process."""
    print(line, file=sys.stderr)


def make_progress(
    asked: bool | None, chains: int, total: int, done: list[int], n_observations: int, unit: str
) -> Progress:
    """Bars if asked for or, when nothing is said, if the output is a terminal; otherwise silence."""
    shown = sys.stdout.isatty() if asked is None else asked
    return Bars(chains, total, done, n_observations, unit) if shown else Silence()


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
