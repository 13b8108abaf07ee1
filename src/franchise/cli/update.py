"""`franchise update`: more documents for a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Execution, Output, Run, Source, with_options

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from franchise.posterior.base import Posterior

SHOWN = 10
"""New topics that are printed, and vanished ones."""


@with_options()
def update(
    *,
    run: Run,
    source: Source,
    execution: Execution,
    output: Output,
    out: Annotated[Path, typer.Option(help="New run directory.")],
    draws: Annotated[int | None, typer.Option(help="Draws per chain [default: as in the run].")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Warm-up sweeps per chain [default: a quarter of the run's].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed [default: the seed of the run plus 1].")
    ] = None,
    no_new_words: Annotated[
        bool, typer.Option("--no-new-words", help="Ignore words that the run does not have.", metavar="")
    ] = False,
) -> None:
    """Add documents to a fitted model. Chains continue from their last states, over old and new documents.

    The result is a new run; the old one does not change. Topics that match keep their numbers and names, and a list
    shows which topics are new and which have vanished.
    """
    from franchise.cli.library_arguments import check_numbers, read_run, run_arguments
    from franchise.cli.render import make_console, print_line, show_fit
    from franchise.storage.run_directory import check_new

    where = run_arguments(execution)
    check_numbers(draws=draws, warmup=warmup, seed=seed)
    check_new("--out", out)
    posterior = read_run(run)
    console = make_console(output.quiet or output.json)
    data, facts = _new_data(source, posterior, console)
    asked = {"draws": draws, "warmup": warmup, "seed": seed, "new_words": not no_new_words, **facts, **where}
    new = posterior.update(data, **asked, run_dir=out, progress=False if console.quiet else None)
    print_line(console, f"{posterior.data!r} -> {new.data!r}")
    show_fit(console, new, out, output.json)
    _print_changes(console, posterior.compare(new))


def _new_data(source: Source, posterior: Posterior[Any], console: Console) -> tuple[Any, dict[str, Any]]:
    """Return new texts with their names and metadata, or new data that are not texts; print their size."""
    from franchise.cli.library_arguments import read_like, read_more, tokenizer_argument
    from franchise.cli.new_observations import read_observations
    from franchise.cli.render import print_size
    from franchise.data.corpus import Corpus

    observations = read_observations(source, posterior)
    if observations is not None:
        return observations, {}
    if posterior.data.tree is not None:
        return read_like(source, posterior), {}
    new = read_more(source, posterior.data)
    print_size(console, new)
    if not isinstance(new, Corpus) or new.texts is None:  # counts
        return new, {}
    return new.texts, {"names": new.group_names, "metadata": new.metadata, **tokenizer_argument(source)}


def _print_changes(console: Console, changes: pd.DataFrame) -> None:
    """Print how many topics were kept, and the largest of those that are new or have vanished."""
    from franchise.cli.render import print_line

    counts = changes["change"].value_counts()
    said = ", ".join(f"{counts.get(change, 0)} {change}" for change in ("kept", "new", "vanished"))
    print_line(console, f"Topics compared with the old run: {said}.")
    for change, number, share in (("new", "topic", "share"), ("vanished", "topic_before", "share_before")):
        for _, row in changes[changes["change"] == change].head(SHOWN).iterrows():
            print_line(console, f"  {change}: topic {row[number]} ({row[share]:.1%}), {row['label']}")
