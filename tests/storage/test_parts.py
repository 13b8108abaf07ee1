"""Checkpoints in parts: the same run, complete or not at all, and honest about damage."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import franchise as fr
from franchise.cluster.partition import part_of
from franchise.errors import InputError, StorageError
from franchise.running.kept_draws import LazyDraw
from franchise.running.starts import FromCheckpoint
from franchise.storage.chain_store import StoredArrays, parts_from, write_part
from tests.running.runs import assert_same_bits, sample, sample_segments
from tests.storage.parted import part_run

SHORT = {"chains": 2, "thin": 1, "warmup": 2}
MAKERS = {
    "weights": lambda draws, **kept: sample("categorical", "direct", draws, **SHORT, **kept),
    "seating": lambda draws, **kept: sample("categorical", "crf", draws, **SHORT, **kept),
    "segments": lambda draws, **kept: sample_segments(3, draws, **SHORT, **kept),
}


def parts_in(folder):
    return sorted(path.name for path in folder.glob("part-*"))


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_read_and_gone_on_with(make, parts, tmp_path):
    run = tmp_path / "run"
    whole = make(3, run_dir=run)
    part_run(run, parts)
    assert len(parts_in(run / "chain-0")) == 4 * parts
    assert_same_bits(fr.load(run), whole)
    longer = make(5)
    assert_same_bits(fr.load(run).extend(2), longer)
    assert_same_bits(fr.resume(run, 5), longer)
    assert_same_bits(fr.load(run), longer)
    kept = [name for name in parts_in(run / "chain-0") if "draw" in name]  # those stay where they are
    assert parts_in(run / "chain-0") == kept
    assert len(kept) == 3 * parts
    fr.load(run).save(tmp_path / "saved")
    assert parts_in(tmp_path / "saved" / "chain-0") == []
    assert_same_bits(fr.load(tmp_path / "saved"), longer)


@pytest.fixture
def run(tmp_path):
    sample("categorical", "direct", 3, run_dir=tmp_path / "run", **SHORT)
    part_run(tmp_path / "run")
    return tmp_path / "run"


def test_draws_in_parts_stay_on_disk(run):
    posterior = fr.load(run)
    first, second = posterior.snapshots[0][:2]
    assert isinstance(first, LazyDraw)
    assert (first.draw, second.draw) == (0, 1)
    assert first.whole() is first.whole()
    assert first.n_topics == len(first.tables_per_topic)
    assert not hasattr(first, "nonsense")
    assert second.labels.max() < second.n_topics


def test_draws_that_are_gone(run):
    posterior = fr.load(run)
    shutil.rmtree(run / "chain-0")
    with pytest.raises(InputError, match=r"draw 0 is no longer in.*franchise\.load"):
        posterior.draw(chain=0, draw=0).topics()


@pytest.mark.parametrize("what", ["state-5", "draw-1"])
def test_a_part_that_is_missing_or_wrong_is_named(run, what):
    name = f"part-{what}-2of2.safetensors"
    path = run / "chain-1" / name
    content = path.read_bytes()
    for wrong in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), None):
        path.write_bytes(wrong) if wrong is not None else path.unlink()
        with pytest.raises(StorageError, match=rf"chain-1.*{name}"):
            fr.load(run)
        with pytest.raises(StorageError, match=rf"chain-1.*{name}"):
            fr.resume(run, 4)


def test_a_part_of_another_run_is_noticed(run, tmp_path):
    sample("categorical", "direct", 3, run_dir=tmp_path / "other", seed=8, **SHORT)
    part_run(tmp_path / "other")
    name = "chain-0/part-state-5-1of2.safetensors"
    shutil.copyfile(tmp_path / "other" / name, run / name)
    with pytest.raises(StorageError, match="part-state-5-1of2"):
        fr.load(run)


def test_parts_of_a_checkpoint_that_never_was(run):
    """Killed after parts were written, and before the checkpoint: the old one counts, and they go."""
    whole = sample("categorical", "direct", 4, **SHORT)
    for name in ("part-state-6-1of2.safetensors", "part-draw-3-1of2.safetensors"):
        shutil.copyfile(run / "chain-0" / "part-state-5-1of2.safetensors", run / "chain-0" / name)
    (run / "chain-0" / "part-state-6-2of2.safetensors.tmp").write_bytes(b"half a pa")
    assert fr.load(run).n_draws == 3
    assert_same_bits(fr.resume(run, 4), whole)
    assert not [name for name in parts_in(run / "chain-0") if "state" in name or "draw-3" in name]


@pytest.mark.parametrize("span", [(0, 10), (3, 8), (10, 10), (10, 12), (12, 12)])
def test_a_part_of_what_is_stored(span, tmp_path):
    """Whole files are read, and cut; a peer may have no observations."""
    files = [
        write_part(tmp_path, f"part-{begin}.safetensors", "me", {"topics": np.arange(begin, end)}, begin, end)
        for begin, end in ((0, 5), (5, 12))
    ]
    stored = FromCheckpoint(StoredArrays({"numbers": np.ones(2)}, files, tmp_path, "me"), 3)
    arrays = part_of(stored, *span).read()
    assert arrays["topics"].tolist() == list(range(*span))
    assert arrays["numbers"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "told",
    [
        3,
        {"": 3},
        {"": []},
        {"": [["run.json", 1, 0, 5]]},
        {"": [["../part-1.safetensors", 1, 0, 5]]},
        {"": [["part-1.safetensors", 1, 1, 5]]},
        {"": [["part-1.safetensors", 1, 0, 5], ["part-2.safetensors", 1, 6, 7]]},
        {"": [["part-1.safetensors", "x", 0, 5]]},
        {"": [["part-1.safetensors", 1, 0]]},
    ],
)
def test_nonsense_about_parts(told):
    with pytest.raises((InputError, ValueError, TypeError)):
        parts_from(told)
