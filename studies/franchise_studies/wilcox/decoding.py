"""The thesis' decoding as it is printed (5.48 to 5.54), word by word over 2K states; for this study only.

State j < K is topic j newly drawn, state K + j topic j kept.  For the first word of a sentence the print is right.
For the others it has

    delta_t(j) = max_i delta_{t-1}(i) phi_jw,   psi_t(j) = argmax_i delta_{t-1}(i),   K <= j < 2K   (5.51, 5.52)

with the maximum over all states, though only states of the same topic can come before.  So the state before does
not depend on the one after, and a word in the middle of a sentence is given the topic in which it is most frequent,
whatever the rest of its sentence says.
"""

from __future__ import annotations

import numpy as np

from franchise.htmm.em import Parameters
from franchise.htmm.sentence_arrays import SentenceData


def decode_as_printed(data: SentenceData, parameters: Parameters, documents: int) -> np.ndarray:
    """The topic of every word of the first documents, by the printed recursion."""
    return np.concatenate([_decode_document(data, parameters, number) for number in range(documents)])


def _decode_document(data: SentenceData, parameters: Parameters, document: int) -> np.ndarray:
    topics = parameters.log_topics.shape[1]
    begin, end = data.documents[document], data.documents[document + 1]
    first, last = data.tokens[begin], data.tokens[end]
    starts = set((data.tokens[begin:end] - first).tolist())
    emissions = parameters.log_topics[data.words[first:last]]
    entering = np.log(parameters.switch) + np.log(parameters.proportions[document])
    staying = np.log1p(-parameters.switch)
    scores = np.concatenate(
        [np.log(parameters.proportions[document]) + emissions[0], np.full(topics, -np.inf)]
    )
    before = np.zeros((last - first, 2 * topics), np.int32)
    kept = np.arange(topics)
    for place in range(1, last - first):
        best = int(scores.argmax())
        if place in starts:
            entered, stayed = scores[:topics], scores[topics:]
            before[place, :topics] = best
            before[place, topics:] = np.where(entered >= stayed, kept, kept + topics)
            scores = np.concatenate([entering + scores[best], staying + np.maximum(entered, stayed)])
            scores += np.tile(emissions[place], 2)
        else:
            before[place] = best
            scores = np.concatenate([np.full(topics, -np.inf), scores[best] + emissions[place]])
    return _trace_back(scores, before) % topics


def _trace_back(scores: np.ndarray, before: np.ndarray) -> np.ndarray:
    """(5.53, 5.54)."""
    path = np.empty(len(before), np.int64)
    path[-1] = scores.argmax()
    for place in range(len(before) - 1, 0, -1):
        path[place - 1] = before[place, path[place]]
    return path
