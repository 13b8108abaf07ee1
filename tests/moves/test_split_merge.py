"""Split-merge as a move: what it reports, when it runs, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.data.synthetic import five_topics
from franchise.kernels.random.streams import Streams
from franchise.moves import Concentrations, CrfGibbs, SplitMerge, during_first, every, in_turn
from franchise.parallel.threads import CALLING_THREAD
from tests.kernels.foreign import Stubborn

DATA = fr.Groups([1, 0, 1, 1], [0, 0, 1, 1])
NAMES = ["split_tries", "splits", "merge_tries", "merges", "split_merge_tables", "split_merge_observations"]


def sample(moves, data=DATA, family=None, draws=20, warmup=5, **settings):
    family = fr.Categorical(2) if family is None else family
    options = {"alpha": 2.0, "gamma": 2.0, "chains": 1, "progress": False, **settings}
    return fr.sample(data, family, sampler=moves, draws=draws, warmup=warmup, **options)


def test_every_try_is_a_split_or_a_merge():
    trace = sample([CrfGibbs(), SplitMerge(n_proposals=4)]).trace
    tried = trace["split_tries"] + trace["merge_tries"]
    assert set(np.unique(tried)) <= {0, 4}  # none while there is but one table
    assert (trace["splits"] <= trace["split_tries"]).all()
    assert (trace["merges"] <= trace["merge_tries"]).all()
    assert (trace["split_merge_tables"] >= 2 * tried).all()
    assert (trace["split_merge_observations"] >= trace["split_merge_tables"]).all()
    assert trace["splits"].sum() > 0
    assert trace["merges"].sum() > 0


def test_no_tries_change_nothing():
    without, with_none = sample([CrfGibbs()]), sample([CrfGibbs(), SplitMerge(n_proposals=0)])
    assert np.array_equal(without.trace["log_joint"], with_none.trace["log_joint"])
    for name in NAMES:
        assert (with_none.trace[name] == 0).all()


def test_two_similar_topics_are_told_apart():
    """Topics 1 and 2 of Wang & Blei's example as one: a few sweeps with split-merge separate them."""
    planted = five_topics(seed=4)
    merged = np.where(planted.labels == 1, 0, planted.labels)
    moves = [CrfGibbs(), SplitMerge(), Concentrations()]
    prior = fr.Gamma(0.1, 1.0)
    options = {"alpha": prior, "gamma": prior, "draws": 60, "warmup": 0, "start": merged}
    found = sample(moves, planted.data, fr.Categorical(12, 0.5), **options)
    trapped = sample([CrfGibbs(), Concentrations()], planted.data, fr.Categorical(12, 0.5), **options)
    assert found.trace["splits"].sum() > 0
    assert found.trace["share_of_largest_4"][0, -1] < 0.97
    assert trapped.trace["share_of_largest_4"][0, -1] > 0.97


@pytest.mark.parametrize("number", [2.0, np.int64(2)])
def test_whole_numbers_of_any_type_are_taken(number, tmp_path):
    move = SplitMerge(n_proposals=number, restricted_scans=number)
    assert move == SplitMerge(2, 2)
    posterior = sample([CrfGibbs(), move], run_dir=tmp_path / "run")
    assert posterior.trace["split_tries"].sum() > 0


# --- when it runs -------------------------------------------------------------------------------------------


def test_during_first_runs_in_the_first_sweeps_only():
    posterior = sample([CrfGibbs(), during_first(7, SplitMerge())])
    ran = ~np.isnan(np.concatenate([posterior.warmup_trace["splits"][0], posterior.trace["splits"][0]]))
    assert ran.tolist() == [True] * 7 + [False] * 18


def test_a_schedule_to_the_last_sweep_is_accepted():
    sample([CrfGibbs(), during_first(25, SplitMerge()), every(25, SplitMerge())])


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (lambda: during_first(26, SplitMerge()), ["during_first(26", "never", "25 sweeps"]),
        (lambda: every(26, SplitMerge()), ["every(26", "never", "25 sweeps"]),
        (lambda: in_turn(every(2, during_first(30, SplitMerge()))), ["during_first(30", "25 sweeps"]),
    ],
)
def test_a_schedule_beyond_the_run_is_refused(schedule, words, tmp_path):
    with pytest.raises(fr.InputError) as refusal:
        sample([CrfGibbs(), schedule()], run_dir=tmp_path / "run")
    for word in words:
        assert word in str(refusal.value)
    assert not (tmp_path / "run").exists()


# --- what it refuses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SplitMerge(n_proposals=-1), ["SplitMerge: n_proposals", "-1", "0"]),
        (lambda: SplitMerge(n_proposals=1.5), ["SplitMerge: n_proposals", "1.5"]),
        (lambda: SplitMerge(restricted_scans=-2), ["SplitMerge: restricted_scans", "-2", "0"]),
        (lambda: SplitMerge(restricted_scans="one"), ["SplitMerge: restricted_scans", "'one'"]),
        (lambda: SplitMerge(pair_selection="big"), ["SplitMerge: pair_selection", "'big'", "by size"]),
        (lambda: during_first(0, SplitMerge()), ["during_first: sweeps", "0"]),
        (lambda: during_first(5, "split-merge"), ["sampler must contain moves", "'split-merge'"]),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(fr.InputError) as refusal:
        make()
    for word in words:
        assert word in str(refusal.value)


def test_alone_it_says_that_it_never_moves_an_observation():
    with pytest.warns(
        UserWarning, match=r"no move .* draws the topics or seats of single observations.*CrfGibbs"
    ):
        sample([SplitMerge()], draws=1)


def test_a_family_that_is_not_conjugate_is_refused():
    with pytest.raises(fr.InputError, match=r"SplitMerge.*conjugate family.*Stubborn lacks"):
        sample([SplitMerge(), CrfGibbs()], family=Stubborn())


def test_densities_that_are_no_numbers_are_a_fault_of_the_family():
    posterior = sample([CrfGibbs(), SplitMerge()], family=fr.Poisson())
    state = posterior.states[0]
    state.statistics.shape[:] = np.nan
    with pytest.raises(fr.InternalError, match="no usable densities"):
        SplitMerge(n_proposals=5).step(posterior.model, state, Streams(0, 0, 1, 0), CALLING_THREAD)
