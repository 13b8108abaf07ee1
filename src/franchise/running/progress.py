"""Progress bars of the chains, drawn by rich in a terminal."""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any

_SECONDS_BETWEEN_UPDATES = 0.1

_SECONDS_OF_SPEED = 300.0
"""The remaining time comes from the speed in this period. Chains that take turns may have few sweeps in it."""


class Progress:
    """One bar per chain: sweeps, topics, log likelihood and speed per observation, remaining time.

    Bars are shown if requested; by default (None), only in a terminal.

    """

    def __init__(
        self, asked: bool | None, total: int, done: list[int], n_observations: int, unit: str
    ) -> None:
        self._bars: Any = None
        if not (sys.stdout.isatty() if asked is None else asked):
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._n_observations, self._unit, self._total = n_observations, unit, total
        self._shown = [0.0] * len(done)
        self._begun = [(time.perf_counter(), sweeps) for sweeps in done]
        self._bars = RichProgress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            speed_estimate_period=_SECONDS_OF_SPEED,
            get_time=time.perf_counter,
            transient=False,
        )
        self._tasks = [
            self._bars.add_task(f"chain {chain}", total=total, completed=sweeps, status="")
            for chain, sweeps in enumerate(done)
        ]

    def __enter__(self) -> Progress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def update(self, chain: int, sweeps: int, values: dict[str, float]) -> None:
        """Show the number of sweeps of a chain; `values` are the measurements after the last.

        A bar is redrawn at most ten times per second.

        """
        if self._bars is None:
            return
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


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"
