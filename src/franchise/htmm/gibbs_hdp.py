"""Gibbs sampling with the number of topics learned: theta_d ~ DP(alpha, beta), beta ~ GEM(gamma).

One sweep, given topics z and switches psi of all sentences and the weights beta
(docs/theory/htmm-hdp.md#sec-htmm-hdp-sweep):

    given the switches: splits and merges of topics, then topics of whole tables (`regroup`)
    switches and topics of runs of sentences, words integrated out (`collapsed.py`)
    m_dk by urns;  gamma | m, K;  alpha | m;  beta ~ Dirichlet(m_1, ..., m_K, gamma)
    epsilon ~ Beta(zeta1 + switches, zeta2 + stays)
    eta, if it is learned
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.families.multinomial import Multinomial
from franchise.htmm import gibbs_steps as steps
from franchise.htmm.collapsed import draw_learned_runs
from franchise.htmm.gibbs_steps import GibbsContext
from franchise.htmm.model import InfiniteModel, InfiniteSegments, start_of
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.random.streams import Streams
from franchise.kernels.recount import log_gamma_parts
from franchise.kernels.table_counts import draw_table_counts, log_stirling_table
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import Weights
from franchise.model.state.views import draw_topic_weights
from franchise.moves.base import Move
from franchise.moves.concentrations import draw_group_concentration, draw_top_concentration
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.moves.table_gibbs import TableGibbs
from franchise.parallel.engine import BlockExecutor
from franchise.priors import Gamma

REGROUPING: tuple[Move, ...] = (LaunchSplitMerge(), TableGibbs())
"""Moves over the runs between switches, in every sweep. Each leaves the topic weights drawn."""


def start_at_random(
    model: InfiniteModel, topics: int, streams: Streams, executor: BlockExecutor
) -> InfiniteSegments:
    """Return a state with runs of sentences in random topics, numbered without gaps; every other one switches."""
    drawn, switches = steps.draw_at_random(model.prepared, topics, streams.generator())
    _, numbered = np.unique(drawn, return_inverse=True)
    count = int(numbered.max()) + 1
    state = InfiniteSegments(
        topics=numbered.astype(np.int32),
        switches=switches,
        switch_probability=0.5,
        concentration=model.alpha.start if isinstance(model.alpha, Gamma) else model.alpha,
        word_prior=start_of(model.word_prior),
        topic_count=count,
        top_concentration=start_of(model.gamma),
        weights=np.full(count, 1.0 / (count + 1)),
        unseen_weight=1.0 / (count + 1),
    )
    steps.count_words(model.prepared, state, executor)
    draw_numbers(model, state, streams.generator(1), executor)
    return state


def sweep(
    model: InfiniteModel, state: InfiniteSegments, streams: Streams, executor: BlockExecutor
) -> dict[str, float]:
    """Draw everything once; what moves report."""
    context = GibbsContext(model.prepared, state, streams, executor)
    values = regroup(context, REGROUPING)
    draw_learned_runs(context._replace(streams=replace(streams, move=streams.move + 1 + len(REGROUPING))))
    steps.count_words(model.prepared, state, executor)
    draw_numbers(model, state, context.rng, executor)
    return values


def draw_numbers(
    model: InfiniteModel, state: InfiniteSegments, rng: np.random.Generator, executor: BlockExecutor
) -> None:
    """Tables, concentrations, weights, epsilon, and eta if it is learned, given topics and switches."""
    prepared = model.prepared
    counts = state.switches_by_topic(prepared)
    documents, topics = np.nonzero(counts)
    state.customers = counts[documents, topics].astype(np.int32)
    state.tables = np.empty(len(topics), np.int32)
    shares = state.concentration * state.weights[topics]
    draw_table_counts(state.customers, shares, rng.bit_generator.random_raw(4), state.tables)
    per_topic = np.bincount(topics, weights=state.tables, minlength=state.topic_count)
    state.tables_per_topic = per_topic.astype(np.int64)
    table_count = int(state.tables.sum())
    if isinstance(model.gamma, Gamma):
        state.top_concentration = draw_top_concentration(
            state.top_concentration, table_count, state.topic_count, model.gamma, rng
        )
    if isinstance(model.alpha, Gamma):
        sizes = counts.sum(axis=1)
        state.concentration = draw_group_concentration(
            state.concentration, table_count, sizes[sizes > 0], model.alpha, rng, executor
        )
    weights, unseen = draw_topic_weights(state.tables_per_topic, state.top_concentration, rng)
    state.weights, state.unseen_weight = weights, float(unseen[0])
    state.switch_probability = steps.draw_switch_probability(state, prepared, model.switch_prior, rng)
    state.word_prior = steps.draw_word_prior(state, prepared, model.word_prior, rng)


def measure(model: InfiniteModel, state: InfiniteSegments) -> dict[str, float]:
    """Return the values to trace: log p(x | z), the log joint with the tables, and the hyperparameters."""
    counts = {
        "n_topics": state.topic_count,
        "n_switches": state.later_switches(model.prepared),
        "n_tables": int(state.tables.sum()),
    }
    numbers = {"alpha": (model.alpha, state.concentration), "gamma": (model.gamma, state.top_concentration)}
    return steps.measured(model, state, counts, log_topics_and_switches(model, state), numbers)


def log_topics_and_switches(model: InfiniteModel, state: InfiniteSegments) -> float:
    """log p(z, psi, m), theta, beta and epsilon integrated out.

    docs/theory/enumeration.md#eq-joint-tables over the sentences that drew their topic.
    """
    alpha, gamma = state.concentration, state.top_concentration
    per_document = np.bincount(
        model.prepared.document_of_sentence[state.switches], minlength=model.prepared.n_documents
    )
    offsets = offsets_of_sizes(per_document)
    stirling = log_stirling_table(int(state.customers.max()), int(state.tables.max()))
    table_count = int(state.tables.sum())
    return (
        log_gamma_parts(offsets, alpha, state.customers, state.tables, state.tables_per_topic, stirling)
        + table_count * math.log(alpha)
        + state.topic_count * math.log(gamma)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
        + steps.log_switches(state, model.prepared, model.switch_prior)
    )


# --- moves over runs of sentences, given the switches ---------------------------------------------------------

# A run of sentences from one switch to the next has one topic, drawn from theta_d.  So the runs are observations of
# a hierarchical Dirichlet process mixture: documents are its groups, a run the counts of its words, a topic a
# distribution over words.  Every move that leaves the posterior of that mixture invariant leaves the present one
# invariant, too.


def regroup(context: GibbsContext, moves: tuple[Move, ...]) -> dict[str, float]:
    """Apply moves of the mixture to the runs between switches, which stay; return their reports."""
    prepared, state, streams, executor = context
    firsts = np.flatnonzero(state.switches)
    family = Multinomial(prepared.vocabulary_size, state.word_prior * prepared.relative_prior)
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
