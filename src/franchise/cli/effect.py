"""`franchise effect`: what the prevalence of topics depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franchise.cli.options import Rules, Run, TableOutput, with_options

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.topic_effects import TopicEffects

FORMULA_HELP = 'Columns of the metadata, such as "~ party + s(year)".'


@with_options()
def effect(
    *,
    run: Run,
    formula: Annotated[str, typer.Argument(help=FORMULA_HELP)],
    rules: Rules,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Print the prevalence at values of this column, not coefficients."
        ),
    ] = None,
    contrast: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=A,B", help="Print the prevalence at A minus that at B."),
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="N[,...]", help="Numbers of topics [default: all].")
    ] = None,
    level: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.95,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the printed table into this file, with --over or --contrast.",
            rich_help_panel="Output",
        ),
    ] = None,
    output: TableOutput,
) -> None:
    """Regress the prevalence of topics on metadata of the documents.

    Intervals include the uncertainty of the topics and of the regression. Effects are associations.
    """
    import sys

    from franchise.cli.library_arguments import read_run
    from franchise.cli.render import give_table

    column, pair = _what(over, contrast, plot)
    found = read_run(run, rules).effect(formula)
    chosen = None if topics is None else _numbers(topics)
    table = _table(found, column, pair, chosen, level)
    if plot is not None and column is not None:
        found.plot(column, topics=chosen, difference=pair, level=level).savefig(plot)
    table = table if table.index.name == "topic" else table.set_index("topic")
    if not give_table(output, table):
        table.to_csv(sys.stdout, float_format="%.4g")
    if found.note:
        print(found.note, file=sys.stderr)


def _what(
    over: str | None, contrast: str | None, plot: Path | None
) -> tuple[str | None, tuple[str, str] | None]:
    """The column that is shown, and the two values that are compared, as far as there are any."""
    from franchise.errors import InputError

    if over is not None and contrast is not None:
        raise InputError("--over and --contrast cannot be used together. Use one of them.")
    if plot is not None and over is None and contrast is None:
        raise InputError("--plot draws a column or a contrast. Add --over COLUMN or --contrast COLUMN=A,B.")
    return (over, None) if contrast is None else _pair(contrast)


def _table(
    effects: TopicEffects,
    column: str | None,
    pair: tuple[str, str] | None,
    topics: list[int] | None,
    level: float,
) -> pd.DataFrame:
    """The contrast of two values of a column, predictions at its values, or the coefficients without a column."""
    if column is None:
        return effects.table(topics, level)
    if pair is None:
        return effects.predict(effects.values_of(column), topics=topics, level=level)
    return effects.contrast(column, *pair, topics=topics, level=level)


def _numbers(text: str) -> list[int]:
    from franchise.errors import InputError

    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--topics must be numbers such as 0,3; got {text!r}.") from None


def _pair(text: str) -> tuple[str, tuple[str, str]]:
    from franchise.errors import InputError

    column, equals, values = text.partition("=")
    parts = [part.strip() for part in values.split(",")]
    if not equals or len(parts) != 2:
        raise InputError(
            f"--contrast must be a column and two values, such as party=Whig,Republican; got {text!r}."
        )
    return column.strip(), (parts[0], parts[1])
