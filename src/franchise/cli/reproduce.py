"""`franchise reproduce`: rerun a paper's experiments; the studies are a separate package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franchise.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

ENTRY_POINTS = "franchise.studies"


def reproduce(
    name: Annotated[str, typer.Argument(help="Study: amini, chang-fisher, frank, wang-blei or wilcox.")],
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="Run a small version, in a minute or two.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="FRANCHISE_DATA", help="Directory with the paper's corpora [default: bundled text]."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="New directory for the results, or directory of an interrupted study [default: reproduce-NAME]."
        ),
    ] = None,
) -> None:
    """Rerun a paper's experiments and compare published with measured results."""
    from franchise.cli.render import make_console, shared_progress

    run_study = find_studies()
    console = make_console()
    with shared_progress(console) as on_progress:
        page = run_study(name, out or Path(f"reproduce-{name}"), quick, data, on_progress)
    _print_statements(console, page.parent)
    console.print(f"Results are in {page.parent}. Open {page} in a browser.", soft_wrap=True)


def find_studies() -> Callable[..., Path]:
    """Return the function that runs a study; InputError if the package of studies is not installed."""
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name="reproduce"):
        run_study: Callable[..., Path] = found.load()
        return run_study
    raise InputError(
        "the studies are not installed. Install them with: pip install franchise-studies "
        "(from a clone of the repository: pip install -e studies)."
    )


def _print_statements(console: Console, folder: Path) -> None:
    """Print the published and the measured results as a table."""
    import pandas as pd
    from rich.table import Column, Table

    statements = pd.read_csv(folder / "tables" / "statements.csv", dtype=str)
    columns = (Column(name, overflow="fold") for name in statements.columns)
    title = "Published and measured results"
    table = Table(*columns, title=title, title_justify="left", show_lines=True)
    for row in statements.itertuples(index=False):
        table.add_row(*row)
    console.print(table)
