"""`franchise generate`: large corpora with planted topics, written to disk in shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franchise.cli.options import Output, with_options

if TYPE_CHECKING:
    from franchise.data.planted import PlantedCorpus
    from franchise.data.sharded.sharded_corpus import ShardedCorpus

_SIZE = "Size"


@with_options()
def generate(
    *,
    name: Annotated[
        str | None,
        typer.Argument(help="Corpus to imitate: enron, nytimes or pubmed. Size options override it."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="New directory [default: NAME, or planted].")
    ] = None,
    documents: Annotated[int | None, typer.Option(help="Number of documents.", rich_help_panel=_SIZE)] = None,
    vocabulary: Annotated[
        int | None, typer.Option(help="Number of distinct words.", rich_help_panel=_SIZE)
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="Number of tokens.", rich_help_panel=_SIZE)] = None,
    topics: Annotated[int, typer.Option(help="Number of topics.", rich_help_panel=_SIZE)] = 100,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same corpus.")] = 0,
    shard_tokens: Annotated[int, typer.Option(help="Approximate number of tokens per shard.")] = 4_000_000,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", metavar="", help="Print the estimated size and time without writing anything."
        ),
    ] = False,
    output: Output,
) -> None:
    """Write a large corpus with planted topics.

    Words have realistic frequencies, documents vary in length, and the true topics are known. The corpus
    is written in shards (Parquet), so it need not fit in memory. Run the same command again to continue after an
    interruption.
    """
    from franchise.cli.render import make_console, shared_progress
    from franchise.data.planted import plan_planted

    plan = plan_planted(name, documents, vocabulary, tokens, topics, seed, shard_tokens)
    console = make_console(output.quiet or output.json)
    folder = None if dry_run else plan.check_new(out or Path(plan.name))
    console.print(_summary(plan), soft_wrap=not console.is_terminal)
    corpus = None
    if folder is not None:
        with shared_progress(console) as on_progress:
            corpus = plan.write(folder, on_progress)
    if output.json:
        _print_json(plan, corpus)
    elif corpus is not None and output.quiet:
        print(corpus.folder)
    elif corpus is not None:
        console.print(f"[bold]{corpus.folder}[/bold] has {len(corpus.shards)} shards and the planted topics.")
        console.print(
            f"  python: import franchise as fr; corpus = fr.open_shards({str(corpus.folder)!r})", markup=False
        )


def _summary(plan: PlantedCorpus) -> str:
    from franchise.data.readers.source import format_bytes

    sizes, estimate = plan.sizes, plan.estimate
    for unit, seconds in (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0)):
        if estimate.seconds >= 2 * seconds or unit == "seconds":
            duration = f"{max(estimate.seconds / seconds, 1.0):.0f} {unit}"
            break
    return (
        f"{sizes.documents:,} documents, {sizes.vocabulary:,} distinct words, {sizes.tokens:,} tokens, "
        f"{plan.topics:,} topics.\n"
        f"About {format_bytes(estimate.bytes)} on disk in {estimate.shards:,} Parquet shards, {duration}."
    )


def _print_json(plan: PlantedCorpus, corpus: ShardedCorpus | None) -> None:
    facts = {
        **plan.sizes._asdict(),
        "topics": plan.topics,
        "seed": plan.seed,
        "estimate": plan.estimate._asdict(),
        "folder": None if corpus is None else str(corpus.folder),
    }
    if corpus is not None:
        facts["shards"] = len(corpus.shards)
        facts["bytes"] = sum(shard.bytes for shard in corpus.shards)
    print(json.dumps(facts))
