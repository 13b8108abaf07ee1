"""Document-collapsed sweeps: the same bits on any number of threads, every observation drawn once, counts right."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels import document_sweep, word_sweep, word_sweep_slices
from franchise.kernels.runtime import blocks
from franchise.kernels.runtime.blocks import next_block
from franchise.model.state import Weights
from franchise.model.state.cell_tables import log_likelihood
from franchise.moves import (
    Concentrations,
    DocumentSweep,
    FixedTopicsSweep,
    LaunchSplitMerge,
    TopicPrior,
    TopicWeights,
    at_random,
    in_turn,
)
from franchise.moves.document import topic_gammas as gammas
from franchise.moves.document.document_sweep import usual_cutoff
from franchise.parallel import Threads
from franchise.running.chain import Chain
from franchise.sampling import make_model

SWEEPS = [DocumentSweep(), FixedTopicsSweep(freeze_probability=0.05)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of some 200 observations, so that little data has many of them."""
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 200)


def corpus(documents: int = 60, seed: int = 1) -> fr.Corpus:
    return fr.synthetic.planted_topics(seed, documents=documents, vocabulary=300, topics=8).data


def groups(kind: str) -> tuple[fr.Groups, fr.Family]:
    rng = np.random.default_rng(3)
    labels = np.sort(rng.integers(0, 30, 2000))
    topics = rng.integers(0, 3, 2000)
    if kind == "poisson":
        return fr.Groups(rng.poisson([1, 8, 30], (2000, 3))[np.arange(2000), topics], labels), fr.Poisson(
            1.0, 0.1
        )
    points = rng.normal(size=(2000, 2)) + 5.0 * topics[:, None]
    return fr.Groups(points, labels), fr.GaussianDiagonal(2)


def draws(data, family, sampler, workers: int, **settings):
    settings = {"draws": 6, "warmup": 2, "chains": 1, "seed": 5, "start": 12, **settings}
    if not isinstance(sampler, str) and not any(isinstance(move, Concentrations) for move in sampler):
        settings = {"alpha": 1.5, "gamma": 1.5, **settings}
    return fr.sample(
        data, family, sampler=sampler, workers=workers, keep_labels=True, progress=False, **settings
    )


def same(one: fr.Posterior, other: fr.Posterior) -> None:
    np.testing.assert_array_equal(one.labels, other.labels)
    for name, values in one.trace.items():
        if name != "seconds":
            np.testing.assert_array_equal(values, other.trace[name], err_msg=name)


@pytest.mark.parametrize("move", SWEEPS, ids=lambda move: type(move).__name__)
@pytest.mark.parametrize("prior", [0.1, fr.Gamma(1.0, 10.0), "vector"], ids=str)
def test_same_bits_on_any_number_of_threads(small_blocks, move, prior):
    data = corpus()
    eta = np.linspace(0.05, 1.2, 300) if isinstance(prior, str) else prior
    family = fr.Categorical(300, eta)
    sampler = [move, Concentrations()] + ([TopicPrior()] if isinstance(prior, fr.Gamma) else [])
    alone = draws(data, family, sampler, 1)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, sampler, workers))
    assert not np.array_equal(alone.labels, draws(data, family, sampler, 2, seed=6).labels)


@pytest.mark.parametrize("kind", ["poisson", "gaussian"])
@pytest.mark.parametrize("move", SWEEPS, ids=lambda move: type(move).__name__)
def test_same_bits_for_other_families(small_blocks, move, kind):
    data, family = groups(kind)
    alone = draws(data, family, [move, Concentrations()], 1)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, [move, Concentrations()], workers))


def test_same_bits_for_the_sampler_and_for_chains_side_by_side(small_blocks):
    data, family = corpus(), fr.Categorical(300, 0.1)
    together = draws(data, family, "parallel", 3, chains=2)
    for workers in (1, 2, 8):
        same(together, draws(data, family, "parallel", workers, chains=2))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("move", [DocumentSweep, FixedTopicsSweep])
def test_counts_are_right_after_every_sweep(small_blocks, move, sparse):
    data, family = corpus(30), fr.Categorical(300, 0.3)
    state: object = 5
    for sweep in range(12):
        settings = {"draws": 1, "warmup": 0, "seed": sweep, "start": state, "gamma": 5.0}
        posterior = draws(data, family, [move(sparse=sparse), TopicWeights()], 2, **settings)
        state = posterior.states[0]
        state.check_consistency(posterior.model.data, family)
        assert state.cell_tables.customers.sum() == data.n_observations


@pytest.mark.parametrize(
    "move", [DocumentSweep(), FixedTopicsSweep(freeze_probability=1e-9)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("kernel", [pytest.param("sparse", marks=pytest.mark.slow), "any"])
def test_every_observation_is_visited_once_a_sweep(small_blocks, monkeypatch, move, kernel):
    """Every observation is in exactly one block that is swept; within it, groups are gone over once."""
    visited = []

    def watching(original, offsets, groups):
        def watch(*arguments):
            first, last = arguments[groups]
            visited.extend(range(arguments[offsets][first], arguments[offsets][last]))
            return original(*arguments)

        return watch

    def watch(module, name, places):
        """Watch the blocks of a kernel; `places` are those of the arguments offsets and groups."""
        monkeypatch.setattr(module, name, getattr(module, name).py_func)  # not compiled: it can be watched
        block = numba.njit(getattr(module, name + "_block"))
        monkeypatch.setattr(module, name + "_block", watching(block, *places))

    if kernel == "any":
        monkeypatch.setattr(document_sweep, "sweep_any", watching(document_sweep.sweep_any, 2, 4))
    elif isinstance(move, DocumentSweep):
        watch(word_sweep_slices, "sweep_slices", (2, 3))
    else:
        watch(word_sweep, "sweep_settled", (1, 2))
        for other in ("mark_settled_in", "fill_shared", "count_and_score"):
            monkeypatch.setattr(word_sweep, other, numba.njit(getattr(word_sweep, other)))
    data = corpus()
    chosen = type(move)(sparse=kernel == "sparse")
    draws(data, fr.Categorical(300, 0.1), [chosen, TopicWeights()], 2, draws=1, warmup=0)
    assert sorted(visited) == list(range(data.n_observations))


def test_topics_open_and_close(small_blocks):
    data = corpus()
    fixed = {"alpha": 2.0, "gamma": 20.0}
    posterior = draws(data, None, [DocumentSweep(), TopicWeights()], 2, draws=60, start=1, **fixed)
    counts = posterior.trace["n_topics"][0]
    assert counts.max() > 3
    assert (np.diff(counts) < 0).any()


def test_settled_sweeps_neither_open_nor_close(small_blocks):
    data = corpus()
    posterior = draws(data, None, [FixedTopicsSweep(), Concentrations()], 2, draws=40)
    assert set(posterior.trace["n_topics"].ravel()) == {12}


def test_moves_may_be_mixed_freely():
    from franchise.moves import CrfGibbs, DirectAssignment

    mixed = [
        at_random((DocumentSweep(), 0.5), (DirectAssignment(), 0.5)),
        CrfGibbs(tables=False),
        Concentrations(),
    ]
    posterior = draws(corpus(), None, mixed, 2)
    posterior.states[0].check_consistency(posterior.model.data, posterior.family)


def test_the_usual_cutoff_depends_on_no_topic():
    data = corpus()
    one, other = (draws(data, None, "parallel", 1, start=start, draws=1, warmup=0) for start in (2, 40))
    for posterior in (one, other):
        posterior.states[0].group_concentration = posterior.states[0].top_concentration = 1.5
    assert usual_cutoff(one.model, one.states[0]) == usual_cutoff(other.model, other.states[0]) < 1.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DocumentSweep(cutoff=0.0), ["cutoff", "0.0"]),
        (lambda: FixedTopicsSweep(freeze_probability=-1.0), ["freeze_probability", "-1.0"]),
        (lambda: FixedTopicsSweep(freeze_probability=1.0), ["freeze_probability", "below 1"]),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(fr.InputError) as caught:
        make()
    assert all(word in str(caught.value) for word in words)


def test_sparse_kernels_are_for_categories():
    data, family = groups("poisson")
    with pytest.raises(fr.InputError, match="sparse=True"):
        draws(data, family, [DocumentSweep(sparse=True)], 1)


@pytest.mark.parametrize("sampler", ["parallel", "finite", [DocumentSweep()], [FixedTopicsSweep()]])
def test_a_family_must_draw_parameters(sampler):
    class NoDraws(fr.Poisson):
        draw_parameters = fr.Family.draw_parameters

    data, _ = groups("poisson")
    with pytest.raises(fr.InputError, match=r"NoDraws lacks.*DRAWS_PARAMETERS.*Write draw_parameters"):
        draws(data, NoDraws(), sampler, 1)


def test_a_fault_in_a_block_ends_the_run_and_is_named(small_blocks, monkeypatch):
    import threading

    def broken(stages, *arguments):
        next_block(stages.marking)
        raise RuntimeError("no flour")

    monkeypatch.setattr(word_sweep, "sweep_settled", broken)
    before = threading.active_count()
    with pytest.raises(fr.InternalError, match=r"block \d+ of \d+ failed: RuntimeError: no flour"):
        draws(corpus(), None, [FixedTopicsSweep(), Concentrations()], 2)
    assert threading.active_count() == before


def test_the_finite_model_has_the_same_bits_and_no_more_topics(small_blocks):
    data, family = corpus(), fr.Categorical(300, 0.1)
    alone = draws(data, family, "finite", 1, finite_topics=15)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, "finite", workers, finite_topics=15))
    assert alone.trace["n_topics"].max() <= 15
    with pytest.raises(fr.InputError, match="finite_topics"):
        draws(data, family, "finite", 1, finite_topics=8)


@pytest.mark.parametrize("sampler", ["parallel", "slice"])
def test_parameters_that_are_kept_survive_an_interruption(tmp_path, sampler):
    rng = np.random.default_rng(1)
    data = fr.Groups(rng.normal(size=400) + 6.0 * rng.integers(0, 3, 400), np.repeat(np.arange(20), 20))
    family = fr.GaussianIndependent(1)
    settings = {
        "sampler": sampler,
        "warmup": 0,
        "chains": 1,
        "seed": 3,
        "progress": False,
        "keep_labels": True,
    }
    whole = fr.sample(data, family, draws=12, **settings)
    fr.sample(data, family, draws=5, run_dir=tmp_path / "run", **settings)
    same(whole, fr.resume(tmp_path / "run", draws=12, progress=False))
    assert np.isfinite(whole.trace["log_likelihood_per_observation"]).all()


def test_collapsed_samplers_refuse_a_family_that_is_not_conjugate():
    data = fr.Groups([1.0, 2.0, 3.0], [0, 0, 1])
    for sampler in ("crf", "direct", "split-merge"):
        with pytest.raises(fr.InputError, match="conjugate"):
            fr.sample(data, fr.GaussianIndependent(1), sampler=sampler, draws=2, progress=False)
    table = fr.sampler_table().set_index("name")
    assert table["non_conjugate"].to_dict()["parallel"]


@pytest.mark.parametrize("sure", [gammas.SURE, np.inf], ids=["by table", "in logs"])
def test_fresh_topics_are_drawn_from_the_prior(monkeypatch, sure):
    """Three topics over 20 words: reached by 3 of them, by all, by none."""
    monkeypatch.setattr(gammas, "SURE", sure)
    prior, sizes, rest = np.full(20, 0.5), np.array([4, 21, 1]), np.array([8.5, 0.0, 10.0])
    rng = np.random.default_rng(0)
    drawn = np.array([gammas.draw_fresh_gammas(prior, sizes, rest, rng, np.inf) for _ in range(10_000)])
    few, all_words, none = drawn[:, :4], drawn[:, 4:25], drawn[:, 25:]
    assert (all_words[:, -1] == 0.0).all()
    assert (none > 0.0).all()
    shares = few[:, :3].sum(axis=1) / few.sum(axis=1)
    assert stats.kstest(shares, stats.beta(1.5, 8.5).cdf).pvalue > SMALLEST_P
    assert (
        stats.kstest(shares, stats.beta(1.5, 9.0).cdf).pvalue < SMALLEST_P
    )  # half a word too many would show
    shares = all_words[:, 7:10].sum(axis=1) / all_words.sum(axis=1)
    assert stats.kstest(shares, stats.beta(1.5, 8.5).cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize("prior", [0.1, fr.Gamma(1.0, 10.0)], ids=str)
def test_the_traced_likelihood_is_that_of_the_state(small_blocks, monkeypatch, prior):
    """Sweeps work it out on the way; splits, a new prior and other sweeps make it stale."""
    monkeypatch.setattr(blocks, "CATEGORIES_IN_BLOCK", 100)
    data, family = corpus(), fr.Categorical(300, prior)
    model = make_model(data, family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    moves = [
        at_random((FixedTopicsSweep(), 2.0), (DocumentSweep(), 1.0), (in_turn(), 1.0)),
        at_random((LaunchSplitMerge(), 1.0), (in_turn(), 1.0)),
        Concentrations(),
        *([TopicPrior()] if isinstance(prior, fr.Gamma) else []),
    ]
    labels = np.random.default_rng(0).integers(12, size=data.n_tokens, dtype=np.int32)
    state = Weights.from_topics(model.data, family, labels, 1.0, 1.0)
    chain = Chain(model, in_turn(*moves), state, 3, 0, 0, Threads(2))
    for _ in range(40):
        traced = chain.sweep()["log_likelihood_per_observation"]
        anew = chain.state.copy()
        anew.recount(model.data)
        assert traced * data.n_tokens == pytest.approx(log_likelihood(anew), rel=1e-10)
