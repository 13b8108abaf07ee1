"""The slice sampler over tables and topics: the same bits anywhere, every observation drawn once, counts right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.moves import Concentrations, SliceSweep
from franchise.moves import slice as slice_sweep
from franchise.moves.slice import break_tables, draw_table_weights
from tests.moves.test_document_sweep import corpus, draws, groups, same, small_blocks  # noqa: F401 (a fixture)


@pytest.mark.parametrize("kind", ["categorical", "poisson", "gaussian"])
def test_same_bits_on_any_number_of_threads(small_blocks, kind):  # noqa: F811
    data, family = (corpus(), fr.Categorical(300, 0.1)) if kind == "categorical" else groups(kind)
    sampler = [SliceSweep(), Concentrations()]
    alone = draws(data, family, sampler, 1)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, sampler, workers))
    assert not np.array_equal(alone.labels, draws(data, family, sampler, 2, seed=6).labels)


def test_every_observation_is_visited_once_a_sweep(small_blocks, monkeypatch):  # noqa: F811
    original, visited = slice_sweep.kernels.draw_block, []

    def spy(parameters, observations, offsets, *rest):
        visited.extend(range(offsets[0], offsets[-1]))
        return original(parameters, observations, offsets, *rest)

    monkeypatch.setattr(slice_sweep.kernels, "draw_block", spy)
    data = corpus()
    draws(data, fr.Categorical(300, 0.1), [SliceSweep()], 3, draws=1, warmup=0)
    assert sorted(visited) == list(range(data.n_observations))


@pytest.mark.parametrize("gamma", [0.01, 50.0])
def test_counts_are_right_after_every_sweep(small_blocks, gamma):  # noqa: F811
    data, family, state = corpus(30), fr.Categorical(300, 0.3), 5
    for sweep in range(8):
        settings = {"draws": 1, "warmup": 0, "seed": sweep, "start": state, "gamma": gamma}
        posterior = draws(data, family, [SliceSweep()], 2, **settings)
        state = posterior.states[0]
        state.check_consistency(posterior.model.data, family)


def test_empty_groups_and_single_observations():
    corpus = fr.Corpus.from_tokens([["a", "b"], [], ["a"], []])
    posterior = fr.sample(
        corpus, sampler="slice", draws=5, warmup=0, keep_labels=True, progress=False, chains=2
    )
    assert posterior.labels.shape == (2, 5, 3)


def test_clusters_that_lie_apart_are_found():
    from sklearn.metrics import normalized_mutual_info_score

    rng = np.random.default_rng(4)
    truth = rng.integers(0, 5, 600)
    points = 10.0 * rng.normal(size=(5, 2))[truth] + rng.normal(size=(600, 2))
    data = fr.Groups(points, np.arange(600) // 20)
    family = fr.GaussianKnownPrecision(2, 0.01, 1.0)
    posterior = draws(data, family, "slice", 2, draws=1, warmup=100, start=10)
    assert normalized_mutual_info_score(truth, posterior.labels[0, 0]) > 0.9


def test_weights_of_tables_are_dirichlet():
    """Two groups: Dirichlet(3, 1, 0.7) and Dirichlet(2, 0.7), over and over."""
    rng = np.random.default_rng(1)
    sizes, tables = np.array([3, 1, 2]), np.array([0, 0, 1])
    drawn = [draw_table_weights(sizes, tables, 2, 0.7, rng) for _ in range(4000)]
    weights, left = (np.array(part) for part in zip(*drawn, strict=True))
    np.testing.assert_allclose(weights[:, :2].sum(axis=1) + left[:, 0], 1.0)
    for values, law in (
        (weights[:, 0], stats.beta(3.0, 1.7)),
        (weights[:, 1], stats.beta(1.0, 3.7)),
        (left[:, 1], stats.beta(0.7, 2.0)),
    ):
        assert stats.kstest(values, law.cdf).pvalue > SMALLEST_P


def test_tables_are_broken_off_as_far_as_slices_reach():
    rng = np.random.default_rng(2)
    left, lowest = np.array([0.5, 0.001, 0.3]), np.array([0.01, 0.01, np.inf])
    weights, groups = break_tables(left, lowest, 2.0, rng)
    assert set(groups) == {0}
    assert 0.5 - weights.sum() < 0.01
    first = [break_tables(left, lowest, 2.0, rng)[0][0] / 0.5 for _ in range(4000)]
    assert stats.kstest(first, stats.beta(1.0, 2.0).cdf).pvalue > SMALLEST_P


def test_a_family_without_parameter_draws_is_refused():
    class NoDraws(fr.Poisson):
        draw_parameters = fr.Family.draw_parameters

    data = fr.Groups([1, 2, 3], [0, 0, 1])
    with pytest.raises(fr.InputError, match=r"SliceSweep needs.*draw the parameters.*NoDraws"):
        fr.sample(data, NoDraws(), sampler="slice", draws=2, progress=False)
