"""Gamma draws by the million, for the parameters of topics over categories.

Cells (word, topic) with observations have shapes eta + n above 1: Marsaglia & Tsang's method (ACM Transactions on
Mathematical Software 26, 2000), with normals by their ziggurat (Journal of Statistical Software 5, 2000) in
Doornik's form (2005).

But most cells have no observations, so most draws are of one small shape eta.  Where all words have one eta, small
draws are by inversion: sixteen random bits choose one of 2^16 intervals of equal probability, sixteen more the
place in it, evenly.  A draw is then off by at most some 1e-5 of itself, unless it is below 1e-12, where nothing
depends on it.  In the last intervals that would not do, nor in the first ones of a larger shape: these few draws
are drawn again, by rejection, and by the power series of the distribution function.

Words with etas of their own use Ahrens & Dieter's algorithm GS (Computing 12, 1974) cell by cell:  with
b = 1 + eta / e and p uniform on (0, b),  x = p^(1 / eta) if p <= 1, accepted with probability exp(-x);  else
x = -log((b - p) / eta), accepted with probability x^(eta - 1).  Where eta is small nearly all draws are below
1e-12, by far: these are passed over and left at zero, as many at a time as a geometric draw says; the others are
drawn given that they are not below (p uniform on (1e-12^eta, b)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.random import xoshiro
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.runtime.padding import padded_zeros

INTERVALS = 2**16

NEGLIGIBLE = 1e-12
"""Draws below it are as good as zero: a topic with no other draws for a word has a sum of order one."""


class SmallGammas(NamedTuple):
    """What draws of one shape below 1 are read off; see the docstring of the module."""

    shape: float
    quantiles: np.ndarray  # float32 (INTERVALS + 1,)
    beyond: float  # draws as large as this are drawn again
    below: float  # draws smaller than this, too
    share_below: float  # the probability of these


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
_LAST_LAYER = np.uint64(255)

_32 = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@shared_helper
def next_exponential(rng_state):
    """An exponential with mean one."""
    return -math.log(1.0 - xoshiro.next_uniform(rng_state))


@shared_helper
def next_small_gamma(rng_state, shape, least):
    """Gamma(shape), 0 < shape < 1, given that it is not below least^(1 / shape); from the beginning."""
    bound = 1.0 + shape / math.e
    while True:
        position = least + (bound - least) * xoshiro.next_uniform(rng_state)
        if position <= 1.0:
            value = position ** (1.0 / shape)
            if next_exponential(rng_state) > value:
                return value
        else:
            value = -math.log((bound - position) / shape)
            if xoshiro.next_uniform(rng_state) <= value ** (shape - 1.0):
                return value


@shared_helper
def next_gamma(rng_state, shape):
    """Gamma(shape), shape >= 1."""
    normal = next_normal(rng_state)
    return finish_gamma(rng_state, shape, normal, 1.0 - xoshiro.next_uniform(rng_state))


@shared_helper
def finish_gamma(rng_state, shape, normal, uniform):
    """Gamma(shape), shape >= 1, whose first try is made with this normal and uniform."""
    centre = shape - 1.0 / 3.0
    spread = 1.0 / math.sqrt(9.0 * centre)
    while True:
        root = 1.0 + spread * normal
        if root > 0.0:
            cube, square = root * root * root, normal * normal
            if uniform < 1.0 - 0.0331 * square * square:
                return centre * cube
            if math.log(uniform) < 0.5 * square + centre * (1.0 - cube + math.log(cube)):
                return centre * cube
        normal, uniform = next_normal(rng_state), 1.0 - xoshiro.next_uniform(rng_state)


@kernel
def draw_auxiliary(queue, sizes, alpha, rng_states, logs, switches):
    """Sums of log Beta(alpha + 1, n_j), and of Bernoulli(n_j / (n_j + alpha)), over blocks of groups.

    A Beta(a, b) is x / (x + y) with gammas x and y of the shapes a and b.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own, log_sum, count = rng_states[block].copy(), 0.0, 0
        for group in range(begin, end):
            size = sizes[group]
            first = next_gamma(own, alpha + 1.0)
            log_sum += math.log(first / (first + next_gamma(own, np.float64(size))))
            count += xoshiro.next_uniform(own) * (size + alpha) < size
        logs[block], switches[block] = log_sum, count


@shared_helper
def next_normal(rng_state):
    """A standard normal."""
    return normal_of(xoshiro.next_word(rng_state), rng_state)


@shared_helper
def normal_of(word, rng_state):
    """A standard normal: from one of 256 layers of equal area, each a rectangle and a bit of the curve.

    Most of the time the random word is enough; else more of them are made.
    """
    while True:
        layer = np.int64(word & _LAST_LAYER)
        signed = 2.0 * xoshiro.uniform_of(word) - 1.0
        if abs(signed) < INSIDE[layer]:
            return signed * EDGES[layer]
        if layer == 0:
            return math.copysign(next_in_tail(rng_state), signed)
        value = signed * EDGES[layer]
        lower = math.exp(-0.5 * (EDGES[layer] * EDGES[layer] - value * value))
        upper = math.exp(-0.5 * (EDGES[layer + 1] * EDGES[layer + 1] - value * value))
        if lower + xoshiro.next_uniform(rng_state) * (upper - lower) < 1.0:
            return value
        word = xoshiro.next_word(rng_state)


@shared_helper
def next_in_tail(rng_state):
    """A normal given that it is above the last layer's edge (Marsaglia, 1964)."""
    while True:
        beyond = next_exponential(rng_state) / TAIL
        if 2.0 * next_exponential(rng_state) > beyond * beyond:
            return TAIL + beyond


@shared_helper
def next_beyond(rng_state, shape, bound):
    """Gamma(shape), 0 < shape < 1, given that it is above a bound: by rejection from the bound + an exponential.

    With r = x / bound, x is kept with probability r^(shape - 1); since 1 <= r^shape <= 1 + shape (r - 1), the power
    is seldom needed.
    """
    while True:
        value = bound + next_exponential(rng_state)
        ratio = value / bound
        scaled = xoshiro.next_uniform(rng_state) * ratio
        if scaled <= 1.0 or (scaled <= 1.0 + shape * (ratio - 1.0) and scaled <= ratio**shape):
            return value


@shared_helper
def next_below(rng_state, shape, share):
    """Gamma(shape), 0 < shape < 1, given that it is among the smallest, a share so small that x is far below 1.

    The distribution function is x^a / Gamma(a + 1) (1 - x a / (a + 1) + ...), so with t^a = Gamma(a + 1) U the draw
    is x = t (1 + t / (a + 1)), up to terms in t^3.
    """
    power = (math.gamma(shape + 1.0) * share * xoshiro.next_uniform(rng_state)) ** (1.0 / shape)
    return power * (1.0 + power / (shape + 1.0))


BATCH = 32
"""Words whose draws are made together."""


class Batch(NamedTuple):
    """Scratch arrays for the draws of some words that are not read off the quantiles; one place per cell."""

    places: np.ndarray  # int64: of a cell, counted from the first of these words
    shapes: np.ndarray  # float64
    normals: np.ndarray  # float64
    random: np.ndarray  # uint64 (2, ...): for the normals, for the uniforms
    bits: np.ndarray  # uint32, one for each slot
    flags: np.ndarray  # uint8, one for each slot, and zeros to a multiple of 8


def room_for_batch(slots: int) -> Batch:
    """Scratch arrays for as many words as are drawn together."""
    size = BATCH * slots
    return Batch(
        places=np.empty(size + 8, np.int64),
        shapes=np.empty(size),
        normals=np.empty(size),
        random=np.empty((2, size), np.uint64),
        bits=padded_zeros(slots, np.uint32),
        flags=padded_zeros(-(-slots // 8) * 8, np.uint8),
    )


@kernel
def draw_rows_by_table(queue, small, counts, whole, vacant, rng_states, batch, out, totals):
    """Gamma(whole + shape + n_kw) for all words w (rows) and topics k, whole >= 0; zero in the vacant slots.

    `counts` and `out`, single precision, are (words, slots). Block b has the generator ``words[b]``; the sums over
    its words go into ``totals[b]``.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own, sums = rng_states[block].copy(), np.zeros(out.shape[1])
        for first in range(begin, end, BATCH):
            last = min(first + BATCH, end)
            draw_batch(small, counts[first:last], whole, own, batch, out[first:last])
            finish_batch(vacant, out[first:last], sums)
        totals[block] = sums


@shared_helper
def draw_batch(small, counts, whole, rng_state, batch, out):
    """The draws of some words, for all slots."""
    slots = counts.shape[1]
    found = 0
    for row in range(len(counts)):
        fill_bits(rng_state, batch.bits)
        read_quantiles(small.quantiles, batch.bits, out[row])
        found = list_others(small, counts[row], whole, out[row], row * slots, found, batch)
    draw_others(small, counts.reshape(counts.size), whole, rng_state, batch, found, out.reshape(out.size))


@shared_helper
def finish_batch(vacant, out, totals):
    """Zeros for vacant slots; the sums over these words are added to `totals`."""
    for row in range(len(out)):
        for slot in vacant:
            out[row, slot] = 0.0
        for topic in range(len(totals)):
            totals[topic] += out[row, topic]


@helper
def list_others(small, counts, whole, values, begin, found, batch):
    """List the cells of a word whose draws are not read off the quantiles; how many are listed by now.

    They are few, so eight at a time are looked at.
    """
    most = np.int32(-1 if whole > 0 else 0)
    beyond, below = np.float32(small.beyond), np.float32(small.below)
    for topic in range(len(counts)):
        batch.flags[topic] = np.uint8(
            (counts[topic] > most) | (values[topic] >= beyond) | (values[topic] < below)
        )
    eights = batch.flags.view(np.uint64)
    for eight in range(len(eights)):
        if eights[eight] != 0:
            for topic in range(8 * eight, 8 * eight + 8):
                batch.places[found] = begin + topic
                found += np.int64(batch.flags[topic])
    return found


@helper
def draw_others(small, counts, whole, rng_state, batch, found, out):
    """Draw the cells that are listed, in steps that each go over all: few of them need more than these."""
    xoshiro.fill_words(rng_state, batch.random[0, :found])
    xoshiro.fill_words(rng_state, batch.random[1, :found])
    for place in range(found):
        batch.shapes[place] = counts[batch.places[place]] + whole + small.shape
        batch.normals[place] = normal_of(batch.random[0, place], rng_state)
    for place in range(found):
        shape, normal, cell = batch.shapes[place], batch.normals[place], batch.places[place]
        centre = shape - 1.0 / 3.0
        root = 1.0 + normal / math.sqrt(9.0 * max(centre, 1.0 / 9.0))
        square, uniform = normal * normal, 1.0 - xoshiro.uniform_of(batch.random[1, place])
        if shape >= 1.0 and root > 0.0 and uniform < 1.0 - 0.0331 * square * square:
            out[cell] = np.float32(centre * root * root * root)
        else:
            out[cell] = np.float32(drawn_with_care(small, shape, normal, uniform, out[cell], rng_state))


@helper
def fill_bits(rng_state, out):
    """32 random bits each; two from each random word."""
    last = len(out) - len(out) % 2
    first, second, third, fourth = rng_state[0], rng_state[1], rng_state[2], rng_state[3]
    for index in range(0, last, 2):
        word, first, second, third, fourth = xoshiro.stepped(first, second, third, fourth)
        out[index] = np.uint32(word >> _32)
        out[index + 1] = np.uint32(word & _LOW)
    rng_state[0], rng_state[1], rng_state[2], rng_state[3] = first, second, third, fourth
    if last < len(out):
        out[last] = np.uint32(xoshiro.next_word(rng_state) >> _32)


@shared_helper
def read_quantiles(quantiles, bits, out):
    """Draws from random bits: half of them choose the interval, half the place in it."""
    for place in range(len(out)):
        interval = np.int32(bits[place] >> np.uint32(16))
        part = np.float32(np.int32(bits[place] & np.uint32(INTERVALS - 1))) * np.float32(1.0 / INTERVALS)
        width = quantiles[interval + 1] - quantiles[interval]
        out[place] = quantiles[interval] + width * part


@shared_helper
def drawn_with_care(small, shape, normal, uniform, value, rng_state):
    """A draw whose normal and uniform do not pass the quick test, or one in the first or last intervals."""
    if shape >= 1.0:
        return finish_gamma(rng_state, shape, normal, uniform)
    if value < small.below:
        return next_below(rng_state, small.shape, small.share_below)
    return next_beyond(rng_state, small.shape, small.beyond)


@kernel
def draw_rows(queue, counts, topics, prior, rng_states, out, totals):
    """Gamma(prior_w + n_kw), as above, for words with priors of their own and the topics listed."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own, sums = rng_states[block].copy(), np.zeros(out.shape[1])
        for row in range(begin, end):
            out[row] = 0.0
            draw_row(counts[row], topics, prior[row], own, out[row])
            for topic in topics:
                sums[topic] += out[row, topic]
        totals[block] = sums


@shared_helper
def draw_row(counts, topics, shape, rng_state, out):
    """The draws of one word; those that would be negligible stay as they are."""
    least, log_negligible = 0.0, -math.inf
    if shape < 1.0:
        least = NEGLIGIBLE**shape
        log_negligible = math.log(least) - math.lgamma(shape + 1.0)
    passed = xoshiro.next_gap(rng_state, log_negligible)
    for topic in topics:
        if counts[topic] > 0 or shape >= 1.0:
            out[topic] = next_gamma(rng_state, shape + counts[topic])
        elif passed > 0:
            passed -= 1
        else:
            out[topic] = next_small_gamma(rng_state, shape, least)
            passed = xoshiro.next_gap(rng_state, log_negligible)
