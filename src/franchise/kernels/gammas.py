"""Gamma draws by the million, for the parameters of topics over categories.

Most cells (word, topic) have no observations, so most draws are of one small shape eta; a cell with n observations
adds n exponentials:

    Gamma(eta + n) = Gamma(eta) + Gamma(n)

Where all words have one eta, small draws are by inversion.  With U uniform, x is close to a multiple of
q = U^(1 / eta) where it is small, and x / q is a smooth function of q everywhere, read off a table, linear in
between.  The power itself is made of the bits of U as a float: one table has it for the exponent, another for the
mantissa.  So a draw is a few table lookups, in vector registers, right to six digits and more.  Draws beyond BEYOND
are made anew, by rejection.

Words with etas of their own use Ahrens & Dieter's algorithm GS (Computing 12, 1974) cell by cell:  with
b = 1 + eta / e and p uniform on (0, b),  x = p^(1 / eta) if p <= 1, accepted with probability exp(-x);  else
x = -log((b - p) / eta), accepted with probability x^(eta - 1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.compile import helper, kernel, shared_helper
from franchise.kernels.xoshiro import next_uniform, next_word

FEW = 12
"""Up to so many exponentials are multiplied as uniforms: their product cannot underflow."""

BEYOND = 1.0
"""Where the table of small draws ends."""


class SmallGammas(NamedTuple):
    """Tables for draws of one shape below 1; see the docstring of the module."""

    shape: float
    exponents: np.ndarray  # float32 (32,): 2^((e - 31) / shape)
    mantissas: np.ndarray  # float32 (2^b + 1,): ((1 + i / 2^b) / 2)^(1 / shape)
    ratios: np.ndarray  # float32: x / q at even steps of q, from 0 to `highest`, where x is BEYOND
    highest: float


LARGEST = 2.0**32 - 2.0**8  # the next single float is 2^32

_32 = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@shared_helper
def next_exponential(words):
    """An exponential with mean one."""
    return -math.log(1.0 - next_uniform(words))


@shared_helper
def next_small_gamma(words, shape):
    """Gamma(shape), 0 < shape < 1, from the beginning."""
    bound = 1.0 + shape / math.e
    while True:
        position = bound * next_uniform(words)
        if position <= 1.0:
            value = position ** (1.0 / shape)
            if next_exponential(words) > value:
                return value
        else:
            value = -math.log((bound - position) / shape)
            if next_uniform(words) <= value ** (shape - 1.0):
                return value


@shared_helper
def next_whole_gamma(words, shape):
    """Gamma(n) for a whole number n >= 1: exponentials if they are few, else Marsaglia & Tsang (2000)."""
    if shape <= FEW:
        product = 1.0
        for _ in range(shape):
            product *= 1.0 - next_uniform(words)
        return -math.log(product)
    centre = shape - 1.0 / 3.0
    spread = 1.0 / math.sqrt(9.0 * centre)
    while True:
        normal = next_normal(words)
        root = 1.0 + spread * normal
        if root > 0.0:
            cube, square = root * root * root, normal * normal
            uniform = 1.0 - next_uniform(words)
            if uniform < 1.0 - 0.0331 * square * square:
                return centre * cube
            if math.log(uniform) < 0.5 * square + centre * (1.0 - cube + math.log(cube)):
                return centre * cube


@shared_helper
def next_normal(words):
    """A standard normal, by Marsaglia's polar method."""
    while True:
        first = 2.0 * next_uniform(words) - 1.0
        second = 2.0 * next_uniform(words) - 1.0
        square = first * first + second * second
        if 0.0 < square < 1.0:
            return first * math.sqrt(-2.0 * math.log(square) / square)


@shared_helper
def next_beyond(words, shape):
    """Gamma(shape), 0 < shape < 1, given that it is above BEYOND = 1: by rejection from 1 + an exponential.

    x is kept with probability x^(shape - 1); since 1 <= x^shape <= 1 + shape (x - 1), the power is seldom needed.
    """
    while True:
        excess = next_exponential(words)
        value = 1.0 + excess
        scaled = next_uniform(words) * value
        if scaled <= 1.0 or (scaled <= 1.0 + shape * excess and scaled <= value**shape):
            return value


@kernel
def draw_rows_by_table(small, counts, whole, words, places, out, bits):
    """Gamma(whole + shape + n_kw) for some words w (rows) and all topics k, whole >= 0.

    `counts` and `out`, single precision, are (words, slots); `bits` is `out` seen as int32, `places` room for a
    number by slot.
    """
    for row in range(len(counts)):
        fill_uniforms(words, out[row])
        take_powers(small, bits[row], out[row])
        read_ratios(small, out[row])
        found = 0
        for topic in range(counts.shape[1]):
            places[found] = topic
            found += np.int64((counts[row, topic] + whole > 0) | (out[row, topic] >= BEYOND))
        for place in range(found):
            topic = places[place]
            out[row, topic] = completed(words, small, out[row, topic], counts[row, topic] + whole)


@helper
def fill_uniforms(words, out):
    """2^32 times a uniform strictly between 0 and 1, in single precision; two from each random word."""
    last = len(out) - len(out) % 2
    for index in range(0, last, 2):
        word = next_word(words)
        out[index] = min(np.float64(np.int64(word >> _32)) + 0.5, LARGEST)
        out[index + 1] = min(np.float64(np.int64(word & _LOW)) + 0.5, LARGEST)
    if last < len(out):
        out[last] = min(np.float64(np.int64(next_word(words) >> _32)) + 0.5, LARGEST)


@shared_helper
def take_powers(small, bits, out):
    """U^(1 / shape) for each uniform, from its bits."""
    fine = len(small.mantissas) - 1
    shift = np.int32(23 - np.log2(fine))
    rest = np.int32((1 << shift) - 1)
    step = np.float32(1.0 / (1 << shift))
    for place in range(len(out)):
        exponent = (bits[place] >> np.int32(23)) - np.int32(127)
        below = (bits[place] >> shift) & np.int32(fine - 1)
        part = np.float32(bits[place] & rest) * step
        power = small.mantissas[below] + (small.mantissas[below + 1] - small.mantissas[below]) * part
        out[place] = small.exponents[exponent] * power


@shared_helper
def read_ratios(small, out):
    """Turn powers into draws by way of the table; beyond its end they are only too large."""
    steps = np.float32((len(small.ratios) - 1) / small.highest)
    top = np.int32(len(small.ratios) - 2)
    for place in range(len(out)):
        position = out[place] * steps
        below = min(np.int32(position), top)
        slope = small.ratios[below + 1] - small.ratios[below]
        out[place] *= small.ratios[below] + slope * (position - np.float32(below))


@shared_helper
def completed(words, small, value, count):
    """A draw as it should be: drawn anew if it is beyond the table, and with `count` exponentials added."""
    total = np.float64(value)
    if total >= BEYOND:
        total = next_beyond(words, small.shape)
    if count > 0:
        total += next_whole_gamma(words, count)
    return np.float32(total)


@kernel
def draw_rows(counts, topics, prior, words, out):
    """Gamma(prior_w + n_kw), as above, for words with priors of their own."""
    for row in range(len(prior)):
        whole = np.int64(math.floor(prior[row]))
        small = prior[row] - whole
        for column in range(len(topics)):
            topic = topics[column]
            value = next_small_gamma(words, small) if small > 0.0 else 0.0
            count = counts[row, topic] + whole
            if count > 0:
                value += next_whole_gamma(words, count)
            out[row, topic] = value
