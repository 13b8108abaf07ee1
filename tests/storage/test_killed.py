"""`kill -9` at random moments: a run that is resumed after each is the undisturbed one, bit for bit.

    python -m pytest tests/storage/test_killed.py -m slow -s

kills fifty times each, and prints which moments were hit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.nightly import nightly

if not hasattr(os, "fork"):
    pytest.skip("children are forked", allow_module_level=True)


@pytest.mark.parametrize("model", ["mixture", "segments"])
@pytest.mark.parametrize("kills", nightly([3, 12, 50], but=[3]))
def test_killed_and_resumed(model, kills, tmp_path):
    """What is checked after each kill is in `killing.py`, which ends with an error if something is not right."""
    assert sum(killed(model, kills, tmp_path).values()) == kills


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mixture", "segments"])
def test_killed_at_every_step(model, tmp_path):
    """Each thing that a short run does to the disk, from the first to the last, is once its last."""
    windows = killed(model, "steps", tmp_path)
    for window in ("while the run was made", "in a checkpoint", "between logs and checkpoint"):
        assert windows[window] >= 6


def killed(model, kills, tmp_path):
    """How often which moment was hit."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.killing", model, str(kills), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # its threads would not survive a fork
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"\n{model}: {told['runs']} runs, killed", told["kills"])
    return told["kills"]
