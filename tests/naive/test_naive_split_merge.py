"""Tests of the split-merge twin: the law of one step is known exactly, so almost nothing here is random.

A step is exact when the posterior over partitions of the tables is stationary, sum_c pi(c) P(c, c') = pi(c'),
to the last digits. Planted bugs must break that by far more; how many tables it takes to see each of them is
part of what is tested. Only `draw_step` is judged by frequencies, with fixed seeds.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from tests.naive import crf, families, frequencies, split_merge
from tests.naive.choices import log_sum_exp, normalised
from tests.naive.partitions import all_partitions
from tests.support.nightly import nightly

# --- small seatings and data --------------------------------------------------------------------------------


def _seating(first_group, second_group):
    """Two groups from lists of the observations at each table, every table with dish 0."""
    return {
        "a": [{"dish": 0, "observations": list(observations)} for observations in first_group],
        "b": [{"dish": 0, "observations": list(observations)} for observations in second_group],
    }


SEATINGS = {
    "3 tables": _seating([[0, 2], [1]], [[3, 4, 5]]),
    "4 tables": _seating([[0, 2], [1]], [[3, 4], [5]]),
    "4 tables, uneven": _seating([[0], [1, 2], [5]], [[3, 4]]),
    "4 tables, one group": _seating([[0, 4], [1], [2, 3], [5]], []),
    "5 tables": _seating([[0, 2], [1]], [[3], [4], [5]]),
}
DATA = {
    "categorical": (families.Categorical([0.3, 0.3, 0.3]), [0, 0, 1, 1, 2, 0]),
    "poisson": (families.Poisson(1.5, 0.4), [1, 6, 0, 7, 4, 2]),
    "gaussian": (families.GaussianKnownPrecision(1, 0.4, 2.0), [-1.2, 0.9, -0.3, 1.4, 0.2, -0.8]),
}


def _seating_of_words(counts):
    """A seating and its words, from how often each table has each word; two tables in the first group."""
    words, tables = [], []
    for of_table in counts:
        block = [word for word, count in enumerate(of_table) for _ in range(count)]
        tables.append(range(len(words), len(words) + len(block)))
        words += block
    return _seating(tables[:2], tables[2:]), words


def _posterior(state, observations, family, gamma):
    """Dictionary partition of the tables -> exact probability given the seats."""
    tables = split_merge.tables_of_state(state)
    return normalised(
        {
            partition: split_merge.log_weight_of_tables(partition, tables, observations, family, gamma)
            for partition in all_partitions(len(tables))
        }
    )


def _transitions(state, observations, family, gamma, scans=0):
    """The whole matrix: dictionary partition -> row."""
    rows = {}
    for partition in all_partitions(len(split_merge.tables_of_state(state))):
        start = split_merge.with_partition(state, partition)
        rows[partition] = split_merge.transition_probabilities(start, observations, family, gamma, scans)
    return rows


def _distance_from_stationarity(exact, rows):
    """The largest |sum_c pi(c) P(c, c') - pi(c')|."""
    return max(abs(sum(exact[c] * rows[c].get(d, 0.0) for c in exact) - exact[d]) for d in exact)


def _distance_from_detailed_balance(exact, rows):
    """The largest |pi(c) P(c, c') - pi(c') P(c', c)|."""
    return max(
        abs(exact[c] * rows[c].get(d, 0.0) - exact[d] * rows[d].get(c, 0.0))
        for c, d in itertools.combinations(exact, 2)
    )


# --- the target ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("seating", SEATINGS)
def test_weight_of_tables_is_the_joint_of_the_seating_up_to_a_constant(seating, data):
    state, (family, observations) = SEATINGS[seating], DATA[data]
    tables = split_merge.tables_of_state(state)
    shifts = []
    for partition in all_partitions(len(tables)):
        dressed = split_merge.with_partition(state, partition)
        assert split_merge.partition_of_state(dressed) == partition
        joint = crf.log_joint_of_seating(dressed, observations, family, 1.3, 0.8)
        shifts.append(joint - split_merge.log_weight_of_tables(partition, tables, observations, family, 0.8))
    np.testing.assert_allclose(shifts, shifts[0], atol=1e-10)


def test_acceptance_without_q_is_a_ratio_of_weights():
    family, observations = DATA["poisson"]
    state = SEATINGS["5 tables"]
    tables = split_merge.tables_of_state(state)

    def log_weight(partition):
        return split_merge.log_weight_of_tables(partition, tables, observations, family, 0.8)

    for partition in all_partitions(5):
        for first, second in itertools.permutations(range(5), 2):
            if partition[first] == partition[second]:
                continue
            sides = split_merge.present_sides(first, second, partition)
            merged = split_merge.after_merge(partition, first, second)
            assert split_merge.after_split(merged, sides) == partition
            ratio = split_merge.log_acceptance_of_split(sides, 0.0, tables, observations, family, 0.8)
            assert ratio == pytest.approx(log_weight(partition) - log_weight(merged), abs=1e-10)


# --- the step by hand ---------------------------------------------------------------------------------------


def test_three_tables_by_hand():
    """Words 0, 0, 1 at three tables, prior (1/2, 1/2), gamma 1/4: fractions written out.

    f(0) = f(1) = 1/2, f(00) = 3/8, f(01) = 1/8, f(001) = 1/16. From one topic:

        seeds 0 2 and 1 2    q = 3/4, A = 1/4 * 1/2 * 3 / q = 1/2    to {0 1} {2}
        seeds 0 2            q = 1/4, A = 1/4 * 1/2 * 1 / q = 1/2    to {0} {1 2};  1 2: to {1} {0 2}
        seeds 0 1            q = 1/2, A = 1/4 * 1/2 * 1 / q = 1/4    to each of these
    """
    state, words, family = _seating([[0], [1]], [[2]]), [0, 0, 1], families.Categorical([0.5, 0.5])
    for scans in range(3):
        rows = _transitions(state, words, family, 0.25, scans)
        assert rows[0, 0, 0] == pytest.approx(
            {(0, 0, 0): 7 / 12, (0, 0, 1): 1 / 4, (0, 1, 0): 1 / 12, (0, 1, 1): 1 / 12}
        )
        assert rows[0, 0, 1] == pytest.approx({(0, 0, 1): 5 / 18, (0, 0, 0): 2 / 3, (0, 1, 2): 1 / 18})
        assert rows[0, 1, 2] == pytest.approx(
            {(0, 1, 2): 0.0, (0, 0, 1): 1 / 3, (0, 1, 0): 1 / 3, (0, 1, 1): 1 / 3}
        )


def test_a_merge_uses_the_probability_of_the_split_that_undoes_it():
    """Topics {0 1} {2} of the last test with gamma 4: A_split = 4 * 1/2 * 3 / q, so A_merge = q / 6."""
    state, words, family = _seating([[0], [1]], [[2]]), [0, 0, 1], families.Categorical([0.5, 0.5])
    row = split_merge.transition_probabilities(
        split_merge.with_partition(state, (0, 0, 1)), words, family, 4.0
    )
    assert row[0, 0, 0] == pytest.approx(2 / 3 * (3 / 4) / 6)


@pytest.mark.parametrize("scans", [0, 1, 2])
@pytest.mark.parametrize("state", [{}, {"a": []}, {"a": [{"dish": 3, "observations": [0, 1]}], "b": []}])
def test_fewer_than_two_tables_stay_as_they_are(state, scans):
    family, before = families.Categorical([1.0, 1.0]), crf.copy_state(state)
    partition = split_merge.partition_of_state(state)
    assert split_merge.transition_probabilities(state, [0, 1], family, 0.8, scans) == {partition: 1.0}
    assert not split_merge.draw_step(state, [0, 1], family, 0.8, np.random.default_rng(1), scans)
    assert state == before


# --- passes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scans", [0, 1, 2])
def test_launches_are_a_distribution_over_full_sides(scans):
    family, observations = DATA["categorical"]
    tables = split_merge.tables_of_state(SEATINGS["4 tables"])
    launches = split_merge.all_launches(1, 3, (2, 0), scans, tables, observations, family)
    assert len(launches) == 4**scans
    assert math.exp(log_sum_exp(log_probability for _, log_probability in launches)) == pytest.approx(1.0)
    for sides, _ in launches:
        assert set(sides) == ({1, 3} if scans == 0 else {0, 1, 2, 3})
        assert (sides[1], sides[3]) == (0, 1)


@pytest.mark.parametrize("data", nightly(DATA, but=["categorical"]))
def test_a_restricted_scan_leaves_the_posterior_of_the_sides_invariant(data):
    """It is a Gibbs sweep with the seeds tied down, so this holds in any order of the tables."""
    family, observations = DATA[data]
    tables = split_merge.tables_of_state(SEATINGS["5 tables"])
    every_side = [
        {1: 0, 3: 1} | dict(zip((0, 2, 4), side, strict=True)) for side in itertools.product((0, 1), repeat=3)
    ]
    exact = normalised(
        {
            tuple(sorted(sides.items())): split_merge.log_acceptance_of_split(
                sides, 0.0, tables, observations, family, 0.8
            )
            for sides in every_side
        }
    )
    for order in itertools.permutations((0, 2, 4)):
        after = dict.fromkeys(exact, 0.0)
        for start, probability in exact.items():
            passes = split_merge.all_passes(dict(start), order, tables, observations, family)
            for sides, log_q in passes:
                after[tuple(sorted(sides.items()))] += probability * math.exp(log_q)
                assert log_q == split_merge.log_probability_of_pass(
                    sides, dict(start), order, tables, observations, family
                )
        assert after == pytest.approx(exact, abs=1e-12)


def test_scans_change_nothing_for_one_table_between_the_seeds_and_something_for_two():
    """One table between two seeds draws its side from the seeds alone, however often: q does not change."""
    family, observations = DATA["categorical"]
    three = [_transitions(SEATINGS["3 tables"], observations, family, 0.8, scans) for scans in range(3)]
    for partition in three[0]:
        assert three[1][partition] == pytest.approx(three[0][partition], abs=1e-12)
        assert three[2][partition] == pytest.approx(three[0][partition], abs=1e-12)
    four = [
        split_merge.transition_probabilities(SEATINGS["4 tables"], observations, family, 0.8, scans)
        for scans in range(3)
    ]
    assert frequencies.total_variation(four[0], four[1]) > 1e-3
    assert frequencies.total_variation(four[1], four[2]) > 1e-4


# --- stationarity, exactly ----------------------------------------------------------------------------------


STATIONARITY_CASES = [
    (seating, data, scans)
    for seating in SEATINGS
    for data in DATA
    for scans in ((0, 1, 2) if seating != "5 tables" else (0, 1) if data == "categorical" else (0,))
]


@pytest.mark.parametrize(
    ("seating", "data", "scans"),
    nightly(STATIONARITY_CASES, but=[("4 tables", "categorical", 0), ("4 tables", "poisson", 1)]),
)
def test_posterior_is_stationary_and_in_detailed_balance(seating, data, scans):
    state, (family, observations) = SEATINGS[seating], DATA[data]
    for gamma in (0.2, 0.8, 5.0) if scans == 0 and seating != "5 tables" else (0.8,):
        exact = _posterior(state, observations, family, gamma)
        rows = _transitions(state, observations, family, gamma, scans)
        for row in rows.values():
            assert set(row) <= set(exact)
            assert min(row.values()) >= 0.0
            assert math.fsum(row.values()) == pytest.approx(1.0, abs=1e-12)
        assert _distance_from_stationarity(exact, rows) < 1e-10
        assert _distance_from_detailed_balance(exact, rows) < 1e-10


def test_every_partition_can_be_reached():
    family, observations = DATA["categorical"]
    rows = _transitions(SEATINGS["4 tables"], observations, family, 0.8)
    reached = {(0, 0, 0, 0)}
    for _ in range(4):
        reached |= {after for partition in reached for after, p in rows[partition].items() if p > 0}
    assert reached == set(all_partitions(4))


# --- planted bugs: stationarity must fail -------------------------------------------------------------------

RIGHT = {
    name: getattr(split_merge, name)
    for name in (
        "log_acceptance_of_split",
        "log_prior_ratio_of_split",
        "log_probability_of_pass",
        "orders",
    )
}


def _acceptance_without_q(sides, log_q, *arguments):
    return RIGHT["log_acceptance_of_split"](sides, 0.0, *arguments)


def _factorials_swapped(first_count, second_count, gamma):
    return 2 * math.log(gamma) - RIGHT["log_prior_ratio_of_split"](first_count, second_count, gamma)


def _one_side_after_the_other(others, sides):
    """In a merge: first the tables of the first seed's topic, then those of the second's, as numbered."""
    if sides is None:
        return RIGHT["orders"](others, sides)
    return [tuple(sorted(others, key=lambda table: (sides[table], table)))]


def _one_side_after_the_other_shuffled(others, sides):
    """The same, but the tables of each topic in a random order among themselves."""
    if sides is None:
        return RIGHT["orders"](others, sides)
    of_side = [[table for table in others if sides[table] == side] for side in (0, 1)]
    return [
        before + after
        for before in itertools.permutations(of_side[0])
        for after in itertools.permutations(of_side[1])
    ]


def _launch_from_the_present_sides(target, start, *arguments):
    """In a merge the last scan starts from the sides as they are, not from a launch."""
    has_launch = len(start) == len(target)
    return RIGHT["log_probability_of_pass"](target, target if has_launch else start, *arguments)


def _distance_with_bug(state, observations, family, gamma, scans, monkeypatch, part, bug):
    monkeypatch.setattr(split_merge, part, bug)
    exact = _posterior(state, observations, family, gamma)
    rows = _transitions(state, observations, family, gamma, scans)
    for row in rows.values():
        assert math.fsum(row.values()) == pytest.approx(1.0, abs=1e-12)
    return _distance_from_stationarity(exact, rows)


@pytest.mark.parametrize("scans", nightly([0, 1], but=[0]))
@pytest.mark.parametrize("data", nightly(DATA, but=["categorical"]))
@pytest.mark.parametrize("seating", nightly(["3 tables", "4 tables"], but=["4 tables"]))
@pytest.mark.parametrize(
    ("part", "bug"),
    [
        ("log_acceptance_of_split", _acceptance_without_q),
        ("log_prior_ratio_of_split", _factorials_swapped),
    ],
    ids=["q forgotten", "factorials swapped"],
)
def test_a_wrong_acceptance_is_caught(seating, data, scans, part, bug, monkeypatch):
    family, observations = DATA[data]
    state = SEATINGS[seating]
    assert _distance_with_bug(state, observations, family, 0.8, scans, monkeypatch, part, bug) > 1e-2


@pytest.mark.parametrize("data", nightly(DATA, but=["categorical"]))
def test_a_launch_that_looks_at_the_present_sides_is_caught(data, monkeypatch):
    family, observations = DATA[data]
    arguments = monkeypatch, "log_probability_of_pass", _launch_from_the_present_sides
    state = SEATINGS["4 tables"]
    assert _distance_with_bug(state, observations, family, 0.8, 0, *arguments) < 1e-10  # there is no launch
    assert _distance_with_bug(state, observations, family, 0.8, 1, *arguments) > 1e-3


ORDER_COUNTS = {  # how often each table has each word, chosen so that the order matters much
    "4 tables": ([(2, 2), (1, 2), (3, 0), (1, 0)], 0.1, 1.0),
    "5 tables": ([(0, 4), (3, 0), (3, 2), (0, 1), (1, 3)], 0.1, 0.3),
    "5 tables, three alike": ([(0, 3), (3, 2), (3, 2), (0, 3), (0, 3)], 1.0, 0.3),
}


@pytest.mark.parametrize(
    ("case", "bug", "least"),
    [
        ("4 tables", _one_side_after_the_other, 5e-3),
        ("5 tables", _one_side_after_the_other, 1e-2),
        ("5 tables, three alike", _one_side_after_the_other_shuffled, 1.5e-3),
    ],
)
def test_an_order_that_looks_at_the_present_sides_is_caught(case, bug, least, monkeypatch):
    counts, prior, gamma = ORDER_COUNTS[case]
    state, words = _seating_of_words(counts)
    family = families.Categorical([prior, prior])
    exact = _posterior(state, words, family, gamma)
    assert _distance_from_stationarity(exact, _transitions(state, words, family, gamma)) < 1e-10
    assert _distance_with_bug(state, words, family, gamma, 0, monkeypatch, "orders", bug) > least


@pytest.mark.parametrize("data", nightly(DATA, but=["categorical"]))
def test_what_it_takes_to_see_a_wrong_order(data, monkeypatch):
    """A lesson: with three tables no order is wrong, with four it is hard to get one wrong.

    Two tables between the seeds have two orders, and when each is on its own side, swapping the seeds swaps
    the sides: both orders come up equally often. Only an order within one side can be wrong.
    """
    family, observations = DATA[data]
    arguments = monkeypatch, "orders", _one_side_after_the_other
    assert _distance_with_bug(SEATINGS["3 tables"], observations, family, 0.8, 0, *arguments) < 1e-10
    arguments = monkeypatch, "orders", _one_side_after_the_other_shuffled
    assert _distance_with_bug(SEATINGS["4 tables"], observations, family, 0.8, 0, *arguments) < 1e-10


def test_stationarity_does_not_see_a_wrong_weight_of_a_side_but_the_law_of_the_step_does(monkeypatch):
    """A lesson: m_side left out of the weights everywhere is another exact sampler, with a poorer proposal."""
    family, observations = DATA["categorical"]
    state, right = SEATINGS["4 tables"], split_merge.log_weights_of_side
    exact = _posterior(state, observations, family, 0.8)
    rows = _transitions(state, observations, family, 0.8)

    def without_tables(table, sides, *arguments):
        log_weights = right(table, sides, *arguments)
        counts = Counter(side for other, side in sides.items() if other != table)
        return {side: log_weight - math.log(counts[side]) for side, log_weight in log_weights.items()}

    monkeypatch.setattr(split_merge, "log_weights_of_side", without_tables)
    wrong_rows = _transitions(state, observations, family, 0.8)
    assert _distance_from_stationarity(exact, wrong_rows) < 1e-10
    assert max(frequencies.total_variation(wrong_rows[c], rows[c]) for c in rows) > 0.05


# --- the drawn step -----------------------------------------------------------------------------------------

STARTS = [(0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 1, 1), (0, 1, 0, 2)]


def _draws(state, observations, family, gamma, scans, count, seed):
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(count):
        after = crf.copy_state(state)
        split_merge.draw_step(after, observations, family, gamma, rng, scans)
        draws.append(split_merge.partition_of_state(after))
    return draws


@pytest.mark.parametrize(
    ("data", "scans"),
    [
        ("categorical", 1),
        *nightly([("categorical", 0), ("categorical", 2), ("poisson", 0), ("poisson", 1), ("gaussian", 0)]),
    ],
)
def test_drawn_steps_have_the_enumerated_frequencies(data, scans):
    family, observations = DATA[data]
    for seed, partition in enumerate(STARTS):
        state = split_merge.with_partition(SEATINGS["4 tables"], partition)
        exact = split_merge.transition_probabilities(state, observations, family, 0.8, scans)
        draws = _draws(state, observations, family, 0.8, scans, 1000, 70 + seed)
        assert set(draws) <= {after for after, probability in exact.items() if probability > 0}
        distance, threshold, _ = frequencies.compare_draws(
            draws, exact, np.random.default_rng(1), independent=True
        )
        assert distance < threshold


def test_drawn_steps_differ_from_an_enumeration_that_forgets_q(monkeypatch):
    family, observations = DATA["categorical"]
    state = SEATINGS["4 tables"]
    draws = _draws(state, observations, family, 0.8, 0, 1000, 81)
    monkeypatch.setattr(split_merge, "log_acceptance_of_split", _acceptance_without_q)
    wrong = split_merge.transition_probabilities(state, observations, family, 0.8)
    distance, threshold, _ = frequencies.compare_draws(
        draws, wrong, np.random.default_rng(1), independent=True
    )
    assert distance > threshold


def test_a_drawn_step_changes_dishes_only_and_says_so():
    rng = np.random.default_rng(82)
    family, observations = DATA["gaussian"]
    state = split_merge.with_partition(SEATINGS["5 tables"], (7, 2, 7, 7, 4))
    tables, accepted_steps = split_merge.tables_of_state(state), 0
    for _ in range(200):
        before = split_merge.partition_of_state(state)
        accepted = split_merge.draw_step(state, observations, family, 0.8, rng)
        after = split_merge.partition_of_state(state)
        assert accepted == (after != before)
        assert abs(len(set(after)) - len(set(before))) == int(accepted)
        assert split_merge.tables_of_state(state) == tables
        accepted_steps += accepted
    assert 20 < accepted_steps < 180
