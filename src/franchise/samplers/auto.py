"""The sampler "auto": a sampler and an initial state for the data, and the reason in one line.

The rules rest on `benchmarks/auto.py`, which runs every sampler from several initial states on many kinds of data.
One topic is never the initial state: from there some samplers do not reach the region that others find.
"""

from __future__ import annotations

from typing import NamedTuple

from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model, usual_topics
from franchise.samplers.named import FEW, SAMPLERS, NamedSampler, uses_cells

NOT_MANY = 20_000
"""Up to this number of observations, if they are not words, sampling with tables is fast enough."""


class Choice(NamedTuple):
    """A choice, and its reason."""

    sampler: NamedSampler
    reason: str
    start: str  # the initial state

    def message(self, start_is_chosen: bool = True) -> str:
        """Return one line; without the initial state if that was given."""
        start = f", {self.start}" if start_is_chosen else ""
        return f"Sampler: {self.sampler.name} (auto; {self.reason}){start}"


def choose(model: Model) -> Choice:
    """Return the sampler that suits the family and the size of the data."""
    parallel, random = SAMPLERS["parallel"], f"start: {usual_topics(model.n_observations)} random topics"
    abilities = model.family.abilities
    if Ability.CONJUGATE not in abilities:
        return Choice(parallel, "the likelihood is not conjugate", random)
    if uses_cells(model):
        return Choice(parallel, "large counts are sampled as multinomials", "start: fit to a subsample")
    if model.n_observations <= (FEW if Ability.SPARSE in abilities else NOT_MANY):
        reason = f"default up to {NOT_MANY:,} observations; {FEW:,} for words"
        return Choice(SAMPLERS["split-merge"], reason, "sequential start")
    return Choice(parallel, "default for large data", random)
