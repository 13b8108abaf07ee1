"""Draws of a large run that is only read stay on disk."""

from __future__ import annotations

import copy
import os
import pickle

import pytest

import franchise as fr
from franchise.errors import StorageError
from franchise.running.kept_draws import HDPDraw, LazyDraw
from franchise.storage import chain_store
from tests.running.runs import assert_same_bits, sample, sample_segments

SHORT = {"chains": 2, "thin": 1, "warmup": 2}
MAKERS = {
    "weights": lambda draws, **kept: sample("categorical", "direct", draws, **SHORT, **kept),
    "seating": lambda draws, **kept: sample("categorical", "crf", draws, **SHORT, **kept),
    "segments": lambda draws, **kept: sample_segments(3, draws, **SHORT, **kept),
}

pytestmark = pytest.mark.skipif(not hasattr(os, "pread"), reason="this system cannot read parts of a file")


@pytest.fixture(autouse=True)
def any_run_is_large(monkeypatch):
    monkeypatch.setattr(chain_store, "LARGE", 0)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_draws_are_the_same(make, tmp_path):
    run = tmp_path / "run"
    whole = make(3, run_dir=run)
    loaded = fr.load(run)
    assert all(isinstance(kept, LazyDraw) for own in loaded.all_kept_draws for kept in own)
    assert_same_bits(loaded, whole)
    assert loaded.topics().equals(whole.topics())
    assert_same_bits(loaded.extend(2), make(5))
    loaded.save(tmp_path / "saved")
    assert_same_bits(fr.load(tmp_path / "saved"), whole)


def test_a_run_that_goes_on_does_not_change_what_was_read(tmp_path):
    run = tmp_path / "run"
    whole = MAKERS["weights"](3, run_dir=run)
    loaded = fr.load(run)
    resumed = fr.resume(run, 5)
    assert not any(isinstance(kept, LazyDraw) for kept in resumed.snapshots[0])
    assert_same_bits(loaded, whole)


def test_a_copy_is_in_memory(tmp_path):
    MAKERS["weights"](3, run_dir=tmp_path / "run")
    draw = fr.load(tmp_path / "run").snapshots[1][2]
    for copied in (pickle.loads(pickle.dumps(draw)), copy.deepcopy(draw)):
        assert isinstance(copied, HDPDraw)
        assert copied.labels.tolist() == draw.labels.tolist()


def test_a_file_that_becomes_shorter_is_reported(tmp_path):
    MAKERS["weights"](3, run_dir=tmp_path / "run")
    loaded = fr.load(tmp_path / "run")
    path = tmp_path / "run" / "chain-0" / "checkpoint.safetensors"
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(StorageError, match="checkpoint"):
        loaded.topics()


def test_damage_is_noticed_at_once(tmp_path):
    MAKERS["weights"](3, run_dir=tmp_path / "run")
    path = tmp_path / "run" / "chain-1" / "checkpoint.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"chain-1.*checksum"):
        fr.load(tmp_path / "run")
