"""Weights of topics at the inner nodes of a tree of groups: topics that close and open in the middle of a sweep.

    G_0 ~ DP(gamma, H),  G_v ~ DP(a_v, G_pa(v)):   w_v ~ Dirichlet(a_v w_pa,1, ..., a_v w_pa,K, a_v w_pa,u)

Two levels are a tree with the root as its only inner node.

A topic that closes gives its weight back to the unseen one at every node, since the parts of a Dirichlet vector
can be merged.  A topic that opens takes a share s_v of the unseen weight u_v of every node, parents first:

    s_0 ~ Beta(1, gamma),   s_v ~ Beta(a_v u_pa s_pa + e_v, a_v u_pa (1 - s_pa))

where u are the unseen weights before, and e_v = 1 at the node above the group that opens the topic and at all
nodes above that one, else 0: its observation is a draw from these (docs/theory/trees.md#eq-tree-opens).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.random.gamma import next_gamma
from franchise.kernels.random.weights import draw_stick
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import helper, shared_helper

LEAST_SHAPE = 1e-300
"""Below it log(U) / shape overflows; at it a Beta draw is 0 or 1 to the last bit."""


class NodeWeights(NamedTuple):
    """The weights of C slots for topics at P inner nodes; the root is the first, parents come before children."""

    weights: np.ndarray  # float64 (P, C): zero in vacant slots
    unseen: np.ndarray  # float64 (P,)
    concentrations: np.ndarray  # float64 (P,): of the draws of a node's children, inner nodes or groups
    parents: np.ndarray  # int32 (P,): -1 for the root
    parent_of_group: np.ndarray  # int32 (J,): the inner node above each group
    shares: np.ndarray  # float64 (2, P): room for s_v and u_v of a topic that opens
    rng_state: np.ndarray  # uint64 (4,): for inner nodes


@helper
def give_back(nodes, topic):
    """Give the weight of a topic that has no observations to the unseen."""
    for node in range(len(nodes.unseen)):
        nodes.unseen[node] += nodes.weights[node, topic]
        nodes.weights[node, topic] = 0.0


@helper
def break_off(nodes, topic, gamma, uniform, opener):
    """Break the weight of a new topic off the unseen one, at all nodes; `opener` is the node above its group."""
    unseen = nodes.unseen[0]
    nodes.weights[0, topic] = unseen * draw_stick(gamma, uniform)
    nodes.unseen[0] = unseen * math.exp(math.log1p(-uniform) / gamma)
    if len(nodes.unseen) > 1:
        break_off_below(nodes, topic, unseen, opener)


@shared_helper
def break_off_below(nodes, topic, unseen, opener):
    """Do it at the inner nodes below the root, whose unseen weight was `unseen`."""
    shares, before = nodes.shares[0], nodes.shares[1]
    shares[:] = 0.0
    node = opener
    while node >= 0:
        shares[node] = 1.0  # e_v, until s_v is drawn
        node = nodes.parents[node]
    before[0] = unseen
    for node in range(1, len(before)):
        parent = nodes.parents[node]
        scale = nodes.concentrations[parent]
        first = scale * nodes.weights[parent, topic] + shares[node]
        log_share, log_rest = draw_log_beta(nodes.rng_state, first, scale * nodes.unseen[parent])
        before[node] = nodes.unseen[node]
        nodes.weights[node, topic] = before[node] * math.exp(log_share)
        nodes.unseen[node] = before[node] * math.exp(log_rest)


@shared_helper
def draw_log_beta(rng_state, first, second):
    """Logs of a Beta(first, second) draw and of one less it; logs, since draws of small shapes underflow."""
    one, other = draw_log_gamma(rng_state, first), draw_log_gamma(rng_state, second)
    largest = max(one, other)
    total = largest + math.log(math.exp(one - largest) + math.exp(other - largest))
    return one - total, other - total


@shared_helper
def draw_log_gamma(rng_state, shape):
    """Log of a Gamma(shape) draw: of Gamma(shape + 1), and a uniform to the power of 1 / shape."""
    shape = max(shape, LEAST_SHAPE)
    return math.log(next_gamma(rng_state, shape + 1.0)) + math.log(1.0 - next_uniform(rng_state)) / shape
