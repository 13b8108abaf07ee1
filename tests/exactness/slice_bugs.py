"""The slice sampler over tables and topics (docs/theory/slice.md#sec-slice-steps) with bugs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.moves import SliceSweep
from franchise.moves import slice as slice_sweep
from tests.exactness.patched import Patched


class Bug(Patched):
    """A slice sweep with a bug."""

    module = slice_sweep


@dataclass(frozen=True)
class AllTables(Bug, SliceSweep):
    """Tables are drawn over all that have been broken off, as Algorithm 1 prints it, not only above the slice."""

    replaced = "slice_tables"

    def replacement(self, context, block, topic_weights):
        part = slice_tables(context, block, topic_weights)
        part.tables.slices_of_observations[:] = 0.0
        return part


@dataclass(frozen=True)
class AllTopics(Bug, SliceSweep):
    """The same for the topics of tables."""

    replaced = "_draw_block"

    def replacement(self, context, block, parameters, tables, topic_weights):
        tables.slices[np.isfinite(tables.slices)] = 1e-300
        draw_block(context, block, parameters, tables, topic_weights)


@dataclass(frozen=True)
class NoVacantTables(Bug, SliceSweep):
    """No table is ever broken off, though some empty."""

    replaced = "break_tables"

    def replacement(self, left, lowest, alpha, rng):
        return np.empty(0), np.empty(0, np.int64)


@dataclass(frozen=True)
class NoFreshTopics(Bug, SliceSweep):
    """No topic is ever broken off, though some empty."""

    replaced = "open_topics"

    def replacement(self, context, topic_weights, unseen, parts, rng):
        return topic_weights[: int(context.state.occupied[-1]) + 1], context.state.occupied


@dataclass(frozen=True)
class WeightsWithoutSizes(Bug, SliceSweep):
    """Dirichlet(1, ..., 1, alpha) for the tables of a group, whoever sits at them."""

    replaced = "draw_table_weights"

    def replacement(self, sizes, groups, n_groups, alpha, rng):
        return draw_table_weights(np.ones_like(sizes), groups, n_groups, alpha, rng)


slice_tables, draw_table_weights = slice_sweep.slice_tables, slice_sweep.draw_table_weights
draw_block = slice_sweep._draw_block

BUGS = [AllTables(), AllTopics(), NoVacantTables(), NoFreshTopics(), WeightsWithoutSizes()]
