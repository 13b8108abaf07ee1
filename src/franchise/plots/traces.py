"""Traces of the chains, by sweep.

Chains that have converged explore the same range of values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.plots import style
from franchise.plots.checks import Traced, check_names, check_posterior, traced
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior


def traces_data(posterior: Posterior[Any], names: object = None) -> list[Traced]:
    """Return what `traces` draws: the values of all chains in the warm-up and after it, by name.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    names : str or list of str, optional
        Names in ``posterior.trace`` [default: those that change of the number of topics, log joint probability, log
        likelihood, probability of a switch and concentrations].

    Returns
    -------
    list of Traced
        For each name, the sweeps and the values of each chain, warm-up first.

    Raises
    ------
    InputError
        If the trace lacks a name.

    Examples
    --------
    >>> fr.plots.traces_data(posterior, "alpha")[0].values.shape  # chains, sweeps
    (2, 110)
    """
    posterior = check_posterior(posterior)
    return [traced(posterior, name) for name in check_names(posterior, names)]


@style.drawing
def traces(posterior: Posterior[Any], names: object = None, axes: AxesLike = None) -> Figure:
    """Draw traces against sweeps, one panel per quantity and one line per chain; the warm-up is shaded.

    Panels are high enough for the draws and the second half of the warm-up: where the first half was far away,
    lines leave their panel.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    names : str or list of str, optional
        Names in ``posterior.trace`` [default: those that change of the number of topics, log joint probability, log
        likelihood, probability of a switch and concentrations].
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one per quantity [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the trace lacks a name.

    Examples
    --------
    >>> figure = fr.plots.traces(posterior, ["alpha", "n_tables"])
    >>> figure.savefig("traces.png")
    """
    data = traces_data(posterior, names)
    figure, panels = style.panels_for(axes, len(data), 1, 9.0, 0.7 + 1.6 * len(data), sharex=True)
    for panel, quantity in zip(panels, data, strict=True):
        _draw_quantity(panel, quantity)
    if data[0].warmup:
        letters: dict[str, Any] = {"va": "top", "fontsize": style.SMALL, "color": style.INK}
        panels[0].annotate("warm-up", (0, 1), (4, -4), "axes fraction", "offset points", **letters)
    panels[-1].set_xlim(0, data[-1].sweeps[-1])
    figure.align_ylabels(panels)
    style.label(panels[-1], across="sweep")
    chains = len(data[0].values)
    if chains > 1:
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        panels[0].legend(ncols=min(chains, 8), frameon=False, fontsize=style.SMALL, **above)
    if axes is None:
        style.label(panels[0], "Traces of the chains", size=style.LARGE)
    return figure


def _draw_quantity(panel: Axes, quantity: Traced) -> None:
    from matplotlib.ticker import MaxNLocator

    if quantity.warmup:
        ends = quantity.sweeps[quantity.warmup - 1]
        panel.axvspan(0, ends, color=style.SHADE, linewidth=0, zorder=0)
    for chain, values in enumerate(quantity.values):
        colour, name = style.chain_colour(chain), f"chain {chain}"
        panel.plot(quantity.sweeps, values, color=colour, linewidth=0.8, alpha=0.85, label=name)
    _fit_height(panel, quantity)
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=quantity.name.startswith("n_")))
    panel.ticklabel_format(axis="y", style="plain", useOffset=False)  # no powers of ten apart
    if max(map(abs, panel.get_ylim())) >= 10_000:
        panel.yaxis.set_major_formatter("{x:,.0f}")
    style.label(panel, up=quantity.words)


def _fit_height(panel: Axes, quantity: Traced) -> None:
    """Limits that have the draws and the second half of the warm-up in between."""
    late = quantity.values[:, quantity.warmup // 2 :]
    if not np.isfinite(late).any():
        return
    low, high = float(np.nanmin(late)), float(np.nanmax(late))
    margin = 0.06 * (high - low) or max(0.5, 0.01 * abs(high))
    panel.set_ylim(low - margin, high + margin)
