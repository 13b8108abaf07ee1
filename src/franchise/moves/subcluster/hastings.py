"""Hastings ratios of the sub-cluster sampler, term by term (Chang & Fisher, 2014).

docs/theory/subcluster.md#eq-subcluster-local-ratio and docs/theory/subcluster.md#eq-subcluster-global-ratio.

All in logs.  n_jk are counts of a group in a topic, m~_k table counts that stand in for those that are not known
when weights are proposed, f(x_k) marginal likelihoods.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from franchise.kernels.table_counts import log_stirling_table

_FIRST_COLUMNS = 32


class Piece(NamedTuple):
    """An existing or proposed topic."""

    weight: float  # beta_k
    counts: np.ndarray  # int (J,): n_jk
    tables: int  # m~_k, summed over groups
    log_marginal: float  # log f(x_k)


class Arrangement(NamedTuple):
    """All topics together: weights, counts, and the log likelihood."""

    weights: np.ndarray  # float64 (K,): beta_k
    unseen: float  # beta_u
    counts: np.ndarray  # int (J, K): n_jk
    log_likelihood: float  # log p(x | z)


@lru_cache(maxsize=64)
def modes_of_tables(most: int, topics: int) -> np.ndarray:
    """Return m~ for 0, 1, ..., `most` customers (12): the mode of the number of tables at concentration 1 / K.

    argmax_m  s(n, m) K^-m        ties to the smaller m; 0 for no customers
    """
    columns = _FIRST_COLUMNS
    while True:
        table = log_stirling_table(most, columns)[: most + 1, : columns + 1]
        logs = table - math.log(topics) * np.arange(columns + 1)
        modes = np.argmax(logs >= logs.max(axis=1, keepdims=True) - 1e-12, axis=1)
        if columns >= most or modes.max() < columns:
            modes.flags.writeable = False
            return modes
        columns *= 2


def proposed_tables(counts: np.ndarray, topics: int) -> np.ndarray:
    """m~_k: the sum over groups (rows) of the modes for n_jk (12), K = `topics`."""
    most = 1 << int(counts.max(initial=1)).bit_length()  # a power of two, so that few tables serve many calls
    return modes_of_tables(most, topics)[counts].sum(axis=0)


def log_of_local_split(whole: Piece, sides: tuple[Piece, Piece], alpha: float, gamma: float) -> float:
    """(19) without q(z') and without the probabilities of picks.

    gamma G(m~_b) G(m~_c) / G(m~_b + m~_c) beta_a^(m~_b + m~_c) / (beta_b^m~_b beta_c^m~_c)
    f(x_b) f(x_c) / f(x_a)
    prod_j G(alpha beta_a) / G(alpha beta_a + n_ja) prod_k G(alpha beta_k + n_jk) / G(alpha beta_k)
    """
    left, right = sides
    weights = (
        math.log(gamma)
        + math.lgamma(left.tables)
        + math.lgamma(right.tables)
        - math.lgamma(left.tables + right.tables)
        + (left.tables + right.tables) * math.log(whole.weight)
        - left.tables * math.log(left.weight)
        - right.tables * math.log(right.weight)
    )
    groups = sum(log_rising(alpha * piece.weight, piece.counts) for piece in sides)
    groups -= log_rising(alpha * whole.weight, whole.counts)
    return weights + left.log_marginal + right.log_marginal - whole.log_marginal + groups


def log_rising(concentration: float | np.ndarray, counts: np.ndarray) -> float:
    """Return the sum over groups of log G(a + n_j) - log G(a); for several topics (columns), over these too."""
    from scipy.special import gammaln

    rows = np.flatnonzero(counts) if counts.ndim == 1 else np.nonzero(counts)
    if counts.ndim == 2:
        concentration = np.asarray(concentration)[rows[1]]
    return float((gammaln(concentration + counts[rows]) - gammaln(concentration)).sum())


def log_prior(arrangement: Arrangement, alpha: float, gamma: float) -> float:
    """(15) up to a constant.

    gamma^K beta_u^(gamma - 1) prod_k beta_k^-1 prod_jk G(alpha beta_k + n_jk) / G(alpha beta_k)
    """
    weights = arrangement.weights
    return (
        len(weights) * math.log(gamma)
        + (gamma - 1.0) * math.log(arrangement.unseen)
        - float(np.log(weights).sum())
        + log_rising(alpha * weights, arrangement.counts)
    )


def log_density_of_weights(arrangement: Arrangement, tables: np.ndarray, gamma: float) -> float:
    """(13): the log density of Dirichlet(m~_1, ..., m~_K, gamma) at the weights."""
    from scipy.special import gammaln

    return float(
        math.lgamma(tables.sum() + gamma)
        - gammaln(tables).sum()
        - math.lgamma(gamma)
        + ((tables - 1.0) * np.log(arrangement.weights)).sum()
        + (gamma - 1.0) * math.log(arrangement.unseen)
    )


def log_of_change(before: Arrangement, after: Arrangement, topics: int, alpha: float, gamma: float) -> float:
    """The part of (14) that is of the target and of the weights' proposals; m~ by (12) with K = `topics` for both.

    p(beta', z') p(x | z') q(beta | z) / (p(beta, z) p(x | z) q(beta' | z'))
    """
    total = 0.0
    for arrangement, sign in ((after, 1.0), (before, -1.0)):
        tables = proposed_tables(arrangement.counts, topics)
        total += sign * (
            log_prior(arrangement, alpha, gamma)
            + arrangement.log_likelihood
            - log_density_of_weights(arrangement, tables, gamma)
        )
    return total


def log_pick_ratio_local(topics: int) -> float:
    """log Q_merge(K + 1) / Q_split(K) of local moves: all topics are tried, and floor((K + 1) / 2) pairs."""
    after = topics + 1
    return math.log(2 * (after // 2)) - math.log(after * topics)


def log_pick_ratio_global(topics: int) -> float:
    """Return the log ratio of global moves, one of each per sweep: [2 / ((K + 1) K)] / [1 / K]."""
    return math.log(2.0 / (topics + 1))
