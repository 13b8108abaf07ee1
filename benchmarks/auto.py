"""What `sampler="auto"` rests on: every sampler from several starts, on data of many kinds, for the same time.

    python benchmarks/auto.py [--data FOLDER] [--only NAME ...] [--samplers NAME ...] [--seconds S]

A chain runs on one thread, for some seconds of that thread's own time, so that other work on the machine does not
count. One row for each sampler and start: topics and log joint in the last quarter of the time, the log density of
held-out observations in nats (a tenth of the groups, one half of each given the other), sweeps, and effective draws
per second of the log joint in the second half. The last lines of a table say how far the starts disagree (R-hat of
the log joint over the starts of one sampler), and what "auto" chooses and why.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from corpora import load_corpus

import franchise as fr
from franchise.data.splits import hold_out_documents
from franchise.diagnostics.convergence import summarise
from franchise.model.hdp_model import Model
from franchise.parallel.threads import Threads
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.running.chain import Chain
from franchise.running.starts import make_start, start_streams
from franchise.running.subsample_start import start_from_sample
from franchise.samplers.default_starts import FromSample
from franchise.samplers.registry import SAMPLERS as NAMED_SAMPLERS
from franchise.samplers.registry import choose, resolve
from franchise.sampling import make_model

WARMUP = 500
SNAPSHOTS = 8
SAMPLERS = ("direct", "parallel", "split-merge", "crf", "slice")
STARTS: tuple[Any, ...] = (None, 1, "sequential")


@dataclass(frozen=True)
class Problem:
    """Data, and how long a chain on them runs."""

    name: str
    data: Any
    family: Any
    seconds: float
    held_out: Any


def text(name: str, corpus: fr.Corpus, seconds: float) -> Problem:
    """A corpus, a tenth of it held out."""
    train, held_out = hold_out_documents(corpus)
    return Problem(name, train, fr.Categorical(train.vocabulary_size, prior=0.1), seconds, held_out)


def grouped(name: str, family: Any, observations: np.ndarray, labels: Any, seconds: float) -> Problem:
    """Groups, a tenth of them (at least one) held out."""
    numbers = np.unique(labels, return_inverse=True)[1]
    held = numbers % 10 == 9
    parts = [fr.Groups(observations[chosen], numbers[chosen]) for chosen in (~held, held)]
    return Problem(name, parts[0], family, seconds, parts[1])


def planted(name: str, family: Any, draw: Callable[..., np.ndarray], groups: int, size: int) -> Problem:
    """Groups that mix ten planted topics; `draw` makes the observations of a list of topics."""
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.full(10, 0.5), groups)
    topics = np.concatenate([rng.choice(10, size, p=row) for row in weights])
    return grouped(name, family, draw(rng, topics), np.repeat(np.arange(groups), size), 10.0)


def ants() -> Problem:
    table = fr.datasets.table("ants")
    labels = (table["study"] + table["condition"]).to_numpy()
    return grouped("ants", fr.Poisson(), table["count"].to_numpy(), labels, 4.0)


def markers(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return (rng.random((len(topics), 20)) < rng.beta(0.5, 0.5, (10, 20))[topics]).astype(int)


def points(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return rng.normal(0.0, 4.0, (10, 2))[topics] + rng.normal(0.0, 1.0, (len(topics), 2))


def numbers(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return rng.poisson(rng.gamma(2.0, 10.0, 10)[topics])


def profiles(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return rng.multinomial(20, rng.dirichlet(np.full(30, 0.3), 10)[topics])


def mutations() -> Problem:
    """Counts in the thousands: 100 groups, 96 categories, 10 planted topics."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(96, 0.1), 10)
    weights = rng.dirichlet(np.full(10, 0.5), 100)
    counts = np.array([rng.multinomial(3000, row @ topics) for row in weights])
    return text("mutations", fr.Corpus.from_matrix(counts), 20.0)


PROBLEMS: dict[str, Callable[[str | None], Problem]] = {
    "ants": lambda _: ants(),
    "bernoulli": lambda _: planted("bernoulli", fr.Bernoulli(20), markers, 20, 50),
    "gaussian": lambda _: planted("gaussian", fr.GaussianFull(2, mean_count=0.05), points, 20, 100),
    "poisson": lambda _: planted("poisson", fr.Poisson(2.0, 0.1), numbers, 50, 100),
    "counts": lambda _: planted("counts", fr.Multinomial(30, prior=0.3), profiles, 20, 100),
    "mutations": lambda _: mutations(),
    "addresses": lambda _: text("addresses", fr.datasets.load("sotu"), 40.0),
    "paragraphs": lambda _: text("paragraphs", fr.datasets.load("sotu", unit="paragraph"), 60.0),
    "ap": lambda folder: text("ap", load_corpus(folder)[1], 60.0),
}


def begin(problem: Problem, sampler: str, start: Any, seed: int) -> Chain:
    """A chain before its first sweep."""
    model = make_model(problem.data, problem.family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    resolved = resolve(sampler, model)
    engine, streams = Threads(1), start_streams(seed, 0)
    chosen = resolved.start(seed) if start is None else start
    if isinstance(chosen, FromSample):
        state: Any = start_from_sample(model, chosen, streams, engine)
    else:
        state = make_start(chosen, model, resolved.view, problem.data.to_grouped_order, streams)
    return Chain(model, resolved.schedule, state, seed, 0, WARMUP, engine)


def follow(problem: Problem, sampler: str, start: Any, seconds: float, seed: int = 0) -> dict[str, Any]:
    """Run a chain for its time; what is said of it, and its trace."""
    started = time.thread_time()
    chain = begin(problem, sampler, start, seed)
    rows, snapshots, clock = [], [], time.thread_time() - started
    wanted = list(np.linspace(0.5, 1.0, SNAPSHOTS, endpoint=False) * seconds)
    while not rows or clock < seconds:
        started = time.thread_time()
        values = chain.sweep()
        clock += time.thread_time() - started
        rows.append((clock, values["n_topics"], values["log_joint"]))
        if wanted and clock > wanted[0]:
            wanted = [moment for moment in wanted if moment > clock]
            snapshots.append(chain.snapshot(len(snapshots), chain.labels()))
    clocks, topics, joint = np.array(rows).T
    late = clocks > 0.75 * seconds
    second = clocks > 0.5 * seconds
    ess = summarise({"joint": joint[second][None, :]})["ess_bulk"].iloc[0]
    return {
        "sampler": sampler,
        "start": "usual" if start is None else start,
        "topics": topics[late].mean() if late.any() else topics[-1],
        "log joint": joint[late].mean() if late.any() else joint[-1],
        "held out": score(problem, chain.model, chain, snapshots),
        "sweeps": len(rows),
        "draws/s": ess / (0.5 * seconds),
        "trace": np.interp(np.linspace(0.5, 1.0, 200) * seconds, clocks, joint),
    }


def score(problem: Problem, model: Model, chain: Chain, snapshots: list[Any]) -> float:
    """Log density of a held-out observation, given the other half of its group, by some late draws together."""
    posterior = HDPPosterior(
        trace={},
        warmup_trace={},
        labels=None,
        snapshots=[snapshots or [chain.snapshot(0, chain.labels())]],
        states=[chain.state],
        data=problem.data,
        model=model,
        sampler="",
        seed=0,
    )
    if isinstance(problem.data, fr.Corpus):
        return fr.diagnostics.document_completion(posterior, problem.held_out).log_probability_per_word
    return fr.diagnostics.group_completion(posterior, problem.held_out)


def compile_moves(problem: Problem, sampler: str) -> None:
    """Run every move of a sampler, those rarely due included, so that no chain's clock counts compilation."""
    fr.sample(problem.data, problem.family, sampler=sampler, draws=48, warmup=16, chains=1, progress=False)


def report(problem: Problem, samplers: list[str], seconds: float) -> None:
    data = problem.data
    print(f"\n{problem.name}: {data!r}; {type(problem.family).__name__}; {seconds:.0f} s a chain", flush=True)
    rows = []
    for sampler in samplers:
        if (
            fr.Ability.CONJUGATE not in problem.family.abilities
            and "non_conjugate" not in NAMED_SAMPLERS[sampler].properties
        ):
            continue
        compile_moves(problem, sampler)
        rows += [follow(problem, sampler, start, seconds) for start in STARTS]
    table = pd.DataFrame(rows)
    shown = table.drop(columns="trace").assign(**{"log joint": table["log joint"] - table["log joint"].max()})
    print(shown.round({"topics": 1, "log joint": 1, "held out": 4, "draws/s": 2}).to_string(index=False))
    for sampler, chains in table.groupby("sampler", sort=False):
        r_hat = summarise({"joint": np.stack(list(chains["trace"]))})["r_hat"].iloc[0]
        print(f"  {sampler}: R-hat of the log joint over starts {r_hat:.2f}")
    model = make_model(problem.data, problem.family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    print(f"  {choose(model).message()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the AP corpus")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--samplers", nargs="+", choices=NAMED_SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--seconds", type=float, help="for each chain, in place of what suits the data")
    asked = parser.parse_args()
    print("log joint: less the highest in the table")
    for name in asked.only:
        if name == "ap" and asked.data is None:
            print("\nap: left out; it needs --data FOLDER")
            continue
        problem = PROBLEMS[name](asked.data)
        report(problem, asked.samplers, asked.seconds or problem.seconds)


if __name__ == "__main__":
    main()
