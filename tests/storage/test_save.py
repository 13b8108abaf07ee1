"""Saving a posterior and going on with it: one format with run directories, the same bits as a longer run."""

from __future__ import annotations

import os

import numpy as np
import pytest

import franchise as fr
from franchise.moves.base import Move
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.running import chain_queue
from franchise.running import chain_run as running
from franchise.storage.state_arrays import state_to_arrays
from tests.running.runs import CASES, SETTINGS, assert_same, assert_same_bits, sample

SAMPLERS = ["crf", "direct", "split-merge", "slice", "parallel", "subcluster", "finite"]
DRAWS = 9
PART = 4


@pytest.fixture(scope="module")
def part():
    """Posteriors, made once."""
    made = {}

    def get(case, sampler):
        if (case, sampler) not in made:
            made[case, sampler] = sample(case, sampler, PART)
        return made[case, sampler]

    return get


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("case", CASES)
def test_saved_loaded_and_gone_on_with(case, sampler, part, tmp_path):
    begun, whole = part(case, sampler), sample(case, sampler, DRAWS)
    begun.save(tmp_path / "saved")
    loaded = fr.load(tmp_path / "saved")
    assert_same(loaded, begun)
    assert_same_bits(loaded, begun)
    np.testing.assert_array_equal(loaded.trace["seconds"], begun.trace["seconds"])
    assert (loaded.sampler, loaded.seed, repr(loaded.family)) == (sampler, begun.seed, repr(begun.family))
    assert_same_bits(loaded.extend(DRAWS - PART), whole)
    assert_same_bits(begun.extend(DRAWS - PART), whole)
    assert_same_bits(fr.resume(tmp_path / "saved", draws=DRAWS), whole)
    assert_same(fr.load(tmp_path / "saved"), whole)


def test_states_come_back(part, tmp_path):
    begun = part("categorical", "crf")
    begun.save(tmp_path / "saved")
    for ours, theirs in zip(begun.states, fr.load(tmp_path / "saved").states, strict=True):
        theirs.check_consistency(begun.model.data, begun.family)
        one, two = (state_to_arrays(state, begun.family) for state in (ours, theirs))
        assert one.keys() == two.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])


def test_a_saved_posterior_is_a_run_directory(tmp_path):
    kept = sample("categorical", "direct", 3, run_dir=tmp_path / "run")
    kept.save(tmp_path / "saved")
    assert files_of(tmp_path / "saved") == files_of(tmp_path / "run")
    for name in ("run.json", "data.json", "data.safetensors", "chain-0/labels.log", "chain-1/trace.log"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()


def test_going_on_leaves_what_there_was(part, tmp_path):
    begun = sample("categorical", "subcluster", PART, run_dir=tmp_path / "run")
    before = {name: (tmp_path / "run" / name).read_bytes() for name in files_of(tmp_path / "run")}
    longer = begun.extend(2)
    assert longer.n_draws == PART + 2
    assert longer.extend(1).n_draws == PART + 3
    assert_same_bits(begun, part("categorical", "subcluster"))
    assert before == {name: (tmp_path / "run" / name).read_bytes() for name in files_of(tmp_path / "run")}


def test_gone_on_with_twice_is_a_longer_run(part, tmp_path):
    """In memory, on disk, and both in turn."""
    begun, whole = part("categorical", "parallel"), sample("categorical", "parallel", DRAWS)
    assert_same_bits(begun.extend(2).extend(3), whole)
    begun.extend(2).save(tmp_path / "saved")
    assert_same_bits(fr.load(tmp_path / "saved").extend(3, workers=2), whole)


def test_without_labels_and_without_warm_up(tmp_path):
    settings = {"keep_labels": False, "warmup": 0, "thin": 3, "chains": 1}
    begun, whole = (sample("categorical", "direct", draws, **settings) for draws in (2, 7))
    begun.save(tmp_path / "saved")
    assert not (tmp_path / "saved" / "chain-0" / "labels.log").exists()
    for longer in (begun.extend(5), fr.load(tmp_path / "saved").extend(5)):
        assert longer.labels is None
        assert_same_bits(longer, whole)


def test_more_draws_than_are_kept_in_full(tmp_path):
    """The snapshots are thinned as they would have been."""
    settings = {"keep_labels": False, "warmup": 0, "thin": 1, "chains": 1}
    begun, whole = (sample("categorical", "direct", draws, **settings) for draws in (40, 150))
    begun.save(tmp_path / "saved")
    assert_same_bits(begun.extend(110), whole)
    assert_same_bits(fr.resume(tmp_path / "saved", draws=150), whole)


def test_chains_that_a_time_limit_has_ended_apart(tmp_path, monkeypatch):
    """What is kept of each is saved, and they end together when they go on."""
    ticks = iter(range(10**6))
    with monkeypatch.context() as patch:
        patch.setattr(running.StopSignal, "out_of_time", property(lambda self: next(ticks) > 20))
        patch.setattr(chain_queue, "TURN_SECONDS", 1e9)  # the first chain alone, until the time is up
        with pytest.warns(UserWarning, match="time limit"):
            early = sample("categorical", "direct", DRAWS, time_limit=1.0, warmup=0)
    lengths = [len(chain.trace) for chain in early.run.chains]
    assert lengths[0] > lengths[1] == early.n_draws == 1
    early.save(tmp_path / "saved")
    assert_same_bits(fr.load(tmp_path / "saved"), early)
    longer = early.extend(3)
    assert longer.n_draws == lengths[0] + 3
    assert_same_bits(longer, sample("categorical", "direct", lengths[0] + 3, warmup=0))
    assert_same_bits(fr.resume(tmp_path / "saved", draws=lengths[0] + 3), longer)


def test_a_warm_up_that_a_time_limit_has_cut_short(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(running.StopSignal, "out_of_time", property(lambda self: True))
        with pytest.warns(UserWarning, match="1 of 9 draws"):
            early = sample("categorical", "direct", DRAWS, time_limit=1.0)
    early.save(tmp_path / "saved")
    assert_same_bits(fr.load(tmp_path / "saved"), early)
    assert_same_bits(fr.resume(tmp_path / "saved", draws=4), early.extend(3))


# --- what is refused ----------------------------------------------------------------------------------------


def test_nothing_is_overwritten(part, tmp_path):
    begun = part("categorical", "direct")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    with pytest.raises(fr.InputError, match=r"path .*thesis.* must be a new or empty folder"):
        begun.save(tmp_path / "thesis")
    assert os.listdir(tmp_path / "thesis") == ["thesis.tex"]
    with pytest.raises(fr.InputError, match=r"path must be a folder"):
        begun.save(tmp_path / "thesis" / "thesis.tex")
    begun.save(tmp_path / "saved")
    with pytest.raises(fr.InputError, match=r"path .*saved.*already contains a run"):
        begun.save(tmp_path / "saved")
    with pytest.raises(fr.InputError, match=r"path must be the path of a folder; got 3"):
        begun.save(3)


@pytest.mark.parametrize("draws", [0, -1, 1.5, "many", None])
def test_wrong_numbers_of_draws(draws, part):
    with pytest.raises(fr.InputError, match="draws"):
        part("categorical", "direct").extend(draws)


def test_a_posterior_put_together_by_hand(part):
    begun = part("categorical", "direct")
    alone = HDPPosterior({}, {}, None, [], [], begun.data, begun.model, "direct", 0)
    for action in (lambda: alone.save("anywhere"), lambda: alone.extend(1)):
        with pytest.raises(fr.InputError, match="not produced by sampling"):
            action()


def test_moves_and_families_that_cannot_be_kept_leave_nothing(tmp_path):
    """They can be gone on with all the same."""

    class Mine(fr.moves.DirectAssignment):
        pass

    data, family = CASES["categorical"]
    sampler: list[Move] = [Mine(), fr.moves.Concentrations(), fr.moves.TopicPrior()]
    begun, whole = (fr.sample(data, family, sampler=sampler, draws=draws, **SETTINGS) for draws in (2, 5))
    with pytest.raises(fr.InputError, match=r"got .*Mine"):
        begun.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    assert_same_bits(begun.extend(3), whole)


def test_labels_that_will_not_fit(part, monkeypatch):
    monkeypatch.setattr("franchise.validation.available_memory", lambda: 10**4)
    with pytest.raises(fr.InputError, match="keep_labels=True needs"):
        part("categorical", "direct").extend(100)
