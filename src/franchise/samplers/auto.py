"""The sampler "auto": a sampler and a start for the data at hand, and the reason in a line.

The rules rest on `benchmarks/auto.py`, which runs every sampler from several starts on data of many kinds. One
topic is never the start: from there some samplers stay far from where others are for as long as anyone would wait.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model, usual_topics
from franchise.samplers.base import NamedSampler
from franchise.samplers.named import FEW, PARALLEL, SPLIT_MERGE, goes_by_cells

NOT_MANY = 20_000
"""Up to so many observations that are not words, chains by tables are quick enough."""


class Choice(NamedTuple):
    """What was chosen, and why."""

    recipe: NamedSampler
    start: Any  # where chains start; None is a number of topics by the size of the data
    where: str  # the start in words
    reason: str

    def message(self, start_is_chosen: bool = True) -> str:
        """In one line; without the start, where that was given."""
        start = f" from {self.where}" if start_is_chosen else ""
        return f"auto: {self.recipe.name!r}{start}; {self.reason}."


def choose(model: Model) -> Choice:
    """The sampler that suits the family and the size of the data."""
    topics = f"{usual_topics(model.n_observations)} random topics"
    count = f"{model.n_observations:,} observations"
    if Ability.CONJUGATE not in model.family.abilities:
        return Choice(PARALLEL, None, topics, "the family is not conjugate")
    if goes_by_cells(model):
        return Choice(
            PARALLEL,
            PARALLEL.start(model) if PARALLEL.start else None,
            "the topics of a sample",
            f"like observations, {model.observations_per_cell:.0f} in a group, are drawn together",
        )
    if model.n_observations <= (FEW if Ability.SPARSE in model.family.abilities else NOT_MANY):
        reason = f"{count} are not many, and its chains agree soonest"
        return Choice(SPLIT_MERGE, "sequential", "a sequential start", reason)
    return Choice(PARALLEL, None, topics, f"{count} are many, and it is quickest, on all cores")
