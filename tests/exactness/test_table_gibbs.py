"""Topics of whole tables, one after the other: bugs that enumeration catches, and the same bits in both views."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.kernels import table_gibbs
from franchise.moves import Concentrations, CrfGibbs, TableGibbs, in_turn
from tests.exactness.cases import CASES, GROUPS, size
from tests.exactness.mutation import mutated
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

BUGS = {
    "a new topic without gamma": ("prior_weights[vacant] = gamma", "prior_weights[vacant] = 1.0"),
    "the table itself is counted": ("            tables[old] -= 1\n", ""),
    "topics by their observations": (
        "prior_weights[topic] = tables[topic]",
        "prior_weights[topic] = sizes[topic]",
    ),
}


@pytest.mark.parametrize("bug", nightly(BUGS, but=["a new topic without gamma"]))
@pytest.mark.parametrize(
    "before",
    [
        pytest.param([], id="weights"),
        pytest.param([CrfGibbs(tables=False)], id="seating", marks=pytest.mark.slow),
    ],
)
def test_planted_bugs_are_caught(bug, before, monkeypatch):
    monkeypatch.setattr(table_gibbs, "sweep_tables", mutated(table_gibbs, "sweep_tables", BUGS[bug]))
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(
            in_turn(*[*before, TableGibbs()] * 3),
            *CASES["categorical"],
            GROUPS,
            alpha=3.0,
            gamma=4.0,
            repetitions=size(16_000),
            seed=3,
        )


@pytest.mark.parametrize("view", [[], [CrfGibbs(tables=False)]], ids=["weights", "seating"])
def test_topics_open_and_slots_are_added(view):
    """From one topic, with a large gamma, a sweep opens more topics than there are vacant slots."""
    rng = np.random.default_rng(2)
    data = fr.Groups(rng.poisson(rng.choice([1.0, 8.0, 30.0, 90.0], 3000)), rng.integers(0, 300, 3000))
    settings = {
        "alpha": 5.0,
        "gamma": 500.0,
        "draws": 3,
        "warmup": 0,
        "chains": 1,
        "progress": False,
        "start": 1,
    }
    posterior = fr.sample(data, fr.Poisson(), sampler=[*view, TableGibbs()], **settings)
    assert posterior.trace["n_topics"].max() > 20
    posterior.states[0].check_consistency(posterior.model.data, posterior.model.family)


def test_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    data = fr.Groups(rng.poisson(rng.choice([1.0, 8.0, 30.0], 20_000)), rng.integers(0, 3000, 20_000))
    settings = {"draws": 4, "warmup": 0, "chains": 1, "progress": False, "start": 30}
    moves = [TableGibbs(), Concentrations()]
    traces = [
        fr.sample(data, fr.Poisson(), sampler=moves, workers=workers, **settings).trace["log_joint"]
        for workers in (1, 3)
    ]
    assert np.array_equal(*traces)
