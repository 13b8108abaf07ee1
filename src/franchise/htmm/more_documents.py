"""Where chains over segments start when a fitted model gets more documents.

Old sentences keep their topics and switches.  Those of new documents are drawn given the topics' words, the
probability of a switch and the weights of topics of the last state (`new_documents`); words that the model did not
know are ignored.  The start may be anything: the sweeps that follow are exact.
"""

from __future__ import annotations

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments, Segments
from franchise.htmm.new_documents import draw_documents, rng_states_of_documents
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import SentenceData
from franchise.kernels.htmm_gibbs import Finite
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.parallel.engine import BlockExecutor
from franchise.running.chain import AnyChain
from franchise.storage.chain_store import Arrays

_SWEEPS = (10, 10)
"""Sweeps over new documents: burn-in, and those whose modes are the start."""


def continued_arrays(
    model: FiniteModel | InfiniteModel, chain: AnyChain, whole: Prepared, seed: int, executor: BlockExecutor
) -> Arrays:
    """Return the arrays of a chain's state for old and new documents, the old ones first.

    `model` is that of the chain, and `whole` has all documents.
    """
    arrays, streams = chain.to_arrays(), Streams(seed, chain.number, 0, STREAMS.new_documents)
    new = _with_known_words(whole, model.prepared)
    burn_in, kept = _SWEEPS
    states = rng_states_of_documents(new, streams, burn_in + kept)
    drawn = draw_documents(new, _given(model, chain.state), states, executor, burn_in=burn_in, kept=kept)
    topics = drawn.topics.argmax(axis=1).astype(np.int32)
    changes = np.append(True, topics[1:] != topics[:-1])  # a sentence that keeps its topic does not switch
    switches = new.first_sentences | changes
    return {
        **arrays,
        "topics": np.concatenate([arrays["topics"], topics]),
        "switches": np.concatenate([arrays["switches"], switches]),
    }


def _with_known_words(whole: Prepared, old: Prepared) -> Prepared:
    """Return the new documents with the words that the old ones know."""
    data = whole.of_documents(np.arange(old.n_documents, whole.n_documents)).data
    known = data.words < old.vocabulary_size
    tokens = offsets_of_sizes(known)[data.tokens]
    return Prepared(SentenceData(data.words[known], tokens, data.documents), old.vocabulary_size)


def _given(model: FiniteModel | InfiniteModel, state: Segments) -> Finite:
    """Return words and weights of the topics of a state, at their expectations."""
    weights = state.counts + (state.word_prior * model.prepared.relative_prior)[:, None]
    prior = np.full(state.topic_count, state.concentration)
    if isinstance(state, InfiniteSegments):
        prior = state.concentration * state.weights
    return Finite(np.log(weights / weights.sum(axis=0)), prior, state.switch_probability)
