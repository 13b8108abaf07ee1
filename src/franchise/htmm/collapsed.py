"""Collapsed sweeps over switches and runs of sentences, words and proportions integrated out.

First each sentence's switch, with the topic of what follows it; then where each run begins, given the topics.

The model with a given number of topics uses them to find an initial state, the one that learns the number in every
sweep.  Formulas are in `kernels/htmm_collapsed.py` and docs/theory/htmm-collapsed.md#sec-htmm-collapsed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.htmm.gibbs_steps import GibbsContext
from franchise.htmm.model import InfiniteSegments, Segments
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_collapsed import LogTables, Runs, RunScratch, shift_boundaries, sweep_runs

_SPARE = 64
"""Vacant slots for new topics, when a sweep begins and whenever it runs out of them."""


class TopicPrior(NamedTuple):
    """The Dirichlet weights of a document's topics."""

    weights: np.ndarray  # float64 (K,): a_k
    unseen: float  # a_u: of all topics that nothing has yet
    gamma: float  # what new topics are broken off the unseen by


def draw_runs(context: GibbsContext, prior: TopicPrior, permanent: bool) -> TopicPrior:
    """Draw all switches and topics once; return the weights of the topics, which have no gaps in their numbers.

    Topics that are `permanent` never close, and are not numbered again.
    """
    prepared, state = context.prepared, context.state
    runs = _runs_of(prepared, state, prior, permanent)
    tables = log_tables(prepared, state.word_prior)
    mass = float(prior.weights.sum()) + prior.unseen
    rng = context.streams.generator()
    last = prepared.n_sentences - 1
    while last >= 0:
        if prior.unseen > 0.0:
            runs = _with_slots(runs)
        slots = len(runs.sizes)
        scratch = RunScratch(
            np.zeros((3, slots)), np.zeros(slots, np.int64), np.zeros(prepared.vocabulary_size, np.int32)
        )
        last = sweep_runs(
            prepared.data, runs, tables, last, mass, prior.gamma, state.switch_probability, scratch, rng
        )
    shift_boundaries(prepared.data, runs, tables, np.empty(prepared.longest), rng)
    kept = np.flatnonzero(runs.sizes)
    state.topics[:] = np.searchsorted(kept, state.topics)
    state.topic_count = len(kept)
    return TopicPrior(runs.weights[kept], float(runs.unseen[0]), prior.gamma)


def _runs_of(prepared: Prepared, state: Segments, prior: TopicPrior, permanent: bool) -> Runs:
    """The state as the kernel has it, words counted."""
    topics = state.topic_count
    of_words = np.repeat(state.topics, np.diff(prepared.data.tokens))
    cells = prepared.data.words.astype(np.int64) * topics + of_words
    counts = np.bincount(cells, minlength=prepared.vocabulary_size * topics)
    return Runs(
        state.topics,
        state.switches,
        counts.reshape(-1, topics).astype(np.int32),
        np.bincount(of_words, minlength=topics),
        np.bincount(state.topics[state.switches], minlength=topics) + int(permanent),
        prior.weights.copy(),
        np.array([prior.unseen]),
    )


def _with_slots(runs: Runs) -> Runs:
    """The same with vacant slots."""

    def longer(array: np.ndarray) -> np.ndarray:
        return np.pad(array, (*[(0, 0)] * (array.ndim - 1), (0, _SPARE)))

    by_topic = ("counts", "totals", "sizes", "weights")
    return runs._replace(**{name: longer(getattr(runs, name)) for name in by_topic})


def log_tables(prepared: Prepared, word_prior: float) -> LogTables:
    """The logs of counts of words with their prior."""
    occurrences = np.diff(prepared.places)
    sizes = occurrences + 1
    offsets = offsets_of_sizes(sizes)
    counts = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    eta = word_prior * prepared.relative_prior
    rising = np.cumsum(np.log(np.arange(prepared.n_words + 1) + eta.sum()))
    return LogTables(offsets, np.log(counts + np.repeat(eta, sizes)), np.append(0.0, rising))


def draw_learned_runs(context: GibbsContext) -> None:
    """Draw all switches and topics where the number of topics is learned."""
    state: InfiniteSegments = context.state
    alpha = state.concentration
    prior = TopicPrior(alpha * state.weights, alpha * state.unseen_weight, state.top_concentration)
    drawn = draw_runs(context, prior, permanent=False)
    state.weights, state.unseen_weight = drawn.weights / alpha, drawn.unseen / alpha


def draw_given_runs(context: GibbsContext) -> None:
    """Draw all switches and topics where the number of topics is given."""
    state = context.state
    prior = TopicPrior(np.full(state.topic_count, state.concentration), 0.0, 1.0)
    draw_runs(context, prior, permanent=True)
