"""The sentences of one document, with the probabilities of their topics and of switches over all draws (HTMM)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.htmm.posterior import SegmentPosterior


class SentenceProbabilities(NamedTuple):
    """The n sentences of a document, and T consensus topics."""

    lengths: np.ndarray  # int64 (n,): words
    topics: np.ndarray  # float64 (n, T + 1): share of draws; the last column: none of the consensus topics
    switches: np.ndarray  # float64 (n,): share of draws in which the sentence draws its topic anew


def sentence_probabilities(posterior: SegmentPosterior, document: int) -> SentenceProbabilities:
    """Shares of the draws that are matched in which the sentences of a document have each topic, and switch."""
    consensus, data = posterior.matched, posterior.model.prepared.data
    begin, end = data.documents[document : document + 2]
    inside, places = slice(begin, end), np.arange(end - begin)
    topics = np.zeros((end - begin, consensus.topic_count + 1))  # -1, no topic, is the last column
    switches = np.zeros(end - begin)
    in_full = {(chain, draw.draw): draw for chain, own in enumerate(posterior.draws) for draw in own}
    for draw, match in zip(consensus.draws, consensus.matches, strict=True):
        drawn = in_full[draw.chain, draw.number]
        topics[places, match[drawn.topics[inside]]] += 1.0
        switches += drawn.switches[inside]
    count = len(consensus.draws)
    return SentenceProbabilities(np.diff(data.tokens[begin : end + 1]), topics / count, switches / count)
