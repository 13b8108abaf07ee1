"""CRF Gibbs sampling: draw the table of every observation, then the topic of every table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.crf_gibbs import sweep_seats_dense, sweep_seats_sparse
from franchise.kernels.crf_tree import sweep_seats_of_tree
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state.views import Seating
from franchise.moves.base import Move, MoveReport, scratch_for, sweep_with_room
from franchise.moves.table_gibbs import draw_topics_of_tables
from franchise.parallel.engine import BlockExecutor

FEW_TOPICS = 64
"""Up to this number of topics the sparse kernel gains too little to be compiled."""


@dataclass(frozen=True)
class CrfGibbs(Move):
    """Gibbs sampling in the Chinese restaurant franchise.

    View: seating. Exact for the HDP, by enumeration. With N observations and K topics, a sweep costs N (K + tables
    of a group) for the observations and N K for the tables; sequential. Conjugate families.

    Teh et al. (2006), section 5.1; Wang & Blei, section 3.1; formulas in `kernels/crf_gibbs.py`.

    Parameters
    ----------
    sparse : bool or None, default None
        Whether to use the kernel for categories; None uses it where the family allows and there are more than
        64 topics. The distribution is the same either way, so the choice may depend on the state.
    tables : bool, default True
        Whether to draw the topics of tables, too. Without this the sampler is still exact but mixes more slowly.

    Examples
    --------
    >>> sampler = [fr.moves.CrfGibbs(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    sparse: bool | None = None
    tables: bool = True

    views = (Seating,)
    updates = frozenset({"observations"})
    supports_trees = True

    def step(self, model: Model, state: Seating, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Sweep over all observations and tables."""
        data, family, rng = model.data, model.family, streams.generator()
        if data.tree.is_deep:
            sweep_tree(model, state, rng)
            if self.tables:
                draw_topics_of_tables(model, state, streams)
            return MoveReport()
        sparse = self.sparse
        if sparse is None:
            sparse = Ability.SPARSE in family.abilities and state.topic_count > FEW_TOPICS
        sweep_seats = sweep_seats_sparse if sparse else sweep_seats_dense
        arrays = (data.observations, data.offsets)
        alpha, gamma = state.group_concentration, state.top_concentration
        sweep_with_room(
            model,
            state,
            lambda start: sweep_seats(
                state.statistics, *arrays, state.tables, alpha, gamma, start, scratch_for(state), rng
            ),
        )
        if self.tables:
            draw_topics_of_tables(model, state, streams)
        return MoveReport()


def sweep_tree(model: Model, state: Seating, rng: np.random.Generator) -> None:
    """Draw the seats of all observations in a tree of groups, and with them the tables of inner nodes."""
    data, rng_state = model.data, rng.bit_generator.random_raw(4)

    def sweep(start: int) -> int:
        assert state.inner is not None
        upper = state.inner.for_kernels(data, state.alphas[data.tree.number_array])
        arrays = (state.statistics, data.observations, data.offsets, state.tables, upper)
        scratch = np.zeros((4, state.capacity))
        return sweep_seats_of_tree(*arrays, state.top_concentration, start, scratch, rng_state)

    sweep_with_room(model, state, sweep)
    state.count_root()
