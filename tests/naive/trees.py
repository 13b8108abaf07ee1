"""The Chinese restaurant franchise on a tree of groups: the prior of a partition, and a simulator.

A tree is `parents`, a list with the parent of each node, -1 for the root, which is node 0; parents come before
their children. `nodes` has the node of each observation, an inner node or a leaf. `concentrations[v]` is a_v of
G_v ~ DP(a_v, G_parent(v)); the root has gamma.

Let own_vk be the observations of block k at node v. From the leaves up,

    n_vk = own_vk + sum over the children c of t_ck,    n_v = sum_k n_vk,    1 <= t_vk <= n_vk (0 if n_vk = 0)

    p(z) = sum over t of  prod_{v != root} [ Gamma(a_v)/Gamma(a_v + n_v) * prod_k s(n_vk, t_vk) a_v^t_vk ]
                          * gamma^K prod_k Gamma(n_0k) * Gamma(gamma)/Gamma(gamma + n_0)

`prior` sums it from the leaves up: a subtree sends its parent a vector of tables, one number per block, and
`_sent` collects the weight of each vector. `simulate` seats customers one by one and uses none of this.
"""

import itertools
import math
from collections import defaultdict

from tests.naive.partitions import all_partitions, canonical
from tests.naive.stirling import stirling_first


def prior(labels, nodes, parents, concentrations, gamma):
    """p(z) of one partition, given by canonical labels."""
    block_count = max(labels) + 1
    customers_and_weights = _arriving(0, block_count, labels, nodes, parents, concentrations)
    return math.fsum(
        weight * _root_factor(customers, gamma) for customers, weight in customers_and_weights.items()
    )


def prior_over_partitions(nodes, parents, concentrations, gamma):
    """Dictionary canonical labels -> prior probability, over all partitions (not rescaled; sums to 1)."""
    return {
        labels: prior(labels, nodes, parents, concentrations, gamma) for labels in all_partitions(len(nodes))
    }


def _arriving(node, block_count, labels, nodes, parents, concentrations):
    """Dictionary vector n_v -> weight of all table counts below the node that send these customers to it."""
    own = [0] * block_count
    for label, its_node in zip(labels, nodes, strict=True):
        if its_node == node:
            own[label] += 1
    total = {tuple(own): 1.0}
    for child, parent in enumerate(parents):
        if parent != node:
            continue
        from_child = _sent(child, block_count, labels, nodes, parents, concentrations)
        longer = defaultdict(float)
        for here, weight in total.items():
            for tables, its_weight in from_child.items():
                longer[tuple(a + b for a, b in zip(here, tables, strict=True))] += weight * its_weight
        total = dict(longer)
    return total


def _sent(node, block_count, labels, nodes, parents, concentrations):
    """Dictionary vector t_v -> weight: the tables that a node sends to its parent as customers."""
    concentration = concentrations[node]
    sent = defaultdict(float)
    arriving = _arriving(node, block_count, labels, nodes, parents, concentrations)
    for customers, weight in arriving.items():
        constant = math.gamma(concentration) / math.gamma(concentration + sum(customers))
        ranges = [range(1, count + 1) if count else [0] for count in customers]
        for tables in itertools.product(*ranges):
            seatings = math.prod(map(stirling_first, customers, tables))
            sent[tables] += weight * constant * seatings * concentration ** sum(tables)
    return dict(sent)


def _root_factor(customers, gamma):
    """gamma^K prod_k Gamma(n_0k) Gamma(gamma) / Gamma(gamma + n_0)."""
    result = math.gamma(gamma) / math.gamma(gamma + sum(customers))
    for count in customers:
        result *= gamma * math.gamma(count)
    return result


# --- a simulator --------------------------------------------------------------------------------------------


def simulate(nodes, parents, concentrations, gamma, rng):
    """One partition from the prior: every observation orders a dish in the restaurant of its node.

    A customer of node v joins a table with probability proportional to its customers, or a new one with a_v; a new
    table orders its dish as a customer of the parent of v. A new table of the root has a new dish.
    """
    tables_of_node = defaultdict(list)  # of each node: lists [customers, dish]
    dish_count = 0

    def order(node):
        nonlocal dish_count
        tables = tables_of_node[node]
        opening = gamma if node == 0 else concentrations[node]
        place = rng.random() * (sum(customers for customers, _ in tables) + opening)
        for table in tables:
            place -= table[0]
            if place < 0:
                table[0] += 1
                return table[1]
        if node == 0:
            dish = dish_count
            dish_count += 1
        else:
            dish = order(parents[node])
        tables.append([1, dish])
        return dish

    return canonical([order(node) for node in nodes])
