"""Rank histograms: do the chains visit the same values equally often?

All draws of all chains are ranked together.  If the chains agree, the ranks of each are uniform, and its histogram
is flat up to chance; a chain that is too high or too low leans to one side, one that hardly moves has a peak
(Vehtari et al., 2021, "Rank-normalization, folding, and localization", section 4.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_names, check_posterior, in_words
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.validation import check_integer


class Ranked(NamedTuple):
    """The histograms of one quantity."""

    name: str
    words: str  # what to call it on an axis
    counts: np.ndarray  # int64 (chains, bins): draws of the chain whose ranks are in the bin
    edges: np.ndarray  # float64 (bins + 1,): ranks from 0 to 1
    expected: float  # draws in a bin if ranks were uniform


def ranks_data(posterior: Posterior[Any], names: object = None, bins: int | None = None) -> list[Ranked]:
    """Return what `ranks` draws: the histograms of the chains' ranks; equal values are ranked at random.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    names : str or list of str, optional
        Names in ``posterior.trace`` [default: as `traces_data` chooses].
    bins : int, optional
        Number of bins [default: by the number of draws, up to 20].

    Returns
    -------
    list of Ranked
        For each name the numbers of draws of each chain in each bin, the edges of bins, and the expected number.

    Raises
    ------
    InputError
        If the trace lacks a name, or `bins` is below 2.

    Examples
    --------
    >>> fr.plots.ranks_data(posterior, "alpha", bins=2)[0].counts.sum(axis=1).tolist()
    [10, 10]
    """
    posterior = check_posterior(posterior)
    chosen = check_names(posterior, names)
    if bins is None:
        bins = int(np.clip(2 * posterior.n_draws ** (1 / 3), 2, 20))
    bins = check_integer("bins", bins, minimum=2)
    return [_rank(posterior, name, bins) for name in chosen]


def _rank(posterior: Posterior[Any], name: str, bins: int) -> Ranked:
    values = np.asarray(posterior.trace[name], np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"names: {name!r} cannot be ranked, as it is missing in some draws. Remove it.")
    ranked = ranks_of(values) / values.size
    edges = np.linspace(0.0, 1.0, bins + 1)
    counts = np.array([np.histogram(row, edges)[0] for row in ranked])
    return Ranked(name, in_words(posterior, name), counts, edges, values.shape[1] / bins)


def ranks_of(values: np.ndarray) -> np.ndarray:
    """The middle of each value's rank among all, 0.5 to size - 0.5, in the shape of the values; ties at random."""
    flat = values.ravel()
    by_chance = np.random.default_rng(0).permutation(flat.size)
    order = np.lexsort((by_chance, flat))
    ranked = np.empty(flat.size)
    ranked[order] = np.arange(flat.size) + 0.5
    return ranked.reshape(values.shape)


@style.drawing
def ranks(
    posterior: Posterior[Any], names: object = None, bins: int | None = None, axes: AxesLike = None
) -> Figure:
    """Draw rank histograms, one row per quantity and one column per chain, with a line for equal chains.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    names : str or list of str, optional
        Names in ``posterior.trace`` [default: as `traces_data` chooses].
    bins : int, optional
        Number of bins [default: by the number of draws, up to 20].
    axes : sequence of Axes, optional
        Panels to draw on, row after row [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the trace lacks a name, or `bins` is below 2.

    Examples
    --------
    >>> figure = fr.plots.ranks(posterior, "alpha")
    >>> figure.savefig("ranks.png")
    """
    data = ranks_data(posterior, names, bins)
    rows, chains = len(data), len(data[0].counts)
    width, height = max(4.0, 0.9 + 2.1 * chains), 0.9 + 1.5 * rows
    headline = "Rank histograms of draws: flat if the chains agree"
    figure, panels = style.panels_for(
        axes, rows, chains, width, height, headline=headline, sharex=True, sharey="row"
    )
    for place, panel in enumerate(panels):
        row, chain = divmod(place, chains)
        _draw_histogram(panel, data[row], chain)
        style.label(
            panel,
            title=f"chain {chain}" if row == 0 else None,
            across="rank" if row == rows - 1 else None,
            up=data[row].words if chain == 0 else None,
        )
    figure.align_ylabels(panels)
    return figure


def _draw_histogram(panel: Axes, quantity: Ranked, chain: int) -> None:
    width = quantity.edges[1] - quantity.edges[0]
    colour = style.chain_colour(chain)
    panel.bar(quantity.edges[:-1], quantity.counts[chain], 0.92 * width, align="edge", color=colour)
    panel.axhline(quantity.expected, color=style.INK, linewidth=1.0, linestyle="--")
    panel.set(xlim=(0.0, 1.0), ylim=(0.0, 1.08 * max(quantity.counts.max(), quantity.expected)))
    panel.set_xticks([0.0, 0.5, 1.0], ["low", "", "high"])
