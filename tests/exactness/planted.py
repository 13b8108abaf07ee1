"""Samplers with known bugs: every check must turn red on them.

The bugs sit in plain-Python versions of the moves, which without the bug pass (that is tested too), or in the
settings that a right move is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.kernels import family_ops
from franchise.model.state.base import Weights
from franchise.model.state.cell_tables import draw_cell_tables
from franchise.model.state.views import draw_topic_weights
from franchise.moves import Concentrations, CrfGibbs, DirectAssignment, MoveReport, TopicWeights
from franchise.moves.base import Move
from franchise.moves.concentrations import (
    TopicPrior,
    draw_group_concentration,
    draw_top_concentration,
    slice_sample,
)


@dataclass(frozen=True)
class PlainDirect(Move):
    """Direct assignment in plain Python, one observation after another; right as it stands."""

    views = (Weights,)

    def step(self, model, state, streams, executor):
        rng = streams.generator()
        state.cell_tables = None
        for group in range(model.data.n_groups):
            for index in range(model.data.offsets[group], model.data.offsets[group + 1]):
                self.draw_topic(model, state, group, index, rng)
        return MoveReport()

    def draw_topic(self, model, state, group, index, rng):
        old = int(state.topic_of_observation[index])
        self.take_out(model, state, index, old)
        topics = state.occupied.tolist()
        new = self.vacant_slot(model, state)
        weights = [self.weight_of_topic(model, state, group, index, topic) for topic in topics]
        weights.append(self.weight_of_new(model, state, index, new))
        choice = rng.choice(len(weights), p=np.array(weights) / np.sum(weights))
        topic = [*topics, new][choice]
        if topic == new:
            self.open(state, new, rng)
        self.put_in(model, state, index, topic)

    def vacant_slot(self, model, state):
        if state.capacity == state.topic_count:
            state.make_room(model.family)
        return int(np.flatnonzero(state.observations_per_topic == 0)[0])

    def take_out(self, model, state, index, old):
        family_ops.remove(state.statistics, model.data.observations, index, old)
        state.topic_of_observation[index] = -1
        state.observations_per_topic[old] -= 1
        if state.observations_per_topic[old] == 0:
            self.close(state, old)

    def close(self, state, topic):
        family_ops.clear(state.statistics, topic)
        state.unseen_weight[0] += state.topic_weights[topic]
        state.topic_weights[topic] = 0.0

    def open(self, state, topic, rng):
        share = rng.beta(1.0, state.top_concentration)
        state.topic_weights[topic] = share * state.unseen_weight[0]
        state.unseen_weight[0] *= 1.0 - share

    def weight_of_topic(self, model, state, group, index, topic):
        begin, end = model.data.offsets[group], model.data.offsets[group + 1]
        here = np.count_nonzero(state.topic_of_observation[begin:end] == topic)
        prior = here + state.group_concentration * state.topic_weights[topic]
        return prior * np.exp(
            family_ops.log_predictive(state.statistics, model.data.observations, index, topic)
        )

    def weight_of_new(self, model, state, index, new):
        prior = state.group_concentration * state.unseen_weight[0]
        return prior * np.exp(
            family_ops.log_predictive(state.statistics, model.data.observations, index, new)
        )

    def put_in(self, model, state, index, topic):
        family_ops.add(state.statistics, model.data.observations, index, topic)
        state.topic_of_observation[index] = topic
        state.observations_per_topic[topic] += 1


@dataclass(frozen=True)
class ForgottenRemoval(PlainDirect):
    """The observation is still in the statistics of its old topic while its weights are computed."""

    def draw_topic(self, model, state, group, index, rng):
        old = int(state.topic_of_observation[index])
        self.take_out(model, state, index, old)
        topics = state.occupied.tolist()
        new = self.vacant_slot(model, state)
        if state.observations_per_topic[old] > 0:
            family_ops.add(state.statistics, model.data.observations, index, old)
        weights = [self.weight_of_topic(model, state, group, index, topic) for topic in topics]
        weights.append(self.weight_of_new(model, state, index, new))
        if state.observations_per_topic[old] > 0:
            family_ops.remove(state.statistics, model.data.observations, index, old)
        choice = rng.choice(len(weights), p=np.array(weights) / np.sum(weights))
        topic = [*topics, new][choice]
        if topic == new:
            self.open(state, topic, rng)
        self.put_in(model, state, index, topic)


@dataclass(frozen=True)
class StaleCount(PlainDirect):
    """The number of observations of the group in each topic is that of the beginning of the sweep."""

    def step(self, model, state, streams, executor):
        object.__setattr__(self, "stale", state.topic_of_observation.copy())
        return super().step(model, state, streams, executor)

    def weight_of_topic(self, model, state, group, index, topic):
        begin, end = model.data.offsets[group], model.data.offsets[group + 1]
        here = np.count_nonzero(self.stale[begin:end] == topic)
        prior = here + state.group_concentration * state.topic_weights[topic]
        return prior * np.exp(
            family_ops.log_predictive(state.statistics, model.data.observations, index, topic)
        )


@dataclass(frozen=True)
class LostWeight(PlainDirect):
    """A topic that empties does not give its weight back ("set to 0", as Frank et al. print it)."""

    def close(self, state, topic):
        family_ops.clear(state.statistics, topic)
        state.topic_weights[topic] = 0.0


@dataclass(frozen=True)
class DroppedGamma(TopicWeights):
    """beta ~ Dirichlet(m_1, ..., m_K, 1): the gamma is forgotten."""

    def step(self, model, state, streams, executor):
        rng = streams.generator()
        state.cell_tables = draw_cell_tables(state, model, streams)
        state.topic_weights, state.unseen_weight = draw_topic_weights(state.cell_tables.per_topic, 1.0, rng)
        return MoveReport()


def _swapped(move_class):
    """The move with alpha and gamma exchanged while it runs."""

    @dataclass(frozen=True)
    class Swapped(move_class):
        def step(self, model, state, streams, executor):
            _swap(state)
            report = super().step(model, state, streams, executor)
            _swap(state)
            return report

    Swapped.__name__ = f"Swapped{move_class.__name__}"
    return Swapped


def _swap(state):
    state.group_concentration, state.top_concentration = state.top_concentration, state.group_concentration


SwappedDirect = _swapped(DirectAssignment)
SwappedCrf = _swapped(CrfGibbs)


@dataclass(frozen=True)
class DroppedGammaCrf(CrfGibbs):
    """New topics are weighed as if gamma were one."""

    def step(self, model, state, streams, executor):
        gamma, state.top_concentration = state.top_concentration, 1.0
        report = super().step(model, state, streams, executor)
        state.top_concentration = gamma
        return report


@dataclass(frozen=True)
class WeightsFirst(Concentrations):
    """gamma is drawn after beta, as if beta were still integrated out: the wrong order.

    docs/theory/concentrations.md#sec-concentration-order.
    """

    def step(self, model, state, streams, executor):
        rng = streams.generator()
        state.cell_tables = draw_cell_tables(state, model, streams)
        per_topic = state.cell_tables.per_topic
        state.topic_weights, state.unseen_weight = draw_topic_weights(per_topic, state.top_concentration, rng)
        tables = int(per_topic.sum())
        state.top_concentration = draw_top_concentration(
            state.top_concentration, tables, state.topic_count, model.gamma, rng
        )
        return MoveReport()


@dataclass(frozen=True)
class NoSwitches(Concentrations):
    """alpha without the Bernoulli variables: Gamma(a + m, ...) instead of Gamma(a + m - sum s_j, ...)."""

    def step(self, model, state, streams, executor):
        rng = streams.generator()
        state.cell_tables = draw_cell_tables(state, model, streams)
        per_topic = state.cell_tables.per_topic
        sizes = np.diff(model.data.offsets)
        logs = np.log(rng.beta(state.group_concentration + 1.0, sizes)).sum()
        shape = model.alpha.shape + per_topic.sum()
        state.group_concentration = rng.gamma(shape) / (model.alpha.rate - logs)
        state.topic_weights, state.unseen_weight = draw_topic_weights(per_topic, state.top_concentration, rng)
        return MoveReport()


@dataclass(frozen=True)
class SwappedConcentrations(Concentrations):
    """alpha gets the draw of gamma, and gamma that of alpha."""

    def step(self, model, state, streams, executor):
        rng = streams.generator()
        state.cell_tables = draw_cell_tables(state, model, streams)
        per_topic = state.cell_tables.per_topic
        tables, sizes = int(per_topic.sum()), np.diff(model.data.offsets)
        state.group_concentration, state.top_concentration = (
            draw_top_concentration(state.top_concentration, tables, state.topic_count, model.gamma, rng),
            draw_group_concentration(state.group_concentration, tables, sizes, model.alpha, rng),
        )
        state.topic_weights, state.unseen_weight = draw_topic_weights(per_topic, state.top_concentration, rng)
        return MoveReport()


@dataclass(frozen=True)
class NoJacobian(TopicPrior):
    """The factor eta of the logarithm's Jacobian is forgotten."""

    def step(self, model, state, streams, executor):
        family = model.family
        log_likelihood = family.log_likelihood_by_prior(state.statistics, state.capacity)
        current = np.log(family.prior_value(state.statistics))
        new = slice_sample(
            lambda log: family.learned_prior.log_density(np.exp(log)) + log_likelihood(np.exp(log)),
            current,
            1.0,
            streams.generator(),
        )
        family.set_prior_value(state.statistics, float(np.exp(new)))
        return MoveReport()
