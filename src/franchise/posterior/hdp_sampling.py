"""Sampling of hierarchical Dirichlet process mixtures: the model of the data, and the problem of the chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.extend import Extended
from franchise.data.grouped import GroupedData
from franchise.data.sharded.sharded_corpus import MappedCorpus
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.inner_nodes import Tree, split_inner_data, tree_of_model
from franchise.model.state.base import State
from franchise.moves.compose import InTurn, in_turn, moves_of
from franchise.moves.finite import Finite
from franchise.parallel.engine import Engine
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.warm_start import family_for, labels_for
from franchise.priors import Gamma, check_number_or_gamma, number_or_gamma, plain_number
from franchise.running.chain import AnyChain, Chain
from franchise.running.chain_run import ChainRun
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
from franchise.samplers.recipes import without_start_moves
from franchise.samplers.registry import SAMPLERS
from franchise.validation import check_choice, check_integer, describe


def make_model(
    data: GroupedData, family: Family | None, alpha: object, gamma: object, alpha_per: str = "level"
) -> Model:
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
        observations: Any = data.words
    else:
        family = family.for_data(data.grouped_observations)
        observations = frozen(family.prepare(data.grouped_observations))
    gamma = check_number_or_gamma("gamma", gamma)
    per = check_choice("alpha_per", alpha_per, ("level", "parent"))
    if data.tree is None:
        prepared = PreparedData(observations, frozen(np.asarray(data.offsets, np.int64)))
        return Model(prepared, family, _one_alpha(alpha), gamma)
    of_data = data.tree
    tree, number_of = tree_of_model(of_data, per)
    offsets, parents = split_inner_data(data.offsets, of_data.node_of_group, of_data, number_of)
    alphas = alphas_of_tree(alpha, of_data.levels, tree)
    prepared = PreparedData(observations, frozen(offsets), tree=tree, groups_above=parents)
    return Model(prepared, family, alphas[-1], gamma, alphas=alphas)


def _one_alpha(alpha: object) -> float | Gamma:
    if isinstance(alpha, dict):
        raise InputError(
            f"alpha must be a number or a Gamma prior, since the data have one level of groups; got "
            f"{describe(alpha)}."
        )
    return check_number_or_gamma("alpha", alpha)


def alphas_of_tree(alpha: object, levels: tuple[str, ...], tree: Tree) -> tuple[float | Gamma, ...]:
    """Return the concentrations of a tree by number: one value for all, or a dict with one for each level."""
    if not isinstance(alpha, dict):
        return (check_number_or_gamma("alpha", alpha),) * len(tree.levels)
    if set(alpha) != set(levels):
        raise InputError(
            f"alpha must have a number or a Gamma prior for each level of the tree ({', '.join(levels)}); got "
            f"{', '.join(map(str, alpha)) or 'none'}."
        )
    return tuple(check_number_or_gamma(f"alpha[{level}]", alpha[level]) for level in tree.levels)


def settings_of_alphas(model: Model) -> dict[str, Any]:
    """Return the concentrations of the groups as plain values; in a tree by level."""
    tree = model.data.tree
    if not tree.is_deep:
        return {"alpha": plain_number(model.alpha)}
    by_level = {level: plain_number(alpha) for level, alpha in zip(tree.levels, model.alphas, strict=True)}
    return {"alpha_of_level": by_level, "alpha_per": tree.per}


def truncation_of(schedule: InTurn) -> int | None:
    """Return the number of topics of the finite model, if all moves that draw topics sample that; else None."""
    sweeps = [move for move in moves_of(schedule) if "observations" in move.updates]
    levels = {move.topics for move in sweeps if isinstance(move, Finite)}
    return levels.pop() if len(levels) == 1 and all(isinstance(move, Finite) for move in sweeps) else None


@dataclass(frozen=True)
class HDPProblem:
    """Data, model and moves of `sample`: see `franchise.running.run.Problem`."""

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
        """Return family, concentrations and moves as plain values."""
        from franchise.families.registry import name_of
        from franchise.storage.moves import to_plain

        family = self.model.family
        return {
            "family": {"name": name_of(family), "settings": family.settings()},
            **settings_of_alphas(self.model),
            "gamma": plain_number(self.model.gamma),
            "finite_topics": self.model.finite_topics,
            "sampler": self.sampler,
            "schedule": to_plain(self.schedule),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], data: GroupedData) -> HDPProblem:
        """Return the setup that has these settings; see `make_model`."""
        from franchise.families.registry import family_from_settings
        from franchise.storage.moves import from_plain

        family = family_from_settings(settings["family"]["name"], settings["family"]["settings"])
        gamma, order = number_or_gamma("gamma", settings["gamma"]), settings.get("finite_topics", 100)
        if "alpha_of_level" in settings:
            alpha: Any = {
                name: number_or_gamma(name, own) for name, own in settings["alpha_of_level"].items()
            }
        else:
            alpha = number_or_gamma("alpha", settings["alpha"])
        model = make_model(data, family, alpha, gamma, settings.get("alpha_per", "level"))
        model = replace(model, finite_topics=check_integer("finite_topics", order, minimum=1))
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
        """Return the initial states that `starts` request, in the first view of the sampler."""
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

    def continued(
        self, extended: Extended, chains: Sequence[ChainRun], seed: int, engine: Engine
    ) -> tuple[HDPProblem, list[InitialState]]:
        """Return the problem with more data, and the initial states that continue some chains."""
        family = family_for(self.model.family, extended)
        tree, alpha = self.model.data.tree, self.model.alpha
        of_levels: Any = dict(zip(tree.levels, self.model.alphas, strict=True)) if tree.is_deep else alpha
        model = make_model(extended.data, family, of_levels, self.model.gamma, tree.per)
        model = replace(model, finite_topics=self.model.finite_topics)
        named = SAMPLERS.get(self.sampler)
        schedule = without_start_moves(self.schedule if named is None else in_turn(*named.moves(model)))
        view = next(moves_of(schedule)).views[0] if named is None else named.view
        setup = HDPProblem(extended.data, model, self.sampler, schedule, seed)
        return setup, [
            GivenState(partial(self._continued, setup.model, extended, view, run.chain, seed))
            for run in chains
        ]

    def _continued(
        self, model: Model, extended: Extended, view: type[State], chain: AnyChain, seed: int
    ) -> State:
        """Return the state of a chain with more data, under the model of all of them."""
        draw: Any = chain.snapshot(0)
        rng = start_streams(seed, chain.number).generator()
        labels = labels_for(self.model, draw, extended, rng, seed)
        family, data = model.family, model.memory_mapped.data
        alphas = draw.alpha if draw.concentrations is None else self._continued_alphas(model, draw)
        state = view_of_labels(view).from_topics(data, family, labels, alphas, draw.gamma)
        if family.learned_prior is not None:
            family.set_prior_value(state.statistics, draw.prior)
            state.recount(data)
        return state

    def _continued_alphas(self, model: Model, draw: HDPDraw) -> np.ndarray:
        """Return the concentrations of a draw in a tree with more nodes, by number; the others at their start."""
        assert draw.concentrations is not None
        known = dict(zip(self.model.data.tree.names, draw.concentrations.tolist(), strict=True))
        starts = [alpha.start if isinstance(alpha, Gamma) else alpha for alpha in model.alphas]
        names = model.data.tree.names
        return np.array([known.get(name, start) for name, start in zip(names, starts, strict=True)])

    def make_posterior(self, run: Run) -> HDPPosterior:
        """Return the posterior."""
        return HDPPosterior.from_run(run, self.data, self.model, self.sampler, self.seed)
