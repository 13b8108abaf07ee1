"""What a posterior says, as commands print it: a table of topics, and sentences on how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from franchise.posterior import Posterior

AGREEMENT = 1.05  # R-hat up to which commands call chains converged
WIDE = 100  # columns of a terminal that has room for more words
SHOWN = 20  # topics in a table, unless more are asked for


def topic_table(posterior: Posterior, console: Console, shown: int = SHOWN, words: int | None = None) -> Table:
    """The largest topics of one draw."""
    from rich.table import Table

    topics = posterior.topics(words=words or (10 if console.width >= WIDE else 6))
    table = Table(
        title=f"The {min(shown, len(topics))} largest of {len(topics)} topics in one of the draws",
        title_justify="left",
    )
    for name in ("topic", "share", "groups"):
        table.add_column(name, justify="right")
    if "words" in topics:
        table.add_column("most frequent words")
    for topic, row in topics.head(shown).iterrows():
        cells = [str(topic), f"{row['share']:.1%}", f"{row['groups']:,}"]
        table.add_row(*cells, *([row["words"]] if "words" in topics else []))
    return table


def size_sentence(posterior: Posterior) -> str:
    """How many topics there are."""
    row = posterior.summary().loc["n_topics"]
    return (
        f"Number of topics: {row['mean']:.0f}, in 90 % of the draws from {row['5%']:.0f} to "
        f"{row['95%']:.0f} ({posterior.n_chains} chain{'s' if posterior.n_chains > 1 else ''} x "
        f"{posterior.n_draws} draws, sampler {posterior.sampler!r}, {posterior.seconds:.0f} s)."
    )


def convergence_sentence(posterior: Any) -> str:
    """What R-hat says, in plain words, the good and the bad."""
    r_hat = posterior.summary()["r_hat"]
    values = [float(r_hat["n_topics"]), float(r_hat["log_joint"])]
    if any(math.isnan(value) for value in values):
        return "Too few draws, or too little change among them, to say whether the chains have converged."
    figures = f"R-hat is {values[0]:.2f} for the number of topics and {values[1]:.2f} for the log joint"
    if max(values) <= AGREEMENT:
        return f"The chains agree: {figures}."
    return (
        f"[bold]The chains have not converged[/bold]: {figures}, and should be below {AGREEMENT}. Take the "
        f"topics as one good reading of the data, and their number as a first guess; longer chains will tell more."
    )


def as_plain(posterior: Posterior, words: int = 10) -> dict[str, Any]:
    """The same for machines: plain values that JSON can hold; what cannot be known is None."""
    summary = posterior.summary()
    return {
        "sampler": posterior.sampler,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "seed": posterior.seed,
        "seconds": posterior.seconds,
        "summary": {str(name): _known(row.to_dict()) for name, row in summary.iterrows()},
        "topics": [{"topic": topic, **row} for topic, row in _rows(posterior.topics(words=words))],
    }


def _rows(table: Any) -> list[tuple[int, dict[str, Any]]]:
    return list(zip(table.index.tolist(), table.to_dict("records"), strict=True))


def _known(values: dict[Any, float]) -> dict[str, float | None]:
    return {str(name): None if math.isnan(value) else value for name, value in values.items()}
