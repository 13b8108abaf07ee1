"""Direct assignment: the topic of every observation, given the topic weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.kernels.direct_assignment import sweep_dense, sweep_sparse
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport, scratch_for, sweep_with_room
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_positive


@dataclass(frozen=True)
class DirectAssignment(Move):
    """Gibbs sampling of topics, one observation after another.

    View: weights. Exact for the HDP, by enumeration, together with `TopicWeights` (alone it does not change the
    weights of topics that have observations). The number of topics has no limit. One sweep costs N K for N
    observations and K topics; for categories the K is one multiply and add in vector registers; sequential.
    Conjugate families.

    Teh et al. (2006), section 5.3; Frank et al. (2020), section 5.3, but the weight of a topic that becomes empty
    returns to the unseen weight; formulas in `kernels/direct_assignment.py`.

    Parameters
    ----------
    sparse : bool or None, default None
        Whether to use the kernel for categories; None uses it where the family allows. The
        distribution is the same either way, so the choice may depend on the state.
    share : float, default 1.0
        The proportion of the groups in a sweep, each drawn independently with this probability.

    Raises
    ------
    InputError
        If `share` is not above 0 and at most 1.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    sparse: bool | None = None
    share: float = 1.0

    views = (Weights,)
    updates = frozenset({"observations"})
    supports_trees = True

    def __post_init__(self) -> None:
        """Check the setting."""
        if not 0.0 < check_positive("share", self.share) <= 1.0:
            raise InputError(f"share must be at most 1 (all groups); got {self.share}.")

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Sweep over all observations, or the observations of a share of the groups."""
        data, family, rng = model.data, model.family, streams.generator()
        sparse = Ability.SPARSE in family.abilities if self.sparse is None else self.sparse
        sweep = sweep_sparse if sparse else sweep_dense
        groups = np.arange(data.n_groups)
        if self.share < 1.0:
            groups = groups[rng.random(data.n_groups) < self.share]
        arrays = (data.observations, data.offsets, groups)
        gamma, rng_state = state.top_concentration, streams.rng_state(STREAMS.inner_weights)[0]
        state.cell_tables = None
        sweep_with_room(
            model,
            state,
            lambda start: sweep(
                state.statistics,
                *arrays,
                state.assignment(data, rng_state),
                gamma,
                start,
                scratch_for(state),
                rng,
            ),
        )
        return MoveReport()
