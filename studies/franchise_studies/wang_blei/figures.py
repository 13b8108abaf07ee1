"""The paper's figures, drawn from what was measured; the numbers of the figures are the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from franchise.data.synthetic import five_topics
from franchise_studies.drawing import FAINT, INK, NEW, OLD, make_panels, set_title
from franchise_studies.wang_blei.synthetic import AS_ONE, EARLY, GIBBS, SPLIT_MERGE, STARTS, Run
from franchise_studies.wang_blei.text import NAMES, Difference, TextRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {GIBBS: OLD, SPLIT_MERGE: NEW}


def _log_axis(panel: Axes) -> None:
    """Logarithms along x, with a few plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator, NullLocator

    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:g}")


def draw_difference_of_modes(runs: list[Run]) -> Figure:
    """Figure 4(a): the best of Gibbs+SM less that of Gibbs, sweep by sweep, for each start; joint, likelihood."""
    figure, panels = make_panels(2, len(STARTS), 3.6 * len(STARTS), 5.2, sharex=True, sharey="row")
    for row, name in zip(panels, ("best_joint", "best"), strict=True):
        for panel, start in zip(row, STARTS, strict=True):
            gaps = np.array(
                [
                    getattr(new, name) - getattr(old, name)
                    for old in runs
                    for new in runs
                    if (old.start, old.method) == (start, GIBBS)
                    and (new.start, new.method, new.seed) == (start, SPLIT_MERGE, old.seed)
                ]
            )
            sweeps = np.arange(1, gaps.shape[1] + 1)
            panel.plot(sweeps, gaps.T, color=FAINT, linewidth=0.6)
            panel.plot(sweeps, gaps.mean(axis=0), color=NEW, linewidth=2, label=f"mean of {len(gaps)} seeds")
            panel.axhline(0.0, color=INK, linewidth=0.8)
            _log_axis(panel)
            set_title(panel, f"{NAMES[name]}; start: {start}")
        row[0].set_ylabel("Gibbs+SM less Gibbs, nats per word", fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("sweep", fontsize=8)
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def draw_shares(pair: dict[str, Run]) -> Figure:
    """Figure 4(b): shares of the words in the largest topic, the two largest, and so on, in the first sweeps."""
    figure, panels = make_panels(1, 2, 10, 3.2, sharey=True)
    for panel, (method, run) in zip(panels[0], pair.items(), strict=True):
        shares = run.shares[:EARLY]
        for line in range(shares.shape[1]):
            visible = np.where(line == 0, True, shares[:, max(line - 1, 0)] < 0.9995)
            panel.plot(
                np.flatnonzero(visible) + 1, shares[visible, line], ".", color=COLOURS[method], markersize=2.5
            )
        sizes = np.sort(np.bincount(five_topics(run.seed).labels))[::-1]
        for true in np.cumsum(sizes) / sizes.sum():
            panel.axhline(true, color=FAINT, linewidth=0.8, linestyle=":")
        set_title(panel, f"{method}, seed {run.seed}")
        panel.set_xlabel("sweep", fontsize=8)
    panels[0, 0].set_ylabel("share of the words", fontsize=8)
    return figure


def draw_topics(pair: dict[str, Run]) -> Figure:
    """Figures 3, 4(c) and 4(d): topics as dots over the twelve words: the truth, then each method at its best."""
    figure, panels = make_panels(1, 3, 11, 3.0, sharex=True)
    truth = five_topics(next(iter(pair.values())).seed).topics
    _draw_dots(panels[0, 0], truth, "the truth (figure 3)", INK)
    for panel, (method, run) in zip(panels[0, 1:], pair.items(), strict=True):
        counts = run.words_of_topics
        large = counts[counts.sum(axis=1) >= 0.01 * counts.sum()]
        _draw_dots(
            panel,
            large / large.sum(axis=1, keepdims=True),
            f"{method}, best of {EARLY} sweeps",
            COLOURS[method],
        )
    return figure


def _draw_dots(panel: Axes, topics: np.ndarray, title: str, colour: str) -> None:
    rows, words = np.indices(topics.shape)
    panel.scatter(words + 1, rows + 1, s=260 * topics, color=colour, linewidths=0)
    set_title(panel, title)
    panel.set_xlabel("word", fontsize=8)
    panel.set_ylabel("topic", fontsize=8)
    panel.set_xticks(range(1, topics.shape[1] + 1))
    panel.set_yticks(range(1, topics.shape[0] + 1))
    panel.set_ylim(topics.shape[0] + 0.6, 0.4)


def slowest_pair(runs: list[Run]) -> dict[str, Run]:
    """Both methods for the seed in which Gibbs took longest to part topics 1 and 2."""

    def time(run: Run) -> float:
        return np.inf if run.found is None else run.found

    slow = max((run for run in runs if (run.start, run.method) == (AS_ONE, GIBBS)), key=time)
    return {
        run.method: run
        for method in (GIBBS, SPLIT_MERGE)
        for run in runs
        if (run.start, run.method, run.seed) == (AS_ONE, method, slow.seed)
    }


# --- text ---------------------------------------------------------------------------------------------------


def draw_likelihoods(runs: list[TextRun], prior: float) -> Figure:
    """Figure 5: log likelihood per word of the training documents against time."""
    names = list(dict.fromkeys(run.task.corpus for run in runs))
    figure, panels = make_panels(1, len(names), 3.6 * len(names), 3.0)
    for panel, corpus in zip(panels[0], names, strict=True):
        for method in COLOURS:
            chosen = [
                r for r in runs if (r.task.corpus, r.task.prior, r.task.method) == (corpus, prior, method)
            ]
            for place, run in enumerate(chosen):
                label = method if place == 0 else None
                panel.plot(run.seconds, run.likelihood, color=COLOURS[method], linewidth=0.9, label=label)
        _log_axis(panel)
        set_title(panel, f"{corpus}, eta {prior}")
        panel.set_xlabel("seconds", fontsize=8)
    panels[0, 0].set_ylabel("log likelihood per word, nats", fontsize=8)
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def draw_differences(found: list[Difference], what: str) -> Figure:
    """Figures 6 ("best_joint", "best") and 7 ("held_out"): Gibbs+SM less Gibbs against time, with its error."""
    corpora = list(dict.fromkeys(difference.corpus for difference in found))
    priors = list(dict.fromkeys(difference.prior for difference in found))
    figure, panels = make_panels(len(corpora), len(priors), 3.4 * len(priors), 2.3 * len(corpora))
    for difference in found:
        panel = panels[corpora.index(difference.corpus), priors.index(difference.prior)]
        values = getattr(difference, what)
        mean = values.mean(axis=0)
        if len(values) > 1:
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            panel.fill_between(difference.seconds, mean - error, mean + error, color=FAINT, linewidth=0)
        panel.plot(difference.seconds, mean, color=NEW, linewidth=1.6)
        panel.axhline(0.0, color=INK, linewidth=0.8)
        _log_axis(panel)
        set_title(panel, f"{difference.corpus}, eta {difference.prior}")
    for panel in panels[-1]:
        panel.set_xlabel("seconds", fontsize=8)
    for panel in panels[:, 0]:
        panel.set_ylabel("nats per word", fontsize=8)
    return figure


def draw_similarities(runs: list[TextRun], prior: float) -> Figure:
    """Figure 8: cosines between pairs of topics, a dot a pair, scattered up and down to be seen."""
    names = list(dict.fromkeys(run.task.corpus for run in runs))
    figure, panels = make_panels(len(names), 1, 8, 1.3 * len(names) + 0.5, sharex=True)
    for panel, corpus in zip(panels[:, 0], names, strict=True):
        chosen = [run for run in runs if (run.task.corpus, run.task.prior) == (corpus, prior)]
        cosines = np.concatenate([run.similarities for run in chosen])
        heights = np.random.default_rng(0).random(len(cosines))
        panel.plot(cosines, heights, ".", color=NEW, markersize=2, alpha=0.5)
        set_title(panel, f"{corpus}, eta {prior}")
        panel.set_yticks([])
    panels[-1, 0].set_xlabel("cosine similarity of two topics", fontsize=8)
    return figure
