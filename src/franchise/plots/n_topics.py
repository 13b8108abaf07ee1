"""The posterior of the number of topics: it is a distribution, not one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.plots.inputs import AnyPosterior, check_posterior
from franchise.plots.style import FAINT, SMALL, chain_colour, drawing, label_axes, panels_for, set_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TopicCounts(NamedTuple):
    """How probable each number of topics is."""

    counts: np.ndarray  # int64 (n,): numbers of topics, from the fewest to the most of any draw
    together: np.ndarray  # float64 (n,): share of all draws
    chains: np.ndarray  # float64 (chains, n): share of each chain's draws


def n_topics_data(posterior: AnyPosterior) -> TopicCounts:
    """What `n_topics` draws: how probable each number of topics is, in each chain and in all together."""
    topics = np.asarray(check_posterior(posterior).trace["n_topics"]).astype(np.int64)
    low, high = int(topics.min()), int(topics.max())
    chains = np.array([np.bincount(row - low, minlength=high - low + 1) for row in topics]) / topics.shape[1]
    return TopicCounts(np.arange(low, high + 1), chains.mean(axis=0), chains)


@drawing
def n_topics(posterior: AnyPosterior, axes: Any = None) -> Figure:
    """Draw the posterior of the number of topics: bars for all chains together, a line of dots a chain.

    Parameters
    ----------
    posterior : Posterior or SegmentPosterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    axes : Axes, optional
        Where to draw.
    """
    from matplotlib.ticker import MaxNLocator

    data = n_topics_data(posterior)
    figure, (panel,) = panels_for(axes, 1, 1, 7.0, 3.4)
    panel.bar(data.counts, data.together, 0.85, color=FAINT, alpha=0.7, label="all chains")
    if len(data.chains) > 1:
        for chain, shares in enumerate(data.chains):
            style = {"color": chain_colour(chain), "linewidth": 1.0, "label": f"chain {chain}"}
            panel.plot(data.counts, _without_far_zeros(shares), ".-", **style)
        panel.legend(frameon=False, fontsize=SMALL)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    panel.set_xlim(data.counts[0] - 0.8, data.counts[-1] + 0.8)
    panel.set_ylim(bottom=0.0)
    label_axes(panel, "number of topics", "posterior probability")
    set_title(panel, "How many topics there are")
    return figure


def _without_far_zeros(shares: np.ndarray) -> np.ndarray:
    """The same with NaN for zeros between zeros, so that lines do not run along the axis."""
    seen = np.pad(shares > 0.0, 1)
    return np.where(seen[:-2] | seen[1:-1] | seen[2:], shares, np.nan)
