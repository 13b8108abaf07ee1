"""Sweeps given the components of topics: invariance, a long run, Geweke's test, and bugs that they catch."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.families import KnownTopics
from franchise.families.known_components import KnownComponents
from franchise.kernels import known_components_sweep as kernels
from franchise.moves import Concentrations, KnownSweep, TopicWeights
from franchise.moves import known_sweep as move_module
from franchise_studies.long_run import count_visits
from tests.exactness.cases import CASES, GROUPS, size
from tests.exactness.test_geweke import joint_test

pytestmark = pytest.mark.exactness

CASE = CASES["known-topics"]
ALL_KNOWN = KnownTopics([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [math.inf, 30.0], [0.75, 0.25])
SETTINGS = {"alpha": 0.6, "gamma": 4.0, "repetitions": size(8_000), "seed": 6}


def check(family=CASE.family, **settings):
    """Invariance of the posterior over the partitions of six words."""
    fr.check_move(KnownSweep(), family, CASE.observations, GROUPS, **{**SETTINGS, **settings})


@pytest.mark.parametrize(("alpha", "gamma"), [(0.6, 4.0), (4.0, 0.6)])
def test_one_step(alpha, gamma):
    check(alpha=alpha, gamma=gamma)


def test_one_step_without_new_topics():
    check(ALL_KNOWN)


def test_a_long_run():
    moves = [KnownSweep(), TopicWeights()]
    settings = {"alpha": 1.0, "gamma": 1.5, "draws": size(16_000), "seed": 7}
    visits = count_visits(moves, CASE.family, CASE.observations, GROUPS, **settings)
    assert visits.distance < visits.threshold


def test_joint_distribution():
    joint_test(CASE.family, CASE.observations, [KnownSweep(), Concentrations()])


def test_a_chain_that_opens_many_topics_is_consistent():
    """Slots are added within the sweep, and frozen topics open and close."""
    corpus = fr.synthetic.from_hdp(40, 20, 50, prior=0.1, alpha=5.0, gamma=30.0, seed=2).data
    topics = np.random.default_rng(1).dirichlet(np.ones(50), 4)
    known = KnownTopics(topics, [math.inf, math.inf, 100.0, 5.0], 0.8, 0.1)
    moves = [KnownSweep(), TopicWeights()]
    settings = {"draws": 3, "warmup": 0, "chains": 1, "start": 1, "progress": False}
    posterior = fr.sample(corpus, known, sampler=moves, alpha=5.0, gamma=300.0, **settings)
    assert posterior.trace["n_topics"].max() > 20
    posterior.states[0].check_consistency(posterior.model.data, posterior.model.family)


# --- planted bugs -----------------------------------------------------------------------------------------------


def all_new(statistics, limit, rng):
    """Every topic is a new one, whatever its words."""
    return np.full(limit, len(statistics.mass) - 1)


def test_wrong_draws_of_components_are_caught():
    with (
        mock.patch.object(move_module, "draw_components", all_new),
        pytest.raises(CheckFailed, match="does not leave the posterior"),
    ):
        check()


def test_forgotten_weights_of_new_topics_are_caught():
    """The predictive of a new topic under one component only."""
    made = KnownComponents.empty_statistics

    def wrong(self, capacity):
        statistics = made(self, capacity)
        statistics.bases[:, -1] = self.known.topics[0]
        return statistics

    with (
        mock.patch.object(KnownComponents, "empty_statistics", wrong),
        pytest.raises(CheckFailed, match="does not leave the posterior"),
    ):
        check()


def test_a_slope_of_frozen_topics_is_caught():
    """A frozen topic learns from its words."""
    made = KnownComponents.empty_statistics

    def wrong(self, capacity):
        statistics = made(self, capacity)
        statistics.parts[kernels.SLOPES] = 1.0
        return statistics

    with (
        mock.patch.object(KnownComponents, "empty_statistics", wrong),
        pytest.raises(CheckFailed, match="does not leave the posterior"),
    ):
        check()
