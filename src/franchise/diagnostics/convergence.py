"""R-hat, effective sample sizes and Monte Carlo errors of everything traced.

The statistics are ArviZ's (Vehtari et al., 2021, "Rank-normalization, folding, and localization"):

    r_hat        agreement between and within chains: up to 1.01 is good, up to 1.05 usable; infinite if above 10
    ess_bulk     effective sample size for the centre of the distribution
    ess_tail     effective sample size for its 5% and 95% quantiles
    mcse_mean    Monte Carlo standard error of the mean

A column of notes warns where these numbers mislead: R-hat is undefined for a quantity that never changes, and it
averages over chains whose draws do not overlap and chains that still trend.  `franchise/diagnostics/verdict.py`
draws the conclusion.
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

GOOD, USABLE = 1.01, 1.05
"""R-hat up to which chains agree well, and well enough to use."""

_LARGEST_R_HAT = 10.0
"""Larger values of R-hat are reported as infinite."""

_FEWEST_DRAWS = 4  # per chain; ArviZ returns NaN for fewer

FEWEST_FOR_TREND = 10
"""Smallest number of draws of a chain to test for a trend."""

_TREND = 4.0
"""A slope of this many standard errors is a trend: by chance in one of 10,000 chains."""

_SHORT = 12.0
"""How much the error of a slope is underestimated: by 1 + 12 / ESS in its square, measured on autoregressions."""


def summary(posterior: Posterior[Any], held_out: Corpus | None = None) -> pd.DataFrame:
    """Return the table of `summarise` for everything traced, with notes where its numbers mislead.

    Traces that only grow (time, the best likelihood so far) and those for a picture (topic shares) are omitted.

    Parameters
    ----------
    posterior : Posterior
        Draws of either model.
    held_out : Corpus, optional
        Documents that were not sampled. The table then has a row ``held_out_score``, too: the mean log
        probability per word of their second halves given the first, in nats, under the stored draws
        (`held_out_trace`).

    Returns
    -------
    DataFrame
        The columns of `summarise`; ``prior 5%`` and ``prior 95%`` for learned numbers, to compare with ``5%``
        and ``95%`` of the posterior; and ``note``: why there is no R-hat, which chains trend, or where chains
        disagree.

    Examples
    --------
    >>> fr.diagnostics.summary(posterior).columns.tolist()[:4]
    ['mean', 'sd', '5%', '95%']
    """
    left_out = {"seconds", BEST, *SHARES}
    trace = {name: values for name, values in posterior.trace.items() if name not in left_out}
    if held_out is not None:
        from franchise.diagnostics.held_out import held_out_trace

        trace["held_out_score"] = held_out_trace(posterior, held_out)
    table = summarise_with_notes(trace)
    ends = {name: prior.interval(0.9) for name, prior in posterior.priors.items()}
    for place, side in enumerate(("prior 5%", "prior 95%")):
        column = [ends[name][place] if name in ends else np.nan for name in trace]
        table.insert(COLUMNS.index("95%") + 1 + place, side, column)
    return table


def summarise_with_notes(trace: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table of `summarise` with a note on every quantity."""
    return summarise(trace).assign(note=[note_on(_checked(name, values)) for name, values in trace.items()])


def note_on(draws: np.ndarray) -> str:
    """Return a warning about draws (chains, draws) whose statistics mislead; empty if they do not."""
    missing = int((~np.isfinite(draws)).sum())
    if missing:
        return f"not a number in {missing} of {draws.size} draws, so it cannot be assessed"
    if draws.shape[1] < _FEWEST_DRAWS:
        return "too few draws"
    if np.all(draws == draws[0, 0]):
        return "the same in all draws of all chains: R-hat and ESS are undefined"
    trend = describe_trend(draws)
    if trend:
        return trend
    if never_meet(draws):
        return f"the chains disagree, at {in_words(draws.mean(axis=1))}"
    still = np.flatnonzero((draws == draws[:, :1]).all(axis=1))
    if len(still):
        return f"never changes in {_chains_in_words(still)}"
    return ""


def describe_trend(draws: np.ndarray) -> str:
    """Return which chains still trend, such as "still rising in chains 0 and 2"; empty if none does."""
    signs = trends(draws)
    parts = [
        f"still {word} in {_chains_in_words(np.flatnonzero(signs == sign))}"
        for sign, word in ((1, "rising"), (-1, "falling"))
        if (signs == sign).any()
    ]
    return " and ".join(parts)


def _chains_in_words(numbers: np.ndarray) -> str:
    """Return chains as in a sentence: chains 4, 5 and 7."""
    return f"chain{'' if len(numbers) == 1 else 's'} {in_words(numbers)}"


def trends(draws: np.ndarray) -> np.ndarray:
    """Return 1 for each chain that rises, -1 for each that falls, and 0 for the others, int64 (chains,).

    A straight line is fitted to each chain.  With s the standard deviation of the residuals and ESS their effective
    sample size, the slope's standard error is (docs/theory/diagnostics.md#eq-trend)

        s sqrt((n / ESS) (1 + 12 / ESS) / sum_t (t - mean of t)^2)

    Chains trend if their slope is more than four standard errors, alone or all together (Stouffer's sum).
    """
    if draws.shape[1] < FEWEST_FOR_TREND:
        return np.zeros(len(draws), np.int64)
    z = np.array([_slope_in_errors(chain) for chain in draws])
    together = z.sum() / np.sqrt(len(z))
    found = np.where(np.abs(z) > _TREND, np.sign(z), 0.0)
    if abs(together) > _TREND:
        found[np.sign(z) == np.sign(together)] = np.sign(together)
    return found.astype(np.int64)


def _slope_in_errors(chain: np.ndarray) -> float:
    """Return the slope of a line through a chain, divided by its standard error; 0 if the chain never changes."""
    from arviz_stats.base import array_stats

    if np.ptp(chain) <= 1e-9 * np.abs(chain).max():  # apart from rounding
        return 0.0
    times = np.arange(len(chain)) - (len(chain) - 1) / 2.0
    slope = chain @ times / (times @ times)
    rest = chain - chain.mean() - slope * times
    size = float(array_stats.ess(rest[None], method="mean"))
    size = size if np.isfinite(size) else float(len(chain))
    variance = (rest @ rest) / size * (1.0 + _SHORT / size) / (times @ times)
    return float(slope / max(np.sqrt(variance), 1e-300))


def never_meet(draws: np.ndarray) -> bool:
    """Return whether the 90% intervals of two chains do not overlap."""
    low, high = np.quantile(draws, [0.05, 0.95], axis=1)
    rounding = 1e-9 * np.abs(draws).max()
    return bool(low.max() > high.min() + rounding)


def fewest_within(draws: np.ndarray) -> float:
    """Return the smallest effective sample size of a single chain; infinity if no chain changes."""
    from arviz_stats.base import array_stats

    changing = [chain for chain in draws if np.ptp(chain) > 0.0]
    sizes = [float(array_stats.ess(chain[None], method="mean")) for chain in changing]
    return min(sizes, default=np.inf)


def in_words(values: np.ndarray) -> str:
    """Return some numbers as in a sentence: 4, 5 and 7."""
    texts = [f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def summarise(trace: Mapping[str, Any]) -> pd.DataFrame:
    """Return mean, standard deviation, quantiles, R-hat, ESS and Monte Carlo error, one row per quantity.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        Such as ``posterior.trace``.

    Returns
    -------
    DataFrame
        Indexed by name; columns ``mean``, ``sd``, ``5%``, ``95%``, ``r_hat``, ``ess_bulk``, ``ess_tail`` and
        ``mcse_mean``. The last four are NaN where they mean nothing: in fewer than four draws, or where a
        draw is missing (NaN or infinite; the first four are then of the others). So are R-hat and ESS of a
        quantity that never changes. R-hat above 10 is given as infinite. A single chain is cut in halves for its
        R-hat, which needs eight draws.

    Raises
    ------
    InputError
        If a value is not an array of numbers with one row per chain.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(5.0, size=(2, 500))
    >>> fr.diagnostics.summarise({"x": draws}).round(1).loc["x", ["mean", "sd", "r_hat"]].tolist()
    [5.0, 1.0, 1.0]
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
    """Return mean, standard deviation, 5% and 95% quantile of the finite draws of all chains."""
    values = draws[np.isfinite(draws)]
    if values.size == 0:
        return [np.nan] * 4
    spread = values.std(ddof=1) if values.size > 1 else np.nan
    low, high = np.quantile(values, [0.05, 0.95])
    return [values.mean(), spread, low, high]


def _convergence(draws: np.ndarray) -> list[float]:
    """Return R-hat, bulk and tail effective sample size, and Monte Carlo error of the mean."""
    from arviz_stats.base import array_stats

    if draws.shape[1] < _FEWEST_DRAWS or not np.isfinite(draws).all():
        return [np.nan] * 4
    if np.all(draws == draws[0, 0]):
        return [np.nan, np.nan, np.nan, 0.0]
    half = draws.shape[1] // 2  # split a single chain into halves, without an odd draw in the middle
    chains = draws if len(draws) > 1 else np.vstack([draws[0, :half], draws[0, -half:]])
    with np.errstate(divide="ignore", invalid="ignore"):  # R-hat is infinite if no chain ever changes
        r_hat = float(array_stats.rhat(chains))
        return [
            r_hat if r_hat <= _LARGEST_R_HAT else np.inf,
            float(array_stats.ess(draws, method="bulk")),
            float(array_stats.ess(draws, method="tail", prob=(0.05, 0.95))),
            float(array_stats.mcse(draws, method="mean")),
        ]
