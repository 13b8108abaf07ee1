"""Sweeps over subsets of the groups at the beginning of a warm-up."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import franchise as fr
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.errors import InputError
from franchise.kernels.random.streams import Streams
from franchise.kernels.subset_sweep import predict_topics
from franchise.model.hdp_model import CategoryIndex
from franchise.model.state import Weights
from franchise.moves import Concentrations, DirectAssignment, SubsetSweep, in_phases, in_turn
from franchise.moves.compose import moves_of
from franchise.samplers.recipes import MANY_GROUPS, MODERATE
from franchise.samplers.registry import resolve
from franchise.sampling import make_model

PLANTED = fr.synthetic.from_hdp(200, 20, 40, prior=0.1, alpha=1.0, gamma=3.0, seed=1)
CORPUS = PLANTED.data
SETTINGS = {"chains": 1, "progress": False}


class Watch(fr.moves.Move):
    """Check the state after each sweep, and note the prior of its topics."""

    seen: ClassVar[list[Weights]] = []
    views = (Weights,)
    requires = frozenset()

    def step(self, model, state, streams, executor):
        state.check_consistency(model.data, model.family)
        assert np.all(state.statistics.prior == 0.1)
        self.seen.append(state.copy())
        return fr.moves.MoveReport()


def states_after(*moves, **settings):
    Watch.seen.clear()
    settings = {"draws": 2, "warmup": 0, **SETTINGS, **settings}
    fr.sample(CORPUS, fr.Categorical(40, 0.1), sampler=[*moves, Watch()], **settings)
    return list(Watch.seen)


def test_states_are_consistent_and_no_topic_is_outside_the_subset():
    states = states_after(SubsetSweep(0.25, 0.5), start=30, seed=2)
    model = make_model(CORPUS, fr.Categorical(40, 0.1), 1.0, 1.0)
    chosen = SubsetSweep(0.25)._chosen_groups(model, Streams(2, 0, 5, 1))
    in_subset = np.repeat(chosen, np.diff(model.data.offsets))
    assert chosen.sum() == 50
    for state in states:
        inside = set(state.topic_of_observation[in_subset].tolist())
        assert set(state.topic_of_observation[~in_subset].tolist()) <= inside


def test_subsets_of_a_chain_are_nested_and_the_same_in_every_sweep():
    model = make_model(CORPUS, None, 1.0, 1.0)
    small, again, large, other = (
        SubsetSweep(share)._chosen_groups(model, Streams(0, chain, sweep, move))
        for share, chain, sweep, move in ((0.1, 0, 1, 1), (0.1, 0, 2, 7), (0.5, 0, 3, 2), (0.1, 1, 1, 1))
    )
    assert np.array_equal(small, again)
    assert not np.array_equal(small, other)
    assert np.all(large[small])
    assert (small.sum(), large.sum()) == (20, 100)


def test_the_same_bits_again():
    first, again = (states_after(SubsetSweep(0.5, 0.5), start=10, seed=3)[-1] for _ in range(2))
    assert np.array_equal(first.topic_of_observation, again.topic_of_observation)


def test_predicted_topics_have_the_right_frequencies():
    counts, prior, sizes = np.array([[3, 0, 7], [1, 5, 0]], np.int32), np.array([0.5, 0.25]), [4, 0, 7]
    words = np.repeat([0, 1], 20_000)
    in_subset = np.zeros(len(words), np.bool_)
    in_subset[::4] = True
    labels = np.full(len(words), -1, np.int32)
    index = CategoryIndex(np.arange(len(words), dtype=np.int32), np.array([0, 20_000, 40_000]))
    topics, shares = np.array([0, 2]), np.array([0.8, 0.9])
    state = Streams(1, 0, 0, 0).rng_state()[0]
    predict_topics(index, in_subset, counts, prior, topics, shares, np.empty(2), state, labels)
    assert np.all(labels[in_subset] == -1)
    for word in (0, 1):
        drawn = labels[(words == word) & ~in_subset]
        weights = shares * (counts[word, topics] + prior[word])
        assert goodness_of_fit(drawn.tolist(), topics.tolist(), weights / weights.sum()) > SMALLEST_P
    assert sizes[1] == 0


def test_topics_are_found_on_a_subset():
    """After a warm-up of subsets alone, all groups have the topics of the data."""
    growing = in_phases(
        (0.5,), SubsetSweep(0.25, 0.5), in_turn(DirectAssignment(), fr.moves.TableGibbs(), Concentrations())
    )
    posterior = fr.sample(
        CORPUS, fr.Categorical(40, 0.1), sampler=[growing], warmup=60, draws=60, seed=1, start=40, **SETTINGS
    )
    truth = fr.sample(
        CORPUS, fr.Categorical(40, 0.1), warmup=0, draws=60, seed=1, start=PLANTED.labels, **SETTINGS
    )
    known, found = truth.trace["log_joint"][0], posterior.trace["log_joint"][0]
    assert abs(found.mean() - known.mean()) < 4.0 * known.std()


@pytest.mark.parametrize(("share", "factor"), [(0.0, 1.0), (1.0, 1.0), (0.5, 0.0)])
def test_bad_settings_are_refused(share, factor):
    with pytest.raises(InputError):
        SubsetSweep(share, factor)


def test_it_is_refused_where_it_cannot_work():
    with pytest.raises(InputError, match="approximate"):
        fr.check_move(SubsetSweep())
    with pytest.raises(InputError, match="learns its prior"):
        resolve([SubsetSweep()], make_model(CORPUS, fr.Categorical(40, fr.Gamma(1.0, 1.0)), 1.0, 1.0))


def test_only_large_corpora_of_many_documents_grow():
    words = list(map(str, range(4000)))
    many, few = (
        fr.Corpus.from_tokens([np.arange(MODERATE // documents + 1) % 4000] * documents, words)
        for documents in (MANY_GROUPS, MANY_GROUPS - 1)
    )
    for corpus, grows in ((CORPUS, False), (few, False), (many, True)):
        schedule = resolve("direct", make_model(corpus, None, fr.Gamma(1.0, 1.0), 1.0)).schedule
        assert any(isinstance(move, SubsetSweep) for move in moves_of(schedule)) == grows
        assert all(move.exact_for for move in moves_of(schedule, warmup=False))
