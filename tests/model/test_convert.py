"""From one view to the other: labels unchanged, and exact in law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from franchise.checks.enumeration import canonical
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit, same_distribution, same_law
from franchise.model.state import Seating, Weights
from franchise.model.state.views import convert, draw_topic_weights, to_seating, to_weights
from tests.model.cases import ALPHA, CASES, GAMMA, GROUPS, exact, model_of, random_state, random_weights
from tests.naive import crf
from tests.naive.choices import NEW

PARTITION = (0, 0, 0, 1, 0, 1)
REPETITIONS = 4000


def seats_of(state: Seating) -> tuple[int, ...]:
    """The partition into tables."""
    return canonical(100 * np.array(GROUPS) + state.table_of_observation)


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("view", [Weights, Seating])
def test_labels_are_unchanged(family, view):
    model, rng = model_of(family), np.random.default_rng(0)
    for _ in range(20):
        state = random_state(view, model, rng)
        topics = state.topics(model.data).copy()
        other = Seating if view is Weights else Weights
        there = convert(state.copy(), other, model.data, rng)
        there.check_consistency(model.data, model.family)
        np.testing.assert_array_equal(there.topics(model.data), topics)
        back = convert(there, view, model.data, rng)
        back.check_consistency(model.data, model.family)
        np.testing.assert_array_equal(back.topics(model.data), topics)
        assert (back.group_concentration, back.top_concentration) == (ALPHA, GAMMA)


def test_a_state_in_the_view_asked_for_is_returned_as_it_is():
    model, rng = model_of("categorical"), np.random.default_rng(0)
    for view in (Weights, Seating):
        state = random_state(view, model, rng)
        assert convert(state, view, model.data, rng) is state


def test_seating_given_weights_is_that_of_the_twin():
    model, rng = model_of("categorical"), np.random.default_rng(1)
    state = random_weights(model, rng, topics=2)
    weights = {int(topic): float(state.topic_weights[topic]) for topic in state.occupied} | {NEW: 0.0}
    labels = state.topic_of_observation.tolist()

    def naive_seats(alpha: float) -> list[tuple[int, ...]]:
        seats = []
        for _ in range(REPETITIONS):
            seating = crf.draw_seating_of_weights(labels, weights, GROUPS, alpha, rng)
            tables = {
                i: (j, t) for j, ts in seating.items() for t, x in enumerate(ts) for i in x["observations"]
            }
            seats.append(canonical([100 * tables[i][0] + tables[i][1] for i in range(len(labels))]))
        return seats

    ours = [seats_of(to_seating(state.copy(), model.data, rng)) for _ in range(REPETITIONS)]
    assert same_law(ours, naive_seats(ALPHA)) > SMALLEST_P
    assert same_law(ours, naive_seats(1.6 * ALPHA)) < SMALLEST_P


def test_weights_to_seating_has_the_exact_law():
    """Weights given the partition, converted, are seats given the partition."""
    enumeration, rng = exact(), np.random.default_rng(2)
    data = enumeration.model.data
    converted = [
        seats_of(to_seating(enumeration.draw_state(Weights, PARTITION, rng), data, rng))
        for _ in range(REPETITIONS)
    ]
    direct = [seats_of(enumeration.draw_state(Seating, PARTITION, rng)) for _ in range(REPETITIONS)]
    assert same_law(converted, direct) > SMALLEST_P


@pytest.mark.parametrize("there_and_back", [False, True])
def test_seating_to_weights_has_the_exact_law(there_and_back):
    """Seats given the partition, converted, are weights given the partition; the same after a round trip."""
    enumeration, rng = exact(), np.random.default_rng(3)
    data = enumeration.model.data
    converted, direct = [], []
    for _ in range(REPETITIONS):
        if there_and_back:
            state = to_seating(enumeration.draw_state(Weights, PARTITION, rng), data, rng)
        else:
            state = enumeration.draw_state(Seating, PARTITION, rng)
        after = to_weights(state, data, rng)
        converted.append([after.unseen_weight[0], *after.topic_weights[:2]])
        fresh = enumeration.draw_state(Weights, PARTITION, rng)
        direct.append([fresh.unseen_weight[0], *fresh.topic_weights[:2]])
    for ours, theirs in zip(np.transpose(converted), np.transpose(direct), strict=True):
        assert same_distribution(ours, theirs) > SMALLEST_P


def test_a_forgotten_gamma_is_noticed():
    """The planted bug: beta ~ Dirichlet(m_1, ..., m_K, 1)."""
    enumeration, rng = exact(), np.random.default_rng(4)
    wrong, right = [], []
    for _ in range(REPETITIONS):
        seating = enumeration.draw_state(Seating, PARTITION, rng)
        wrong.append(draw_topic_weights(seating.tables_per_topic, 1.0, rng)[1][0])
        right.append(enumeration.draw_state(Weights, PARTITION, rng).unseen_weight[0])
    assert same_distribution(np.array(wrong), np.array(right)) < SMALLEST_P


def test_topic_weights_are_dirichlet():
    rng = np.random.default_rng(5)
    draws = [draw_topic_weights(np.array([3, 0, 1, 0]), 0.7, rng) for _ in range(REPETITIONS)]
    weights = np.array([np.append(beta, unseen) for beta, unseen in draws])
    np.testing.assert_array_equal(weights[:, [1, 3]], 0.0)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    for place, shape in ((0, 3.0), (2, 1.0), (4, 0.7)):
        assert stats.kstest(weights[:, place], stats.beta(shape, 4.7 - shape).cdf).pvalue > SMALLEST_P


def test_a_tiny_gamma_gives_weights_that_are_numbers():
    beta, unseen = draw_topic_weights(np.array([1, 2]), 1e-300, np.random.default_rng(6))
    assert np.isfinite(beta).all()
    assert unseen[0] == 0.0
    assert beta.sum() == pytest.approx(1.0)


def test_partitions_survive_any_number_of_conversions():
    """A chain that only changes views keeps the law of the partition it began with, trivially: it never moves."""
    enumeration, rng = exact(), np.random.default_rng(7)
    data = enumeration.model.data
    results = []
    for partition in enumeration.draw_partitions(3000, rng):
        state = enumeration.draw_state(Weights, partition, rng)
        for view in (Seating, Weights, Seating):
            state = convert(state, view, data, rng)
        results.append(canonical(state.topics(data)))
    assert goodness_of_fit(results, enumeration.partitions, enumeration.probabilities) > SMALLEST_P
