"""Sampling of hierarchical Dirichlet process mixtures: the model of some data, and the problem that chains run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.sharded.sharded_corpus import MappedCorpus
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import State
from franchise.moves.compose import InTurn, moves_of
from franchise.moves.finite import Finite
from franchise.parallel.engine import Engine
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.priors import check_number_or_gamma, number_or_gamma, plain_number
from franchise.running.chain import Chain
from franchise.running.kept_draws import HDPDraw, KeptDraw
from franchise.running.known_start import start_from_known
from franchise.running.run import Run
from franchise.running.starts import (
    GivenState,
    InitialState,
    RandomInit,
    make_start,
    start_streams,
    topics_of_start,
    view_of_labels,
)
from franchise.running.subsample_start import start_from_sample
from franchise.samplers.default_starts import FromKnown, FromSample
from franchise.validation import check_integer, describe


def make_model(data: GroupedData, family: Family | None, alpha: object, gamma: object) -> Model:
    """Check family and concentrations, and prepare the data for them; words in shards are not read yet."""
    if family is None:
        if not isinstance(data, Corpus):
            raise InputError(
                "family must be given for Groups, for example franchise.Poisson(). It is optional only for a "
                "Corpus."
            )
        family = Categorical(data.vocabulary_size)
    if not isinstance(family, Family):
        raise InputError(f"family must be a family such as franchise.Poisson(); got {describe(family)}.")
    if isinstance(data, Corpus):
        family.check_vocabulary(data.vocabulary)
    if isinstance(data, MappedCorpus) and Ability.IS_CATEGORICAL in family.abilities:
        if family.size < data.vocabulary_size:
            raise InputError(
                f"family must have a size of at least {data.vocabulary_size}, the size of the vocabulary; got "
                f"{family!r}."
            )
        prepared = PreparedData(data.words, frozen(np.asarray(data.offsets, np.int64)))
    else:
        family = family.for_data(data.grouped_observations)
        prepared = PreparedData.of(data.grouped_observations, data.offsets, family)
    return Model(
        data=prepared,
        family=family,
        alpha=check_number_or_gamma("alpha", alpha),
        gamma=check_number_or_gamma("gamma", gamma),
    )


def truncation_of(schedule: InTurn) -> int | None:
    """Return the number of topics of the finite model, if all moves that draw topics sample that; else None."""
    sweeps = [move for move in moves_of(schedule) if "observations" in move.updates]
    levels = {move.topics for move in sweeps if isinstance(move, Finite)}
    return levels.pop() if len(levels) == 1 and all(isinstance(move, Finite) for move in sweeps) else None


@dataclass(frozen=True)
class HDPProblem:
    """What `sample` draws from, and how: see `franchise.running.run.Problem`."""

    data: GroupedData
    model: Model
    sampler: str  # its name
    schedule: InTurn
    seed: int

    model_name: ClassVar[str] = "hdp"
    kind_of_draw: ClassVar[type[KeptDraw]] = HDPDraw

    def __post_init__(self) -> None:
        """Give the model its truncation, if the moves sample the finite model."""
        truncation = truncation_of(self.schedule)
        if truncation is not None:
            object.__setattr__(self, "model", replace(self.model, truncation=truncation))

    def settings(self) -> dict[str, Any]:
        """Family, concentrations and moves."""
        from franchise.families.registry import name_of
        from franchise.storage.moves import to_plain

        family = self.model.family
        return {
            "family": {"name": name_of(family), "settings": family.settings()},
            "alpha": plain_number(self.model.alpha),
            "gamma": plain_number(self.model.gamma),
            "finite_topics": self.model.finite_topics,
            "sampler": self.sampler,
            "schedule": to_plain(self.schedule),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], data: GroupedData) -> HDPProblem:
        """The setup that has these settings; see `make_model`."""
        from franchise.families.registry import family_from_settings
        from franchise.storage.moves import from_plain

        family = family_from_settings(settings["family"]["name"], settings["family"]["settings"])
        alpha, gamma = (number_or_gamma(name, settings[name]) for name in ("alpha", "gamma"))
        order = check_integer("finite_topics", settings.get("finite_topics", 100), minimum=1)
        model = replace(make_model(data, family, alpha, gamma), finite_topics=order)
        schedule = from_plain(settings["schedule"])
        for move in moves_of(schedule):
            move.check_family(model.family)
        seed = check_integer("seed", settings["seed"], minimum=0)
        return cls(data, model, str(settings["sampler"]), schedule, seed)

    @property
    def labels_per_draw(self) -> int:
        """Number of observations."""
        return self.model.n_observations

    def chain(self, number: int, warmup: int) -> Chain:
        """Return a chain that has no state yet."""
        nothing: Any = None
        return Chain(self.model, self.schedule, nothing, self.seed, number, warmup)

    def initial_states(self, starts: Sequence[Any], view: type[State], engine: Engine) -> list[InitialState]:
        """Return the initial states of chains: what `starts` request, in the view that the sampler starts with."""
        return [self._initial_state(start, number, view, engine) for number, start in enumerate(starts)]

    def _initial_state(self, start: Any, number: int, view: type[State], engine: Engine) -> InitialState:
        model, streams = self.model, start_streams(self.seed, number)
        if isinstance(start, FromSample):
            return GivenState(lambda: start_from_sample(model.memory_mapped, start, streams, engine.executor))
        if isinstance(start, FromKnown):
            return GivenState(
                lambda: start_from_known(model.memory_mapped, start.topics, streams, engine.executor)
            )
        topics = topics_of_start(start, model.n_observations)
        if topics is not None and topics <= model.n_observations:
            return RandomInit(topics, view_of_labels(view))
        in_order = self.data.to_grouped_order
        return GivenState(lambda: make_start(start, model.memory_mapped, view, in_order, streams))

    def make_posterior(self, run: Run) -> HDPPosterior:
        """The posterior."""
        return HDPPosterior.from_run(run, self.data, self.model, self.sampler, self.seed)
