"""Checks of the arguments of plots, names of topics in plots, and traced quantities with their names.

A topic in a plot has its number and its label as a name.  Traces run over the sweeps of warm-up and draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.plots.style import shorten
from franchise.posterior.base import Posterior
from franchise.posterior.consensus import Consensus
from franchise.posterior.draw import check_draws
from franchise.validation import check_choice, check_integer, describe

_SHOWN = ["n_topics", "log_joint", "log_likelihood_per_observation", "switch_probability", "alpha", "gamma"]
"""Traced quantities that plots show by default."""


def check_posterior(posterior: object) -> Posterior[Any]:
    """Return a posterior of either model; InputError if it has no draws."""
    if isinstance(posterior, Posterior):
        check_draws(posterior)
        return posterior
    repair = " Fit it by Gibbs sampling, and use estimator.posterior_."
    raise InputError(
        f"posterior must be what franchise.sample returns, or posterior_ of an estimator; "
        f"got {describe(posterior)}.{repair if hasattr(posterior, 'fit') else ''}"
    )


def check_words(posterior: object, what: str) -> Posterior[Any]:
    """Return a posterior of a corpus; InputError if its topics have no words."""
    checked = check_posterior(posterior)
    if not isinstance(checked.data, Corpus):
        raise InputError(
            f"posterior must be fitted to a Corpus, as {what} shows words; got {type(checked.data).__name__}."
        )
    return checked


def check_names(posterior: Posterior[Any], names: object) -> list[str]:
    """Return names of traced quantities: the given ones, or by default those that vary."""
    if names is None:
        there = {name: posterior.trace[name] for name in _SHOWN if name in posterior.trace}
        changing = [name for name, values in there.items() if np.nanmin(values) < np.nanmax(values)]
        return changing or list(there)[:1]
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not listed:
        raise InputError("names must contain at least one name in posterior.trace; got none.")
    return [check_choice("names", name, posterior.trace) for name in listed]


def check_document(posterior: Posterior[Any], document: object) -> int:
    """Return the number of a document with words, given its number or name; InputError if there are no topics."""
    data = posterior.data
    if isinstance(document, str):
        if document not in data.group_names:
            raise InputError(
                f"document must be a number from 0 to {data.n_groups - 1} or a name in data.group_names; "
                f"got {describe(document)}."
            )
        number = data.group_names.index(document)
    else:
        number = check_integer("document", document, minimum=0, maximum=data.n_groups - 1)
    if data.group_sizes[number] == 0:
        raise InputError(f"document {describe(document)} has no words to show. Choose another.")
    check_any(posterior.consensus_topics)
    return number


def check_any(consensus: Consensus) -> None:
    """Raise InputError if there are no consensus topics."""
    if consensus.topic_count == 0:
        raise InputError(
            "posterior has no consensus topics to show: no topic is in a quarter of the draws of any chain. "
            "Draw more with posterior.extend(draws=...)."
        )


def check_topics(consensus: Consensus, topics: object, most: int) -> list[int]:
    """Return numbers of topics: all up to a limit if None, the largest if given a number, or the given ones."""
    check_any(consensus)
    count = consensus.topic_count
    if topics is None:
        return list(range(min(most, count)))
    if not isinstance(topics, Iterable) or isinstance(topics, str):
        return list(range(min(check_integer("topics", topics, minimum=1), count)))
    listed = [check_integer("topics", topic, minimum=0, maximum=count - 1) for topic in topics]
    if not listed:
        raise InputError(f"topics must be a number of topics, or numbers from 0 to {count - 1}; got none.")
    return listed


def names_of(posterior: Posterior[Any], most: int = 32) -> list[str]:
    """Return the names of all consensus topics, such as "3: war, army, navy", cut to `most` characters."""
    labels = enumerate(posterior.consensus_topics.labels)
    return [
        label if label == f"topic {topic}" else shorten(f"{topic}: {label}", most) for topic, label in labels
    ]


NO_CONSENSUS, REST = "no consensus topic", "other topics"
"""Names of no topic, and of the topics of a document that have no colour."""


_WORDS = {
    "n_topics": "number of topics",
    "n_tables": "number of tables",
    "n_switches": "number of switches",
    "log_joint": "log joint\nprobability, nats",
    "log_likelihood_per_observation": "log likelihood\nper {observation}, nats",
    "best_log_likelihood_per_observation": "best log likelihood\nper {observation}, nats",
    "alpha": "alpha",
    "gamma": "gamma",
    "prior": "topic-word prior",
    "word_prior": "topic-word prior",
    "document_prior": "document-topic prior",
    "topic_entropy": "entropy of topics,\nnats",
    "co_assignment": "share of pairs\nin the same topic",
    "switch_probability": "probability\nof a switch",
    "seconds": "time, seconds",
}


class Traced(NamedTuple):
    """One quantity after every sweep of the warm-up and for every draw."""

    name: str
    words: str  # name on an axis, with its unit
    sweeps: np.ndarray  # int64 (n,): sweeps done, from 1
    values: np.ndarray  # float64 (chains, n)
    warmup: int  # how many of the n sweeps are warm-up

    @property
    def draws(self) -> np.ndarray:
        """Return the values of draws, (chains, draws)."""
        return self.values[:, self.warmup :]


def traced(posterior: Posterior[Any], name: str) -> Traced:
    """Return a quantity over sweeps; NaN in the warm-up if it was not traced then."""
    draws = np.asarray(posterior.trace[name], np.float64)
    warmup = posterior.warmup_trace.get(name)
    if warmup is None:
        others = next(iter(posterior.warmup_trace.values()), np.empty((len(draws), 0)))
        warmup = np.full(others.shape, np.nan)
    length = warmup.shape[1]
    thin = 1 if posterior.run is None else posterior.run.plan.thin
    sweeps = np.concatenate([np.arange(1, length + 1), length + thin * np.arange(1, draws.shape[1] + 1)])
    return Traced(name, in_words(posterior, name), sweeps, np.hstack([warmup, draws]), length)


def in_words(posterior: Posterior[Any], name: str) -> str:
    """Return the name of a quantity on an axis, with its unit."""
    observation = "word" if isinstance(posterior.data, Corpus) else "observation"
    return _WORDS.get(name, name.replace("_", " ")).format(observation=observation)
