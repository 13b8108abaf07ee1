"""Blocked sweeps (docs/theory/group-weights.md#sec-group-weights) with bugs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.moves import BlockedSweep, CellSweep
from franchise.moves import group_weights as blocked
from tests.exactness.patched import Patched


class Bug(Patched):
    """A blocked sweep with a bug."""

    module = blocked


@dataclass(frozen=True)
class ForgottenHeights(Bug, BlockedSweep):
    """Topics weighed by pi f instead of pi f / h: the heights in the ratio are all one."""

    replaced = "_draw_observations"

    def replacement(self, context, block, parameters, shares, heights, slices):
        draw(context, block, parameters, shares * heights, heights, slices)


draw = blocked._draw_observations


@dataclass(frozen=True)
class NoFreshTopics(Bug, BlockedSweep):
    """No topic is ever broken off the unseen weight, though some empty."""

    replaced = "break_off_topics"

    def replacement(self, context, slices):
        groups = sum(len(part.log_left) for part in slices)
        return np.empty((1, 0)), np.empty((groups, 0)), context.state.node_unseen.copy()


@dataclass(frozen=True)
class PoolAtWrongHeight(Bug, CellSweep):
    """Heights above the weights: slices that a topic's own observations could not have."""

    replaced = "heights_of"

    def replacement(self, shares, cutoffs):
        return np.broadcast_to(cutoffs[:, None], shares.shape).copy()
