"""Draws of the topics and switches of whole documents, given everything else: forward filtering, backward drawing.

The messages a_s(k) of `kernels/htmm_em.py` go forward; then the last topic is drawn from a_S, and going back,
given z_s = k, sentence s has switched with weight epsilon theta_k and kept the topic with weight
(1 - epsilon) a_{s-1}(k).  If it has switched, it says nothing about what was before: z_{s-1} ~ a_{s-1}.  (Wilcox,
6.12 to 6.15, goes the other way, backward messages and forward draws; the distribution is the same.)

`draw_finite` draws theta_d ~ Dirichlet(prior + n_d) first, n_dk the sentences that drew topic k from theta_d: first
sentences count, stays do not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import htmm_em as messages
from franchise.kernels.random.gamma import next_gamma
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.runtime.padding import padded_zeros


class Drawn(NamedTuple):
    """What is drawn: topics and switches of all sentences."""

    topics: np.ndarray  # int32 (S,)
    switches: np.ndarray  # bool (S,): psi_s; True for first sentences


class DrawScratch(NamedTuple):
    """Scratch arrays for one document at a time."""

    filtered: np.ndarray  # float64 (sentences of the longest document, K): a_s(k), or its logs
    rows: np.ndarray  # float64 (4, K)
    bits: np.ndarray  # int64 (K,)


def scratch_for(sentences: int, topics: int) -> DrawScratch:
    """Scratch arrays for documents of up to `sentences` sentences."""
    return DrawScratch(
        padded_zeros((sentences, topics)), padded_zeros((4, topics)), padded_zeros(topics, np.int64)
    )


class Finite(NamedTuple):
    """What `draw_finite` is given, the same for all documents."""

    log_topics: np.ndarray  # float64 (V, K)
    prior: np.ndarray  # float64 (K,): of theta_d
    switch: float  # epsilon


@shared_helper
def next_log_gamma(rng_state, shape):
    """The log of a Gamma(shape) draw, however small: log Gamma(a) = log Gamma(a + 1) + log(U) / a."""
    if shape >= 1.0:
        return math.log(next_gamma(rng_state, shape))
    return math.log(next_gamma(rng_state, shape + 1.0)) + math.log(1.0 - next_uniform(rng_state)) / shape


@shared_helper
def draw_proportions(data, drawn, document, prior, rng_state, out):
    """theta_d ~ Dirichlet(prior + n_d), in logs."""
    for topic in range(len(out)):
        out[topic] = prior[topic]
    for sentence in range(data.documents[document], data.documents[document + 1]):
        if drawn.switches[sentence]:
            out[drawn.topics[sentence]] += 1.0
    for topic in range(len(out)):
        out[topic] = next_log_gamma(rng_state, out[topic])
    total = messages.log_sum_of(out)
    for topic in range(len(out)):
        out[topic] -= total


@shared_helper
def filter_scaled(data, given, document, proportions, scratch):
    """The messages a_s(k) of a document, in plain numbers."""
    begin = data.documents[document]
    barrier, entering, predicted = scratch.rows[0], scratch.rows[1], scratch.rows[2]
    emissions = scratch.rows[3]
    for topic in range(len(entering)):
        predicted[topic] = proportions[topic]
        entering[topic] = given.switch * proportions[topic]
    messages.fill_barrier(predicted, barrier)
    for sentence in range(begin, data.documents[document + 1]):
        filtered = scratch.filtered[sentence - begin]
        messages.scaled_emissions(data, given.log_topics, sentence, barrier, scratch.bits, emissions)
        if sentence > begin:
            messages.predict(scratch.filtered[sentence - begin - 1], entering, 1.0 - given.switch, predicted)
        inverse = 1.0 / messages.weigh(predicted, emissions, filtered)
        for topic in range(len(filtered)):
            filtered[topic] *= inverse


@helper
def draw_index(weights, rng_state):
    """A topic drawn from messages in plain numbers, which sum to one."""
    return draw_from_weights(weights, 1.0, len(weights), next_uniform(rng_state))


@shared_helper
def draw_back_scaled(data, given, document, proportions, scratch, rng_state, drawn):
    """Topics and switches of a document from its messages."""
    begin, end = data.documents[document], data.documents[document + 1]
    topic = draw_index(scratch.filtered[end - 1 - begin], rng_state)
    for sentence in range(end - 1, begin, -1):
        before = scratch.filtered[sentence - 1 - begin]
        enter = given.switch * proportions[topic]
        switched = next_uniform(rng_state) * (enter + (1.0 - given.switch) * before[topic]) < enter
        drawn.topics[sentence], drawn.switches[sentence] = topic, switched
        if switched:
            topic = draw_index(before, rng_state)
    drawn.topics[begin], drawn.switches[begin] = topic, True


@shared_helper
def draw_log_index(logs, rng_state, out):
    """A topic drawn from messages in logs, whose exponentials sum to one."""
    for topic in range(len(logs)):
        out[topic] = math.exp(logs[topic])
    return draw_index(out, rng_state)


@shared_helper
def draw_switch(enter, stay, rng_state):
    """Whether a sentence has switched, given the logs of the weights of both."""
    if stay == -math.inf:
        return True
    return next_uniform(rng_state) * (1.0 + math.exp(stay - enter)) < 1.0


@shared_helper
def draw_in_logs(data, given, document, log_proportions, scratch, rng_state, drawn):
    """Topics and switches of a document, in logs."""
    begin, end = data.documents[document], data.documents[document + 1]
    log_switch, log_stay = messages.log_of(given.switch), messages.log_of(1.0 - given.switch)
    barrier, entering, emissions, weights = scratch.rows[0], scratch.rows[1], scratch.rows[2], scratch.rows[3]
    barrier[:] = 0.0
    for sentence in range(begin, end):
        filtered = scratch.filtered[sentence - begin]
        messages.fill_emissions(data, given.log_topics, sentence, barrier, emissions)
        to_enter = 0.0 if sentence == begin else log_switch
        for topic in range(len(entering)):
            entering[topic] = to_enter + log_proportions[topic]
        if sentence == begin:
            filtered[:] = -math.inf
        else:
            filtered[:] = scratch.filtered[sentence - begin - 1]
        messages.log_step(entering, log_stay, emissions, filtered)
    topic = draw_log_index(scratch.filtered[end - 1 - begin], rng_state, weights)
    for sentence in range(end - 1, begin, -1):
        before = scratch.filtered[sentence - 1 - begin]
        switched = draw_switch(log_switch + log_proportions[topic], log_stay + before[topic], rng_state)
        drawn.topics[sentence], drawn.switches[sentence] = topic, switched
        if switched:
            topic = draw_log_index(before, rng_state, weights)
    drawn.topics[begin], drawn.switches[begin] = topic, True


@shared_helper
def draw_document(data, given, document, scratch, proportions, rng_state, drawn):
    """theta_d, then the topics and switches of a document."""
    draw_proportions(data, drawn, document, given.prior, rng_state, proportions)
    least = proportions[0]
    for log_proportion in proportions:
        least = min(least, log_proportion)
    if given.switch * math.exp(least) > messages.PLAIN:
        for topic in range(len(proportions)):
            proportions[topic] = math.exp(proportions[topic])
        filter_scaled(data, given, document, proportions, scratch)
        draw_back_scaled(data, given, document, proportions, scratch, rng_state, drawn)
    else:
        draw_in_logs(data, given, document, proportions, scratch, rng_state, drawn)


@kernel
def draw_finite(queue, data, given, scratch, rng_states, drawn):
    """Draw the documents of all blocks; block b has the generator ``rng_states[b]``."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own, proportions = rng_states[block].copy(), np.empty(len(given.prior))
        for document in range(begin, end):
            if data.documents[document + 1] > data.documents[document]:
                draw_document(data, given, document, scratch, proportions, own, drawn)


# --- topics -------------------------------------------------------------------------------------------------


@kernel
def draw_log_gammas(queue, counts, prior, rng_states, out, largest, sums):
    """log Gamma(eta_w + n_kw) for all words and topics, over blocks of words.

    Their sums over the words of block b are ``sums[b, k] * exp(largest[b, k])``.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own = rng_states[block].copy()
        for topic in range(out.shape[1]):
            largest[block, topic] = -math.inf
        for word in range(begin, end):
            for topic in range(out.shape[1]):
                out[word, topic] = next_log_gamma(own, prior[word] + counts[word, topic])
                largest[block, topic] = max(largest[block, topic], out[word, topic])
        sums[block, :] = 0.0
        for word in range(begin, end):
            for topic in range(out.shape[1]):
                sums[block, topic] += math.exp(out[word, topic] - largest[block, topic])


@kernel
def subtract_logs(queue, totals, out):
    """Take the log totals of the topics off every word's row, over blocks of words."""
    while next_block(queue) >= 0:
        _, begin, end = block_at_hand(queue)
        for word in range(begin, end):
            for topic in range(out.shape[1]):
                out[word, topic] -= totals[topic]
