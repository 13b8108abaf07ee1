"""`sample`: from data to a posterior; and `resume` and `load` for runs on disk."""

from __future__ import annotations

import os
import secrets
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

from franchise.chains.chain import Chain
from franchise.chains.progress import make_progress
from franchise.chains.run import ChainRun, Control, Plan, make_room_for_labels, run_chains
from franchise.chains.snapshots import Snapshots
from franchise.chains.start import make_start, start_streams, starts_of_chains
from franchise.chains.storage import RunDirectory
from franchise.chains.thinned import start_from_sample
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.engines.threads import Threads
from franchise.errors import InputError
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.model import Model
from franchise.moves.compose import InTurn, check_schedule
from franchise.posterior import Posterior
from franchise.priors import Gamma, check_number_or_gamma
from franchise.recipes import resolve
from franchise.recipes.base import FromSample
from franchise.state.base import PreparedData, State
from franchise.state.save import state_from_arrays
from franchise.validation import check_integer, check_positive, describe


def sample(
    data: GroupedData,
    family: Family | None = None,
    *,
    sampler: Any = "auto",
    alpha: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
    gamma: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
    draws: int = 500,
    warmup: int = 500,
    thin: int = 1,
    chains: int = 2,
    seed: int | None = 0,
    start: Any = None,
    finite_topics: int = 100,
    keep_labels: bool = False,
    engine: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    run_dir: Any = None,
    time_limit: float | None = None,
) -> Posterior:
    """Draw from the posterior of a hierarchical Dirichlet process mixture.

    Parameters
    ----------
    data : Corpus or Groups
        The observations in their groups.
    family : Family, optional
        How observations of one topic are distributed; for a Corpus it may be left out and is then
        ``Categorical(vocabulary size)``.
    sampler : str, or a move, or a list of moves
        One of ``franchise.sampler_table()``, or ``"auto"``; or your own composition of moves.
    alpha, gamma : float or Gamma
        The concentrations of the groups and of the top level: a number fixes one, a Gamma prior learns it.
    draws, warmup, thin : int
        Kept draws of each chain, sweeps before the first, sweeps between two.
    chains : int
        Chains, run side by side; each gives the same draws whether it runs alone or not.
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
        Where it runs: None is ``Threads(workers)``, workers None is every core.
    progress : bool or None
        Whether to show progress; None shows it on a terminal.
    run_dir : path, optional
        A folder to keep the run in, with checkpoints, so that it can be resumed.
    time_limit : float, optional
        Seconds after which every chain ends with the draws it has (at least one).

    Returns
    -------
    Posterior
    """
    _check_data(data)
    plan = Plan(
        draws=check_integer("draws", draws, minimum=1),
        warmup=check_integer("warmup", warmup, minimum=0),
        thin=check_integer("thin", thin, minimum=1),
        keep_labels=bool(keep_labels),
    )
    chains = check_integer("chains", chains, minimum=1)
    finite_topics = check_integer("finite_topics", finite_topics, minimum=1)
    seed = secrets.randbits(32) if seed is None else check_integer("seed", seed, minimum=0)
    if time_limit is not None:
        time_limit = check_positive("time_limit", time_limit)
    model = replace(make_model(data, family, alpha, gamma), finite_topics=finite_topics)
    name, schedule, view, usual_start = resolve(sampler, model)
    check_schedule(schedule, plan.total)
    engine = make_engine(engine, workers)
    _check_memory(plan, chains, model.data.n_observations)
    starts = starts_of_chains(usual_start if start is None else start, chains, model.data.n_observations)

    def begin(chain: int) -> State:
        streams = start_streams(seed, chain)
        if isinstance(starts[chain], FromSample):
            return start_from_sample(model, starts[chain].moves, streams, engine)
        return make_start(starts[chain], model, view, data.to_grouped_order, streams)

    states = engine.map(begin, range(chains))
    run = None
    if run_dir is not None:
        run = RunDirectory.create(run_dir, _settings(model, name, schedule, plan, chains, seed), data)
    runs = []
    for number, state in enumerate(states):
        chain = Chain(model, schedule, state, seed, number, plan.warmup, engine)
        store = None if run is None else run.chain(number)
        runs.append(ChainRun(chain, plan, data, Snapshots.for_size(model.data.n_observations), store))
        if store is not None:
            runs[-1].checkpoint()
    return _run(runs, data, name, engine, progress, time_limit, run)


def resume(
    run_dir: Any,
    draws: int | None = None,
    *,
    engine: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    time_limit: float | None = None,
) -> Posterior:
    """Go on with a run from its last checkpoints; the result is that of a run never interrupted.

    Parameters
    ----------
    run_dir : path
        The folder given to `sample`.
    draws : int, optional
        Draws wanted of each chain in all; None finishes what was planned.
    engine, workers, progress, time_limit
        As for `sample`.
    """
    if draws is not None:
        draws = check_integer("draws", draws, minimum=1)
    if time_limit is not None:
        time_limit = check_positive("time_limit", time_limit)
    engine = make_engine(engine, workers)
    run, runs, data, name = _open(run_dir, draws, engine)
    _check_memory(runs[0].plan, len(runs), data.n_observations)
    if draws is not None:
        kept = max(len(chain.trace) for chain in runs)  # fewer than there are drop none
        run.write_settings({**run.settings(), "draws": max(draws, kept)})
    for chain in runs:
        chain.forget_what_came_after()
    return _run(runs, data, name, engine, progress, time_limit, run)


def load(path: Any) -> Posterior:
    """The posterior of a run on disk, as far as it has come; nothing is run."""
    run, runs, data, name = _open(path, None, Threads(1))
    if any(len(chain.trace) == 0 for chain in runs):
        raise InputError(
            f"the run in {str(run.path)!r} has no kept draws yet. Go on with it by franchise.resume."
        )
    return Posterior.from_runs(runs, data, name, make_room_for_labels(runs))


def make_model(data: GroupedData, family: Family | None, alpha: Any, gamma: Any) -> Model:
    """Check family and concentrations, and prepare the data for them."""
    if family is None:
        if not isinstance(data, Corpus):
            raise InputError(
                "family must be given for Groups, for example franchise.Poisson(); only for a Corpus may it be "
                "left out (it is then Categorical over the vocabulary)."
            )
        family = Categorical(data.vocabulary_size)
    if not isinstance(family, Family):
        raise InputError(f"family must be a family such as franchise.Poisson(); got {describe(family)}.")
    family = family.for_data(data.grouped_observations)
    return Model(
        data=PreparedData.of(data.grouped_observations, data.offsets, family),
        family=family,
        alpha=check_number_or_gamma("alpha", alpha),
        gamma=check_number_or_gamma("gamma", gamma),
    )


def _check_data(data: Any) -> None:
    if not isinstance(data, GroupedData):
        raise InputError(
            f"data must be a franchise.Corpus or franchise.Groups; got {describe(data)}. Make one by "
            f"Corpus.from_texts, Corpus.from_matrix, Corpus.from_tokens or Groups(observations, groups)."
        )


def make_engine(engine: Any, workers: int | None) -> Threads:
    """The engine that is given, or threads."""
    if engine is None:
        return Threads(workers)
    if workers is not None:
        raise InputError("give either an engine or workers, not both: an engine brings its own workers.")
    if not isinstance(engine, Threads):
        raise InputError(
            f"engine must be None or franchise.engines.Threads(workers); got {describe(engine)}."
        )
    return engine


def _check_memory(plan: Plan, chains: int, n_observations: int) -> None:
    """Refuse to keep labels that will not fit, before anything runs."""
    if plan.keep_labels:
        needed = 4 * plan.draws * chains * n_observations
        available = _available_memory()
        if needed > available:
            raise InputError(
                f"keep_labels=True needs {needed / 2**30:.1f} GiB ({chains} chains x {plan.draws} draws x "
                f"{n_observations} observations x 4 bytes), but about {available / 2**30:.1f} GiB are free. "
                f"Keep fewer draws, thin more, or leave the labels."
            )


def _available_memory() -> int:
    """Bytes of memory that can be had; where the system does not say, what is installed."""
    try:
        with open("/proc/meminfo") as file:
            facts = dict(line.split(":", 1) for line in file)
        return int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _run(
    runs: list[ChainRun[Chain]],
    data: GroupedData,
    name: str,
    engine: Threads,
    progress: bool | None,
    time_limit: float | None,
    run: RunDirectory | None,
) -> Posterior:
    plan = runs[0].plan
    unit = "word" if isinstance(data, Corpus) else "observation"
    done = [chain.chain.sweeps for chain in runs]
    shown = make_progress(progress, len(runs), plan.total, done, data.n_observations, unit)
    control = Control(time_limit)
    labels = make_room_for_labels(runs)
    try:
        run_chains(runs, engine, control, shown, interruptible=run is not None or len(runs) > 1)
    except KeyboardInterrupt:
        if run is not None:
            print(f"Interrupted. Go on with it by franchise.resume({str(run.path)!r}).")
        raise
    if any(len(chain.trace) < plan.draws for chain in runs):
        warnings.warn(
            f"the time limit ended the run early: {min(len(chain.trace) for chain in runs)} of {plan.draws} "
            f"draws are kept of each chain, after {min(chain.chain.warmup for chain in runs)} sweeps of warm-up",
            stacklevel=3,
        )
    return Posterior.from_runs(runs, data, name, labels)


def _settings(
    model: Model, name: str, schedule: InTurn, plan: Plan, chains: int, seed: int
) -> dict[str, Any]:
    """All that `resume` needs, as plain values."""
    from franchise.families.registry import name_of
    from franchise.moves.plain import to_plain

    return {
        "family": {"name": name_of(model.family), "settings": model.family.settings()},
        "alpha": _plain(model.alpha),
        "gamma": _plain(model.gamma),
        "sampler": name,
        "schedule": to_plain(schedule),
        "draws": plan.draws,
        "warmup": plan.warmup,
        "thin": plan.thin,
        "keep_labels": plan.keep_labels,
        "chains": chains,
        "seed": seed,
    }


def _plain(value: float | Gamma) -> Any:
    return {"shape": value.shape, "rate": value.rate} if isinstance(value, Gamma) else value


def _open(
    path: Any, draws: int | None, engine: Threads
) -> tuple[RunDirectory, list[ChainRun[Chain]], GroupedData, str]:
    """A run on disk, its chains as they were at their last checkpoints."""
    from franchise.families.registry import family_from_settings
    from franchise.moves.plain import from_plain

    run = RunDirectory.open(path)
    settings = run.settings()
    data = run.data()
    family = family_from_settings(settings["family"]["name"], settings["family"]["settings"])
    alpha, gamma = (
        Gamma(**settings[name]) if isinstance(settings[name], dict) else settings[name]
        for name in ("alpha", "gamma")
    )
    model = make_model(data, family, alpha, gamma)
    schedule = from_plain(settings["schedule"])
    plan = Plan(
        draws=settings["draws"] if draws is None else draws,
        warmup=settings["warmup"],
        thin=settings["thin"],
        keep_labels=settings["keep_labels"],
    )
    runs = []
    for number in range(settings["chains"]):
        restore = partial(_restore, model, schedule, settings["seed"], number, engine)
        snapshots = Snapshots.for_size(model.data.n_observations)
        runs.append(ChainRun.from_checkpoint(run.chain(number), restore, plan, data, snapshots))
    return run, runs, data, settings["sampler"]


def _restore(
    model: Model,
    schedule: InTurn,
    seed: int,
    number: int,
    engine: Threads,
    arrays: dict[str, Any],
    facts: dict[str, Any],
) -> Chain:
    """A chain as it was when a checkpoint was written."""
    state = state_from_arrays(arrays, model.data, model.family)
    return Chain(model, schedule, state, seed, number, facts["warmup"], engine, facts["sweeps"])
