"""Initial states of chains that begin or are resumed; each is made in the process that runs the chain.

GivenState       a state that is made in this process
RandomInit       each observation in one of K topics at random, made where the chain runs
FromCheckpoint   the arrays of a checkpoint, in memory or in files

`start` of `franchise.sample` is one of these:

None                 as a number K of topics: the square root of N, at most 100 or so (`model.usual_topics`)
a number K           each observation in one of K topics, uniformly
"sequential"         each observation drawn given those before it (Wang & Blei, section 4), learned
                     concentrations being at least 10 meanwhile (`AT_LEAST`)
labels (N,)          the given topics, in input order
a saved state        a copy of it
a list of these      one for each chain
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np

from franchise.errors import InputError
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.large_arrays import large_empty, type_for
from franchise.model.hdp_model import Model, usual_topics
from franchise.model.state.base import SPARE_SLOTS, LastStates, State, Weighted, Weights
from franchise.model.state.views import Seating
from franchise.moves.base import Move
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.direct_assignment import DirectAssignment
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import Gamma
from franchise.running.chain import AnyChain, ChainT, LocalChain
from franchise.storage.chain_store import Arrays, StoredArrays
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays
from franchise.validation import check_integer, describe

SEQUENTIAL = "sequential"

AT_LEAST = 10.0
"""Learned concentrations are at least this while observations are seated in a sequential start.

With a small alpha all words of a document go to one table. Topics then mix several true ones, and sweeps
separate these slowly. On `franchise.synthetic.five_topics` with Gamma(0.1, 1) priors, chains find the five
topics within 50 sweeps from such a start. From a start with alpha = gamma = 0.1, the means of these priors,
they need hundreds of sweeps, or more than 1000 (``franchise reproduce wang-blei`` measures it). On text,
held-out scores rise sooner, too.

The number was chosen among 0.1, 0.5, 1, 3, 10 and 30 with the first 12 seeds of that study. On 20 other seeds
(20 to 39) every chain of both methods found the five topics within 200 sweeps.
"""


@dataclass(frozen=True)
class GivenState:
    """A state that is made in this process, when the chain is placed."""

    make: Callable[[], Any]
    sweeps: ClassVar[int] = 0  # that the chain has done by then

    def as_arrays(self, chain: LocalChain) -> FromCheckpoint:
        """Return the same initial state as arrays."""
        return FromCheckpoint(StoredArrays(replace(chain, state=self.make()).to_arrays()), self.sweeps)

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain with its state."""
        model = chain.model.memory_mapped if isinstance(chain.model, Model) else chain.model
        return replace(chain, model=model, state=self.make())


@dataclass(frozen=True)
class RandomInit:
    """Each observation in one of K topics, uniformly."""

    topics: int
    view: type[State]
    sweeps: ClassVar[int] = 0

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain with its state."""
        assert isinstance(chain.model, Model)
        model = chain.model.memory_mapped
        labels = draw_topics_at_random(model, self.topics, start_streams(chain.seed, chain.number))
        return replace(chain, model=model, state=_state_with(labels, model, self.view))


@dataclass(frozen=True)
class FromCheckpoint:
    """An initial state from the arrays of a checkpoint."""

    arrays: StoredArrays
    sweeps: int
    draws: Sequence[StoredArrays] = ()  # kept draws in files: only read, so that damage is noticed at once

    def read(self) -> Arrays:
        """Return all arrays of the state."""
        return self.arrays.read()

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain at this checkpoint; InputError if the arrays describe none."""
        for draw in self.draws:
            draw.read()
        return chain.restored(self.read(), self.sweeps)


InitialState: TypeAlias = GivenState | RandomInit | FromCheckpoint


def topics_at_start(chain: AnyChain, initial_state: InitialState) -> int:
    """Return the number of topics that a chain starts from."""
    if isinstance(initial_state, RandomInit):
        return initial_state.topics
    return int(chain.state.topic_count)


def starts_of_chains(start: object, chains: int, n_observations: int) -> list[Any]:
    """Return the requested initial state of each chain."""
    if isinstance(start, LastStates):
        start = list(start)
    if isinstance(start, list) and not (len(start) == n_observations != chains and _are_integers(start)):
        if len(start) != chains:
            raise InputError(
                f"start as a list needs one entry for each of the {chains} chains; got {len(start)}. "
                f"For labels, use an array with one label for each of the {n_observations} observations."
            )
        return start
    return [start] * chains


def topics_of_start(start: object, n_observations: int) -> int | None:
    """Return the number of topics at random that `start` requests, or None if it requests another kind."""
    if start is None:
        return usual_topics(n_observations)
    if isinstance(start, Integral) and not isinstance(start, bool):
        return check_integer("start", start, minimum=1)
    return None


def make_start(start: Any, model: Model, view: type[State], to_grouped_order: Any, streams: Streams) -> State:
    """Return the initial state of one chain; InputError if `start` is none of the known kinds."""
    if isinstance(start, str) and start == SEQUENTIAL:
        return start_sequentially(model, view, streams)
    if isinstance(start, State):
        return _checked_state(start, model)
    topics = topics_of_start(start, model.data.n_observations)
    if topics is None:
        labels = to_grouped_order(_checked_labels(start, model.data.n_observations))
    else:
        labels = draw_topics_at_random(model, topics, streams)
        if topics > model.data.n_observations:
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return _state_with(labels, model, view)


def view_of_labels(view: type[State]) -> type[Seating] | type[Weights]:
    """Return the view of given labels, for a sampler that begins with `view`."""
    return Seating if view is Seating else Weights


def _state_with(labels: np.ndarray, model: Model, view: type[State]) -> State:
    """Return the state with these topics, for a sampler that begins with `view`."""
    alpha, gamma = model.start_alpha(), model.start_gamma()
    return view_of_labels(view).from_topics(model.data, model.family, labels, alpha, gamma)


def draw_topics_at_random(model: Model, topics: int, streams: Streams) -> np.ndarray:
    """Draw a topic for each observation, uniformly; each block of observations has a separate random stream."""
    labels = large_empty(model.data.n_observations, type_for(model.data.n_observations, topics - 1))
    for block, (first, last) in enumerate(itertools.pairwise(model.block_bounds)):
        begin, end = model.data.offsets[first], model.data.offsets[last]
        rng = streams.generator(model.first_block + block)
        labels[begin:end] = rng.integers(0, topics, end - begin, dtype=np.int32)
    return labels


def start_sequentially(model: Model, view: type[State], streams: Streams) -> State:
    """Draw each observation's topic given those before it, in the view that the sampler starts with."""
    alpha, gamma = model.start_alpha(), model.start_gamma()
    state: State  # without topics; the move adds every observation in turn
    if view is Seating:
        move: Move = CrfGibbs(tables=False)
        statistics = model.family.empty_statistics(SPARE_SLOTS)
        state = Seating.empty(model.data, statistics, SPARE_SLOTS, alpha, gamma)
    else:
        move = DirectAssignment()
        nowhere = np.full(model.data.n_observations, -1, np.int32)
        state = Weights.from_topics(model.data, model.family, nowhere, alpha, gamma)
    before = state.alphas.tolist()
    for number, prior in enumerate(model.alphas):
        if isinstance(prior, Gamma):
            state.set_alpha(number, max(before[number], AT_LEAST))
    if isinstance(model.gamma, Gamma):
        state.top_concentration = max(gamma, AT_LEAST)
    move.step(model, state, streams, CALLING_THREAD)
    for number, value in enumerate(before):
        state.set_alpha(number, value)
    state.top_concentration = gamma
    return state


def _checked_state(start: State, model: Model) -> State:
    """Return the assignments of a saved state under this model, whose fixed values override the state."""
    if start.n_observations != model.data.n_observations:
        raise InputError(
            f"start must be a state of the same data; got {start.n_observations} observations instead of "
            f"{model.data.n_observations}."
        )
    if isinstance(start, Seating) and not _fits_groups(start, model.data.offsets):
        raise InputError("start must be a state of the same data; got different groups.")
    state = state_from_arrays(state_to_arrays(start, model.family), model.data, model.family)
    if isinstance(state, Weighted):
        state.cell_tables = None
    for number, alpha in enumerate(model.alphas):
        if not isinstance(alpha, Gamma):
            state.set_alpha(number, alpha)
    if not isinstance(model.gamma, Gamma):
        state.top_concentration = model.gamma
    return state


def _fits_groups(start: Seating, offsets: np.ndarray) -> bool:
    """Return whether the tables of a saved seating match these groups."""
    sizes = np.diff(offsets)
    if len(start.table_slots) != len(sizes) or (start.table_of_observation >= np.repeat(sizes, sizes)).any():
        return False
    seats = np.repeat(offsets[:-1], sizes) + start.table_of_observation
    return np.array_equal(np.bincount(seats, minlength=start.n_observations), start.size_of_table)


def _checked_labels(start: object, n_observations: int) -> np.ndarray:
    try:
        labels = np.asarray(start)
    except ValueError:
        labels = np.empty((), object)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(
            "start must be None, 'sequential', a number of topics, one whole-number label for each "
            "observation, "
            f"a saved state, or a list with one of these for each chain; got {describe(start)}."
        )
    if len(labels) != n_observations:
        raise InputError(
            f"start must have {n_observations} labels, one per observation; got {len(labels)} labels."
        )
    if labels.min() < 0:
        raise InputError(f"start must not have negative labels; got {labels.min()}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _are_integers(values: list[Any]) -> bool:
    return all(isinstance(value, Integral) and not isinstance(value, bool) for value in values)


def start_streams(seed: int, chain: int) -> Streams:
    """Return the random streams of a chain's initial state."""
    return Streams(seed, chain, 0, STREAMS.start)
