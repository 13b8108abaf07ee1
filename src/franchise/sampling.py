"""`sample`: from data to a posterior; and `resume` and `load` for runs on disk, of any model."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.sharded.sharded_corpus import MappedCorpus, ShardedCorpus
from franchise.errors import InputError, renamed_arguments
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import State
from franchise.moves.compose import InTurn, check_schedule, moves_of
from franchise.parallel.engine import BlockExecutor, Engine, make_engine
from franchise.parallel.threads import Threads
from franchise.posterior.base import Posterior
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.stored_numbers import SETTING
from franchise.priors import Gamma, check_number_or_gamma, number_or_gamma, plain_number
from franchise.running.chain import Chain
from franchise.running.chain_interface import AnyChain
from franchise.running.chain_run import DrawPlan
from franchise.running.initial_state import GivenState, InitialState
from franchise.running.kept_draws import KeptDraws
from franchise.running.progress import say_once
from franchise.running.run import Problem, Run, RunOptions, check_memory
from franchise.running.starts import RandomInit, make_start, start_streams, starts_of_chains
from franchise.running.subsample_start import start_from_sample
from franchise.samplers.registry import FromSample, SamplerLike, resolve
from franchise.storage.atomic import exclusive_lock, read_errors_named
from franchise.storage.run_store import BY_EM, RunDirectory, check_new
from franchise.validation import PathLike, check_choice, check_integer, describe

__all__ = ["load", "make_engine", "make_model", "resume", "sample"]


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
def sample(
    data: GroupedData | ShardedCorpus,
    family: Family | None = None,
    *,
    sampler: SamplerLike = "auto",
    alpha: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
    gamma: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
    draws: int = 500,
    warmup: int = 500,
    thin: int = 1,
    chains: int = 2,
    seed: int | None = 0,
    start: object = None,
    finite_topics: int = 100,
    keep_labels: bool = False,
    engine: Engine | str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    run_dir: PathLike | None = None,
    time_limit: float | None = None,
    checkpoint_interval: float = 60.0,
) -> HDPPosterior:
    """Draw from the posterior of a hierarchical Dirichlet process mixture.

    Parameters
    ----------
    data : Corpus or Groups, or ShardedCorpus
        The observations in their groups. Of a corpus in shards the words stay on disk.
    family : Family, optional
        How observations of one topic are distributed; for a Corpus it may be left out and is then
        ``Categorical(vocabulary size)``.
    sampler : str, or a move, or a list of moves
        One of ``franchise.sampler_table()``; ``"auto"``, which chooses one by the family and the size of the data
        and says, once, which and why; or your own composition of moves.
    alpha, gamma : float or Gamma
        The concentrations of the groups and of the top level: a number fixes one, a Gamma prior learns it.
    draws, warmup, thin : int
        Kept draws of each chain, sweeps before the first, sweeps between two.
    chains : int
        Number of chains, run in parallel; each gives the same draws whether it runs alone or not.
    seed : int or None
        The same seed gives the same draws, bit for bit. None draws one and records it.
    start : None, int, "sequential", labels, a state, or a list of these, one a chain
        Where chains start: a number K puts each observation into one of K topics at random, "sequential" draws
        each observation given those before it (learned concentrations are at least 10 meanwhile); None is
        "sequential" for the sampler "split-merge", and otherwise chooses K by the size of the data.
    finite_topics : int
        The order of the finite model, for the sampler "finite".
    keep_labels : bool
        Whether to keep the topic of every observation in every draw (``posterior.labels``).
    engine, workers
        Where it runs: None is ``franchise.parallel.Threads(workers)``, workers None is every core; "ray", or
        ``franchise.parallel.Ray(address)``, is a cluster. The draws are the same.
    progress : bool or None
        Whether to show progress; None shows it on a terminal. False also keeps "auto" silent.
    run_dir : path, optional
        Directory for the run and its checkpoints. After Ctrl-C, SIGTERM, a full disk or a power failure, `resume`
        continues the run and returns what this call would have returned. In the main thread, Ctrl-C and SIGTERM
        wait for the current sweep and the checkpoints, then raise KeyboardInterrupt.
    time_limit : float, optional
        Seconds after which every chain stops with the draws so far (at least one).
    checkpoint_interval : float
        Seconds between two checkpoints of a chain, with `run_dir`; one more is written at its end.

    Returns
    -------
    Posterior
    """
    data = _checked_data(data)
    plan = DrawPlan.checked(draws, warmup, thin, keep_labels)
    chains = check_integer("chains", chains, minimum=1)
    finite_topics = check_integer("finite_topics", finite_topics, minimum=1)
    seed = secrets.randbits(32) if seed is None else check_integer("seed", seed, minimum=0)
    options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
    model = make_model(data, family, alpha, gamma)
    model = replace(model, finite_topics=finite_topics)
    resolved = resolve(sampler, model)
    check_schedule(resolved.schedule, plan.total)
    if resolved.choice is not None and progress is not False:
        say_once(resolved.choice.message(start_is_chosen=start is None))
    check_memory(plan, chains, model.data.n_observations)
    starts = starts_of_chains(resolved.start if start is None else start, chains, model.data.n_observations)
    setup = HDPProblem(data, model, resolved.name, resolved.schedule, seed)
    if run_dir is not None:
        check_new("run_dir", run_dir)
        setup.settings()

    def begin(number: int) -> AnyChain:
        initial = setup.initial_state(number, starts[number], resolved.view, options.engine.executor)
        return options.engine.place(setup.chain(number, plan.warmup), initial)

    with options.engine:
        run = Run.begin(setup, plan, options.engine.map(begin, range(chains)), run_dir)
        with run.locked():
            posterior: HDPPosterior = run.go(options)
    return posterior


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
def resume(
    run_dir: Any,
    draws: int | None = None,
    *,
    engine: Engine | str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    time_limit: float | None = None,
    checkpoint_interval: float = 60.0,
) -> Posterior[Any]:
    """Resume a run from its last checkpoint. The result equals that of an uninterrupted run.

    Parameters
    ----------
    run_dir : path
        The folder given to `sample` or `HTMM`, or to a posterior's `save`.
    draws : int, optional
        Total draws per chain [default: as originally requested].
    engine, workers, progress, time_limit, checkpoint_interval
        As for `sample`.
    """
    if draws is not None:
        draws = check_integer("draws", draws, minimum=1)
    options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
    folder = RunDirectory.open(run_dir)
    _check_sampled(folder)
    with exclusive_lock(folder.path), options.engine:
        run = Run.read(folder, _make_setup, options.engine)
        run.set_target_draws(run.plan.draws if draws is None else draws)
        settings = _with_numbers(run)
        posterior: Posterior[Any] = run.go(options)
    return posterior.with_settings(settings)


def _with_numbers(run: Run) -> dict[str, Any]:
    """Return the settings of a run on disk, with the numbers of topics that were edited by hand in version 0.1."""
    assert run.folder is not None
    settings = run.folder.settings
    if "topics" not in settings or SETTING in settings or run.fewest_draws == 0:
        return settings
    before: Posterior[Any] = run.setup.make_posterior(run).with_settings(settings)
    return {**settings, **before.numbers()}


def load(path: PathLike) -> Any:
    """Load a posterior or a fitted model from disk, without sampling.

    Parameters
    ----------
    path : path
        The folder given to `sample` or `HTMM`, to a posterior's `save`, or to that of a fitted `HDP` or `HTMM`.

    Returns
    -------
    Posterior, HTMMPosterior, HDP or HTMM
    """
    folder = RunDirectory.open(path)
    if "estimator" in folder.settings:
        from franchise.estimators.persist import load_model

        return load_model(folder)
    return load_posterior(folder)


def load_posterior(folder: RunDirectory) -> Posterior[Any]:
    """The posterior of a run on disk."""
    _check_sampled(folder)
    run = Run.read(folder, _make_setup, Threads(1))
    if run.fewest_draws == 0:
        raise InputError(
            f"the run in {str(folder.path)!r} has no draws yet. Continue it with franchise.resume."
        )
    run.set_target_draws(run.most_draws)
    posterior: Posterior[Any] = run.setup.make_posterior(run)
    with read_errors_named(folder.path / "run.json"):
        return posterior.with_settings(folder.settings)


def _check_sampled(folder: RunDirectory) -> None:
    if folder.settings.get("model") == BY_EM:
        raise InputError(
            f"the model in {str(folder.path)!r} was fitted by EM, so it has no chains and no draws. Use "
            f"franchise.load to get the model."
        )


def make_model(data: GroupedData, family: Family | None, alpha: object, gamma: object) -> Model:
    """Check family and concentrations, and prepare the data for them; words in shards are not read yet."""
    if family is None:
        if not isinstance(data, Corpus):
            raise InputError(
                "family must be given for Groups, for example franchise.Poisson(); only for a Corpus may it be "
                "left out (it is then Categorical over the vocabulary)."
            )
        family = Categorical(data.vocabulary_size)
    if not isinstance(family, Family):
        raise InputError(f"family must be a family such as franchise.Poisson(); got {describe(family)}.")
    if isinstance(data, Corpus):
        family.check_vocabulary(data.vocabulary)
    if isinstance(data, MappedCorpus) and Ability.IS_CATEGORICAL in family.abilities:
        _check_size(family, data)
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


def _check_size(family: Any, corpus: Any) -> None:
    """InputError if a family knows fewer words than a corpus may have."""
    if family.size < corpus.vocabulary_size:
        raise InputError(
            f"family must have a size of {corpus.vocabulary_size} or more, as the vocabulary has; got {family!r}."
        )


def _checked_data(data: object) -> GroupedData:
    """The data; those on disk as they are read from there. InputError if they are something else."""
    if isinstance(data, ShardedCorpus):
        return data.memory_mapped()
    if not isinstance(data, GroupedData):
        raise InputError(
            f"data must be a franchise.Corpus or franchise.Groups; got {describe(data)}. Make one by "
            f"Corpus.from_texts, Corpus.from_matrix, Corpus.from_tokens or Groups(observations, groups)."
        )
    return data


@dataclass(frozen=True)
class HDPProblem:
    """What `sample` draws from, and how: see `franchise.running.run.Problem`."""

    data: GroupedData
    model: Model
    sampler: str  # its name
    schedule: InTurn
    seed: int

    model_name: ClassVar[str] = "hdp"

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

    def new_kept_draws(self) -> KeptDraws:
        """Room for snapshots."""
        return KeptDraws.for_size(self.model.data.n_observations)

    def chain(self, number: int, warmup: int) -> Chain:
        """Return a chain that has no state yet."""
        nothing: Any = None
        return Chain(self.model, self.schedule, nothing, self.seed, number, warmup)

    def initial_state(
        self, number: int, start: Any, view: type[State], executor: BlockExecutor
    ) -> InitialState:
        """Return the initial state of a chain: what `start` requests, in the view that the sampler starts with."""
        model, streams = self.model, start_streams(self.seed, number)
        if isinstance(start, FromSample):
            return GivenState(start_from_sample(model.memory_mapped, start.moves, streams, executor))
        at_random = RandomInit.from_start(start, model, view)
        if at_random is not None:
            return at_random
        return GivenState(make_start(start, model.memory_mapped, view, self.data.to_grouped_order, streams))

    def make_posterior(self, run: Run) -> HDPPosterior:
        """The posterior."""
        return HDPPosterior.from_run(run, self.data, self.model, self.sampler, self.seed)


def _make_setup(settings: dict[str, Any], data: Any) -> Problem:
    """Return the problem of a run on disk, of either model."""
    if check_choice("model", settings["model"], ("hdp", "htmm")) == "hdp":
        return HDPProblem.from_settings(settings, data)
    from franchise.posterior.htmm_sampling import HTMMProblem

    return HTMMProblem.from_settings(settings, data)
