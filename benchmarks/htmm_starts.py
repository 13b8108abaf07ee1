"""Chains of the nonparametric HTMM from few and from many topics, with and without table moves over runs."""

from __future__ import annotations

import time
from unittest import mock

import numpy as np

import franchise as fr
from franchise.diagnostics.convergence import summarise
from franchise.htmm import gibbs_hdp
from franchise.htmm.htmm_chain import HTMMChain
from franchise.htmm.model import InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import SentenceData
from franchise.kernels.random.streams import Streams
from franchise.moves import TableGibbs

STARTS = (1, 200)  # topics at random that chains start with
SHOWN = (5, 10, 20, 50, 100, 200)  # sweeps after which topics are printed, beside the last
JUDGED = ("n_topics", "log_joint", "topic_entropy", "co_assignment")

Traces = dict[str, np.ndarray]  # (chains, sweeps)


def compare_starts(sweeps: int) -> None:
    """Compare chains on text drawn from the model, and a fifth as long ones on the State of the Union addresses."""
    for name, prior in (("similar topics", 0.5), ("distinct topics", 0.1)):
        prepared, topics = simulate(prior)
        compare(f"simulated, {topics} {name}", prepared, prior, sweeps)
    compare("addresses", Prepared.of(fr.datasets.load("sotu", sentences="english")), 0.1, sweeps // 5)


def compare(name: str, prepared: Prepared, prior: float, sweeps: int) -> None:
    """Print chains without and with table moves."""
    print(f"\n{name}: {prepared.n_words:,} words, {prepared.n_sentences:,} sentences, {sweeps} sweeps")
    model = InfiniteModel(prepared, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0), prior, (1.0, 1.0))
    usual = gibbs_hdp.REGROUPING
    without = tuple(move for move in usual if not isinstance(move, TableGibbs))
    for title, moves in (("without table moves", without), ("with table moves", usual)):
        with mock.patch.object(gibbs_hdp, "REGROUPING", moves):
            show(title, *run_chains(model, sweeps))


def simulate(
    prior: float, documents: int = 100, sentences: int = 200, length: int = 5
) -> tuple[Prepared, int]:
    """Return data drawn from the model, and the number of topics. 30 % of the sentences switch."""
    rng = np.random.default_rng(1)
    switches = rng.random((documents, sentences)) < 0.3
    switches[:, 0] = True
    runs = switches.sum(axis=1)
    labels = fr.synthetic.from_hdp(documents, runs, 1, alpha=5.0, gamma=20.0, seed=1).labels
    phi = rng.dirichlet(np.full(2000, prior), int(labels.max()) + 1)
    topics = labels[np.cumsum(switches) - 1]
    drawn = np.concatenate([rng.choice(2000, size=length, p=phi[topic]) for topic in topics])
    ends = np.arange(documents * sentences + 1) * length
    data = SentenceData(drawn.astype(np.int32), ends, np.arange(documents + 1) * sentences)
    return Prepared(data, 2000), int(labels.max()) + 1


def run_chains(model: InfiniteModel, sweeps: int) -> tuple[Traces, np.ndarray]:
    """Return the traces of chains from all starts, and their processor time in seconds per sweep."""
    engine, rows, seconds = fr.engines.Threads(1), [], []
    for number, start in enumerate(STARTS):
        state = gibbs_hdp.start_at_random(model, start, Streams(0, number, 0, 0), engine)
        chain = HTMMChain(model, state, 0, number, 0, engine)
        began = time.process_time()
        rows.append([chain.sweep() for _ in range(sweeps)])
        seconds.append((time.process_time() - began) / sweeps)
    traces = {name: np.array([[row[name] for row in chain] for chain in rows]) for name in JUDGED}
    return traces, np.array(seconds)


def show(title: str, traces: Traces, seconds: np.ndarray) -> None:
    """Print topics by sweep for every start, then R-hat and effective draws of the second half of the chains."""
    topics = traces["n_topics"].astype(int)
    sweeps = [sweep for sweep in SHOWN if sweep < topics.shape[1]] + [topics.shape[1]]
    print(f"  {title}; topics after {', '.join(map(str, sweeps))} sweeps")
    for start, chain, log_joint, cost in zip(STARTS, topics, traces["log_joint"], seconds, strict=True):
        counts = ", ".join(str(chain[sweep - 1]) for sweep in sweeps)
        print(
            f"    from {start:3}: {counts}; last log joint {log_joint[-1]:,.0f}; {1e3 * cost:.0f} ms a sweep"
        )
    half = {name: values[:, values.shape[1] // 2 :] for name, values in traces.items()}
    for name, row in summarise(half).iterrows():
        print(
            f"    second half: {name} {row['mean']:,.2f}, R-hat {row['r_hat']:.2f}, ESS {row['ess_bulk']:.0f}",
            flush=True,
        )
