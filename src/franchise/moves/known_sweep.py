"""Sweeps over observations and tables with known topics, given which known topic each topic is.

The prior of a topic is a mixture over known topics (`families/known_topics.py`).  Other moves sum over its
components, which costs a factor of their number.  Here the component of each topic is drawn first, from its
posterior given the topic's observations.  Given these, each topic has a single Dirichlet prior or is frozen.  At
the end the components are forgotten (docs/theory/known-sweep.md#sec-known-sweep).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.known_components import KnownComponents
from franchise.families.known_topics import KnownTopics
from franchise.families.mixed_dirichlet import draw_components
from franchise.kernels.direct_assignment import sweep_sparse
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport, scratch_for, sweep_with_room
from franchise.moves.table_gibbs import TableGibbs
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class KnownSweep(Move):
    """Draw which known topic each topic is; given that, sweep over observations, then over tables.

    View: weights. Exact for the HDP, by enumeration: the components of topics are drawn from their posterior, the
    sweeps leave their joint posterior with the topics invariant, and the components are forgotten. One sweep draws
    what `DirectAssignment` and `TableGibbs` do. Sequential. Only for `KnownTopics`.

    docs/theory/known-sweep.md#sec-known-sweep.

    Examples
    --------
    >>> known = fr.KnownTopics.from_words({"shipping": ["ships"]}, corpus.vocabulary)
    >>> sampler = [fr.moves.KnownSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, known, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights,)
    updates = frozenset({"observations"})
    supports_trees = True
    requires = frozenset({Ability.MIXED_PRIOR})

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw components, sweep over observations and tables, forget the components."""
        rng = streams.generator(STREAMS.parameters)
        components = draw_components(state.statistics, state.capacity, rng)
        components[state.observations_per_topic == 0] = -1
        sweep_given(model, state, components, streams, executor)
        return MoveReport(recounted=True)


@lru_cache(maxsize=8)
def components_of(family: KnownTopics) -> KnownComponents:
    """Return the likelihood given components; the same one in all sweeps."""
    return KnownComponents(family)


def sweep_given(
    model: Model, state: Weights, components: np.ndarray, streams: Streams, executor: BlockExecutor
) -> None:
    """Sweep over observations and tables with these components, int (C,), of the topics there are."""
    given = components_of(model.family)  # MIXED_PRIOR is of KnownTopics only
    rng, summed = streams.generator(STREAMS.topics), state.statistics
    state.statistics = given.given(summed, components, rng.bit_generator.random_raw(4))
    state.cell_tables = None
    inner, data, groups = model.with_family(given), model.data, np.arange(model.data.n_groups)
    gamma, rng_state = state.top_concentration, streams.rng_state(STREAMS.inner_weights)[0]
    sweep_with_room(
        inner,
        state,
        lambda start: sweep_sparse(
            state.statistics,
            data.observations,
            data.offsets,
            groups,
            state.assignment(data, rng_state),
            gamma,
            start,
            scratch_for(state),
            rng,
        ),
    )
    TableGibbs().step(inner, state, streams, executor)
    same_slots = len(summed.totals) == state.capacity
    state.statistics = summed if same_slots else model.family.empty_statistics(state.capacity)
    state.recount(data)
