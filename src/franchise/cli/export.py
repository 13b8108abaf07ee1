"""`franchise export`: all tables of a run, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from franchise.cli.effect import FORMULA_HELP
from franchise.cli.options import Rules, Run, one_of, with_options

TABLE_FORMATS = ("csv", "excel", "parquet")


@with_options()
def export(
    *,
    run: Run,
    rules: Rules,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="A new folder for the tables.")],
    format: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(TABLE_FORMATS)}.", autocompletion=one_of(TABLE_FORMATS)),
    ] = "csv",
    effect: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMULA", help=f"{FORMULA_HELP} Adds effects; may be given several times."),
    ] = None,
    min_probability: Annotated[
        float, typer.Option(help="Smallest probability of the words of a topic; 0 for all words.")
    ] = 0.001,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier export.", metavar="")
    ] = False,
) -> None:
    """Write topics, words, documents with metadata, effects and convergence as tables for other programs.

    The folder has a README.txt that describes every file and reports what a format cannot store.
    """
    from franchise.cli.library_arguments import read_run

    posterior = read_run(run, rules)
    effects = [posterior.effect(formula) for formula in effect or ()]
    written = posterior.export(
        to, format, effects=effects, min_probability=min_probability, overwrite=overwrite
    )
    print(written)
