"""Trees of unusual shapes, and of documents on disk."""

import numpy as np
import pandas as pd
import pytest

import franchise as fr

PLAN = {"draws": 3, "warmup": 3, "chains": 1, "progress": False}
SAMPLERS = ["crf", "direct", "parallel"]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_six_levels_and_more_topics_than_there_was_room_for(sampler):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({level: rng.integers(2, size=400) for level in "abcdef"})
    groups = fr.Groups(rng.integers(100, size=400), frame)
    settings = {"start": 1, "alpha": 50.0, "gamma": 50.0, **PLAN}
    posterior = fr.sample(groups, fr.Categorical(100, 0.001), sampler=sampler, **settings)
    assert posterior.trace["n_topics"].max() > 9  # the room of one topic and eight to spare
    for chain in posterior.run.chains:
        chain.chain.state.check_consistency(posterior.model.data, posterior.model.family)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_empty_documents(sampler):
    corpus = fr.Corpus.from_tokens([["a", "b"], [], ["c", "a"], ["b"]] * 5, groups=["A", "A", "B", "C"] * 5)
    posterior = fr.sample(corpus, sampler=sampler, **PLAN)
    assert posterior.nodes().loc["A", ["groups", "observations"]].tolist() == [10, 10]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_documents_on_disk_have_the_same_draws(sampler, tmp_path):
    settings = {"documents": 60, "vocabulary": 50, "tokens": 3000, "topics": 3, "shard_tokens": 2**10}
    shards = fr.synthetic.write_planted(tmp_path / "corpus", **settings)
    levels = pd.DataFrame({"party": ["A", "B"] * 30, "speaker": [str(number % 6) for number in range(60)]})
    mapped = shards.memory_mapped(groups=levels)
    words = [str(word) for word in mapped.vocabulary]
    corpus = fr.Corpus(mapped.observations, mapped.offsets, words, groups=levels)
    one, other = (fr.sample(data, sampler=sampler, **PLAN) for data in (mapped, corpus))
    for name in one.trace.keys() - {"seconds"}:
        np.testing.assert_array_equal(one.trace[name], other.trace[name])
    one.save(tmp_path / "run")
    assert fr.load(tmp_path / "run").exposures("party").equals(one.exposures("party"))
