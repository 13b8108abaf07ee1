"""What commands print: topics and their uncertainty, tables, progress; and the files that they write."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.cli.option_names import in_options
from franchise.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from franchise.cli.options import TableOutput
    from franchise.data.grouped import GroupedData
    from franchise.posterior.base import Posterior
    from franchise.posterior.consensus import Consensus

WIDE = 100  # columns of a terminal that has room for more words
SHOWN = 20  # topics (or documents) in a table, unless more are requested
LARGEST = 4  # topics shown of a document
SMALLEST = 0.05  # share of the smallest of them


def show_fit(console: Console, posterior: Posterior[Any], run: Path, as_json: bool) -> None:
    """Print the results of a fit and its directory; a quiet console gets only the directory."""
    if as_json:
        print(json.dumps({"run": str(run), **as_plain(posterior)}))
        return
    if console.quiet:
        print(run)
        return
    from rich.markup import escape

    console.print()
    topics = topics_or_none(posterior, words=10 if console.width >= WIDE else 6)
    if topics is None:
        print_line(
            console,
            f"There are no consensus topics. To see a single draw, run: franchise topics {run} --draw 0",
        )
    else:
        print_topics(console, topics.head(SHOWN), len(topics))
    print_size_and_verdict(console, posterior)
    console.print(f"\nThe run is saved in [bold]{escape(str(run))}[/bold]. Next:")
    for command, what in _next_commands(posterior, run):
        print_line(console, f"  {command:<39}  {what}")


def _next_commands(posterior: Posterior[Any], run: Path) -> list[tuple[str, str]]:
    """Return commands that can follow a fit, and what they do."""
    from franchise.data.corpus import Corpus

    where = shlex.quote(str(run))
    commands = [
        (f"franchise topics {where}", "list all topics; --documents FILE for document topics"),
        (f"franchise report {where}", "write an HTML report"),
    ]
    if posterior.unit == "sentence":
        commands.append((f"franchise segments {where}", "show the segments of documents"))
    if isinstance(posterior.data, Corpus):
        commands += [
            (f"franchise infer {where} PATH", "infer the topics of new documents"),
            (f"franchise evaluate {where} PATH", "score the prediction of new documents"),
        ]
    return [*commands, _longer(posterior, run)]


def _longer(posterior: Posterior[Any], run: Path) -> tuple[str, str]:
    """Return the command that continues a run, or fits again with a longer warm-up, and what it does."""
    from franchise.diagnostics.verdict import verdict

    where = shlex.quote(str(run))
    planned = posterior.n_draws if posterior.run is None else posterior.run.plan.draws
    if posterior.n_draws < planned:
        return f"franchise resume {where}", "finish the run"
    found = verdict(posterior)
    if found.longer_warmup is not None:
        return again_command(run, found.longer_warmup), "fit again with a longer warm-up"
    draws = 2 * planned if found.more_draws is None else planned + found.more_draws
    return f"franchise resume {where} --draws {draws}", "run longer chains"


def again_command(run: Path, warmup: int) -> str:
    """Return the command that fits again what `franchise fit` did, with another warm-up, into another directory."""
    from franchise.storage.run_directory import COMMAND, RunDirectory

    given = RunDirectory.open(run).settings.get(COMMAND)
    kept, words = [], list(given) if isinstance(given, list) else ["PATH"]
    while words:
        word = words.pop(0)
        if word in ("--warmup", "--out"):
            words = words[1:]
        elif not word.startswith(("--warmup=", "--out=")):
            kept.append(word)
    return f"franchise fit {shlex.join(kept)} --warmup {warmup} --out {shlex.quote(f'{run}-longer')}"


def topics_or_none(posterior: Posterior[Any], words: int) -> pd.DataFrame | None:
    """Return the consensus topics, or None if the draws agree on none."""
    return posterior.topics(words=words) if posterior.consensus_topics.topic_count else None


def print_topics(console: Console, topics: pd.DataFrame, total: int) -> None:
    """Print some topics of `total`, and which share of the data they cover if it is not nearly all."""
    from rich.table import Column, Table

    means = [str(name) for name in topics.columns if str(name).startswith("mean")]
    numbers = ("topic", "label", "share", "draws", "chains", "groups", "sentences")
    columns = [name for name in (*numbers, "support", "members", *means, "words") if name in topics]
    largest = "" if total == len(topics) else f" largest of {total}"
    table = Table(
        Column(str(topics.index.name), justify="right"),
        *(
            Column(name, justify="left" if name in ("label", "words", "members") else "right")
            for name in columns
        ),
        title=f"The {len(topics)}{largest} {'groups of topics' if 'members' in topics else 'consensus topics'}",
        title_justify="left",
    )
    for topic, row in topics.iterrows():
        table.add_row(str(topic), *(_cell(name, row[name]) for name in columns))
    console.print(table)
    if "note" in topics.attrs:
        console.print(in_options(topics.attrs["note"]), markup=False)


def print_tree(console: Console, posterior: Posterior[Any]) -> None:
    """Print topics as a tree of groups."""
    from rich.markup import escape
    from rich.tree import Tree

    from franchise.data.grouped import counted
    from franchise.report.tree_rows import FEWEST, tree_rows

    rows, labels = tree_rows(posterior), posterior.consensus_topics.labels
    if not rows:
        raise InputError(
            f"--tree needs {FEWEST} topics or more, with words or in several groups; there are {len(labels)} "
            "topics."
        )

    def add(tree: Tree, row: dict[str, Any]) -> None:
        number = row.get("member", row.get("topic"))
        label = escape(row["label"] if "label" in row else labels[row["topic"]])
        said = [f"{row['share']:.1%}"]
        if "count" in row:
            said.insert(0, counted(row["count"], "topic"))
        if row.get("support") is not None:
            said.append(f"support {row['support']:.0%}")
        name = label if number is None else f"{number}: {label}"
        branch = tree.add(f"{name}  [dim]({', '.join(said)})[/dim]")
        for part in row.get("parts", ()):
            add(branch, part)

    tree = Tree(f"{counted(len(rows), 'group')} of topics")
    for row in rows:
        add(tree, row)
    console.print(tree)


def named(topic: int, label: str) -> str:
    """Return the number and label of a topic, once if the label is the number."""
    own = f"topic {topic}"
    return own if label == own else f"{own}  {label}"


def print_largest_topics(console: Console, weights: pd.DataFrame, total: int, labels: Sequence[str]) -> None:
    """Print some documents of `total`, each with its largest topics and their labels."""
    from rich.markup import escape
    from rich.table import Column, Table

    table = Table(*(Column(name, overflow="fold") for name in ("document", "topics")), show_lines=True)
    for name, row in weights.drop(columns="other", errors="ignore").iterrows():
        shares = dict(enumerate(row.astype(float)))  # columns are topics 0, 1, ...
        largest = sorted(shares, key=lambda topic: -shares[topic])[:LARGEST]
        lines = [
            f"{shares[topic]:4.0%}  {named(topic, labels[topic])}"
            for topic in largest
            if shares[topic] >= SMALLEST
        ]
        table.add_row(escape(str(name)), escape("\n".join(lines)))
    console.print(table)
    if total > len(weights):
        console.print(
            f"Showing {len(weights)} of {total:,} documents. Use --out FILE for all documents and topics."
        )


def _cell(name: str, value: Any) -> str:
    from pandas import NA
    from rich.markup import escape

    if name in ("label", "words", "members"):
        return escape(str(value))
    if name == "topic":
        return "" if value is NA else str(value)
    if name.startswith("mean"):
        return f"{value:.4g}"
    if name in ("draws", "support"):
        return "" if value != value else f"{value:.0%}"  # a group of one topic has no support
    return f"{value:.1%}" if name == "share" else f"{int(value):,}"


def print_line(console: Console, text: str) -> None:
    """Print a text unchanged; only a terminal wraps its lines."""
    console.print(text, markup=False, soft_wrap=not console.is_terminal)


def print_size(console: Console, data: GroupedData) -> None:
    """Print the size of the data, what was left out of them and what was guessed."""
    from franchise.data.corpus import Corpus
    from franchise.data.grouped import counted

    if isinstance(data, Corpus):
        sizes = [
            (data.n_documents, "document"),
            (data.n_tokens, "word"),
            (data.vocabulary_size, "distinct word"),
        ]
        console.print(f"{', '.join(starmap(counted, sizes))}.")
        if data.dropped is not None:
            console.print(in_options(str(data.dropped)), markup=False, style="dim")
        for note in data.notes:
            console.print(in_options(note), markup=False, style="dim")
    else:
        sizes = [(data.n_observations, "observation"), (data.n_groups, "group")]
        console.print(f"{' in '.join(starmap(counted, sizes))}.")
    if data.tree is not None:
        console.print(f"{data.tree!r}", *data.tree.notes, sep="\n", markup=False, style="dim")


def print_size_and_verdict(console: Console, posterior: Posterior[Any]) -> None:
    """Print the number of topics and the verdict on convergence."""
    for sentence in (size_sentence(posterior), convergence_sentence(posterior)):
        print_line(console, sentence)


def size_sentence(posterior: Posterior[Any]) -> str:
    """Return the number of topics, and of large topics, in a sentence."""
    from franchise.data.grouped import counted
    from franchise.diagnostics.verdict import topics_in_words

    table, given = posterior.summary(), posterior.given_topics
    number = topics_in_words(table, "n_topics")
    said = f"Topics per draw: {number if given is None else f'{given} (given), of which {number} are used'}"
    if "n_large_topics" in table.index:
        said += f"; with at least 0.2% of the observations: {topics_in_words(table, 'n_large_topics')}"
    size = f"{counted(posterior.n_chains, 'chain')} x {counted(posterior.n_draws, 'draw')}"
    return (
        f"{said}. {_consensus_in_words(posterior.consensus_topics)} {size}, sampler {posterior.sampler!r}, "
        f"{posterior.seconds:.0f} s per chain."
    )


def _consensus_in_words(consensus: Consensus) -> str:
    """Return how many topics recur over all draws and chains, which single draws need not all have."""
    topics, chains = consensus.topic_count, len(consensus.in_chain)
    what = "groups of topics" if consensus.members is not None else "consensus topics"
    said = f"{what.capitalize()} over all draws{' and chains' if chains > 1 else ''}: {topics:,}"
    if chains == 1:
        return f"{said}."
    every = "both chains" if chains == 2 else f"all {chains} chains"
    return f"{said}, of which {every} have {int(consensus.in_all_chains.sum()):,}."


def convergence_sentence(posterior: Posterior[Any]) -> str:
    """Return the verdict on convergence as a sentence."""
    from franchise.diagnostics.verdict import verdict

    return in_options(verdict(posterior, compare=True).sentence)


def as_plain(posterior: Posterior[Any], words: int = 10) -> dict[str, Any]:
    """Return results as plain values for JSON; unknown values are None."""
    from franchise.diagnostics.verdict import verdict

    summary, found = posterior.summary(), verdict(posterior, compare=True)
    return {
        "sampler": posterior.sampler,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "seed": posterior.seed,
        "seconds": posterior.seconds,
        "verdict": found.level,
        "verdict_in_words": [found.sentence, *found.details],
        "summary": {str(name): _known(row.to_dict()) for name, row in summary.iterrows()},
        "topics": [] if (topics := topics_or_none(posterior, words)) is None else rows_of(topics),
    }


def _known(values: dict[Any, Any]) -> dict[str, Any]:
    return {
        str(name): None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


_PIPED_WIDTH = 120
_BLOCKS, _PLAIN = " ▁▂▃▄▅▆▇█", " .:-=+*#%"


def make_console(quiet: bool = False, stderr: bool = False) -> Console:
    """Return a console on standard output (or error), as wide as the terminal, or 120 columns in a file or pipe."""
    from rich.console import Console

    console = Console(highlight=False, quiet=quiet, stderr=stderr)
    if console.is_terminal:
        return console
    return Console(highlight=False, quiet=quiet, stderr=stderr, width=_PIPED_WIDTH)


@contextmanager
def shared_progress(console: Console) -> Iterator[Callable[[str, float], None]]:
    """Show progress as a bar, or as one line per 10% outside a terminal.

    Yields the function that reports progress.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    if console.is_terminal and not console.quiet:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as bars:
            bar = bars.add_task("starting", total=1.0)
            yield lambda what, share: bars.update(bar, description=what, completed=share)
        return
    tenths = 0

    def print_tenth(what: str, share: float) -> None:
        nonlocal tenths
        if int(10 * share) > tenths:
            tenths = int(10 * share)
            console.print(f"{what}: {share:.0%}")

    yield print_tenth


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, index included, as plain values that JSON can hold."""
    flat = table.reset_index()
    flat.columns = [str(name) for name in flat.columns]
    return list(json.loads(flat.to_json(orient="records")))


def give_table(output: TableOutput, table: pd.DataFrame) -> bool:
    """Write a table to a file and print it as JSON, if requested; return whether either was."""
    if output.out is not None:
        write_table(output.out, table)
    if output.json:
        print(json.dumps(rows_of(table)))
    return output.json or output.out is not None


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV."""
    write_text(path, table.to_csv(float_format="%.6g"))


def write_text(path: Path, text: str) -> None:
    """Write the file that --out names, whole or not at all."""
    from franchise.storage.atomic import write_atomically
    from franchise.validation import check_folder

    check_folder("--out", path.parent)
    if path.is_dir():
        raise InputError(f"--out must be a file; {str(path)!r} is a folder.")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())


def sparkline(values: Sequence[float], encoding: str = "utf-8") -> str:
    """Return the values as a row of bars; a value near zero is blank."""
    steps = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    top = max(values)
    scale = 0.0 if top <= 0 else (len(steps) - 1) / top
    return "".join(steps[round(value * scale)] for value in values)
