"""Sweeps given the components of topics: invariance, a long run, Geweke's test, and bugs that they catch."""

from __future__ import annotations

import math

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.families import KnownTopics
from franchise.moves import Concentrations, KnownSweep, TopicWeights
from franchise_studies.long_run import count_visits
from tests.exactness.cases import CASES, GROUPS, size
from tests.exactness.known_bugs import BUGS, SETTINGS
from tests.exactness.test_geweke import joint_test

pytestmark = pytest.mark.exactness

CASE = CASES["known-topics"]
ALL_KNOWN = KnownTopics([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [math.inf, 30.0], [0.75, 0.25])


def check_in(setting):
    """Invariance of the posterior over the partitions of six words."""
    family, observations, groups, alpha, gamma = setting
    settings = {"alpha": alpha, "gamma": gamma, "repetitions": size(8_000), "seed": 6}
    fr.check_move(KnownSweep(), family, observations, groups, **settings)


def test_one_step_without_new_topics():
    check_in(SETTINGS["mixed"]._replace(family=ALL_KNOWN))


def test_one_step_where_topics_open_rarely():
    check_in(SETTINGS["mixed"]._replace(alpha=4.0, gamma=0.6))


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


@pytest.mark.parametrize("shows", SETTINGS)
def test_where_bugs_show_the_right_move_passes(shows):
    check_in(SETTINGS[shows])


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    with BUGS[bug].plant(), pytest.raises(CheckFailed, match="does not leave the posterior"):
        check_in(SETTINGS[BUGS[bug].shows])
