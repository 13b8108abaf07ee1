"""Gamma draws by the million, for the parameters of topics over categories.

Cells (word, topic) with observations have shapes eta + n above 1: Marsaglia & Tsang's method (ACM Transactions on
Mathematical Software 26, 2000), with normals by their ziggurat (Journal of Statistical Software 5, 2000) in
Doornik's form (2005).

But most cells have no observations, so most draws are of one small shape eta.  Where all words have one eta, small
draws are by inversion.  With U uniform, x is close to a multiple of
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

BEYOND = 1.0
"""Where the table of small draws ends."""


class SmallGammas(NamedTuple):
    """Tables for draws of one shape below 1; see the docstring of the module."""

    shape: float
    exponents: np.ndarray  # float32 (32,): 2^((e - 31) / shape)
    mantissas: np.ndarray  # float32 (2^b + 1,): ((1 + i / 2^b) / 2)^(1 / shape)
    ratios: np.ndarray  # float32: x / q at even steps of q, from 0 to `highest`, where x is BEYOND
    highest: float


def _layers(count: int, tail: float) -> np.ndarray:
    """Right edges of layers of equal area under exp(-x^2 / 2), widest first; the first has the tail, too."""
    height = math.exp(-0.5 * tail * tail)
    area = tail * height + math.sqrt(math.pi / 2.0) * math.erfc(tail / math.sqrt(2.0))
    edges = [area / height, tail]
    for _ in range(count - 2):
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0])


TAIL = 3.6541528853610088  # with which 256 layers of equal area end at 0
EDGES = _layers(256, TAIL)
INSIDE = EDGES[1:] / EDGES[:-1]
_LAST_LAYER, _11 = np.uint64(255), np.uint64(11)

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
def next_gamma(words, shape):
    """Gamma(shape), shape >= 1."""
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
    """A standard normal: from one of 256 layers of equal area, each a rectangle and a bit of the curve."""
    while True:
        word = next_word(words)
        layer = np.int64(word & _LAST_LAYER)
        signed = 2.0 * (np.float64(np.int64(word >> _11)) * 2.0**-53) - 1.0
        if abs(signed) < INSIDE[layer]:
            return signed * EDGES[layer]
        if layer == 0:
            return math.copysign(next_in_tail(words), signed)
        value = signed * EDGES[layer]
        lower = math.exp(-0.5 * (EDGES[layer] * EDGES[layer] - value * value))
        upper = math.exp(-0.5 * (EDGES[layer + 1] * EDGES[layer + 1] - value * value))
        if lower + next_uniform(words) * (upper - lower) < 1.0:
            return value


@shared_helper
def next_in_tail(words):
    """A normal given that it is above the last layer's edge (Marsaglia, 1964)."""
    while True:
        beyond = next_exponential(words) / TAIL
        if 2.0 * next_exponential(words) > beyond * beyond:
            return TAIL + beyond


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
            out[row, topic] = completed(words, small, counts[row, topic] + whole)


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
def completed(words, small, count):
    """A draw as it should be: drawn anew if there are observations, or if it is beyond the table."""
    if count > 0:
        return np.float32(next_gamma(words, count + small.shape))
    return np.float32(next_beyond(words, small.shape))


@kernel
def draw_rows(counts, topics, prior, words, out):
    """Gamma(prior_w + n_kw), as above, for words with priors of their own."""
    for row in range(len(prior)):
        for column in range(len(topics)):
            topic = topics[column]
            shape = prior[row] + counts[row, topic]
            out[row, topic] = next_gamma(words, shape) if shape >= 1.0 else next_small_gamma(words, shape)
