"""Compositions of moves as JSON values and back, for run.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from franchise import moves
from franchise.errors import InputError, with_new_names
from franchise.moves import compose
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.validation import check_choice


def _only(parts: list[Any]) -> Any:
    (part,) = parts
    return part


_WORDS: dict[type[Composed], Callable[..., Composed]] = {
    compose.InTurn: lambda parts: compose.in_turn(*parts),
    compose.AtRandom: lambda parts, weights: compose.at_random(*zip(parts, weights, strict=True)),
    compose.Every: lambda parts, period: compose.every(period, _only(parts)),
    compose.DuringFirst: lambda parts, sweeps: compose.during_first(sweeps, _only(parts)),
    compose.DuringWarmup: lambda parts, span: compose.during_warmup(_only(parts), span),
}
"""The functions that make the compositions, and check their arguments."""

_WORDS_BY_NAME = {kind.__name__: word for kind, word in _WORDS.items()}


def to_plain(part: Move | Composed) -> dict[str, Any]:
    """Return the name and settings of a move or composition."""
    kind = type(part)
    name = kind.__name__
    if kind not in _WORDS and getattr(moves, name, None) is not kind:
        raise InputError(
            f"a run directory can only store moves of franchise; got {name}. Remove run_dir, or use other moves."
        )
    settings = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}  # type: ignore[arg-type]
    if isinstance(part, Composed):
        settings["parts"] = [to_plain(inner) for inner in part.parts]
    return {"move": name, **settings}


def from_plain(plain: dict[str, Any]) -> Any:
    """Return the move or composition that `to_plain` was given; InputError if there is none such.

    Runs of older versions have old names of moves (`franchise.moves.RENAMED`) and of their settings.
    """
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    name = settings.pop("move")
    name = moves.RENAMED.get(name, name) if isinstance(name, str) else name
    if name in _WORDS_BY_NAME:
        return _WORDS_BY_NAME[name]([from_plain(inner) for inner in settings.pop("parts")], **settings)
    kind = getattr(moves, check_choice("move", name, moves.__all__))
    if not (isinstance(kind, type) and issubclass(kind, Move)) or kind is Move:
        raise InputError(f"{name} is not a move.")
    return kind(**with_new_names(settings, getattr(kind, "renamed_arguments", {})))
