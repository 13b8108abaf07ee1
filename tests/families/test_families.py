"""Every family and all its examples against the contract, textbooks and the naive twins."""

import importlib
import itertools
import json
import pickle

import numpy as np
import pytest
from scipy import sparse, stats

from franchise.checks.check_family import check_family
from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.errors import InputError
from franchise.families import (
    FAMILIES,
    Ability,
    Bernoulli,
    Categorical,
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownPrecision,
    KnownTopics,
    Multinomial,
    NegativeBinomial,
    Poisson,
    family_from_settings,
    name_of,
)
from franchise.kernels import family_ops
from franchise.kernels.recount import fill_log_marginals
from franchise.parallel import Threads
from franchise.priors import Gamma
from tests.naive import families as naive

EXAMPLES = [
    pytest.param(example, id=f"{name}-{place}")
    for name, kind in FAMILIES.items()
    for place, example in enumerate(importlib.import_module(kind.__module__).examples())
]


def marginal(family, observations):
    family = family.for_data(observations)
    prepared = family.prepare(observations)
    return family.log_marginal_of(prepared, range(family.count(prepared)))


def predictive(family, observations):
    """Log predictive of the last observation given the others."""
    family = family.for_data(observations)
    prepared = family.prepare(observations)
    statistics = family.empty_statistics(1)
    last = family.count(prepared) - 1
    for index in range(last):
        family_ops.add(statistics, prepared, index, 0)
    return family_ops.log_predictive(statistics, prepared, last, 0)


@pytest.mark.parametrize("example", EXAMPLES)
def test_contract(example):
    table = check_family(example.family, example.observations)
    assert table["passed"].all()
    assert {"check", "compared", "measure", "value", "threshold", "passed"} == set(table.columns)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_examples_of_its_own_kind(name):
    kind = FAMILIES[name]
    examples = importlib.import_module(kind.__module__).examples()
    assert examples
    for example in examples:
        assert type(example.family) is kind
        assert name_of(example.family) == name


@pytest.mark.parametrize(
    "family",
    [
        Multinomial(7, 0.3),
        Categorical(2),
        Bernoulli(5),
        GaussianFull(4, 0.0, scale=1.0),
        Poisson(3.0, 2.0, dimension=3),
    ],
    ids=repr,
)
def test_contract_on_draws_from_the_prior(family):
    """No example fits these, so observations are drawn; the compiled round is the same code as above."""
    assert check_family(family, seed=3)["passed"].all()


CONJUGATE = [example for example in EXAMPLES if Ability.CONJUGATE in example.values[0].family.abilities]


@pytest.mark.parametrize("example", CONJUGATE)
def test_against_naive_twin(example):
    family = example.family.for_data(example.observations)
    observations = example.observations
    rows = observations.toarray() if sparse.issparse(observations) else np.asarray(observations)
    twin = twin_of(family)
    rng = np.random.default_rng(1)
    prepared = family.prepare(observations)
    for size in range(1, len(rows) + 1):
        block = rng.permutation(len(rows))[:size].tolist()
        expected = twin.log_marginal([rows[index] for index in block])
        assert family.log_marginal_of(prepared, block) == pytest.approx(expected, rel=1e-11)


def twin_of(family):
    if isinstance(family, Categorical):
        return naive.Categorical(family.prior_vector())
    if isinstance(family, KnownTopics):
        return known_twin_of(family)
    if isinstance(family, Multinomial):
        return naive.Multinomial(family.prior_vector())
    if isinstance(family, Poisson):
        return naive.Poisson(family.shape, family.rate)
    if isinstance(family, NegativeBinomial):
        return naive.NegativeBinomial(family.shape, family.rate, grid_of(family))
    if isinstance(family, Bernoulli):
        return naive.Bernoulli(family.a, family.b)
    if isinstance(family, GaussianKnownPrecision):
        return naive.GaussianKnownPrecision(family.dimension, family.prior_precision, family.precision)
    if isinstance(family, GaussianDiagonal):
        return naive.GaussianDiagonal(family.mean, family.mean_count, family.shape, family.rate)
    return naive.GaussianFull(family.mean, family.mean_count, family.degrees, family.scale)


def grid_of(family):
    """The dispersions of every column with their prior probabilities."""
    if not isinstance(family.dispersion, Gamma):
        return [[(number, 1.0)] for number in np.broadcast_to(family.dispersion, family.dimension)]
    prior = family.dispersion
    return [naive.gamma_grid(prior.shape, prior.rate, family.grid_size)] * family.dimension


def known_twin_of(family):
    components = [
        row if frozen else strength * row
        for row, strength, frozen in zip(family.topics, family.strength, family.frozen, strict=True)
    ]
    weights, frozen = family.weights.tolist(), family.frozen.tolist()
    if family.weight_of_new == 0.0:
        return naive.KnownTopics(components, weights, frozen)
    return naive.KnownTopics([*components, family.prior], [*weights, family.weight_of_new], [*frozen, False])


@pytest.mark.parametrize(
    "example", [each for each in EXAMPLES if Ability.HAS_MOMENTS in each.values[0].family.abilities]
)
def test_moments_are_those_of_drawn_observations(example):
    """By simulation, 40,000 observations of each of two topics."""
    family = example.family.for_data(example.observations)
    like = family.prepare(example.observations)
    statistics = family.empty_statistics(2)
    for index in range(family.count(like)):
        family_ops.add(statistics, like, index, index % 2)
    rng, size = np.random.default_rng(6), 40_000
    parameters = family.draw_parameters(statistics, 2, rng)
    means, covariances = family.moments(parameters)
    for topic in range(2):
        rows = np.asarray(family.draw_observations(parameters, np.full(size, topic), rng, None), float)
        rows = rows.reshape(size, -1)
        error = rows.std(axis=0) / np.sqrt(size)
        assert (np.abs(rows.mean(axis=0) - means[topic]) < 4.5 * error + 1e-12).all()
        if covariances is not None:
            found = np.cov(rows.T).reshape(rows.shape[1], -1)
            if covariances.ndim < 3:
                found = np.diag(found)
            np.testing.assert_allclose(
                found, covariances[topic] * np.ones_like(found), rtol=0.05, atol=0.05 * found.max()
            )


class TestTextbooks:
    """Predictives against scipy.stats, which knows nothing of sufficient statistics."""

    def test_multinomial(self):
        rows = np.array([[2, 0, 1], [4, 1, 0], [0, 20, 3]])
        prior = np.array([0.5, 1.0, 2.0])
        expected = stats.dirichlet_multinomial(prior + rows[:2].sum(axis=0), rows[2].sum()).logpmf(rows[2])
        assert predictive(Multinomial(3, prior), rows) == pytest.approx(expected, rel=1e-12)

    def test_multinomial_sums_to_one(self):
        family = Multinomial(3, np.array([0.2, 1.0, 3.0]))
        rows = [row for row in itertools.product(range(6), repeat=3) if sum(row) == 5]
        prepared = family.prepare(np.array([*rows, [3, 0, 1]]))
        statistics = family.empty_statistics(1)
        family_ops.add(statistics, prepared, len(rows), 0)
        parameters = family.draw_parameters(statistics, 1, np.random.default_rng(0))
        predictives = [
            family_ops.log_predictive(statistics, prepared, index, 0) for index in range(len(rows))
        ]
        densities = [family_ops.log_density(parameters, prepared, index, 0) for index in range(len(rows))]
        assert np.exp(predictives).sum() == pytest.approx(1.0, rel=1e-12)
        assert np.exp(densities).sum() == pytest.approx(1.0, rel=1e-12)

    def test_multinomial_with_single_counts_is_categorical(self):
        ids = np.array([0, 2, 2, 1, 0])
        assert marginal(Multinomial(3, 0.4), np.eye(3)[ids]) == pytest.approx(
            marginal(Categorical(3, 0.4), ids)
        )

    def test_poisson(self):
        counts = np.array([3, 0, 7, 25])
        shape, rate = 2.0 + 10, 0.5 + 3
        expected = stats.nbinom(shape, rate / (rate + 1)).logpmf(25)
        assert predictive(Poisson(2.0, 0.5), counts) == pytest.approx(expected, rel=1e-12)

    def test_poisson_dimensions_are_independent(self):
        rows = np.array([[0, 4], [2, 9], [1, 30]])
        separate = sum(marginal(Poisson(0.7, 0.2), rows[:, axis]) for axis in range(2))
        assert marginal(Poisson(0.7, 0.2), rows) == pytest.approx(separate, rel=1e-12)

    def test_bernoulli(self):
        coins = np.array([1, 1, 0, 1])
        expected = stats.betabinom(1, 0.5 + 2, 2.0 + 1).logpmf(1)
        assert predictive(Bernoulli(1, 0.5, 2.0), coins) == pytest.approx(expected, rel=1e-12)

    def test_gaussian_known_precision(self):
        rows = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]])
        precision = 0.2 + 2 * 3.0
        centre = 3.0 * rows[:2].sum(axis=0) / precision  # Amini et al., equation (14)
        expected = stats.norm(centre, np.sqrt(1 / 3.0 + 1 / precision)).logpdf(rows[2]).sum()
        found = predictive(GaussianKnownPrecision(2, prior_precision=0.2, precision=3.0), rows)
        assert found == pytest.approx(expected, rel=1e-12)

    def test_gaussian_diagonal(self):
        rows = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]])
        count, shape = 0.5 + 2, 1.5 + 1
        mean = rows[:2].mean(axis=0)
        centre = 2 * mean / count
        rate = 2.0 + 0.5 * ((rows[:2] - mean) ** 2).sum(axis=0) + 0.5 * 2 / (2 * count) * mean**2
        scale = np.sqrt(rate * (count + 1) / (shape * count))
        expected = stats.t(2 * shape, centre, scale).logpdf(rows[2]).sum()
        found = predictive(GaussianDiagonal(2, 0.0, mean_count=0.5, shape=1.5, rate=2.0), rows)
        assert found == pytest.approx(expected, rel=1e-12)

    def test_gaussian_full(self):
        rows = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]])
        prior_scale = np.array([[1.0, 0.4], [0.4, 2.0]])
        count, degrees = 0.5 + 2, 3.5 + 2
        mean = rows[:2].mean(axis=0)
        scatter = (rows[:2] - mean).T @ (rows[:2] - mean)
        scale = prior_scale + scatter + 0.5 * 2 / count * np.outer(mean, mean)
        freedom = degrees - 2 + 1
        expected = stats.multivariate_t(
            2 * mean / count, scale * (count + 1) / (count * freedom), df=freedom
        ).logpdf(rows[2])
        found = predictive(GaussianFull(2, 0.0, mean_count=0.5, degrees=3.5, scale=prior_scale), rows)
        assert found == pytest.approx(expected, rel=1e-12)

    def test_gaussian_full_in_one_dimension_is_diagonal(self):
        numbers = np.array([0.3, -1.0, 2.2, 5.0])
        full = GaussianFull(1, mean=0.5, mean_count=0.3, degrees=3.0, scale=4.0)
        diagonal = GaussianDiagonal(1, mean=0.5, mean_count=0.3, shape=1.5, rate=2.0)
        assert marginal(full, numbers) == pytest.approx(marginal(diagonal, numbers), rel=1e-12)

    def test_gaussian_full_draws_have_the_right_moments(self):
        """The mean of Sigma is Psi / (nu - D - 1), that of mu is m."""
        scale = np.array([[2.0, -0.5, 0.3], [-0.5, 1.0, 0.1], [0.3, 0.1, 3.0]])
        family = GaussianFull(3, mean=[1.0, -2.0, 0.5], mean_count=2.0, degrees=12.0, scale=scale)
        draws = 20_000
        parameters = family.draw_parameters(family.empty_statistics(draws), draws, np.random.default_rng(5))
        covariances = np.linalg.inv(np.swapaxes(parameters.whiteners, 1, 2) @ parameters.whiteners)
        error = covariances.std(axis=0) / np.sqrt(draws)
        assert (np.abs(covariances.mean(axis=0) - scale / 8.0) < 4.5 * error).all()
        error = parameters.means.std(axis=0) / np.sqrt(draws)
        assert (np.abs(parameters.means.mean(axis=0) - [1.0, -2.0, 0.5]) < 4.5 * error).all()


class TestRegistry:
    @pytest.mark.parametrize("example", EXAMPLES)
    def test_round_trip(self, example):
        family = example.family
        again = family_from_settings(name_of(family), json.loads(json.dumps(family.settings())))
        assert type(again) is type(family)
        assert again.settings() == family.settings()

    @pytest.mark.parametrize("stored", [{}, {"learned_prior": None}])
    def test_a_pickle_of_an_older_version_learns_its_prior(self, stored):
        """Those had no attribute of that name, or the wrong one."""
        old = Categorical.__new__(Categorical)
        old.__dict__.update({"size": 3, "prior": Gamma(1, 2), **stored})
        again = pickle.loads(pickle.dumps(old))
        assert again.learned_prior == Gamma(1, 2)

    def test_a_learned_prior_comes_back_as_a_gamma(self):
        again = family_from_settings("categorical", {"size": 5, "prior": {"shape": 2.0, "rate": 4.0}})
        assert again.prior == Gamma(2.0, 4.0)


class TestPoissonDimension:
    def test_is_learned_from_the_data_without_changing_the_family(self):
        family = Poisson(2.0, 0.5)
        fitted = family.for_data(np.zeros((4, 3)))
        assert (fitted.dimension, family.dimension) == (3, 1)
        assert family_from_settings(name_of(fitted), fitted.settings()).dimension == 3

    def test_is_one_for_plain_counts(self):
        assert Poisson().for_data([1, 2, 3]).dimension == 1
        assert Poisson().prepare([1, 2, 3]).shape == (3, 1)


class TestMultinomialRows:
    def test_dense_and_sparse_are_the_same(self):
        dense = np.array([[0, 3, 0], [0, 0, 0], [1, 0, 2]])
        rows = Multinomial(3).prepare(dense)
        doubled = sparse.coo_array(([1, 2, 1, 2, 0], ([0, 0, 2, 2, 2], [1, 1, 0, 2, 1])), shape=(3, 3))
        for other in (sparse.csr_matrix(dense), sparse.csc_array(dense), doubled):
            for one, two in zip(rows, Multinomial(3).prepare(other), strict=True):
                np.testing.assert_array_equal(one, two)
                assert one.dtype == two.dtype

    def test_sparse_rows_in_groups_are_left_as_they_are(self):
        groups = Groups(sparse.csr_array(np.array([[0, 3, 0], [1, 0, 2]])), ["a", "b"])
        rows = Multinomial(3).prepare(groups.grouped_observations)
        np.testing.assert_array_equal(rows.totals, [3, 3])
        np.testing.assert_array_equal(groups.observations.data, [3, 1, 2])

    def test_draws_keep_the_totals(self):
        family = Multinomial(4, 0.5)
        like = family.prepare(np.array([[3, 0, 0, 0], [0, 0, 0, 0], [10, 5, 0, 1]]))
        rng = np.random.default_rng(2)
        parameters = family.draw_parameters(family.empty_statistics(2), 2, rng)
        drawn = family.draw_observations(parameters, np.array([0, 1, 1]), rng, like)
        np.testing.assert_array_equal(drawn.totals, like.totals)
        assert (np.diff(drawn.offsets) >= 0).all()
        assert drawn.offsets[-1] == len(drawn.counts)

    def test_an_empty_row_says_nothing(self):
        family = Multinomial(3, 0.5)
        prepared = family.prepare(np.array([[0, 0, 0], [1, 2, 3]]))
        statistics = family.empty_statistics(1)
        assert family_ops.log_predictive(statistics, prepared, 0, 0) == 0.0
        family_ops.add(statistics, prepared, 1, 0)
        before = family_ops.log_marginal(statistics, 0)
        family_ops.add(statistics, prepared, 0, 0)
        assert family_ops.log_marginal(statistics, 0) == before


@pytest.mark.parametrize("kind", [Categorical, Multinomial])
def test_growing_keeps_a_learned_prior(kind):
    family = kind(3, Gamma(2.0, 4.0))
    prepared = family.prepare(np.array([0, 1, 1]) if kind is Categorical else np.eye(3, dtype=int))
    statistics = family.empty_statistics(2)
    family_ops.add(statistics, prepared, 0, 0)
    family.set_prior_value(statistics, 1.7)
    grown = family.grow(statistics, 5)
    expected = kind(3, 1.7).empty_statistics(1)
    assert family_ops.log_predictive(grown, prepared, 1, 4) == family_ops.log_predictive(
        expected, prepared, 1, 0
    )
    assert family_ops.log_predictive(grown, prepared, 1, 0) == family_ops.log_predictive(
        statistics, prepared, 1, 0
    )


@pytest.mark.parametrize("kind", [Categorical, Multinomial])
def test_likelihood_as_a_function_of_the_prior(kind):
    ids = np.array([0, 1, 1, 2, 2, 2])
    family = kind(4, Gamma(1.0, 1.0))
    prepared = family.prepare(ids if kind is Categorical else np.eye(4, dtype=int)[ids])
    statistics = family.empty_statistics(2)
    for index in range(len(ids)):
        family_ops.add(statistics, prepared, index, index % 2)
    log_likelihood = family.log_likelihood_by_prior(statistics, 2)
    for prior in (0.3, 2.0):
        family.set_prior_value(statistics, prior)
        expected = sum(family_ops.log_marginal(statistics, topic) for topic in range(2))
        assert log_likelihood(prior) == pytest.approx(expected, rel=1e-12)


def test_a_prior_by_frequency_goes_with_the_words_of_a_corpus():
    corpus = Corpus.from_tokens([["a", "b", "a"], ["a"]])
    family = Categorical.by_frequency(corpus, mass=10.0)
    np.testing.assert_allclose(family.prior, [10.0 * 3.5 / 5.0, 10.0 * 1.5 / 5.0])
    with pytest.raises(InputError, match="mass must be a positive"):
        Categorical.by_frequency(corpus, mass=0.0)


def test_weights_of_long_count_rows():
    """Products become logs after sixteen factors; larger counts have logs of their own."""
    rng, bench = np.random.default_rng(8), 3
    large = rng.poisson(40.0, (3, 24)) * (rng.random((3, 24)) < 0.2)
    family = Multinomial(24, 0.3)
    prepared = family.prepare(np.concatenate([rng.poisson(2.0, (5, 24)), large]))
    statistics = family.empty_statistics(4)
    for index in range(3):
        family_ops.add(statistics, prepared, index, index % 2)
    prior_weights, out = np.array([0.5, 2.0, 1.0, 0.7]), np.empty(4)

    def check(total, logs):
        expected = prior_weights * np.exp(logs - max(logs))
        np.testing.assert_allclose(out / total, expected / expected.sum(), rtol=1e-9)

    for index in range(3, 8):
        total = family_ops.fill_topic_weights(statistics, prepared, index, prior_weights, 4, out)
        check(total, [family_ops.log_predictive(statistics, prepared, index, topic) for topic in range(4)])
    members = np.arange(3, 8, dtype=np.int32)
    for index in members:
        family_ops.add(statistics, prepared, index, bench)
    logs = [
        family_ops.log_block_predictive(statistics, prepared, members, bench, topic) for topic in range(3)
    ]
    logs.append(family_ops.log_marginal(statistics, bench))
    total = family_ops.fill_block_weights(statistics, prepared, members, bench, prior_weights, 4, out)
    check(total, logs)


@pytest.mark.parametrize("slots", [1, 3, 4])
def test_log_marginals_by_blocks_of_categories(slots):
    """The first slots only, or all, and the same for any number of workers."""
    family = Categorical(2100, 0.3)
    statistics = family.empty_statistics(4)
    words = np.random.default_rng(5).integers(2100, size=500).astype(np.int32)
    for place in range(len(words)):
        family_ops.add(statistics, words, place, place % 3)
    plain = np.zeros(slots)
    fill_log_marginals(statistics, plain)
    for workers in (1, 2):
        assert np.allclose(family.log_marginals(statistics, slots, Threads(workers)), plain, rtol=1e-12)
