"""The two sides of one document, drawn jointly and exactly, as from an urn.

In a scan the topics' parameters are integrated out: a document's observations are weighed by what the sides contain
of all other documents,

    A_i = f_0(x_i),   B_i = f_1(x_i),

and given these its sides are drawn jointly, as from an urn with a_0 = alpha beta_b, a_1 = alpha beta_c:

    P_i(r) = P_{i-1}(r - 1) A_i (a_0 + r - 1) + P_{i-1}(r) B_i (a_1 + i - 1 - r)

where r counts those on side 0 among the first i: forwards for the sums, backwards for the draw.  Very long
documents are drawn in pieces, each given those before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import shared_helper

PIECE = 32
"""The most observations of a document whose sides are drawn jointly."""


class Members(NamedTuple):
    """The observations of a topic, or of two, document by document."""

    observations: np.ndarray  # int64 (n,): their indices
    documents: np.ndarray  # int64 (D + 1,): document d has the places from documents[d] to documents[d + 1]


class Urn(NamedTuple):
    """Scratch arrays for one piece of a document."""

    sums: np.ndarray  # float64 (PIECE + 1, PIECE + 1): P_i(r), each row up to a factor
    densities: np.ndarray  # float64 (PIECE, 2): A_i and B_i up to a common factor
    ones: np.ndarray  # float64 (2,)


@shared_helper
def fill_densities(statistics, observations, members, begin, end, urn):
    """A_i and B_i of a piece, given what the sides hold now, or given their parameters."""
    for place in range(begin, end):
        family_ops.fill_weights(
            statistics, observations, members.observations[place], urn.ones, 2, urn.densities[place - begin]
        )


@shared_helper
def fill_sums(size, left, right, urn):
    """P_i(r) for a piece of `size`, the urn holding `left` and `right` before; log of the sum of all P_n."""
    sums = urn.sums
    sums[0, 0] = 1.0
    log_scale = 0.0
    for drawn in range(size):
        first, second = urn.densities[drawn, 0], urn.densities[drawn, 1]
        largest = 0.0
        for ones in range(drawn + 2):
            value = 0.0
            if ones > 0:
                value += sums[drawn, ones - 1] * first * (left + ones - 1)
            if ones <= drawn:
                value += sums[drawn, ones] * second * (right + drawn - ones)
            sums[drawn + 1, ones] = value
            largest = max(largest, value)
        for ones in range(drawn + 2):
            sums[drawn + 1, ones] /= largest
        log_scale += math.log(largest)
    total = 0.0
    for ones in range(size + 1):
        total += sums[size, ones]
    return log_scale + math.log(total)


@shared_helper
def log_weight_of_sides(sides, begin, end, left, right, urn):
    """Log of the product of the terms that lead to the given sides of a piece."""
    total = 0.0
    for place in range(begin, end):
        if sides[place] == 0:
            total += math.log(urn.densities[place - begin, 0] * left)
            left += 1.0
        else:
            total += math.log(urn.densities[place - begin, 1] * right)
            right += 1.0
    return total


@shared_helper
def draw_piece(begin, size, left, right, urn, rng_state, sides):
    """Draw the sides of a piece: how many are on side 0, then who, backwards."""
    sums = urn.sums
    total = 0.0
    for ones in range(size + 1):
        total += sums[size, ones]
    target = next_uniform(rng_state) * total
    ones = 0
    while ones < size and target >= sums[size, ones]:
        target -= sums[size, ones]
        ones += 1
    for drawn in range(size, 0, -1):
        first, second = 0.0, 0.0
        if ones > 0:
            first = sums[drawn - 1, ones - 1] * urn.densities[drawn - 1, 0] * (left + ones - 1)
        if ones < drawn:
            second = sums[drawn - 1, ones] * urn.densities[drawn - 1, 1] * (right + drawn - 1 - ones)
        if next_uniform(rng_state) * (first + second) < first:
            sides[begin + drawn - 1] = 0
            ones -= 1
        else:
            sides[begin + drawn - 1] = 1


@shared_helper
def take_document(statistics, observations, members, document, sides):
    """Take the observations of a document out of their sides."""
    for place in range(members.documents[document], members.documents[document + 1]):
        family_ops.remove(statistics, observations, members.observations[place], sides[place])


@shared_helper
def put_document(statistics, observations, members, document, sides):
    """Put the observations of a document into their sides."""
    for place in range(members.documents[document], members.documents[document + 1]):
        family_ops.add(statistics, observations, members.observations[place], sides[place])


@shared_helper
def weigh_piece(statistics, observations, members, begin, end, left, right, urn):
    """All that a draw of the sides of a piece needs; log of the sum of the weights of all sides."""
    fill_densities(statistics, observations, members, begin, end, urn)
    return fill_sums(end - begin, left, right, urn)


@shared_helper
def left_among(sides, begin, end):
    """How many of a piece are on side 0."""
    count = 0
    for place in range(begin, end):
        if sides[place] == 0:
            count += 1
    return count


@shared_helper
def draw_document(statistics, observations, members, document, concentrations, urn, rng_state, sides):
    """Draw the sides of a document that is in neither; the log probability of what was drawn."""
    left, right = concentrations[0], concentrations[1]
    log_probability = 0.0
    last = members.documents[document + 1]
    for begin in range(members.documents[document], last, PIECE):
        end = min(begin + PIECE, last)
        log_total = weigh_piece(statistics, observations, members, begin, end, left, right, urn)
        draw_piece(begin, end - begin, left, right, urn, rng_state, sides)
        log_probability += log_weight_of_sides(sides, begin, end, left, right, urn) - log_total
        on_left = left_among(sides, begin, end)
        left, right = left + on_left, right + (end - begin - on_left)
    return log_probability


@shared_helper
def score_document(statistics, observations, members, document, concentrations, urn, sides):
    """The log probability that `draw_document` would have drawn the given sides."""
    left, right = concentrations[0], concentrations[1]
    log_probability = 0.0
    last = members.documents[document + 1]
    for begin in range(members.documents[document], last, PIECE):
        end = min(begin + PIECE, last)
        log_total = weigh_piece(statistics, observations, members, begin, end, left, right, urn)
        log_probability += log_weight_of_sides(sides, begin, end, left, right, urn) - log_total
        on_left = left_among(sides, begin, end)
        left, right = left + on_left, right + (end - begin - on_left)
    return log_probability
