"""Loops over unseen groups: densities of their observations, weights of their topics, probabilities of words."""

from __future__ import annotations

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.dirichlet_ops import sum_of, sum_of_products
from franchise.kernels.runtime.compile import helper, kernel, summing_helper


@kernel
def fill_log_densities(owner, observations, out):
    """Fill ``out[i, k]`` with the log density of observation i in topic k, given statistics or parameters."""
    for index in range(out.shape[0]):
        for topic in range(out.shape[1]):
            out[index, topic] = family_ops.log_weight(owner, observations, index, topic)


@kernel
def fit_document_weights(offsets, words, counts, topics, prior, rounds, tolerance, weights):
    """Posterior mean of each document's topic weights given its words, by a fixed point (CVB0).

    Each cell, a word w that occurs c_w times, is shared out over the topics as one of its tokens would be
    drawn in collapsed Gibbs sampling, expected counts standing in for counts:

        r_wk    ~ (prior_k + n_k - r_wk) phi_kw,    n_k = sum_w c_w r_wk
        E[pi_k] = (prior_k + n_k) / (sum of prior + n)

    The algorithm CVB0 of Asuncion et al. (2009), "On smoothing and inference for topic models". All cells are
    updated at once, from r_wk ~ prior_k phi_kw, so that the result does not depend on the order of words.
    Observations of any kind take the place of words, and their predictive densities that of phi_kw; each row of
    these may have a factor of its own, which cancels.

    Parameters
    ----------
    offsets, words, counts : int64 (J + 1,), int64 (cells,), float64 (cells,)
        The cells of each document; `words` are rows of `topics`.
    topics : float64 (words, K)
        phi_kw.
    prior : float64 (K,)
        alpha beta_k.
    rounds : int
        Most rounds of the fixed point.
    tolerance : float
        A document is done when its weights move by less than this in all.
    weights : float64 (J, K)
        Filled: E[pi_jk]. That of a document without words is prior / sum(prior).
    """
    largest = 0
    for document in range(len(offsets) - 1):
        largest = max(largest, offsets[document + 1] - offsets[document])
    shares = np.empty((largest, len(prior)))
    expected, before = np.empty(len(prior)), np.empty(len(prior))
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        mine, often = words[begin:end], counts[begin:end]
        shares[: end - begin] = 0.0
        before[:] = 0.0
        share_out(mine, often, topics, prior, before, shares, expected)
        mass = sum_of(prior, len(prior)) + sum_of(often, len(often))
        for _ in range(rounds):
            before[:] = expected
            share_out(mine, often, topics, prior, before, shares, expected)
            if sum_of_changes(expected, before) < tolerance * mass:
                break
        for topic in range(len(prior)):
            weights[document, topic] = (prior[topic] + expected[topic]) / mass


@helper
def share_out(words, counts, topics, prior, before, shares, expected):
    """One round: `shares` r_wk again from `before` n_k, and `expected` n_k from them."""
    expected[:] = 0.0
    for cell in range(len(words)):
        likelihood, share = topics[words[cell]], shares[cell]
        for topic in range(len(prior)):
            # A share never exceeds the count it is part of, but for rounding, so it is bounded.
            others = max(before[topic] - share[topic], 0.0)
            share[topic] = (prior[topic] + others) * likelihood[topic]
        scale = 1.0 / sum_of(share, len(share))
        for topic in range(len(prior)):
            share[topic] *= scale
            expected[topic] += counts[cell] * share[topic]


@kernel
def add_word_probabilities(documents, words, topics, weights, out):
    """out[i] += sum_k pi_jk phi_kw, for pairs i of a document (row of `weights`) and a word (of `topics`)."""
    for pair in range(len(words)):
        out[pair] += sum_of_products(weights[documents[pair]], topics[words[pair]])


@summing_helper
def sum_of_changes(after, before):
    """Sum of |after - before|, in vector registers."""
    total = 0.0
    for index in range(len(after)):
        total += abs(after[index] - before[index])
    return total
