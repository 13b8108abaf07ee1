"""A fast source of uniforms for the inner loops of kernels.

The generator xoshiro256++ (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM Transactions
on Mathematical Software 47, 2021).  Its state is four words of 64 bits; it is set up with words of a named Philox
stream (`franchise.streams.Streams.words`), so it is as reproducible as those, and a sixth of the price of a call
to a NumPy generator.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.compile import shared_helper

_UNIT = 2.0**-53

_11, _17, _19, _23, _41, _45 = (np.uint64(bits) for bits in (11, 17, 19, 23, 41, 45))


@shared_helper
def next_word(words):
    """The next 64 random bits; `words` (4,) is the state and moves on."""
    first, second, third, fourth = words[0], words[1], words[2], words[3]
    mixed = first + fourth
    result = ((mixed << _23) | (mixed >> _41)) + first
    third ^= first
    fourth ^= second
    words[0] = first ^ fourth
    words[1] = second ^ third
    words[2] = third ^ (second << _17)
    words[3] = (fourth << _45) | (fourth >> _19)
    return result


@shared_helper
def next_uniform(words):
    """The next uniform in [0, 1), of 53 bits."""
    return np.float64(next_word(words) >> _11) * _UNIT


@shared_helper
def next_gap(words, log_rest):
    """Failures before the next success, each with log probability `log_rest`; without end if that is 0."""
    if log_rest == 0.0:
        return np.int64(2**62)
    return np.int64(min(math.log(1.0 - next_uniform(words)) / log_rest, 2.0**62))
