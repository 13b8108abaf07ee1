"""The finite model: L topics, symmetric Dirichlet weights (Fox et al.; the FSD of Chang & Fisher).

    beta ~ Dirichlet(gamma / L, ..., gamma / L),  pi_j ~ Dirichlet(alpha beta),  z_ji ~ pi_j

docs/theory/finite.md#sec-finite.
Its posterior is that of the HDP only in the limit of many topics, so these moves are
exact for the finite model and approximate for the HDP.  Topics without observations are not kept: they are
exchangeable, so the sum of their weights (`state.unseen_weight`) is enough. A sweep divides it between them again,
by Dirichlet(gamma / L, ..., gamma / L).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.model.state.cell_tables import new_cell_tables
from franchise.model.state.views import draw_shares
from franchise.moves.base import FINITE, Move, MoveReport
from franchise.moves.block_sweep import SweepContext
from franchise.moves.concentrations import draw_concentrations
from franchise.moves.document.document_sweep import is_sparse, sweep_any
from franchise.moves.document.word_sweep import Gammas, sweep_settled_categories
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_integer


@dataclass(frozen=True)
class Finite(Move):
    """A move of the finite model with truncation level L."""

    topics: int = 100

    views = (Weights,)
    distributed = True
    exact_for = FINITE

    def __post_init__(self) -> None:
        """Check the setting."""
        check_integer("topics", self.topics, minimum=1)

    def check_order(self, state: Weights) -> None:
        """Raise an error if a state has more topics than the model.

        Parameters
        ----------
        state : Weights
            The state of a chain.

        Raises
        ------
        InputError
            If it has more than `topics`.
        """
        if state.topic_count > self.topics:
            raise InputError(
                f"the finite model has {self.topics} topics, but the chain has {state.topic_count}. Start "
                "with fewer, or use a larger finite_topics."
            )


@dataclass(frozen=True)
class FiniteSweep(Finite):
    """Draw the topics of all observations, over all L topics: parameters drawn, documents' weights integrated out.

    View: weights. Exact for the finite model. Costs as `FixedTopicsSweep`. Parallel over blocks.

    Parameters
    ----------
    topics : int, default 100
        Truncation level L of the model.
    sparse : bool or None, default None
        Whether to use the kernel for categories; None uses it where the family allows and there are more than
        1000 observations. The distribution is the same either way, so the choice may depend on the state.

    Raises
    ------
    InputError
        If `topics` is below 1.

    Examples
    --------
    >>> sampler = [fr.moves.FiniteSweep(20), fr.moves.FiniteConcentrations(20)]
    >>> fr.sample(corpus, sampler=sampler, start=5, draws=2, warmup=4, progress=False).n_draws
    2
    """

    sparse: bool | None = None

    updates = frozenset({"observations"})
    requires = frozenset({Ability.DRAWS_PARAMETERS})

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Divide the weight of the empty topics between them; draw parameters; sweep."""
        self.check_order(state)
        slots = share_out_unseen(model, state, self.topics, streams.generator(STREAMS.finite_weights))
        heights = np.zeros(state.capacity)
        heights[slots] = 1.0
        context = SweepContext(model, state, streams, executor)
        if is_sparse(self.sparse, model):
            gammas = Gammas(context, state.statistics, slots, STREAMS.parameters)
            gammas.redraw_prior(
                slots[state.observations_per_topic[slots] == 0], streams.generator(STREAMS.finite_empty)
            )
            sweep_settled_categories(context, gammas, heights, log_rest=0.0)
        else:
            sweep_any(context, heights, log_rest=0.0)
        state.drop_empty_topics()
        return MoveReport()


@dataclass(frozen=True)
class FiniteConcentrations(Finite):
    """Sample table counts, alpha and gamma where they have priors, and topic weights, in the finite model.

    gamma: r_k tables of m_k customers at concentration gamma / L are drawn for every topic, and gamma given m
    and sum r_k is drawn as in the HDP given m and K; to use K itself is wrong. View: weights. Any family.

    Parameters
    ----------
    topics : int, default 100
        Truncation level L of the model.

    Raises
    ------
    InputError
        If `topics` is below 1.

    Examples
    --------
    >>> sampler = [fr.moves.FiniteSweep(20), fr.moves.FiniteConcentrations(20)]
    >>> fr.sample(corpus, sampler=sampler, start=5, draws=2, warmup=4, progress=False).n_draws
    2
    """

    updates = frozenset({"concentrations"})
    requires = frozenset()

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw m; r; gamma and alpha; beta."""
        self.check_order(state)
        rng = streams.generator()
        cells = new_cell_tables(state, model, streams)
        tables = cells.per_topic
        clusters = draw_clusters(tables, state.top_concentration / self.topics, rng)
        draw_concentrations(model, state, cells, rng, executor, clusters)
        state.topic_weights, state.unseen_weight = draw_finite_weights(
            tables, state.top_concentration, self.topics, rng
        )
        return MoveReport()


def share_out_unseen(model: Model, state: Weights, topics: int, rng: np.random.Generator) -> np.ndarray:
    """Give weights to the empty topics; return the slots of all topics."""
    occupied = state.occupied
    empty = state.vacant_slots(model.family, topics - len(occupied))
    if len(empty) > 0:
        logs = draw_log_gammas(np.full(len(empty), state.top_concentration / topics), rng)
        shares = np.exp(logs - logs.max())
        state.topic_weights[empty] = state.unseen_weight[0] * shares / shares.sum()
        state.unseen_weight[0] = 0.0
    return np.concatenate([occupied, empty])


def draw_clusters(tables: np.ndarray, concentration: float, rng: np.random.Generator) -> int:
    """Return the sum of r_k over topics: tables of m_k customers at the given concentration."""
    seated = np.concatenate([np.arange(count) for count in tables[tables > 0]])
    return int(np.count_nonzero(rng.random(len(seated)) * (concentration + seated) < concentration))


def draw_finite_weights(
    tables: np.ndarray, gamma: float, topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw beta ~ Dirichlet(gamma / L + m_k): by slot, and the sum of the weights of empty topics (1,)."""
    occupied = np.flatnonzero(tables)
    empty = topics - len(occupied)
    rest = [empty * gamma / topics] if empty > 0 else []
    shares = draw_shares(np.append(tables[occupied] + gamma / topics, rest), rng)
    weights = np.zeros(len(tables))
    weights[occupied] = shares[: len(occupied)]
    return weights, shares[len(occupied) :] if empty > 0 else np.zeros(1)
