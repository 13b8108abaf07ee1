"""Steps that the sweeps of both models share: topics' words, the switch probability, the prior of the words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.state import Segments
from franchise.kernels import htmm_gibbs as kernels
from franchise.kernels import word_sweep
from franchise.kernels.htmm_gibbs import Drawn, DrawScratch, scratch_for
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.blocks import BlockQueue
from franchise.moves.topic_prior import slice_sample
from franchise.parallel.communicator import Communicator
from franchise.parallel.engine import BlockExecutor, BlockStages
from franchise.priors import Gamma
from franchise.validation import LARGEST_LOG


class GibbsContext(NamedTuple):
    """What every step of a sweep needs."""

    prepared: Prepared
    state: Any
    streams: Streams
    executor: BlockExecutor

    @property
    def comm(self) -> Communicator:
        """The communicator of the processes that have the documents."""
        return self.prepared.comm

    @property
    def rng(self) -> np.random.Generator:
        """The generator of the single numbers of a step, at its beginning."""
        return self.streams.generator(STREAMS.htmm_numbers)

    def rng_states(self, first: int, blocks: int) -> np.ndarray:
        """The states of the generators of some blocks, (blocks, 4)."""
        return self.streams.rng_states(first, blocks).reshape(blocks, 4)


def draw_at_random(
    prepared: Prepared, topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw initial topics (S,) and switches (S,): sentences switch with probability 1/2, to random topics."""
    switches = prepared.first_sentences | (rng.random(prepared.n_sentences) < 0.5)
    drawn = rng.integers(topics, size=prepared.n_sentences, dtype=np.int32)
    last_switch = np.maximum.accumulate(np.where(switches, np.arange(prepared.n_sentences), 0))
    return drawn[last_switch], switches


def draw_log_topics(context: GibbsContext, counts: np.ndarray) -> np.ndarray:
    """phi_k ~ Dirichlet(eta + n_k) in logs, float64 (V, K), for all columns of the counts (6.7)."""
    block_bounds = context.prepared.word_cuts
    blocks, topics = len(block_bounds) - 1, counts.shape[1]
    prior = np.full(len(counts), context.state.word_prior)
    rng_states = context.rng_states(STREAMS.htmm_topics, blocks)
    logs = np.empty(counts.shape)
    largest, sums = np.empty((blocks, topics)), np.empty((blocks, topics))

    first, last = context.comm.local_blocks(blocks)
    own = slice(first, last)

    def draw(queue: BlockQueue) -> None:
        kernels.draw_log_gammas(queue, counts, prior, rng_states[own], logs, largest[own], sums[own])

    if last > first:
        context.executor.run(BlockStages(lambda: draw, [block_bounds[first : last + 1]]))
    context.comm.allgather_rows(block_bounds, logs)
    context.comm.allgather_rows(np.arange(blocks + 1), largest, sums)
    top = largest.max(axis=0)
    totals = top + np.log((sums * np.exp(largest - top)).sum(axis=0))

    def subtract(queue: BlockQueue) -> None:
        kernels.subtract_logs(queue, totals, logs)

    context.executor.run(BlockStages(lambda: subtract, [block_bounds]))
    return logs


def draw_documents(
    context: GibbsContext, topics: int, draw: Callable[[BlockQueue, DrawScratch, np.ndarray, Drawn], None]
) -> None:
    """Draw the topics and switches of all documents, by blocks; `draw` calls the kernel."""
    prepared, state = context.prepared, context.state
    rng_states = context.rng_states(
        STREAMS.htmm_documents + prepared.first_block, len(prepared.block_bounds) - 1
    )
    drawn = Drawn(state.topics, state.switches)

    def make_worker() -> Callable[[BlockQueue], None]:
        room = scratch_for(prepared.longest, topics)
        return lambda queue: draw(queue, room, rng_states, drawn)

    context.executor.run(BlockStages(make_worker, [prepared.block_bounds]))


def count_words(prepared: Prepared, state: Segments, executor: BlockExecutor) -> None:
    """Recount n_kw."""
    counts = np.empty((prepared.vocabulary_size, state.topic_count), np.int32)
    of_place, places = prepared.sentence_of_place, prepared.places

    def count(queue: BlockQueue) -> None:
        word_sweep.count_words(queue, state.topics, of_place, places, counts)

    executor.run(BlockStages(lambda: count, [prepared.word_cuts]))
    prepared.comm.allreduce_sparse("counts", counts)
    state.counts = counts


def draw_switch_probability(
    state: Segments,
    prepared: Prepared,
    prior: tuple[float, float],
    rng: np.random.Generator,
) -> float:
    """epsilon ~ Beta(zeta1 + switches, zeta2 + stays), first sentences left out (6.11)."""
    switches = count_switches(state, prepared)
    return float(rng.beta(prior[0] + switches, prior[1] + (prepared.all_later_sentences - switches)))


def count_switches(state: Segments, prepared: Prepared) -> int:
    """Return the number of switches of later sentences, of all processes."""
    return int(prepared.comm.allreduce(np.array(state.later_switches(prepared))))


def log_switches(state: Segments, prepared: Prepared, prior: tuple[float, float]) -> float:
    """log p(psi), epsilon integrated out."""
    switches = count_switches(state, prepared)
    stays = prepared.all_later_sentences - switches
    return _log_beta(prior[0] + switches, prior[1] + stays) - _log_beta(*prior)


def log_priors(*numbers: tuple[float | Gamma, float]) -> float:
    """The log prior densities of those numbers that are learned; each comes with its prior."""
    return sum(prior.log_density(value) for prior, value in numbers if isinstance(prior, Gamma))


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)


# --- words given topics -------------------------------------------------------------------------------------


class WordCounts:
    """log p(x | z) as a function of eta, from how many counts n_kw are 1, 2, ..., and the sums n_k."""

    def __init__(self, counts: np.ndarray) -> None:
        self.vocabulary_size = len(counts)
        self.totals = counts.sum(axis=0)
        having = np.bincount(counts.ravel())
        self.values = np.flatnonzero(having[1:]) + 1
        self.times = having[self.values]

    def log_likelihood(self, prior: float) -> float:
        """phi integrated out."""
        from scipy.special import gammaln

        mass = prior * self.vocabulary_size
        of_words = float((self.times * (gammaln(prior + self.values) - math.lgamma(prior))).sum())
        return of_words + float((math.lgamma(mass) - gammaln(mass + self.totals)).sum())


def draw_word_prior(state: Segments, prior: Gamma, rng: np.random.Generator) -> float:
    """eta given the topics, by slice sampling on its logarithm (as `moves.TopicPrior`)."""
    words = WordCounts(state.counts)

    def log_target(log_value: float) -> float:
        if abs(log_value) > LARGEST_LOG:
            return -math.inf
        value = math.exp(log_value)
        return prior.log_density(value) + log_value + words.log_likelihood(value)

    return math.exp(slice_sample(log_target, math.log(state.word_prior), 1.0, rng))
