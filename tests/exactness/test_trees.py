"""Trees of groups: one step, long runs, joint tests and the prior back; and bugs that these must catch."""

from __future__ import annotations

from dataclasses import dataclass
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.checks.check_move import compare_one_step
from franchise.model.state import cell_tables
from franchise.moves import (
    BlockedSweep,
    CellSweep,
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    DocumentSweep,
    FixedTopicsSweep,
    TableGibbs,
    TopicWeights,
    TopTables,
    concentrations,
    in_turn,
)
from franchise.samplers.registry import resolve
from franchise_studies.long_run import visits_of
from tests.exactness.cases import NOT_CONJUGATE, size
from tests.support.geweke import same_mean
from tests.support.nightly import nightly
from tests.support.trees import (
    TREES,
    Restaurants,
    TreeJointTest,
    alphas_of,
    enumerated,
    shape_of_data,
    tree_groups,
)

pytestmark = pytest.mark.exactness

FAMILY = fr.Categorical(3, 0.5)

OTHERS = {
    "poisson": (fr.Poisson(2.0, 1.0), np.array([0, 5, 1, 6, 5])),
    "not conjugate": (NOT_CONJUGATE[0], NOT_CONJUGATE[1][:5]),
}

MOVES = {
    "direct": DirectAssignment(),
    "direct, for all families": DirectAssignment(sparse=False),
    "topic weights": TopicWeights(),
    "tables": TableGibbs(),
    "top tables": TopTables(),
    "documents": DocumentSweep(),
    "documents by low slices": DocumentSweep(cutoff=0.05),
    "settled": FixedTopicsSweep(freeze_probability=0.3),
    "blocked": BlockedSweep(),
    "cells": CellSweep(),
    "crf": CrfGibbs(),
    "crf seats only": CrfGibbs(tables=False),
    "tables that are seated": in_turn(CrfGibbs(tables=False), TableGibbs()),
    "seated concentrations": in_turn(CrfGibbs(tables=False), Concentrations()),
}


def smallest_p(move, tree, family=FAMILY, observations=None, repetitions=None):
    """The smallest p-value after one step from the exact posterior."""
    given = () if observations is None else (observations,)
    exact = enumerated(tree, family, *given)
    repetitions = size(12_000) if repetitions is None else repetitions
    table = compare_one_step(exact, in_turn(move), repetitions, 3, np.random.default_rng(3))
    return table["p_value"].min()


ONE_STEP = [(tree, move) for tree in TREES for move in MOVES]


@pytest.mark.parametrize(
    ("tree", "move"),
    nightly(ONE_STEP, but=[("unequal depth", move) for move in ("direct", "documents", "cells", "crf")]),
)
def test_one_step(tree, move):
    assert smallest_p(MOVES[move], tree) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("move", ["direct, for all families", "tables", "documents", "settled", "blocked"])
@pytest.mark.parametrize("tree", TREES)
def test_one_step_of_poisson_counts(tree, move):
    assert smallest_p(MOVES[move], tree, *OTHERS["poisson"]) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("move", ["documents", "settled", "blocked", "topic weights"])
@pytest.mark.parametrize("tree", TREES)
def test_one_step_of_a_family_that_is_not_conjugate(tree, move):
    assert smallest_p(MOVES[move], tree, *OTHERS["not conjugate"]) > 1e-4


# --- planted bugs -------------------------------------------------------------------------------------------


def tables_not_passed_up(tables_of_groups, concentrations, tree, rng_state):
    """Customers of a node are the tables of the groups below it; those of inner nodes are forgotten."""
    inner = RIGHT_TABLES(tables_of_groups, concentrations, tree, rng_state)
    inner[0] = tables_of_groups
    inner[0, 0] = np.maximum(inner[0, 0], inner[0].sum(axis=0) > 0)
    return inner


def weights_given_old_parents(model, state, cells, rng):
    """The weights of inner nodes are drawn before those of their parents, so given the old ones."""
    tree, topics = model.data.tree, state.occupied
    alphas, weights, unseen = (
        state.node_concentrations(model.data),
        state.node_weights.copy(),
        state.node_unseen,
    )
    unseen = unseen.copy()
    WEIGHTS(model, state, cells, rng)
    for node in range(1, tree.size):
        parent = tree.parents[node]
        shapes = alphas[parent] * np.append(weights[parent, topics], unseen[parent])
        shapes[:-1] += cells.inner[0, node, topics]
        shares = rng.dirichlet(np.maximum(shapes, 1e-300))
        state.node_weights[node, topics], state.node_unseen[node] = shares[:-1], shares[-1]


RIGHT_TABLES, WEIGHTS = cell_tables.draw_inner_tables, concentrations.draw_weights


@pytest.mark.parametrize("tree", ["three levels", *nightly(["four levels", "unequal depth"])])
def test_tables_that_are_not_passed_up_are_noticed(tree):
    with mock.patch.object(cell_tables, "draw_inner_tables", tables_not_passed_up):
        assert smallest_p(TopicWeights(), tree) < 1e-4


@pytest.mark.parametrize("tree", ["three levels", *nightly(["four levels"])])
def test_weights_drawn_before_those_of_parents_are_noticed(tree):
    with mock.patch.object(concentrations, "draw_weights", weights_given_old_parents):
        assert smallest_p(in_turn(TopicWeights(), TableGibbs()), tree, repetitions=12_000) < 1e-4


@dataclass(frozen=True)
class OpensWithoutItsObservation(DirectAssignment):
    """Without e_v: the weights of a new topic at inner nodes are drawn from their prior."""

    def step(self, model, state, streams, executor):
        before = state.topic_weights.copy()
        report = super().step(model, state, streams, executor)
        fresh = np.flatnonzero((before == 0.0) & (state.topic_weights > 0.0))
        tree, rng = model.data.tree, streams.generator(5)
        alphas = state.node_concentrations(model.data)
        for node in range(1, tree.size):
            parent = tree.parents[node]
            for topic in fresh:
                both = state.node_weights[node, topic] + state.node_unseen[node]
                above = alphas[parent] * np.array(
                    [state.node_weights[parent, topic], state.node_unseen[parent]]
                )
                shares = both * rng.dirichlet(np.maximum(above, 1e-300))
                state.node_weights[node, topic], state.node_unseen[node] = shares
        return report


@pytest.mark.parametrize("tree", ["three levels", *nightly(["four levels", "unequal depth"])])
def test_topics_opened_without_their_observation_are_noticed(tree):
    assert smallest_p(OpensWithoutItsObservation(), tree, repetitions=12_000) < 1e-4


# --- long runs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "sampler"),
    nightly(
        [(tree, sampler) for tree in TREES for sampler in ("crf", "direct", "parallel")],
        but=[("unequal depth", "crf")],
    ),
)
def test_frequencies(tree, sampler):
    exact = enumerated(tree, FAMILY)
    settings = {"alpha": alphas_of(tree), "gamma": 1.1, "draws": size(12_000), "seed": 7}
    visits = visits_of(exact, tree_groups(tree), sampler, FAMILY, **settings)
    assert visits.distance < visits.threshold
    assert abs(visits.topics - visits.exact_topics) < 0.15


# --- joint tests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "moves"),
    nightly(
        [(tree, moves) for tree in TREES for moves in ("crf", "direct", "parallel", "cells")],
        but=[("unequal depth", "direct")],
    ),
)
def test_concentrations(tree, moves):
    """Every concentration, that of the root and those of all levels, is drawn right."""
    alphas = {level: fr.Gamma(2.0, 1.0 + place) for place, level in enumerate(alphas_of(tree))}
    model = shape_of_data(tree, FAMILY, alphas, fr.Gamma(2.0, 2.0))
    if moves == "cells":
        schedule = in_turn(CellSweep(), Concentrations())
    else:
        schedule = resolve(moves, model).schedule
    table = TreeJointTest(model, schedule, seed=1).run(size(4800))
    assert {"gamma", *(f"alpha[{level}]" for level in alphas)} <= set(table.index)


# --- one word: the prior --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["direct", *nightly(["parallel"])])
def test_one_word_gives_the_prior_back(sampler):
    """The expected number of customers of the root, by simulation of the franchise on the tree."""
    rows = [(f"p{p}", f"s{s}") for p in range(4) for s in range(3) for _ in range(10)]
    groups = fr.Groups(np.zeros(len(rows), int), groups=pd.DataFrame(rows, columns=["patient", "sample"]))
    alphas = {"patient": 2.0, "sample": 3.0}
    settings = {"alpha": alphas, "gamma": 1.5, "chains": 1, "seed": 2, "progress": False}
    posterior = fr.sample(
        groups, fr.Categorical(1), sampler=sampler, draws=size(4000), warmup=100, **settings
    )
    rng, simulated = np.random.default_rng(0), []
    for _ in range(1500):
        restaurants = Restaurants(posterior.model, [2.0, 3.0], 1.5, rng)
        restaurants.draw_labels(posterior.model.data.offsets)
        simulated.append([sum(restaurants.customers[0].values()), len(restaurants.customers[0])])
    for name, values in zip(("n_tables", "n_topics"), np.array(simulated).T, strict=True):
        assert same_mean(values.astype(float), posterior.trace[name][0].astype(float)) > 1e-4
