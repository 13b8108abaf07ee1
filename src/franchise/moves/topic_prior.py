"""The prior of the topics, eta, learned along with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import State, Weighted, Weights
from franchise.model.state.cell_counts import CellCounts
from franchise.model.state.seating import Seating
from franchise.moves.base import Move, MoveReport
from franchise.parallel.engine import BlockExecutor
from franchise.validation import LARGEST_LOG, check_positive


def slice_sample(
    log_density: Callable[[float], float], start: float, width: float, rng: np.random.Generator
) -> float:
    """One step of univariate slice sampling with stepping out and shrinkage (Neal, 2003, figures 3 and 5)."""
    height = log_density(start) + math.log1p(-rng.random())
    left = start - width * rng.random()
    right = left + width
    while log_density(left) > height:
        left -= width
    while log_density(right) > height:
        right += width
    while True:
        candidate = left + (right - left) * rng.random()
        if log_density(candidate) > height:
            return candidate
        if candidate < start:
            left = candidate
        else:
            right = candidate


@dataclass(frozen=True)
class TopicPrior(Move):
    """Draw a learned Dirichlet prior of the topics by slice sampling on its logarithm.

    The target is prior(eta) * eta * p(x | z, eta), the factor eta being the Jacobian of the logarithm
    (docs/theory/concentrations.md#eq-topic-prior).

    Any view. Exact for the HDP. Families whose `learned_prior` is set.
    """

    width: float = 1.0

    views = (Weights, Seating, CellCounts)
    distributed = True
    updates = frozenset({"prior"})

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("width", self.width)

    def check_family(self, family: Family) -> None:
        """The family must have a prior to learn."""
        super().check_family(family)
        if family.learned_prior is None:
            raise InputError(
                f"TopicPrior learns the topics' prior, but {family!r} has a fixed one. Give "
                f"prior=franchise.Gamma(shape, rate), or leave the move out."
            )

    def step(self, model: Model, state: State, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw eta given the topics."""
        family = model.family
        prior = family.learned_prior
        assert prior is not None
        log_likelihood = family.log_likelihood_by_prior(state.statistics, state.capacity)

        def log_target(log_value: float) -> float:
            if abs(log_value) > LARGEST_LOG:
                return -math.inf
            value = math.exp(log_value)
            return prior.log_density(value) + log_value + log_likelihood(value)

        current = math.log(family.prior_value(state.statistics))
        new = math.exp(slice_sample(log_target, current, self.width, streams.generator()))
        family.set_prior_value(state.statistics, new)
        if isinstance(state, Weighted):
            state.forget_log_likelihood()
        return MoveReport()
