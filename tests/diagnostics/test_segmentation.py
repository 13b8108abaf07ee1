"""Scores of boundaries: by hand, against plain loops, and what they must be at the extremes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import franchise as fr
from franchise.diagnostics import best_boundaries, p_k, window_diff
from franchise.errors import InputError

SCORES = [p_k, window_diff]


def flags(text: str) -> list[bool]:
    """Flags of a text in which segments are apart: "abc de" has five sentences, the fourth begins a segment."""
    return [part == 0 for segment in text.split() for part in range(len(segment))]


def naive_scores(reference, found, window):
    """P_k and WindowDiff, by counting the boundaries after sentence i up to sentence i + k, for each i."""
    n = len(reference)
    disagree = differ = 0
    for i in range(n - window):
        true = sum(bool(reference[j]) for j in range(i + 1, i + window + 1))
        ours = sum(bool(found[j]) for j in range(i + 1, i + window + 1))
        disagree += (true == 0) != (ours == 0)
        differ += true != ours
    return disagree / (n - window), differ / (n - window)


def naive_window(reference):
    """Half the mean length of the segments, halves up, from the segments themselves."""
    lengths = [1]
    for begins in reference[1:]:
        if begins:
            lengths.append(1)
        else:
            lengths[-1] += 1
    return int(np.floor(sum(lengths) / len(lengths) / 2 + 0.5))


@pytest.mark.parametrize(
    ("reference", "found", "window", "wrong_p_k", "wrong_window_diff"),
    [
        # the windows are pairs of gaps: 12, 23, 34, 45; the truth has 0, 1, 1, 0 boundaries in them
        ("abc def", "abc def", 2, 0, 0),
        ("abc def", "abcdef", 2, 2, 2),  # missed: 0, 0, 0, 0
        ("abc def", "ab cdef", 2, 2, 2),  # too early by one: 1, 1, 0, 0
        ("abc def", "a bcdef", 2, 3, 3),  # by two: 1, 0, 0, 0
        ("abc def", "abc d ef", 2, 1, 2),  # one too many: 0, 1, 2, 1
        ("abc def", "ab c d ef", 2, 2, 4),  # two too many: 1, 2, 2, 1
        ("abc def", "abc def", 5, 0, 0),  # one window, over all
        ("abc def", "a bcdef", 5, 0, 0),  # which does not see where
        ("abc def", "a b cdef", 5, 0, 1),
        ("a b", "ab", 1, 1, 1),
        ("a b c d", "abcd", 1, 3, 3),
        ("ab cd", "abc d", 1, 2, 2),  # gaps by themselves: one missed, one made up
    ],
)
def test_by_hand(reference, found, window, wrong_p_k, wrong_window_diff):
    true, ours = flags(reference), flags(found)
    windows = len(true) - window
    assert p_k(true, ours, window) == wrong_p_k / windows
    assert window_diff(true, ours, window) == wrong_window_diff / windows


def random_pair(rng):
    n = int(rng.integers(2, 40))
    return rng.random(n) < rng.random(), rng.random(n) < rng.random()


def test_against_loops():
    rng = np.random.default_rng(0)
    for _ in range(300):
        reference, found = random_pair(rng)
        window = int(rng.integers(1, len(reference)))
        expected = naive_scores(reference, found, window)
        assert (p_k(reference, found, window), window_diff(reference, found, window)) == expected


def test_the_window_is_half_a_segment_of_the_reference():
    rng = np.random.default_rng(1)
    for _ in range(300):
        reference, found = random_pair(rng)
        window = naive_window(reference)
        assert 1 <= window < len(reference)
        for score in SCORES:
            assert score(reference, found) == score(reference, found, window)


@pytest.mark.parametrize(
    ("reference", "window"),
    [("abcdef ghij", 3), ("abcdef", 3), ("abcde", 3), ("a b c", 1), ("abc de", 1), ("abc", 2), ("ab", 1)],
)  # halves of 5, 6, 5, 1, 2.5, 3, 2
def test_windows_by_hand(reference, window):
    true = flags(reference)
    assert naive_window(true) == window
    for place in range(1, len(true)):
        found = np.arange(len(true)) == place
        assert window_diff(true, found) == window_diff(true, found, window)


@pytest.mark.parametrize("score", SCORES)
def test_perfect_is_zero_and_only_perfect_in_single_gaps(score):
    rng = np.random.default_rng(2)
    for _ in range(100):
        reference, found = random_pair(rng)
        assert score(reference, reference) == 0.0
        assert score(reference, found, 1) == np.mean(reference[1:] != found[1:])


def test_the_first_sentence_and_the_type_do_not_matter():
    rng = np.random.default_rng(3)
    for _ in range(50):
        reference, found = random_pair(rng)
        other_reference, other_found = reference.copy(), found.copy()
        other_reference[0], other_found[0] = ~reference[0], ~found[0]
        for score in SCORES:
            value = score(reference, found)
            assert score(other_reference, found) == score(reference, other_found) == value
            assert score(reference.astype(int), found.tolist()) == value


def test_window_diff_is_never_below_p_k():
    rng = np.random.default_rng(4)
    for _ in range(200):
        reference, found = random_pair(rng)
        window = int(rng.integers(1, len(reference)))
        assert 0.0 <= p_k(reference, found, window) <= window_diff(reference, found, window) <= 1.0


def test_nowhere_and_everywhere():
    """Segments of 10, so windows of 5: of 95 windows, the 9 true boundaries are in 45, one in each."""
    reference = np.arange(100) % 10 == 0
    nowhere, everywhere = np.zeros(100, bool), np.ones(100, bool)
    assert p_k(reference, nowhere) == window_diff(reference, nowhere) == 45 / 95
    assert p_k(reference, everywhere) == 50 / 95
    assert window_diff(reference, everywhere) == 1.0
    assert p_k(nowhere, everywhere) == p_k(everywhere, nowhere) == 1.0
    assert p_k(nowhere, nowhere) == p_k(everywhere, everywhere) == 0.0


def test_near_misses_cost_less():
    reference = np.arange(100) == 50
    for score in SCORES:
        by_distance = [score(reference, np.arange(100) == 50 + away, 10) for away in range(15)]
        assert by_distance == [2 * min(away, 10) / 90 for away in range(15)]


def test_the_table_of_sentences_goes_in():
    """Flags for each sentence, the first one's being a switch for certain."""
    texts = ["The cat sat. The cat purred. The ship sailed. The ship sank."] * 20
    table = fr.HTMM(2, inference="em", sentences="simple").fit(texts).sentence_topics()
    for _, rows in table.groupby("document", sort=False):
        assert fr.diagnostics.window_diff(flags("ab cd"), rows["switch"] > 0.5) == 0.0


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("reference", "found", "window", "words"),
    [
        pytest.param([1, 0, 1], [1, 0], None, ["reference", "found", "3", "2"], id="lengths"),
        pytest.param([True], [True], None, ["2 sentences", "1"], id="no gap"),
        pytest.param([], [], None, ["2 sentences", "0"], id="nothing"),
        pytest.param([1, 0, 1], [0.5, 0.2, 0.9], None, ["found", "0.5", "threshold"], id="probabilities"),
        pytest.param([1, 3, 5], [1, 0, 1], None, ["reference", "[1, 3, 5]", "positions"], id="positions"),
        pytest.param([[1, 0], [0, 1]], [1, 0], None, ["reference", "flat array"], id="two dimensions"),
        pytest.param([1, 0], [[1, 0], [0]], None, ["found", "flat array"], id="several documents"),
        pytest.param([1, 0], "no", None, ["found", "'no'"], id="words"),
        pytest.param([1, 0, 1], [1, 0, 1], 0, ["window", "from 1 to 2", "0"], id="no window"),
        pytest.param([1, 0, 1], [1, 0, 1], 3, ["window", "from 1 to 2", "3"], id="window too long"),
        pytest.param([1, 0, 1], [1, 0, 1], 1.5, ["window", "1.5"], id="half a sentence"),
    ],
)
def test_wrong_input(score, reference, found, window, words):
    with pytest.raises(InputError) as caught:
        score(reference, found, window)
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"


@pytest.mark.parametrize("segments", [None, 1, 3, 6])
@pytest.mark.parametrize("window", [1, 2, 3])
def test_best_boundaries_are_the_best_of_all(segments, window):
    rng = np.random.default_rng([window, segments or 0])
    draws = rng.random((5, 6)) < 0.4
    found = best_boundaries(draws, segments, window)

    def expected(flags):
        return np.mean([p_k(draw, flags, window) for draw in draws])

    every = [np.array((True, *later)) for later in itertools.product((False, True), repeat=5)]
    allowed = [flags for flags in every if segments is None or flags.sum() == segments]
    assert found[0]
    assert segments in (None, found.sum())
    assert expected(found) == pytest.approx(min(map(expected, allowed)))


def test_best_boundaries_of_one_draw_are_its_own():
    draw = np.array([True, False, False, True, False, False, True, False, False])
    assert best_boundaries(draw).tolist() == draw.tolist()
    assert best_boundaries([[True]]).tolist() == [True]
    with pytest.raises(fr.InputError, match="segments"):
        best_boundaries(draw, 10)
