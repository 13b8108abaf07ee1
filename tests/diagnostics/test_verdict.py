"""The verdict on built cases: it must say the right thing of traces whose truth is known."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from franchise.diagnostics.convergence import note_on, stuck_apart
from franchise.diagnostics.verdict import NAMES, _rounded_up, verdict, verdict_on


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def chains_of(*shape, mean=0.0, correlation=0.0, seed=0):
    """Stationary chains of an autoregression with standard deviation 1, around a mean (a number or one a chain)."""
    noise = np.random.default_rng(seed).normal(size=shape)
    values = noise.copy()
    for draw in range(1, shape[1]):
        values[:, draw] = correlation * values[:, draw - 1] + math.sqrt(1.0 - correlation**2) * noise[:, draw]
    return values + np.reshape(mean, (-1, 1))


def trace_of(topics, joint, **more):
    return {"n_topics": np.round(topics).astype(int), "log_joint": joint, **more}


def good_trace(chains=4, draws=300):
    return trace_of(
        chains_of(chains, draws, mean=12.0, seed=1),
        chains_of(chains, draws, mean=-5000.0, seed=2),
        alpha=np.full((chains, draws), 1.5),
        gamma=chains_of(chains, draws, mean=3.0, seed=3),
    )


def test_converged():
    found = verdict_on(good_trace())
    assert found.level == "converged"
    assert found.sentence.startswith("The chains agree")
    assert list(found.table.index) == ["n_topics", "log_joint", "alpha", "gamma"]
    assert found.details == [
        "Alpha: the same in all draws of all chains: R-hat and effective sizes mean nothing."
    ]
    assert found.table["note"].tolist()[:2] == ["", ""]


def test_most_converged_chains_are_said_to_have():
    """Of 40 sets of 4 chains of 250 independent draws, six quantities each, nearly all pass."""
    passed = 0
    for seed in range(40):
        names = list(NAMES)[:6]
        trace = {name: chains_of(4, 250, seed=100 * seed + place) for place, name in enumerate(names)}
        passed += verdict_on(trace).level == "converged"
    assert passed >= 38


def test_drifting_chains_have_not_converged():
    drift = np.linspace(0.0, 8.0, 200)
    found = verdict_on(
        trace_of(chains_of(4, 200, mean=12.0) - drift, chains_of(4, 200, mean=-5000.0) + 10 * drift)
    )
    assert found.level == "not converged"
    assert "The chains have not converged: R-hat is" in found.sentence
    assert "The log joint is still rising in every chain: a longer warm-up is needed." in found.details
    assert (
        "The number of topics is still falling in every chain: a longer warm-up is needed." in found.details
    )


def test_slow_chains_are_told_how_many_more_draws():
    """Correlation 0.95: a draw is worth 1/39, so 4 x 400 draws are worth about 40; about 600 more would do."""
    found = verdict_on({"log_joint": chains_of(4, 400, correlation=0.95)})
    assert found.level == "not converged"
    said = int(found.sentence.split("About ")[1].split(" more draws")[0].replace(",", ""))
    assert 200 <= said <= 4000
    longer = verdict_on({"log_joint": chains_of(4, 6400, correlation=0.95)})
    assert longer.level == "converged"


def test_very_slow_chains_are_told_to_try_something_else():
    found = verdict_on({"log_joint": np.cumsum(chains_of(2, 100), axis=1)})
    assert found.level in ("not converged", "stuck apart")
    assert "more draws of each chain should do" not in found.sentence


def test_chains_stuck_at_different_numbers_of_topics():
    centres = [12, 15, 12, 19]
    topics = np.repeat(np.reshape(centres, (-1, 1)), 100, axis=1)
    topics[:, ::17] += 1
    joint = chains_of(4, 100, mean=[-5000.0, -4980.0, -5001.0, -4950.0])
    found = verdict_on(trace_of(topics, joint))
    assert found.level == "stuck apart"
    assert "the number of topics is 12.1, 15.1, 12.1 and 19.1" in found.sentence
    assert "highest in chain 3" in found.sentence
    assert "stuck apart" in found.table.loc["n_topics", "note"]


def test_chains_that_never_move_are_stuck_apart():
    found = verdict_on({"n_topics": np.repeat([[4], [5]], 50, axis=1)})
    assert found.level == "stuck apart"
    assert "the number of topics is 4 and 5" in found.sentence


def test_the_same_everywhere_tells_nothing():
    found = verdict_on({"n_topics": np.full((3, 50), 7), "log_joint": np.full((3, 50), -10.0)})
    assert found.level == "too short"
    assert "Nothing changes" in found.sentence


def test_a_constant_number_of_topics_does_not_matter():
    found = verdict_on(trace_of(np.full((4, 300), 7), chains_of(4, 300)))
    assert found.level == "converged"
    assert "The number of topics: the same in all draws" in found.details[0]


def test_one_chain_cannot_tell():
    found = verdict_on(good_trace(chains=1, draws=500))
    assert found.level == "too short"
    assert "One chain cannot tell" in found.sentence
    assert "Run several chains" in found.sentence


def test_one_chain_that_disagrees_with_itself_can():
    found = verdict_on({"log_joint": chains_of(1, 500) + np.linspace(0, 5, 500)})
    assert found.level == "not converged"
    assert found.sentence.startswith("The chain has not converged")


@pytest.mark.parametrize("draws", [1, 3, 9])
def test_few_draws(draws):
    found = verdict_on(good_trace(draws=draws))
    assert found.level == "too short"
    assert f"{draws} draw" in found.sentence


def test_draws_that_cannot_be_enough():
    found = verdict_on(good_trace(chains=3, draws=20))
    assert found.level == "too short"
    assert "3 chains of 20 draws cannot be worth the 100" in found.sentence


def test_missing_values_are_said_and_left_out():
    trace = good_trace()
    trace["gamma"] = trace["gamma"].copy()
    trace["gamma"][2, 5] = math.nan
    trace["log_joint"] = np.where(np.arange(300) == 7, -math.inf, trace["log_joint"])
    found = verdict_on(trace)
    assert found.level == "converged"
    assert "Gamma: not a number in 1 of 1200 draws: it cannot be judged." in found.details
    assert "The log joint: not a number in 4 of 1200 draws: it cannot be judged." in found.details


def test_nothing_but_missing_values():
    assert verdict_on({"log_joint": np.full((4, 50), math.nan)}).level == "too short"
    assert verdict_on({}).level == "too short"


def test_only_label_free_quantities_are_judged():
    trace = good_trace()
    trace["seconds"] = np.cumsum(np.ones((4, 300)), axis=1)
    trace["accepted"] = np.repeat([[0.0], [9.0], [0.0], [9.0]], 300, axis=1)
    assert verdict_on(trace).level == "converged"


def test_of_a_posterior():
    class Found:
        trace = good_trace()

    assert verdict(Found()).level == "converged"


# --- the parts ----------------------------------------------------------------------------------------------


def test_apart_means_steady_and_far():
    assert stuck_apart(chains_of(3, 100, mean=[0.0, 0.0, 6.0]))
    assert not stuck_apart(chains_of(3, 100, mean=[0.0, 0.0, 1.0]))
    assert not stuck_apart(chains_of(1, 100))
    towards_each_other = chains_of(2, 100, mean=[0.0, 20.0]) + np.outer([1.0, -1.0], np.linspace(0, 20, 100))
    assert not stuck_apart(towards_each_other)
    assert not stuck_apart(np.full((3, 50), 0.1) + 1e-17)  # but for rounding


def test_notes():
    assert note_on(np.zeros((2, 3))) == "too few draws to tell"
    assert note_on(np.array([[1.0] * 8, [1.0, 2.0] * 4])) == "never changes in chain 0"
    assert note_on(chains_of(2, 50)) == ""


@pytest.mark.parametrize(
    ("number", "rounded"), [(0.2, 1), (3.2, 4), (12, 15), (151, 200), (220, 250), (999, 1000)]
)
def test_rounding(number, rounded):
    assert _rounded_up(number) == rounded
