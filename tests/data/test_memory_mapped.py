"""A corpus whose words stay on disk: the same draws as from one in memory."""

import pickle

import numpy as np
import pytest

import franchise as fr
from franchise.data.sharded.sharded_corpus import MappedCorpus
from franchise.errors import InputError

SETTINGS = {"draws": 4, "warmup": 4, "chains": 1, "progress": False, "sampler": "parallel"}


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    return fr.synthetic.write_planted(
        tmp_path_factory.mktemp("shards") / "corpus",
        documents=300,
        vocabulary=500,
        tokens=20_000,
        topics=5,
        shard_tokens=2**16,
    )


def test_the_same_words(shards):
    mapped, whole = shards.memory_mapped(), shards.to_corpus()
    assert isinstance(mapped, MappedCorpus)
    assert isinstance(mapped.observations, np.memmap)
    assert np.array_equal(mapped.observations, whole.observations)
    assert np.array_equal(mapped.offsets, whole.offsets)
    assert np.array_equal(mapped.group_of_observation, whole.group_of_observation)
    assert mapped.vocabulary == whole.vocabulary
    assert mapped.n_observations == whole.n_observations
    assert repr(mapped) == repr(whole).replace("Corpus", "MappedCorpus", 1) or repr(mapped) == repr(whole)


def test_the_file_is_made_once(shards, tmp_path):
    first = shards.memory_mapped()
    made = first.path.stat().st_mtime_ns
    assert shards.memory_mapped().path.stat().st_mtime_ns == made
    elsewhere = shards.memory_mapped(tmp_path / "words.bin")
    assert np.array_equal(elsewhere.observations, first.observations)
    first.path.write_bytes(first.path.read_bytes()[:-4])  # cut off: made anew
    assert np.array_equal(shards.memory_mapped().observations, elsewhere.observations)


def test_the_same_draws(shards, tmp_path):
    expected = fr.sample(shards.to_corpus(), **SETTINGS)
    posterior = fr.sample(shards, run_dir=tmp_path / "run", **SETTINGS)
    for name in set(expected.trace) - {"seconds"}:
        assert np.array_equal(expected.trace[name], posterior.trace[name], equal_nan=True)
    assert posterior.topics().equals(expected.topics())
    assert not any("observations" in str(path) for path in (tmp_path / "run").iterdir())
    assert (tmp_path / "run" / "data.safetensors").stat().st_size < 1000  # the words are not written again
    longer = fr.resume(tmp_path / "run", 6, progress=False)
    assert np.array_equal(longer.trace["log_joint"][:, :4], expected.trace["log_joint"])
    assert isinstance(fr.load(tmp_path / "run").data, MappedCorpus)


def test_another_corpus_in_the_same_place(shards, tmp_path):
    copy = tmp_path / "copy"
    fr.synthetic.write_planted(copy, documents=30, vocabulary=50, tokens=2_000, topics=2)
    fr.sample(fr.open_shards(copy), run_dir=tmp_path / "run", **SETTINGS)
    for path in copy.iterdir():
        path.unlink()
    fr.synthetic.write_planted(copy, documents=30, vocabulary=50, tokens=2_000, topics=2, seed=1)
    with pytest.raises(InputError, match="no longer contains the corpus"):
        fr.load(tmp_path / "run")


def test_pickles_have_no_words(shards):
    again = pickle.loads(pickle.dumps(shards.memory_mapped()))
    assert np.array_equal(again.observations, shards.memory_mapped().observations)
    assert len(pickle.dumps(shards.memory_mapped())) < 4 * shards.n_tokens


def test_the_old_name(shards):
    with pytest.warns(DeprecationWarning, match="memory_mapped"):
        assert isinstance(shards.mapped(), MappedCorpus)


def test_nothing_is_read_before_it_is_needed(shards, tmp_path):
    mapped = shards.memory_mapped(tmp_path / "words.bin")
    words = mapped.words
    assert not mapped.path.exists()
    begin, end = mapped.offsets[[100, 250]]
    part = words.of_groups(100, 250, 0.5)
    assert part.nbytes == words.nbytes // 2
    assert not mapped.path.exists()
    assert np.array_equal(part.read(), mapped.observations[begin:end])
    assert np.array_equal(part.of_groups(0, 150, 1.0).read(), part.read())
    assert np.array_equal(words.mapped(), mapped.observations)
    assert words.path == str(mapped.path.resolve())


def test_words_that_cannot_be_found(shards):
    words = shards.memory_mapped().words
    with pytest.raises(InputError, match="are not visible from every node"):
        words._replace(folder="/nowhere").read()
    with pytest.raises(InputError, match="no longer contains the corpus"):
        words._replace(checksum="0").read()
