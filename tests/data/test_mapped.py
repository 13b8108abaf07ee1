"""A corpus whose words stay on disk: the same draws as from one in memory."""

import pickle

import numpy as np
import pytest

import franchise as fr
from franchise.data.mapped import MappedCorpus, place_in_file
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
    mapped, whole = shards.mapped(), shards.to_corpus()
    assert isinstance(mapped, MappedCorpus)
    assert isinstance(mapped.observations, np.memmap)
    assert np.array_equal(mapped.observations, whole.observations)
    assert np.array_equal(mapped.offsets, whole.offsets)
    assert np.array_equal(mapped.group_of_observation, whole.group_of_observation)
    assert mapped.vocabulary == whole.vocabulary
    assert mapped.n_observations == whole.n_observations
    assert repr(mapped) == repr(whole).replace("Corpus", "MappedCorpus", 1) or repr(mapped) == repr(whole)


def test_the_file_is_made_once(shards, tmp_path):
    first = shards.mapped()
    made = first.path.stat().st_mtime_ns
    assert shards.mapped().path.stat().st_mtime_ns == made
    elsewhere = shards.mapped(tmp_path / "words.bin")
    assert np.array_equal(elsewhere.observations, first.observations)
    first.path.write_bytes(first.path.read_bytes()[:-4])  # cut off: made anew
    assert np.array_equal(shards.mapped().observations, elsewhere.observations)


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
    with pytest.raises(InputError, match="another corpus"):
        fr.load(tmp_path / "run")


def test_pickles_have_no_words(shards):
    again = pickle.loads(pickle.dumps(shards.mapped()))
    assert np.array_equal(again.observations, shards.mapped().observations)
    assert len(pickle.dumps(shards.mapped())) < 4 * shards.n_tokens


def test_where_it_lies(shards):
    words = shards.mapped().observations
    part = np.asarray(words)[100:350]
    place = place_in_file(part)
    assert place.length == 250
    assert np.array_equal(place.open(), part)
    assert not place.open().flags.writeable
    assert len(place_in_file(part[:0]).open()) == 0
    assert place_in_file(np.arange(3)) is None
