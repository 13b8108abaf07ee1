"""What commands print with: a console of sensible width, and small pictures of numbers in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_PIPED_WIDTH = 120
_BLOCKS, _PLAIN = " ▁▂▃▄▅▆▇█", " .:-=+*#%"


def make_console() -> Console:
    """The standard output; as wide as the terminal, or wide enough for tables if it is a file or a pipe."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_PIPED_WIDTH)


def sparkline(values: Sequence[float], encoding: str = "utf-8") -> str:
    """The values as a row of bars, the highest for the largest; a blank where a value is near zero."""
    steps = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    top = max(values)
    scale = 0.0 if top <= 0 else (len(steps) - 1) / top
    return "".join(steps[round(value * scale)] for value in values)
