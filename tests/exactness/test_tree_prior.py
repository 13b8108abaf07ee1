"""The prior of a partition under a tree of groups: sums, two levels, simulation; wrong formulas fail."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from franchise.checks.enumeration import Enumeration, set_partitions, tiny_model
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.checks.tree_prior import TreePrior
from tests.exactness.cases import CASES, size
from tests.naive import posterior as two_levels
from tests.naive import trees as naive

CONCENTRATIONS = [math.nan, 0.7, 2.5, 1.3, 0.4, 3.0, 0.9, 1.8]
TREES = {
    # two patients, of which the first has two samples
    "three levels": ([3, 3, 4, 4, 5, 5], [-1, 0, 0, 1, 1, 2]),
    # cohort, patient, sample and a part of it
    "four levels": ([5, 5, 6, 4, 6], [-1, 0, 1, 1, 2, 3, 4]),
    # a group directly below the root, data at two inner nodes, one of them with a single child
    "unequal depth": ([1, 1, 2, 3, 4, 4], [-1, 0, 0, 1, 3]),
}


def prior_of(name: str, gamma: float = 1.6) -> TreePrior:
    nodes, parents = TREES[name]
    return TreePrior(nodes, parents, CONCENTRATIONS[: len(parents)], gamma)


def probabilities_of(prior: TreePrior) -> np.ndarray:
    partitions = set_partitions(len(prior.nodes))
    return np.array([math.exp(prior.log_probability(partition)) for partition in partitions])


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("gamma", [0.2, 1.6, 30.0])
def test_the_prior_sums_to_one_and_agrees_with_the_twin(name, gamma):
    prior = prior_of(name, gamma)
    found = probabilities_of(prior)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    twin = naive.prior_over_partitions(prior.nodes, prior.parents, prior.concentrations, gamma)
    assert found == pytest.approx(np.array(list(twin.values())), rel=1e-12)


@pytest.mark.parametrize("groups", [[0] * 6, [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]])
@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 2.0), (20.0, 0.1)])
def test_two_levels_are_a_tree(groups, alpha, gamma):
    wanted = two_levels.prior_over_partitions(groups, alpha, gamma)
    nodes, parents = [group + 1 for group in groups], [-1, 0, 0, 0]
    twin = naive.prior_over_partitions(nodes, parents, [math.nan] + [alpha] * 3, gamma)
    prior = TreePrior.of_two_levels(groups, alpha, gamma)
    for partition, probability in wanted.items():
        assert twin[partition] == pytest.approx(probability, rel=1e-12)
        assert math.exp(prior.log_probability(partition)) == pytest.approx(probability, rel=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_simulated_partitions_have_these_probabilities(name):
    prior = prior_of(name)
    rng = random.Random(3)
    arguments = (prior.nodes, prior.parents, prior.concentrations, prior.gamma, rng)
    draws = [naive.simulate(*arguments) for _ in range(size(60_000))]
    partitions = list(set_partitions(len(prior.nodes)))
    assert goodness_of_fit(draws, partitions, probabilities_of(prior)) > SMALLEST_P


class TablesNotPassedUp(TreePrior):
    """Every node draws from the root."""

    def table_counts(self, partition):
        flat = TreePrior(
            self.nodes, [min(parent, 0) for parent in self.parents], self.concentrations, self.gamma
        )
        return flat.table_counts(partition)


class OneCustomerPerTopic(TreePrior):
    """A child sends one customer per topic to inner nodes, instead of one per table."""

    def _log_node(self, node, sizes, tables):
        inner = node in self.parents
        return super()._log_node(
            node, [1] * len(sizes) if inner else sizes, (1,) * len(sizes) if inner else tables
        )


class ConcentrationOfTheParent(TreePrior):
    """A node uses the concentration of its parent."""

    def _log_node(self, node, sizes, tables):
        above = self.parents[node]
        return super()._log_node(above if above > 0 else node, sizes, tables)


@pytest.mark.parametrize("wrong", [TablesNotPassedUp, OneCustomerPerTopic, ConcentrationOfTheParent])
@pytest.mark.parametrize("name", TREES)
def test_wrong_formulas_are_found(name, wrong):
    right = prior_of(name)
    planted = wrong(right.nodes, right.parents, right.concentrations, right.gamma)
    rng = random.Random(4)
    arguments = (right.nodes, right.parents, right.concentrations, right.gamma, rng)
    draws = [naive.simulate(*arguments) for _ in range(size(60_000))]
    probabilities = probabilities_of(planted)
    p = goodness_of_fit(draws, list(set_partitions(len(right.nodes))), probabilities / probabilities.sum())
    assert p < SMALLEST_P


@pytest.mark.parametrize("name", TREES)
def test_the_enumerated_posterior_of_a_tree_agrees_with_the_twin(name):
    prior = prior_of(name)
    family, observations = CASES["categorical"].family, CASES["categorical"].observations
    observations = observations[: len(prior.nodes)]
    groups = np.unique(prior.nodes, return_inverse=True)[1]
    order = np.argsort(groups, kind="stable")
    nodes = [prior.nodes[place] for place in order]
    tree = TreePrior(nodes, prior.parents, prior.concentrations, prior.gamma)
    model = tiny_model(family, observations, groups[order].tolist())
    exact = Enumeration(model, math.nan, prior.gamma, tree=tree)
    weights = []
    for partition in exact.partitions:
        blocks = [tuple(np.flatnonzero(np.array(partition) == topic)) for topic in range(max(partition) + 1)]
        log = sum(family.log_marginal_of(model.data.observations, block) for block in blocks)
        weights.append(
            math.exp(log) * naive.prior(partition, nodes, tree.parents, tree.concentrations, tree.gamma)
        )
    assert exact.probabilities == pytest.approx(np.array(weights) / sum(weights), rel=1e-10)


def test_drawn_tables_and_weights_are_consistent_with_their_law():
    """Given beta of an inner node, tables follow; the mean of its weights is that of the predictive of its node."""
    prior = prior_of("three levels")
    groups, rng = [0, 0, 1, 1, 2, 2], np.random.default_rng(5)
    model = tiny_model(CASES["categorical"].family, CASES["categorical"].observations, groups)
    exact = Enumeration(model, math.nan, prior.gamma, tree=prior)
    partition = (0, 1, 0, 0, 1, 0)
    draws = []
    for _ in range(size(8_000)):
        tables = exact.draw_tables(partition, rng)
        assert set(tables) == {(node, k) for node in (1, 2) for k in (0, 1)} | {
            (3, 0), (3, 1), (4, 0), (5, 0), (5, 1)
        }  # fmt: skip
        assert tables[4, 0] <= 2
        assert tables[1, 0] <= tables[3, 0] + tables[4, 0]
        weights = prior.draw_weights(partition, tables, rng)
        assert list(weights) == [0, 1, 2]
        draws.append(weights[1])
    # A next observation at node 1 itself is of topic k with the ratio of p(z) with it and without.
    more = TreePrior([*prior.nodes, 1], prior.parents, prior.concentrations, prior.gamma)
    log_p = prior.log_probability(partition)
    wanted = [math.exp(more.log_probability((*partition, topic)) - log_p) for topic in (0, 1, 2)]
    found = np.array(draws)
    error = found.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - wanted) < 4.5 * error)
