"""What is handed to plots, checked: posteriors of the right kind, names in the trace, documents, topics.

What to call a topic in a plot: its number, and its label.

What is traced, over the sweeps of the warm-up and of the draws, and what to call it.
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
"""Names of what is traced that are worth showing."""


def check_posterior(posterior: object) -> Posterior[Any]:
    """A posterior of either model, with draws."""
    if isinstance(posterior, Posterior):
        check_draws(posterior)
        return posterior
    repair = " Give its posterior_ after fitting by Gibbs sampling: estimator.posterior_."
    raise InputError(
        f"posterior must be what franchise.sample returns, or posterior_ of an estimator; "
        f"got {describe(posterior)}.{repair if hasattr(posterior, 'fit') else ''}"
    )


def check_words(posterior: object, what: str) -> Posterior[Any]:
    """A posterior of a corpus, whose topics have words."""
    checked = check_posterior(posterior)
    if not isinstance(checked.data, Corpus):
        raise InputError(
            f"{what} shows words: posterior must be of a Corpus; got one of {type(checked.data).__name__}."
        )
    return checked


def check_names(posterior: Posterior[Any], names: object) -> list[str]:
    """Names of things that are traced: one, or several; if None, of those worth showing the ones that change."""
    if names is None:
        there = {name: posterior.trace[name] for name in _SHOWN if name in posterior.trace}
        changing = [name for name, values in there.items() if np.nanmin(values) < np.nanmax(values)]
        return changing or list(there)[:1]
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not listed:
        raise InputError("names must be at least one name of something traced; got none.")
    return [check_choice("names", name, posterior.trace) for name in listed]


def check_document(posterior: Posterior[Any], document: object) -> int:
    """The number of a document with words, given by its number or its name; InputError if there are no topics."""
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
        raise InputError(f"document {describe(document)} has no words that could be shown.")
    check_any(posterior.consensus_topics)
    return number


def check_any(consensus: Consensus) -> None:
    """InputError if draws agree on no topic at all."""
    if consensus.topic_count == 0:
        raise InputError(
            "posterior has no consensus topics that could be shown: no topic is in a quarter of the draws of any "
            "chain. Draw more, by posterior.extend(draws=...)."
        )


def check_topics(consensus: Consensus, topics: object, most: int) -> list[int]:
    """Numbers of topics: all up to a limit if None, as many as a number says, or those listed."""
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
    """The names of all consensus topics, such as "3: war, army, navy", cut to `length` characters."""
    labels = enumerate(posterior.consensus_topics.labels)
    return [
        label if label == f"topic {topic}" else shorten(f"{topic}: {label}", most) for topic, label in labels
    ]


NO_CONSENSUS, REST = "no consensus topic", "its other topics"
"""What is said of words whose topic matches none, and of all topics of a document that have no colour."""


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


def traced(posterior: Posterior[Any], name: str) -> Traced:
    """A quantity over sweeps; NaN in the warm-up where it was not traced then."""
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
    """What to call a quantity on an axis, with its unit."""
    observation = "word" if isinstance(posterior.data, Corpus) else "observation"
    return _WORDS.get(name, name.replace("_", " ")).format(observation=observation)
