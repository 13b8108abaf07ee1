"""The sweep over tables: invariance, a long run, Geweke's test, and bugs that they catch."""

from __future__ import annotations

import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.kernels import table_sweep, table_sweep_seats
from franchise.moves import Concentrations, DirectAssignment, TableSweep, TopicPrior, TopicWeights, in_turn
from franchise_studies.long_run import count_visits
from tests.exactness.cases import CASES, size
from tests.exactness.mutation import mutated
from tests.exactness.test_geweke import joint_test
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

WORDS = [0, 1, 0, 0, 2, 1, 0]
FAMILY = fr.Categorical(3, 0.5)
TWO_GROUPS, FOUR_GROUPS = [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3]

BUGS = {
    "the ratio of the proposals is forgotten": (" + candidates.log_ratios[number]", ""),
    "a new topic without gamma": ("math.log(gamma) - log_rising(", "-log_rising("),
    "the table itself is counted": ("tables[present] - 1, -len(words)", "tables[present], -len(words)"),
    "its own words are counted": ("else -1 - repeated", "else -repeated"),
    "others count the table itself": ("franchise.tables[topic] - own", "franchise.tables[topic]"),
}


def one_step(groups, folds, alpha=1.0, gamma=1.0, repetitions=8_000):
    fr.check_move(
        TableSweep(folds),
        FAMILY,
        WORDS,
        groups,
        alpha=alpha,
        gamma=gamma,
        repetitions=size(repetitions),
        seed=3,
    )


@pytest.mark.parametrize("folds", nightly([1, 2, 4], but=[2]))
@pytest.mark.parametrize("groups", [TWO_GROUPS, FOUR_GROUPS], ids=["two groups", "four groups"])
@pytest.mark.parametrize(("alpha", "gamma"), [(1.0, 1.0), (4.0, 0.4)])
def test_one_step(groups, folds, alpha, gamma):
    one_step(groups, folds, alpha, gamma)


def test_a_long_run():
    moves = [TableSweep(2), DirectAssignment(), TopicWeights()]
    settings = {"alpha": 1.0, "gamma": 1.0, "draws": size(16_000), "seed": 7}
    visits = count_visits(moves, FAMILY, WORDS, FOUR_GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.parametrize("prior", [0.5, fr.Gamma(2.0, 3.0)], ids=["given prior", "learned prior"])
def test_joint_distribution(prior):
    case = CASES["categorical"]
    learned = [TopicPrior()] if isinstance(prior, fr.Gamma) else []
    moves = [DirectAssignment(), TableSweep(2), Concentrations(), *learned]
    joint_test(fr.Categorical(3, prior), case.observations, moves)


@pytest.mark.parametrize("bug", nightly(BUGS, but=["the table itself is counted"]))
def test_planted_bugs_are_caught(bug, monkeypatch):
    monkeypatch.setattr(table_sweep, "accept_topics", mutated(table_sweep, "accept_topics", BUGS[bug]))
    moves, family = in_turn(*[TableSweep(2)] * 6), fr.Categorical(3, 0.2)
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(
            moves,
            family,
            [0, 0, 1, 1, 0, 0, 1],
            TWO_GROUPS,
            alpha=2.0,
            gamma=1.6,
            repetitions=size(8_000),
            seed=3,
        )


def test_proposals_from_the_counts_of_their_own_fold_are_caught(monkeypatch):
    """Proposals of all tables at once, from counts that include the fold: the trap of the theory page."""
    monkeypatch.setattr(table_sweep_seats, "count_fold", lambda *arguments: None)
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        one_step(FOUR_GROUPS, 1, alpha=3.0, gamma=1.0, repetitions=32_000)


def test_topics_open_and_slots_are_added():
    """From one topic, with a large gamma, a sweep opens more topics than there are vacant slots."""
    planted = fr.synthetic.from_hdp(200, 20, 50, prior=0.1, alpha=5.0, gamma=30.0, seed=2)
    settings = {
        "alpha": 5.0,
        "gamma": 500.0,
        "draws": 3,
        "warmup": 0,
        "chains": 1,
        "progress": False,
        "start": 1,
    }
    posterior = fr.sample(planted.data, fr.Categorical(50, 0.1), sampler=[TableSweep()], **settings)
    assert posterior.trace["n_topics"].max() > 20
    posterior.states[0].check_consistency(posterior.model.data, posterior.model.family)


def test_the_same_bits_on_any_number_of_threads():
    planted = fr.synthetic.from_hdp(2000, 20, 200, prior=0.1, alpha=1.0, gamma=5.0, seed=2)
    traces = [
        fr.sample(
            planted.data,
            fr.Categorical(200, 0.1),
            sampler=[TableSweep(), Concentrations()],
            draws=5,
            warmup=0,
            chains=1,
            workers=workers,
            progress=False,
            start=30,
        ).trace["log_joint"]
        for workers in (1, 3)
    ]
    assert (traces[0] == traces[1]).all()
