"""`franchise compare`: speed, agreement and held-out scores of several samplers on the same data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Chains, Execution, Model, Source, TableOutput, Words, with_options

if TYPE_CHECKING:
    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.data.grouped import GroupedData
    from franchise.posterior.hdp_posterior import HDPPosterior

_MOVED = {"topics": "n_topics", "log joint": "log_joint"}
_NOT_OPTIONS = (
    *("name", "ngrams", "stem", "lemma", "phrases", "strip", "keep_case", "sentences"),
    *("model", "n_topics", "alpha", "gamma"),
    *("sampler", "thin", "engine", "address", "actors", "checkpoint"),
)
"""Options of fit that comparisons do not have."""


def compare_samplers(
    data: GroupedData, samplers: list[str], asked: dict[str, Any], on_progress: Callable[[str, float], None]
) -> pd.DataFrame:
    """Return one row per sampler.

    `asked` are further arguments of `sample`, and `on_progress` gets the name of the sampler. For a corpus, a
    tenth of the documents is held out and scored.
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
    """Return topics, R-hat, and effective draws of all chains per second of the slowest one, warm-up included."""
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


@with_options(
    without=_NOT_OPTIONS,
    draws=200,
    warmup=200,
)
def compare(
    *,
    samplers: Annotated[
        str, typer.Option(metavar="A,B,...", help="Samplers to compare.", rich_help_panel="Run")
    ] = "direct,parallel,split-merge",
    source: Source,
    words: Words,
    model: Model,
    chains: Chains,
    execution: Execution,
    output: TableOutput,
) -> None:
    """Run several samplers on the same data and show one table.

    Reports ESS per second and R-hat for the number of topics and the log joint, and the log probability of held-out
    words. A tenth of the documents is held out, and one half of each is predicted from the other. A fast sampler
    with a low held-out score is not the better one.
    """
    from franchise.cli.library_arguments import (
        chain_arguments,
        family_of,
        read_data,
        run_arguments,
        split_names,
    )
    from franchise.cli.render import give_table, make_console, shared_progress

    asked = {**chain_arguments(chains), **run_arguments(execution)}
    data = read_data(source, words)
    asked["family"] = family_of(model, data)
    console = make_console(output.json)
    with shared_progress(console) as on_progress:
        table = compare_samplers(data, split_names(samplers), asked, on_progress)
    give_table(output, table)
    console.print(_printed(table))


def _printed(table: pd.DataFrame) -> Any:
    from rich.table import Column, Table

    numbers = (Column(str(name), justify="right") for name in table.columns)
    printed = Table("sampler", *numbers, title="Comparison of samplers", title_justify="left")
    for sampler, row in table.iterrows():
        printed.add_row(str(sampler), *("> 10" if value == math.inf else f"{value:.4g}" for value in row))
    return printed
