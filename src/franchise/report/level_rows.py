"""The levels of a tree of groups in a report: the largest topics of the nodes above the groups, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.posterior.base import Posterior
from franchise.posterior.level_tables import Nodes
from franchise.report import json as plain

MOST_NODES = 200  # of a level
MOST_TOPICS = 6  # of a node
LEAST_SHARE = 0.005


def level_rows(posterior: Posterior[Any]) -> list[dict[str, Any]]:
    """Return the levels above the groups, each with its nodes; none without a tree.

    A node has a name, its number of observations, and its largest topics: topic, mean, and the ends of the 95%
    interval. Of many nodes, those with most observations are there.
    """
    tree = posterior.data.tree
    if tree is None or posterior.consensus_topics.topic_count == 0:
        return []
    return [_level(posterior, level) for level in tree.levels[:-1]]


def _level(posterior: Posterior[Any], level: str) -> dict[str, Any]:
    nodes, table = Nodes.of(posterior.data, level), posterior.exposures(level)
    shape = nodes.size, posterior.consensus_topics.topic_count
    values = np.stack([table[name].to_numpy().reshape(shape) for name in ("mean", "lower", "upper")], axis=2)
    chosen = np.sort(np.argsort(-nodes.totals, kind="stable")[:MOST_NODES]).tolist()
    return {
        "name": level,
        "total": nodes.size,
        "nodes": [
            {
                "name": plain.text(nodes.names[node]),
                "size": int(nodes.totals[node]),
                "topics": _largest(values[node]),
            }
            for node in chosen
        ],
    }


def _largest(values: np.ndarray) -> list[list[float | int | None]]:
    """Return the largest topics of a node with their shares."""
    order = np.argsort(-np.nan_to_num(values[:, 0]), kind="stable")[:MOST_TOPICS].tolist()
    return [[topic, *plain.numbers(values[topic], 3)] for topic in order if values[topic, 0] >= LEAST_SHARE]
