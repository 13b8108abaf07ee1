"""The posterior distribution of the number of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.plots import style
from franchise.plots.checks import check_posterior
from franchise.plots.style import AxesLike, Figure
from franchise.posterior.base import Posterior

if TYPE_CHECKING:
    import pandas as pd


def n_topics_data(posterior: Posterior[Any]) -> pd.DataFrame:
    """Return what `n_topics` draws: the posterior of the number of topics, in all chains together and in each.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.

    Returns
    -------
    DataFrame
        The table ``posterior.n_topics_posterior()``: columns `n_topics`, `probability`, and one per chain.

    Raises
    ------
    InputError
        If `posterior` is no posterior.

    Examples
    --------
    >>> fr.plots.n_topics_data(posterior).columns.tolist()
    ['n_topics', 'probability', 'chain 0', 'chain 1']
    """
    return check_posterior(posterior).n_topics_posterior()


@style.drawing
def n_topics(posterior: Posterior[Any], axes: AxesLike = None) -> Figure:
    """Draw the posterior of the number of topics: bars for all chains together, one line of dots per chain.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Examples
    --------
    >>> figure = fr.plots.n_topics(posterior)
    >>> figure.savefig("n_topics.png")
    """
    from matplotlib.ticker import MaxNLocator

    data = n_topics_data(posterior)
    counts, together = data["n_topics"].to_numpy(), data["probability"].to_numpy()
    chains = data.columns.drop(["n_topics", "probability"])
    figure, (panel,) = style.panels_for(axes, 1, 1, 7.0, 3.4)
    panel.bar(counts, together, 0.85, color=style.FAINT, alpha=0.7, label="all chains")
    if len(chains) > 1:
        for chain, name in enumerate(chains):
            shares = _without_far_zeros(data[name].to_numpy())
            panel.plot(counts, shares, ".-", color=style.chain_colour(chain), linewidth=1.0, label=name)
        panel.legend(frameon=False, fontsize=style.SMALL)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    panel.set_xlim(counts[0] - 0.8, counts[-1] + 0.8)
    panel.set_ylim(bottom=0.0)
    style.label(panel, "Posterior of the number of topics", "number of topics", "posterior probability")
    return figure


def _without_far_zeros(shares: np.ndarray) -> np.ndarray:
    """Return shares with NaN for zeros between zeros, so that lines do not run along the axis."""
    seen = np.pad(shares > 0.0, 1)
    return np.where(seen[:-2] | seen[1:-1] | seen[2:], shares, np.nan)
