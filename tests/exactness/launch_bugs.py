"""Splits from a launch with the bugs that algorithms 7.1 warns of, and some more."""

from __future__ import annotations

import math
from dataclasses import dataclass

from franchise.moves import LaunchedSplits
from franchise.moves.proposals import Proposal


class OneNaming(Proposal):
    """D has only the naming of the sides that was drawn."""

    def _log_of_both(self, share, log_probability, log_swapped):
        return super()._log_of_both(share, log_probability, -math.inf)


class NoJacobian(Proposal):
    """D without 1 / beta_a."""

    def _log_of_both(self, share, log_probability, log_swapped):
        return super()._log_of_both(share, log_probability, log_swapped) + math.log(self.weight)


class NoUrns(Proposal):
    """Documents left out of the ratio of priors."""

    def log_ratio(self, sides, share):
        from franchise.kernels.launch import log_ratio_of_groups

        whole = self.state.group_concentration * self.weight
        groups = log_ratio_of_groups(self.members, sides, whole, self.concentrations(share))
        return super().log_ratio(sides, share) - float(groups)


@dataclass(frozen=True)
class WithOneNaming(LaunchedSplits):
    """See `OneNaming`."""

    proposal = OneNaming


@dataclass(frozen=True)
class WithoutJacobian(LaunchedSplits):
    """See `NoJacobian`."""

    proposal = NoJacobian


@dataclass(frozen=True)
class WithoutUrns(LaunchedSplits):
    """See `NoUrns`."""

    proposal = NoUrns


@dataclass(frozen=True)
class WithoutColours(LaunchedSplits):
    """The factor 1 / C forgotten."""

    def log_ratio_of_picks(self, picked):
        return super().log_ratio_of_picks(picked) + math.log(self.tries)


@dataclass(frozen=True)
class WithoutPicks(LaunchedSplits):
    """The factor 2 / (K + 1) forgotten."""

    def log_ratio_of_picks(self, picked):
        return -math.log(self.tries)


BUGS = [
    WithOneNaming(tries=1, scans=(1, 1)),
    WithoutJacobian(tries=1, scans=(1, 1)),
    WithoutUrns(tries=1, scans=(1, 1)),
    WithoutColours(tries=3, scans=(1, 1)),
    WithoutPicks(tries=1, scans=(1, 1)),
]
