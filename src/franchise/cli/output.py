"""What commands print with: a console of sensible width, and small pictures of numbers in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def shared_progress(console: Console) -> Iterator[Callable[[str, float], None]]:
    """Show what is being done and the share that is done: a bar, or a line for every tenth if it is not a terminal.

    Gives the function to tell it by.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as bars:
            bar = bars.add_task("starting", total=1.0)
            yield lambda what, share: bars.update(bar, description=what, completed=share)
        return
    tenths = 0

    def print_line(what: str, share: float) -> None:
        nonlocal tenths
        if int(10 * share) > tenths:
            tenths = int(10 * share)
            console.print(f"{what}: {share:.0%}")

    yield print_line


def sparkline(values: Sequence[float], encoding: str = "utf-8") -> str:
    """The values as a row of bars, the highest for the largest; a blank where a value is near zero."""
    steps = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    top = max(values)
    scale = 0.0 if top <= 0 else (len(steps) - 1) / top
    return "".join(steps[round(value * scale)] for value in values)
