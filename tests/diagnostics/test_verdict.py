"""The verdict on built cases: it must say the right thing of traces whose truth is known."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import franchise as fr
from franchise.diagnostics.convergence import never_meet, note_on, trends
from franchise.diagnostics.verdict import (
    NAMES,
    UNKNOWN_STARTS,
    _rounded_up,
    caveats_on,
    r_hat_in_words,
    verdict_on,
)
from tests.posterior.making import posterior_of
from tests.running.runs import sample_segments


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


def judge(trace, approximation=""):
    """The verdict on chains that started from different numbers of topics."""
    return verdict_on(trace, (), approximation)


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
    found = judge(good_trace(draws=1000))
    assert found.level == "converged"
    assert found.sentence.startswith("The chains agree: the largest R-hat is 1.00 (good)")
    assert list(found.table.index) == ["n_topics", "log_joint", "alpha", "gamma"]
    assert found.details == ["Alpha: the same in all draws of all chains: R-hat and ESS are undefined."]
    assert found.table["note"].tolist()[:2] == ["", ""]


def test_nearly_all_stationary_chains_pass():
    """Of 40 sets of 4 chains of 250 independent draws, six quantities each, R-hat is up to 1.05."""
    levels = []
    for seed in range(40):
        names = list(NAMES)[:6]
        trace = {name: chains_of(4, 250, seed=100 * seed + place) for place, name in enumerate(names)}
        levels.append(judge(trace).level)
    assert set(levels) <= {"converged", "usable"}


def test_usable():
    found = judge({"log_joint": chains_of(4, 400, mean=[0.0, 0.0, 0.0, 0.4])})
    assert found.level == "usable"
    assert "agree well enough for most uses: the largest R-hat is 1.03 (usable)" in found.sentence


def test_trending_chains_have_not_converged():
    drift = np.linspace(0.0, 8.0, 200)
    found = judge(
        trace_of(chains_of(4, 200, mean=12.0) - drift, chains_of(4, 200, mean=-5000.0) + 10 * drift)
    )
    assert found.level == "not converged"
    r_hat = [f"{found.table['r_hat'][name]:.2f} (too large)" for name in ("n_topics", "log_joint")]
    assert found.sentence == (
        "The chains have not converged: the number of topics is still falling in chains 0, 1, 2 and 3, with R-hat "
        f"{r_hat[0]}; the log joint is still rising in chains 0, 1, 2 and 3, with R-hat {r_hat[1]}. Fit again with "
        "a longer warm-up, about 500 sweeps."
    )
    assert (found.more_draws, found.longer_warmup) == (None, 500)
    assert (
        verdict_on(found_trace := trace_of(chains_of(4, 200) - drift, chains_of(4, 200))).longer_warmup == 500
    )
    assert verdict_on(found_trace, warmup=1000).longer_warmup == 2500  # twice all sweeps, rounded up
    assert "The log joint: still rising in chains 0, 1, 2 and 3." in found.details


@pytest.mark.parametrize("chains", [1, 4])
def test_a_single_trend_that_r_hat_does_not_see_counts(chains):
    """A rise of 0.8 standard deviations over 2,000 draws of one chain: R-hat of its halves is good."""
    values = chains_of(chains, 2000)
    values[0] += np.linspace(-0.4, 0.4, 2000)
    found = judge({**good_trace(chains, 2000), "topic_entropy": values})
    assert found.table.loc["topic_entropy", "r_hat"] < 1.05
    assert found.level == "not converged"
    assert "the entropy of the topics is still rising in chain" in found.sentence


@pytest.mark.parametrize(("draws", "correlation"), [(100, 0.0), (500, 0.8), (2000, 0.95), (200, 0.9)])
def test_stationary_chains_hardly_ever_trend(draws, correlation):
    """At four standard errors, one in 10,000 chains; 400 chains here, of which two may be taken for trending."""
    values = chains_of(400, draws, correlation=correlation, seed=5)
    assert sum(np.any(trends(values[[chain]])) for chain in range(400)) <= 2


def test_slow_chains_are_too_short_and_get_a_number_of_draws():
    """Correlation 0.95: ESS is 1/39 of the draws, so 4 x 400 draws have about 40; about 600 more would do."""
    found = judge({"log_joint": chains_of(4, 400, correlation=0.95)})
    assert found.level == "too short"
    assert "it should be at least 100" in found.sentence
    number = int(found.sentence.split("About ")[1].split(" more draws")[0].replace(",", ""))
    assert 200 <= number <= 4000
    assert (found.more_draws, found.longer_warmup) == (number, None)
    assert judge({"log_joint": chains_of(4, 6400, correlation=0.95)}).level in ("converged", "usable")


@pytest.mark.parametrize("gap", [1.2, 4.0, 1e9])
def test_no_number_of_draws_for_chains_that_are_far_apart(gap):
    found = judge({"log_joint": chains_of(4, 400, mean=[0.0, 0.0, gap, gap])})
    assert found.level in ("not converged", "too short", "chains disagree")
    assert "About" not in found.sentence
    assert "e+" not in found.sentence


def test_chains_at_different_numbers_of_topics():
    topics = np.repeat(np.reshape([12, 15, 12, 19], (-1, 1)), 100, axis=1)
    topics[:, ::17] += 1
    joint = chains_of(4, 100, mean=[-5000.0, -4980.0, -5001.0, -4950.0])
    found = judge(trace_of(topics, joint))
    assert found.level == "chains disagree"
    assert "the number of topics is 12.1, 15.1, 12.1 and 19.1 on average" in found.sentence
    assert "highest" not in found.sentence
    assert "the chains disagree" in found.table.loc["n_topics", "note"]


def test_two_modes_with_an_equal_log_joint():
    found = judge({**good_trace(), "co_assignment": chains_of(4, 300, mean=[0.0, 8.0, 0.0, 8.0])})
    assert found.level == "chains disagree"
    assert "the co-assignment of pairs is" in found.sentence
    assert "More draws are unlikely to help." in found.sentence


def test_chains_that_only_move_slowly_are_not_told_apart_for_good():
    """Four stationary chains of 100 draws with correlation 0.98: some sets seem to disagree, as they are short."""
    apart = 0
    for seed in range(60):
        values = chains_of(4, 100, correlation=0.98, seed=seed)
        found = judge({"log_joint": values})
        if found.level == "chains disagree":
            apart += 1
            assert "within one chain, so a much longer run may help." in found.sentence
    assert apart >= 5


def test_constant_numbers_of_topics_that_differ():
    topics = np.repeat([[4], [4], [4], [5]], 300, axis=1)
    assert judge({**good_trace(), "n_topics": topics}).level == "chains disagree"
    assert "the number of topics is 4, 4, 4 and 5" in judge({"n_topics": topics}).sentence
    assert "More draws are unlikely to help." in judge({"n_topics": topics}).sentence


def test_the_same_everywhere_cannot_be_judged():
    found = judge({"n_topics": np.full((3, 50), 7), "log_joint": np.full((3, 50), -10.0)})
    assert found.level == "too short"
    assert "cannot be assessed" in found.sentence


def test_a_constant_and_equal_number_of_topics_is_fine():
    found = judge(trace_of(np.full((4, 1000), 7), chains_of(4, 1000)))
    assert found.level == "converged"
    assert "The number of topics: the same in all draws" in found.details[0]


def test_one_chain():
    found = judge(good_trace(chains=1, draws=1000))
    assert found.level == "weak evidence"
    assert "there is only one chain" in found.sentence


def test_one_chain_that_trends():
    found = judge({"log_joint": chains_of(1, 500) + np.linspace(0, 5, 500)})
    assert found.level == "not converged"
    assert found.sentence.startswith(
        "The chain has not converged: the log joint is still rising in chain 0, with"
    )


def test_unknown_starts_are_weak_evidence():
    found = verdict_on(good_trace(draws=1000))
    assert found.level == "weak evidence"
    assert UNKNOWN_STARTS in found.sentence


@pytest.mark.parametrize("trace", [good_trace(draws=1000), {"n_topics": np.repeat([[4], [5]], 50, axis=1)}])
def test_an_approximate_sampler_is_always_named(trace):
    found = judge(trace, "The sampler 'subcluster' is approximate.")
    assert found.level in ("weak evidence", "chains disagree")
    assert found.sentence.endswith("The sampler 'subcluster' is approximate.")


@pytest.mark.parametrize("draws", [1, 3, 9])
def test_few_draws(draws):
    found = judge(good_trace(draws=draws))
    assert found.level == "too short"
    assert f"{draws} draw" in found.sentence


def test_an_effective_sample_size_below_100_is_too_short():
    found = judge(good_trace(chains=3, draws=20))
    assert found.level == "too short"
    assert "it should be at least 100" in found.sentence


def test_missing_values_are_reported_and_leave_the_evidence_weak():
    trace = good_trace(draws=1000)
    trace["gamma"] = trace["gamma"].copy()
    trace["gamma"][2, 5] = math.nan
    trace["log_joint"] = np.where(np.arange(1000) == 7, -math.inf, trace["log_joint"])
    found = judge(trace)
    assert found.level == "weak evidence"
    assert "the log joint is not a number in 4 of 4000 draws, so it cannot be assessed" in found.sentence
    assert "Gamma: not a number in 1 of 4000 draws, so it cannot be assessed." in found.details
    assert "The log joint: not a number in 4 of 4000 draws, so it cannot be assessed." in found.details


@pytest.mark.parametrize("name", good_trace())
def test_a_quantity_that_is_never_a_number_does_not_let_converged_stand(name):
    trace = good_trace(draws=1000)
    assert judge(trace).level == "converged"
    assert judge({**trace, name: np.full((4, 1000), math.nan)}).level == "weak evidence"


def test_nothing_but_missing_values():
    assert judge({"log_joint": np.full((4, 50), math.nan)}).level == "too short"
    assert judge({}).level == "too short"


def test_only_label_free_quantities_are_judged():
    trace = good_trace(draws=1000)
    trace["seconds"] = np.cumsum(np.ones((4, 1000)), axis=1)
    trace["accepted"] = np.repeat([[0.0], [9.0], [0.0], [9.0]], 1000, axis=1)
    assert judge(trace).level == "converged"


def test_large_topics_are_counted_beside_all():
    trace = {**good_trace(), "n_large_topics": np.full((4, 300), 8.0)}
    assert judge(trace).details[0] == (
        "The number of topics is 12 (90% interval 10 to 14). The number with at least 0.2% of the observations is "
        "8."
    )


# --- posteriors ---------------------------------------------------------------------------------------------


COUNTS = fr.Groups(np.random.default_rng(1).poisson(np.tile([1.0, 12.0, 50.0], 20)), ["a", "b"] * 30)


def sampled(**more):
    options = {"sampler": "crf", "draws": 1000, "warmup": 200, "chains": 3, "start": [1, 6, 30], "seed": 1}
    options["alpha"] = fr.Gamma(1.0, 1.0)  # two groups say little of alpha
    return fr.sample(COUNTS, fr.Poisson(), progress=False, **{**options, **more})


@pytest.mark.parametrize("sampler", ["crf", "direct"])
def test_chains_from_different_starts_that_agree_have_converged(sampler):
    posterior = sampled(sampler=sampler)
    assert posterior.start_topics == [1, 6, 30]
    assert posterior.verdict().level in ("converged", "usable")
    assert posterior.verdict()[:2] == posterior.verdict(compare=True)[:2]
    assert "with at least 0.2% of the observations" in posterior.verdict().details[0]


def test_chains_from_the_same_start_are_weak_evidence(tmp_path):
    posterior = sampled(start=6)
    found = posterior.verdict()
    assert found.level == "weak evidence"
    assert "all chains started from 6 topics" in found.sentence
    posterior.save(tmp_path / "run")
    loaded = fr.load(tmp_path / "run")
    assert loaded.start_topics == [6, 6, 6]
    assert loaded.verdict().sentence == found.sentence
    assert loaded.extend(1).start_topics == [6, 6, 6]
    assert posterior.chain(1).start_topics is None


def test_starts_of_an_old_run_are_not_known():
    old = fr.load(Path(__file__).parents[1] / "storage" / "fixtures" / "format-2" / "seating")
    assert old.start_topics is None
    assert caveats_on(old) == [UNKNOWN_STARTS]


@pytest.mark.parametrize(("n_topics", "caveats"), [(3, 0), (None, 1)])
def test_a_given_number_of_topics_needs_no_different_starts(n_topics, caveats):
    assert len(caveats_on(sample_segments(n_topics, 2))) == caveats


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        ("subcluster", "The sampler 'subcluster' is approximate"),
        ("finite", "it approximates the HDP"),
        ([fr.moves.DirectAssignment(), fr.moves.UniformWeights()], "approximate"),
    ],
)
def test_approximate_samplers(sampler, words):
    found = sampled(sampler=sampler, draws=20, alpha=1.0, gamma=1.0).verdict()
    assert words in found.sentence
    assert found.level not in ("converged", "usable")


def two_modes():
    """Two chains that share one topic of the words and split the rest in different ways; one predicts better."""
    rng = np.random.default_rng(0)
    split = np.array([[0] * 40 + [1 + document % 2] * 40 for document in range(6)])
    documents = [[f"w{3 * topic + rng.integers(3)}" for topic in row] for row in split]
    split, joined = split.ravel(), np.minimum(split, 1).ravel()
    trace = {"n_topics": np.repeat([[3], [2]], 20, axis=1), "log_joint": np.zeros((2, 20))}
    posterior = posterior_of(fr.Corpus.from_tokens(documents), [[split] * 20, [joined] * 20])
    posterior.trace.update(trace)
    return posterior


def test_chains_that_disagree_are_compared_if_asked_for():
    posterior = two_modes()
    assert "verdict(compare=True) compares their topics and predictions" in posterior.verdict().sentence
    assert "consensus_topics" not in vars(posterior)
    found = posterior.verdict(compare=True)
    assert found.level == "chains disagree"
    assert "Both chains share 1 topic with 50% of the words." in found.sentence
    assert "Chain 0 has the best leave-one-out predictions" in found.details[0]
    assert "Stacking weights: " in found.details[0]


# --- the parts ----------------------------------------------------------------------------------------------


def test_chains_that_never_meet():
    assert never_meet(chains_of(3, 100, mean=[0.0, 0.0, 6.0]))
    assert not never_meet(chains_of(3, 100, mean=[0.0, 0.0, 1.0]))
    assert not never_meet(chains_of(1, 100))
    assert not never_meet(np.full((3, 50), 0.1) + 1e-17)  # but for rounding


def test_notes():
    assert note_on(np.zeros((2, 3))) == "too few draws"
    assert note_on(np.array([[1.0] * 8, [1.0, 2.0] * 4])) == "never changes in chain 0"
    assert note_on(chains_of(2, 50)) == ""
    assert note_on(np.vstack([np.arange(20.0), -np.arange(20.0)])) == (
        "still rising in chain 0 and still falling in chain 1"
    )


def test_r_hat_in_words():
    assert [r_hat_in_words(value) for value in (0.999, 1.03, 1.2, math.inf)] == [
        "1.00 (good)",
        "1.03 (usable)",
        "1.20 (too large)",
        "> 10",
    ]


@pytest.mark.parametrize(
    ("number", "rounded"), [(0.2, 1), (3.2, 4), (12, 15), (151, 200), (220, 250), (999, 1000)]
)
def test_rounding(number, rounded):
    assert _rounded_up(number) == rounded
