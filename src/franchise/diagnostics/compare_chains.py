"""Comparison of chains that disagree: common topics, predictive accuracy, and weights to combine them.

Chains are compared by leave-one-out prediction: how well each predicts an observation from all others.  With the
draws s of a chain (importance sampling with the topic of x_i integrated out;
docs/theory/diagnostics.md#eq-leave-one-out),

    p(x_i | x_-i) = 1 / mean over s of 1 / p(x_i | x_-i, z_-i(s))

    p(x_i | x_-i, z_-i) = sum_k (n_jk + alpha beta_k) f_k(x_i) / (n_j + alpha)   without observation i

where beta is drawn given the draw's tables.  A difference between two chains has the standard error of a sum over
groups.

Stacking (Yao, Vehtari & Gelman 2022, "Stacking for non-mixing Bayesian computations") weights chains by prediction:

    maximise  sum_i log sum_c w_c p_c(x_i | x_-i)   over weights w_c >= 0 that sum to one

Stacking does not need agreement between chains, and does not imply that any of them is right.  The comparison uses
at most 20,000 evenly spaced observations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from franchise.diagnostics.convergence import in_words
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.kernels.compare_chains import fill_leave_one_out
from franchise.posterior.base import Posterior
from franchise.posterior.draw import stored_by_chain
from franchise.posterior.intervals import even_rows
from franchise.posterior.predictive import statistics_of

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus
    from franchise.posterior.hdp_posterior import HDPPosterior

MOST_SCORED = 20_000
"""Largest number of observations to compare chains."""

MOST_DRAWS = 32
"""Largest number of draws of each chain to compare."""

_ROUNDS, _TOLERANCE = 10_000, 1e-6  # to find the weights


def compare_chains(posterior: Posterior[Any]) -> pd.DataFrame:
    """Compare chains by leave-one-out prediction of observations, and weight them by stacking.

    Parameters
    ----------
    posterior : Posterior
        Of an HDP mixture with a conjugate family.

    Returns
    -------
    DataFrame
        One row per chain: its stacking `weight`; `log_score`, the mean log predictive density of an observation in
        nats, higher is better; its `difference` from the best chain, and the standard `error` of that.

    Raises
    ------
    InputError
        If the posterior is of a hidden topic Markov model, or its family is not conjugate.

    Examples
    --------
    >>> list(fr.diagnostics.compare_chains(posterior).columns)
    ['weight', 'log_score', 'difference', 'error']
    """
    import pandas as pd

    logs, groups = leave_one_out(posterior)
    best = int(logs.mean(axis=1).argmax())
    differences = logs - logs[best]
    means = differences.mean(axis=1)
    parts = np.array([np.bincount(groups, weights=row) for row in differences - means[:, None]])
    table = {
        "weight": stack(logs),
        "log_score": logs.mean(axis=1),
        "difference": means,
        "error": np.sqrt((parts**2).sum(axis=1)) / logs.shape[1],
    }
    return pd.DataFrame(table, index=pd.Index(range(len(logs)), name="chain"))


def leave_one_out(posterior: Posterior[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return log p(x_i | x_-i) by chain, float64 (chains, n), and the groups of these observations, int64 (n,)."""
    mixture = _check_conjugate(posterior)
    model, offsets = mixture.model, mixture.data.offsets
    size = mixture.data.n_observations
    chosen = np.unique(np.linspace(0, size - 1, min(size, MOST_SCORED)).round().astype(np.int64))
    observations, rng = (
        model.memory_mapped.data.observations,
        np.random.Generator(np.random.Philox(mixture.seed)),
    )
    logs = np.empty((mixture.n_chains, len(chosen)))
    for row, draws in zip(logs, stored_by_chain(mixture), strict=True):
        inverse, used = np.full(len(chosen), -np.inf), even_rows(draws, MOST_DRAWS)
        for draw in used:
            labels, beta = draw.labels.astype(np.int32), rng.dirichlet([*draw.tables_per_topic, draw.gamma])
            prior = draw.alpha * np.maximum(beta, 1e-300)
            scratch, out = np.empty((3, len(prior))), np.empty(len(chosen))
            statistics = statistics_of(model, draw)
            fill_leave_one_out(statistics, observations, offsets, labels, prior, chosen, scratch, out)
            np.logaddexp(inverse, -out, out=inverse)
        row[:] = np.log(len(used)) - inverse
    return logs, np.searchsorted(offsets, chosen, side="right") - 1


def stack(logs: np.ndarray) -> np.ndarray:
    """Return the weights of chains, float64 (chains,), from log predictive densities (chains, n).

    The sum is concave in the weights, and every step of expectation-maximisation raises it.
    """
    densities = np.exp(logs - logs.max(axis=0))
    weights = np.full(len(logs), 1.0 / len(logs))
    for _ in range(_ROUNDS):
        before, mixed = weights, weights @ densities
        weights = weights * (densities / mixed).mean(axis=1)
        if np.abs(weights - before).max() < _TOLERANCE:
            break
    return weights / weights.sum()


def agreement_sentence(consensus: Consensus) -> str:
    """Return a sentence on the topics that all chains share."""
    common = int(consensus.in_all_chains.sum())
    what = "words" if consensus.has_words else "observations"
    noun = "topic" if common == 1 else "topics"
    share = f"{consensus.share_in_all_chains:.0%} of the {what}"
    chains = len(consensus.in_chain)
    return f"{'Both' if chains == 2 else f'All {chains}'} chains share {common} {noun} with {share}."


def prediction_sentence(table: pd.DataFrame) -> str:
    """Return which chains predict better, and the stacking weights, from the table of `compare_chains`."""
    best = int(table["log_score"].to_numpy().argmax())
    rest = table.drop(index=best)
    others = [f"chain {chain} {row['difference']:.3f} ± {row['error']:.3f}" for chain, row in rest.iterrows()]
    clear = bool((rest["difference"] < -2.0 * rest["error"]).all())
    lead = (
        f"Chain {best} has the best leave-one-out predictions" if clear else "No chain clearly predicts best"
    )
    return (
        f"{lead} (difference in nats per observation: {', '.join(others)}). Stacking weights: "
        f"{in_words(table['weight'].to_numpy().round(2))}."
    )


def _check_conjugate(posterior: Posterior[Any]) -> HDPPosterior:
    family = posterior.family
    if family is None or Ability.CONJUGATE not in family.abilities:
        raise InputError(
            "leave-one-out prediction needs an HDP mixture with a conjugate family; got "
            f"{posterior.model_description}. Compare other chains with held-out documents: "
            "document_completion(posterior.chain(0), held_out)."
        )
    return cast("HDPPosterior", posterior)
