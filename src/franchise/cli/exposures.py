"""`franchise exposures`: the topics of the nodes of a level of groups, with intervals."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Rules, Run, TableOutput, with_options

if TYPE_CHECKING:
    import pandas as pd

SHOWN, LARGEST = 20, 5  # nodes, and topics of each
SMALLEST = 0.05


@with_options()
def exposures(
    *,
    run: Run,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="Level of the groups, such as patient [default: the groups or documents]."
        ),
    ] = None,
    interval: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.95,
    counts: Annotated[
        bool, typer.Option("--counts", metavar="", help="Numbers of observations instead of shares.")
    ] = False,
    nodes: Annotated[
        bool, typer.Option("--nodes", metavar="", help="Show the nodes of all levels, with their sizes.")
    ] = False,
    rules: Rules,
    output: TableOutput,
) -> None:
    """Show the topics of groups, or of the nodes of a level above them, with intervals.

    The exposure of a node to a topic is the share of the observations at and below the node that have the topic.
    In a terminal this prints the largest topics of each node; in a pipe, all of them as CSV.
    """
    from franchise.cli.library_arguments import read_run, refuse
    from franchise.cli.render import give_table, make_console

    posterior = read_run(run, rules)
    if nodes:
        refuse("is not for --nodes", level=level, counts=counts or None)
    table = posterior.nodes() if nodes else posterior.exposures(level, interval, counts)
    if give_table(output, table):
        return
    if not sys.stdout.isatty():
        table.to_csv(sys.stdout, float_format="%.6g")
    elif nodes:
        make_console().print(_nodes(table))
    else:
        shown = make_console()
        shown.print(_exposures(table, counts))
        total = len(table.index.levels[0])  # type: ignore[attr-defined]
        if total > SHOWN:
            shown.print(f"Showing {SHOWN} of {total:,}. Use --out FILE for all.")


def _nodes(table: pd.DataFrame) -> Any:
    from rich.markup import escape
    from rich.table import Column, Table

    numbers = [Column(name, justify="right") for name in ("groups", "observations", "topics")]
    shown = Table("node", "level", *numbers)
    for name, row in table.head(SHOWN).iterrows():
        counts = f"{row['groups']:,}", f"{row['observations']:,}", f"{row['topics']:.1f}"
        shown.add_row(escape(str(name)), escape(row["level"]), *counts)
    if len(table) > SHOWN:
        shown.caption = f"Showing {SHOWN} of {len(table):,}. Use --out FILE for all."
    return shown


def _exposures(table: pd.DataFrame, counts: bool) -> Any:
    """Return the largest topics of the first nodes as a table for a terminal."""
    from rich.markup import escape
    from rich.table import Table

    from franchise.cli.render import named

    form = "{:,.0f} ({:,.0f} to {:,.0f})" if counts else "{:.0%} ({:.0%} to {:.0%})"
    shown = Table(str(table.index.names[0]), "topics, with intervals", show_lines=True)
    for name, rows in list(table.groupby(level=0, sort=False))[:SHOWN]:
        largest = rows.sort_values("mean", ascending=False, kind="stable").head(LARGEST)
        largest = largest[largest["mean"] >= (0.5 if counts else SMALLEST)]
        topics = largest.index.get_level_values("topic")
        lines = [
            f"{form.format(row['mean'], row['lower'], row['upper'])}  {named(topic, row['label'])}"
            for topic, (_, row) in zip(topics, largest.iterrows(), strict=True)
        ]
        shown.add_row(escape(str(name)), escape("\n".join(lines)))
    return shown
