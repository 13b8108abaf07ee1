"""The run directory: complete, replaced at once or not at all, and honest about damage."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import franchise as fr
from franchise.errors import StorageError
from franchise.storage import atomic as files
from franchise.storage import run_directory as storage
from franchise.storage.atomic import write_atomically
from franchise.storage.run_directory import ChainStore
from tests.running.runs import assert_same, sample
from tests.storage.steps import going_wrong
from tests.storage.test_full_disk import no_space


@pytest.fixture
def run(tmp_path):
    """A finished run on disk."""
    sample("categorical", "direct", 5, run_dir=tmp_path / "run")
    return tmp_path / "run"


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_what_is_in_it(run):
    files = {str(path) for path in contents(run)}
    of_chain = {"trace.log", "labels.log", "checkpoint.safetensors"}
    assert files == {"run.json", "data.json", "data.safetensors"} | {
        f"chain-{chain}/{name}" for chain in (0, 1) for name in of_chain
    }
    settings = json.loads((run / "run.json").read_text())
    assert settings["format"] == storage.FORMAT
    assert set(settings["versions"]) >= {"franchise", "numpy", "numba"}
    assert (settings["sampler"], settings["seed"], settings["draws"]) == ("direct", 4, 5)
    assert (run / "chain-0" / "trace.log").read_bytes().count(b"\n") == 6 + 5  # sweeps of warm-up, draws


def test_no_labels_unless_asked_for(tmp_path):
    sample("categorical", "direct", 2, run_dir=tmp_path / "run", keep_labels=False)
    assert not (tmp_path / "run" / "chain-0" / "labels.log").exists()
    assert fr.load(tmp_path / "run").labels is None


# --- atomicity ----------------------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fails(path):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(files, "_sync", fails)
    with pytest.raises(StorageError, match=r"file cannot be written: disk full"):
        write_atomically(path, b"new, but only half of i")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_replaces_the_whole_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"something long")
    write_atomically(path, b"short")
    assert path.read_bytes() == b"short"
    assert os.listdir(tmp_path) == ["file"]


def test_a_leftover_of_a_checkpoint_does_no_harm(run):
    """Killed while writing one: the old checkpoint counts, and the leftover is overwritten."""
    before = fr.load(run)
    leftover = run / "chain-0" / "checkpoint.safetensors.tmp"
    leftover.write_bytes(b"half a checkp")
    assert_same(fr.load(run), before)
    assert_same(fr.resume(run, draws=7), sample("categorical", "direct", 7))
    assert not leftover.exists()


def test_what_the_logs_have_beyond_the_checkpoint_is_cut_off(run):
    """Killed between the logs and the checkpoint: whole lines, half a line, half a row of labels."""
    line = (run / "chain-0" / "trace.log").read_bytes().splitlines(keepends=True)[-1]
    with open(run / "chain-0" / "trace.log", "ab") as file:
        file.write(line + line[:20])
    with open(run / "chain-1" / "labels.log", "ab") as file:
        file.write(b"\x00" * 11)
    assert_same(fr.resume(run, draws=7), sample("categorical", "direct", 7))
    assert (run / "chain-0" / "trace.log").read_bytes().count(b"\n") == 6 + 7


def test_loading_changes_no_file(run):
    """Another process may be between the logs and the checkpoint: what it has written is not ours to cut."""
    with open(run / "chain-0" / "trace.log", "ab") as file:
        file.write(b"just being written")
    before = contents(run)
    fr.load(run)
    assert contents(run) == before


# --- damage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        12,
        pytest.param(0),
    ],
    ids=["in the text", "in the checksum"],
)
def test_a_damaged_line_is_named(run, place):
    path = run / "chain-1" / "trace.log"
    lines = path.read_bytes().splitlines(keepends=True)
    line = bytearray(lines[3])
    line[place] = ord("~")
    path.write_bytes(b"".join([*lines[:3], bytes(line), *lines[4:]]))
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError, match=r"chain-1.*trace\.log.*line 4: checksum"):
            action(run)


def test_damaged_labels_are_named(run):
    path = run / "chain-0" / "labels.log"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(fr.InputError, match=r"chain-0.*labels\.log.*draw 4"):
        fr.load(run)


@pytest.mark.parametrize("name", ["trace.log", "labels.log"])
def test_a_log_that_is_too_short_is_named(run, name):
    path = run / "chain-0" / name
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(fr.InputError, match=rf"{name}.*shorter"):
        fr.load(run)


def test_a_missing_checkpoint_is_explained(run):
    (run / "chain-1" / "checkpoint.safetensors").unlink()
    with pytest.raises(fr.InputError, match=r"chain-1.*checkpoint\.safetensors is missing"):
        fr.resume(run)


@pytest.mark.parametrize(
    "name", ["chain-0/checkpoint.safetensors", "run.json", "data.json", "data.safetensors"]
)
def test_a_damaged_file_is_named(run, name):
    path = run / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(fr.InputError, match=path.name):
        fr.load(run)


@pytest.mark.parametrize("version", [storage.FORMAT + 1, 99])
def test_a_newer_format_is_refused(run, version):
    settings = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**settings, "format": version}))
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError) as caught:
            action(run)
        message = str(caught.value)
        assert f"format {version}" in message
        assert "Upgrade" in message
        assert message.count(". ") == 1
        assert "\n" not in message


# --- where it may be ----------------------------------------------------------------------------------------


def test_a_folder_with_a_run_is_refused_with_a_hint(run):
    before = contents(run)
    with pytest.raises(fr.InputError, match=r"already contains a run.*franchise\.resume\("):
        sample("categorical", "direct", 5, run_dir=run)
    assert contents(run) == before


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(fr.InputError, match=r"run_dir.*new or empty"):
        sample("categorical", "direct", 5, run_dir=tmp_path)
    with pytest.raises(fr.InputError, match=r"run_dir must be a folder.*is a file"):
        sample("categorical", "direct", 5, run_dir=tmp_path / "thesis.tex")
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_an_empty_folder_and_new_ones_above_it_are_fine(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new" / "newer"):
        sample("categorical", "direct", 1, run_dir=str(folder))
        assert fr.load(str(folder)).n_draws == 1


@pytest.mark.parametrize("action", [fr.load, fr.resume])
def test_a_folder_without_a_run(action, tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(fr.InputError, match=r"contains no run"):
            action(folder)
    assert os.listdir(tmp_path) == []


def test_a_run_that_was_never_whole(run, tmp_path):
    """Killed while it was made: it is none, that is said, and the same call begins anew."""
    (run / "run.json").unlink()
    (run / "unfinished").touch()
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError, match=r"contains no run.*interrupted.*franchise\.sample again"):
            action(run)
    assert_same(sample("categorical", "direct", 5, run_dir=run), sample("categorical", "direct", 5))
    assert not (run / "unfinished").exists()


def test_what_is_in_a_folder_beside_an_unfinished_run_is_left(run):
    (run / "run.json").unlink()
    (run / "unfinished").touch()
    (run / "thesis.tex").write_text("years of work")
    sample("categorical", "direct", 1, run_dir=run)
    assert (run / "thesis.tex").read_text() == "years of work"


def test_one_process_at_a_time(run, tmp_path):
    before = contents(run)
    with files.exclusive_lock(run):
        with pytest.raises(fr.InputError, match=r"in use by another process"):
            fr.resume(run, draws=9)
        assert fr.load(run).n_draws == 5
    assert contents(run) == before
    (tmp_path / "new").mkdir()
    with files.exclusive_lock(tmp_path / "new"), pytest.raises(fr.InputError, match="another process"):
        sample("categorical", "direct", 1, run_dir=tmp_path / "new")
    assert fr.resume(run, draws=6).n_draws == 6


OLD_LOCK = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
try:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("refused", flush=True)
else:
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="version 0.1.0 had locks on POSIX systems only")
def test_processes_of_version_0_1_0_and_this_one_exclude_each_other(run):
    """It locked the folder itself, by flock; OLD_LOCK is its code."""

    def old_process():
        command = [sys.executable, "-c", OLD_LOCK, str(run)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with old_process() as old:
        assert old.stdout.readline() == "locked\n"
        with pytest.raises(fr.InputError, match="another process"):
            fr.resume(run, draws=6)
        old.stdin.close()
    with files.exclusive_lock(run), old_process() as old:
        assert old.stdout.readline() == "refused\n"
    assert fr.resume(run, draws=6).n_draws == 6


def test_systems_that_cannot_open_folders(tmp_path, monkeypatch):
    """As on Windows: a file in the folder is locked. It does not count as content, and a failure removes it."""
    monkeypatch.setattr(files, "_CAN_OPEN_FOLDERS", False)
    folder = tmp_path / "new"
    with going_wrong(8, no_space), pytest.raises(StorageError, match="No space"):
        sample("categorical", "direct", 1, run_dir=folder)
    assert not folder.exists()
    folder.mkdir()
    (folder / files.LOCK).touch()  # of a process that was killed
    whole = sample("categorical", "direct", 2)
    sample("categorical", "direct", 1, run_dir=folder)
    with files.exclusive_lock(folder), pytest.raises(fr.InputError, match="another process"):
        fr.resume(folder, draws=2)
    assert_same(fr.resume(folder, draws=2), whole)


def test_disks_without_locks(run, monkeypatch):
    def refuse(descriptor, *, blocking):
        raise OSError(errno.ENOSYS, "no locks here")

    monkeypatch.setattr("filelock.lock_descriptor", refuse)
    assert fr.resume(run, draws=6).n_draws == 6


# --- values -------------------------------------------------------------------------------------------------


def test_numbers_come_back_to_the_bit(tmp_path):
    store = ChainStore(tmp_path)
    rows = [{"x": 0.1 + 0.2, "n": 3}, {"x": float("inf"), "y": -5e-324}, {"x": float("nan")}]
    for row in rows:
        store.append_trace(row)
    store.append_labels(np.array([3, 0, 1], np.int32))
    store.write_checkpoint({"a": np.arange(6.0).reshape(2, 3)[:, ::2]}, {"sweeps": 3})
    again_store = ChainStore(tmp_path)
    arrays, metadata, _ = again_store.read_checkpoint()
    again = list(again_store.read_trace())
    assert again[:2] == rows[:2]
    assert np.isnan(again[2]["x"])
    np.testing.assert_array_equal(arrays["a"], [[0.0, 2.0], [3.0, 5.0]])
    assert metadata["sweeps"] == 3
    (labels,) = again_store.read_labels(3, [4.0])
    assert labels.tolist() == [3, 0, 1]
    assert labels.dtype == np.int32


@pytest.mark.parametrize(
    "groups",
    [
        [("a", 1), ("b", 2), ("a", 1), ("b", (3, None))],
        [1, 1.5, "1", None],
        np.array(["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-03"], "datetime64[D]"),
        [True, False, True, True],
    ],
    ids=["tuples", "mixed", "dates", "booleans"],
)
def test_groups_of_any_kind_come_back(groups, tmp_path):
    data = fr.Groups([3, 1, 4, 1], groups)
    done = fr.sample(
        data, fr.Poisson(), draws=3, warmup=1, chains=1, run_dir=tmp_path / "run", keep_labels=True
    )
    again = fr.load(tmp_path / "run")
    assert_same(again, done)
    assert again.data.n_groups == data.n_groups
    np.testing.assert_array_equal(again.data.group_of_observation, data.group_of_observation)


def test_groups_that_cannot_be_kept_leave_nothing(tmp_path):
    data = fr.Groups([3, 1], [frozenset({1}), frozenset({2})])
    with pytest.raises(fr.InputError, match="frozenset"):
        fr.sample(data, fr.Poisson(), draws=1, warmup=0, run_dir=tmp_path / "run", chains=2)
    assert not (tmp_path / "run").exists()
