"""`franchise match`: the topics of a run beside reference signatures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Rules, Run, TableOutput, with_options

if TYPE_CHECKING:
    import pandas as pd

_HELP = "Table of reference signatures, such as COSMIC's: channels in rows or columns, in any usual spelling."


@with_options()
def match(
    *,
    run: Run,
    table: Annotated[Path, typer.Argument(help=_HELP)],
    rules: Rules,
    min_cosine: Annotated[float, typer.Option(help="Smallest cosine of a match.")] = 0.8,
    min_gain: Annotated[
        float,
        typer.Option(help="Smallest gain in cosine of a sum of two references over one."),
    ] = 0.02,
    level: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.95,
    output: TableOutput,
) -> None:
    """Match the topics of a run to reference signatures by cosine: one to one, the best of all, and sums of two.

    Channels are aligned by name. The table of --out and --json has intervals for all cosines.
    """
    from franchise.cli.library_arguments import read_run
    from franchise.cli.render import give_table, make_console

    posterior = read_run(run, rules)
    found = posterior.match_known(table, min_cosine=min_cosine, min_gain=min_gain, level=level)
    if not give_table(output, found):
        make_console().print(_printed(found, level))


def _printed(found: pd.DataFrame, level: float) -> Any:
    """Return the matches as a table for a terminal; the best reference only where another topic has it."""
    from rich.markup import escape
    from rich.table import Column, Table

    known = found.notna()
    table = Table(
        Column("topic", justify="right"),
        Column("share", justify="right"),
        "reference",
        Column(f"cosine ({level:.0%} interval)", justify="right"),
        "best of all",
        "sum of two",
        title=f"{known['reference'].sum()} of {len(found)} topics match a reference",
        title_justify="left",
    )
    for topic, row in found.iterrows():
        matched, paired = known.at[topic, "reference"], known.at[topic, "pair"]
        table.add_row(
            str(topic),
            f"{row['share']:.1%}",
            escape(row["reference"]) if matched else "",
            f"{row['cosine']:.3f} ({row['low']:.3f} to {row['high']:.3f})" if matched else "",
            "" if row["best"] == row["reference"] else escape(f"{row['best']} {row['best_cosine']:.3f}"),
            escape(f"{row['pair']} ({row['weight']:.0%} of the first) {row['pair_cosine']:.3f}")
            if paired
            else "",
        )
    return table
