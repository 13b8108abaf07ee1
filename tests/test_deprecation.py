"""Old names work for one release, and say what the new ones are."""

from __future__ import annotations

import inspect
import warnings

import pytest

import franchise as fr
from franchise.errors import renamed_arguments
from franchise.storage.moves import from_plain

CORPUS = fr.Corpus.from_matrix([[2, 1, 0], [0, 1, 3]])
SHORT = {"draws": 2, "warmup": 1, "chains": 1, "progress": False}


@renamed_arguments(old="new")
def echo(new=1):
    return new


def test_old_arguments_warn_at_the_callers_line():
    with pytest.warns(DeprecationWarning, match=r"echo\(old=\.\.\.\) is deprecated.*Use new=") as caught:
        assert echo(old=3) == 3
    assert caught[0].filename == __file__
    with pytest.raises(TypeError, match="both new and its old name old"):
        echo(old=3, new=4)
    with pytest.raises(TypeError, match="other"):
        echo(other=3)


def test_new_arguments_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert echo(new=2) == echo(2) == 2
    assert list(inspect.signature(echo).parameters) == ["new"]


def test_checkpoint_seconds(tmp_path):
    old = pytest.warns(
        DeprecationWarning, match=r"checkpoint_seconds=\.\.\.\) is deprecated.*checkpoint_inter"
    )
    with old as caught:
        fr.sample(CORPUS, checkpoint_seconds=5.0, run_dir=tmp_path / "run", **SHORT)
    assert caught[0].filename == __file__
    with old:
        fr.resume(tmp_path / "run", draws=3, checkpoint_seconds=5.0, progress=False)
    with old:
        assert fr.HTMM(2, checkpoint_seconds=5.0).get_params()["checkpoint_interval"] == 5.0
    assert "checkpoint_interval" in inspect.signature(fr.sample).parameters


def test_continue(tmp_path):
    posterior = fr.sample(CORPUS, **SHORT)
    with pytest.warns(DeprecationWarning, match=r"continue_ is deprecated.*posterior\.extend"):
        longer = posterior.continue_(2, progress=False)
    assert longer.n_draws == posterior.extend(2).n_draws == 4


OLD_MOVES = {
    "SettledSweep": ({"frozen": 0.1}, fr.moves.FixedTopicsSweep(freeze_probability=0.1)),
    "LaunchedSplits": (
        {"tries": 2, "scans": (2, 1), "crowd": 4, "alike": 1.0},
        fr.moves.LaunchSplitMerge(2, (2, 1), 4, 1.0),
    ),
    "EvenWeights": ({}, fr.moves.UniformWeights()),
    "NonEmptyingSweep": ({}, fr.moves.GuardedSweep()),
    "SplitMerge": ({"tries": 2, "scans": 1, "picks": "by size"}, fr.moves.SplitMerge(2, 1, "by size")),
}


@pytest.mark.parametrize("name", OLD_MOVES)
def test_old_names_of_moves_and_of_their_settings(name):
    settings, new = OLD_MOVES[name]
    kind = type(new)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert getattr(fr.moves, name)(**settings) == kind(**settings) == new
    said = [str(warning.message) for warning in caught]
    assert any(f"Use franchise.moves.{kind.__name__}." in line for line in said) == (name != "SplitMerge")
    for old in settings:
        spelling = kind.renamed_arguments[old]
        assert sum(f"({old}=...)" in line and f"Use {spelling}=" in line for line in said) == 2
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.category for warning in caught} == {DeprecationWarning}


@pytest.mark.parametrize("name", OLD_MOVES)
def test_old_names_in_the_files_of_a_run_do_not_warn(name):
    settings, new = OLD_MOVES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert from_plain({"move": name, **settings}) == new


def test_unknown_names_of_moves():
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = fr.moves.Nonsense
