"""What commands print with: a console of sensible width, and small pictures of numbers in a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
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


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, index included, as plain values that JSON can hold."""
    flat = table.reset_index()
    flat.columns = [str(name) for name in flat.columns]
    return list(json.loads(flat.to_json(orient="records")))


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, whole or not at all."""
    from franchise.chains.storage import write_atomically
    from franchise.validation import check_folder

    check_folder("--out", path.parent)
    if path.is_dir():
        raise InputError(f"--out must be a file; {str(path)!r} is a folder.")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, table.to_csv(float_format="%.6g").encode())


def sparkline(values: Sequence[float], encoding: str = "utf-8") -> str:
    """The values as a row of bars, the highest for the largest; a blank where a value is near zero."""
    steps = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    top = max(values)
    scale = 0.0 if top <= 0 else (len(steps) - 1) / top
    return "".join(steps[round(value * scale)] for value in values)
