"""`franchise topics`: the topics of a run and of its documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from franchise.cli.options import Rules, Run, TableOutput, with_options


@with_options()
def topics(
    run: Run,
    rules: Rules,
    output: TableOutput,
    words: Annotated[int, typer.Option(help="Number of words to show per topic.")] = 10,
    most: Annotated[int | None, typer.Option(min=1, help="Show only the N largest topics.")] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the topics of every document to this CSV file.",
            rich_help_panel="Output",
        ),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(
            metavar="CHAIN",
            min=0,
            help="Show the topics of the last draw of this chain instead of the consensus topics.",
        ),
    ] = None,
) -> None:
    """Show the topics of a run, finished or not.

    `franchise report` and `franchise infer` use the same numbers and labels if the rules are the same.
    """
    from franchise.cli.library_arguments import read_run
    from franchise.cli.render import give_table, make_console, print_topics, write_table

    posterior = read_run(run, rules)
    shown = posterior if draw is None else posterior.draw(draw)
    everything = shown.topics(words=words)
    table = everything if most is None else everything.head(most)
    if documents is not None:
        write_table(documents, shown.document_topics())
    if not give_table(output, table) and documents is None:
        print_topics(make_console(), table, len(everything))
