"""Gibbs sampling with a given number of topics (Wilcox, chapter 6; docs/theory/htmm.md#sec-htmm-gibbs).

One sweep, given topics z and switches psi of all sentences:

    phi_k   ~ Dirichlet(eta + n_k)      words of all sentences with topic k                        (6.7)
    theta_d ~ Dirichlet(alpha + n_d)    sentences that drew their topic: first ones, but no stays  (6.5)
    z, psi of each document together, by forward filtering and backward drawing                    (6.12 to 6.15)
    epsilon ~ Beta(zeta1 + switches, zeta2 + stays)      first sentences left out                  (6.11)
    alpha, eta, if they are learned

Documents are independent given phi and epsilon, so their blocks run in parallel.
"""

from __future__ import annotations

import itertools

import numpy as np

from franchise.htmm import gibbs_steps as steps
from franchise.htmm.gibbs_steps import GibbsContext
from franchise.htmm.model import FiniteModel, Segments, start_of
from franchise.kernels.htmm_gibbs import Finite, draw_finite
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.table_counts import draw_table_counts
from franchise.moves.concentrations import draw_group_concentration
from franchise.parallel.engine import BlockExecutor
from franchise.priors import Gamma


def start_at_random(model: FiniteModel, streams: Streams, executor: BlockExecutor) -> Segments:
    """Every sentence in a topic at random."""
    topics, switches = steps.draw_at_random(model.prepared, model.n_topics, streams.generator())
    return start_from(model, topics, switches, executor)


def start_from(
    model: FiniteModel, topics: np.ndarray, switches: np.ndarray, executor: BlockExecutor
) -> Segments:
    """The state with these topics and switches."""
    state = Segments(
        topics=topics,
        switches=switches,
        switch_probability=0.5,
        concentration=start_of(model.document_prior),
        word_prior=start_of(model.word_prior),
        topic_count=model.n_topics,
    )
    steps.count_words(model.prepared, state, executor)
    return state


def sweep(model: FiniteModel, state: Segments, streams: Streams, executor: BlockExecutor) -> dict[str, float]:
    """Draw everything once; what moves report, which is nothing here."""
    context = GibbsContext(model.prepared, state, streams, executor)
    given = Finite(
        log_topics=steps.draw_log_topics(context, state.counts),
        prior=np.full(model.n_topics, state.concentration),
        switch=state.switch_probability,
    )
    steps.draw_documents(context, draw_finite, given)
    steps.count_words(model.prepared, state, executor)
    draw_numbers(model, context)
    return {}


def draw_numbers(model: FiniteModel, context: GibbsContext) -> None:
    """epsilon, and alpha and eta where they are learned, given topics and switches."""
    state, rng = context.state, context.rng
    state.switch_probability = steps.draw_switch_probability(state, model.prepared, model.switch_prior, rng)
    if isinstance(model.document_prior, Gamma):
        state.concentration = _draw_document_prior(model, context, model.document_prior, rng)
    state.word_prior = steps.draw_word_prior(state, model.prepared, model.word_prior, rng)


def _draw_document_prior(
    model: FiniteModel, context: GibbsContext, prior: Gamma, rng: np.random.Generator
) -> float:
    """alpha by tables: given them, K alpha is the concentration of a process over documents.

    docs/theory/htmm.md#eq-htmm-document-prior.
    """
    state, topics = context.state, model.n_topics
    counts = state.switches_by_topic(model.prepared)
    sizes = model.comm.allgather_concat(counts.sum(axis=1))
    in_all = draw_group_concentration(
        topics * state.concentration,
        int(model.comm.allreduce(np.array(_draw_tables(context, counts)))),
        sizes[sizes > 0],
        Gamma(prior.shape, prior.rate / topics),
        rng,
        context.executor,
    )
    return in_all / topics


def _draw_tables(context: GibbsContext, counts: np.ndarray) -> int:
    """The number of tables of all documents, given n_dk; each block of documents has its own random numbers."""
    own = context.prepared.own
    rng_states = context.rng_states(STREAMS.htmm_tables + own.first_block, len(own.block_bounds) - 1)
    total = 0
    for rng_state, (first, last) in zip(rng_states, itertools.pairwise(own.block_bounds), strict=True):
        block = counts[first:last]
        customers = block[block > 0]
        tables = np.empty(len(customers), np.int32)
        draw_table_counts(customers, np.full(len(customers), context.state.concentration), rng_state, tables)
        total += int(tables.sum())
    return total


def measure(model: FiniteModel, state: Segments) -> dict[str, float]:
    """Return the values to trace: log p(x | z), the log joint and the hyperparameters."""
    counts = {
        "n_topics": len(model.comm.allreduce_unique(state.topics)[0]),
        "n_switches": steps.count_switches(state, model.prepared),
    }
    numbers = {"document_prior": (model.document_prior, state.concentration)}
    return steps.measured(model, state, counts, log_topics_and_switches(model, state), numbers)


def log_topics_and_switches(model: FiniteModel, state: Segments) -> float:
    """log p(z, psi), theta and epsilon integrated out."""
    counts, alpha = state.switches_by_topic(model.prepared), state.concentration
    of_documents = model.comm.allreduce_unique(counts.sum(axis=1))
    of_cells = model.comm.allreduce_unique(counts[counts > 0])
    log_topics = steps.log_dirichlet_multinomial(alpha, alpha * model.n_topics, of_cells, of_documents)
    return log_topics + steps.log_switches(state, model.prepared, model.switch_prior)
