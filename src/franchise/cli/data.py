"""`franchise data`: the bundled data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FILES = {"sotu": "jsonl", "ants": "csv"}


def data(
    name: Annotated[
        str | None, typer.Argument(help="Data set to write to a file [default: list the data sets].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file [default: NAME.jsonl or NAME.csv].")
    ] = None,
) -> None:
    """List the bundled data sets, or write one to a file."""
    from franchise.cli.render import write_text
    from franchise.data.datasets import names, table
    from franchise.errors import InputError
    from franchise.validation import check_choice

    if name is None:
        _list()
        return
    check_choice("name", name, names())
    path = out or Path(f"{name}.{_FILES[name]}")
    if path.exists():
        raise InputError(f"{str(path)!r} already exists. Use another file with --out.")
    rows = table(name)
    if path.suffix == ".jsonl":
        write_text(path, rows.to_json(orient="records", lines=True, force_ascii=False))
    else:
        write_text(path, rows.to_csv(index=False))
    print(path)


def _list() -> None:
    from franchise.cli.render import make_console
    from franchise.data.datasets import describe, names

    console = make_console()
    for name in names():
        console.print(f"[bold]{name}[/bold]  {describe(name)}", soft_wrap=not console.is_terminal)
    console.print("\n  franchise fit sotu --out run                 topics of the addresses", markup=False)
    console.print("  franchise fit ants --family poisson          clusters of the counts", markup=False)
    console.print("  franchise data sotu                          the texts as a file", markup=False)
