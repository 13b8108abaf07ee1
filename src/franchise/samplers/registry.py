"""The named samplers, the choice of "auto", and `resolve`, which turns a user's choice into moves.

crf, direct          Teh et al. (2006), sections 5.1 and 5.3
split-merge          Wang & Blei, section 3.2
slice                Amini et al., corrected (docs/theory/slice.md#sec-slice-steps)
parallel             docs/theory/document-sweep.md#sec-document-sweep, docs/theory/launch-split-merge.md#sec-launch
subcluster           Chang & Fisher, as published (docs/theory/subcluster.md#sec-subcluster-sweep)
finite               docs/theory/finite.md#sec-finite
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from franchise.errors import InputError, warn_caller
from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model
from franchise.model.state.base import State, Weights
from franchise.model.state.views import Seating
from franchise.moves.base import FINITE, HDP, Move
from franchise.moves.compose import Composed, InTurn, in_turn, moves_of
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.split_merge import SplitMerge
from franchise.priors import Gamma
from franchise.samplers.default_starts import (
    Moves,
    Start,
    random_topics,
    sequential_or_random,
    topics_of_finite_model,
)
from franchise.samplers.recipes import (
    crf_moves,
    direct_moves,
    finite_moves,
    gibbs_moves,
    has_few_categories,
    parallel_moves,
    slice_moves,
    start_of_words,
    subcluster_moves,
    uses_cells,
)
from franchise.validation import check_choice, describe

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"

NOT_MANY = 20_000
"""Up to this number of observations, if they are not words, direct assignment predicts best in the same time."""

MANY_WORDS = 2_000_000
"""The same for words, with one thread per chain."""


@dataclass(frozen=True)
class NamedSampler:
    """A row of the table. The properties are the columns of Chang & Fisher's Table 1, for our samplers."""

    name: str
    view: type[State]  # the view a chain starts in
    exact: str  # the model it samples exactly, or "approximate"
    properties: frozenset[str]
    what: str  # in a few words
    moves: Callable[[Model], Moves]
    start: Callable[[Model, int], Start] = random_topics  # the default initial state of a chain


PROPERTIES = ("parallel", "opens_topics", "non_conjugate", "local_splits", "global_splits")

SAMPLERS = {
    sampler.name: sampler
    for sampler in (
        NamedSampler(
            "crf",
            Seating,
            HDP,
            frozenset({"opens_topics"}),
            "collapsed Gibbs in the Chinese restaurant franchise (table assignments, then table topics)",
            crf_moves,
        ),
        NamedSampler(
            "split-merge",
            Seating,
            HDP,
            frozenset({"opens_topics", "local_splits"}),
            "crf plus one split-merge proposal per sweep; sequential initialisation",
            gibbs_moves(Seating, CrfGibbs(), SplitMerge()),
            sequential_or_random,
        ),
        NamedSampler(
            "direct",
            Weights,
            HDP,
            frozenset({"opens_topics"}),
            "direct-assignment collapsed Gibbs (topic assignments given global weights)",
            direct_moves,
            start_of_words,
        ),
        NamedSampler(
            "slice",
            Seating,
            HDP,
            frozenset({"parallel", "opens_topics", "non_conjugate"}),
            "multithreaded slice sampler over tables and topics, no truncation",
            slice_moves,
        ),
        NamedSampler(
            "parallel",
            Weights,
            HDP,
            frozenset({"parallel", "opens_topics", "non_conjugate", "local_splits"}),
            "multithreaded; document proportions collapsed, topics sampled; split-merge proposals",
            parallel_moves,
            start_of_words,
        ),
        NamedSampler(
            "subcluster",
            Weights,
            "approximate",
            frozenset({"parallel", "opens_topics", "local_splits", "global_splits"}),
            "Chang & Fisher's sub-cluster sampler as published (approximate; use for warm-up)",
            subcluster_moves,
        ),
        NamedSampler(
            "finite",
            Weights,
            FINITE,
            frozenset({"parallel", "non_conjugate"}),
            "truncated model with finite_topics topics; approximates the HDP",
            finite_moves,
            topics_of_finite_model,
        ),
    )
}


# --- from a user's choice to moves --------------------------------------------------------------------------


class Choice(NamedTuple):
    """The choice of "auto", and its reason."""

    sampler: NamedSampler
    reason: str
    start: str  # the initial state

    def message(self, start_is_chosen: bool = True) -> str:
        """Return one line; without the initial state if that was given."""
        start = f", {self.start}" if start_is_chosen else ""
        return f"Sampler: {self.sampler.name} (auto; {self.reason}){start}"


def choose(model: Model) -> Choice:
    """Return the sampler that "auto" chooses from the family and the data size.

    The rule and the measurements behind it (`benchmarks/auto.py`) are in docs/theory/auto.md#sec-auto-rule. One
    topic is never the only initial state: from there some samplers do not reach the region that others find.
    """
    least, most = (f(random_topics(model, chain) for chain in range(4)) for f in (min, max))
    parallel, random = SAMPLERS["parallel"], f"starts: {least} to {most} random topics"
    abilities = model.family.abilities
    if Ability.CONJUGATE not in abilities:
        return Choice(parallel, "the likelihood is not conjugate", random)
    if uses_cells(model):
        return Choice(parallel, "large counts are sampled as multinomials", "starts: fit to subsamples")
    if Ability.MIXED_PRIOR in abilities and model.partition is None:
        return Choice(SAMPLERS["direct"], "default with known topics", f"{random} and the known topics")
    if Ability.SPARSE in abilities:
        if model.n_observations <= MANY_WORDS:
            start = "starts: fit to subsamples" if has_few_categories(model) else random
            return Choice(SAMPLERS["direct"], f"default up to {MANY_WORDS:,} words", start)
    elif model.n_observations <= NOT_MANY:
        return Choice(SAMPLERS["direct"], f"default up to {NOT_MANY:,} observations", random)
    return Choice(parallel, "default for large data", random)


SamplerLike: TypeAlias = str | Move | Composed | Sequence[Move | Composed]
"""The forms of a sampler: a name, a move, or moves."""


class Sampler(NamedTuple):
    """A sampler for one model."""

    name: str
    schedule: InTurn
    view: type[State]  # the view a chain starts in
    start: Callable[[int], Start]  # the default initial state of each chain
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
        resolved = Sampler(named.name, schedule, named.view, partial(named.start, model), choice)
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
            raise InputError("sampler must have at least one move.")
        resolved = Sampler("moves", schedule, moves[0].views[0], partial(random_topics, model))
        _warn_of_what_stays(model, moves)
    for move in moves_of(resolved.schedule):
        move.check_family(model.family)
        _check_tree(model, move, resolved.name)
    return resolved


def _check_tree(model: Model, move: Move, sampler: str) -> None:
    """Raise InputError for a move that does not take trees of groups, if the data have one."""
    if model.data.tree.is_deep and not move.supports_trees:
        named = (
            f"The sampler {sampler!r}" if sampler in SAMPLERS else f"franchise.moves.{type(move).__name__}"
        )
        raise InputError(
            f"{named} does not sample trees of groups deeper than two levels. Use sampler='crf', "
            "'direct' or 'parallel', or data with one level of groups."
        )


def _warn_of_what_stays(model: Model, moves: list[Move]) -> None:
    """Warn if a parameter has a prior, but no move of the user's list samples it."""
    updated = {part for move in moves for part in move.updates}
    ours = all(type(move).__module__.startswith("franchise.") for move in moves)
    waiting = [name for name in ("alpha", "gamma") if isinstance(getattr(model, name), Gamma)]
    fixed = "has a prior, but no move in the sampler updates it, so it stays at its initial value."
    if ours and "observations" not in updated:
        warn_caller(
            "no move in the sampler draws the topics or seats of single observations, so most states are never "
            "reached. Add franchise.moves.CrfGibbs() or franchise.moves.DirectAssignment()."
        )
    if waiting and "concentrations" not in updated:
        warn_caller(
            f"{' and '.join(waiting)}: {fixed} Add franchise.moves.Concentrations(), or give a number."
        )
    if model.family.learned_prior is not None and "prior" not in updated:
        warn_caller(f"the family's prior {fixed} Add franchise.moves.TopicPrior(), or give a number.")


def sampler_table() -> pd.DataFrame:
    """Return the samplers and their properties, as in Table 1 of Chang & Fisher (2014).

    Returns
    -------
    DataFrame
        One row per sampler: `name`; `exact`, the model whose posterior it draws from exactly (confirmed by
        enumeration), or "approximate"; its properties; and `what` it does.

    Examples
    --------
    >>> table = fr.sampler_table()
    >>> table.set_index("name").loc["crf", "exact"]
    'HDP'
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
