"""Splits and merges of topics, and new ones, given where sentences switch.

Given the switches psi, a run of sentences from one switch to the next has one topic, drawn from theta_d.  So the
runs are observations of a hierarchical Dirichlet process mixture: documents are its groups, a run the counts of its
words, a topic a distribution over words.  Every move that leaves the posterior of that mixture invariant leaves the
present one invariant, too.  Sweeps over sentences find where a topic begins and ends, but hardly ever open or close
one: the words of a fresh topic are drawn from the prior before any sentence can have it.  The moves here do, with
the words of topics integrated out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.families.multinomial import Multinomial
from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.state import InfiniteSegments
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import Weights
from franchise.moves.base import Move
from franchise.parallel.engine import BlockExecutor


def regroup(
    prepared: Prepared,
    state: InfiniteSegments,
    moves: tuple[Move, ...],
    streams: Streams,
    executor: BlockExecutor,
) -> dict[str, float]:
    """Apply moves of the mixture to the runs between switches; what they report. The switches stay."""
    firsts = np.flatnonzero(state.switches)
    family = Multinomial(prepared.vocabulary_size, state.word_prior)
    data = runs_of(prepared, state, family, firsts)
    model = Model(data, family, state.concentration, state.top_concentration)
    view = Weights.from_topics(
        data, family, state.topics[firsts], state.concentration, state.top_concentration
    )
    view.topic_weights[:] = 0.0
    view.topic_weights[: state.topic_count] = state.weights
    view.unseen_weight[0] = state.unseen_weight
    values: dict[str, float] = {}
    for number, move in enumerate(moves):
        own = Streams(streams.seed, streams.chain, streams.sweep, streams.move + 1 + number, streams.pool)
        for name, value in move.step(model, view, own, executor).values.items():
            values[name] = values.get(name, 0.0) + value
    kept, numbered = np.unique(view.topic_of_observation, return_inverse=True)
    run_of_sentence = np.cumsum(state.switches) - 1
    state.topics[:] = numbered[run_of_sentence]
    state.weights = view.topic_weights[kept]
    state.unseen_weight = float(view.unseen_weight[0])
    state.topic_count = len(kept)
    return values


def runs_of(
    prepared: Prepared, state: InfiniteSegments, family: Multinomial, firsts: np.ndarray
) -> PreparedData:
    """The runs as observations: word counts in the order of the text, documents as groups."""
    from scipy.sparse import csr_array

    tokens = np.append(prepared.data.tokens[firsts], prepared.data.tokens[-1])
    rows: Any = csr_array(
        (np.ones(prepared.n_words, np.int64), prepared.data.words, tokens),
        shape=(len(firsts), prepared.vocabulary_size),
    )
    offsets = np.searchsorted(firsts, prepared.data.documents)
    return PreparedData.of(rows, offsets, family)
