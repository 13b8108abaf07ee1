"""`franchise samplers`: the samplers and their properties."""

from __future__ import annotations


def samplers() -> None:
    """List the samplers: the model each is exact for, and its properties."""
    from rich.table import Column, Table

    from franchise.cli.render import make_console
    from franchise.samplers.registry import sampler_table

    facts = sampler_table()
    short = facts.drop(columns="what")
    columns = (Column(name.replace("_", " "), overflow="fold") for name in short.columns)
    table = Table(*columns, title="Samplers", title_justify="left")
    for row in short.itertuples(index=False):
        table.add_row(*(_in_words(value) for value in row))
    console = make_console()
    console.print(table)
    for name, what in zip(facts["name"], facts["what"], strict=True):
        console.print(f"[bold]{name}[/bold]: {what}")
    console.print(
        "exact: samples the exact posterior of that model, as enumeration confirms. "
        'Use one by name: franchise.sample(data, sampler="crf").'
    )


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    return str(value)
