"""Moves, one file each, and how they are composed; `base.py` is the contract."""

from typing import Any

from franchise.errors import warn_renamed
from franchise.moves.base import Move, MoveReport
from franchise.moves.compose import at_random, during_first, during_warmup, every, in_turn
from franchise.moves.concentrations import (
    Concentrations,
    ModelPrior,
    ScaledPrior,
    TopicPrior,
    TopicWeights,
    UniformWeights,
)
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.direct_assignment import DirectAssignment
from franchise.moves.document.document_sweep import DocumentSweep, FixedTopicsSweep
from franchise.moves.finite import FiniteConcentrations, FiniteSweep
from franchise.moves.group_weights import BlockedSweep, CellSweep
from franchise.moves.known_sweep import KnownSweep
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.moves.restricted import GuardedSweep, RestrictedSweep
from franchise.moves.slice import SliceSweep
from franchise.moves.split_merge import SplitMerge
from franchise.moves.subcluster.subcluster_sweep import SubclusterSweep
from franchise.moves.table_gibbs import TableGibbs
from franchise.moves.table_sweep import TableSweep
from franchise.moves.top_tables import TopTables

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
    "KnownSweep",
    "LaunchSplitMerge",
    "ModelPrior",
    "Move",
    "MoveReport",
    "RestrictedSweep",
    "ScaledPrior",
    "SliceSweep",
    "SplitMerge",
    "SubclusterSweep",
    "TableGibbs",
    "TableSweep",
    "TopTables",
    "TopicPrior",
    "TopicWeights",
    "UniformWeights",
    "at_random",
    "during_first",
    "during_warmup",
    "every",
    "in_turn",
]

RENAMED = {
    "EvenWeights": "UniformWeights",
    "LaunchedSplits": "LaunchSplitMerge",
    "NonEmptyingSweep": "GuardedSweep",
    "SettledSweep": "FixedTopicsSweep",
}
"""Old names of moves. They work for one more release here, and always in the files of a run."""


def __getattr__(name: str) -> Any:
    """Return a move by its old name, with a DeprecationWarning."""
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_renamed(f"franchise.moves.{name}", f"franchise.moves.{RENAMED[name]}")
    return globals()[RENAMED[name]]
