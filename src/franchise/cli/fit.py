"""`franchise fit`: from files to a fitted model, in a run directory that can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from franchise.data.grouped import GroupedData
    from franchise.posterior.base import Posterior


def fit(
    path: options.Data,
    out: Annotated[Path, typer.Option(help="A new folder for the run.")] = Path("run"),
    format: options.Format = None,
    text: options.Text = None,
    name: options.Name = None,
    group: options.Group = None,
    columns: options.Columns = None,
    vocabulary: options.Vocabulary = None,
    encoding: options.Encoding = "utf-8",
    stop_words: options.StopWords = None,
    min_df: options.MinDf = None,
    max_df: options.MaxDf = None,
    ngrams: options.Ngrams = None,
    stem: options.Stem = None,
    keep_case: options.KeepCase = False,
    sentences: options.Sentences = None,
    model: options.Model = "hdp",
    n_topics: options.Topics = None,
    family: options.Family = None,
    setting: options.Setting = [],  # noqa: B006 (never changed)
    prior: options.Prior = None,
    alpha: options.Alpha = "1,1",
    gamma: options.Gamma = "1,1",
    sampler: options.Sampler = "auto",
    start: options.Start = None,
    chains: options.Chains = 2,
    draws: options.Draws = 500,
    warmup: options.Warmup = 500,
    thin: options.Thin = 1,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    address: options.Address = None,
    actors: options.Actors = None,
    time_limit: options.TimeLimit = None,
    checkpoint: options.Checkpoint = 60.0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find topics (clusters) in grouped data; how many is learned.

    The run goes into a folder: settings, data, checkpoints, draws. Ctrl-C ends it safely, and
    `franchise resume RUN` continues with identical results.
    """
    from franchise.cli.library_arguments import (
        File,
        Words,
        engine_of,
        mixture_of,
        number_or_gamma,
        read_data,
        refuse,
        rows_of_table,
        segments_of,
        start_of,
    )
    from franchise.cli.render import make_console, show_fit
    from franchise.storage.run_store import check_new
    from franchise.validation import check_choice

    where = engine_of(engine, address, actors, workers)
    follows_text = check_choice("--model", model, ["hdp", "htmm"]) == "htmm"
    check_new("--out", out)
    console = make_console()
    console.quiet = quiet or json
    cut = "english" if follows_text and sentences is None else sentences
    data = read_data(
        File(path, format, text, name, vocabulary, encoding),
        Words(stop_words, min_df, max_df, ngrams, stem, keep_case, cut),
        rows_of_table(group, columns),
    )
    say_what_was_read(console, data)
    draw: Callable[..., Posterior[Any]]
    if follows_text:
        refuse(
            "is not for --model htmm", family=family, group=group, sampler=_said(sampler), set=setting or None
        )
        draw = segments_of(data, n_topics, prior)
    else:
        refuse("is for --model htmm only", n_topics=n_topics, sentences=sentences)
        draw = partial(mixture_of(data, family, setting, prior), sampler=sampler)
    asked: dict[str, Any] = {
        "alpha": number_or_gamma("--alpha", alpha),
        "gamma": number_or_gamma("--gamma", gamma),
        "draws": draws,
        "warmup": warmup,
        "thin": thin,
        "chains": chains,
        "seed": seed,
        "time_limit": time_limit,
        **({} if start is None else {"start": start_of(start)}),
    }
    if "engine" not in where:  # on a cluster to try would be to read everything
        announce(console, draw, data, {**asked, **where})
    progress = False if console.quiet else None
    posterior = draw(**asked, **where, run_dir=out, checkpoint_interval=checkpoint, progress=progress)
    show_fit(console, posterior, out, json)


def _said(sampler: str) -> str | None:
    """A sampler, if one was asked for."""
    return None if sampler == "auto" else sampler


def say_what_was_read(console: Console, data: GroupedData) -> None:
    """The size of the data, and what of them was left out."""
    from franchise.data.corpus import Corpus

    if isinstance(data, Corpus):
        console.print(
            f"{data.n_documents:,} documents, {data.n_tokens:,} words, vocabulary of {data.vocabulary_size:,}."
        )
        if data.dropped is not None:
            console.print(str(data.dropped), markup=False, style="dim")
    else:
        console.print(f"{data.n_observations:,} observations in {data.n_groups:,} groups.")


def announce(console: Console, draw: Callable[..., Any], data: GroupedData, asked: dict[str, Any]) -> None:
    """Print the estimated time and memory of a long run, unless the console is quiet."""
    from franchise.running.estimate_time import estimate

    if console.quiet:
        return
    expected = estimate(draw, data.n_observations, asked)
    if expected is not None:
        console.print(f"This will take {expected}. Ctrl-C ends it safely: it can be resumed.")
