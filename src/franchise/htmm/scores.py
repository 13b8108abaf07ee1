"""How well a fit predicts documents it has not seen: perplexity, as it is usually computed and as it should be.

    perplexity = exp(- log probability of the words / number of words)                          (Wilcox, 7.1)

*Fitted*: the proportions theta of each document are fitted on that document, all of it, and then its words are
scored.  This is what the thesis does; the words that are scored have been seen, so it flatters, the more so the
more topics there are.  *Completed*: theta is fitted on the first sentences of a document, and only the others are
scored, given the first ones: log p(all | theta) - log p(first | theta).  A document of a single sentence has no
first ones: it is scored under even proportions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.htmm.em import expectations_for, run_expect
from franchise.htmm.inference import fit_documents
from franchise.htmm.sentences import Prepared
from franchise.kernels.messages import SentenceData


def fitted_perplexity(
    prepared: Prepared, log_topics: np.ndarray, switch: float, prior: float, engine: Any
) -> float:
    """Perplexity of documents whose theta is fitted on the same words."""
    _, expected = fit_documents(prepared, log_topics, switch, prior, engine)
    return math.exp(-float(expected.log_likelihood.sum()) / max(1, prepared.n_words))


def completed_perplexity(
    prepared: Prepared, log_topics: np.ndarray, switch: float, prior: float, engine: Any, share: float = 0.5
) -> float:
    """Perplexity of the last sentences of documents, given the first ones, on which theta is fitted."""
    first = first_sentences(prepared, share)
    parameters, before = fit_documents(first, log_topics, switch, prior, engine)
    after = expectations_for(prepared, log_topics.shape[1])
    run_expect(prepared, parameters, after, engine)
    gained = float((after.log_likelihood - before.log_likelihood).sum())
    scored = prepared.n_words - first.n_words
    if scored == 0:
        raise InputError(
            "there is nothing to score: documents need known words in the last half of their sentences. Give "
            "longer documents, or completed=False."
        )
    return math.exp(-gained / scored)


def first_sentences(prepared: Prepared, share: float) -> Prepared:
    """The same documents, each with its first sentences only: this share of them, rounded up, but none of one."""
    sizes = np.diff(prepared.data.documents)
    kept = np.where(sizes > 1, np.ceil(sizes * share).astype(np.int64), 0)
    place = np.arange(prepared.n_sentences) - np.repeat(prepared.data.documents[:-1], sizes)
    is_kept = place < np.repeat(kept, sizes)
    lengths = np.diff(prepared.data.tokens)
    data = SentenceData(
        prepared.data.words[np.repeat(is_kept, lengths)],
        np.concatenate([[0], np.cumsum(lengths[is_kept])]),
        np.concatenate([[0], np.cumsum(kept)]),
    )
    return Prepared(data, prepared.vocabulary_size)
