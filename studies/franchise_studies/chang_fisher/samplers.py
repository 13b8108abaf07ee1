"""The samplers that the study compares, by the names that its tables and figures use."""

from __future__ import annotations

from typing import Any

from franchise.moves import (
    GuardedSweep,
    LaunchSplitMerge,
    RestrictedSweep,
    SubclusterSweep,
    TopicWeights,
)

RESTRICTED, DETERMINISTIC, LOCAL, GLOBAL, BALANCED = (
    "restricted sweep alone",
    "deterministic",
    "local",
    "global",
    "balanced",
)
SUBCLUSTER, LOCAL_BALANCED, REPAIRED = "subcluster", "local + balanced", "repaired"
PARALLEL, DIRECT, FINITE, SPLIT_MERGE = "parallel", "direct", "finite", "split-merge"


def _published(*moves: str) -> list[Any]:
    return [SubclusterSweep(moves), TopicWeights()]


SAMPLERS: dict[str, Any] = {
    RESTRICTED: [RestrictedSweep(), TopicWeights()],
    LOCAL: _published("local"),
    DETERMINISTIC: _published("deterministic"),
    GLOBAL: _published("global"),
    BALANCED: _published("balanced"),
    SUBCLUSTER: _published("local", "global"),
    LOCAL_BALANCED: _published("local", "balanced"),
    REPAIRED: [GuardedSweep(), LaunchSplitMerge(n_proposals=1), TopicWeights()],
    PARALLEL: PARALLEL,
    DIRECT: DIRECT,
    FINITE: FINITE,
    SPLIT_MERGE: SPLIT_MERGE,
}
"""What `franchise.sample` is given. "subcluster" is the combined form: local and global moves, as printed."""

PUBLISHED = (RESTRICTED, LOCAL, DETERMINISTIC, GLOBAL, SUBCLUSTER)
"""What the paper describes; "balanced" is its global move with the density that the print leaves out."""

EXACT = (REPAIRED, PARALLEL, DIRECT)
"""Those that are exact for the HDP; "finite" is exact for its own model, "split-merge" for the HDP."""

KINDS = ("split", "merge", "global_split", "global_merge")
"""The moves that `SubclusterSweep` counts in the trace, tries and acceptances."""
