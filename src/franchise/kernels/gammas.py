"""Gamma draws by the million, for the parameters of topics over categories.

Most cells (word, topic) have no observations, so most draws are of one small shape eta; a cell with n observations
adds n exponentials:

    Gamma(eta + n) = Gamma(eta) + Gamma(n)

Where all words have one eta, small draws are by inversion.  With U uniform, x is close to a multiple of
q = U^(1 / eta) where it is small, and x / q is a smooth function of q everywhere, read off a table with 4096 steps;
linear in between, it is right to seven digits, as many as are kept.  Draws beyond BEYOND are made anew, by
rejection.  Powers are taken outside, many at once, in vector registers.

Words with etas of their own use Ahrens & Dieter's algorithm GS (Computing 12, 1974) cell by cell:  with
b = 1 + eta / e and p uniform on (0, b),  x = p^(1 / eta) if p <= 1, accepted with probability exp(-x);  else
x = -log((b - p) / eta), accepted with probability x^(eta - 1).
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.compile import kernel, shared_helper
from franchise.kernels.xoshiro import next_uniform

FEW = 12
"""Up to so many exponentials are multiplied as uniforms: their product cannot underflow."""

BEYOND = 1.0
"""Where the table of small draws ends."""


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
        normal = math.sqrt(2.0 * next_exponential(words)) * math.cos(2.0 * math.pi * next_uniform(words))
        cube = (1.0 + spread * normal) ** 3
        if cube > 0.0:
            bound = 0.5 * normal * normal + centre * (1.0 - cube + math.log(cube))
            if -next_exponential(words) < bound:
                return centre * cube


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
def draw_rows_by_table(counts, topics, whole, shape, powers, table, highest, words, out):
    """Gamma(whole + shape + n_kw) for some words w (rows) and the topics k listed, whole >= 0, 0 < shape < 1.

    `powers` (words, topics) are U^(1 / shape) for the small part, `table` has x / U^(1 / shape) at steps up to
    `highest`, where x is BEYOND. `counts` and `out` are (words, slots); slots that are not listed stay as they are.
    """
    steps = np.float32((len(table) - 1) / highest)
    top = np.int32(len(table) - 2)
    for row in range(len(counts)):
        read_table(powers[row], table, steps, top)
        for column in range(len(topics)):
            value = powers[row, column]
            topic = topics[column]
            count = counts[row, topic] + whole
            if count > 0 or value >= BEYOND:
                value = add_whole(words, shape, value, count)
            out[row, topic] = value


@shared_helper
def read_table(powers, table, steps, top):
    """Turn powers into draws by way of the table, in vector registers; beyond its end they are only too large."""
    for column in range(len(powers)):
        place = powers[column] * steps
        below = min(np.int32(place), top)
        slope = table[below + 1] - table[below]
        powers[column] *= table[below] + slope * (place - np.float32(below))


@shared_helper
def add_whole(words, shape, value, count):
    """Complete a draw: what is beyond the table is drawn anew, and exponentials are added, `count` of them."""
    total = np.float64(value)
    if total >= BEYOND:
        total = next_beyond(words, shape)
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
