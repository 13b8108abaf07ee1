"""Moves over whole tables: invariance, a long run, Geweke's test, bugs that they catch, and the same bits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.moves import (
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    TableGibbs,
    TableSweep,
    TopicPrior,
    TopicWeights,
    in_turn,
)
from franchise_studies.long_run import count_visits
from tests.exactness import table_bugs
from tests.exactness.cases import CASES, size
from tests.exactness.test_geweke import joint_test
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

WORDS = [0, 1, 0, 0, 2, 1, 0]
TWO_GROUPS, FOUR_GROUPS = [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3]


def check(move, groups, alpha, gamma, words=WORDS, prior=0.5, repetitions=8_000):
    """Invariance of the posterior over the partitions of seven words."""
    settings = {"alpha": alpha, "gamma": gamma, "repetitions": size(repetitions), "seed": 3}
    fr.check_move(move, fr.Categorical(3, prior), words, groups, **settings)


REPEATED = {"groups": TWO_GROUPS, "alpha": 2.0, "gamma": 1.6, "words": [0, 0, 1, 1, 0, 0, 1], "prior": 0.2}

WHERE_BUGS_SHOW = {
    "Gibbs": partial(check, in_turn(*[TableGibbs()] * 3), **REPEATED),
    "sweep": partial(check, in_turn(*[TableSweep(2)] * 6), **REPEATED),
    "one fold": partial(check, TableSweep(1), FOUR_GROUPS, 3.0, 1.0, repetitions=32_000),
}


@pytest.mark.parametrize("name", WHERE_BUGS_SHOW)
def test_where_bugs_show_the_right_moves_pass(name):
    WHERE_BUGS_SHOW[name]()


@pytest.mark.parametrize(("shows", "bug"), nightly(table_bugs.BUGS, but=table_bugs.QUICK))
def test_planted_bugs_are_caught(shows, bug):
    with (
        table_bugs.BUGS[shows, bug].plant(),
        pytest.raises(CheckFailed, match="does not leave the posterior"),
    ):
        WHERE_BUGS_SHOW[shows]()


# --- the sweep by folds; the Gibbs move is in test_one_step.py and test_geweke.py -------------------------------


@pytest.mark.parametrize("folds", nightly([1, 2, 4], but=[2]))
@pytest.mark.parametrize("groups", [TWO_GROUPS, FOUR_GROUPS], ids=["two groups", "four groups"])
@pytest.mark.parametrize(("alpha", "gamma"), [(1.0, 1.0), (4.0, 0.4)])
def test_one_step(groups, folds, alpha, gamma):
    check(TableSweep(folds), groups, alpha, gamma)


def test_a_long_run():
    moves = [TableSweep(2), DirectAssignment(), TopicWeights()]
    settings = {"alpha": 1.0, "gamma": 1.0, "draws": size(16_000), "seed": 7}
    visits = count_visits(moves, fr.Categorical(3, 0.5), WORDS, FOUR_GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.parametrize("prior", [0.5, fr.Gamma(2.0, 3.0)], ids=["given prior", "learned prior"])
def test_joint_distribution(prior):
    case = CASES["categorical"]
    learned = [TopicPrior()] if isinstance(prior, fr.Gamma) else []
    moves = [DirectAssignment(), TableSweep(2), Concentrations(), *learned]
    joint_test(fr.Categorical(3, prior), case.observations, moves)


# --- both -------------------------------------------------------------------------------------------------------


def words(documents):
    """Words with a family for them."""
    planted = fr.synthetic.from_hdp(documents, 20, 50, prior=0.1, alpha=5.0, gamma=30.0, seed=2)
    return planted.data, fr.Categorical(50, 0.1)


def counts(groups):
    """Counts with a family for them."""
    rng = np.random.default_rng(2)
    size = 10 * groups
    return fr.Groups(rng.poisson(rng.choice([1.0, 8.0, 30.0, 90.0], size)), rng.integers(0, groups, size)), (
        fr.Poisson()
    )


DATA_AND_MOVES = {
    "weights": (counts, [TableGibbs()]),
    "seating": (counts, [CrfGibbs(tables=False), TableGibbs()]),
    "sweep": (words, [TableSweep()]),
}
SETTINGS = {"warmup": 0, "chains": 1, "progress": False}


@pytest.mark.parametrize("name", DATA_AND_MOVES)
def test_topics_open_and_slots_are_added(name):
    """From one topic, with a large gamma, a sweep opens more topics than there are vacant slots."""
    make, moves = DATA_AND_MOVES[name]
    posterior = fr.sample(*make(300), sampler=moves, alpha=5.0, gamma=500.0, draws=3, start=1, **SETTINGS)
    assert posterior.trace["n_topics"].max() > 20
    posterior.states[0].check_consistency(posterior.model.data, posterior.model.family)


@pytest.mark.parametrize("name", ["weights", "sweep"])
def test_the_same_bits_on_any_number_of_threads(name):
    make, moves = DATA_AND_MOVES[name]
    traces = [
        fr.sample(
            *make(2000), sampler=[*moves, Concentrations()], workers=workers, draws=4, start=30, **SETTINGS
        )
        for workers in (1, 3)
    ]
    assert np.array_equal(*(posterior.trace["log_joint"] for posterior in traces))
