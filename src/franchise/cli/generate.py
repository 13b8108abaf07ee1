"""`franchise generate`: large corpora with planted topics, written to disk in shards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franchise.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from franchise.data.planted_shards import Estimate, Plan
    from franchise.data.sharded.sharded_corpus import ShardedCorpus

_SIZE = "Size"


def generate(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Sizes of a known corpus: enron, nytimes or pubmed; those given by options count first."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A new folder; NAME, or planted, if not given.")
    ] = None,
    documents: Annotated[int | None, typer.Option(help="Documents.", rich_help_panel=_SIZE)] = None,
    vocabulary: Annotated[
        int | None, typer.Option(help="Words of the vocabulary.", rich_help_panel=_SIZE)
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="Tokens in all.", rich_help_panel=_SIZE)] = None,
    topics: Annotated[int, typer.Option(help="Topics to plant.", rich_help_panel=_SIZE)] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same corpus.")] = 0,
    shard_tokens: Annotated[int, typer.Option(help="About how many tokens a shard has.")] = 4_000_000,
    format: Annotated[str, typer.Option(help="How shards are written: parquet or docword.")] = "parquet",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", metavar="", help="Tell how large it is and how long it takes, and write nothing."
        ),
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write a large corpus with planted topics: word frequencies of real text, lengths that vary, a known truth.

    It is written in shards and never held in memory. Interrupted, it goes on when the same command is given again.
    """
    from franchise.cli.render import make_console
    from franchise.data.planted_shards import plan_planted

    plan = plan_planted(name, documents, vocabulary, tokens, topics, seed, shard_tokens, format)
    console = make_console()
    console.quiet = quiet or json
    if dry_run:
        estimate = plan.estimate()
        _tell(console, plan, estimate)
        if json:
            _print_json(plan, estimate, None)
        return
    folder = plan.check_new(out or Path(plan.name))
    estimate = plan.estimate()
    _tell(console, plan, estimate)
    plan.check_room(folder, estimate.bytes)
    corpus = _write(console, plan, folder)
    if json:
        _print_json(plan, estimate, corpus)
    elif quiet:
        print(corpus.folder)
    else:
        console.print(
            f"[bold]{corpus.folder}[/bold] has {len(corpus.shards)} shards; the truth is beside them."
        )
        console.print(
            f"  python: import franchise as fr; corpus = fr.open_shards({str(corpus.folder)!r})", markup=False
        )


def _write(console: Console, plan: Plan, folder: Path) -> ShardedCorpus:
    from franchise.cli.render import shared_progress

    if console.quiet:
        return plan.write(folder)
    with shared_progress(console) as on_progress:
        return plan.write(folder, on_progress)


def _tell(console: Console, plan: Plan, estimate: Estimate) -> None:
    from franchise.data.readers.source import format_bytes

    sizes = plan.planting.sizes
    console.print(
        f"{sizes.documents:,} documents, {sizes.vocabulary:,} words of vocabulary, {sizes.tokens:,} tokens, "
        f"{plan.planting.topics:,} topics.\n"
        f"About {format_bytes(estimate.bytes)} on disk in {estimate.shards:,} {plan.format} shards, "
        f"{_duration(estimate.seconds)}.",
        soft_wrap=not console.is_terminal,
    )


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} seconds"


def _print_json(plan: Plan, estimate: Estimate, corpus: ShardedCorpus | None) -> None:
    import json

    facts = {
        **plan.planting.sizes._asdict(),
        "topics": plan.planting.topics,
        "seed": plan.planting.seed,
        "format": plan.format,
        "estimate": estimate._asdict(),
        "folder": None if corpus is None else str(corpus.folder),
    }
    if corpus is not None:
        facts["shards"] = len(corpus.shards)
        facts["bytes"] = sum(shard.bytes for shard in corpus.shards)
    print(json.dumps(facts))
