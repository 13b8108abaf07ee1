"""The most probable path through a document (Wilcox, 5.4, corrected).

docs/theory/htmm.md#eq-htmm-viterbi:

    d_1(k) = log theta_k + e_1(k);   d_s(k) = e_s(k) + max(enter_k + max_j d_{s-1}(j), stay_k + d_{s-1}(k))

With enter_k = log(epsilon theta_k) and stay_k = log(1 - epsilon) this is the best path of topics and switches; with
stay_k = log(epsilon theta_k + 1 - epsilon), the best path of topics, with or without a switch.  In the thesis'
(5.51), within a sentence, the maximum must be over the states of the same topic: read as it is printed, without
restriction, a sentence may change its topic in the middle.  By sentence instead of by word the question does not
arise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.htmm_em import fill_barrier, fill_emissions, log_of
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper


class Steps(NamedTuple):
    """Log weights of the two ways to a topic, by document; float64 (D, K)."""

    entering: np.ndarray
    staying: np.ndarray


class PathScratch(NamedTuple):
    """Scratch arrays for one document at a time; S is the number of sentences of the longest."""

    entered: np.ndarray  # bool (S, K): whether the best path to a topic enters it
    best: np.ndarray  # int64 (S,): the best topic of each sentence, by what came before
    rows: np.ndarray  # float64 (3, K)


@helper
def best_of(values):
    """The place of the largest number, the first of equals."""
    best = 0
    for topic in range(1, len(values)):
        if values[topic] > values[best]:
            best = topic
    return best


@shared_helper
def find_path(data, parameters, steps, document, scratch, topics, switches):
    """Fill in the best topics and switches of a document; its log probability together with the words."""
    begin, end = data.documents[document], data.documents[document + 1]
    barrier, emissions, scores = scratch.rows[0], scratch.rows[1], scratch.rows[2]
    proportions = parameters.proportions[document]
    entering, staying = steps.entering[document], steps.staying[document]
    fill_barrier(proportions, barrier)
    for sentence in range(begin, end):
        fill_emissions(data, parameters.log_topics, sentence, barrier, emissions)
        if sentence == begin:
            for topic in range(len(scores)):
                scores[topic] = log_of(proportions[topic]) + emissions[topic]
        else:
            top = scores[scratch.best[sentence - begin - 1]]
            for topic in range(len(scores)):
                enter, stay = entering[topic] + top, staying[topic] + scores[topic]
                scratch.entered[sentence - begin, topic] = enter > stay
                scores[topic] = max(enter, stay) + emissions[topic]
        scratch.best[sentence - begin] = best_of(scores)
    topic = scratch.best[end - begin - 1]
    for sentence in range(end - 1, begin - 1, -1):
        topics[sentence] = topic
        switches[sentence] = sentence == begin or scratch.entered[sentence - begin, topic]
        if switches[sentence] and sentence > begin:
            topic = scratch.best[sentence - begin - 1]
    return scores[scratch.best[end - begin - 1]]


@kernel
def find_paths(queue, data, parameters, steps, scratch, topics, switches, log_probabilities):
    """The best paths, over blocks of documents."""
    while next_block(queue) >= 0:
        _, begin, end = block_at_hand(queue)
        for document in range(begin, end):
            log_probabilities[document] = 0.0
            if data.documents[document + 1] > data.documents[document]:
                log_probabilities[document] = find_path(
                    data, parameters, steps, document, scratch, topics, switches
                )
