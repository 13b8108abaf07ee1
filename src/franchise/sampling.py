"""`sample`: from data to a posterior; and `resume` and `load` for runs on disk, of any model."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from franchise.data.grouped import GroupedData
from franchise.data.sharded.sharded_corpus import ShardedCorpus
from franchise.errors import InputError, StorageError, renamed_arguments, warn_caller
from franchise.families.base import Family
from franchise.moves.compose import check_schedule
from franchise.parallel.engine import Engine
from franchise.parallel.threads import Threads, make_engine
from franchise.posterior.base import Posterior
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.hdp_sampling import HDPProblem, make_model
from franchise.posterior.stored_numbers import SETTING
from franchise.posterior.update_tables import with_numbers_of
from franchise.priors import ALPHA, GAMMA, Gamma
from franchise.running.progress import say_once
from franchise.running.run import Problem, Run, RunOptions, check_plan
from franchise.running.starts import starts_of_chains
from franchise.samplers.registry import SamplerLike, resolve
from franchise.storage.atomic import exclusive_lock, read_errors_named
from franchise.storage.run_directory import BY_EM, UPDATED_FROM, RunDirectory
from franchise.validation import PathLike, check_choice, check_integer, describe

__all__ = ["load", "make_engine", "make_model", "resume", "sample"]


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
def sample(
    data: GroupedData | ShardedCorpus,
    family: Family | None = None,
    *,
    sampler: SamplerLike = "auto",
    alpha: float | Gamma | dict[str, float | Gamma] = ALPHA,
    gamma: float | Gamma = GAMMA,
    alpha_per: str = "level",
    draws: int = 500,
    warmup: int = 500,
    thin: int = 1,
    chains: int = 4,
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
        The observations in their groups. The words of a corpus in shards stay on disk.
    family : Family, optional
        Distribution of the observations of one topic [default: ``Categorical(vocabulary size)`` for a Corpus].
    sampler : str, move, or list of moves, default "auto"
        One of ``franchise.sampler_table()``; "auto", to choose from the family and the data size (the choice
        is printed once); or your own composition of moves.
    alpha : float or Gamma, or dict of these, default Gamma(0.5, 0.01)
        Concentration of the groups: a number is fixed, a Gamma prior is sampled. The default prior is wide. In a
        tree of groups each level has its own concentration with this prior, or with that of a dict by level.
    gamma : float or Gamma, default Gamma(1, 1)
        Concentration of the top level: a number is fixed, a Gamma prior is sampled.
    alpha_per : {"level", "parent"}, default "level"
        In a tree of groups: whether all nodes of a level share one concentration, or the children of each node
        have their own.
    draws : int, default 500
        Kept draws of each chain.
    warmup : int, default 500
        Sweeps of each chain before the first kept draw.
    thin : int, default 1
        Sweeps between two kept draws.
    chains : int, default 4
        Number of chains, run in parallel; with more chains than threads, in turns. The draws of a chain do not
        depend on the others. 1 is enough for a first look; the diagnostics of convergence compare several.
    seed : int or None, default 0
        Random seed. The same seed gives the same draws, bit for bit. None picks a seed and records it.
    start : None, int, "sequential", labels, a state, or a list of these, one per chain, default None
        Initial states: a number K puts each observation into one of K topics at random, "sequential" draws
        each observation given those before it (learned concentrations are at least 10 meanwhile). None gives
        each chain another initial state, so that R-hat can show whether they have forgotten it.
    finite_topics : int, default 100
        Truncation level of the finite model, for the sampler "finite".
    keep_labels : bool, default False
        Whether to keep the topic of every observation in every draw (``posterior.labels``).
    engine : "ray", Engine or None, default None
        Where it runs: None is ``franchise.engines.Threads(workers)``; "ray", or
        ``franchise.engines.Ray(address)``, is a cluster. The draws are the same.
    workers : int, optional
        Number of threads [default: all cores].
    progress : bool, optional
        Whether to show progress [default: only on a terminal]. False also keeps "auto" silent.
    run_dir : path, optional
        Directory for the run and its checkpoints. After Ctrl-C, SIGTERM, a full disk or a power failure,
        `resume` continues the run and returns what this call would have returned. In the main thread, Ctrl-C
        and SIGTERM wait for the current sweep and the checkpoints, then raise KeyboardInterrupt [default:
        nothing is stored].
    time_limit : float, optional
        Seconds after which every chain stops with the draws so far (at least one) [default: no limit].
    checkpoint_interval : float, default 60.0
        Seconds between two checkpoints of a chain, with `run_dir`; one more is written at its end.

    Returns
    -------
    HDPPosterior
        The draws, with tables, plots and reports of their topics.

    Raises
    ------
    InputError
        If the data do not fit the family, the sampler does not fit the data or the family, or an argument is
        out of range.

    Examples
    --------
    >>> posterior = fr.sample(corpus, draws=10, warmup=100, progress=False)
    >>> posterior.n_chains, posterior.n_draws
    (4, 10)
    >>> learned = fr.sample(groups, fr.Poisson(1.0, 0.1), alpha=1.0, draws=4, warmup=20, progress=False)
    >>> list(learned.priors)  # alpha is fixed
    ['gamma']
    """
    data = _checked_data(data)
    plan = check_plan(draws, warmup, thin, keep_labels)
    chains = check_integer("chains", chains, minimum=1)
    finite_topics = check_integer("finite_topics", finite_topics, minimum=1)
    seed = secrets.randbits(32) if seed is None else check_integer("seed", seed, minimum=0)
    options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
    model = replace(make_model(data, family, alpha, gamma, alpha_per), finite_topics=finite_topics)
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
        Total draws per chain, not fewer than the run has [default: as originally requested].
    engine : "ray", Engine or None, default None
        Where it runs: None is ``franchise.engines.Threads(workers)``, "ray" a cluster. The draws are the same.
    workers : int, optional
        Number of threads [default: all cores].
    progress : bool, optional
        Whether to show progress [default: only on a terminal].
    time_limit : float, optional
        Seconds after which every chain stops with the draws so far (at least one) [default: no limit].
    checkpoint_interval : float, default 60.0
        Seconds between two checkpoints of a chain; one more is written at its end.

    Returns
    -------
    HDPPosterior or HTMMPosterior
        All draws, earlier ones included.

    Raises
    ------
    InputError
        If the folder has no run, the run is damaged or in use, or an argument is out of range.

    Examples
    --------
    >>> first = fr.sample(corpus, draws=4, warmup=20, run_dir="run", progress=False)
    >>> fr.resume("run", draws=6, progress=False).n_draws
    6
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
                f"{draws}. Remove it to finish the run, or use franchise.load to see the result."
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
    was_interrupted = UPDATED_FROM in settings and SETTING not in settings
    if was_interrupted and run.fewest_draws > 0:
        return _numbered_as(settings[UPDATED_FROM], posterior)
    return posterior.with_settings(settings)


def _numbered_as(updated: dict[str, Any], posterior: Posterior[Any]) -> Posterior[Any]:
    """Return a posterior with numbers and names of the topics of the run that `update` has continued."""
    try:
        before = load_posterior(RunDirectory.open(updated["run"])).with_settings(updated)
    except (InputError, StorageError) as error:
        warn_caller(
            f"topics have new numbers, as the run from before the update cannot be read: {error} Move it back, "
            "and load or resume this run again."
        )
        return posterior
    return with_numbers_of(before, posterior)


def load(path: PathLike) -> Any:
    """Load a posterior or a fitted model from disk, without sampling.

    The stored draws of a large run stay on disk and are read when they are needed.

    Parameters
    ----------
    path : path
        The folder given to `sample` or `HTMM`, or to the method `save` of a posterior or a fitted model.

    Returns
    -------
    HDPPosterior, HTMMPosterior, HDP or HTMM
        The posterior of a run, with the draws so far, or the fitted model.

    Raises
    ------
    InputError
        If the folder has no run and no model, or is damaged.

    Examples
    --------
    >>> posterior.save("saved")
    >>> fr.load("saved").n_draws
    10
    """
    folder = RunDirectory.open(path)
    if "estimator" in folder.settings:
        from franchise.estimators.persist import load_model

        return load_model(folder)
    return load_posterior(folder)


def load_posterior(folder: RunDirectory) -> Posterior[Any]:
    """Return the posterior of a run on disk."""
    run = Run.read(folder, _problem_in(folder), Threads(1), draws_stay_on_disk=True)
    if run.fewest_draws == 0:
        raise InputError(
            f"the run in {str(folder.path)!r} has no draws yet. Continue it with franchise.resume."
        )
    run.set_target_draws(run.most_draws)
    with read_errors_named(folder.path / "run.json"):
        return _posterior_of(run, folder.settings)


def _checked_data(data: object) -> GroupedData:
    """Return the data, memory-mapped if they are sharded; InputError for other types."""
    if isinstance(data, ShardedCorpus):
        return data.memory_mapped()
    if not isinstance(data, GroupedData):
        raise InputError(
            f"data must be a franchise.Corpus or franchise.Groups; got {describe(data)}. Create one with "
            "Corpus.from_texts, Corpus.from_matrix, Corpus.from_tokens or Groups(observations, groups)."
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
