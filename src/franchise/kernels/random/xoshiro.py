"""A fast source of uniforms for the inner loops of kernels.

The generator xoshiro256++ (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM Transactions
on Mathematical Software 47, 2021).  Its state is four words of 64 bits; it is set up with words of a named Philox
stream (`franchise.kernels.random.streams.Streams.rng_state`), so it is as reproducible as those, and a sixth of
the price of a call
to a NumPy generator.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.runtime.compile import helper, shared_helper

_UNIT = 2.0**-53

_11, _17, _19, _23, _41, _45 = (np.uint64(bits) for bits in (11, 17, 19, 23, 41, 45))


@helper
def stepped(first, second, third, fourth):
    """The next 64 random bits, and the four words of the state after them."""
    mixed = first + fourth
    third ^= first
    fourth ^= second
    return (
        ((mixed << _23) | (mixed >> _41)) + first,
        first ^ fourth,
        second ^ third,
        third ^ (second << _17),
        (fourth << _45) | (fourth >> _19),
    )


@shared_helper
def next_word(rng_state):
    """The next 64 random bits; `rng_state` (4,) is advanced."""
    first, second, third, fourth = rng_state[0], rng_state[1], rng_state[2], rng_state[3]
    result, first, second, third, fourth = stepped(first, second, third, fourth)
    rng_state[0], rng_state[1], rng_state[2], rng_state[3] = first, second, third, fourth
    return result


@shared_helper
def next_uniform(rng_state):
    """The next uniform in [0, 1), of 53 bits."""
    return uniform_of(next_word(rng_state))


@helper
def uniform_of(word):
    """A uniform in [0, 1), of 53 bits, from a random word."""
    return np.float64(np.int64(word >> _11)) * _UNIT


@helper
def fill_words(rng_state, out):
    """Random words, one for each place of `out`."""
    first, second, third, fourth = rng_state[0], rng_state[1], rng_state[2], rng_state[3]
    for place in range(len(out)):
        out[place], first, second, third, fourth = stepped(first, second, third, fourth)
    rng_state[0], rng_state[1], rng_state[2], rng_state[3] = first, second, third, fourth


@shared_helper
def next_gap(rng_state, log_rest):
    """Failures before the next success, each with log probability `log_rest`; without end if that is 0."""
    if log_rest == 0.0:
        return np.int64(2**62)
    return np.int64(min(math.log(1.0 - next_uniform(rng_state)) / log_rest, 2.0**62))
