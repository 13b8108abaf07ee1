"""Slots: finding vacant ones, and the group of an observation."""

from __future__ import annotations

import numpy as np
import pytest

from franchise.kernels.crf_seating import first_vacant, group_of, slots_in_use


@pytest.mark.parametrize(
    ("sizes", "begin", "expected"),
    [([], 0, 0), ([0], 0, 0), ([3], 0, 1), ([1, 0, 2, 0], 0, 1), ([1, 0, 2, 0], 2, 3), ([1, 2], 2, 2)],
)
def test_first_vacant(sizes, begin, expected):
    assert first_vacant(np.array(sizes, np.int64), begin) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"), [([], 0), ([0, 0], 0), ([1, 0], 1), ([0, 0, 4, 0], 3), ([1, 1], 2)]
)
def test_slots_in_use(sizes, expected):
    assert slots_in_use(np.array(sizes, np.int64)) == expected


@pytest.mark.parametrize("sizes", [[3], [2, 2], [0, 3, 0, 0, 2, 0], [1] * 9, [0, 0, 1]])
def test_group_of_every_observation(sizes):
    """Empty groups have no observations, wherever they stand; past the last is ``len(offsets) - 1``."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    expected = np.repeat(np.arange(len(sizes)), sizes).tolist()
    assert [group_of(offsets, index) for index in range(offsets[-1])] == expected
    assert group_of(offsets, offsets[-1]) == len(sizes)
