"""Blocked sweeps: the same bits on any number of threads, counts right, sweeps by cells chosen where they pay."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.runtime import blocks
from franchise.model.state import CellCounts
from franchise.moves import (
    BlockedSweep,
    CellSweep,
    Concentrations,
    LaunchSplitMerge,
    TopicWeights,
    block_sweep,
)
from franchise.moves import group_weights as blocked
from franchise.moves.group_weights import heights_of, usual_cutoffs
from franchise.running import subsample_start
from franchise.samplers.registry import resolve
from tests.moves.test_document_sweep import corpus, draws, groups, same


def counts(total: int = 30_000, seed: int = 0) -> fr.Corpus:
    """Few cells with many counts: 12 groups, 10 categories."""
    rng = np.random.default_rng(seed)
    topics, weights = rng.dirichlet(np.full(10, 0.2), 3), rng.dirichlet(np.ones(3), 12)
    return fr.Corpus.from_matrix(rng.multinomial(total // 12, weights @ topics))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of some 200 observations, or 10 cells."""
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 200)
    monkeypatch.setattr(block_sweep, "CELLS_IN_BLOCK", 10)


@pytest.mark.parametrize("kind", ["poisson", "gaussian"])
def test_same_bits_on_any_number_of_threads(small_blocks, kind):
    data, family = groups(kind)
    alone = draws(data, family, [BlockedSweep(), Concentrations()], 1)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, [BlockedSweep(), Concentrations()], workers))


def test_same_bits_by_cells(small_blocks):
    data, family = corpus(), fr.Categorical(300, 0.1)
    alone = draws(data, family, [CellSweep(), Concentrations()], 1)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, [CellSweep(), Concentrations()], workers))
    assert not np.array_equal(
        alone.labels, draws(data, family, [CellSweep(), Concentrations()], 2, seed=6).labels
    )


@pytest.mark.parametrize("move", [BlockedSweep(), CellSweep(), CellSweep(cutoff=0.001)], ids=repr)
def test_counts_are_right_after_every_sweep(small_blocks, move):
    data, family = corpus(30), fr.Categorical(300, 0.3)
    state: object = 5
    for sweep in range(6):
        settings = {"draws": 1, "warmup": 0, "seed": sweep, "start": state, "gamma": fr.Gamma(5.0, 1.0)}
        posterior = draws(data, family, [move, Concentrations()], 2, **settings)
        state = posterior.states[0]
        state.check_consistency(posterior.model.data, family)
        assert state.observations_per_topic.sum() == data.n_observations


def test_every_observation_is_visited_once_a_sweep(small_blocks, monkeypatch):
    original, visited = blocked.kernels.draw_given_shares, []

    def watch(*arguments):
        offsets = arguments[2]
        visited.extend(range(offsets[0], offsets[-1]))
        return original(*arguments)

    monkeypatch.setattr(blocked.kernels, "draw_given_shares", watch)
    data, family = groups("poisson")
    draws(data, family, [BlockedSweep(), TopicWeights()], 2, draws=1, warmup=0)
    assert sorted(visited) == list(range(data.n_observations))


def test_every_cell_is_visited_once_a_sweep(small_blocks, monkeypatch):
    """Every cell is drawn by just one block, and keeps its number of observations."""
    original, visited = blocked._draw_cells, []

    def watch(context, block, *rest):
        counts = original(context, block, *rest)
        visited.extend(range(block.items.start, block.items.stop))
        np.testing.assert_array_equal(counts.sum(axis=1), context.state.cells.counts[block.items])
        return counts

    monkeypatch.setattr(blocked, "_draw_cells", watch)
    data = corpus(30)
    posterior = draws(data, fr.Categorical(300, 0.3), [CellSweep(), TopicWeights()], 2, draws=1, warmup=0)
    assert sorted(visited) == list(range(len(posterior.states[0].cells.counts)))


def test_topics_open_and_close():
    data, family = counts(600), fr.Categorical(10, 0.3)
    settings = {"draws": 60, "start": 1, "alpha": 3.0, "gamma": 5.0}
    for sampler in ([BlockedSweep(), TopicWeights()], [CellSweep(), TopicWeights()]):
        topics = draws(data, family, sampler, 1, **settings).trace["n_topics"][0]
        assert topics.max() > 1
        assert (np.diff(topics) < 0).any()


def test_large_counts_go_by_cells_by_themselves(small_blocks, monkeypatch):
    monkeypatch.setattr(subsample_start, "SAMPLE", 1500)
    data, family = counts(), fr.Categorical(10, 0.3)
    alone = draws(data, family, "parallel", 1, start=None, chains=2)
    assert all(isinstance(state, CellCounts) for state in alone.states)
    for workers in (2, 8):
        same(alone, draws(data, family, "parallel", workers, start=None, chains=2))
    for state in alone.states:
        state.check_consistency(alone.model.data, family)
        assert 1 < state.topic_count < 30
    assert any(isinstance(move, CellSweep) for move in resolve("parallel", alone.model).schedule.parts)


def test_a_start_from_a_sample_is_found_by_observations_however_few_the_cells():
    """The sample, too, has more than enough in each cell; by cells alone one topic would stay one."""
    posterior = draws(counts(), fr.Categorical(10, 0.3), "parallel", 2, start=None, draws=1, warmup=0)
    assert isinstance(posterior.states[0], CellCounts)
    assert posterior.states[0].topic_count > 1


def test_text_does_not_go_by_cells():
    posterior = draws(corpus(), fr.Categorical(300, 0.1), "parallel", 2)
    assert posterior.model.observations_per_cell < 3.0
    assert not isinstance(posterior.states[0], CellCounts)


def test_a_run_by_cells_survives_an_interruption(tmp_path):
    data, family = counts(), fr.Categorical(10, fr.Gamma(1.0, 2.0))
    settings = {"sampler": "parallel", "warmup": 2, "chains": 1, "seed": 3, "start": 4, "progress": False}
    whole = fr.sample(data, family, draws=9, keep_labels=True, **settings)
    fr.sample(data, family, draws=4, keep_labels=True, run_dir=tmp_path / "run", **settings)
    same(whole, fr.resume(tmp_path / "run", draws=9, progress=False))


def test_heights_are_steps_below_the_weights():
    shares = np.array([[0.9, 0.05, 0.04, 1e-3, 1e-200, 0.0]])
    heights = heights_of(shares, np.array([0.04]))
    np.testing.assert_allclose(heights[0, :4], [0.04, 0.04, 0.04, 0.04 / 64], rtol=1e-12)
    assert (heights <= shares).all()
    assert heights[0, 4] > 0.0
    assert heights[0, 5] == 0.0


def test_the_usual_cutoffs_depend_on_no_topic():
    data = counts()
    few, many = (draws(data, fr.Categorical(10, 0.3), [CellSweep()], 1, start=topics) for topics in (2, 9))
    cells = np.diff(few.states[0].cells.offsets)
    one = usual_cutoffs(few.model, few.states[0], None, cells)
    np.testing.assert_array_equal(one, usual_cutoffs(many.model, many.states[0], None, cells))
    assert (one > 0.0).all()
    assert (one <= 1.0).all()


def test_bad_settings():
    with pytest.raises(fr.InputError, match="cutoff"):
        BlockedSweep(cutoff=0.0)
    with pytest.raises(fr.InputError, match="cutoff"):
        CellSweep(cutoff=-1.0)
    data = fr.Groups([1, 2, 3], [0, 0, 1])
    with pytest.raises(fr.InputError, match="BlockedSweep"):
        fr.sample(data, fr.Poisson(), sampler=[CellSweep(), Concentrations()], draws=2, progress=False)


class NeitherConjugateNorProposing(fr.GaussianIndependent):
    """A family without proposals of parameters."""

    propose_parameters = fr.Family.propose_parameters


def test_splits_need_parameters_to_be_integrated_out_or_proposed():
    data, family = fr.Groups([1.0, 2.0, 3.0], [0, 0, 1]), NeitherConjugateNorProposing(1)
    with pytest.raises(fr.InputError, match="propose_parameters"):
        fr.sample(
            data,
            family,
            sampler=[BlockedSweep(), LaunchSplitMerge(), Concentrations()],
            draws=2,
            progress=False,
        )
    assert fr.sample(data, family, sampler="parallel", draws=2, chains=1, progress=False)
