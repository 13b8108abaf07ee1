"""Options that several commands share: the same word means the same everywhere.

Each class below is a set of options, one field each. A command takes such classes as parameters, and `with_options`
makes their fields options of the command.
"""

# ruff: noqa: RUF009 (the functions that make options return fields)

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

FORMATS = (
    "folder",
    "file",
    "lines",
    "mallet",
    "csv",
    "tsv",
    "jsonl",
    "parquet",
    "counts",
    "docword",
    "ldac",
    "mtx",
    "npz",
)
SAMPLERS = ("auto", "crf", "split-merge", "direct", "slice", "parallel", "subcluster", "finite")
FAMILIES = (
    "categorical",
    "multinomial",
    "dirichlet-multinomial",
    "poisson",
    "negative-binomial",
    "bernoulli",
    "gaussian-known-precision",
    "gaussian-diagonal",
    "gaussian-full",
    "gaussian-independent",
    "known-topics",
)

ALPHA = "0.5,0.01"
"""The default prior of the group-level concentration."""


# --- from classes to options --------------------------------------------------------------------------------


def with_options(without: Collection[str] = (), **defaults: object) -> Callable[..., Callable[..., None]]:
    """Decorate a command so that the fields of its classes of options are options of the command line.

    `without` names fields that are no option of this command, and `defaults` are the values that it starts from
    where these are not those of the class.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        classes: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
        parameters: list[Parameter] = []
        for name, parameter in signature(command).parameters.items():
            if name in classes:
                parameters += _parameters_of(classes[name], without, defaults)
            else:
                parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

        @wraps(command)
        def run(**given: object) -> None:
            collected = {
                name: kind(
                    **{entry.name: given.pop(entry.name) for entry in fields(kind) if entry.name in given}
                )
                for name, kind in classes.items()
            }
            command(**collected, **given)

        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _parameters_of(kind: type[Any], without: Collection[str], defaults: dict[str, object]) -> list[Parameter]:
    """Return the fields of a class of options as parameters that typer understands."""
    types = get_type_hints(kind)
    return [
        Parameter(
            entry.name,
            Parameter.KEYWORD_ONLY,
            default=defaults.get(entry.name, Parameter.empty if entry.default is MISSING else entry.default),
            annotation=Annotated[types[entry.name], entry.metadata["option"]],
        )
        for entry in fields(kind)
        if entry.name not in without
    ]


def _option(
    panel: str,
    default: object,
    help: str,
    *names: str,
    metavar: str | None = None,
    min: int | None = None,
    values: Collection[str] = (),
) -> Any:
    """Return a field that is an option; its name is that of the field, unless others are given."""
    completion = one_of(values) if values else None
    option = typer.Option(
        *names, help=help, rich_help_panel=panel, metavar=metavar, min=min, autocompletion=completion
    )
    return field(default=default, metadata={"option": option})


def one_of(names: Collection[str]) -> Callable[[str], list[str]]:
    """Return what completes a value on the command line to some of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


_data, _words, _model, _run, _topics, _output = (
    partial(_option, panel) for panel in ("Data", "Words", "Model", "Run", "Topics", "Output")
)


# --- the options --------------------------------------------------------------------------------------------

Run = Annotated[Path, typer.Argument(help="Run directory.", exists=False)]

PATH_HELP = "Directory of text files, data file, or name of a bundled data set (see `franchise data`)."


@dataclass(frozen=True)
class Source:
    """A path and the format of its data; with `group`, a table of observations."""

    path: Path = field(metadata={"option": typer.Argument(help=PATH_HELP)})
    format: str | None = _data(
        None,
        f"File format: {', '.join(FORMATS)} [default: detected].",
        values=FORMATS,
    )
    text: str | None = _data(None, "Column that contains the texts [default: detected].", metavar="COLUMN")
    name: str | None = _data(None, "Column that contains the names of the documents.", metavar="COLUMN")
    metadata: Path | None = _data(
        None, "CSV or TSV file with metadata, matched by the names of the documents.", metavar="FILE"
    )
    group: str | None = _data(
        None,
        "Grouping column(s), or the levels of a tree, such as cohort/patient/sample. Reads the table as numeric "
        "observations instead of text.",
        metavar="COLUMN[,...]",
    )
    levels: str | None = _data(
        None,
        "Columns with the levels above the documents, such as party/speaker.",
        metavar="COLUMN[/...]",
    )
    columns: str | None = _data(
        None, "With --group: the observed columns [default: all others].", metavar="A,B,..."
    )
    vocabulary: Path | None = _data(
        None, "Vocabulary file for count matrices, one word per line.", metavar="FILE"
    )
    transposed: bool = _data(
        False,
        "For tables of counts: rows are words or channels, and columns are documents or samples [default: detected "
        "by channels of mutations].",
        "--transposed",
        metavar="",
    )
    encoding: str = _data("utf-8", "Text encoding.")
    tokenizer: str | None = _data(
        None,
        "Python function that splits a text into words, such as jieba:lcut for Chinese; it is imported and run.",
        metavar="MODULE:FUNCTION",
    )


@dataclass(frozen=True)
class Words:
    """Which words of texts are kept; the library has the defaults."""

    stop_words: str | None = _words(None, 'Stop-word language, or "none" [default: english].')
    min_df: float | None = _words(
        None,
        "Ignore words in fewer than this many documents (or this fraction, if below 1) "
        "[default: 1, 2, 3, 5 or 10, depending on the number of documents].",
    )
    max_df: float | None = _words(
        None, "Ignore words in more than this many documents (or this fraction, if at most 1)."
    )
    ngrams: int | None = _words(None, "Longest n-gram to use as a term.", min=1)
    stem: str | None = _words(
        None, "Language of the stemmer that is applied to words [default: no stemming]."
    )
    lemma: str | None = _words(
        None, "Language of the lemmatizer that is applied to words [default: no lemmas]."
    )
    phrases: bool = _words(
        False,
        "Join pairs of words that almost always occur together, as in new_york.",
        "--phrases",
        metavar="",
    )
    strip: str | None = _words(
        None,
        "Ignore markup and encoded files: html, latex, markdown, uuencode, base64, or all.",
        metavar="KIND[,...]",
    )
    drop_duplicates: bool = _words(
        False,
        "Remove documents with the same or nearly the same words as an earlier one.",
        "--drop-duplicates",
        metavar="",
    )
    keep_case: bool = _words(
        False,
        "Keep upper and lower case distinct [default: lowercase everything].",
        "--keep-case",
        metavar="",
    )
    sentences: str | None = _words(
        None, "Sentence splitter, with --model htmm: english or simple [default: english]."
    )


@dataclass(frozen=True)
class Model:
    """The model, its family of distributions and its priors."""

    model: str = _model(
        "hdp", "hdp: one topic per word. htmm: one topic per sentence, with persistence between sentences."
    )
    n_topics: int | None = _model(
        None,
        "Number of topics, with --model htmm or --sampler finite [default: inferred; 100 for finite].",
        min=1,
    )
    family: str | None = _model(
        None,
        f"Likelihood for numeric data (with --group): {', '.join(FAMILIES)}.",
        values=FAMILIES,
    )
    setting: list[str] = _model(
        (),
        "Setting of the family, such as prior=0.5 or rate=2. May be repeated.",
        "--set",
        metavar="NAME=VALUE",
    )
    prior: str | None = _model(
        None,
        "Dirichlet prior on topic-word distributions: a number, or SHAPE,RATE for a Gamma hyperprior "
        "[default: 0.1; 0.5 with --model htmm and --n-topics].",
    )
    seeds: Path | None = _model(
        None,
        "File of known topics, one per line: a name, a colon and words. Settings are --set strength=10 and "
        "--set weight=0.01.",
        metavar="FILE",
    )
    alpha: list[str] = _model(
        (),
        "Group-level concentration: a number, or SHAPE,RATE for a Gamma prior; of one level of a tree of groups, "
        f"such as patient=2 or patient=1,1. May be repeated [default: {ALPHA}].",
        metavar="[LEVEL=]VALUE",
    )
    alpha_per: str | None = _model(
        None,
        "In a tree of groups: one concentration for each level, or for the children of each parent "
        "[default: level].",
        values=("level", "parent"),
    )
    gamma: str = _model("1,1", "Top-level concentration: a number, or SHAPE,RATE for a Gamma prior.")


@dataclass(frozen=True)
class Chains:
    """The sampler, and how many draws it makes."""

    sampler: str = _run("auto", "Sampler name (see `franchise samplers`), or auto.", values=SAMPLERS)
    start: str | None = _run(
        None,
        'Initial state: a number of random topics, one for each chain such as 5,10,20,40, or "sequential" '
        "[default: chosen by the sampler].",
    )
    chains: int = _run(4, "Number of chains, run in parallel or in turns; 1 for a first look.")
    draws: int = _run(500, "Draws per chain.")
    warmup: int = _run(500, "Warm-up sweeps per chain.")
    thin: int = _run(1, "Keep one draw every N sweeps.")
    seed: int = _run(0, "Random seed; the same seed gives the same draws.")


@dataclass(frozen=True)
class Execution:
    """Where chains run, and for how long; the draws do not depend on it."""

    workers: int | None = _run(None, "Number of threads [default: all cores].")
    engine: str = _run("threads", "Execution backend: threads, or ray for a cluster.")
    address: str | None = _run(
        None, "Address of the Ray cluster: auto, or HOST:PORT [default: this machine alone]."
    )
    actors: int | None = _run(None, "Number of Ray actors [default: one per node].")
    time_limit: float | None = _run(
        None, "Stop after this many seconds and keep the draws so far.", metavar="SECONDS"
    )
    checkpoint: float = _run(
        60.0,
        "Seconds between two checkpoints.",
        "--checkpoint-interval",
        "--checkpoint",
        metavar="SECONDS",
    )


@dataclass(frozen=True)
class Rules:
    """The rules of consensus topics; the same rules give the same numbers in every command."""

    merge_cosine: float | None = _topics(
        None, "Merge topics until no two have a larger cosine [default: no merging]."
    )
    min_share: float = _topics(0.0, "Smallest proportion of the observations for a topic to count.")
    min_draws: float = _topics(0.0, "Smallest fraction of the draws that must contain a topic.")
    min_chains: int = _topics(0, "Smallest number of chains that must contain a topic.", min=0)
    min_groups: int = _topics(0, "Smallest number of documents or groups that must contain a topic.", min=0)
    groups: int | None = _topics(None, "Reduce the topics to N groups of similar ones.", metavar="N", min=1)


@dataclass(frozen=True)
class Edits:
    """Names and merges of topics, by the numbers that the same command shows without them."""

    name: list[str] = _topics(
        (), "Name a topic, such as 3=war, and store this in the run. May be repeated.", metavar="TOPIC=NAME"
    )
    names: Path | None = _topics(
        None,
        "CSV file with the columns topic and label, such as --out writes; changed labels are stored in the run.",
        metavar="FILE",
    )
    merge: list[str] = _topics(
        (), "Merge topics, such as 5,9, and store this in the run. May be repeated.", metavar="A,B,..."
    )
    reset: bool = _topics(
        False, "Remove stored names, merges, groups and rules from the run first.", "--reset", metavar=""
    )


@dataclass(frozen=True)
class Output:
    """What is printed."""

    quiet: bool = _output(False, "Suppress progress and messages.", "--quiet", metavar="")
    json: bool = _output(False, "Print only the result, as JSON.", "--json", metavar="")


@dataclass(frozen=True)
class TableOutput:
    """Where a table is written."""

    out: Path | None = _output(None, "Write the table to this CSV file.", metavar="FILE")
    json: bool = _output(False, "Print only the result, as JSON.", "--json", metavar="")
