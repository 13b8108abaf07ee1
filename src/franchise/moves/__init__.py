"""Moves, one file each, and how they are composed; `base.py` is the contract."""

from franchise.moves.base import Move, MoveReport
from franchise.moves.compose import at_random, during_first, during_warmup, every, in_turn
from franchise.moves.concentrations import Concentrations, TopicWeights, UniformWeights
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.direct_assignment import DirectAssignment
from franchise.moves.document.document_sweep import DocumentSweep, FixedTopicsSweep
from franchise.moves.finite import FiniteConcentrations, FiniteSweep
from franchise.moves.group_weights import BlockedSweep, CellSweep
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.moves.restricted import GuardedSweep, RestrictedSweep
from franchise.moves.slice import SliceSweep
from franchise.moves.split_merge import SplitMerge
from franchise.moves.subcluster.subcluster_sweep import SubclusterSweep
from franchise.moves.topic_prior import TopicPrior

__all__ = [
    "BlockedSweep",
    "CellSweep",
    "Concentrations",
    "CrfGibbs",
    "DirectAssignment",
    "DocumentSweep",
    "FiniteConcentrations",
    "FiniteSweep",
    "FixedTopicsSweep",
    "GuardedSweep",
    "LaunchSplitMerge",
    "Move",
    "MoveReport",
    "RestrictedSweep",
    "SliceSweep",
    "SplitMerge",
    "SubclusterSweep",
    "TopicPrior",
    "TopicWeights",
    "UniformWeights",
    "at_random",
    "during_first",
    "during_warmup",
    "every",
    "in_turn",
]
