"""`resolve` turns the sampler that a user asks for into moves; `sampler_table` lists the named ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from franchise.errors import InputError, warn_caller
from franchise.model.hdp_model import Model
from franchise.model.state.base import State
from franchise.moves.base import Move
from franchise.moves.compose import Composed, InTurn, in_turn, moves_of
from franchise.priors import Gamma
from franchise.samplers.auto import Choice, choose
from franchise.samplers.named import PROPERTIES, SAMPLERS, Start
from franchise.validation import check_choice, describe

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"

SamplerLike: TypeAlias = str | Move | Composed | Sequence[Move | Composed]
"""What a user gives as a sampler: a name, a move, or moves."""


class Sampler(NamedTuple):
    """A sampler for one model."""

    name: str
    schedule: InTurn
    view: type[State]  # the view a chain starts in
    start: Start  # the default initial state
    choice: Choice | None = None  # the choice of "auto"


def resolve(sampler: SamplerLike, model: Model) -> Sampler:
    """Return the sampler for a name, a move, or a list of moves.

    InputError if there is no such sampler, or if the family lacks what one of its moves needs.
    """
    if isinstance(sampler, str):
        name = check_choice("sampler", sampler, [AUTO, *SAMPLERS])
        choice = choose(model) if name == AUTO else None
        named = SAMPLERS[name] if choice is None else choice.sampler
        schedule = in_turn(*named.moves(model))
        resolved = Sampler(named.name, schedule, named.view, named.start(model), choice)
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
    """Warn if something is to be sampled, but no move of the user's list samples it."""
    updated = {part for move in moves for part in move.updates}
    ours = all(type(move).__module__.startswith("franchise.") for move in moves)
    waiting = [name for name in ("alpha", "gamma") if isinstance(getattr(model, name), Gamma)]
    learned = model.family.learned_prior is not None
    fixed = "would be learned, but no move in the sampler does that: fixed at the mean of"
    for applies, part, message in (
        (
            ours,
            "observations",
            "no move in the sampler draws the topics or seats of single observations, so most states are never "
            "reached. Add franchise.moves.CrfGibbs() or franchise.moves.DirectAssignment().",
        ),
        (
            bool(waiting),
            "concentrations",
            f"{' and '.join(waiting)} {fixed} the prior. Add franchise.moves.Concentrations(), or give a number.",
        ),
        (
            learned,
            "prior",
            f"the family's prior {fixed} its prior. Add franchise.moves.TopicPrior(), or give a number.",
        ),
    ):
        if applies and part not in updated:
            warn_caller(message)


def sampler_table() -> pd.DataFrame:
    """Return the samplers and their properties: Chang & Fisher's Table 1, for the samplers of franchise.

    ``exact`` names the model whose posterior a sampler draws from exactly (proved by enumeration), or is
    "approximate".
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "name": name,
            "exact": sampler.exact,
            **{column: column in sampler.properties for column in PROPERTIES},
            "what": sampler.what,
        }
        for name, sampler in SAMPLERS.items()
    )
