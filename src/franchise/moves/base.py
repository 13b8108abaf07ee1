"""The contract of a move.

A move changes the state of a chain in place and leaves its stated target invariant.  It is a small frozen
object: its settings, and nothing that is remembered between sweeps.  What it works on comes in with each step:

    report = move.step(model, state, streams, engine)

* `model`: the data, the family, the priors of the concentrations;
* `state`: a `Seating` or a `Weights`, as the move asks by its `views` (the runner converts, exactly);
* `streams`: its own random numbers in this sweep, a generator for each block;
* `engine`: where blocks of work run.

To write one, subclass `Move`, state the target, and prove it: ``franchise.check_move(move, family)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from franchise.errors import InputError, InternalError
from franchise.families.base import Family
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import State
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weights

HDP = "HDP"
"""The model whose posterior most moves leave invariant: the hierarchical Dirichlet process mixture."""

FINITE = "finite symmetric Dirichlet"
"""A model with a given number of topics, which approximates it."""


@dataclass
class MoveReport:
    """What a step has to say of itself; `values` end up in the trace under their names."""

    values: dict[str, float] = field(default_factory=dict)


class Move:
    """One kind of change to the state; see the module's docstring."""

    views: ClassVar[tuple[type[State], ...]]
    """The views it can work on, preferred one first."""

    exact_for: ClassVar[str | None] = HDP
    """The model whose posterior it leaves invariant; None if it is only approximate."""

    updates: ClassVar[tuple[str, ...]] = ()
    """What it draws of: "observations" (their topics or seats), and "concentrations" and "prior", if learned."""

    needs_conjugacy: ClassVar[bool] = True
    """Whether it needs the parameters of the family integrated out."""

    distributed: ClassVar[bool] = False
    """Whether it may run among peers that share the groups out (`parallel/communicator.py`)."""

    def step(self, model: Model, state: Any, streams: Streams, engine: Any) -> MoveReport:
        """Change the state; return the report."""
        raise NotImplementedError

    def check_family(self, family: Family) -> None:
        """InputError if the family lacks what the move needs."""
        if self.needs_conjugacy and not family.conjugate:
            raise InputError(
                f"{type(self).__name__} integrates the topics' parameters out and needs a conjugate family; "
                f"{type(family).__name__} is not. Use a sampler that draws parameters (see "
                f"franchise.sampler_table(), column 'non_conjugate')."
            )


def check_sparse(move: Move, family: Family, sparse: bool | None) -> None:
    """InputError if the kernels for categories are asked for with a family that has none."""
    if sparse and not family.sparse:
        raise InputError(
            f"{type(move).__name__}(sparse=True) is for categories (franchise.Categorical); with "
            f"{type(family).__name__} leave sparse out."
        )


def check_draws(move: Move, family: Family) -> None:
    """InputError if a family cannot draw the parameters of topics."""
    if type(family).draw_parameters is Family.draw_parameters:
        raise InputError(
            f"{type(move).__name__} draws the topics' parameters, but {type(family).__name__} has no "
            f"draw_parameters. "
            f"Write that method (franchise.check_family tests it), or use the sampler 'direct' or 'crf'."
        )


def sweep_with_room(model: Model, state: Seating | Weights, sweep: Callable[[int], int]) -> None:
    """Run a kernel over all observations, making room for topics whenever it stops for want of slots.

    `sweep` takes the place to start from and returns the one where it stopped; a negative one says that the
    family gave weights there that are not finite or all zero, which is an InternalError.
    """
    where = sweep(0)
    while where < model.data.n_observations:
        if where < 0:
            raise InternalError(
                f"{type(model.family).__name__} gave no usable weights for the observation or table at place "
                f"{-1 - where} (all zero, infinite or not a number). Run franchise.check_family on it."
            )
        state.make_room(model.family)
        where = sweep(where)


def scratch_for(state: State) -> np.ndarray:
    """Room for a sweep: three numbers a topic slot. Kernels that need not allocate compile faster."""
    return np.zeros((3, state.capacity))


def lists_for(data: PreparedData) -> np.ndarray:
    """Room for two lists of the observations of a group."""
    return np.zeros((2, int(np.diff(data.offsets).max())), np.int64)
