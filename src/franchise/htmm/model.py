"""The two models: with a given number of topics, and with one that is learned."""

from __future__ import annotations

from dataclasses import dataclass

from franchise.htmm.sentence_arrays import Prepared
from franchise.priors import Gamma


@dataclass(frozen=True)
class FiniteModel:
    """theta_d ~ Dirichlet(alpha, ..., alpha) over K topics."""

    prepared: Prepared
    n_topics: int  # K
    document_prior: float | Gamma  # alpha, of every topic: fixed, or learned
    word_prior: float | Gamma  # eta: the same
    switch_prior: tuple[float, float]  # zeta1, zeta2


@dataclass(frozen=True)
class InfiniteModel:
    """theta_d ~ DP(alpha, beta), beta ~ GEM(gamma): the nonparametric model."""

    prepared: Prepared
    alpha: float | Gamma
    gamma: float | Gamma
    word_prior: float | Gamma
    switch_prior: tuple[float, float]


def start_of(prior: float | Gamma) -> float:
    """Where a number starts: its value, or the mean of its prior."""
    return prior.mean if isinstance(prior, Gamma) else prior
