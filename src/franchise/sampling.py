"""`sample`: from data to a posterior; and `resume` and `load` for runs on disk, of any model."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from franchise.data.grouped import GroupedData
from franchise.data.sharded.sharded_corpus import ShardedCorpus
from franchise.errors import InputError, renamed_arguments
from franchise.families.base import Family
from franchise.moves.compose import check_schedule
from franchise.parallel.engine import Engine
from franchise.parallel.threads import Threads, make_engine
from franchise.posterior.base import Posterior
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.hdp_sampling import HDPProblem, make_model
from franchise.posterior.stored_numbers import SETTING
from franchise.priors import ALPHA, GAMMA, Gamma
from franchise.running.progress import say_once
from franchise.running.run import Problem, Run, RunOptions, check_plan
from franchise.running.starts import starts_of_chains
from franchise.samplers.registry import SamplerLike, resolve
from franchise.storage.atomic import exclusive_lock, read_errors_named
from franchise.storage.run_directory import BY_EM, RunDirectory
from franchise.validation import PathLike, check_choice, check_integer, describe

__all__ = ["load", "make_engine", "make_model", "resume", "sample"]


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
def sample(
    data: GroupedData | ShardedCorpus,
    family: Family | None = None,
    *,
    sampler: SamplerLike = "auto",
    alpha: float | Gamma = ALPHA,
    gamma: float | Gamma = GAMMA,
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
        The default priors are Gamma(0.5, 0.01) for alpha, which is wide, and Gamma(1, 1) for gamma.
    draws, warmup, thin : int
        Kept draws of each chain, sweeps before the first, sweeps between two.
    chains : int
        Number of chains, run in parallel; each gives the same draws whether it runs alone or not.
    seed : int or None
        The same seed gives the same draws, bit for bit. None draws one and records it.
    start : None, int, "sequential", labels, a state, or a list of these, one a chain
        Where chains start: a number K puts each observation into one of K topics at random, "sequential" draws
        each observation given those before it (learned concentrations are at least 10 meanwhile). None gives each
        chain another start, so that R-hat can tell whether they have forgotten it.
    finite_topics : int
        The order of the finite model, for the sampler "finite".
    keep_labels : bool
        Whether to keep the topic of every observation in every draw (``posterior.labels``).
    engine, workers
        Where it runs: None is ``franchise.engines.Threads(workers)``, workers None is every core; "ray", or
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
    plan = check_plan(draws, warmup, thin, keep_labels)
    chains = check_integer("chains", chains, minimum=1)
    finite_topics = check_integer("finite_topics", finite_topics, minimum=1)
    seed = secrets.randbits(32) if seed is None else check_integer("seed", seed, minimum=0)
    options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
    model = replace(make_model(data, family, alpha, gamma), finite_topics=finite_topics)
    resolved = resolve(sampler, model)
    check_schedule(resolved.schedule, plan.total)
    if resolved.choice is not None and progress is not False:
        say_once(resolved.choice.message(start_is_chosen=start is None))
    if start is None:
        start = [resolved.start(chain) for chain in range(chains)]
    starts = starts_of_chains(start, chains, model.n_observations)
    setup = HDPProblem(data, model, resolved.name, resolved.schedule, seed)
    initial_states = setup.initial_states(starts, resolved.view, options.engine)
    return setup.make_posterior(Run.sample(setup, plan, initial_states, options, run_dir))


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
        Total draws per chain, at least those there are [default: as originally requested].
    engine, workers, progress, time_limit, checkpoint_interval
        As for `sample`.
    """
    if draws is not None:
        draws = check_integer("draws", draws, minimum=1)
    options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
    folder = RunDirectory.open(run_dir)
    with exclusive_lock(folder.path), options.engine:
        run = Run.read(folder, _problem_in(folder), options.engine)
        if draws is not None and draws < run.most_draws:
            raise InputError(
                f"draws must be at least the number of draws per chain that the run has ({run.most_draws}); got "
                f"{draws}. Leave it out to finish the run, or use franchise.load to see the result."
            )
        run.set_target_draws(run.plan.draws if draws is None else draws)
        settings = folder.settings
        if "topics" in settings and SETTING not in settings and run.fewest_draws > 0:  # edited in version 0.1
            settings = {**settings, **_posterior_of(run, settings).numbers()}
        run.go(options)
    return _posterior_of(run, settings)


def _posterior_of(run: Run, settings: dict[str, Any]) -> Posterior[Any]:
    """Return the posterior of a run, with the numbers of topics that are in its settings."""
    posterior: Posterior[Any] = run.setup.make_posterior(run)
    return posterior.with_settings(settings)


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
    run = Run.read(folder, _problem_in(folder), Threads(1))
    if run.fewest_draws == 0:
        raise InputError(
            f"the run in {str(folder.path)!r} has no draws yet. Continue it with franchise.resume."
        )
    run.set_target_draws(run.most_draws)
    with read_errors_named(folder.path / "run.json"):
        return _posterior_of(run, folder.settings)


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


def _problem_in(folder: RunDirectory) -> Problem:
    """Return the problem of a run on disk, of either model; InputError if the model was not sampled."""
    settings = folder.settings
    if settings.get("model") == BY_EM:
        raise InputError(
            f"the model in {str(folder.path)!r} was fitted by EM, so it has no chains and no draws. Use "
            f"franchise.load to get the model."
        )
    data: Any = folder.data()
    with read_errors_named(folder.path / "run.json"):
        if check_choice("model", settings["model"], ("hdp", "htmm")) == "hdp":
            return HDPProblem.from_settings(settings, data)
        from franchise.posterior.htmm_sampling import HTMMProblem

        return HTMMProblem.from_settings(settings, data)
