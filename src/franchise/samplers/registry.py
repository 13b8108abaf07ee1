"""The named samplers, one short file each; `resolve` turns what a user asks for into moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from franchise.deprecation import warn_caller
from franchise.errors import InputError
from franchise.model.hdp_model import Model
from franchise.model.state.base import State
from franchise.moves.base import Move
from franchise.moves.compose import Composed, InTurn, in_turn, moves_of
from franchise.priors import Gamma
from franchise.samplers.auto import Choice, choose
from franchise.samplers.base import NamedSampler
from franchise.samplers.named import CRF, DIRECT, FINITE, PARALLEL, SLICE, SPLIT_MERGE, SUBCLUSTER
from franchise.validation import check_choice, describe

if TYPE_CHECKING:
    import pandas as pd

SAMPLERS: dict[str, NamedSampler] = {
    recipe.name: recipe for recipe in (CRF, SPLIT_MERGE, DIRECT, SLICE, PARALLEL, SUBCLUSTER, FINITE)
}

AUTO = "auto"

SamplerLike: TypeAlias = str | Move | Composed | Sequence[Move | Composed]
"""What a user gives as a sampler: a name, a move, or moves."""


class Sampler(NamedTuple):
    """What a user's choice of sampler comes to."""

    name: str
    schedule: InTurn
    view: type[State]  # the view a chain starts in
    start: Any  # where it starts when nothing is said
    choice: Choice | None = None  # what "auto" chose, and why


def resolve(sampler: SamplerLike, model: Model) -> Sampler:
    """The sampler that is meant by a name, or a move, or a list of moves.

    InputError if there is no such sampler, or if the family lacks what one of its moves needs.
    """
    if isinstance(sampler, str):
        name = check_choice("sampler", sampler, [AUTO, *SAMPLERS])
        choice = choose(model) if name == AUTO else None
        recipe = SAMPLERS[name] if choice is None else choice.recipe
        start = None if recipe.start is None else recipe.start(model)
        resolved = Sampler(recipe.name, in_turn(*recipe.moves(model)), recipe.view, start, choice)
    else:
        parts = [sampler] if isinstance(sampler, (Move, Composed)) else sampler
        if not isinstance(parts, (list, tuple)) or not parts:
            raise InputError(
                f"sampler must be one of {', '.join(map(repr, [AUTO, *SAMPLERS]))}, a move, or a list of moves; "
                f"got {describe(sampler)}."
            )
        schedule = in_turn(*parts)
        moves = list(moves_of(schedule))
        if not moves:
            raise InputError("sampler holds no move: a composition needs at least one.")
        resolved = Sampler("moves", schedule, moves[0].views[0], start=None)
        _warn_of_what_stays(model, moves)
    for move in moves_of(resolved.schedule):
        move.check_family(model.family)
    return resolved


def _warn_of_what_stays(model: Model, moves: list[Move]) -> None:
    """Say so if something is to be learned, but no move of the user's list learns it."""
    learned = {part for move in moves for part in move.updates}
    ours = all(type(move).__module__.startswith("franchise.") for move in moves)
    if ours and "observations" not in learned:
        warn_caller(
            "no move in the sampler draws the topics or seats of single observations, so most states are never "
            "reached. Add franchise.moves.CrfGibbs() or franchise.moves.DirectAssignment().",
        )
    waiting = [name for name in ("alpha", "gamma") if isinstance(getattr(model, name), Gamma)]
    if waiting and "concentrations" not in learned:
        warn_caller(
            f"{' and '.join(waiting)} would be learned, but no move in the sampler does that: fixed at the mean of "
            f"the prior. Add franchise.moves.Concentrations(), or give a number.",
        )
    if model.family.learned_prior is not None and "prior" not in learned:
        warn_caller(
            "the family's prior would be learned, but no move in the sampler does that: fixed at the mean of its "
            "prior. Add franchise.moves.TopicPrior(), or give a number.",
        )


def sampler_table() -> pd.DataFrame:
    """The samplers and what each can do: Chang & Fisher's Table 1, for ours.

    ``exact`` names the model whose posterior a sampler draws from exactly (proved by enumeration), or says
    that it is approximate.
    """
    import pandas as pd

    columns = ["exact", "parallel", "opens_topics", "non_conjugate", "local_splits", "global_splits", "what"]
    rows = [{"name": name, **{c: getattr(recipe, c) for c in columns}} for name, recipe in SAMPLERS.items()]
    return pd.DataFrame(rows)
