"""Runs that earlier versions have written are read as they were, and can be gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import franchise as fr
from franchise.storage.chain_store import FORMAT, FORMAT_WITH_PARTS
from franchise.storage.run_directory import RunDirectory
from tests.running.runs import assert_same_bits
from tests.storage.fixtures.make import CASES, IN_PARTS, known

FIXTURES = Path(__file__).parent / "fixtures"
KNOWN = {
    (folder.name, name): values
    for folder in sorted(FIXTURES.glob("format-*"))
    for name, values in json.loads((folder / "known.json").read_text()).items()
}

RENAMED = {"Posterior": "HDPPosterior", "SegmentPosterior": "HTMMPosterior"}
"""Classes that had another name when the fixtures were made."""


def test_all_formats_are_there():
    assert {folder for folder, _ in KNOWN} == {"format-2", "format-3"}
    for number, cases in ((FORMAT, CASES), (FORMAT_WITH_PARTS, IN_PARTS)):
        assert {name for folder, name in KNOWN if folder == f"format-{number}"} == set(cases)
    for folder, name in KNOWN:
        run = RunDirectory.open(FIXTURES / folder / name)
        metadata = run.chain(0).read_checkpoint().metadata
        assert f"format-{metadata['format']}" == folder


@pytest.mark.parametrize(("folder", "name"), KNOWN)
def test_loaded(folder, name):
    """What is read is what the version that made it knew of it."""
    before = {path: path.read_bytes() for path in (FIXTURES / folder / name).rglob("*") if path.is_file()}
    posterior = fr.load(FIXTURES / folder / name)
    expected = KNOWN[folder, name]
    assert known(posterior) == {**expected, "kind": RENAMED.get(expected["kind"], expected["kind"])}
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize(("folder", "name"), KNOWN)
def test_resumed(folder, name, tmp_path):
    """A few draws more: those before stay, and what is written now has the present format."""
    run = shutil.copytree(FIXTURES / folder / name, tmp_path / "run")
    before = fr.load(run)
    resumed = fr.resume(run, draws=6, workers=1)
    draws = before.trace["n_topics"].shape[1]
    assert resumed.trace["n_topics"].shape[1] == 6 > draws
    for trace, values in before.trace.items():
        np.testing.assert_array_equal(resumed.trace[trace][:, :draws], values)
    assert json.loads((run / "run.json").read_text())["format"] == FORMAT
    assert_same_bits(before.extend(6 - draws, workers=1), resumed)
    assert_same_bits(fr.load(run), resumed)
    assert_same_bits(fr.resume(run), resumed)


def test_format_1_is_refused_in_two_sentences(tmp_path):
    (tmp_path / "run.json").write_text('{"format": 1, "versions": {"franchise": "0.1.0"}, "draws": 3}')
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError) as caught:
            action(tmp_path)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / 'run.json'} has format 1")
        assert "franchise 0.1.0" in message
        assert message.count(". ") == 1
