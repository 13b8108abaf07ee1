"""`franchise compare`: several samplers on the same data: their speed, agreement and held-out scores."""

from __future__ import annotations

import json as plain
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli import options

if TYPE_CHECKING:
    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.data.grouped import GroupedData
    from franchise.posterior.hdp_posterior import HDPPosterior

_MOVED = {"topics": "n_topics", "log joint": "log_joint"}


def compare_samplers(
    data: GroupedData, samplers: list[str], asked: dict[str, Any], on_progress: Callable[[str, float], None]
) -> pd.DataFrame:
    """One row a sampler; `asked` are further arguments of `sample`, and `on_progress` hears what is being run.

    Of a corpus a tenth of the documents is held out, and scored.
    """
    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.data.splits import hold_out_documents
    from franchise.samplers.registry import AUTO, SAMPLERS
    from franchise.sampling import sample
    from franchise.validation import check_choice

    for name in samplers:
        check_choice("samplers", name, [AUTO, *SAMPLERS])
    trained, held_out = hold_out_documents(data) if isinstance(data, Corpus) else (data, None)
    rows = {}
    for place, name in enumerate(samplers):
        on_progress(name, place / len(samplers))
        posterior = sample(trained, sampler=name, progress=False, **asked)
        rows[name] = {**_facts(posterior), **_score(posterior, held_out)}
    on_progress("done", 1.0)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("sampler")


def _facts(posterior: HDPPosterior) -> dict[str, float]:
    """Topics, agreement, and effective draws for each second that all chains took, warm-up included."""
    summary = posterior.summary()
    facts = {"seconds": posterior.seconds, "topics": float(summary["mean"]["n_topics"])}
    for label, name in _MOVED.items():
        facts[f"R-hat of {label}"] = float(summary["r_hat"][name])
        facts[f"draws/s of {label}"] = float(summary["ess_bulk"][name]) / posterior.seconds
    return facts


def _score(posterior: HDPPosterior, held_out: Corpus | None) -> dict[str, float]:
    if held_out is None:
        return {}
    from franchise.diagnostics.held_out import document_completion

    return {"held-out nats/word": document_completion(posterior, held_out).log_probability_per_word}


def compare(
    path: options.Data,
    samplers: Annotated[
        str, typer.Option(metavar="A,B,...", help="Which samplers.", rich_help_panel="Run")
    ] = "direct,parallel,split-merge",
    format: options.Format = None,
    text: options.Text = None,
    vocabulary: options.Vocabulary = None,
    encoding: options.Encoding = "utf-8",
    stop_words: options.StopWords = None,
    min_df: options.MinDf = None,
    max_df: options.MaxDf = None,
    group: options.Group = None,
    columns: options.Columns = None,
    family: options.Family = None,
    setting: options.Setting = [],  # noqa: B006 (never changed)
    prior: options.Prior = None,
    start: options.Start = None,
    chains: options.Chains = 2,
    draws: options.Draws = 200,
    warmup: options.Warmup = 200,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    out: options.Table = None,
    json: options.Json = False,
) -> None:
    """Run several samplers on the same data and show one table.

    Effective draws per second of the number of topics and of the log joint say how fast chains move, R-hat whether
    they agree, and the log probability of held-out words (a tenth of the documents, one half of each given the
    other) how good the topics are. A sampler that moves fast among poor topics is not the better one.
    """
    from franchise.cli.library_arguments import (
        USUAL_PRIOR,
        File,
        Words,
        family_of,
        number_or_gamma,
        read_data,
        rows_of_table,
        start_of,
    )
    from franchise.cli.render import make_console, rows_of, shared_progress, write_table

    pass

    data = read_data(
        File(path, format, text, None, vocabulary, encoding),
        Words(stop_words, min_df, max_df),
        rows_of_table(group, columns),
    )
    asked: dict[str, Any] = {
        "family": family_of(family, setting, number_or_gamma("--prior", prior or USUAL_PRIOR), data),
        "start": start_of(start),
        "chains": chains,
        "draws": draws,
        "warmup": warmup,
        "seed": seed,
        "workers": workers,
        "time_limit": time_limit,
    }
    names = [name.strip() for name in samplers.split(",")]
    console = make_console()
    console.quiet = json
    with shared_progress(console) as on_progress:
        table = compare_samplers(data, names, asked, on_progress)
    if out is not None:
        write_table(out, table)
    if json:
        print(plain.dumps(rows_of(table)))
    else:
        console.print(_printed(table))


def _printed(table: pd.DataFrame) -> Any:
    from rich.table import Table

    printed = Table(title="Samplers compared", title_justify="left")
    for name in ("sampler", *table.columns):
        printed.add_column(str(name), justify="left" if name == "sampler" else "right")
    for sampler, row in table.iterrows():
        printed.add_row(str(sampler), *(f"{value:.4g}" for value in row))
    return printed
