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

FORMATS = ("folder", "lines", "mallet", "csv", "tsv", "jsonl", "parquet", "docword", "ldac", "mtx", "npz")
SAMPLERS = ("auto", "crf", "split-merge", "direct", "slice", "parallel", "subcluster", "finite")
FAMILIES = (
    "categorical",
    "multinomial",
    "poisson",
    "bernoulli",
    "gaussian-known-precision",
    "gaussian-diagonal",
    "gaussian-full",
    "gaussian-independent",
    "known-topics",
)


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

Run = Annotated[Path, typer.Argument(help="The folder of a run.", exists=False)]

PATH_HELP = "A folder of texts, a file (text, tables, counts), or a name listed by `franchise data`."


@dataclass(frozen=True)
class Source:
    """A path, and how the data there are written; with `group` a table of observations."""

    path: Path = field(metadata={"option": typer.Argument(help=PATH_HELP)})
    format: str | None = _data(
        None,
        f"How the file is written: {', '.join(FORMATS)}. Detected by default.",
        values=FORMATS,
    )
    text: str | None = _data(None, "The column that has the texts.", metavar="COLUMN")
    name: str | None = _data(None, "The column that names documents.", metavar="COLUMN")
    group: str | None = _data(
        None,
        "The column (or columns) that says which group a row is in: a table of observations, not of texts.",
        metavar="COLUMN[,...]",
    )
    columns: str | None = _data(
        None, "With --group: the observed columns [default: all others].", metavar="A,B,..."
    )
    vocabulary: Path | None = _data(None, "The words of a matrix of counts, one a line.", metavar="FILE")
    encoding: str = _data("utf-8", "How letters are written in the file.")
    tokenizer: str | None = _data(
        None,
        "A Python function that cuts a text into words, such as jieba:lcut for Chinese. It is imported and run.",
        metavar="MODULE:FUNCTION",
    )


@dataclass(frozen=True)
class Words:
    """Which words of texts are kept; the library decides on options that are not given."""

    stop_words: str | None = _words(None, 'Stop-word language, or "none" [default: english].')
    min_df: float | None = _words(
        None,
        "Leave out words in fewer documents: a number of them, or a share below 1 "
        "[default: 1, 2, 3, 5 or 10, by the number of documents].",
    )
    max_df: float | None = _words(
        None, "Leave out words in more documents: a number of them above 1, or a share."
    )
    ngrams: int | None = _words(None, "Longest n-gram to use as a term.", min=1)
    stem: str | None = _words(None, "Language by which words are cut to their stems.")
    lemma: str | None = _words(None, "Language by which words are replaced by their dictionary forms.")
    phrases: bool = _words(
        False, "Join words that nearly always follow one another: new_york.", "--phrases", metavar=""
    )
    strip: str | None = _words(
        None,
        "Pass over marks and encoded files: html, latex, markdown, uuencode, base64, or all.",
        metavar="KIND[,...]",
    )
    drop_duplicates: bool = _words(
        False,
        "Leave out documents with the words of an earlier one, or nearly.",
        "--drop-duplicates",
        metavar="",
    )
    keep_case: bool = _words(False, "Tell capitals from small letters.", "--keep-case", metavar="")
    sentences: str | None = _words(
        None, "How texts are cut into sentences, for --model htmm: english or simple. [default: english]"
    )


@dataclass(frozen=True)
class Model:
    """The model, its family of distributions and its priors."""

    model: str = _model(
        "hdp", "hdp: every word has a topic; htmm: every sentence, and topics follow the text."
    )
    n_topics: int | None = _model(
        None,
        "Number of topics, with --model htmm or --sampler finite [default: inferred; 100 for finite].",
        min=1,
    )
    family: str | None = _model(
        None,
        f"How observations of a topic are distributed, for tables with --group: {', '.join(FAMILIES)}.",
        values=FAMILIES,
    )
    setting: list[str] = _model(
        (),
        "A setting of the family, such as prior=0.5 or rate=2; may be given several times.",
        "--set",
        metavar="NAME=VALUE",
    )
    prior: str | None = _model(
        None, "Of the words of a topic: a number, or SHAPE,RATE of a Gamma prior to learn it. [default: 0.1]"
    )
    alpha: str = _model(
        "0.5,0.01", "Concentration of the groups: a number, or SHAPE,RATE of a Gamma prior to learn it."
    )
    gamma: str = _model("1,1", "The same of the top level.")


@dataclass(frozen=True)
class Chains:
    """What is drawn."""

    sampler: str = _run("auto", "One of those that `franchise samplers` lists, or auto.", values=SAMPLERS)
    start: str | None = _run(
        None, 'Initial state: a number of random topics, or "sequential" [default: chosen by the sampler].'
    )
    chains: int = _run(2, "Number of chains, run in parallel.")
    draws: int = _run(500, "Draws to keep of each chain.")
    warmup: int = _run(500, "Sweeps of each chain before the first draw.")
    thin: int = _run(1, "Sweeps between two draws.")
    seed: int = _run(0, "The same seed gives the same draws.")


@dataclass(frozen=True)
class Execution:
    """Where chains run, and for how long; the draws do not depend on it."""

    workers: int | None = _run(None, "Number of threads [default: all cores].")
    engine: str = _run("threads", "Where it runs: threads, or ray for a cluster.")
    address: str | None = _run(None, "Of the cluster, for --engine ray: auto, or HOST:PORT.")
    actors: int | None = _run(None, "Number of Ray actors [default: one per node].")
    time_limit: float | None = _run(None, "End with the draws there are then.", metavar="SECONDS")
    checkpoint: float = _run(
        60.0,
        "Time between two checkpoints.",
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
    min_share: float = _topics(0.0, "The least share of the observations of a topic.")
    min_draws: float = _topics(0.0, "The least share of the draws that have a topic.")
    min_chains: int = _topics(0, "The least number of chains that have a topic.", min=0)
    min_groups: int = _topics(0, "The least number of documents or groups that a topic occurs in.", min=0)


@dataclass(frozen=True)
class Output:
    """What is printed."""

    quiet: bool = _output(False, "Print nothing but the result.", "--quiet", metavar="")
    json: bool = _output(False, "Print the result as JSON, and nothing else.", "--json", metavar="")


@dataclass(frozen=True)
class TableOutput:
    """Where a table goes."""

    out: Path | None = _output(None, "A CSV file for the table.", metavar="FILE")
    json: bool = _output(False, "Print the result as JSON, and nothing else.", "--json", metavar="")
