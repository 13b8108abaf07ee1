"""Topic weights of the groups of a tree, given a kept draw with the weights of its inner nodes.

A group below inner node p has pi_j ~ DP(a_p, G_p): E[pi_jk | z, w] = (n_jk + a_p w_pk) / (n_j + a_p).  The weights
of a group at an inner node are those of the node, which the draw has.
"""

from __future__ import annotations

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.model.hdp_model import Model
from franchise.running.kept_draws import HDPDraw

KNOWN = 1e9
"""Sum of the Dirichlet weights of a group whose weights the draw has."""


def weights_of_groups(
    model: Model, data: GroupedData, draw: HDPDraw, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Dirichlet weights of the groups, float64 (J, K + 1), given n_jk, and their sums, (J,)."""
    tree, inner = data.tree, model.data.tree
    assert tree is not None
    assert draw.node_weights is not None
    assert draw.concentrations is not None
    number_of = np.full(tree.n_nodes, -1)
    number_of[list(inner.nodes)] = np.arange(inner.size)
    own = number_of[tree.node_of_group]
    above = np.where(own >= 0, own, number_of[tree.parents[tree.node_of_group]])
    alphas = draw.concentrations[inner.number_array][above]
    rows = draw.node_weights[above]
    at_inner = (own >= 0)[:, None]
    weights = np.where(at_inner, KNOWN * rows, counts + alphas[:, None] * rows)
    return weights, np.where(own >= 0, KNOWN, data.group_sizes + alphas)
