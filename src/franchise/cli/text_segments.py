"""`franchise segments`: the segments of documents, under a hidden topic Markov model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franchise.cli.options import PATH_HELP, Rules, Run, TableOutput, with_options
from franchise.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MOST_CHARACTERS = 160
"""Characters of a segment that are printed."""


@with_options()
def segments(
    run: Run,
    path: Annotated[
        Path | None, typer.Argument(help=f"New documents [default: the documents of the run]. {PATH_HELP}")
    ] = None,
    *,
    rules: Rules,
    output: TableOutput,
    documents: Annotated[
        int, typer.Option(help="Number of documents to print; a file has all.", metavar="N", min=1)
    ] = 3,
) -> None:
    """Show the segments of documents: consecutive sentences with one topic. For runs with --model htmm.

    Each segment has its sentences, topic, probability and text.
    """
    from franchise.cli.library_arguments import read_like, read_run
    from franchise.cli.options import Source
    from franchise.cli.render import give_table
    from franchise.posterior.htmm_posterior import HTMMPosterior

    posterior = read_run(run, rules)
    if not isinstance(posterior, HTMMPosterior):
        raise InputError(
            f"{run} has no segments: it is a mixture, in which every word has a topic. Use a run of "
            "`franchise fit --model htmm`."
        )
    table = posterior.segment(None if path is None else read_like(Source(path), posterior))
    if not give_table(output, table):
        _print(table, documents)


def _print(table: pd.DataFrame, most: int) -> None:
    """Print the segments of the first documents."""
    from rich.markup import escape

    from franchise.cli.render import make_console

    console, names = make_console(), table["document"].unique()
    for name in names[:most]:
        console.print(f"[bold]{escape(str(name))}[/bold]")
        for _, row in table[table["document"] == name].iterrows():
            first, last = row["first_sentence"], row["last_sentence"]
            which = f"sentence {first}" if first == last else f"sentences {first} to {last}"
            topic = f"topic {row['topic']} ({row['name']}), {row['probability']:.0%}"
            console.print(f"  {which}: {topic}", markup=False, soft_wrap=True)
            if "text" in table:
                console.print(f"    {_excerpt(row['text'])}", markup=False, soft_wrap=True, style="dim")
    if len(names) > most:
        console.print(
            f"Showing {most} of {len(names):,} documents. Use --documents N for more, --out FILE for all."
        )


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 3]}..."
