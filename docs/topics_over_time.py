"""The picture of the README: how topics of the State of the Union addresses rise and fall.

    python docs/topics_over_time.py          writes docs/topics-over-time.png; needs franchise[plot]

The prior is that of `franchise demo`. The twelve topics whose share changes most over time are shown.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import franchise as fr
from franchise.cli.demo import PRIOR, shares_of_addresses

YEARS_PER_STEP = 10
ROWS, COLUMNS = 3, 4
INK, FILL, PAPER = "#22313f", "#3b7ea1", "#ffffff"


def fit() -> fr.Posterior:
    """Sample two chains with the prior of the demo, from 60 random topics each."""
    corpus = fr.datasets.load("sotu", unit="paragraph")
    return fr.sample(
        corpus, fr.Categorical(corpus.vocabulary_size, PRIOR), start=60, warmup=200, draws=150, chains=2
    )


def share_by_period(posterior: fr.Posterior) -> pd.DataFrame:
    """Return the share of each topic in the words of every ten years; rows are the first years."""
    shares = shares_of_addresses(posterior.data, posterior.document_topics()).drop(columns="other")
    years, words = (shares.index.get_level_values(level) for level in ("year", "words"))
    words_by_topic = shares.mul(words, axis=0).groupby(years // YEARS_PER_STEP * YEARS_PER_STEP).sum()
    return words_by_topic.div(words_by_topic.sum(axis=1), axis=0)


def most_telling(by_period: pd.DataFrame) -> list[int]:
    """Return the topics whose share varies most, in the order of their centre in time."""
    chosen = by_period.std().nlargest(ROWS * COLUMNS).index
    centre = {topic: np.average(by_period.index, weights=by_period[topic]) for topic in chosen}
    return sorted(chosen, key=centre.__getitem__)


def draw(by_period: pd.DataFrame, words: pd.Series, path: Path) -> None:
    """Draw one panel per topic: its share of the words over time, under its most frequent words."""
    figure, panels = plt.subplots(ROWS, COLUMNS, figsize=(11, 5.2), sharex=True, facecolor=PAPER)
    middle = by_period.index + YEARS_PER_STEP / 2
    for panel, topic in zip(panels.flat, most_telling(by_period), strict=True):
        panel.fill_between(middle, 100 * by_period[topic], color=FILL, alpha=0.85, linewidth=0)
        panel.set_title("\n".join(_two_lines(words[topic].split())), fontsize=9, color=INK, loc="left")
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(labelsize=8, colors=INK, length=2)
        panel.set_ylim(bottom=0)
        panel.set_xticks([1800, 1850, 1900, 1950, 2000])
        panel.yaxis.set_major_locator(plt.MaxNLocator(3))
        panel.yaxis.set_major_formatter("{x:.0f}%")
    figure.tight_layout(w_pad=1.5, h_pad=1.2)
    figure.savefig(path, dpi=110)


def _two_lines(words: list[str]) -> list[str]:
    return [" ".join(words[:3]), " ".join(words[3:])]


if __name__ == "__main__":
    posterior = fit()
    draw(
        share_by_period(posterior),
        posterior.topics(words=6)["words"],
        Path(__file__).with_name("topics-over-time.png"),
    )
