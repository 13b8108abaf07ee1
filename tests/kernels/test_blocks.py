"""Blocks are cut by the data alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.kernels.runtime.blocks import cut_blocks, cut_categories


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 50))
def test_every_group_is_in_one_block_and_blocks_are_of_the_size_asked(sizes, size):
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    block_bounds = cut_blocks(offsets, size)
    assert (block_bounds[0], block_bounds[-1]) == (0, len(sizes))
    assert (np.diff(block_bounds) > 0).all()
    held = offsets[block_bounds[1:]] - offsets[block_bounds[:-1]]
    longest = max(sizes)
    assert (held < size + longest + size).all()


def test_the_usual_size():
    block_bounds = cut_blocks(np.arange(0, 100_001, 100))
    assert len(block_bounds) - 1 == pytest.approx(100_000 / 2**14, abs=1)


def test_many_blocks_can_be_shared_evenly():
    block_bounds = cut_blocks(np.arange(0, 440_001, 100))
    assert len(block_bounds) - 1 == 32
    assert np.ptp(np.diff(block_bounds)) <= 1


@given(st.integers(1, 40_000))
def test_every_category_is_in_one_block(total):
    block_bounds = cut_categories(total)
    assert (block_bounds[0], block_bounds[-1]) == (0, total)
    sizes = np.diff(block_bounds)
    assert 0 < min(sizes) <= max(sizes) <= 1024
    assert max(sizes) - min(sizes) <= 1
