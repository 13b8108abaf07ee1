"""What is traced, over the sweeps of the warm-up and of the draws, and what to call it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.plots.inputs import AnyPosterior

_WORDS = {
    "n_topics": "number of topics",
    "n_tables": "number of tables",
    "n_switches": "number of switches",
    "log_joint": "log joint\nprobability, nats",
    "log_likelihood_per_observation": "log likelihood\nper {observation}, nats",
    "best_log_likelihood_per_observation": "best log likelihood\nper {observation}, nats",
    "alpha": "alpha",
    "gamma": "gamma",
    "prior": "prior of words",
    "word_prior": "prior of words",
    "document_prior": "prior of documents",
    "topic_entropy": "entropy of topics,\nnats",
    "co_assignment": "pairs in the\nsame topic, share",
    "switch_probability": "probability\nof a switch",
    "seconds": "time, seconds",
}


class Traced(NamedTuple):
    """One quantity after every sweep of the warm-up and for every draw."""

    name: str
    words: str  # what to call it on an axis, with its unit
    sweeps: np.ndarray  # int64 (n,): sweeps done, from 1
    values: np.ndarray  # float64 (chains, n)
    warmup: int  # how many of the n are of the warm-up

    @property
    def draws(self) -> np.ndarray:
        """Those of the draws, (chains, draws)."""
        return self.values[:, self.warmup :]


def traced(posterior: AnyPosterior, name: str) -> Traced:
    """A quantity over sweeps; NaN in the warm-up where it was not traced then."""
    draws = np.asarray(posterior.trace[name], np.float64)
    warmup = posterior.warmup_trace.get(name)
    if warmup is None:
        warmup = np.full((len(draws), _length_of(posterior.warmup_trace)), np.nan)
    length = warmup.shape[1]
    thin = 1 if posterior.run is None else posterior.run.plan.thin
    sweeps = np.concatenate([np.arange(1, length + 1), length + thin * np.arange(1, draws.shape[1] + 1)])
    return Traced(name, in_words(posterior, name), sweeps, np.hstack([warmup, draws]), length)


def in_words(posterior: AnyPosterior, name: str) -> str:
    """What to call a quantity on an axis, with its unit."""
    observation = "word" if isinstance(posterior.data, Corpus) else "observation"
    return _WORDS.get(name, name.replace("_", " ")).format(observation=observation)


def _length_of(trace: dict[str, np.ndarray]) -> int:
    return next((values.shape[1] for values in trace.values()), 0)


def varying(posterior: AnyPosterior, names: list[str]) -> list[str]:
    """Of these names those that are traced and change, in any chain or between chains; at least the first."""
    there = [name for name in names if name in posterior.trace]
    changing = [name for name in there if np.nanmin(posterior.trace[name]) < np.nanmax(posterior.trace[name])]
    return changing or there[:1]


TELLING = ["n_topics", "log_joint", "log_likelihood_per_observation", "switch_probability", "alpha", "gamma"]
"""What to show unless something else is asked for."""
