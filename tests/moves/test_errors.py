"""A move says in a sentence when a family lacks what it needs, before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.model.state import Weights
from franchise.moves import (
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    TopicPrior,
    TopicWeights,
    every,
    in_turn,
)
from franchise.moves.base import sweep_with_room
from tests.kernels.foreign import Stubborn
from tests.model.cases import model_of, random_state

DATA = fr.Groups([1, 0, 1, 1], [0, 0, 1, 1])


@pytest.mark.parametrize("move", [CrfGibbs(), DirectAssignment()])
@pytest.mark.parametrize("wrap", [lambda move: [move], lambda move: in_turn(TopicWeights(), every(5, move))])
def test_families_that_are_not_conjugate_are_refused(move, wrap):
    expected = rf"{type(move).__name__} needs a conjugate family.*Stubborn lacks.*sampler_table"
    with pytest.raises(fr.InputError, match=expected):
        fr.sample(DATA, Stubborn(), sampler=wrap(move), alpha=1.0, gamma=1.0, draws=1, warmup=0)


def test_moves_above_the_topics_take_any_family():
    for move in (TopicWeights(), Concentrations()):
        move.check_family(Stubborn())


def test_a_fixed_prior_is_not_learned():
    for family in (fr.Categorical(3, 0.1), fr.Poisson()):
        with pytest.raises(fr.InputError, match=r"TopicPrior.*fixed.*Gamma"):
            TopicPrior().check_family(family)
    TopicPrior().check_family(fr.Categorical(3, fr.Gamma(1.0, 1.0)))


@pytest.mark.parametrize("width", [0.0, -1.0, None, float("nan")])
def test_the_width_of_a_slice_is_positive(width):
    """With another one a sweep would never end."""
    with pytest.raises(fr.InputError, match="width"):
        TopicPrior(width=width)


@pytest.mark.parametrize("move", [CrfGibbs(sparse=True), DirectAssignment(sparse=True)])
def test_the_sparse_kernel_needs_categories(move):
    with pytest.raises(fr.InputError, match="sparse"):
        fr.sample(DATA, fr.Poisson(), sampler=[move], alpha=1.0, gamma=1.0, draws=1, warmup=0)


def test_a_family_without_usable_weights_is_named():
    """Our fault or that of whoever wrote the family, not that of the data."""
    model = model_of("poisson")
    state = random_state(Weights, model, np.random.default_rng(0))
    with pytest.raises(fr.InternalError, match=r"Poisson.*place 7.*check_family"):
        sweep_with_room(model, state, lambda start: -1 - 7)


def test_room_is_made_where_a_sweep_stops():
    model = model_of("poisson")
    state = random_state(Weights, model, np.random.default_rng(0))
    capacity, places = state.capacity, iter([2, 2, 5, model.data.n_observations])
    begun = []

    def sweep(start):
        begun.append((start, state.capacity > capacity))
        return next(places)

    sweep_with_room(model, state, sweep)
    assert begun == [(0, False), (2, True), (2, True), (5, True)]
    state.check_consistency(model.data, model.family)
