"""Loops over unseen groups: densities of their observations, weights of their topics, probabilities of words."""

from __future__ import annotations

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.dirichlet_ops import sum_of, sum_of_products
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import helper, kernel, shared_helper

MOST_EXACT = 8
"""Tokens up to which a document's assignments are all summed."""

SWEEPS, TOKENS = 16, 400
"""An estimate of a longer document averages SWEEPS + TOKENS // length sweeps, after half as many that it drops."""

RELABELLED = 4
"""Topics are redrawn as a whole after every 1 + length // RELABELLED sweeps."""


@kernel
def fill_log_densities(owner, observations, out):
    """Fill ``out[i, k]`` with the log density of observation i in topic k, given statistics or parameters."""
    for index in range(out.shape[0]):
        for topic in range(out.shape[1]):
            out[index, topic] = family_ops.log_weight(owner, observations, index, topic)


@kernel
def fill_document_weights(offsets, words, counts, topics, prior, states, weights):
    """Fill in estimates of E[pi_j | x_j] of each document, topics fixed, with pi_j ~ Dirichlet(prior).

    Documents of at most MOST_EXACT tokens are summed over all assignments, so their estimates are exact and equal.
    Others are means over sweeps of Gibbs sampling (docs/theory/held-out.md#sec-new-groups).

    Parameters
    ----------
    offsets, words, counts : int64 (J + 1,), int64 (cells,), int64 (cells,)
        The cells of each document; `words` are rows of `topics`.
    topics : float64 (words, K)
        Densities f_k(x); each row may have a factor of its own, which cancels.
    prior : float64 (K,)
        alpha beta_k.
    states : uint64 (B, J, 4)
        Generators of B independent estimates of each document.
    weights : float64 (B, J, K)
        Filled. Those of a document without words are prior / sum(prior).
    """
    size = len(prior)
    mass, cumulative, expected = sum_of(prior, size), cumulative_weights(topics, prior), np.empty((1, size))
    blocks = np.empty((1 << MOST_EXACT, size))
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        tokens = np.repeat(words[begin:end], counts[begin:end])
        owners = np.zeros(len(tokens), np.int64)
        exact = len(tokens) <= MOST_EXACT
        if exact:
            add_blocks(blocks, seat_blocks(tokens, topics, prior, blocks), expected[0])
        for estimate in range(len(weights)):
            if not exact:
                own = states[estimate, document].copy()
                average_sweeps(tokens, owners, topics, prior, cumulative, own, expected)
            for topic in range(size):
                share = (prior[topic] + expected[0, topic]) / (mass + len(tokens))
                weights[estimate, document, topic] = share


@kernel
def fill_token_weights(offsets, words, topics, prior, states, weights):
    """Fill in p(z_i = k | x_j) of every token of each document, topics fixed, with pi_j ~ Dirichlet(prior).

    As in `fill_document_weights`; every token is an entry of `words` by itself.

    Parameters
    ----------
    offsets, words : int64 (J + 1,), int64 (N,)
        The tokens of each document, as rows of `topics`.
    topics : float64 (words, K)
        Densities f_k(x); each row may have a factor of its own, which cancels.
    prior : float64 (K,)
        alpha beta_k.
    states : uint64 (J, 4)
        A generator for each document.
    weights : float64 (N, K)
        Filled; rows sum to one.
    """
    cumulative, blocks = cumulative_weights(topics, prior), np.empty((1 << MOST_EXACT, len(prior)))
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        tokens, own = words[begin:end], states[document].copy()
        if len(tokens) <= MOST_EXACT:
            split_blocks(blocks, seat_blocks(tokens, topics, prior, blocks), weights[begin:end])
        else:
            owners = np.arange(len(tokens))
            average_sweeps(tokens, owners, topics, prior, cumulative, own, weights[begin:end])


# --- short documents: the sum over all assignments ----------------------------------------------------------


@shared_helper
def seat_blocks(tokens, topics, prior, blocks):
    """Sum over all ways to seat the tokens of a short document at tables: fill in g_k(B), and return Z.

    A set B of tokens at one table of topic k weighs  g_k(B) = (|B| - 1)! prior_k prod_{i in B} f_k(x_i).  With
    Z(A) the sum over all seatings of a set A,

        Z(A) = sum of g(B) Z(A - B) over the B in A that have its first token,     g = sum_k g_k
        E[n_k] = sum_B |B| g_k(B) Z(all - B) / Z(all),     p(z_i = k) = the same over the B with i, without |B|
    """
    size, every = len(prior), 1 << len(tokens)
    members, totals, seatings = np.zeros(every, np.int64), np.empty(every), np.empty(every)
    blocks[0], seatings[0] = prior, 1.0
    for block in range(1, every):
        first, place = block & -block, 0
        while 1 << place != first:
            place += 1
        rest = block ^ first
        members[block] = members[rest] + 1
        factor, density = max(members[rest], 1), topics[tokens[place]]
        for topic in range(size):
            blocks[block, topic] = factor * blocks[rest, topic] * density[topic]
        totals[block] = sum_of(blocks[block], size)
        part, seatings[block] = rest, 0.0
        while True:  # all parts of the rest, the empty one last
            seatings[block] += totals[first | part] * seatings[rest ^ part]
            if part == 0:
                break
            part = (part - 1) & rest
    return seatings


@helper
def add_blocks(blocks, seatings, expected):
    """Fill in E[n_k | x]."""
    every = len(seatings)
    expected[:] = 0.0
    for block in range(1, every):
        members, left = 0, block
        while left:
            members, left = members + (left & 1), left >> 1
        scale = members * seatings[every - 1 - block] / seatings[every - 1]
        for topic in range(len(expected)):
            expected[topic] += scale * blocks[block, topic]


@helper
def split_blocks(blocks, seatings, weights):
    """Fill in p(z_i = k | x) of each token."""
    every = len(seatings)
    weights[:] = 0.0
    for block in range(1, every):
        scale = seatings[every - 1 - block] / seatings[every - 1]
        for token in range(len(weights)):
            if block >> token & 1:
                for topic in range(weights.shape[1]):
                    weights[token, topic] += scale * blocks[block, topic]


# --- longer documents: Gibbs sampling -----------------------------------------------------------------------


@helper
def cumulative_weights(topics, prior):
    """Sums of prior_k f_k(x) up to each topic, float64 (words, K)."""
    sums = np.empty(topics.shape)
    for word in range(len(topics)):
        total = 0.0
        for topic in range(len(prior)):
            total += prior[topic] * topics[word, topic]
            sums[word, topic] = total
    return sums


@shared_helper
def average_sweeps(tokens, owners, topics, prior, cumulative, rng_state, expected):
    """Fill in an estimate of E[n_k | x]: the mean over sweeps of the sum of p(z_i = k | z without i, x).

    The tokens of each owner are added up in its row of `expected`, float64 (owners, K).  A token's weights are
    (n_k + prior_k) f_k(x): a sum over the topics present, and one computed in advance.
    """
    size, length = len(prior), len(tokens)
    labels, counts, number = np.full(length, -1), np.zeros(size), 0  # topics in `present`
    present, parts, weights = np.empty(size, np.int64), np.empty(size), np.empty(size)
    from_prior, sweeps = np.zeros(length), SWEEPS + TOKENS // length
    for sweep in range(-(sweeps // 2), sweeps):
        if sweep == 0:
            expected[:] = 0.0
            from_prior[:] = 0.0
        for place in range(length):
            label, row = labels[place], tokens[place]
            if label >= 0:
                counts[label] -= 1.0
                if counts[label] == 0.0:
                    number = forget(present, number, label)
            seen = weigh_present(topics[row], counts, present, number, parts)
            total = seen + cumulative[row, size - 1]
            from_prior[place] += 1.0 / total
            for index in range(number):
                expected[owners[place], present[index]] += parts[index] / total
            target = next_uniform(rng_state) * total
            if target < seen:
                label = present[draw_from_weights(parts, seen, number, target / seen)]
            else:
                label = min(np.searchsorted(cumulative[row], target - seen, side="right"), size - 1)
            if counts[label] == 0.0:
                present[number] = label
                number += 1
            counts[label] += 1.0
            labels[place] = label
        if sweep % (1 + length // RELABELLED) == 0:
            relabel(tokens, topics, prior, present[:number], rng_state, (labels, counts, weights))
    for place in range(length):
        for topic in range(size):
            of_prior = from_prior[place] * prior[topic] * topics[tokens[place], topic]
            expected[owners[place], topic] += of_prior
    expected /= sweeps


@helper
def weigh_present(density, counts, present, number, parts):
    """Fill in n_k f_k(x) of the topics that a document has; their sum."""
    total = 0.0
    for index in range(number):
        parts[index] = counts[present[index]] * density[present[index]]
        total += parts[index]
    return total


@helper
def forget(present, number, label):
    """Remove a topic from a list of `number`; how many are left."""
    place = 0
    while present[place] != label:
        place += 1
    present[place] = present[number - 1]
    return number - 1


@shared_helper
def relabel(tokens, topics, prior, present, rng_state, room):
    """Draw the topic of all tokens of each present topic again, among those that no other token has.

    p(k) ~ prod_i (prior_k + i - 1) f_k(x_i) over the tokens; from single tokens alone a chain would seldom leave
    a topic whose prior is small.
    """
    labels, counts, weights = room
    size = len(prior)
    for index in range(len(present)):
        old, seen = present[index], 0.0
        for topic in range(size):
            weights[topic] = 1.0 if topic == old or counts[topic] == 0.0 else 0.0
        total = 1.0
        for place in range(len(tokens)):
            if labels[place] == old:
                density = topics[tokens[place]]
                scale = 1.0 / total
                for topic in range(size):
                    weights[topic] *= (prior[topic] + seen) * density[topic] * scale
                total = sum_of(weights, size)
                seen += 1.0
        if total > 0.0:  # 0 or NaN where all are too small for floating point: the topic stays
            new = draw_from_weights(weights, total, size, next_uniform(rng_state))
            counts[old], counts[new], present[index] = 0.0, counts[old], new
            for place in range(len(tokens)):
                if labels[place] == old:
                    labels[place] = new


@kernel
def add_word_probabilities(documents, words, topics, weights, out):
    """out[i] += sum_k pi_jk phi_kw, for pairs i of a document (row of `weights`) and a word (of `topics`)."""
    for pair in range(len(words)):
        out[pair] += sum_of_products(weights[documents[pair]], topics[words[pair]])
