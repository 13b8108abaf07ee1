"""An interrupted and resumed run is an uninterrupted one, bit for bit."""

from __future__ import annotations

import itertools
import json
import shutil

import numpy as np
import pytest

import franchise as fr
from franchise.model.state.base import SPARE_SLOTS
from franchise.running import chain_run as running
from franchise.running.chain import Chain
from tests.running.runs import CASES, assert_same, assert_same_traces, sample
from tests.support.nightly import nightly

SAMPLERS = ["crf", "direct", "split-merge", "slice", "parallel", "subcluster", "finite"]
DRAWS = 12


EVERY_SWEEP = 1e-9
"""Seconds between checkpoints so few that every sweep has one."""


@pytest.fixture(scope="module")
def undisturbed():
    """The runs that nothing interrupts, made once."""
    made = {}

    def get(case, sampler):
        if (case, sampler) not in made:
            made[case, sampler] = sample(case, sampler, DRAWS)
        return made[case, sampler]

    return get


class Broken(RuntimeError):
    """What the tests break a run with."""


def break_after(monkeypatch, sweeps, error=Broken):
    """The chains fail in the middle of a sweep, chain 0 after `sweeps` sweeps, chain 1 two later."""
    original = Chain.begin_sweep

    def begin_sweep(self):
        if self.sweeps >= sweeps + 2 * self.number:
            raise error("interrupted by the test")
        return original(self)

    monkeypatch.setattr(Chain, "begin_sweep", begin_sweep)


# --- without interruption -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "sampler"),
    nightly(
        itertools.product(CASES, SAMPLERS),
        but=[*itertools.product(["categorical"], SAMPLERS), ("poisson", "direct")],
    ),
)
def test_a_run_directory_changes_nothing(case, sampler, tmp_path, undisturbed):
    kept = sample(case, sampler, DRAWS, run_dir=tmp_path / "run")
    assert_same(kept, undisturbed(case, sampler))
    loaded = fr.load(tmp_path / "run")
    assert_same(loaded, kept)
    np.testing.assert_array_equal(loaded.trace["seconds"], kept.trace["seconds"])
    assert (loaded.sampler, loaded.seed, repr(loaded.family)) == (kept.sampler, kept.seed, repr(kept.family))
    assert repr(loaded.data) == repr(kept.data)


def test_resuming_a_finished_run_gives_it_again(tmp_path):
    done = sample("categorical", "crf", DRAWS, run_dir=tmp_path / "run")
    assert_same(fr.resume(tmp_path / "run"), done)


# --- interrupted --------------------------------------------------------------------------------------------


BREAKS = [0, 3, 6, 13]
ROTATED = [  # each sampler once on each kind of data
    (case, sampler, BREAKS[(number + shift) % 4])
    for shift, case in enumerate(["categorical", "poisson"])
    for number, sampler in enumerate(SAMPLERS)
]


@pytest.mark.parametrize(
    ("case", "sampler", "sweeps"), nightly(itertools.product(CASES, SAMPLERS, BREAKS), but=ROTATED)
)
def test_broken_and_resumed(case, sampler, sweeps, tmp_path, monkeypatch, undisturbed):
    """In the warm-up, at its end, between two kept draws; the two chains at different places."""
    with monkeypatch.context() as patch:
        break_after(patch, sweeps)
        with pytest.raises(Broken):
            sample(case, sampler, DRAWS, run_dir=tmp_path / "run", checkpoint_interval=EVERY_SWEEP)
    assert_same(fr.resume(tmp_path / "run"), undisturbed(case, sampler))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_broken_twice_without_a_checkpoint_in_between(sampler, tmp_path, monkeypatch, undisturbed):
    """With a minute between checkpoints there is only the first, of the start."""

    def begin():
        sample("categorical", sampler, DRAWS, run_dir=tmp_path / "run")

    def go_on():
        fr.resume(tmp_path / "run", workers=1)

    for sweeps, action in ((5, begin), (9, go_on)):
        with monkeypatch.context() as patch:
            break_after(patch, sweeps)
            with pytest.raises(Broken):
                action()
    assert_same(fr.resume(tmp_path / "run"), undisturbed("categorical", sampler))


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_from_the_keyboard(workers, tmp_path, monkeypatch, capsys, undisturbed):
    """An interruption that comes out of a sweep: a checkpoint is there, and it says how to go on."""
    with monkeypatch.context() as patch:
        break_after(patch, 9, KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            sample("categorical", "crf", DRAWS, run_dir=tmp_path / "run", workers=workers)
    assert f"franchise.resume({str(tmp_path / 'run')!r})" in capsys.readouterr().err
    assert_same(fr.resume(tmp_path / "run"), undisturbed("categorical", "crf"))


@pytest.mark.parametrize(
    ("case", "sampler"),
    nightly(itertools.product(CASES, SAMPLERS), but=[("categorical", "crf"), ("poisson", "slice")]),
)
def test_a_copy_made_in_mid_run_goes_on_by_itself(case, sampler, tmp_path, monkeypatch, undisturbed):
    """The folder at any moment is a run that can be resumed, also somewhere else."""
    copies = []
    original = running.ChainRun.write_checkpoint

    def write_checkpoint(self):
        original(self)
        if self.chain.sweeps in (4, 11, 17):
            copies.append(tmp_path / f"copy-{self.chain.number}-{self.chain.sweeps}")
            shutil.copytree(tmp_path / "run", copies[-1])

    with monkeypatch.context() as patch:
        patch.setattr(running.ChainRun, "write_checkpoint", write_checkpoint)
        sample(case, sampler, DRAWS, run_dir=tmp_path / "run", checkpoint_interval=EVERY_SWEEP)
    assert len(copies) == 6
    for copy in copies[1:5]:
        assert_same(fr.resume(copy), undisturbed(case, sampler))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_ended_by_a_time_limit_and_resumed(sampler, tmp_path, monkeypatch, undisturbed):
    """Once the first draw is there the limit ends a chain; what comes then is what would have come."""
    monkeypatch.setattr(running.StopSignal, "out_of_time", property(lambda self: next(ticks) > 30))
    ticks = iter(range(10**6))
    with pytest.warns(UserWarning, match=r"time limit.*of 12 draws"):
        early = sample("categorical", sampler, DRAWS, run_dir=tmp_path / "run", time_limit=1.0)
    assert 1 <= early.n_draws < DRAWS
    monkeypatch.undo()
    resumed, whole = fr.resume(tmp_path / "run"), undisturbed("categorical", sampler)
    assert_same_traces(
        {name: values[:1] for name, values in resumed.trace.items()},
        {name: values[:1] for name, values in whole.trace.items()},
    )


def test_ended_by_a_time_limit_in_the_warm_up_and_resumed(tmp_path, monkeypatch, undisturbed):
    """The draw that the limit asks for is none of the planned run; resumed, the warm-up goes on first."""
    monkeypatch.setattr(running.StopSignal, "out_of_time", property(lambda self: True))
    with pytest.warns(UserWarning, match="time limit"):
        sample("categorical", "direct", DRAWS, run_dir=tmp_path / "run", time_limit=1.0)
    monkeypatch.undo()
    assert_same(fr.resume(tmp_path / "run"), undisturbed("categorical", "direct"))


def test_more_draws_that_were_interrupted_are_still_planned(tmp_path, monkeypatch, undisturbed):
    sample("categorical", "crf", 5, run_dir=tmp_path / "run")
    with monkeypatch.context() as patch:
        break_after(patch, 18)
        with pytest.raises(Broken):
            fr.resume(tmp_path / "run", draws=DRAWS, workers=1)
    assert_same(fr.resume(tmp_path / "run"), undisturbed("categorical", "crf"))


# --- longer -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "sampler"),
    nightly(itertools.product(CASES, SAMPLERS), but=itertools.product(["categorical"], SAMPLERS)),
)
def test_more_draws_are_those_of_a_longer_run(case, sampler, tmp_path, undisturbed):
    sample(case, sampler, 5, run_dir=tmp_path / "run")
    fr.resume(tmp_path / "run", draws=8)
    assert_same(fr.resume(tmp_path / "run", draws=DRAWS), undisturbed(case, sampler))
    assert_same(fr.load(tmp_path / "run"), undisturbed(case, sampler))


@pytest.mark.parametrize("sampler", ["parallel", "finite"])
def test_words_enough_for_sparse_kernels(sampler, tmp_path):
    """The kernels draw for vacant slots too, so their number must come back."""
    corpus = fr.synthetic.planted_topics(0, documents=60, vocabulary=60, topics=6).data
    family = fr.Categorical(60, 0.05)
    start = fr.sample(corpus, family, sampler=sampler, draws=1, warmup=4, chains=1, start=8).states[0]
    start.make_room(family)
    settings = {"sampler": sampler, "chains": 1, "warmup": 8, "keep_labels": True, "seed": 2, "start": start}
    whole = fr.sample(corpus, family, draws=12, workers=1, **settings)
    part = fr.sample(corpus, family, draws=4, workers=1, run_dir=tmp_path / "run", **settings)
    state = part.states[0]
    assert corpus.n_tokens > 2000
    assert state.capacity != state.occupied[-1] + 1 + SPARE_SLOTS  # as many as a new state would have
    assert_same(fr.resume(tmp_path / "run", draws=12), whole)


def test_fewer_draws_than_there_are_are_refused_and_drop_none(tmp_path):
    sample("categorical", "crf", 5, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match=r"draws must be at least.*has \(5\); got 2.*franchise.load"):
        fr.resume(tmp_path / "run", draws=2)
    assert fr.resume(tmp_path / "run", draws=5).n_draws == 5
    assert fr.load(tmp_path / "run").n_draws == 5
    assert json.loads((tmp_path / "run" / "run.json").read_text())["draws"] == 5


def test_any_sampler_made_of_moves_can_be_resumed(tmp_path):
    moves = fr.moves
    mixed = [
        moves.at_random((moves.CrfGibbs(), 0.5), (moves.DirectAssignment(), 0.5)),
        moves.every(3, moves.TopicPrior()),
        moves.during_warmup(moves.DirectAssignment(sparse=False)),
        moves.Concentrations(),
    ]
    whole = sample("categorical", mixed, 9)
    sample("categorical", mixed, 4, run_dir=tmp_path / "run")
    assert_same(fr.resume(tmp_path / "run", draws=9), whole)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_resumed_while_many_topics_open(sampler, tmp_path):
    """Sweeps that run out of slots must give the same bits as those of a chain that had them already."""
    corpus = fr.Corpus.from_matrix(np.random.default_rng(0).poisson(0.5, (6, 60)))
    settings = {"sampler": sampler, "alpha": 10.0, "gamma": 20.0, "start": 1, "warmup": 0, "chains": 1}
    whole = fr.sample(corpus, draws=12, keep_labels=True, **settings)
    for done in (1, 2, 3, 5, 8):
        fr.sample(corpus, draws=done, keep_labels=True, run_dir=tmp_path / str(done), **settings)
        assert_same(fr.resume(tmp_path / str(done), draws=12), whole)


# --- what is refused ----------------------------------------------------------------------------------------


def test_loading_a_run_without_draws(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        break_after(patch, 3)
        with pytest.raises(Broken):
            sample("categorical", "crf", DRAWS, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match=r"no draws yet.*franchise.resume"):
        fr.load(tmp_path / "run")


@pytest.mark.parametrize(("draws", "words"), [(0, "draws"), (-1, "draws"), (2.5, "draws")])
def test_wrong_numbers_of_draws(draws, words, tmp_path):
    sample("categorical", "crf", 1, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match=words):
        fr.resume(tmp_path / "run", draws=draws)


def test_engine_or_workers(tmp_path):
    sample("categorical", "crf", 1, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match="not both"):
        fr.resume(tmp_path / "run", engine=fr.engines.Threads(1), workers=2)
    with pytest.raises(fr.InputError, match="workers"):
        fr.resume(tmp_path / "run", workers=0)
    with pytest.raises(fr.InputError, match="time_limit"):
        fr.resume(tmp_path / "run", time_limit=0)
