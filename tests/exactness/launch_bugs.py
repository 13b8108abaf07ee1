"""Splits from a launch with the bugs of docs/theory/launch-split-merge.md#sec-launch-exactness, and more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from franchise.kernels.launched_splits import expected_tables, log_ratio_of_groups
from franchise.moves import LaunchSplitMerge
from franchise.moves.launched.proposals import Proposal


class OneNaming(Proposal):
    """D has only the naming of the sides that was drawn."""

    def _log_of_both(self, share, log_probability, log_swapped):
        return super()._log_of_both(share, log_probability, -math.inf)


class NoJacobian(Proposal):
    """D without 1 / beta_a."""

    def _log_of_both(self, share, log_probability, log_swapped):
        return super()._log_of_both(share, log_probability, log_swapped) + math.log(self.weight)


class LaunchFromSides(Proposal):
    """A launch of two topics to be merged that knows how they are split: it begins with their sides."""

    def launch(self, scans, crowd):
        super().launch(scans, crowd)
        if not self.picked.is_split:
            labels = self.state.topic_of_observation[self.members.observations]
            self.launched = (labels == self.picked.second).astype(np.int64)
            documents = np.arange(len(self.members.documents) - 1)
            self.shapes = expected_tables(self.members, documents, self.whole, self.launched)


class NoUrns(Proposal):
    """Documents left out of the ratio of priors."""

    def log_ratio(self, sides, share):
        groups = log_ratio_of_groups(self.members, sides, self.whole, self.concentrations(share))
        return super().log_ratio(sides, share) - float(groups)


@dataclass(frozen=True)
class WithOneNaming(LaunchSplitMerge):
    """See `OneNaming`."""

    proposal = OneNaming


@dataclass(frozen=True)
class WithoutJacobian(LaunchSplitMerge):
    """See `NoJacobian`."""

    proposal = NoJacobian


@dataclass(frozen=True)
class WithLaunchFromSides(LaunchSplitMerge):
    """See `LaunchFromSides`."""

    proposal = LaunchFromSides


@dataclass(frozen=True)
class WithoutUrns(LaunchSplitMerge):
    """See `NoUrns`."""

    proposal = NoUrns


@dataclass(frozen=True)
class WithoutColours(LaunchSplitMerge):
    """The factor 1 / C forgotten."""

    def log_ratio_of_picks(self, picked, likeness, colours):
        return super().log_ratio_of_picks(picked, likeness, 1)


@dataclass(frozen=True)
class WithoutPicks(LaunchSplitMerge):
    """The factor q(b, c) K forgotten."""

    def log_ratio_of_picks(self, picked, likeness, colours):
        return -math.log(colours)


@dataclass(frozen=True)
class WithUniformPicks(LaunchSplitMerge):
    """Pairs picked because they are alike, but weighed as if all were as likely."""

    def log_ratio_of_picks(self, picked, likeness, colours):
        return super().log_ratio_of_picks(picked, None, colours)


BUGS = [
    WithOneNaming(n_proposals=1, restricted_scans=(1, 1), similarity_weight=0.0),
    WithoutJacobian(n_proposals=1, restricted_scans=(1, 1), similarity_weight=0.0),
    WithoutUrns(n_proposals=1, restricted_scans=(1, 1), launch_components=3),
    WithoutColours(n_proposals=3, restricted_scans=(1, 1)),
    WithoutPicks(n_proposals=1, restricted_scans=(1, 1)),
    WithUniformPicks(n_proposals=1, restricted_scans=(1, 1), similarity_weight=4.0),
]
