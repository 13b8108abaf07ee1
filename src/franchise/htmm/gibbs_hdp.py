"""Gibbs sampling with the number of topics learned: theta_d ~ DP(alpha, beta), beta ~ GEM(gamma).

One sweep, given topics z and switches psi of all sentences and the weights beta
(docs/theory/htmm-hdp.md#sec-htmm-hdp-sweep):

    theta_d ~ Dirichlet(alpha beta_1 + n_d1, ..., alpha beta_u)     sentences that drew their topic, as in `finite`
    u_s     uniform below min(c, theta_dz) if sentence s drew its topic, below c if it kept it
    fresh topics broken off beta_u, and with them off every theta_du, until no slice reaches what is left
    phi_k   given the words of all sentences with topic k; from the prior for fresh topics
    z, psi of each document together, over the topics above each sentence's slice
    topics without sentences are dropped, their weight goes back to beta_u
    given the switches: splits and merges of topics (`regroup`)
    switches and topics of runs, words integrated out (`collapsed.py`)
    m_dk by urns;  gamma | m, K;  alpha | m;  beta ~ Dirichlet(m_1, ..., m_K, gamma)
    epsilon ~ Beta(zeta1 + switches, zeta2 + stays)

Exact: the slices are a function of theta_d and of which sentences drew, and c is a constant.  A document whose rest
theta_du is below all its slices needs no share of further fresh topics: none of its sentences could have one.
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
from franchise.kernels.htmm_gibbs import Sliced, draw_sliced
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.streams import Streams
from franchise.kernels.recount import log_gamma_parts
from franchise.kernels.table_counts import draw_table_counts, log_stirling_table
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import Weights
from franchise.model.state.views import draw_topic_weights
from franchise.moves.base import Move
from franchise.moves.concentrations import draw_group_concentration, draw_top_concentration
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.parallel.engine import BlockExecutor
from franchise.priors import Gamma

CUTOFF = 0.1
"""c of the slices. Any constant is right: larger, and small topics are seldom above a slice; smaller, and more
fresh topics must be broken off."""

REGROUPING: tuple[Move, ...] = (LaunchSplitMerge(),)
"""Moves over the runs between switches, in every sweep."""


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
        concentration=start_of(model.alpha),
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
    rng = context.rng
    log_proportions = draw_log_proportions(context, rng)
    log_slices = draw_log_slices(context, log_proportions, rng)
    log_proportions = break_off_topics(context, log_proportions, log_slices, rng)
    fresh = log_proportions.shape[1] - state.topic_count
    counts = np.hstack([state.counts, np.zeros((len(state.counts), fresh), np.int32)])
    given = Sliced(
        log_topics=steps.draw_log_topics(context, counts),
        log_proportions=log_proportions,
        log_slices=log_slices,
        switch=state.switch_probability,
        cutoff=CUTOFF,
    )
    steps.draw_documents(context, draw_sliced, given)
    drop_empty_topics(state)
    values = regroup(context, REGROUPING)
    draw_learned_runs(context._replace(streams=replace(streams, move=streams.move + 1 + len(REGROUPING))))
    steps.count_words(model.prepared, state, executor)
    draw_numbers(model, state, rng, executor)
    return values


def draw_log_proportions(context: GibbsContext, rng: np.random.Generator) -> np.ndarray:
    """theta_d in logs, float64 (D, K + 1); the last column is for all unseen topics."""
    state = context.state
    prior = state.concentration * np.append(state.weights, state.unseen_weight)
    counts = np.pad(state.switches_by_topic(context.prepared), ((0, 0), (0, 1)))
    return draw_dirichlets(counts + prior, rng)


def draw_log_slices(
    context: GibbsContext, log_proportions: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """log u_s, float64 (S,): u_s uniform below min(c, theta_dz) where a topic was drawn, else below c."""
    state, prepared = context.state, context.prepared
    below = np.full(prepared.n_sentences, math.log(CUTOFF))
    drew = state.switches
    own = log_proportions[prepared.document_of_sentence[drew], state.topics[drew]]
    below[drew] = np.minimum(below[drew], own)
    return below + np.log1p(-rng.random(prepared.n_sentences))


def break_off_topics(
    context: GibbsContext, log_proportions: np.ndarray, log_slices: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Break fresh topics off the unseen weight until no slice reaches the rest; log theta of all topics (D, K').

    beta_new = b beta_u with b ~ Beta(1, gamma); a document's theta_u is split by Beta(alpha beta_new, alpha
    beta_u') as long as its rest reaches one of its slices. The state's weights take the fresh topics in.
    """
    state, prepared = context.state, context.prepared
    bounds = np.diff(prepared.data.documents)
    lowest = np.full(prepared.n_documents, np.inf)
    occupied = bounds > 0
    lowest[occupied] = np.minimum.reduceat(log_slices, prepared.data.documents[:-1][occupied])
    columns, rest = [log_proportions[:, :-1]], log_proportions[:, -1].copy()
    weights = [state.weights]
    reached = np.flatnonzero(rest >= lowest)
    while len(reached):
        log_left = math.log1p(-rng.random()) / state.top_concentration
        weights.append(np.array([-math.expm1(log_left) * state.unseen_weight]))
        state.unseen_weight *= math.exp(log_left)
        shares = state.concentration * np.array([weights[-1][0], state.unseen_weight])
        logs = draw_dirichlets(np.tile(shares, (len(reached), 1)), rng)
        column = np.full((prepared.n_documents, 1), -np.inf)
        column[reached, 0] = rest[reached] + logs[:, 0]
        columns.append(column)
        rest[reached] += logs[:, 1]
        reached = reached[rest[reached] >= lowest[reached]]
    state.weights = np.concatenate(weights)
    return np.hstack(columns)


def drop_empty_topics(state: InfiniteSegments) -> None:
    """Topics without sentences go, their weights back to the unseen; the others are numbered without gaps."""
    kept, numbered = np.unique(state.topics, return_inverse=True)
    state.topics[:] = numbered
    state.unseen_weight += float(np.delete(state.weights, kept).sum())
    state.weights = state.weights[kept]
    state.topic_count = len(kept)


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
    """What is traced: log p(x | z), the log joint with the tables, and the numbers above; by one who has all."""
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


# --- splits, merges and new topics, given the switches ------------------------------------------------------

# A run of sentences from one switch to the next has one topic, drawn from theta_d.  So the runs are observations of
# a hierarchical Dirichlet process mixture: documents are its groups, a run the counts of its words, a topic a
# distribution over words.  Every move that leaves the posterior of that mixture invariant leaves the present one
# invariant, too.  Sweeps over sentences find where a topic begins and ends, but hardly ever open or close one: the
# words of a fresh topic are drawn from the prior before any sentence can have it.  The moves here do, with the
# words of topics integrated out.


def regroup(context: GibbsContext, moves: tuple[Move, ...]) -> dict[str, float]:
    """Apply moves of the mixture to the runs between switches; what they report. The switches stay."""
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
