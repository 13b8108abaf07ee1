"""The chains in a report: their numbers of topics, traces, and table of convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.diagnostics.convergence import GOOD, USABLE
from franchise.diagnostics.verdict import ENOUGH, NAMES, Verdict, r_hat_in_words
from franchise.posterior.base import Posterior
from franchise.report import json as plain

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 400  # of a chain in a picture
MOST_BARS = 60
COLUMNS = {
    "mean": "mean",
    "5%": "5%",
    "95%": "95%",
    "r_hat": "R-hat",
    "ess_bulk": "ESS bulk",
    "ess_tail": "ESS tail",
    "mcse_mean": "MCSE",
}


def topic_counts(posterior: Posterior[Any]) -> dict[str, Any]:
    """Return how often each chain has each number of topics; wide ranges are binned."""
    topics = np.asarray(posterior.trace["n_topics"]).astype(np.int64)
    low, high = int(topics.min()), int(topics.max())
    width = -(-(high - low + 1) // MOST_BARS)
    places = (topics - low) // width
    bars = int(places.max()) + 1
    shares = [np.bincount(row, minlength=bars) / len(row) for row in places]
    values = low + width * np.arange(bars)
    return {
        "names": [
            f"{value:,}" if width == 1 else f"{value:,}–{value + width - 1:,}" for value in values.tolist()
        ],
        "chains": [plain.numbers(row) for row in shares],
    }


def traces(posterior: Posterior[Any], verdict: Verdict) -> list[dict[str, Any]]:
    """Return the draws of the quantities in the verdict, evenly thinned."""
    return [
        {"title": title_of(name), "chains": [_thinned(chain) for chain in posterior.trace[name]]}
        for name in map(str, verdict.table.index)
    ]


def _thinned(draws: np.ndarray) -> list[float | int | None]:
    places = np.linspace(0, len(draws) - 1, min(len(draws), MOST_POINTS)).round().astype(int)
    return plain.numbers(draws[places], digits=7)


def convergence_table(verdict: Verdict) -> dict[str, Any]:
    """Return the table of the verdict, with an assessment in words as the last column."""
    table, columns = verdict.table, list(COLUMNS)
    return {
        "columns": [*COLUMNS.values(), "in words"],
        "titles": [title_of(str(name)) for name in table.index],
        "rows": [
            [str(name), *(_cell(column, row[column]) for column in columns), in_words(row)]
            for name, row in table.iterrows()
        ],
    }


def _cell(column: str, value: float) -> float | int | str | None:
    if column == "r_hat" and value == np.inf:
        return r_hat_in_words(value)
    return plain.number(value, digits=7)


def in_words(row: pd.Series) -> str:
    """Return an assessment of one quantity."""
    if row["note"]:
        return str(row["note"])
    faults = []
    if not row["r_hat"] <= USABLE:
        faults.append("R-hat is too large")
    if not min(row["ess_bulk"], row["ess_tail"]) >= ENOUGH:
        faults.append("ESS is too small")
    return "; ".join(faults) or ("good" if row["r_hat"] <= GOOD else "usable")


def title_of(name: str) -> str:
    """Return the name of a traced quantity as a heading."""
    words = NAMES.get(name, name.replace("_", " ")).removeprefix("the ")
    return words[:1].upper() + words[1:]
