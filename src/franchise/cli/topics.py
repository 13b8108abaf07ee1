"""`franchise topics`: the topics of a run and of its documents; their names, merges and groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Edits, Rules, Run, TableOutput, with_options
from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.posterior.base import Posterior


def _output(help: str, *names: str, metavar: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Output", metavar=metavar)


_PARAMETERS = _output(
    "Show the parameters of topics with intervals, such as rates of counts.", "--parameters", metavar=""
)
_DRAW = typer.Option(
    metavar="CHAIN",
    min=0,
    help="Show the topics of the last draw of this chain instead of the consensus topics.",
)


@with_options()
def topics(
    run: Run,
    rules: Rules,
    edits: Edits,
    output: TableOutput,
    words: Annotated[int, typer.Option(help="Number of words to show per topic.")] = 10,
    most: Annotated[int | None, typer.Option(min=1, help="Show only the N largest topics.")] = None,
    tree: Annotated[bool, _output("Show a tree of groups instead of a table.", "--tree", metavar="")] = False,
    documents: Annotated[
        Path | None, _output("Write the topics of every document to this CSV file.", metavar="FILE")
    ] = None,
    parameters: Annotated[bool, _PARAMETERS] = False,
    draw: Annotated[int | None, _DRAW] = None,
) -> None:
    """Show the topics of a run, finished or not; name, merge and group them.

    `franchise report` and `franchise infer` use the same numbers and labels if the rules are the same. Names and
    merges are stored in the run, with the rules and groups that are given with them; then all commands use them.
    """
    from franchise.cli.library_arguments import check_numbers, check_rules
    from franchise.cli.render import (
        give_table,
        make_console,
        print_line,
        print_topics,
        print_tree,
        write_table,
    )

    if draw is not None and (tree or any(vars(edits).values())):
        raise InputError("--draw shows the topics of one draw, which have no names or groups. Remove it.")
    check_numbers(words=words)
    check_rules(rules)
    posterior, stored = _edited(run, rules, edits)
    shown = posterior if draw is None else posterior.draw(draw)
    if parameters:
        _print_parameters(posterior, output)
        return
    everything = shown.topics(words=words)
    table = everything if most is None else everything.head(most)
    if documents is not None:
        write_table(documents, shown.document_topics())
    if not give_table(output, table) and documents is None:
        console = make_console()
        if tree:
            print_tree(console, posterior)
        else:
            print_topics(console, table, len(everything))
        if stored:
            print_line(console, f"{stored} The run {run} is changed; all commands use this.")


def _print_parameters(posterior: Posterior[Any], output: TableOutput) -> None:
    """Print the parameters of topics, or write them to a file."""
    from franchise.cli.render import give_table, make_console
    from franchise.posterior.hdp_posterior import HDPPosterior

    if not isinstance(posterior, HDPPosterior):
        raise InputError("--parameters is for runs of counts and measurements. Remove it.")
    table = posterior.topic_parameters().set_index("topic")
    if not give_table(output, table):
        make_console().print(table.round(4).to_string(), markup=False, soft_wrap=True)


def _edited(run: Path, rules: Rules, edits: Edits) -> tuple[Posterior[Any], str]:
    """Return the posterior of a run with names and merges, and what is stored in the run, in words."""
    from franchise.cli.library_arguments import read_run, under_rules
    from franchise.posterior.stored_numbers import store_edits

    posterior = read_run(run)
    if edits.reset:
        posterior = posterior.reset_topics()
    posterior = under_rules(posterior, rules)
    names = {**_changed_labels(edits.names, posterior), **_names_of(edits.name)}
    merges = _merges_of(edits.merge)
    if names:
        posterior = posterior.set_labels(names)
    if merges:
        posterior = posterior.merge_topics(merges)
    said = [
        "All names, merges, groups and rules were removed." if edits.reset else "",
        f"Names stored: {len(names)}." if names else "",
        f"Merges stored: {len(merges)}." if merges else "",
    ]
    if any(said):
        store_edits(run, posterior.numbers())
    return posterior, " ".join(filter(None, said))


def _names_of(pairs: list[str]) -> dict[int, str]:
    """Return the names of topics that --name gives."""
    names = {}
    for pair in pairs:
        topic, equals, name = pair.partition("=")
        if not equals or not topic.strip().isdecimal():
            raise InputError(f"--name must be TOPIC=NAME, such as 3=war; got {pair!r}.")
        names[int(topic)] = name
    return names


def _merges_of(groups: list[str]) -> list[list[int]]:
    """Return the topics that --merge gives, group after group."""
    found = []
    for group in groups:
        numbers = [part.strip() for part in group.split(",")]
        if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
            raise InputError(f"--merge must be two or more topics, such as 5,9; got {group!r}.")
        found.append([int(number) for number in numbers])
    return found


def _changed_labels(path: Path | None, posterior: Posterior[Any]) -> dict[int, str]:
    """Return the labels in the file of --names that topics do not have yet."""
    if path is None:
        return {}
    import pandas as pd

    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        labels = {int(topic): label for topic, label in zip(table["topic"], table["label"], strict=True)}
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"--names {path} must be a CSV file with the columns topic and label ({error}). `franchise topics RUN "
            "--out FILE` writes one to edit."
        ) from error
    present = dict(enumerate(posterior.consensus_topics.labels))
    return {topic: label for topic, label in labels.items() if label.strip() != present.get(topic)}
