"""The states that chains start from.

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
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

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
from franchise.running.chain_interface import ChainT, changed
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays
from franchise.validation import check_integer, describe

SEQUENTIAL = "sequential"

AT_LEAST = 10.0
"""Learned concentrations are at least this while observations are seated in a sequential start.

With a small alpha the words of a document all go to one table, and topics become blends of what documents mix,
which sweeps undo only slowly: on `franchise.synthetic.five_topics` with Gamma(0.1, 1) priors the five topics are
there within 50 sweeps from such a start, and after hundreds, if within 1000 at all, from one seated with
alpha = gamma = 0.1, the means of those priors (``franchise reproduce wang-blei`` measures it). On text it gets
held-out scores up sooner, too.

The number was chosen among 0.1, 0.5, 1, 3, 10 and 30 by the first 12 seeds of that study; on 20 seeds that had
no part in the choice (20 to 39) every chain of either method found the five topics within 200 sweeps.
"""


def starts_of_chains(start: object, chains: int, n_observations: int) -> list[Any]:
    """What was asked for, once for each chain."""
    if isinstance(start, LastStates):
        start = list(start)
    if isinstance(start, list) and not (len(start) == n_observations != chains and _are_integers(start)):
        if len(start) != chains:
            raise InputError(
                f"start as a list needs one entry for each of the {chains} chains; got {len(start)}. "
                f"(For labels, give an array with one for each of the {n_observations} observations.)"
            )
        return start
    return [start] * chains


def make_start(start: Any, model: Model, view: type[State], to_grouped_order: Any, streams: Streams) -> State:
    """The state that one chain starts from; InputError if `start` is none of the known kinds."""
    if isinstance(start, str) and start == SEQUENTIAL:
        return start_sequentially(model, view, streams)
    if isinstance(start, State):
        return _checked_state(start, model)
    if start is None:
        start = usual_topics(model.data.n_observations)
    if isinstance(start, Integral) and not isinstance(start, bool):
        topics = check_integer("start", start, minimum=1)
        labels = draw_topics_at_random(model, topics, streams)
        if topics > model.data.n_observations:
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    else:
        labels = to_grouped_order(_checked_labels(start, model.data.n_observations))
    return _home(view).from_topics(model.data, model.family, labels, model.start_alpha(), model.start_gamma())


def _home(view: type[State]) -> type[Seating] | type[Weights]:
    """The view that topics are put into for a sampler that begins with this one."""
    return Seating if view is Seating else Weights


def draw_topics_at_random(model: Model, topics: int, streams: Streams) -> np.ndarray:
    """A topic for each observation, uniformly; blocks of observations have random numbers of their own."""
    labels = large_empty(model.data.n_observations, type_for(model.data.n_observations, topics - 1))
    for block, (first, last) in enumerate(itertools.pairwise(model.block_bounds)):
        begin, end = model.data.offsets[first], model.data.offsets[last]
        rng = streams.generator(model.first_block + block)
        labels[begin:end] = rng.integers(0, topics, end - begin, dtype=np.int32)
    return labels


@dataclass(frozen=True)
class RandomInit:
    """An initial state (`initial_state.py`): each observation in one of K topics, uniformly."""

    topics: int
    view: type[Seating] | type[Weights]
    sweeps: int = 0
    common: ClassVar[dict[str, np.ndarray]] = {}

    @classmethod
    def from_start(cls, start: object, model: Model, view: type[State]) -> RandomInit | None:
        """Return the initial state that `start` requests, or None if it requests another kind."""
        if start is None:
            start = usual_topics(model.n_observations)
        if not isinstance(start, Integral) or isinstance(start, bool):
            return None
        topics = check_integer("start", start, minimum=1)
        return None if topics > model.n_observations else cls(topics, _home(view))

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain at its start."""
        assert isinstance(chain.model, Model)
        model = chain.model.memory_mapped
        labels = draw_topics_at_random(model, self.topics, start_streams(chain.seed, chain.number))
        alpha, gamma = model.start_alpha(), model.start_gamma()
        state = self.view.from_topics(model.data, model.family, labels, alpha, gamma)
        return changed(chain, model=model, state=state)


def start_sequentially(model: Model, view: type[State], streams: Streams) -> State:
    """Draw each observation's topic given those before it, in the view that the sampler starts with."""
    state = _nobody_seated(model, view)
    if isinstance(model.alpha, Gamma):
        state.group_concentration = max(state.group_concentration, AT_LEAST)
    if isinstance(model.gamma, Gamma):
        state.top_concentration = max(state.top_concentration, AT_LEAST)
    move: Move = CrfGibbs(tables=False) if view is Seating else DirectAssignment()
    move.step(model, state, streams, CALLING_THREAD)
    state.group_concentration, state.top_concentration = model.start_alpha(), model.start_gamma()
    return state


def _nobody_seated(model: Model, view: type[State]) -> State:
    """A state without topics, to which a sweep adds every observation in turn."""
    alpha, gamma = model.start_alpha(), model.start_gamma()
    if view is Seating:
        statistics = model.family.empty_statistics(SPARE_SLOTS)
        return Seating.empty(model.data, statistics, SPARE_SLOTS, alpha, gamma)
    nowhere = np.full(model.data.n_observations, -1, np.int32)
    return Weights.from_topics(model.data, model.family, nowhere, alpha, gamma)


def _checked_state(start: State, model: Model) -> State:
    """The assignments of a saved state, under this model: what the model fixes counts more than the state."""
    if start.n_observations != model.data.n_observations:
        raise InputError(
            f"start is a state of {start.n_observations} observations, but the data have "
            f"{model.data.n_observations}."
        )
    if isinstance(start, Seating) and not _fits_groups(start, model.data.offsets):
        raise InputError("start is a state of as many observations, but in other groups.")
    state = state_from_arrays(state_to_arrays(start, model.family), model.data, model.family)
    if isinstance(state, Weighted):
        state.cell_tables = None
    if not isinstance(model.alpha, Gamma):
        state.group_concentration = model.alpha
    if not isinstance(model.gamma, Gamma):
        state.top_concentration = model.gamma
    return state


def _fits_groups(start: Seating, offsets: np.ndarray) -> bool:
    """Whether the tables of a saved seating are those of these groups."""
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
            f"start must be None, 'sequential', a number of topics, one whole-number label for each observation, "
            f"a saved state, or a list with one of these for each chain; got {describe(start)}."
        )
    if len(labels) != n_observations:
        raise InputError(f"start has {len(labels)} labels, but the data have {n_observations} observations.")
    if labels.min() < 0:
        raise InputError(f"start must not have negative labels; got {labels.min()}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _are_integers(values: list[Any]) -> bool:
    return all(isinstance(value, Integral) and not isinstance(value, bool) for value in values)


def start_streams(seed: int, chain: int) -> Streams:
    """The random streams of a chain's start."""
    return Streams(seed, chain, 0, STREAMS.start)
