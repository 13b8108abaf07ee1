"""New groups under the topics of a draw: densities against marginals, weights and scores against loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.data.splits import shuffled_places
from franchise.diagnostics import document_completion, group_completion
from franchise.kernels.predictive import fill_document_weights
from franchise.posterior import predictive
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.predictive import (
    Occurrences,
    drawn_topics,
    estimated_weights,
    fitted_weights,
    log_densities,
    prepare,
    prior_weights,
)
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model
from tests.diagnostics.naive_held_out import NaiveDraw
from tests.diagnostics.test_held_out import HELD_OUT, corpus_of, small_posterior

SHAPE, RATE = 1.5, 0.7
TRAINING = [[0, 1, 6], [7, 5, 8, 0], [1]]
LABELS = [[[0, 0, 1], [1, 1, 1, 0], [0]], [[0, 1, 2], [2, 2, 2, 0], [1]]]  # of two draws
TABLES = [[3, 2], [2, 2, 1]]
ALPHA, GAMMA = [0.8, 2.1], [1.1, 0.5]
NEW = [[0, 7, 1, 6, 9], [3], [2, 2], [8, 7, 9, 0]]


class NaivePoisson(NaiveDraw):
    """Topics of counts; the predictive of a topic is negative binomial."""

    def __init__(self, draw):
        super().__init__(TRAINING, LABELS[draw], TABLES[draw], ALPHA[draw], GAMMA[draw], None)

    def phi(self, topic, count):
        seen = [] if topic == "unseen" else list(self.words_of_topic[topic].elements())
        shape, rate = SHAPE + sum(seen), RATE + len(seen)
        return math.exp(
            math.lgamma(shape + count)
            - math.lgamma(shape)
            - math.lgamma(count + 1)
            + shape * math.log(rate / (rate + 1))
            - count * math.log(rate + 1)
        )


def groups_of(lists):
    return fr.Groups(np.concatenate(lists), np.repeat(np.arange(len(lists)), [len(each) for each in lists]))


def snapshot_of(labels, tables, alpha=1.0, gamma=1.0, prior=math.nan):
    return HDPDraw(0, np.array(labels, np.uint8), np.array(tables, np.int64), alpha, gamma, prior)


def poisson_posterior():
    data = groups_of(TRAINING)
    snapshots = [
        [snapshot_of(np.concatenate(LABELS[draw]), TABLES[draw], ALPHA[draw], GAMMA[draw])]
        for draw in range(2)
    ]
    model = make_model(data, fr.Poisson(SHAPE, RATE), 1.0, 1.0)
    return HDPPosterior({}, {}, None, snapshots, [], data, model, "direct", 0)


# --- densities ----------------------------------------------------------------------------------------------


def chain_rule(family, prepared, members, index):
    """log p(x | members) from marginal likelihoods."""
    before = family.log_marginal_of(prepared, members) if members else 0.0
    return family.log_marginal_of(prepared, [*members, index]) - before


COUNTS = np.array([[3, 0, 1], [0, 2, 2], [4, 1, 0], [0, 0, 5]])
POINTS = np.array([[0.1, -1.0], [0.3, -0.5], [4.0, 2.0], [3.5, 2.2]])


@pytest.mark.parametrize(
    ("family", "observations"),
    [(fr.Poisson(SHAPE, RATE), COUNTS), (fr.Multinomial(3, 0.4), COUNTS), (fr.GaussianDiagonal(2), POINTS)],
    ids=lambda value: type(value).__name__,
)
def test_densities_are_ratios_of_marginals(family, observations):
    model = make_model(fr.Groups(observations, [0, 0, 1, 1]), family, 1.0, 1.0)
    logs = log_densities(model, snapshot_of([0, 0, 1, 0], [2, 1]), model.data.observations)
    topics = [[0, 1, 3], [2], []]
    for index in range(4):
        expected = [chain_rule(model.family, model.data.observations, topic, index) for topic in topics]
        assert logs[index] == pytest.approx(expected, rel=1e-9)


def test_densities_have_the_prior_that_was_learned():
    model = make_model(corpus_of([[0, 1], [2, 2]]), fr.Categorical(5, fr.Gamma(1, 1)), 1.0, 1.0)
    logs = log_densities(
        model, snapshot_of([0, 0, 1, 1], [1, 1], prior=0.3), prepare(model.family, np.arange(5))
    )
    assert np.exp(logs[:, 1]) == pytest.approx(np.array([0.3, 0.3, 2.3, 0.3, 0.3]) / 3.5)
    assert np.exp(logs[:, 2]) == pytest.approx(np.full(5, 0.2))


def test_densities_that_are_averaged_over_parameters():
    """Where the family is not conjugate; with the spread of such averages, by other seeds."""
    family = fr.GaussianIndependent(1, mean_precision=0.5)
    points = np.array([-1.0, -0.4, 0.1, 2.0, 2.6])
    model = make_model(fr.Groups(points, [0, 0, 0, 1, 1]), family, 1.0, 1.0)
    prepared = model.data.observations
    family = model.family
    found = np.exp(
        [
            log_densities(model, snapshot_of([0, 0, 0, 1, 1], [1, 1]), prepared, seed=seed)
            for seed in range(20)
        ]
    )
    assert (found[0] == np.exp(log_densities(model, snapshot_of([0, 0, 0, 1, 1], [1, 1]), prepared))).all()
    error = found.std(axis=0, ddof=1) / math.sqrt(20)
    for topic, members in enumerate([[0, 1, 2], [3, 4], []]):
        expected = [math.exp(chain_rule(family, prepared, members, index)) for index in range(5)]
        assert (np.abs(found.mean(axis=0)[:, topic] - expected) < 5 * error[:, topic]).all()


# --- weights ------------------------------------------------------------------------------------------------


def weights_of(documents, number=1):
    """Two estimates of the weights of each document under a draw, and the exact ones."""
    posterior, new = poisson_posterior(), groups_of(documents)
    observed = Occurrences.of_groups(new, posterior.family)
    draw = drawn_topics(posterior.model, posterior.snapshots[number][0], observed.observations)
    naive = NaivePoisson(number)
    exact = [list(naive.exact_weights(counts).values()) for counts in documents]
    return estimated_weights(draw, observed), np.array(exact)


@pytest.mark.parametrize("number", [0, 1])
def test_weights_of_short_documents_are_exact(number):
    """Up to five observations; those of unseen topics, the last, too."""
    documents = [*NEW, [0], [9], [9, 9, 9], [0, 1, 7, 8, 30], [40, 41]]
    found, exact = weights_of(documents, number)
    assert found == pytest.approx(np.array([exact, exact]), rel=1e-12)
    assert exact[-1, -1] > 0.3  # counts that no topic has


def test_weights_of_longer_documents_are_right_within_their_error(monkeypatch):
    """With 100 estimates; the error that they show is the real one."""
    monkeypatch.setattr(predictive, "ESTIMATES", 100)
    found, exact = weights_of([[0, 1, 1, 2, 7, 7, 8, 9, 30]])
    error = found.std(axis=0, ddof=1) / 10.0
    assert error.max() < 0.03
    assert np.abs(found.mean(axis=0) - exact).max() < 4.0 * error.max()
    assert np.sqrt(np.mean(((found.mean(axis=0) - exact) / error) ** 2)) < 2.0


def test_topics_with_small_priors_are_left():
    """Nine words that two topics explain as well: both have half, though a token seldom moves alone."""
    topics = np.array([[1.0, 1.0, 1e-6]])
    prior, weights = np.full(3, 1e-4), np.empty((50, 1, 3))
    states = np.random.default_rng(0).integers(2**64, size=(50, 1, 4), dtype=np.uint64)
    nine = np.array([0, 1]), np.array([0]), np.array([9])
    fill_document_weights(*nine, topics, prior, states, weights)
    assert weights[:, 0].mean(axis=0) == pytest.approx([0.5, 0.5, 0.0], abs=0.06)
    assert weights[:, 0, 0].std() < 0.25  # 0.5 for chains that never leave


def test_infer_reports_its_monte_carlo_error():
    """None for short documents; the same at every call."""
    posterior = small_posterior()
    posterior.trace.update(n_topics=np.full((2, 1), 2), log_joint=np.zeros((2, 1)))
    short, long = corpus_of(HELD_OUT), corpus_of([[0, 1, 2, 3, 4] * 6])
    assert posterior.infer(short).attrs["monte_carlo_error"] < 1e-12
    assert 1e-4 < posterior.infer(long).attrs["monte_carlo_error"] < 0.1
    assert posterior.infer(long).equals(posterior.infer(long))


def test_far_observations_do_not_underflow():
    model = make_model(fr.Groups(POINTS, [0, 0, 1, 1]), fr.GaussianKnownPrecision(2, 1.0, 1e4), 1.0, 1.0)
    far = fr.Groups(POINTS + 50.0, [0, 0, 1, 1])
    observed = Occurrences.of_groups(far, model.family)
    draw = drawn_topics(model, snapshot_of([0, 0, 1, 1], [1, 1]), observed.observations)
    assert draw.log_scales.max() < -1000.0
    assert np.allclose(fitted_weights(draw, observed).sum(axis=1), 1.0)


# --- the finite model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [2, 3, 10])
def test_weights_in_the_finite_model_follow_from_its_marginals(level):
    """E[beta_k | m] = p(m and one more table of k) / p(m), with beta ~ Dirichlet(gamma / L, ..., gamma / L)."""
    gamma, tables = 1.7, [4, 1]
    every = np.array(tables + [0] * (level - 2))

    def log_marginal(counts):
        shares = sum(math.lgamma(gamma / level + count) - math.lgamma(gamma / level) for count in counts)
        return shares + math.lgamma(gamma) - math.lgamma(gamma + sum(counts))

    means = [math.exp(log_marginal(every + unit) - log_marginal(every)) for unit in np.eye(level)]
    model = make_model(corpus_of([[0, 1], [2, 2, 3]]), fr.Categorical(5), 1.0, 1.0)
    draw = snapshot_of([0, 0, 1, 0, 1], tables, alpha=0.6, gamma=gamma)
    found = prior_weights(replace(model, truncation=level), draw)
    assert found / 0.6 == pytest.approx([*means[:2], sum(means[2:])], rel=1e-12)


def test_no_weight_for_unseen_topics_where_the_finite_model_uses_all():
    corpus = corpus_of([[0] * 6, [4] * 6, [0] * 5, [4] * 5] * 3)
    options = {"draws": 5, "warmup": 20, "chains": 1, "progress": False}
    posterior = fr.sample(corpus, fr.Categorical(5, 0.1), sampler="finite", finite_topics=2, **options)
    draw = posterior.draw()
    assert draw.n_topics == 2
    for table in (draw.infer(corpus_of([[0, 4, 2], []])), draw.document_topics()):
        assert (table["unseen"] == 0.0).all()
        assert table.sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert np.isfinite(document_completion(posterior, corpus_of(HELD_OUT)).log_probability_per_word)


# --- scores -------------------------------------------------------------------------------------------------


def test_group_completion_equals_loops():
    """Each half by hand: the first gets the one more, but of a group of one the second has all."""
    new, draws = groups_of(NEW), [NaivePoisson(0), NaivePoisson(1)]
    places = np.split(shuffled_places(new.offsets, seed=4), new.offsets[1:-1])
    logs = []
    for counts, place in zip(NEW, places, strict=True):
        assert sorted(place) == list(range(len(counts)))
        many = 0 if len(counts) == 1 else math.ceil(len(counts) / 2)
        given = [count for count, order in zip(counts, place, strict=True) if order < many]
        weights = [draw.exact_weights(given) for draw in draws]
        for count, order in zip(counts, place, strict=True):
            if order >= many:
                chances = [draw.probability(count, each) for draw, each in zip(draws, weights, strict=True)]
                logs.append(math.log(sum(chances) / 2))
    assert len(logs) == 2 + 1 + 1 + 2
    assert group_completion(poisson_posterior(), new, seed=4) == pytest.approx(np.mean(logs), rel=1e-9)


def test_group_completion_of_words_is_document_completion():
    documents = [document for document in HELD_OUT if len(document) > 1]
    posterior, held_out = small_posterior(), corpus_of(documents)
    score = document_completion(posterior, held_out, seed=2)
    assert group_completion(posterior, held_out, seed=2) == pytest.approx(
        score.log_probability_per_word, rel=1e-12
    )


def test_scattered_groups_are_scored_as_gathered_ones():
    labels = [0, 1, 3, 0, 2, 0, 3, 0, 2, 3, 3, 0]  # as they come; each group's counts in its own order
    left = [list(counts) for counts in NEW]
    mixed = fr.Groups([left[label].pop(0) for label in labels], labels)
    gathered = groups_of([NEW[label] for label in mixed.group_names])
    assert mixed.order is not None
    assert gathered.order is None
    assert group_completion(poisson_posterior(), mixed) == group_completion(poisson_posterior(), gathered)


def test_what_cannot_be_scored():
    with pytest.raises(fr.InputError, match="posterior must be what"):
        group_completion("posterior", groups_of(NEW))
    with pytest.raises(fr.InputError, match="held_out must be Groups"):
        group_completion(poisson_posterior(), NEW)
    with pytest.raises(fr.InputError, match="use group_completion"):
        document_completion(poisson_posterior(), corpus_of(HELD_OUT))
