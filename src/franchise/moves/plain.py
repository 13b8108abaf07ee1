"""Compositions of moves as plain values and back, so that a run directory can keep them."""

from __future__ import annotations

import dataclasses
from typing import Any

from franchise import moves
from franchise.errors import InputError
from franchise.moves import compose
from franchise.moves.base import Move
from franchise.moves.compose import Composed

_COMPOSITIONS = {
    c.__name__: c
    for c in (compose.InTurn, compose.AtRandom, compose.Every, compose.DuringFirst, compose.DuringWarmup)
}


def to_plain(part: Move | Composed) -> dict[str, Any]:
    """A move or composition as its name and settings."""
    kind = type(part)
    name = kind.__name__
    if _COMPOSITIONS.get(name) is not kind and getattr(moves, name, None) is not kind:
        raise InputError(
            f"a run directory can only keep franchise's own moves, so that a run can be resumed; {name} is not one."
        )
    settings = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}  # type: ignore[arg-type]
    if isinstance(part, Composed):
        settings["parts"] = [to_plain(inner) for inner in part.parts]
    return {"move": name, **settings}


def from_plain(plain: dict[str, Any]) -> Any:
    """The move or composition that `to_plain` was given."""
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    name = settings.pop("move")
    if name in _COMPOSITIONS:
        settings["parts"] = tuple(from_plain(inner) for inner in settings["parts"])
        return _COMPOSITIONS[name](**settings)
    return getattr(moves, name)(**settings)
