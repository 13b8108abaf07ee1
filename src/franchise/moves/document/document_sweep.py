"""Document-collapsed sweeps over blocks: topics' parameters are drawn, documents' weights are integrated out.

Given beta and the parameters phi, documents are independent, so all blocks of documents run in parallel; within a
document observations are drawn in turn, with its weights pi_j integrated out, which is why these sweeps mix almost
as well as collapsed Gibbs sampling (docs/theory/document-sweep.md#eq-document-topic):

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k)

There are infinitely many topics k. Two moves need only finitely many of them, and both are exact:

`DocumentSweep`, by slices: u_ji is uniform below h(beta_z), h(beta) = min(c, beta); the topics above it are
finitely many, and each is drawn with weight divided by h(beta_k).  Fresh topics are broken off beta_u until no
slice can reach what is left.  What h depends on must not depend on z: here beta_k itself, and a constant c made
of the group sizes and the concentrations.  (A slice by the order of topics, or by which were occupied, is wrong:
the order is a function of z.)

`FixedTopicsSweep`, by frozen observations: each observation is frozen with a small probability, independently of
everything else. Topics with a frozen observation are settled. All other observations of settled topics are drawn
again, over settled topics only; the rest keep their topics. The set of settled topics depends only on frozen
observations, so each draw is a Gibbs draw given that z_ji is settled, and no topic empties or opens. It costs half
of a sweep with slices. It also lets small topics grow at their full rate, so samplers use it in most sweeps, and
slices in some.

Both also draw the tables m_jk of every document at its end, given its topics and beta (`state.cell_tables`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from franchise.errors import InputError, renamed_arguments
from franchise.families.abilities import Ability
from franchise.kernels import document_sweep as kernels
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.padding import padded_copy, padded_zeros
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.block_sweep import (
    CellLists,
    Sliced,
    SweepContext,
    draw_topics,
    expected_unseen,
    take_vacant_slots,
    weights_at_nodes,
)
from franchise.moves.document.word_sweep import (
    Gammas,
    break_sorted_sticks,
    find_settled,
    lowest_slices,
    sweep_settled_categories,
    sweep_slices_categories,
)
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_positive

REACH = 4.0
"""The constant c of the slices, in multiples of the expected unseen weight.

With a smaller value, more observations have slices among fresh topics, which costs time. With a larger one, small
topics are rarely above a slice, so they grow and shrink slowly.
"""

FEW = 1000
"""Up to this number of observations, preparing the kernels for categories takes longer than they save."""


@renamed_arguments(frozen="freeze_probability")
@dataclass(frozen=True)
class FixedTopicsSweep(Move):
    """Resample all but a frozen fraction of the assignments, over the topics that the frozen ones occupy.

    View: weights. Exact for the HDP. Neither opens nor closes topics: use it with a move that does. Costs,
    for categories, the live topics of a document for each observation and K V for drawing parameters; for
    others, K for each observation. Parallel over blocks.

    Parameters
    ----------
    freeze_probability : float, default 1/64
        The probability that an observation keeps its topic in a sweep.
    sparse : bool or None, default None
        Whether to use the kernel for categories; None uses it where the family allows and there are more than
        1000 observations. The distribution is the same either way, so the choice may depend on the state.

    Raises
    ------
    InputError
        If `freeze_probability` is not above 0 and at most 1.

    Examples
    --------
    >>> sampler = [fr.moves.FixedTopicsSweep(), fr.moves.DocumentSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    freeze_probability: float = 1.0 / 64.0
    sparse: bool | None = None

    views = (Weights,)
    distributed = True
    supports_trees = True
    updates = frozenset({"observations"})
    requires = frozenset({Ability.DRAWS_PARAMETERS})

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("freeze_probability", self.freeze_probability)
        if self.freeze_probability >= 1.0:
            raise InputError(f"freeze_probability must be below 1; got {self.freeze_probability}.")

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Find the settled topics, draw their parameters, sweep."""
        context = SweepContext(model, state, streams, executor)
        log_rest = math.log1p(-self.freeze_probability)
        heights = np.zeros(state.capacity)
        if is_sparse(self.sparse, model):
            gammas = Gammas(context, state.statistics, state.occupied, STREAMS.parameters)
            sweep_settled_categories(context, gammas, heights, log_rest)
        else:
            find_settled(context, heights, log_rest)
            sweep_any(context, heights, log_rest)
        return MoveReport()


@dataclass(frozen=True)
class DocumentSweep(Sliced):
    """Draw the topics of all observations, over all topics above each one's slice, fresh ones included.

    View: weights. Exact for the HDP. Costs as `FixedTopicsSweep`, and as much again for slices and new topics.
    Parallel over blocks. docs/theory/document-sweep.md#sec-document-slices.

    Parameters
    ----------
    cutoff : float or None, default None
        The constant c of the slices; None uses 4 times the expected unseen weight given group sizes and
        concentrations.
    sparse : bool or None, default None
        Whether to use the kernel for categories; None uses it where the family allows and there are more than
        1000 observations. The distribution is the same either way, so the choice may depend on the state.

    Raises
    ------
    InputError
        If `cutoff` is not positive.

    Examples
    --------
    >>> sampler = [fr.moves.DocumentSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    sparse: bool | None = None

    views = (Weights,)
    distributed = True
    supports_trees = True

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw slices, new topics as far as they reach, and parameters; sweep; drop empty topics."""
        context = SweepContext(model, state, streams, executor)
        cutoff = usual_cutoff(model, state) if self.cutoff is None else self.cutoff
        if is_sparse(self.sparse, model):
            sweep_slices_categories(context, cutoff)
        else:
            _sweep_slices_any(context, cutoff)
        state.drop_empty_topics()
        return MoveReport()


def usual_cutoff(model: Model, state: Weights) -> float:
    """Return c, a multiple of the expected unseen weight; it does not depend on the topics."""
    return min(1.0, REACH * expected_unseen(model, state))


def is_sparse(asked: bool | None, model: Model) -> bool:
    """Whether to use the kernels for categories."""
    if model.data.tree.is_deep:
        return False  # the kernels for categories share one vector of weights between all groups
    if asked is not None:
        return asked
    return Ability.SPARSE in model.family.abilities and model.n_observations > FEW


def sweep_any(context: SweepContext, heights: np.ndarray, log_rest: float) -> None:
    """Sweep with the kernel for all families; statistics are recounted."""
    state = context.state
    limit = int(np.flatnonzero(heights)[-1]) + 1 if heights.any() else 0
    limit = max(limit, int(state.occupied[-1]) + 1)
    parameters = draw_topics(context, limit)
    given = (state.topic_of_observation, heights[:limit], context.concentrations_of_nodes, log_rest)
    parents = context.data.parent_of_group
    lists = CellLists(context, state.capacity)

    def make_worker() -> Callable[[int], None]:
        scratch, cells = padded_zeros((3, limit)), lists.room()

        def sweep(number: int) -> None:
            block, rng_states = context.block(number), padded_copy(context.rng_states[number])
            groups = (block.groups.start, block.groups.stop)
            cells.filled[0] = cells.begins[number]
            arrays = (parameters, *context.arrays, parents, groups)
            context.check_fault(kernels.sweep_any(*arrays, *given, rng_states, scratch, cells))
            cells.ends[number] = cells.filled[0]

        return sweep

    context.executor.map_blocks(make_worker, context.blocks)
    state.recount(context.data)
    lists.keep(state, lists.sums()[1])


def _sweep_slices_any(context: SweepContext, cutoff: float) -> None:
    """Fresh topics take vacant slots for the sweep."""
    state = context.state
    heights = np.minimum(cutoff, state.topic_weights)
    alike = np.zeros(context.data.n_observations, np.int8)
    lowest = lowest_slices(context, heights, cutoff, alike, 1)
    sticks, rest = break_sorted_sticks(state, lowest, context.streams.generator(STREAMS.sticks))
    take_vacant_slots(context, *weights_at_nodes(context, sticks, rest))
    sweep_any(context, np.minimum(cutoff, state.topic_weights), log_rest=0.0)
