"""The contract of a move.

A move changes the state of a chain in place and leaves its stated target invariant.  It is a small frozen
object: it stores its settings, and nothing between sweeps.  Each step receives its inputs:

    report = move.step(model, state, streams, executor)

* `model`: the data, the family, the priors of the concentrations;
* `state`: the state in one of the `views` of the move (the runner converts it, exactly);
* `streams`: its own random numbers in this sweep, a generator for each block;
* `executor`: where blocks of work run.

To write one, subclass `Move`, state the target, and prove it: ``franchise.check_move(move, family)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NoReturn, TypeAlias

import numpy as np

from franchise.errors import InputError, InternalError
from franchise.families.abilities import Ability, adopt_old_names
from franchise.families.base import Family
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import State, Weights
from franchise.model.state.views import Seating
from franchise.parallel.engine import BlockExecutor

HDP: Final = "HDP"
"""The model whose posterior most moves leave invariant: the hierarchical Dirichlet process mixture."""

FINITE: Final = "finite symmetric Dirichlet"
"""A model with a given number of topics, which approximates it."""

Target: TypeAlias = Literal["HDP", "finite symmetric Dirichlet"]
"""A model whose posterior a move leaves invariant."""

Part: TypeAlias = Literal["observations", "concentrations", "prior"]
"""A part of the state that a move draws: topics or tables; alpha and gamma; a sampled prior of topics."""

_FIXES = {
    Ability.CONJUGATE: "Use a sampler that draws parameters: franchise.sampler_table(), column 'non_conjugate'.",
    Ability.DRAWS_PARAMETERS: "Write draw_parameters (franchise.check_family tests it), or use the sampler "
    "'direct' or 'crf'.",
    Ability.PROPOSES: "Write propose_parameters and log_proposal_weights (see franchise.Family), or remove "
    "the move.",
    Ability.SPARSE: "Use franchise.Categorical; or remove sparse=True, and replace CellSweep by "
    "franchise.moves.BlockedSweep.",
    Ability.MIXED_PRIOR: "Use franchise.KnownTopics, or franchise.moves.DirectAssignment.",
    Ability.PRIOR_DENSITY: "Write log_prior_density, or use moves=('local', 'balanced').",
}
"""Advice if a family lacks an ability that a move needs."""


@dataclass
class MoveReport:
    """What a step reports; `values` are traced under their names.

    Parameters
    ----------
    values : dict of str to float, optional
        Numbers of this step [default: none].
    recounted : bool, default False
        Whether the step has counted the statistics of topics from the labels at its end.

    Examples
    --------
    >>> fr.moves.MoveReport({"splits": 1.0}).values
    {'splits': 1.0}
    """

    values: dict[str, float] = field(default_factory=dict)
    recounted: bool = False


class Move(ABC):
    """One kind of change to the state of a chain; subclass it to write your own.

    A move is a small frozen object: it stores its settings, and nothing between sweeps. State its target in
    `exact_for`, and prove it: ``franchise.check_move(move, family)``.

    Examples
    --------
    >>> fr.moves.CrfGibbs().exact_for
    'HDP'
    >>> [view.__name__ for view in fr.moves.CrfGibbs().views]
    ['Seating']
    """

    views: ClassVar[tuple[type[State], ...]]
    """The views that it supports, the preferred one first."""

    exact_for: ClassVar[Target | None] = HDP
    """The model whose posterior it leaves invariant; None if it is only approximate."""

    updates: ClassVar[frozenset[Part]] = frozenset()
    """The parts of the state that it draws."""

    requires: ClassVar[frozenset[Ability]] = frozenset({Ability.CONJUGATE})
    """The abilities that it needs of a family, for any settings."""

    distributed: ClassVar[bool] = False
    """Whether it can run in several processes that share the groups between them (`parallel/communicator.py`)."""

    supports_trees: ClassVar[bool] = False
    """Whether it takes trees of groups deeper than two levels (`model/inner_nodes.py`)."""

    def __init_subclass__(cls, **keywords: object) -> None:
        """Accept attributes under their names in version 0.1."""
        super().__init_subclass__(**keywords)
        adopt_old_names(
            cls,
            {
                "learns": ("updates", frozenset),
                "spreads": ("distributed", bool),
                "needs_conjugacy": ("requires", lambda needed: Move.requires if needed else frozenset()),
            },
        )

    @abstractmethod
    def step(self, model: Model, state: Any, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Change the state in place, and report what happened.

        Parameters
        ----------
        model : Model
            The data, the family, and the priors of the concentrations.
        state : State
            The state of the chain, in one of the views of the move.
        streams : Streams
            Random numbers of the move in this sweep, one generator per block.
        executor : BlockExecutor
            Runs blocks of work on threads.

        Returns
        -------
        MoveReport
            Numbers for the trace.
        """

    def needed_abilities(self) -> frozenset[Ability]:
        """Return the abilities that the move needs of a family with its present settings.

        With ``sparse=True`` these include the kernels for categories.

        Returns
        -------
        frozenset of Ability
            The abilities.
        """
        return self.requires | {Ability.SPARSE} if getattr(self, "sparse", None) else self.requires

    def check_family(self, family: Family) -> None:
        """Raise an error if the family lacks what the move needs.

        Parameters
        ----------
        family : Family
            The likelihood.

        Raises
        ------
        InputError
            If an ability is missing; the message names it and the fix.
        """
        needed = self.needed_abilities()
        for ability in Ability:
            if ability in needed and ability not in family.abilities:
                raise InputError(
                    f"{type(self).__name__} needs {ability.value}. {type(family).__name__} lacks this "
                    f"(franchise.Ability.{ability.name}). "
                    f"{_FIXES.get(ability, 'Use another family or move.')}"
                )


def sweep_with_room(model: Model, state: Seating | Weights, sweep: Callable[[int], int]) -> None:
    """Run a kernel over all observations, adding slots for topics whenever it runs out of them.

    `sweep` takes the place to start from and returns the place where it stopped. A negative value means that the
    weights from the family are not finite or all zero there, which is an InternalError.
    """
    where = sweep(0)
    while where < model.data.n_observations:
        if where < 0:
            raise_fault(model.family, f"weights for the observation or table at place {-1 - where}")
        state.make_room(model.family)
        where = sweep(where)


def scratch_for(state: State) -> np.ndarray:
    """Allocate the arrays of a sweep: three numbers per topic slot. Kernels that do not allocate compile faster."""
    return np.zeros((3, state.capacity))


def raise_fault(family: Family, what: str) -> NoReturn:
    """Raise InternalError: a kernel has stopped because of invalid values from the family."""
    raise InternalError(
        f"{type(family).__name__} gave no usable {what} (all zero, infinite or not a number). Run "
        f"franchise.check_family on it."
    )


def count_decisions(prefix: str, **decisions: Sequence[bool]) -> dict[str, float]:
    """Return the values of a report on proposals, by kind: the numbers of proposed and accepted ones."""
    return {
        f"{prefix}{kind}{ending}": float(count)
        for kind, made in decisions.items()
        for ending, count in (("_tries", len(made)), ("s", sum(made)))
    }
