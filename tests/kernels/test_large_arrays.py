"""Narrow numbers and mapped files: less memory, and the same draws."""

import numpy as np
import pytest

import franchise as fr
from franchise import validation
from franchise.diagnostics.coherence import _has_order
from franchise.kernels.runtime import large_arrays
from franchise.kernels.runtime.large_arrays import large_empty, type_for
from franchise.parallel.threads import Threads
from franchise.running.starts import make_start, start_streams
from franchise.samplers.registry import resolve
from franchise.sampling import make_model

DATA = fr.synthetic.planted_topics(1, 60, 300, 5, median_length=40).data
SETTINGS = {"draws": 3, "warmup": 8, "chains": 1, "seed": 2, "progress": False, "keep_labels": True}


def draw(data, sampler, **more):
    family = fr.Categorical(data.vocabulary_size, 0.1)
    return fr.sample(data, family, sampler=sampler, **{**SETTINGS, **more})


def assert_same(one, other):
    assert np.array_equal(one.labels, other.labels)
    for name in set(one.trace) - {"seconds"}:
        assert np.array_equal(one.trace[name], other.trace[name], equal_nan=True), name


def is_mapped(array):
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(large_arrays, "NARROW_FROM", 0)


@pytest.fixture
def short_of_memory(monkeypatch):
    monkeypatch.setattr(large_arrays, "LARGE", 0)
    monkeypatch.setattr(validation, "available_memory", lambda: 2**28)
    monkeypatch.setattr(large_arrays, "SHARE", 2**30)


@pytest.mark.parametrize(
    ("largest", "few", "many"),
    [(0, "int32", "uint8"), (255, "int32", "uint8"), (256, "int32", "uint16"), (2**16, "int32", "int32")],
)
def test_types(largest, few, many):
    assert type_for(10, largest) == few
    assert type_for(large_arrays.NARROW_FROM, largest) == many


@pytest.mark.parametrize(
    "sampler",
    [
        "parallel",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("direct", "finite", "subcluster")),
    ],
)
def test_the_same_draws_from_narrow_numbers(sampler, monkeypatch):
    expected = draw(DATA, sampler)
    monkeypatch.setattr(large_arrays, "NARROW_FROM", 0)
    found = draw(DATA, sampler)
    assert found.states[0].topic_of_observation.dtype == np.uint8
    assert_same(expected, found)


@pytest.mark.slow
def test_numbers_widen_when_topics_open(narrow):
    """250 topics and the fresh ones of a sweep do not fit into 8 bits."""
    model = make_model(DATA, fr.Categorical(DATA.vocabulary_size, 0.1), 5.0, 50.0)
    resolved = resolve([fr.moves.DocumentSweep(cutoff=0.001), fr.moves.TopicWeights()], model)
    state = make_start(247, model, resolved.view, DATA.to_grouped_order, start_streams(0, 0))
    assert state.topic_of_observation.dtype == np.uint8
    resolved.schedule.parts[0].step(model, state, start_streams(0, 1), Threads(1))
    assert state.topic_of_observation.dtype == np.uint16
    state.check_consistency(model.data, model.family)


@pytest.mark.slow
def test_the_same_draws_beyond_256_topics(monkeypatch):
    moves = [fr.moves.DocumentSweep(), fr.moves.Concentrations()]
    expected = draw(DATA, moves, start=250, alpha=5.0, gamma=50.0)
    monkeypatch.setattr(large_arrays, "NARROW_FROM", 0)
    assert_same(expected, draw(DATA, moves, start=250, alpha=5.0, gamma=50.0))


@pytest.mark.slow
def test_sub_topics_of_more_topics_than_half_of_256(monkeypatch):
    """Twice their number does not fit into 8 bits."""
    settings = {"start": 200, "alpha": 5.0, "gamma": 50.0, "warmup": 2, "draws": 2}
    expected = draw(DATA, "subcluster", **settings)
    monkeypatch.setattr(large_arrays, "NARROW_FROM", 0)
    found = draw(DATA, "subcluster", **settings)
    assert found.trace["n_topics"][0, 0] > 128
    assert_same(expected, found)


def test_order_of_narrow_words(narrow, tmp_path):
    """Differences of unsigned numbers are never negative."""
    shards = fr.synthetic.write_planted(tmp_path / "corpus", documents=9, vocabulary=50, tokens=300, topics=2)
    corpus = shards.memory_mapped()
    assert corpus.observations.dtype == np.uint8
    assert not _has_order(corpus)  # words of a document ascend
    corpus.__dict__["observations"] = corpus.observations[::-1].copy()
    assert _has_order(corpus)


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", [200, 500])
def test_narrow_words(vocabulary, tmp_path, monkeypatch):
    shards = fr.synthetic.write_planted(
        tmp_path / "corpus", documents=100, vocabulary=vocabulary, tokens=4000, topics=4
    )
    expected = draw(shards.to_corpus(), "parallel")
    monkeypatch.setattr(large_arrays, "NARROW_FROM", 0)
    found = draw(fr.ShardedCorpus(shards.folder), "parallel")
    assert found.data.observations.dtype == (np.uint8 if vocabulary <= 256 else np.uint16)
    assert found.model.memory_mapped.data.observations.dtype == found.data.observations.dtype
    assert_same(expected, found)


def test_where_memory_is_short(short_of_memory, tmp_path):
    """Topics of observations, and where words occur, are in files that are mapped."""
    found = draw(DATA, "parallel")
    assert is_mapped(found.states[0].topic_of_observation)
    assert is_mapped(found.model.category_index.observations)
    shards = fr.synthetic.write_planted(
        tmp_path / "corpus", documents=30, vocabulary=50, tokens=900, topics=2
    )
    words = shards.memory_mapped().words.read()
    assert is_mapped(words)
    assert np.array_equal(words, shards.memory_mapped().observations)


def test_the_same_draws_where_memory_is_short(monkeypatch, short_of_memory):
    found = draw(DATA, "parallel")
    monkeypatch.undo()
    assert_same(draw(DATA, "parallel"), found)


def test_small_arrays_are_in_memory():
    assert not is_mapped(large_empty(1000, np.int32))
    assert large_empty((3, 4), np.int8).shape == (3, 4)


def test_what_a_container_has_left(tmp_path, monkeypatch):
    group = (tmp_path, "memory.max", "memory.current", "inactive_file")
    monkeypatch.setattr(validation, "_GROUPS", (group,))
    free = validation.available_memory()
    assert free > 2**28
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 1000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    for limit, expected in (("10000\n", 8000), ("2500\n", 500), ("1000\n", 0)):
        (tmp_path / "memory.max").write_text(limit)
        assert validation.available_memory() == expected
    (tmp_path / "memory.max").write_text("max\n")
    assert validation.available_memory() > 2**28
