"""A disk that refuses: a clear error, nothing half-written, and the run goes on to the same bits afterwards."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import textwrap
from itertools import count

import pytest

import franchise as fr
from franchise.errors import StorageError
from franchise.running.chain import Chain
from franchise.storage import atomic as files
from franchise.storage.run_directory import RunDirectory
from tests.running.runs import assert_same_bits, sample, sample_segments
from tests.storage.steps import going_wrong

EVERY_SWEEP = 1e-9
MIXTURE = {"warmup": 1, "thin": 1, "chains": 1, "checkpoint_interval": EVERY_SWEEP}


def short_mixture(**kept):
    return sample("categorical", "direct", 2, **MIXTURE, **kept)


def short_segments(**kept):
    return sample_segments(3, 2, **MIXTURE, **kept)


def no_space():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def sweep_of_checkpoint(folder):
    """The sweep that the error should name."""
    metadata = RunDirectory.open(folder).chain(0).read_checkpoint().metadata
    return metadata["sweeps"]


def check_recovery_hint(error, folder):
    """The error says which file, what is left and what to do; what is left is a run, or nothing at all."""
    message = str(error)
    assert "No space left on device" in message
    assert str(folder) in message
    assert "\n" not in message
    if folder.exists():
        assert not [*folder.rglob("*.tmp"), *folder.rglob("unfinished")]
        assert f"franchise.resume({str(folder)!r})" in message
        assert f"franchise resume {folder}" in message
        assert f"The last checkpoint, of sweep {sweep_of_checkpoint(folder)}, is complete." in message
    else:
        assert "The new run was removed" in message


def refusal(step, action):
    """Return the error of an action whose step of this number is refused; None if it has fewer steps.

    The numbers of topics are written where possible: a refusal of such a step is no error, and False is returned.
    """
    with going_wrong(step, no_space) as done:
        try:
            action()
        except StorageError as error:
            return error
    return None if len(done) < step else False


@pytest.mark.parametrize("run", [short_mixture, short_segments])
def test_full_at_any_step(run, tmp_path):
    """Every write, sync, rename and new folder of a run is refused once."""
    whole, folder = run(), tmp_path / "above" / "run"
    for step in count(1):
        error = refusal(step, lambda: run(run_dir=folder))
        if error is None:
            assert step > 30
            return
        if error:
            check_recovery_hint(error, folder)
        if folder.exists():
            resumed = fr.resume(folder, workers=1)
        else:
            assert not folder.parent.exists()
            resumed = run(run_dir=folder)
        assert_same_bits(resumed, whole)
        assert_same_bits(fr.load(folder), whole)
        shutil.rmtree(folder.parent)


def test_full_at_any_step_of_a_resumed_run(tmp_path):
    """The same while a run that was killed between logs and checkpoint goes on."""
    whole, begun = short_mixture(), tmp_path / "begun"
    sample("categorical", "direct", 1, run_dir=begun, **MIXTURE)
    with open(begun / "chain-0" / "trace.log", "ab") as file:
        file.write(b"half a li")
    for step in count(1):
        folder = shutil.copytree(begun, tmp_path / str(step))
        error = refusal(step, lambda: fr.resume(folder, draws=2, checkpoint_interval=EVERY_SWEEP))  # noqa: B023
        if error is None:
            assert step > 10
            return
        assert "No space left on device" in str(error)
        assert not [*folder.rglob("*.tmp")]
        assert fr.load(folder).n_draws >= 1
        assert_same_bits(fr.resume(folder, draws=2), whole)


def test_full_for_one_chain_of_several(tmp_path, monkeypatch):
    """The others end, too, with checkpoints."""
    folder = tmp_path / "run"
    original = files._put

    def put(file, content):
        if "chain-1" in file.name and len(content) > 1000 and (folder / "run.json").exists():
            no_space()
        original(file, content)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_put", put)
        with pytest.raises(StorageError, match=r"chain-1.*No space left.*of sweep 0, is complete"):
            sample("categorical", "direct", 12, run_dir=folder, workers=1)
    assert sweep_of_checkpoint(folder) == 6 + 2 * 12
    assert_same_bits(fr.resume(folder), sample("categorical", "direct", 12))


def test_a_folder_that_vanishes(tmp_path, monkeypatch):
    """It is said that nothing is left, where nothing is."""
    original = Chain.begin_sweep

    def begin_sweep(self):
        if self.sweeps == 5 and (tmp_path / "run").exists():
            (tmp_path / "run").rename(tmp_path / "moved")
        return original(self)

    with monkeypatch.context() as patch:
        patch.setattr(Chain, "begin_sweep", begin_sweep)
        with pytest.raises(StorageError, match=r"cannot be written: No such file.*There is no checkpoint"):
            sample("categorical", "direct", 12, run_dir=tmp_path / "run", checkpoint_interval=EVERY_SWEEP)
    assert not (tmp_path / "run").exists()
    assert_same_bits(fr.resume(tmp_path / "moved"), sample("categorical", "direct", 12))


def test_saving_on_a_full_disk_leaves_nothing(tmp_path):
    done = sample("categorical", "direct", 2)
    with going_wrong(20, no_space), pytest.raises(StorageError, match=r"No space.*The new run was removed"):
        done.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    done.save(tmp_path / "saved")
    assert_same_bits(fr.load(tmp_path / "saved"), done)


def test_an_empty_folder_that_was_there_stays(tmp_path):
    with going_wrong(8, no_space), pytest.raises(StorageError, match=r"No space"):
        short_mixture(run_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
    short_mixture(run_dir=tmp_path)


LIMITED = """
import resource, sys
import franchise as fr
from tests.running.runs import sample
settings = {"keep_labels": False, "chains": 1}
sample("categorical", "direct", 1, **settings)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    sample("categorical", "direct", 60, run_dir=sys.argv[1], checkpoint_interval=1e-9, **settings)
except fr.InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="systems without limits on files")
def test_files_that_may_not_grow(tmp_path):
    """By the system itself, in the middle of a write: the trace grows until it may not."""
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), str(folder), "20000"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = re.search(
        r"trace\.log cannot be written: File too large\. The last checkpoint, of sweep (\d+)", done.stdout
    )
    assert told, done.stdout
    assert not [*folder.rglob("*.tmp")]
    assert fr.load(folder).n_draws >= 1
    assert_same_bits(fr.resume(folder), sample("categorical", "direct", 60, keep_labels=False, chains=1))
