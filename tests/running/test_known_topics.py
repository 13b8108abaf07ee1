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
