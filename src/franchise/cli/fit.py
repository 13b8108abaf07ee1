"""`franchise fit`: from files to a fitted model, in a run directory that can be resumed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import FAMILIES, Chains, Execution, Model, Output, Source, Words, with_options

if TYPE_CHECKING:
    from rich.console import Console

    from franchise.data.grouped import GroupedData
    from franchise.posterior.base import Posterior


@with_options()
def fit(
    source: Source,
    words: Words,
    model: Model,
    chains: Chains,
    execution: Execution,
    output: Output,
    out: Annotated[Path, typer.Option(help="New run directory.")] = Path("run"),
) -> None:
    """Fit a topic model, or cluster grouped data. The number of topics is inferred unless --n-topics is given.

    Settings, data, checkpoints and draws are saved in the run directory. Ctrl-C stops safely;
    `franchise resume RUN` continues with identical results.
    """
    from franchise.cli.level_concentrations import concentrations_for
    from franchise.cli.library_arguments import (
        chain_arguments,
        family_of,
        finite_topics,
        read_data,
        refuse,
        run_arguments,
        segments_of,
    )
    from franchise.cli.render import make_console, print_size, show_fit
    from franchise.sampling import sample
    from franchise.storage.run_directory import check_new
    from franchise.validation import check_choice

    where = run_arguments(execution)
    follows_text = check_choice("--model", model.model, ["hdp", "htmm"]) == "htmm"
    check_new("--out", out)
    _check_model(model)
    asked = {**chain_arguments(chains), **where}
    console = make_console(output.quiet or output.json)
    cut = "english" if follows_text and words.sentences is None else words.sentences
    data = read_data(source, replace(words, sentences=cut))
    print_size(console, data)
    asked = {**concentrations_for(model, data), **asked}
    draw: Callable[..., Posterior[Any]]
    if follows_text:
        sampler, settings = None if chains.sampler == "auto" else chains.sampler, model.setting or None
        asked_of_hdp = {"family": model.family, "seeds": model.seeds, "sampler": sampler, "set": settings}
        refuse("is not for --model htmm", group=source.group, alpha_per=model.alpha_per, **asked_of_hdp)
        draw = segments_of(model, data)
    else:
        refuse("is for --model htmm only", sentences=words.sentences)
        draw = partial(
            sample, data, family_of(model, data), sampler=chains.sampler, **finite_topics(model, chains)
        )
    if "engine" not in where:  # on a cluster, an estimate would read all data
        _announce(console, draw, data, asked)
    posterior = draw(**asked, run_dir=out, progress=False if console.quiet else None)
    _remember_command(out)
    show_fit(console, posterior, out, output.json)


def _check_model(model: Model) -> None:
    """Raise InputError for concentrations, a prior or a family that are not allowed for any data."""
    from franchise.cli.level_concentrations import check_concentrations
    from franchise.cli.library_arguments import number_or_gamma
    from franchise.validation import check_choice

    check_concentrations(model)
    if model.prior is not None:
        number_or_gamma("--prior", model.prior)
    if model.family is not None:
        check_choice("--family", model.family, FAMILIES)


def _remember_command(run: Path) -> None:
    """Store the arguments of this command in the run, so that the next one can be suggested."""
    from franchise.storage.atomic import exclusive_lock
    from franchise.storage.run_directory import COMMAND, RunDirectory

    if "fit" in sys.argv:
        with exclusive_lock(run):
            RunDirectory.open(run).change(**{COMMAND: sys.argv[sys.argv.index("fit") + 1 :]})


def _announce(console: Console, draw: Callable[..., Any], data: GroupedData, asked: dict[str, Any]) -> None:
    """Print the estimated time and memory of a long run, unless the console is quiet."""
    from franchise.running.estimate_time import estimate

    if console.quiet:
        return
    expected = estimate(draw, data.n_observations, asked)
    if expected is not None:
        console.print(f"Estimated: {expected}. Press Ctrl-C to stop; the run can be resumed.")
