"""Sweeps over a random subset of the groups, for the beginning of a warm-up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.subset_sweep import predict_topics
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.concentrations import Concentrations
from franchise.moves.direct_assignment import DirectAssignment
from franchise.moves.table_gibbs import TableGibbs
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_positive

_MOVES = (DirectAssignment(), TableGibbs(), Concentrations())


@dataclass(frozen=True)
class SubsetSweep(Move):
    """Sweep over a random subset of the groups, several times; all other groups get the topics that it predicts.

    Few groups are swept many times in the time of one sweep over all, and a topic needs fewer words there under a
    smaller prior. So topics are found on a small subset, and then on larger and larger ones, which contain it.

    View: weights. Approximate: for warm-up only. Families of categories whose prior is not learned.

    docs/theory/starts.md#sec-growing.

    Parameters
    ----------
    share : float, default 0.125
        The share of the groups that are in the subset. A chain has the same subset in every sweep, and it is part
        of every larger one. It is swept ``round(1 / share)`` times.
    prior_factor : float, default 1.0
        What the Dirichlet prior of the topics is multiplied by, on the subset.

    Raises
    ------
    InputError
        If `share` is not between 0 and 1, or `prior_factor` is not positive.

    Examples
    --------
    >>> sweep = fr.moves.in_turn(fr.moves.DirectAssignment(), fr.moves.TableGibbs(), fr.moves.Concentrations())
    >>> sampler = [fr.moves.in_phases((0.5,), fr.moves.SubsetSweep(0.25), sweep)]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    share: float = 0.125
    prior_factor: float = 1.0

    views = (Weights,)
    updates = frozenset({"observations", "concentrations"})
    requires = frozenset({Ability.CONJUGATE, Ability.SPARSE})
    exact_for = None

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("prior_factor", self.prior_factor)
        if not 0.0 < check_positive("share", self.share) < 1.0:
            raise InputError(f"share must be above 0 and below 1; got {self.share}.")

    def check_family(self, family: Family) -> None:
        """The family must have a fixed prior."""
        super().check_family(family)
        if family.learned_prior is not None:
            raise InputError(
                f"SubsetSweep multiplies a fixed prior of the topics, but {family!r} learns its prior. Give "
                f"a number as its prior, or remove the move."
            )

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Sweep over the subset, and predict the topics of the other groups."""
        in_subset = np.repeat(self._chosen_groups(model, streams), np.diff(model.data.offsets))
        subset = _subset(model, in_subset)
        part = _state_of_subset(state, in_subset, subset)
        prior = model.family.prior_vector()
        model.family.set_prior_value(part.statistics, self.prior_factor * prior)
        for number in range(round(1.0 / self.share)):
            for position, move in enumerate(_MOVES):
                own = (number * len(_MOVES) + position + 1) << 32
                move.step(subset, part, replace(streams, sweep=streams.sweep | own), executor)
        part.drop_empty_topics()
        _take(state, model, part)
        state.topic_of_observation[in_subset] = part.topic_of_observation
        _predict(model, part, in_subset, streams.rng_state()[0], state.topic_of_observation)
        state.recount(model.data)
        state.drop_empty_topics()
        return MoveReport()

    def _chosen_groups(self, model: Model, streams: Streams) -> np.ndarray:
        """Whether each group is in the subset, bool (J,): the same in all sweeps of a chain."""
        own = Streams(streams.seed, streams.chain, sweep=0, move=STREAMS.subset)
        ranks = own.generator().permutation(model.data.n_groups)
        return ranks < max(1, round(self.share * model.data.n_groups))


def _subset(model: Model, in_subset: np.ndarray) -> Model:
    """Return the model of some observations: those of whole groups; other groups are empty."""
    offsets = np.concatenate([[0], np.cumsum(in_subset)])[model.data.offsets]
    data = PreparedData(frozen(model.data.observations[in_subset]), frozen(offsets))
    return Model(data, model.family, model.alpha, model.gamma)


def _state_of_subset(state: Weights, in_subset: np.ndarray, subset: Model) -> Weights:
    """Return the state of the observations of the subset."""
    part = Weights.from_topics(
        subset.data,
        subset.family,
        state.topic_of_observation[in_subset],
        state.group_concentration,
        state.top_concentration,
        slots=state.capacity,
    )
    part.topic_weights[:], part.unseen_weight[:] = state.topic_weights, state.unseen_weight
    part.drop_empty_topics()
    return part


def _predict(
    model: Model, part: Weights, in_subset: np.ndarray, rng_state: np.ndarray, labels: np.ndarray
) -> None:
    """Draw the topics of the other groups by category alone: p(k | w) ~ n_k (n_kw + eta_w) / (n_k + eta)."""
    statistics, topics = part.statistics, part.occupied
    sizes = part.observations_per_topic[topics]
    predict_topics(
        model.category_index,
        in_subset,
        statistics.counts,
        statistics.prior,
        topics,
        sizes / (sizes + statistics.prior_mass[0]),
        np.empty(len(topics)),
        rng_state,
        labels,
    )


def _take(state: Weights, model: Model, part: Weights) -> None:
    """Give a state the topic weights and the concentrations of the subset."""
    if part.capacity > state.capacity:
        state.widen(model.family, part.capacity)
    state.topic_weights[:], state.unseen_weight[:] = part.topic_weights, part.unseen_weight
    state.group_concentration, state.top_concentration = part.group_concentration, part.top_concentration
    state.cell_tables = None
