"""Known topics: against fractions, against bugs, against planted topics; and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.checks.check_family import check_family
from franchise.families import Categorical, KnownTopics
from franchise.families.mixed_dirichlet import log_masses_of
from franchise.kernels import family_ops
from franchise.moves import CellSweep, DocumentSweep, SubclusterSweep, in_turn
from tests.exactness.cases import CASES, GROUPS, size

INF = math.inf
WORDS = np.array([0, 0, 1], np.int32)


def tiny() -> KnownTopics:
    """Dirichlet(3, 1), a point mass at (1/4, 3/4), and Dirichlet(1/2, 1/2) for new topics."""
    return KnownTopics([[0.75, 0.25], [0.25, 0.75]], [4.0, INF], [0.25, 0.25], 0.5)


def filled(family, words, slots=2):
    statistics = family.empty_statistics(slots)
    prepared = family.prepare(np.array(words))
    for index in range(len(words)):
        family_ops.add(statistics, prepared, index, 0)
    return statistics


class TestByHand:
    """Twice word 0, once word 1."""

    masses = (
        Fraction(1, 4) * Fraction(3, 4) * Fraction(4, 5) * Fraction(1, 6),
        Fraction(1, 4) * Fraction(1, 4) * Fraction(1, 4) * Fraction(3, 4),
        Fraction(1, 2) * Fraction(1, 2) * Fraction(3, 4) * Fraction(1, 6),
    )

    def test_marginal(self):
        found = tiny().log_marginal_of(WORDS, range(3))
        assert math.exp(found) == pytest.approx(float(sum(self.masses)), rel=1e-14)

    def test_components(self):
        total = sum(self.masses)
        expected = [float(mass / total) for mass in self.masses]
        np.testing.assert_allclose(tiny().component_probabilities([2, 1]), expected, rtol=1e-13)
        statistics = filled(tiny(), WORDS)
        kept = np.exp(statistics.log_masses[0] - statistics.log_marginals[0])
        np.testing.assert_allclose(kept, expected, rtol=1e-13)

    def test_predictive(self):
        ratios = (Fraction(3 + 2, 4 + 3), Fraction(1, 4), Fraction(5, 2) / 4)
        expected = sum(mass * ratio for mass, ratio in zip(self.masses, ratios, strict=True)) / sum(
            self.masses
        )
        found = family_ops.log_predictive(filled(tiny(), WORDS), WORDS, 0, 0)
        assert math.exp(found) == pytest.approx(float(expected), rel=1e-14)

    def test_a_new_topic(self):
        """1/4 3/4 + 1/4 1/4 + 1/2 1/2."""
        found = family_ops.log_predictive(tiny().empty_statistics(1), WORDS, 0, 0)
        assert math.exp(found) == pytest.approx(0.5, rel=1e-14)

    def test_several_topics_at_once_and_none(self):
        family = tiny()
        several = family.component_probabilities([[2, 1], [0, 0], [0, 9]])
        np.testing.assert_array_equal(several[0], family.component_probabilities([2, 1]))
        np.testing.assert_allclose(several[1], [0.25, 0.25, 0.5], rtol=1e-14)
        assert several[2].argmax() == 2
        np.testing.assert_allclose(several.sum(axis=1), 1.0, rtol=1e-14)


def test_without_new_topics_none_is_new():
    family = KnownTopics([[0.75, 0.25], [0.25, 0.75]], INF, 1.0)
    assert family.weight_of_new == 0.0
    np.testing.assert_allclose(family.component_probabilities([1, 1]), [0.5, 0.5, 0.0])
    drawn = family.draw_parameters(filled(family, [0] * 9), 2, np.random.default_rng(0))
    assert set(np.exp(drawn.log_probabilities[:, 0]).round(12)) <= {0.25, 0.75}


def test_one_component_alone_is_categorical():
    """All weight on a known topic of finite strength: a Dirichlet prior, with its mean and mass."""
    shapes = np.array([0.4, 1.2, 0.9])
    known = KnownTopics([shapes / shapes.sum()], shapes.sum(), 1.0)
    plain = Categorical(3, shapes)
    words = np.array([0, 2, 1, 1, 2, 2], np.int32)
    for block in ([0], [0, 1, 2], range(6)):
        expected = plain.log_marginal_of(words, block)
        assert known.log_marginal_of(words, block) == pytest.approx(expected, rel=1e-13)


def test_frozen_words_never_move():
    family = tiny()
    statistics = filled(family, [1] * 400 + [0] * 133)
    drawn = family.draw_parameters(statistics, 2, np.random.default_rng(1))
    assert family.component_probabilities(statistics.counts[:, 0])[1] > 0.9
    rows = [
        family.draw_parameters(statistics, 1, np.random.default_rng(seed)).log_probabilities[0]
        for seed in range(40)
    ]
    frozen = [row for row in rows if np.array_equal(row, np.log([0.25, 0.75]))]
    assert len(frozen) > 30
    assert drawn.log_probabilities.shape == (2, 2)


def test_a_long_history_leaves_little_rounding():
    """Thousands of words in and out again, with masses that differ by thousands of nats."""
    rng = np.random.default_rng(2)
    topics = rng.dirichlet(np.ones(30), 4)
    family = KnownTopics(topics, [50.0, 1e5, INF, INF], 0.9, 0.01)
    words = family.prepare(rng.choice(30, 3000, p=topics[2]))
    statistics = family.empty_statistics(2)
    for index in range(3000):
        family_ops.add(statistics, words, index, index % 2)
    for index in range(0, 2990, 2):
        family_ops.remove(statistics, words, index, 0)
    expected = log_masses_of(family.empty_statistics(1), statistics.counts.T)
    np.testing.assert_allclose(statistics.log_masses, expected, rtol=1e-10, atol=1e-9)
    assert np.isfinite(statistics.pulls).all()
    assert np.isfinite(statistics.log_marginals).all()
    family_ops.merge(statistics, 0, 1)
    expected = log_masses_of(family.empty_statistics(1), statistics.counts.T)
    np.testing.assert_allclose(statistics.log_masses[1], expected[1], rtol=1e-10)
    for index in range(2990, 3000, 2):
        family_ops.remove(statistics, words, index, 0)
    fresh = family.empty_statistics(2)
    for name in ("log_masses", "log_marginals", "pulls", "repeats", "totals"):
        np.testing.assert_array_equal(getattr(statistics, name)[0], getattr(fresh, name)[0], err_msg=name)


@pytest.mark.parametrize("strength", [1e-6, 1e7, INF])
def test_blocks_far_from_one(strength):
    """Products of predictives that no float holds."""
    rare = [1.0 - 2e-90, 1e-90, 1e-90]
    family = KnownTopics([rare, [0.2, 0.3, 0.5]], [strength, 2.0], 0.5, 1e-200)
    words = family.prepare(np.array([1, 2, 1, 0, 2, 1, 2, 1] * 4))
    members = np.arange(32)
    statistics = family.empty_statistics(2)
    for index in members:
        family_ops.add(statistics, words, index, 1)
    found = family_ops.log_block_predictive(statistics, words, members, 1, 0)
    assert found == pytest.approx(family.log_marginal_of(words, members), rel=1e-9)
    assert math.isfinite(found)


# --- bugs -------------------------------------------------------------------------------------------------------


class OwnStatistics(KnownTopics.Statistics):
    """So that verbs run the methods of the broken class."""


class ForgetsEvidence(KnownTopics):
    """The predictive weighs components by their prior weights, whatever the topic has."""

    Statistics = OwnStatistics

    @staticmethod
    def log_predictive(statistics, observations, index, topic):
        category, total = observations[index], 0.0
        for part in range(len(statistics.mass)):
            learns = statistics.learns[part]
            above = statistics.base[category, part] + learns * statistics.counts[category, topic]
            total += (
                statistics.weights[part] * above / (statistics.mass[part] + learns * statistics.totals[topic])
            )
        return math.log(total)


class DrawsFromPriorComponents(KnownTopics):
    """Components are drawn as if nothing had been seen."""

    def draw_parameters(self, statistics, limit, rng):
        blind = statistics._replace(
            log_masses=np.tile(statistics.log_weights, (len(statistics.totals), 1)),
            log_marginals=np.zeros(len(statistics.totals)),
        )
        return super().draw_parameters(blind, limit, rng)


ARGUMENTS = ([[0.8, 0.1, 0.1], [0.1, 0.3, 0.6]], [5.0, INF], [0.3, 0.4], 0.5)


def test_a_predictive_without_evidence_is_caught():
    with pytest.raises(CheckFailed, match="chain rule"):
        check_family(ForgetsEvidence(*ARGUMENTS), CASES["known-topics"].observations)


def test_components_drawn_from_the_prior_are_caught():
    family, words = DrawsFromPriorComponents(*ARGUMENTS), CASES["known-topics"].observations
    with pytest.raises(CheckFailed, match="parameters"):
        check_family(family, np.array([0, 2, 0, 2, 0, 2, 2, 0]))
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(in_turn(*[DocumentSweep()] * 3), family, words, GROUPS, repetitions=size(8_000), seed=1)


# --- planted topics -----------------------------------------------------------------------------------------------


def planted(seed=3, documents=60, length=50, words=80):
    """Six topics, of which 0, 2 and 4 will be known."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.1), 6)
    labels = np.array([rng.choice(6, length, p=rng.dirichlet(np.full(6, 0.3))) for _ in range(documents)])
    cumulative = topics.cumsum(axis=1)
    drawn = (cumulative[labels] < rng.random(labels.shape)[..., None]).sum(axis=2).clip(max=words - 1)
    tokens = [[f"w{word:02d}" for word in row] for row in drawn]
    corpus = fr.Corpus.from_tokens(tokens, vocabulary=[f"w{word:02d}" for word in range(words)])
    return corpus, topics, labels.ravel()


@pytest.fixture(scope="module")
def recovered():
    corpus, topics, labels = planted()
    given = 0.98 * topics[[0, 2, 4]] + 0.02 / topics.shape[1]
    known = KnownTopics(given, [500.0, 500.0, INF], names=["a", "c", "e"], vocabulary=corpus.vocabulary)
    posterior = fr.sample(
        corpus,
        known,
        sampler="split-merge",
        draws=30,
        warmup=60,
        chains=2,
        seed=1,
        workers=1,
        start="sequential",
    )
    return posterior, topics, labels, posterior.known_topics(), posterior.known_shares()


def test_known_topics_are_found_by_name(recovered):
    posterior, _, labels, named, shares = recovered
    found = named[named["name"] != "new"]
    assert sorted(found["name"]) == ["a", "c", "e"]
    assert (found["probability"] > 0.99).all()
    assert (named["name"] == "new").sum() >= 3
    for name, topic in (("a", 0), ("c", 2), ("e", 4)):
        true = (labels == topic).mean()
        assert abs(shares.loc[name, "share"] - true) < 0.25 * true
        assert 0.9 < shares.loc[name, "topics"] < 1.5
        assert shares.loc[name, "low"] <= shares.loc[name, "share"] <= shares.loc[name, "high"]
    assert shares["share"].sum() == pytest.approx(1.0)
    assert posterior.family.names == ["a", "c", "e"]


def test_the_frozen_topic_has_its_words(recovered):
    posterior, _, _, named, _ = recovered
    again = KnownTopics.from_posterior(posterior)
    place = int(np.flatnonzero(named["name"] == "e")[0])
    np.testing.assert_allclose(again.topics[place], posterior.family.topics[2], rtol=1e-6)
    place = int(np.flatnonzero(named["name"] == "a")[0])
    gap = np.abs(again.topics[place] - posterior.family.topics[0]).sum()
    assert 0.01 < gap < 0.5  # near, but learned


def test_new_documents_under_known_topics(recovered):
    posterior = recovered[0]
    new = fr.Corpus.from_tokens([["w01", "w02", "w02"], ["w40"]], vocabulary=posterior.data.vocabulary)
    table = posterior.infer(new)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)


# --- seed words ---------------------------------------------------------------------------------------------------


class TestSeedWords:
    vocabulary = ("army", "bank", "the", "troops")

    def test_shapes(self):
        family = KnownTopics.from_words(
            {"war": ["troops", "army"], "money": ["bank"]}, self.vocabulary, strength=[6.0, 2.0], prior=0.5
        )
        assert family.names == ["war", "money"]
        assert family.vocabulary == list(self.vocabulary)
        shapes = family.topics * family.strength[:, None]
        np.testing.assert_allclose(shapes, [[3.5, 0.5, 0.5, 3.5], [0.5, 2.5, 0.5, 0.5]])

    def test_seeds_draw_their_topics(self):
        words = [*self.vocabulary, *(f"other{number}" for number in range(96))]
        family = KnownTopics.from_words({"war": ["troops", "army"], "money": ["bank"]}, words, weight=0.4)
        counts = np.zeros((3, 100), int)
        counts[:, 10:30] = 1
        counts[:, :4] = [[5, 0, 2, 4], [0, 9, 3, 0], [0, 0, 10, 0]]
        assert family.component_probabilities(counts).argmax(axis=1).tolist() == [0, 1, 2]

    @pytest.mark.parametrize(
        ("seeds", "settings", "words"),
        [
            ({}, {}, ["seeds", "dict"]),
            (["army"], {}, ["seeds", "dict"]),
            ({"war": "army"}, {}, ["'war'", "list of words", "'army'"]),
            ({"war": []}, {}, ["'war'", "list of words"]),
            ({"war": ["armies"]}, {}, ["'war'", "'armies'", "Did you mean 'army'"]),
            ({"war": ["army", "x", "y"]}, {}, ["'x'", "nor 1 more"]),
            ({"war": ["army"]}, {"strength": INF}, ["strength", "finite"]),
            ({"war": ["army"]}, {"prior": -1.0}, ["prior", "-1.0"]),
            ({"war": ["army"]}, {"vocabulary": "army"}, ["vocabulary", "sequence of words", "'army'"]),
            ({"war": ["army"]}, {"vocabulary": ["army", "army"]}, ["vocabulary", "twice"]),
        ],
    )
    def test_refused(self, seeds, settings, words):
        with pytest.raises(fr.InputError) as caught:
            KnownTopics.from_words(seeds, **{"vocabulary": self.vocabulary, **settings})
        assert all(word in str(caught.value) for word in words), str(caught.value)


class TestOtherVocabularies:
    family = KnownTopics([[0.5, 0.3, 0.2]], [7.0], 0.4, 0.3, ["one"], ["a", "b", "c"])

    def test_words_are_found_again(self):
        moved = self.family.for_vocabulary(["c", "new", "a"], smoothing=0.3)
        np.testing.assert_allclose(moved.topics, [[0.7 * 2 / 7 + 0.1, 0.1, 0.7 * 5 / 7 + 0.1]])
        assert (moved.names, moved.vocabulary) == (["one"], ["c", "new", "a"])
        assert moved.settings()["strength"] == [7.0]

    def test_a_corpus_with_other_words_is_refused(self):
        for words, said in ((["a", "c", "b"], ["word 1", "'b'", "'c'"]), (["a", "b"], ["3 words", "of 2"])):
            corpus = fr.Corpus.from_tokens([words], vocabulary=words)
            with pytest.raises(fr.InputError) as caught:
                fr.sample(corpus, self.family, draws=1, warmup=0)
            assert all(word in str(caught.value) for word in [*said, "for_vocabulary"]), str(caught.value)

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda known: known.for_vocabulary(["x", "y"]), ["must share words"]),
            (lambda known: known.for_vocabulary(["a", "b"], smoothing=1.0), ["smoothing", "below 1"]),
            (lambda known: tiny().for_vocabulary(["a", "b"]), ["vocabulary=words"]),
            (
                lambda known: KnownTopics(
                    [[0.5, 0.5]], prior=[1.0, 2.0], vocabulary=["a", "b"]
                ).for_vocabulary(["a"]),
                ["prior must be one number"],
            ),
        ],
    )
    def test_refused(self, call, words):
        with pytest.raises(fr.InputError) as caught:
            call(self.family)
        assert all(word in str(caught.value) for word in words), str(caught.value)


# --- what is refused ----------------------------------------------------------------------------------------------

ROWS = [[0.5, 0.5], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: KnownTopics([0.5, 0.5]), ["topics", "shape (topics, words)"]),
        (lambda: KnownTopics([[0.5, 0.5], [1.0]]), ["topics", "shape (topics, words)"]),
        (lambda: KnownTopics([["a", "b"]]), ["topics", "probabilities"]),
        (lambda: KnownTopics(np.zeros((0, 3))), ["topics", "(0, 3)"]),
        (lambda: KnownTopics([[0.5, math.nan]]), ["topics", "NaN", "(0, 1)"]),
        (lambda: KnownTopics([[1.5, -0.5]]), ["topics", "-0.5", "word 1 of topic 0"]),
        (lambda: KnownTopics([[0.5, 0.5], [3, 4]]), ["row 1 sums to 7", "counts"]),
        (lambda: KnownTopics([[1.0, 0.0]]), ["positive", "word 1 of topic 0", "0.99 * topics + 0.01 / 2"]),
        (lambda: KnownTopics([[1.0, 1e-200]]), ["positive", "1e-200"]),
        (lambda: KnownTopics(ROWS, 0.0), ["strength", "0.0"]),
        (lambda: KnownTopics(ROWS, math.nan), ["strength", "nan"]),
        (lambda: KnownTopics(ROWS, -INF), ["strength", "-inf"]),
        (lambda: KnownTopics(ROWS, 1e9), ["strength", "1e+07", "math.inf"]),
        (lambda: KnownTopics(ROWS, [1.0]), ["strength", "2, one per known topic"]),
        (lambda: KnownTopics(ROWS, "frozen"), ["strength", "'frozen'"]),
        (lambda: KnownTopics(ROWS, weight=0.0), ["weight", "positive"]),
        (lambda: KnownTopics(ROWS, weight=1.2), ["weight", "at most 1", "1.2"]),
        (lambda: KnownTopics(ROWS, weight=[0.7, 0.7]), ["weight", "at most 1", "1.4"]),
        (lambda: KnownTopics(ROWS, weight=[0.1, 0.1, 0.1]), ["weight", "2 numbers"]),
        (lambda: KnownTopics(ROWS, prior=fr.Gamma(1.0, 1.0)), ["prior", "positive number", "Gamma"]),
        (lambda: KnownTopics(ROWS, prior=[1.0, 0.0]), ["prior", "position 1"]),
        (lambda: KnownTopics(ROWS, names=["one"]), ["names", "2 strings"]),
        (lambda: KnownTopics(ROWS, names="ab"), ["names", "2 strings"]),
        (lambda: KnownTopics(ROWS, names=["one", "one"]), ["names", "differ"]),
        (lambda: KnownTopics(ROWS, vocabulary=["a"]), ["vocabulary", "2", "got 1"]),
        (lambda: KnownTopics(ROWS).prepare([0, 2]), ["KnownTopics", "got 2", "column per category"]),
        (lambda: KnownTopics(ROWS).prepare([[0, 1]]), ["KnownTopics", "shape (N,)"]),
        (lambda: KnownTopics(ROWS).component_probabilities([1, 2, 3]), ["counts", "2 columns"]),
        (lambda: KnownTopics(ROWS).component_probabilities([1, -2]), ["counts", "negative"]),
    ],
)
def test_refused(make, words):
    with pytest.raises(fr.InputError) as caught:
        make()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_rows_of_few_digits_are_made_to_sum_to_one():
    family = KnownTopics(np.array([[0.33333, 0.66666]], np.float32))
    assert family.topics.sum() == pytest.approx(1.0, abs=1e-15)
    again = KnownTopics(**family.settings())
    np.testing.assert_array_equal(again.topics, family.topics)


def test_moves_for_categories_or_prior_densities_say_that_they_are_not_for_it():
    for move in (CellSweep(), SubclusterSweep(), DocumentSweep(sparse=True)):
        with pytest.raises(fr.InputError, match="KnownTopics"):
            move.check_family(tiny())
    SubclusterSweep(moves=("local", "balanced")).check_family(tiny())


def test_masses_in_bulk_are_those_counted_one_by_one():
    """Counts small and large, words on which all components agree, and frozen topics."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.ones(40), 3)
    dense = KnownTopics(topics, [50.0, 1e4, INF], 0.5, 0.2)
    seeded = KnownTopics.from_words({"a": ["w0"], "b": ["w1", "w2"]}, [f"w{word}" for word in range(40)])
    counts = rng.poisson([[0.5], [3.0], [60.0], [0.0]], (4, 40))
    for family in (dense, seeded):
        logs = log_masses_of(family.empty_statistics(1), counts)
        expected = np.exp(logs - logs.max(axis=1, keepdims=True))
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(family.component_probabilities(counts), expected, rtol=1e-9, atol=1e-300)
