"""Where chains start: every kind, and every way to get it wrong."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.checks.enumeration import canonical
from franchise.model.hdp_model import usual_topics
from franchise.model.state import Seating, Weights
from franchise.running.starts import make_start, start_streams, starts_of_chains
from franchise.sampling import make_model

SHUFFLED = fr.Groups([0, 1, 2, 0, 1, 2, 2, 1, 0, 0], list("abababcacb"))
MODEL = make_model(SHUFFLED, fr.Categorical(3), 1.0, fr.Gamma(2.0, 4.0))


def start(what, view=Weights, seed=0, chain=0, data=SHUFFLED, model=MODEL):
    state = make_start(what, model, view, data.to_grouped_order, start_streams(seed, chain))
    state.check_consistency(model.data, model.family)
    return state


def test_the_concentrations_start_at_their_value_or_mean():
    for what in (None, 3, "sequential", np.zeros(10, int)):
        state = start(what)
        assert (state.group_concentration, state.top_concentration) == (1.0, 0.5)


def test_a_number_of_topics():
    state = start(4)
    assert state.topic_count <= 4
    many = np.concatenate([start(4, seed=seed).topic_of_observation for seed in range(300)])
    assert np.abs(np.bincount(many) / len(many) - 0.25).max() < 0.03
    assert start(1).topic_count == 1


def test_nothing_said_is_the_square_root():
    assert [usual_topics(n) for n in (1, 2, 4, 5, 100, 10**6, 10**7)] == [1, 2, 2, 3, 10, 100, 177]
    np.testing.assert_array_equal(
        start(None).topic_of_observation, start(usual_topics(10)).topic_of_observation
    )


@pytest.mark.parametrize("view", [Weights, Seating])
def test_sequentially(view):
    state = start("sequential", view)
    assert isinstance(state, view)
    assert (state.topics(MODEL.data) >= 0).all()


def test_labels_are_in_input_order():
    labels = np.array([5, 5, 9, 5, 9, 5, 0, 0, 9, 5])
    for given in (labels, labels.tolist(), labels.astype(np.uint8), tuple(labels.tolist())):
        state = start(given)
        back = SHUFFLED.to_input_order(state.topics(MODEL.data))
        assert canonical(back) == canonical(labels)


def test_labels_of_any_size_take_no_room():
    assert start(np.array([0, 10**12] * 5)).capacity < 20


def test_chains_start_differently_and_seeds_count():
    starts = {tuple(start(4, seed=s, chain=c).topic_of_observation) for s in range(3) for c in range(3)}
    assert len(starts) == 9


@pytest.mark.parametrize("view", [Weights, Seating])
def test_a_state_is_copied(view):
    first = start("sequential", view)
    second = start(first)
    assert second is not first
    np.testing.assert_array_equal(second.topics(MODEL.data), first.topics(MODEL.data))
    if view is Weights:
        second.topic_of_observation[:] = 0
    else:
        second.table_of_observation[:] = 0
    first.check_consistency(MODEL.data, MODEL.family)


def test_lists_are_for_chains():
    labels = np.zeros(10, int)
    mixed = [None, 3, "sequential", labels]
    assert starts_of_chains(mixed, 4, 10) is mixed
    assert starts_of_chains([1, 2], 2, 10) == [1, 2]
    assert starts_of_chains(7, 3, 10) == [7, 7, 7]
    assert starts_of_chains(labels.tolist(), 4, 10) == [labels.tolist()] * 4


@pytest.mark.filterwarnings("ignore:no move in the sampler draws the topics")
def test_each_chain_from_its_own_start():
    one, two = [0] * 10, list(range(10))
    kept = fr.moves.TopicWeights()  # leaves the topics as they are
    posterior = fr.sample(
        SHUFFLED,
        fr.Categorical(3),
        sampler=[kept],
        alpha=1.0,
        gamma=1.0,
        start=[one, two, 2],
        chains=3,
        draws=1,
        warmup=0,
        keep_labels=True,
    )
    assert canonical(posterior.labels[0, 0]) == tuple(one)
    assert canonical(posterior.labels[1, 0]) == tuple(two)
    assert posterior.trace["n_topics"][2, 0] <= 2


@pytest.mark.filterwarnings("ignore:no move in the sampler draws the topics")
def test_the_last_state_of_a_run_is_a_start():
    first = fr.sample(
        SHUFFLED, fr.Categorical(3), sampler="crf", draws=3, warmup=3, keep_labels=True, chains=2
    )
    again = fr.sample(
        SHUFFLED,
        fr.Categorical(3),
        sampler=[fr.moves.TopicWeights()],
        alpha=1.0,
        gamma=1.0,
        start=first.states,
        draws=1,
        warmup=0,
        keep_labels=True,
        chains=2,
    )
    for chain in range(2):
        assert canonical(again.labels[chain, 0]) == canonical(first.labels[chain, -1])


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (0, ["start", "1 or more", "0"]),
        (-3, ["start", "-3"]),
        (2.5, ["start must be", "2.5"]),
        (True, ["start must be", "True"]),
        ("sequentially", ["start must be", "'sequential'", "'sequentially'"]),
        ({"a": 1}, ["start must be", "{'a': 1}"]),
        (np.zeros((2, 5), int), ["start must be", "(2, 5)"]),
        (np.zeros(10), ["start must be", "float64"]),
        (np.zeros(9, int), ["9 labels", "10 labels"]),
        (np.array([0] * 9 + [-1]), ["negative", "-1"]),
        ([1, 2, 3], ["start as a list", "2 chains", "got 3"]),
        ([], ["start as a list", "got 0"]),
        ([None, [0, 1]], ["2 labels", "10 labels"]),
        ([None, "random"], ["start must be", "'random'"]),
        ([[0], [1, [2]]], ["start must be|1 labels"]),
    ],
)
def test_wrong_starts(what, words, tmp_path):
    with pytest.raises(fr.InputError) as caught:
        fr.sample(
            SHUFFLED, fr.Categorical(3), start=what, draws=1, warmup=0, chains=2, run_dir=tmp_path / "run"
        )
    for word in words:
        assert any(choice in str(caught.value) for choice in word.split("|"))
    assert not (tmp_path / "run").exists()


# --- a saved state under another model ----------------------------------------------------------------------


def saved(data=SHUFFLED, family=None, sampler="direct", **settings):
    family = fr.Categorical(3) if family is None else family
    return fr.sample(data, family, sampler=sampler, draws=2, warmup=5, chains=1, **settings).states[0]


def test_a_state_of_another_number_of_observations_is_refused():
    other = fr.Groups([0, 1], [0, 1])
    with pytest.raises(fr.InputError, match="state of the same data; got 10 observations instead of 2"):
        fr.sample(other, fr.Categorical(3), start=saved(), draws=1, warmup=0)


@pytest.mark.parametrize("name", ["alpha", "gamma"])
def test_a_fixed_concentration_counts_more_than_that_of_a_saved_state(name):
    posterior = fr.sample(
        SHUFFLED, fr.Categorical(3), start=saved(), draws=2, warmup=1, chains=1, **{name: 7.5}
    )
    np.testing.assert_array_equal(posterior.trace[name], 7.5)


@pytest.mark.parametrize("before", [0.1, fr.Gamma(1.0, 1.0)], ids=["fixed", "learned"])
def test_the_familys_prior_counts_more_than_that_of_a_saved_state(before):
    state = saved(family=fr.Categorical(3, before))
    posterior = fr.sample(SHUFFLED, fr.Categorical(3, 2.0), start=state, draws=2, warmup=1, chains=1)
    np.testing.assert_array_equal(posterior.states[0].statistics.prior, 2.0)


def test_a_state_of_other_data_is_counted_anew():
    """As many observations, other ones: labels are labels, statistics are not.

    Counts that are not those of the data become negative and then lead out of the arrays, so only the start
    is made here.
    """
    other = fr.Groups([2, 2, 2, 2, 2, 0, 0, 0, 0, 0], [0] * 5 + [1] * 5)
    model = make_model(other, fr.Categorical(3), 1.0, 1.0)
    state = make_start(saved(), model, Weights, other.to_grouped_order, start_streams(0, 0))
    state.check_consistency(model.data, model.family)


def test_a_state_of_another_family_is_counted_anew_or_refused():
    counts = fr.Groups([5, 1, 9, 8, 0, 0, 1, 7, 7, 6], [0] * 5 + [1] * 5)
    state = saved()
    model = make_model(counts, fr.Poisson(), 1.0, 1.0)
    try:
        again = make_start(state, model, Weights, counts.to_grouped_order, start_streams(0, 0))
    except fr.InputError:
        return
    assert isinstance(again.statistics, fr.Poisson.Statistics)
    again.check_consistency(model.data, model.family)


def test_a_seating_of_other_groups_is_refused():
    """Without a check this ends in a segmentation fault, so only the start is made here."""
    other = fr.Groups(SHUFFLED.observations, range(10))
    model = make_model(other, fr.Categorical(3), 1.0, 1.0)
    with pytest.raises(fr.InputError, match="group"):
        make_start(saved(sampler="crf"), model, Seating, other.to_grouped_order, start_streams(0, 0))


def test_a_huge_number_of_topics_takes_no_room():
    assert start(200_000).capacity < 100


def test_a_seating_of_groups_of_other_sizes_is_refused():
    """Two groups of 2 and 8 are not two of 5 and 5, though every table number fits."""
    before, other = fr.Groups(range(10), [0] * 2 + [1] * 8), fr.Groups(range(10), [0] * 5 + [1] * 5)
    state = saved(before, fr.Categorical(10), "crf", alpha=0.3)
    assert state.table_of_observation.max() < 5
    model = make_model(other, fr.Categorical(10), 1.0, 1.0)
    with pytest.raises(fr.InputError, match="group"):
        make_start(state, model, Seating, other.to_grouped_order, start_streams(0, 0))


@pytest.mark.parametrize("view", ["direct", "crf"])
def test_a_state_of_another_family_starts_one_whose_prior_is_learned(view):
    state = saved(family=fr.Poisson(), sampler=view)
    model = make_model(SHUFFLED, fr.Categorical(3, fr.Gamma(2.0, 4.0)), 1.0, 1.0)
    again = make_start(state, model, Weights, SHUFFLED.to_grouped_order, start_streams(0, 0))
    again.check_consistency(model.data, model.family)
    assert model.family.prior_value(again.statistics) == 0.5
    np.testing.assert_array_equal(again.topics(model.data), state.topics(model.data))


def test_table_counts_of_other_groups_are_forgotten():
    other = fr.Groups(SHUFFLED.observations, range(10))
    state = saved(alpha=0.1)
    model = make_model(other, fr.Categorical(3), 1.0, 1.0)
    again = make_start(state, model, Weights, other.to_grouped_order, start_streams(0, 0))
    assert again.cell_tables is None or again.cell_tables.customers.tolist() == [1] * 10
