"""Options that several commands share: the same word means the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FORMATS = (
    "folder",
    "lines",
    "mallet",
    "csv",
    "tsv",
    "jsonl",
    "parquet",
    "docword",
    "ldac",
    "mtx",
    "npz",
)
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


def _formats(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def _samplers(incomplete: str) -> list[str]:
    return [name for name in SAMPLERS if name.startswith(incomplete)]


def _families(incomplete: str) -> list[str]:
    return [name for name in FAMILIES if name.startswith(incomplete)]


_DATA, _WORDS, _MODEL, _RUN, _OUTPUT = "Data", "Words", "Model", "Run", "Output"

Data = Annotated[
    Path,
    typer.Argument(
        help="A folder of texts, a file (text, tables, counts), or a name listed by `franchise data`."
    ),
]
Run = Annotated[Path, typer.Argument(help="The folder of a run.", exists=False)]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"How the file is written: {', '.join(FORMATS)}. Detected by default.",
        autocompletion=_formats,
        rich_help_panel=_DATA,
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="COLUMN", help="The column that has the texts.", rich_help_panel=_DATA),
]
Name = Annotated[
    str | None,
    typer.Option("--name", metavar="COLUMN", help="The column that names documents.", rich_help_panel=_DATA),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN[,...]",
        help="The column (or columns) that says which group a row is in: a table of observations, not of texts.",
        rich_help_panel=_DATA,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B,...",
        help="With --group: the observed columns [default: all others].",
        rich_help_panel=_DATA,
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="The words of a matrix of counts, one a line.",
        rich_help_panel=_DATA,
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", help="How letters are written in the file.", rich_help_panel=_DATA)
]

StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words",
        help='Stop-word language, or "none" [default: english].',
        rich_help_panel=_WORDS,
    ),
]
MinDf = Annotated[
    float | None,
    typer.Option(
        "--min-df",
        help="Leave out words in fewer documents: a number of them, or a share below 1.",
        rich_help_panel=_WORDS,
    ),
]
MaxDf = Annotated[
    float | None,
    typer.Option(
        "--max-df",
        help="Leave out words in more documents: a number of them above 1, or a share.",
        rich_help_panel=_WORDS,
    ),
]
Ngrams = Annotated[
    int | None,
    typer.Option("--ngrams", min=1, help="Longest n-gram to use as a term.", rich_help_panel=_WORDS),
]
Stem = Annotated[
    str | None,
    typer.Option("--stem", help="Language by which words are cut to their stems.", rich_help_panel=_WORDS),
]
KeepCase = Annotated[
    bool,
    typer.Option("--keep-case", metavar="", help="Tell capitals from small letters.", rich_help_panel=_WORDS),
]

Sentences = Annotated[
    str | None,
    typer.Option(
        "--sentences",
        help="How texts are cut into sentences, for --model htmm: english or simple. [default: english]",
        rich_help_panel=_WORDS,
    ),
]

Model = Annotated[
    str,
    typer.Option(
        "--model",
        help="hdp: every word has a topic; htmm: every sentence, and topics follow the text.",
        rich_help_panel=_MODEL,
    ),
]
Topics = Annotated[
    int | None,
    typer.Option(
        "--n-topics",
        min=1,
        help="Number of topics, with --model htmm [default: inferred].",
        rich_help_panel=_MODEL,
    ),
]
Family = Annotated[
    str | None,
    typer.Option(
        "--family",
        help=f"How observations of a topic are distributed, for tables with --group: {', '.join(FAMILIES)}.",
        autocompletion=_families,
        rich_help_panel=_MODEL,
    ),
]
Setting = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the family, such as prior=0.5 or rate=2; may be given several times.",
        rich_help_panel=_MODEL,
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Of the words of a topic: a number, or SHAPE,RATE of a Gamma prior to learn it. [default: 0.1]",
        rich_help_panel=_MODEL,
    ),
]
Alpha = Annotated[
    str,
    typer.Option(
        "--alpha",
        help="Concentration of the groups: a number, or SHAPE,RATE of a Gamma prior to learn it.",
        rich_help_panel=_MODEL,
    ),
]
Gamma = Annotated[str, typer.Option("--gamma", help="The same of the top level.", rich_help_panel=_MODEL)]

Sampler = Annotated[
    str,
    typer.Option(
        "--sampler",
        help="One of those that `franchise samplers` lists, or auto.",
        autocompletion=_samplers,
        rich_help_panel=_RUN,
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        help='Initial state: a number of random topics, or "sequential" [default: chosen by the sampler].',
        rich_help_panel=_RUN,
    ),
]
Draws = Annotated[int, typer.Option("--draws", help="Draws to keep of each chain.", rich_help_panel=_RUN)]
Warmup = Annotated[
    int, typer.Option("--warmup", help="Sweeps of each chain before the first draw.", rich_help_panel=_RUN)
]
Thin = Annotated[int, typer.Option("--thin", help="Sweeps between two draws.", rich_help_panel=_RUN)]
Chains = Annotated[
    int, typer.Option("--chains", help="Number of chains, run in parallel.", rich_help_panel=_RUN)
]
Seed = Annotated[
    int, typer.Option("--seed", help="The same seed gives the same draws.", rich_help_panel=_RUN)
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Number of threads [default: all cores].", rich_help_panel=_RUN),
]
Engine = Annotated[
    str, typer.Option("--engine", help="Where it runs: threads, or ray for a cluster.", rich_help_panel=_RUN)
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="Of the cluster, for --engine ray: auto, or HOST:PORT.", rich_help_panel=_RUN
    ),
]
Actors = Annotated[
    int | None,
    typer.Option("--actors", help="Number of Ray actors [default: one per node].", rich_help_panel=_RUN),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="SECONDS", help="End with the draws there are then.", rich_help_panel=_RUN
    ),
]
Checkpoint = Annotated[
    float,
    typer.Option(
        "--checkpoint-interval",
        "--checkpoint",
        metavar="SECONDS",
        help="Time between two checkpoints.",
        rich_help_panel=_RUN,
    ),
]

Quiet = Annotated[
    bool,
    typer.Option("--quiet", metavar="", help="Print nothing but the result.", rich_help_panel=_OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", metavar="", help="Print the result as JSON, and nothing else.", rich_help_panel=_OUTPUT
    ),
]
Table = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="A CSV file for the table.", rich_help_panel=_OUTPUT),
]
