"""`franchise reproduce`: a paper's experiments done again, into a folder with tables, figures and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    name: Annotated[str, typer.Argument(help="The study: amini, chang-fisher, frank, wang-blei or wilcox.")],
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="A small form, done in a minute or two.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(envvar="FRANCHISE_DATA", help="Folder with the real corpora; bundled text without it."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A new folder for the result, or that of an interrupted study; reproduce-NAME if not given."
        ),
    ] = None,
) -> None:
    """Do the experiments of a paper again, and set what it says beside what is measured."""
    from franchise.cli.output import make_console, shared_progress
    from franchise.studies import reproduce as run_study

    console = make_console()
    with shared_progress(console) as tell:
        page = run_study(name, out or Path(f"reproduce-{name}"), quick, data, tell)
    _print_statements(page.parent)
    console.print(f"Everything is in {page.parent}; open {page}", soft_wrap=True)


def _print_statements(folder: Path) -> None:
    """The paper's statements and what became of them, as a table."""
    import pandas as pd
    from rich.table import Table

    from franchise.cli.output import make_console

    statements = pd.read_csv(folder / "tables" / "statements.csv", dtype=str)
    table = Table(title="What the paper says, and what was measured", title_justify="left", show_lines=True)
    for name in statements.columns:
        table.add_column(name, overflow="fold")
    for row in statements.itertuples(index=False):
        table.add_row(*row)
    make_console().print(table)
