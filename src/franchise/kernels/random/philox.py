"""The first words of many random streams at once.

The generator Philox4x64 with ten rounds (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2,
3", SC 2011), as NumPy has it: the same key and counter give the same words.  To ask NumPy for them one stream after
the other takes as long as drawing thousands of numbers.
"""

from __future__ import annotations

import numpy as np

from franchise.kernels.runtime.compile import helper, kernel

_ROUNDS = 10
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_FIRST_STEP, _SECOND_STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)


@kernel
def fill_words(key, counter, out):
    """Fill ``out[b, i]`` (four words) from the counter (i + 1, counter[1], counter[2] + b, counter[3])."""
    for block in range(len(out)):
        for number in range(out.shape[1]):
            first, second = np.uint64(number + 1), counter[1]
            third, fourth = counter[2] + np.uint64(block), counter[3]
            first_key, second_key = key[0], key[1]
            for _ in range(_ROUNDS):
                first, second, third, fourth = (
                    high_half(_SECOND_FACTOR, third) ^ second ^ first_key,
                    _SECOND_FACTOR * third,
                    high_half(_FIRST_FACTOR, first) ^ fourth ^ second_key,
                    _FIRST_FACTOR * first,
                )
                first_key += _FIRST_STEP
                second_key += _SECOND_STEP
            rng_state = out[block, number]
            rng_state[0], rng_state[1], rng_state[2], rng_state[3] = first, second, third, fourth


@helper
def high_half(first, second):
    """The upper 64 bits of a product."""
    low, high = first & _LOW, first >> _32
    other_low, other_high = second & _LOW, second >> _32
    cross, other_cross = low * other_high, high * other_low
    carry = ((low * other_low) >> _32) + (cross & _LOW) + (other_cross & _LOW)
    return high * other_high + (cross >> _32) + (other_cross >> _32) + (carry >> _32)
