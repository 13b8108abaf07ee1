"""Steps that the sweeps of both models share: topics' words, the switch probability, the prior of the words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from franchise.htmm.model import FiniteModel, InfiniteModel, Segments
from franchise.htmm.sentence_arrays import Prepared, run_kernel
from franchise.kernels import htmm_gibbs as kernels
from franchise.kernels import word_sweep
from franchise.kernels.htmm_gibbs import Drawn, Finite, scratch_for
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.moves.concentrations import slice_sample
from franchise.parallel.engine import BlockExecutor
from franchise.priors import Gamma
from franchise.validation import LARGEST_LOG


class GibbsContext(NamedTuple):
    """What every step of a sweep needs."""

    prepared: Prepared
    state: Any
    streams: Streams
    executor: BlockExecutor

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
    prior = context.state.word_prior * context.prepared.relative_prior
    rng_states = context.rng_states(STREAMS.htmm_topics, blocks)
    logs = np.empty(counts.shape)
    largest, sums = np.empty((blocks, topics)), np.empty((blocks, topics))
    first, last = context.prepared.comm.local_blocks(blocks)
    own = slice(first, last)
    if last > first:
        arguments = (counts, prior, rng_states[own], logs, largest[own], sums[own])
        run_kernel(
            context.executor, block_bounds[first : last + 1], kernels.draw_log_gammas, lambda: arguments
        )
    context.prepared.comm.allgather_rows(block_bounds, logs)
    context.prepared.comm.allgather_rows(np.arange(blocks + 1), largest, sums)
    top = largest.max(axis=0)
    totals = top + np.log((sums * np.exp(largest - top)).sum(axis=0))
    run_kernel(context.executor, block_bounds, kernels.subtract_logs, lambda: (totals, logs))
    return logs


def draw_documents(context: GibbsContext, kernel: Callable[..., None], given: Finite) -> None:
    """Draw the topics and switches of all documents, by blocks, with the kernel of a model and its arguments."""
    own = context.prepared.own
    rng_states = context.rng_states(STREAMS.htmm_documents + own.first_block, len(own.block_bounds) - 1)
    drawn = Drawn(context.state.topics, context.state.switches)
    draw_paths(context.prepared, kernel, own.block_bounds, given, rng_states, drawn, context.executor)


def draw_paths(
    prepared: Prepared,
    kernel: Callable[..., None],
    block_bounds: np.ndarray,
    given: Finite,
    rng_states: np.ndarray,
    drawn: Drawn,
    executor: BlockExecutor,
) -> None:
    """Draw topics and switches of the documents of every block; each block has a separate generator."""
    data, size = prepared.data, (prepared.longest, given.log_topics.shape[1])
    run_kernel(executor, block_bounds, kernel, lambda: (data, given, scratch_for(*size), rng_states, drawn))


def count_words(prepared: Prepared, state: Segments, executor: BlockExecutor) -> None:
    """Recount n_kw."""
    counts = np.empty((prepared.vocabulary_size, state.topic_count), np.int32)
    arguments = (state.topics, prepared.sentence_of_place, prepared.places, counts)
    run_kernel(executor, prepared.word_cuts, word_sweep.count_words, lambda: arguments)
    prepared.comm.allreduce_sparse("counts", counts)
    state.counts = counts


def draw_switch_probability(
    state: Segments, prepared: Prepared, prior: tuple[float, float], rng: np.random.Generator
) -> float:
    """epsilon ~ Beta(zeta1 + switches, zeta2 + stays), without first sentences (6.11)."""
    switches = count_switches(state, prepared)
    return float(rng.beta(prior[0] + switches, prior[1] + (prepared.own.later_sentences - switches)))


def count_switches(state: Segments, prepared: Prepared) -> int:
    """Return the number of switches of later sentences, of all processes."""
    return int(prepared.comm.allreduce(np.array(state.later_switches(prepared))))


def log_switches(state: Segments, prepared: Prepared, prior: tuple[float, float]) -> float:
    """log p(psi), epsilon integrated out."""
    switches = count_switches(state, prepared)
    stays = prepared.own.later_sentences - switches
    return _log_beta(prior[0] + switches, prior[1] + stays) - _log_beta(*prior)


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)


# --- words given topics -------------------------------------------------------------------------------------


class WordCounts:
    """log p(x | z) as a function of eta: how many counts n_kw are 1, 2, ... by eta_w / eta, and the sums n_k."""

    def __init__(self, prepared: Prepared, counts: np.ndarray) -> None:
        self.vocabulary_size = len(counts)
        self.totals = counts.sum(axis=0)
        relative, group = np.unique(prepared.relative_prior, return_inverse=True)
        groups = np.repeat(group, np.count_nonzero(counts, axis=1))
        having = np.bincount(counts[counts > 0] * len(relative) + groups)
        places = np.flatnonzero(having)
        self.values, self.times = places // len(relative), having[places]
        self.relative = relative[places % len(relative)]

    def log_likelihood(self, prior: float) -> float:
        """phi integrated out."""
        mass, of_topics = prior * self.vocabulary_size, (self.totals, np.ones_like(self.totals))
        return log_dirichlet_multinomial(prior * self.relative, mass, (self.values, self.times), of_topics)


Counted = tuple[np.ndarray, np.ndarray]
"""Different values, and how often each of them occurs."""


def log_dirichlet_multinomial(
    prior: float | np.ndarray, mass: float, cells: Counted, sizes: Counted
) -> float:
    """The log probability of draws from distributions ~ Dirichlet(prior, ..., prior), these integrated out.

    The `prior` may differ between cells, and `mass` is its sum over all outcomes. `cells` are the counts of
    outcomes without zeros, `sizes` the numbers of draws.
    """
    from scipy.special import gammaln

    of_cells = float((cells[1] * (gammaln(prior + cells[0]) - gammaln(prior))).sum())
    return of_cells + float((sizes[1] * (math.lgamma(mass) - gammaln(mass + sizes[0]))).sum())


def measured(
    model: FiniteModel | InfiniteModel,
    state: Segments,
    counts: dict[str, int],
    log_topics: float,
    numbers: dict[str, tuple[float | Gamma, float]],
) -> dict[str, float]:
    """Return the values to trace: the counts, log p(x | z), the log joint, and hyperparameters with their priors.

    `log_topics` is the log probability of topics and switches.
    """
    likelihood = WordCounts(model.prepared, state.counts).log_likelihood(state.word_prior)
    numbers = {**numbers, "word_prior": (model.word_prior, state.word_prior)}
    learned = sum(prior.log_density(value) for prior, value in numbers.values() if isinstance(prior, Gamma))
    return {
        **counts,
        "log_joint": likelihood + log_topics + learned,
        "log_likelihood_per_observation": likelihood / max(1, model.prepared.own.words),
        "switch_probability": state.switch_probability,
        **{name: value for name, (_, value) in numbers.items()},
    }


def draw_word_prior(
    state: Segments, prepared: Prepared, prior: float | Gamma, rng: np.random.Generator
) -> float:
    """eta given the topics, if it is learned, by slice sampling on its logarithm (as `moves.TopicPrior`)."""
    if not isinstance(prior, Gamma):
        return state.word_prior
    words = WordCounts(prepared, state.counts)

    def log_target(log_value: float) -> float:
        if abs(log_value) > LARGEST_LOG:
            return -math.inf
        value = math.exp(log_value)
        return prior.log_density(value) + log_value + words.log_likelihood(value)

    return math.exp(slice_sample(log_target, math.log(state.word_prior), 1.0, rng))
