"""Two sides of one topic: a launch drawn from all its observations, and scans that draw a document's sides jointly.

A split shares the observations I of a topic out over two sides; a merge undoes it.  Both first draw a *launch*, a
way of sharing I out that looks only at I itself, never at how it is split now; then one scan over the documents,
whose probability is known, gives the proposal (docs/theory/launch-split-merge.md#sec-launch).

A launch begins with a crowd: a sample of the documents is shared out over several provisional topics, by Gibbs
sampling.  One of them is to be split off, side 1; all the others together are side 0.  (A blend of many topics is
hardly better off as two blends of half of them; but to take one of them out of it pays at once.)  The documents
that are not in the sample follow one by one.

In a scan a document's sides are drawn jointly, given all other documents, as from an urn.  The topics' parameters
are integrated out: a document's observations are weighed by what the sides contain of all other documents,

    A_i = f_0(x_i),   B_i = f_1(x_i),

and given these its sides are drawn with a_0 = alpha beta_b, a_1 = alpha beta_c:

    P_i(r) = P_{i-1}(r - 1) A_i (a_0 + r - 1) + P_{i-1}(r) B_i (a_1 + i - 1 - r)

where r counts those on side 0 among the first i: forwards for the sums, backwards for the draw.  Very long
documents are drawn in pieces, each given those before.

The statistics are the family's own, with three slots: the two sides, and their union.  Where parameters cannot be
integrated out, A_i and B_i are the densities under two parameters instead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.recount import shuffle
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.split_merge import count_of

UNION = 2

SCORED = np.empty(0, np.uint64)
"""In place of the state of a generator: sides are not drawn, the probability of given ones is wanted."""

_ROUNDS = 4

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
def draw_document(statistics, observations, members, document, concentrations, urn, rng_state, sides):
    """Draw the sides of a document that is in neither, unless they are given; their log probability.

    They are given if `rng_state` is empty, as `SCORED` is.
    """
    left, right = concentrations[0], concentrations[1]
    log_probability = 0.0
    last = members.documents[document + 1]
    for begin in range(members.documents[document], last, PIECE):
        end = min(begin + PIECE, last)
        fill_densities(statistics, observations, members, begin, end, urn)
        log_total = fill_sums(end - begin, left, right, urn)
        if len(rng_state) > 0:
            draw_piece(begin, end - begin, left, right, urn, rng_state, sides)
        log_probability += log_weight_of_sides(sides, begin, end, left, right, urn) - log_total
        on_left = count_of(sides[begin:end], 0)
        left, right = left + on_left, right + (end - begin - on_left)
    return log_probability


@helper
def put_all(statistics, observations, members, sides):
    """Count both sides again."""
    family_ops.clear(statistics, 0)
    family_ops.clear(statistics, 1)
    for place in range(len(sides)):
        family_ops.add(statistics, observations, members.observations[place], sides[place])


@helper
def count_sample(members, documents, sample):
    """The number of documents, in their order, that together have at least `sample` observations."""
    count, observations = 0, 0
    while count < len(documents) and observations < sample:
        document = documents[count]
        observations += members.documents[document + 1] - members.documents[document]
        count += 1
    return count


@kernel
def draw_crowd(statistics, observations, members, documents, sample, concentration, scans, rng_state, launch):
    """Two sides for a sample of the documents, which are put in random order: how many are in it.

    The statistics have a slot for each topic of the crowd, and come empty. One topic, picked uniformly from those
    that have observations, becomes side 1. `launch` comes as -1 everywhere, and goes out with the sides.
    """
    shuffle(documents, rng_state)
    sampled = count_sample(members, documents, sample)
    share_out(statistics, observations, members, documents[:sampled], concentration, scans, rng_state, launch)
    split_off(len(concentration), rng_state, launch)
    return sampled


@shared_helper
def share_out(statistics, observations, members, documents, concentration, scans, rng_state, crowd):
    """Share observations out over the topics of a crowd: one by one, given those before; then again."""
    slots = len(concentration)
    in_document, prior_weights, weights = np.zeros(slots), np.zeros(slots), np.zeros(slots)
    for times in range(scans + 1):
        for document in documents:
            begin, end = members.documents[document], members.documents[document + 1]
            in_document[:] = 0.0
            if times > 0:
                for place in range(begin, end):
                    in_document[crowd[place]] += 1.0
            for place in range(begin, end):
                index = members.observations[place]
                if times > 0:
                    in_document[crowd[place]] -= 1.0
                    family_ops.remove(statistics, observations, index, crowd[place])
                for topic in range(slots):
                    prior_weights[topic] = in_document[topic] + concentration[topic]
                total = family_ops.fill_topic_weights(
                    statistics, observations, index, prior_weights, slots, weights
                )
                crowd[place] = draw_from_weights(weights, total, slots, next_uniform(rng_state))
                in_document[crowd[place]] += 1.0
                family_ops.add(statistics, observations, index, crowd[place])


@shared_helper
def split_off(slots, rng_state, crowd):
    """Side 1 for one topic of the crowd, side 0 for all others."""
    occupied = np.zeros(slots, np.int64)
    for topic in crowd:
        if topic >= 0:
            occupied[topic] = 1
    left = int(next_uniform(rng_state) * occupied.sum())
    picked = 0
    while occupied[picked] == 0 or left > 0:
        left -= occupied[picked]
        picked += 1
    for place in range(len(crowd)):
        if crowd[place] >= 0:
            crowd[place] = np.int64(crowd[place] == picked)


@kernel
def expected_tables(members, documents, whole, sides):
    """Tables that the two sides are expected to have in some documents, at least one each.

    n customers at the concentration a: the sum of a / (a + i) over i = 0, ..., n - 1. The sides have
    concentrations in proportion to their tables, `whole` in all: a few rounds from halves on.
    """
    left, right = 1.0, 1.0
    for _ in range(_ROUNDS):
        first, second = whole * (left / (left + right)), whole * (right / (left + right))
        left, right = 0.0, 0.0
        for document in documents:
            ones, twos = 0, 0
            for place in range(members.documents[document], members.documents[document + 1]):
                if sides[place] == 0:
                    left += first / (first + ones)
                    ones += 1
                else:
                    right += second / (second + twos)
                    twos += 1
        left, right = max(left, 1.0), max(right, 1.0)
    return left, right


@kernel
def draw_followers(
    statistics, observations, members, documents, sampled, concentrations, scans, urn, rng_state, launch
):
    """Sides for all documents: the first `sampled` have theirs, the others follow one by one.

    Then all documents are scanned `scans` times.
    """
    family_ops.clear(statistics, 0)
    family_ops.clear(statistics, 1)
    for place in range(len(documents)):
        document = documents[place]
        if place >= sampled:
            draw_document(statistics, observations, members, document, concentrations, urn, rng_state, launch)
        put_document(statistics, observations, members, document, launch)
    for _ in range(scans):
        for document in documents:
            take_document(statistics, observations, members, document, launch)
            draw_document(statistics, observations, members, document, concentrations, urn, rng_state, launch)
            put_document(statistics, observations, members, document, launch)


@kernel
def draw_sides(statistics, observations, members, launch, concentrations, urn, rng_state, sides):
    """One scan from the launch: draw the sides proposed, unless `rng_state` is SCORED; their log probability."""
    put_all(statistics, observations, members, launch)
    log_probability = 0.0
    for document in range(len(members.documents) - 1):
        take_document(statistics, observations, members, document, launch)
        log_probability += draw_document(
            statistics, observations, members, document, concentrations, urn, rng_state, sides
        )
        put_document(statistics, observations, members, document, sides)
    return log_probability


@kernel
def put_sides(statistics, observations, members, sides):
    """The statistics of both sides, and of their union."""
    put_all(statistics, observations, members, sides)
    put_union(statistics)


@kernel
def draw_sides_given(parameters, observations, members, concentrations, urn, rng_state, sides):
    """The same given the parameters of both sides."""
    log_probability = 0.0
    for document in range(len(members.documents) - 1):
        log_probability += draw_document(
            parameters, observations, members, document, concentrations, urn, rng_state, sides
        )
    return log_probability


@helper
def put_union(statistics):
    """All that the two sides hold, in the slot of their union."""
    family_ops.clear(statistics, UNION)
    family_ops.merge(statistics, 0, UNION)
    family_ops.merge(statistics, 1, UNION)


@kernel
def log_ratio_of_marginals(statistics):
    """log p(x on side 0) + log p(x on side 1) - log p(all x), given that the sides hold what they hold."""
    put_union(statistics)
    sides = family_ops.log_marginal(statistics, 0) + family_ops.log_marginal(statistics, 1)
    return sides - family_ops.log_marginal(statistics, UNION)


@kernel
def log_ratio_of_groups(members, sides, whole, concentrations):
    """Log of prod_j [G(a) / G(a + n_j)] prod over sides k of G(a_k + n_jk) / G(a_k), a = alpha beta_a = `whole`."""
    total = 0.0
    for document in range(len(members.documents) - 1):
        begin, end = members.documents[document], members.documents[document + 1]
        left = count_of(sides[begin:end], 0)
        right = end - begin - left
        total += math.lgamma(whole) - math.lgamma(whole + end - begin)
        if left > 0:
            total += math.lgamma(concentrations[0] + left) - math.lgamma(concentrations[0])
        if right > 0:
            total += math.lgamma(concentrations[1] + right) - math.lgamma(concentrations[1])
    return total
