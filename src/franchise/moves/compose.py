"""Composition of moves, as data.

A sampler is a list of moves, applied in turn in every sweep.  Five functions make richer ones:

    in_turn(a, b)                     a, then b
    at_random((a, 0.2), (b, 0.8))     one of them, drawn by weight, independently of the state
    every(10, a)                      a in every tenth sweep
    during_first(50, a)               a in the first fifty sweeps
    during_warmup(a)                  a during warm-up, never while sampling
    during_warmup(a, (0.0, 0.25))     a in the first quarter of the warm-up

Each move leaves its target invariant, so any order fixed in advance or drawn independently of the state does
too. An order that depends on the state, or an approximate move, belongs in the warm-up.

Every move of a schedule, and every choice at random, has a number (its place when the schedule is read from
left to right), which names its random stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from franchise.errors import InputError
from franchise.kernels.random.streams import Streams
from franchise.moves.base import Move
from franchise.validation import check_integer, check_positive, describe


@dataclass(frozen=True)
class Sweep:
    """The number of a sweep and of the warm-up, which determine the moves of a schedule."""

    seed: int
    chain: int
    number: int  # counted from 1
    warmup: int  # total warm-up sweeps of the chain

    def streams(self, move: int) -> Streams:
        """Return the random streams of a move, or of a choice, in this sweep."""
        return Streams(self.seed, self.chain, self.number, move)


@dataclass(frozen=True)
class Composed:
    """Several moves composed; `parts` are moves or compositions."""

    parts: tuple[Move | Composed, ...]

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Return the positions of the parts of this sweep; `number` names the random stream of a choice."""
        raise NotImplementedError

    def check_length(self, sweeps: int) -> None:
        """Raise InputError if the composition does not fit into a run of this number of sweeps."""


@dataclass(frozen=True)
class InTurn(Composed):
    """The parts, one after another."""

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Return all parts."""
        return range(len(self.parts))


@dataclass(frozen=True)
class AtRandom(Composed):
    """One of the parts, drawn by weight in each sweep."""

    weights: tuple[float, ...]

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Draw one part, from the random stream of this composition."""
        target = sweep.streams(number).uniform() * sum(self.weights)
        for position, weight in enumerate(self.weights):
            target -= weight
            if target < 0:
                return [position]
        return [len(self.weights) - 1]


@dataclass(frozen=True)
class Every(Composed):
    """The part in every `period`-th sweep."""

    period: int

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Return the part in every `period`-th sweep, else nothing."""
        return [0] if sweep.number % self.period == 0 else []

    def check_length(self, sweeps: int) -> None:
        """Raise InputError if the move would never run."""
        if self.period > sweeps:
            raise InputError(
                f"every({self.period}, ...) never runs: the run has only {sweeps} sweeps (warm-up + draws x "
                f"thin). Use a period of at most {sweeps}."
            )


@dataclass(frozen=True)
class DuringFirst(Composed):
    """The part in the first `sweeps` sweeps."""

    sweeps: int

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Return the part in the first sweeps, then nothing."""
        return [0] if sweep.number <= self.sweeps else []

    def check_length(self, sweeps: int) -> None:
        """Raise InputError if the run ends before the move stops."""
        if self.sweeps > sweeps:
            raise InputError(
                f"during_first({self.sweeps}, ...) never ends: the run has only {sweeps} sweeps (warm-up + "
                f"draws x thin). Use at most {sweeps}, or remove during_first."
            )


@dataclass(frozen=True)
class DuringWarmup(Composed):
    """The part during the warm-up, or during a fraction of it."""

    span: tuple[float, float] = (0.0, 1.0)

    def chosen(self, sweep: Sweep, number: int) -> Iterable[int]:
        """Return the part within its fraction of the warm-up, else nothing."""
        begin, end = (sweep.warmup * share for share in self.span)
        return [0] if begin < sweep.number <= end else []


def in_turn(*moves: Move | Composed) -> InTurn:
    """Return the composition that runs moves one after another.

    Parameters
    ----------
    *moves : moves or compositions
        The parts, in order.

    Returns
    -------
    InTurn
        A composition, for `franchise.sample` or another composition.

    Raises
    ------
    InputError
        If a part is no move.

    Examples
    --------
    >>> both = fr.moves.in_turn(fr.moves.CrfGibbs(), fr.moves.Concentrations())
    >>> len(both.parts)
    2
    """
    return InTurn(tuple(_checked(move) for move in moves))


def at_random(*weighted: tuple[Move | Composed, float]) -> AtRandom:
    """Return the composition that runs one of its moves in each sweep, drawn by weight.

    Parameters
    ----------
    *weighted : pairs (move, float)
        Moves or compositions, with positive weights; probabilities are in proportion to these.

    Returns
    -------
    AtRandom
        A composition, for `franchise.sample` or another composition.

    Raises
    ------
    InputError
        If there are no pairs, a part is no move, or a weight is not positive.

    Examples
    --------
    >>> fr.moves.at_random((fr.moves.CrfGibbs(), 3.0), (fr.moves.SliceSweep(), 1.0)).weights
    (3.0, 1.0)
    """
    if not weighted or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in weighted):
        raise InputError("at_random needs pairs (move, weight), for example at_random((a, 0.2), (b, 0.8)).")
    moves, weights = zip(*weighted, strict=True)
    return AtRandom(
        tuple(_checked(move) for move in moves),
        tuple(check_positive("at_random: weight", weight) for weight in weights),
    )


def every(period: int, move: Move | Composed) -> Every:
    """Return the composition that runs a move in every `period`-th sweep only.

    Parameters
    ----------
    period : int
        Number of sweeps from one to the next, 1 or more.
    move : Move or composition
        What to run.

    Returns
    -------
    Every
        A composition, for `franchise.sample` or another composition.

    Raises
    ------
    InputError
        If `period` is below 1, or `move` is no move.

    Examples
    --------
    >>> fr.moves.every(10, fr.moves.SplitMerge()).period
    10
    """
    return Every((_checked(move),), check_integer("every: period", period, minimum=1))


def during_first(sweeps: int, move: Move | Composed) -> DuringFirst:
    """Return the composition that runs a move in the first sweeps only, warm-up or not.

    Parameters
    ----------
    sweeps : int
        Number of sweeps, 1 or more.
    move : Move or composition
        What to run.

    Returns
    -------
    DuringFirst
        A composition, for `franchise.sample` or another composition.

    Raises
    ------
    InputError
        If `sweeps` is below 1, or `move` is no move.

    Examples
    --------
    >>> fr.moves.during_first(50, fr.moves.SplitMerge()).sweeps
    50
    """
    return DuringFirst((_checked(move),), check_integer("during_first: sweeps", sweeps, minimum=1))


def during_warmup(move: Move | Composed, span: tuple[float, float] = (0.0, 1.0)) -> DuringWarmup:
    """Return the composition that runs a move during the warm-up only.

    Parameters
    ----------
    move : Move or composition
        What to run.
    span : (float, float), default (0.0, 1.0)
        The part of the warm-up, as two proportions of it.

    Returns
    -------
    DuringWarmup
        A composition, for `franchise.sample` or another composition.

    Raises
    ------
    InputError
        If `move` is no move, or `span` is not ascending between 0 and 1.

    Examples
    --------
    >>> fr.moves.during_warmup(fr.moves.UniformWeights(), (0.0, 0.25)).span
    (0.0, 0.25)
    """
    begin, end = span
    if not 0.0 <= begin < end <= 1.0:
        raise InputError(
            f"during_warmup: span must be two fractions of the warm-up, 0 <= begin < end <= 1; got {span}."
        )
    return DuringWarmup((_checked(move),), (float(begin), float(end)))


def _checked(move: object) -> Move | Composed:
    if not isinstance(move, (Move, Composed)):
        raise InputError(
            f"sampler must contain moves, such as franchise.moves.DirectAssignment(); got {describe(move)}."
        )
    return move


def plan(part: Move | Composed, sweep: Sweep, number: int = 0) -> Iterator[tuple[int, Move]]:
    """Return the moves of one sweep in order, each with its number; `number` is the number of this part."""
    if isinstance(part, Move):
        yield number, part
        return
    numbers = [number + 1]
    for earlier in part.parts:
        numbers.append(numbers[-1] + _size(earlier))
    for position in part.chosen(sweep, number):
        yield from plan(part.parts[position], sweep, numbers[position])


def moves_of(part: Move | Composed, warmup: bool = True) -> Iterator[Move]:
    """List all moves of a composition, with or without the moves of the warm-up."""
    if isinstance(part, Move):
        yield part
    elif warmup or not isinstance(part, DuringWarmup):
        for inner in part.parts:
            yield from moves_of(inner, warmup)


def check_schedule(part: Move | Composed, sweeps: int) -> None:
    """Raise InputError if a part of a composition does not fit into a run of this number of sweeps."""
    if isinstance(part, Composed):
        part.check_length(sweeps)
        for inner in part.parts:
            check_schedule(inner, sweeps)


def _size(part: Move | Composed) -> int:
    return 1 if isinstance(part, Move) else 1 + sum(_size(inner) for inner in part.parts)
