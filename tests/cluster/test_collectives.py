"""Collective operations, and chains in several processes: the same bits, however many there are."""

import copy
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.cluster import collectives
from franchise.cluster.partition import PER_OBSERVATION, split_model
from franchise.cluster.sparse_allreduce import SparseDelta, merged, packed, unpacked
from franchise.htmm import gibbs_finite as finite
from franchise.htmm.htmm_chain import HTMMChain
from franchise.htmm.model import FiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.model.split import partition_groups
from franchise.moves.compose import in_turn
from franchise.parallel.threads import Threads
from franchise.running.starts import make_start, start_streams
from franchise.samplers.registry import resolve
from franchise.sampling import make_model
from franchise.storage import chain_store as sealed
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays

from .in_process import run_chain, run_distributed, together

# --- what peers can ask of each other -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_sums_and_the_rest(size):
    def ask(comm):
        rank = comm.rank
        rows = np.full((10, 2), -1.0)
        block_bounds = np.array([0, 1, 3, 4, 6, 8, 9, 10])
        first, last = comm.local_blocks(7)
        rows[block_bounds[first] : block_bounds[last]] = np.arange(block_bounds[first], block_bounds[last])[
            :, None
        ]
        comm.allgather_rows(block_bounds, rows)
        handed = comm.alltoall([(rank, number) for number in range(5)])
        return (
            comm.allreduce(np.array([1, rank])),
            comm.allreduce_min(np.array([float(rank), -float(rank)])),
            comm.allgather(rank),
            comm.allgather_concat(np.array([rank, rank])),
            rows,
            handed,
        )

    for rank, (total, least, gathered, joined, rows, handed) in enumerate(together(size, ask)):
        assert total.tolist() == [size, size * (size - 1) // 2]
        assert least.tolist() == [0.0, -(size - 1.0)]
        assert gathered == list(range(size))
        assert joined.tolist() == [each for each in range(size) for _ in range(2)]
        assert np.array_equal(rows, np.repeat(np.arange(10.0)[:, None], 2, axis=1))
        own = [number for number in range(5) if number % size == rank]
        assert handed == [[(source, number) for source in range(size)] for number in own]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("how", ["shared", "apart", "not seen", "no such memory"])
def test_arrays_in_common(size, how, monkeypatch):
    """Filled by all, one after the other in turn; on one machine there is only one, if all can see it."""
    if how == "not seen":
        monkeypatch.setattr(collectives, "open_shared", lambda place, shape, dtype: None)
    if how == "no such memory":
        monkeypatch.setattr(collectives, "can_share", lambda: False)
    block_bounds = np.array([0, 2, 5, 6])

    def ask(comm):
        first, last = (int(block_bounds[place]) for place in comm.local_blocks(3))
        given, found = [], []
        for turn in range(4):
            rows = comm.shared_array("rows", (6, 2), np.float32)
            rows[first:last] = 10 * turn + np.arange(first, last)[:, None]
            comm.allgather_rows(block_bounds, rows)
            given.append(rows)
            found.append(rows.copy())
        wider = comm.shared_array("rows", (6, 3), np.float32)
        assert wider.shape == (6, 3)
        assert given[0] is given[2]
        assert given[0] is not given[1]
        return found, given[0].ctypes.data

    results = together(size, ask, on_one_machine=how != "apart")
    for found, _ in results:
        for turn, rows in enumerate(found):
            assert np.array_equal(rows, np.repeat(10 * turn + np.arange(6.0)[:, None], 2, axis=1))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_what_is_added_one_after_the_other(size):
    """Rounded sums have an order: that of a single peer, to the last bit."""
    numbers = np.random.default_rng(0).normal(0.0, 1e6, 1000) ** 3
    expected = 0.0
    for number in numbers:
        expected += number

    def ask(comm):
        total, count = np.zeros(1), np.zeros(1, np.int64)
        with comm.in_turn([total, count]):
            for number in np.array_split(numbers, size)[comm.rank]:
                total[0] += number
                count[0] += 1
        return total[0], count[0]

    assert together(size, ask) == [(expected, 1000)] * size


@pytest.mark.parametrize("size", [2, 3])
def test_counts_that_change_little(size):
    rng = np.random.default_rng(0)
    counts = [rng.integers(0, 1000, size=(50, 8)).astype(np.int32) for _ in range(size)]
    later = []
    for each in counts:
        changed = each.copy()
        changed[rng.integers(50, size=3), rng.integers(8, size=3)] += 7
        later.append(changed)

    def ask(comm):
        first, second, wider = counts[comm.rank].copy(), later[comm.rank].copy(), np.ones((50, 9), np.int32)
        comm.allreduce_sparse("n", first)
        sent = comm.sent
        comm.allreduce_sparse("n", second)
        comm.allreduce_sparse("n", wider)
        return first, second, wider, sent, comm.sent

    for first, second, wider, sent, in_all in together(size, ask):
        assert np.array_equal(first, sum(counts))
        assert np.array_equal(second, sum(later))
        assert np.array_equal(wider, np.full((50, 9), size))
        assert in_all - sent < sent  # of the second time, and a third of ones


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(12, np.int32),
        np.arange(-300, 300, dtype=np.int64),
        np.array([0, 0, 127, 0, 0, 0, -128, 0, 0, 0, 0, 0], np.int32),
        np.array([0] * 100 + [2**40]),
    ],
)
def test_changes_are_packed_and_merged(array):
    places = np.flatnonzero(array).astype(np.uint32)
    changes = SparseDelta(places, array[places])
    there = packed(changes, len(array))
    back = unpacked(there)
    assert np.array_equal(back.places, places)
    assert np.array_equal(back.values, array[places])
    both = merged([changes, SparseDelta(np.array([1, 11], np.uint32), np.array([5, -5]))])
    expected = array.astype(np.int64)
    expected[[1, 11]] += [5, -5]
    summed = np.zeros_like(expected)
    summed[both.places] = both.values
    assert np.array_equal(summed, expected)
    assert (np.diff(both.places.astype(np.int64)) > 0).all()


# --- chains -------------------------------------------------------------------------------------------------


def corpus_of(documents=400, length=60, vocabulary=3000, topics=8, seed=1):
    return fr.synthetic.planted_topics(
        seed, documents, vocabulary, topics, median_length=length, topic_concentration=50.0
    ).data


def case_of(data, family, sampler, start=None):
    model = make_model(data, family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    resolved = resolve(sampler, model)
    state = make_start(start, model, resolved.view, data.to_grouped_order, start_streams(5, 0))
    return model, resolved.schedule, state


def small_blocks(monkeypatch):
    monkeypatch.setattr("franchise.kernels.runtime.blocks.BLOCK_SIZE", 1024)


def assert_same(model, schedule, state, sweeps, warmup, sizes=(2, 3)):
    expected, last = run_chain(model, schedule, state, sweeps, warmup)
    for size in sizes:
        results = run_distributed(size, model, schedule, state, sweeps, warmup)
        for traced, _ in results:
            assert traced == expected
        parts = [state_to_arrays(part, model.family) for _, part in results]
        held = [{name: array for name, array in part.items() if name in PER_OBSERVATION} for part in parts]
        arrays = {**parts[0], **sealed.joined(held)}
        expected_arrays = state_to_arrays(last, model.family)
        assert all(np.array_equal(arrays[name], array) for name, array in expected_arrays.items())
        whole = state_from_arrays(arrays, model.data, model.family)
        whole.check_consistency(model.data, model.family)


FIXED, LEARNED = 0.1, fr.Gamma(1.0, 10.0)


@pytest.mark.parametrize(
    ("sampler", "prior"),
    [
        pytest.param("parallel", LEARNED, marks=pytest.mark.slow),
        ("finite", FIXED),
        pytest.param("slice", FIXED, marks=pytest.mark.slow),
        pytest.param("parallel", FIXED, marks=pytest.mark.slow),
        pytest.param("finite", LEARNED, marks=pytest.mark.slow),
        pytest.param("slice", LEARNED, marks=pytest.mark.slow),
    ],
)
def test_samplers_of_words(sampler, prior, monkeypatch):
    small_blocks(monkeypatch)
    data = corpus_of()
    model, schedule, state = case_of(data, fr.Categorical(data.vocabulary_size, prior), sampler, 20)
    assert_same(model, schedule, state, sweeps=24, warmup=12)


@pytest.mark.slow
def test_few_categories(monkeypatch):
    """So few that they are one block."""
    small_blocks(monkeypatch)
    data = corpus_of(vocabulary=300)
    model, schedule, state = case_of(data, fr.Categorical(data.vocabulary_size, 0.1), "parallel", 20)
    assert_same(model, schedule, state, sweeps=12, warmup=6)


def test_every_distributed_move(monkeypatch):
    """Each in every sweep, which recipes do not."""
    small_blocks(monkeypatch)
    data = corpus_of()
    moves = in_turn(
        fr.moves.FixedTopicsSweep(),
        fr.moves.DocumentSweep(),
        fr.moves.TableSweep(),
        fr.moves.LaunchSplitMerge(n_proposals=6),
        fr.moves.UniformWeights(),
        fr.moves.TopicWeights(),
        fr.moves.Concentrations(),
    )
    model, _, state = case_of(data, fr.Categorical(data.vocabulary_size, 0.1), "parallel", 5)
    assert_same(model, moves, state, sweeps=15, warmup=0)


def test_trees_of_groups(monkeypatch):
    """Every distributed move of the weights view, in a tree with data at inner nodes."""
    small_blocks(monkeypatch)
    rng = np.random.default_rng(4)
    rows = [
        (f"{cohort}", f"{rng.integers(3)}", f"{rng.integers(20)}") for cohort in "AB" for _ in range(2000)
    ]
    rows += [("A", "0", None)] * 40
    groups = pd.DataFrame(rows, columns=["cohort", "patient", "sample"])
    data = fr.Groups(rng.integers(0, 30, len(rows)), groups=groups)
    moves = in_turn(
        fr.moves.FixedTopicsSweep(),
        fr.moves.DocumentSweep(),
        fr.moves.TableGibbs(),
        fr.moves.UniformWeights(),
        fr.moves.TopicWeights(),
        fr.moves.Concentrations(),
    )
    model, _, state = case_of(data, fr.Categorical(30, 0.1), "parallel", 5)
    assert model.data.tree.is_deep
    assert_same(model, moves, state, sweeps=8, warmup=0)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["parallel", "finite", "slice"])
def test_samplers_of_zeros_and_ones(sampler, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(3)
    rows = rng.random((6000, 5)) < np.repeat(rng.random((4, 5)), 1500, axis=0)
    data = fr.Groups(rows.astype(int), rng.integers(60, size=6000))
    model, schedule, state = case_of(data, fr.Bernoulli(5), sampler, 6)
    assert_same(model, schedule, state, sweeps=10, warmup=5)


ROUNDED = {
    "poisson": fr.Poisson(1.0, 0.2),
    "negative binomial": fr.NegativeBinomial(1.0, 0.2, grid_size=6),
    "multinomial": fr.Multinomial(5, 0.5),
    "multinomial, learned": fr.Multinomial(5, fr.Gamma(1.0, 2.0)),
    "dirichlet-multinomial": fr.DirichletMultinomial(5, 0.5, grid_size=4),
    "gaussian, known": fr.GaussianKnownPrecision(2, 0.1, 1.0),
    "gaussian, diagonal": fr.GaussianDiagonal(2),
    "gaussian, full": fr.GaussianFull(2),
    "gaussian, independent": fr.GaussianIndependent(2),
}


def rounded_data(name, size=4000):
    rng = np.random.default_rng(3)
    which = rng.integers(4, size=size)
    if "multinomial" in name:
        rows = rng.multinomial(rng.integers(0, 30, size), rng.dirichlet(np.ones(5), 4)[which])
    elif name in ("poisson", "negative binomial"):
        rows = rng.poisson(np.array([1.0, 5.0, 15.0, 40.0])[which])
    else:
        rows = rng.normal(0.0, 5.0, (4, 2))[which] + rng.normal(size=(size, 2))
    return fr.Groups(rows, rng.integers(60, size=size))


@pytest.mark.parametrize(
    ("name", "sampler"),
    [
        ("gaussian, known", "parallel"),
        *(
            pytest.param(name, sampler, marks=pytest.mark.slow)
            for name in ROUNDED
            for sampler in ("parallel", "finite", "slice")
        ),
    ],
)
def test_statistics_that_are_rounded(name, sampler, monkeypatch):
    """One peer counts after the other, so that even the last bits do not depend on how many there are."""
    small_blocks(monkeypatch)
    model, schedule, state = case_of(rounded_data(name), ROUNDED[name], sampler, 6)
    assert_same(model, schedule, state, sweeps=8, warmup=6)


def test_shares_of_groups(monkeypatch):
    small_blocks(monkeypatch)
    sizes = np.array([3000, 0, 10, 500, 700, 20, 20000, 5, 1, 0])
    for size in (1, 2, 3, 50):
        shares = partition_groups(sizes, [1] * size)
        assert 1 <= len(shares) <= size
        assert shares[0].first_block == 0
        assert shares[-1].last_block == len(shares[0].block_bounds) - 1
        assert all(one.last_block == other.first_block for one, other in itertools.pairwise(shares))
        assert all(share.last_block > share.first_block for share in shares)
        assert sum(int(share.sizes[share.groups].sum()) for share in shares) == sizes.sum()
        firsts = [share.first_observation for share in shares]
        assert firsts == [int(sizes[: share.groups.start].sum()) for share in shares]


@pytest.mark.parametrize("learned", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_segments(learned, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(4)
    texts = [
        [rng.integers(40 * topic, 40 * topic + 60, size=rng.integers(1, 9)).tolist() for topic in order]
        for order in rng.integers(4, size=(300, 6))
    ]
    corpus = fr.Corpus.from_sentences(
        [[[f"w{word}" for word in sentence] for sentence in text] for text in texts]
    )
    alpha, eta = (fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 10.0)) if learned else (0.5, 0.1)
    model = FiniteModel(Prepared.of(corpus), 5, alpha, eta, (1.0, 1.0))
    state = finite.start_at_random(model, start_streams(5, 0), Threads(1))
    whole = HTMMChain(model, copy.deepcopy(state), 5, 0, 3, Threads(2))
    expected = [whole.sweep() for _ in range(12)]
    for size in (2, 3):
        parts = split_model(model, [1] * size)
        assert len(parts) == size

        def run(comm, parts=parts):
            part = parts[comm.rank].with_comm(comm)
            own = slice(*part.span)
            begin = replace(state, topics=state.topics[own].copy(), switches=state.switches[own].copy())
            chain = HTMMChain(part, begin, 5, 0, 3, Threads(2))
            return [chain.sweep() for _ in range(12)], chain.state.topics

        results = together(size, run)
        assert all(traced == expected for traced, _ in results)
        assert np.array_equal(np.concatenate([topics for _, topics in results]), whole.state.topics)
