"""Have the chains converged, and how many draws are they worth: a table of everything traced.

The statistics are ArviZ's (Vehtari et al., 2021, "Rank-normalization, folding, and localization"):

    r_hat        do the chains agree, with each other and within themselves? near 1 if so (the verdict asks for
    at most 1.02)
    ess_bulk     independent draws that the centre of the distribution is worth
    ess_tail     the same for its 5 % and 95 % quantiles
    mcse_mean    Monte Carlo standard error of the mean

Nothing is computed here by hand but means and quantiles.  Where these numbers mislead, words stand beside them: of
what never changes R-hat is undefined, and of chains that are stuck apart it says "not yet" where it should say "not
ever".  `franchise/diagnostics/verdict.py` draws the conclusion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.errors import InputError
from franchise.running.chain import BEST, SHARES
from franchise.validation import describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.posterior.base import Posterior

COLUMNS = ["mean", "sd", "5%", "95%", "r_hat", "ess_bulk", "ess_tail", "mcse_mean"]

_FEWEST_DRAWS = 4  # of a chain; ArviZ gives NaN below

_APART = 3.0
"""Chains are stuck apart if their means differ by this many times the spread, and the drift, of either."""


def summary(posterior: Posterior[Any], held_out: Corpus | None = None) -> pd.DataFrame:
    """What `summarise` says of everything traced, and a note in words where its numbers mislead.

    Left out is what only grows (time, the best so far) and what is meant for a picture (topic shares).

    Parameters
    ----------
    posterior : Posterior or HTMMPosterior
        What was sampled.
    held_out : Corpus, optional
        Documents that were not sampled. The table then has a row ``held_out_score``, too: the mean log probability
        per word of their second halves given the first, under the draws kept in full (`held_out_trace`).

    Returns
    -------
    DataFrame
        As of `summarise`, and ``note``: why there is no R-hat, or that the chains are stuck apart; else empty.
    """
    left_out = {"seconds", BEST, *SHARES}
    trace = {name: values for name, values in posterior.trace.items() if name not in left_out}
    if held_out is not None:
        from franchise.diagnostics.held_out import held_out_trace

        trace["held_out_score"] = held_out_trace(posterior, held_out)
    return summarise_with_notes(trace)


def summarise_with_notes(trace: Mapping[str, Any]) -> pd.DataFrame:
    """Return what `summarise` says, and a note on every quantity."""
    return summarise(trace).assign(note=[note_on(_checked(name, values)) for name, values in trace.items()])


def note_on(draws: np.ndarray) -> str:
    """What the numbers do not say of some draws (chains, draws); empty if they say all."""
    missing = int((~np.isfinite(draws)).sum())
    if missing:
        return f"not a number in {missing} of {draws.size} draws: it cannot be judged"
    if draws.shape[1] < _FEWEST_DRAWS:
        return "too few draws to tell"
    if np.all(draws == draws[0, 0]):
        return "the same in all draws of all chains: R-hat and effective sizes mean nothing"
    if stuck_apart(draws):
        return f"the chains are stuck apart, at {in_words(draws.mean(axis=1))}"
    still = np.flatnonzero((draws == draws[:, :1]).all(axis=1))
    if len(still):
        return f"never changes in chain {in_words(still)}"
    return ""


def stuck_apart(draws: np.ndarray) -> bool:
    """Whether two chains are each steady, at different values: far apart for their spread and for their drift.

    Means and standard deviations of chains c, and the drift of each from its first half to its second:

        |mean_c - mean_d|  >  3 max(sd_c, sd_d)   and   >  3 max(drift_c, drift_d)   for some chains c and d
    """
    half = draws.shape[1] // 2
    if len(draws) < 2 or half == 0:
        return False
    means, spreads = draws.mean(axis=1), draws.std(axis=1)
    drifts = np.abs(draws[:, -half:].mean(axis=1) - draws[:, :half].mean(axis=1))
    noise = np.maximum(spreads, drifts)
    gaps = np.abs(np.subtract.outer(means, means))
    rounding = 1e-9 * np.abs(means).max()
    return bool((gaps > _APART * np.maximum.outer(noise, noise) + rounding).any())


def in_words(values: np.ndarray) -> str:
    """Some numbers as in a sentence: 4, 5 and 7."""
    texts = [f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def summarise(trace: Mapping[str, Any]) -> pd.DataFrame:
    """Mean, spread, R-hat, effective sample sizes and Monte Carlo error, one row a quantity.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        Such as ``posterior.trace``.

    Returns
    -------
    DataFrame
        Indexed by name; columns ``mean``, ``sd``, ``5%``, ``95%``, ``r_hat``, ``ess_bulk``, ``ess_tail`` and
        ``mcse_mean``. The last four are NaN where they mean nothing: in fewer than four draws, or where a
        draw is missing (NaN or infinite; the first four are then of the others). So are R-hat and the effective
        sizes of what never changes. A single chain is cut in halves for its R-hat, which needs eight draws.
    """
    import pandas as pd

    checked = {name: _checked(name, values) for name, values in trace.items()}
    rows = {name: [*_location_and_spread(draws), *_convergence(draws)] for name, draws in checked.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS, dtype=float).rename_axis("quantity")


def _checked(name: str, values: object) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InputError(
            f"trace[{name!r}] must be numbers of shape (chains, draws), at least one of each; got "
            f"{describe(array)}. For one chain give values[None, :]."
        )
    return array.astype(np.float64)


def _location_and_spread(draws: np.ndarray) -> list[float]:
    """Mean, standard deviation, 5 % and 95 % quantile of the finite draws of all chains together."""
    values = draws[np.isfinite(draws)]
    if values.size == 0:
        return [np.nan] * 4
    spread = values.std(ddof=1) if values.size > 1 else np.nan
    low, high = np.quantile(values, [0.05, 0.95])
    return [values.mean(), spread, low, high]


def _convergence(draws: np.ndarray) -> list[float]:
    """R-hat, bulk and tail effective sample size, Monte Carlo error of the mean."""
    from arviz_stats.base import array_stats

    if draws.shape[1] < _FEWEST_DRAWS or not np.isfinite(draws).all():
        return [np.nan] * 4
    if np.all(draws == draws[0, 0]):
        return [np.nan, np.nan, np.nan, 0.0]
    half = draws.shape[1] // 2  # a single chain is taken as its two halves, without an odd draw in the middle
    chains = draws if len(draws) > 1 else np.vstack([draws[0, :half], draws[0, -half:]])
    with np.errstate(divide="ignore", invalid="ignore"):  # R-hat is infinite if chains are stuck apart
        return [
            float(array_stats.rhat(chains)),
            float(array_stats.ess(draws, method="bulk")),
            float(array_stats.ess(draws, method="tail", prob=(0.05, 0.95))),
            float(array_stats.mcse(draws, method="mean")),
        ]
