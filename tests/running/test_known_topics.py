"""Runs with known topics are saved, loaded and gone on with to the same bits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import franchise as fr
from franchise.families import KnownTopics
from tests.running.runs import CORPUS, SETTINGS, assert_same_bits
from tests.support.nightly import nightly

TOPICS = np.random.default_rng(5).dirichlet(np.ones(7), 2)
KNOWN = KnownTopics(TOPICS, [30.0, math.inf], 0.4, 0.3, ["one", "other"], CORPUS.vocabulary)


@pytest.mark.parametrize(
    "sampler",
    nightly(["crf", "direct", "split-merge", "slice", "parallel", "finite"], but=["direct", "finite"]),
)
def test_saved_loaded_and_gone_on_with(sampler, tmp_path):
    def sample(draws, **settings):
        return fr.sample(CORPUS, KNOWN, sampler=sampler, draws=draws, **SETTINGS, **settings)

    begun, whole = sample(3, run_dir=tmp_path / "run"), sample(7)
    begun.save(tmp_path / "saved")
    loaded = fr.load(tmp_path / "saved")
    assert_same_bits(loaded, begun)
    assert loaded.family.settings() == KNOWN.settings()
    assert loaded.family.names == ["one", "other"]
    np.testing.assert_array_equal(loaded.family.topics, KNOWN.topics)
    assert_same_bits(loaded.extend(4), whole)
    assert_same_bits(fr.resume(tmp_path / "run", draws=7), whole)


def test_a_draw_names_its_known_topics():
    texts = ["army troops guns", "bank tax coins", "army troops"] * 4
    corpus = fr.Corpus.from_texts(texts, min_df=1, stop_words=None)
    seeds = {"war": ["army", "troops"], "money": ["bank", "tax"]}
    known = KnownTopics.from_words(seeds, corpus.vocabulary, weight=0.9)
    posterior = fr.sample(corpus, known, draws=4, warmup=20, chains=1, seed=1, progress=False)
    table = posterior.draw().topics().set_index("known")
    assert "army" in table.loc["war", "words"]
    assert "bank" in table.loc["money", "words"]
    assert "known" not in fr.sample(corpus, draws=2, warmup=2, progress=False).draw().topics()
