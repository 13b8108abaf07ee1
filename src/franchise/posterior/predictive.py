"""New groups given one draw: predictions of their observations, and their topics.

All quantities are posterior means given the draw's labels and tables
(docs/theory/held-out.md#sec-predictive-quantities):

    f_k(x)                                            predictive density of an observation in topic k;
                                                      for words phi_kw = (n_kw + eta_w) / (n_k + eta)
    beta   = (m_1, ..., m_K, gamma) / (m + gamma)     the topics' weights, the last that of all unseen ones,
                                                      whose observations have the prior predictive f_new(x)

The weights of a new group's topics, E[pi_j | x_j], are computed with the topics fixed: exactly up to eight
observations, by Gibbs sampling for more (docs/theory/held-out.md#sec-new-groups).  Two independent estimates show
the Monte Carlo error.  Random numbers are named by the group's own observations, so a result does not depend on
other groups.

A family that is not conjugate has no f_k in closed form: the densities are averaged over parameters that are drawn
given the topic's observations.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Cells, Corpus
from franchise.data.grouped import GroupedData, counted, take_slices
from franchise.data.groups import Groups
from franchise.data.text_options import Tokenizer
from franchise.errors import InputError, warn_caller
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.predictive import fill_document_weights, fill_log_densities, fill_token_weights
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.recount import recount
from franchise.model.hdp_model import Model, frozen
from franchise.posterior.new_groups import Above
from franchise.running.kept_draws import HDPDraw
from franchise.validation import describe

ESTIMATES = 2
"""Independent estimates of the weights of each new group under each draw."""

_PARAMETER_DRAWS = 50
"""Draws of the parameters that densities are averaged over, where the family is not conjugate."""


class Occurrences(NamedTuple):
    """The observations of new groups; equal ones may be listed once, with their number."""

    offsets: np.ndarray  # int64 (J + 1,): group j has the entries from offsets[j] to offsets[j + 1]
    rows: np.ndarray  # int64 (entries,): rows of `observations`
    counts: np.ndarray  # int64 (entries,)
    observations: Any  # as the family's `prepare` gives them
    above: Above | None = None  # the known nodes above the groups, if there is a tree

    @property
    def n_groups(self) -> int:
        """Number of groups, those without observations included."""
        return len(self.offsets) - 1

    @classmethod
    def of(cls, data: GroupedData, family: Family) -> Occurrences:
        """Return new data in the form of the family: words by cells, other observations one by one."""
        if isinstance(data, Corpus) and Ability.IS_CATEGORICAL in family.abilities:
            return cls.of_words(data.cells, family)
        return cls.of_groups(data, family)

    @classmethod
    def of_words(cls, cells: Cells, family: Family, words: np.ndarray | None = None) -> Occurrences:
        """The words of documents, for a family of categories: each of `words`, ascending, is one observation.

        These must be all words that occur, and may be more [default: those that occur].
        """
        words = np.unique(cells.word) if words is None else words
        rows, counts = np.searchsorted(words, cells.word), cells.count.astype(np.int64)
        return cls(cells.offsets.copy(), rows, counts, prepare(family, words))

    @classmethod
    def of_groups(cls, data: GroupedData, family: Family) -> Occurrences:
        """Return the observations of groups, each by itself, in grouped order."""
        rows = np.arange(data.n_observations)
        return cls(
            data.offsets.copy(),
            rows,
            np.ones(len(rows), np.int64),
            prepare(family, data.grouped_observations),
        )

    def only(self, kept: np.ndarray) -> Occurrences:
        """Return the same with the entries flagged in `kept` only."""
        before = np.append(0, np.cumsum(kept))
        return self._replace(offsets=before[self.offsets], rows=self.rows[kept], counts=self.counts[kept])

    def by_parent(self, draw: DrawnTopics) -> Iterator[BelowParent]:
        """Yield the groups below each known node of a tree, with the topics as these see them."""
        if self.above is None:
            yield BelowParent(np.arange(self.n_groups), np.arange(len(self.rows)), self, draw)
            return
        for number, kind in enumerate(self.above.kinds):
            groups = np.flatnonzero(self.above.kind == number)
            offsets, entries = take_slices(self.offsets, groups)
            own = Occurrences(offsets, self.rows[entries], self.counts[entries], self.observations)
            yield BelowParent(groups, entries, own, draw._replace(prior=kind.prior(draw.snapshot)))


class BelowParent(NamedTuple):
    """New groups below one node."""

    groups: np.ndarray  # int64: their numbers
    entries: np.ndarray  # int64: the entries of their observations
    observed: Occurrences  # these alone
    topics: DrawnTopics  # with the prior of these groups


class DrawnTopics(NamedTuple):
    """The topics of one draw and, as the last, all unseen ones together, with densities of some observations."""

    snapshot: HDPDraw
    densities: np.ndarray  # float64 (observations, K + 1): f_k(x), the largest of each row divided out
    log_scales: np.ndarray  # float64 (observations,): the logs of what was divided out
    prior: np.ndarray  # float64 (K + 1,): alpha beta_k


def prepare(family: Family, observations: Any) -> Any:
    """Return observations in the form that kernels read."""
    return frozen(family.prepare(observations))


def drawn_topics(model: Model, snapshot: HDPDraw, observations: object, seed: int = 0) -> DrawnTopics:
    """The topics of a draw of this model, for prepared observations; `seed` is for families not conjugate."""
    logs, prior = log_densities(model, snapshot, observations, seed), prior_weights(model, snapshot)
    logs[:, prior == 0.0] = -np.inf
    scales = logs.max(axis=1)
    logs -= scales[:, None]
    return DrawnTopics(snapshot, np.exp(logs, out=logs), scales, prior)


def log_densities(model: Model, snapshot: HDPDraw, observations: object, seed: int = 0) -> np.ndarray:
    """Return log f_k(x) of prepared observations, float64 (observations, K + 1); the last column is f_new."""
    family, statistics = model.family, statistics_of(model, snapshot)
    logs = np.empty((family.count(observations), snapshot.n_topics + 1))
    if Ability.CONJUGATE in family.abilities:
        fill_log_densities(statistics, observations, logs)
        return logs
    rng = np.random.Generator(np.random.Philox(seed))
    total = np.full_like(logs, -np.inf)
    for _ in range(_PARAMETER_DRAWS):
        fill_log_densities(family.draw_parameters(statistics, logs.shape[1], rng), observations, logs)
        np.logaddexp(total, logs, out=total)
    return total - np.log(_PARAMETER_DRAWS)


def statistics_of(model: Model, snapshot: HDPDraw) -> Any:
    """Return the statistics of the K topics of a draw under its sampled prior, followed by an empty topic."""
    family = model.family
    statistics = family.empty_statistics(snapshot.n_topics + 1)
    if family.learned_prior is not None:
        family.set_prior_value(statistics, snapshot.prior)
    sizes = np.zeros(snapshot.n_topics + 1, np.int64)
    recount(statistics, model.memory_mapped.data.observations, snapshot.labels.astype(np.int32), sizes)
    return statistics


def fitted_weights(draw: DrawnTopics, observed: Occurrences) -> np.ndarray:
    """Return E[pi_j | x_j] of new groups, float64 (J, K + 1); the prior mean for a group without observations."""
    return np.asarray(estimated_weights(draw, observed).mean(axis=0))


def estimated_weights(draw: DrawnTopics, observed: Occurrences) -> np.ndarray:
    """Return independent estimates of E[pi_j | x_j], float64 (ESTIMATES, J, K + 1); equal where they are exact."""
    weights = np.empty((ESTIMATES, observed.n_groups, len(draw.prior)))
    for groups, _, own, topics in observed.by_parent(draw):
        entries, found = (
            (own.offsets, own.rows, own.counts),
            np.empty((ESTIMATES, len(groups), len(topics.prior))),
        )
        fill_document_weights(*entries, topics.densities, topics.prior, _rng_states(topics, own), found)
        weights[:, groups] = found
    return weights


def observation_weights(draw: DrawnTopics, observed: Occurrences) -> np.ndarray:
    """Return p(z_i = k | x_j) of every observation of new groups, float64 (N, K + 1), in grouped order."""
    weights = np.empty((len(observed.rows), len(draw.prior)))
    for _, entries, own, topics in observed.by_parent(draw):
        found, states = np.empty((len(entries), len(topics.prior))), _rng_states(topics, own)[0]
        fill_token_weights(own.offsets, own.rows, topics.densities, topics.prior, states, found)
        weights[entries] = found
    return weights


def _rng_states(draw: DrawnTopics, observed: Occurrences) -> np.ndarray:
    """Return states of generators, uint64 (ESTIMATES, J, 4), named by the draw and the group's observations."""
    streams = Streams(0, 0, 0, STREAMS.new_documents)
    states = np.empty((ESTIMATES, observed.n_groups, 4), np.uint64)
    scales, name_of_draw = draw.log_scales[observed.rows], zlib.crc32(draw.prior.tobytes())
    for group in range(observed.n_groups):
        own = slice(observed.offsets[group], observed.offsets[group + 1])
        name = zlib.crc32(scales[own].tobytes(), zlib.crc32(observed.counts[own].tobytes(), name_of_draw))
        states[:, group] = streams.rng_states(name, 1, len(states))[0]
    return states


def prior_weights(model: Model, draw: HDPDraw) -> np.ndarray:
    """Return alpha E[beta | m], float64 (K + 1,); the last is for unseen topics, 0 if there can be none.

    E[beta | m] = (m_1, ..., m_K, gamma) / (m + gamma); in the finite model every topic has gamma / L more. In a
    tree of groups these are the weights of the root; `Occurrences.by_parent` has those of new groups.
    """
    if draw.node_weights is not None:
        return draw.alpha * np.asarray(draw.node_weights[0])
    of_seen, of_unseen = 0.0, draw.gamma
    if model.truncation is not None:
        of_seen = draw.gamma / model.truncation
        of_unseen = of_seen * (model.truncation - draw.n_topics)
    weights = np.append(draw.tables_per_topic + of_seen, of_unseen)
    return draw.alpha * (weights / (draw.tables_per_topic.sum() + draw.gamma))


def check_like(name: str, new: object, known: GroupedData) -> None:
    """Raise InputError if new data do not fit the data that were sampled; `name` is the argument's.

    Any Corpus with the same vocabulary fits a corpus, whether its words are in memory or in shards.
    """
    kind = Corpus if isinstance(known, Corpus) else type(known)
    if not isinstance(new, kind):
        raise InputError(f"{name} must be {kind.__name__}, like the training data; got {describe(new)}.")
    columns = [data.columns for data in (known, new) if isinstance(data, Groups) and data.columns is not None]
    if len(columns) == 2 and columns[0] != columns[1]:
        raise InputError(
            f"{name} must have the columns of the training data, {columns[0]}; got {columns[1]}. Select them in "
            "this order."
        )
    if isinstance(known, Corpus) and isinstance(new, Corpus) and new.vocabulary != known.vocabulary:
        raise InputError(
            f"{name} must have the vocabulary of the training corpus, word for word "
            f"({known.vocabulary_size} words); got a different one of {new.vocabulary_size}. Read new texts "
            "with corpus.read_new_texts(texts), files with franchise.read_corpus(path, like=corpus)."
        )


def as_new_data(
    new: object,
    known: GroupedData,
    names: Iterable[Any] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Any:
    """Return new texts as a corpus over the known vocabulary, read like the known texts; other data as they are."""
    if isinstance(new, GroupedData) or not isinstance(new, Iterable):
        if names is not None or tokenizer is not None:
            raise InputError(
                "names and tokenizer are for texts; got them with other data. Remove them, or give them when you "
                "create the data."
            )
        return new
    if isinstance(new, (str, bytes)):
        raise InputError("data must be a list of texts; got one text. Pass a list: [text].")
    if not isinstance(known, Corpus):
        raise InputError(
            f"data must be {type(known).__name__}, like the training data; got {describe(new)}. Use "
            "franchise.Groups(observations, groups), or franchise.read_groups(path, group=...)."
        )
    if known.text_options is None:
        raise InputError(
            "data must be a Corpus, as this model was fitted to words or counts: how texts become its words is not "
            "known. Use posterior.infer(posterior.data.read_new_texts(texts)), which counts the words of its "
            "vocabulary, or franchise.Corpus.from_tokens(lists, vocabulary=posterior.data.vocabulary)."
        )
    return known.read_new_texts(new, names=names, tokenizer=tokenizer)


def warn_if_empty(new: GroupedData) -> None:
    """Warn of new documents without observations, whose shares are the prior mean."""
    empty = np.flatnonzero(new.group_sizes == 0)
    if len(empty):
        is_text = isinstance(new, Corpus)
        without = f"have no {'word of the vocabulary' if is_text else 'observation'}"
        warn_caller(
            f"{len(empty)} of {counted(new.n_groups, 'document' if is_text else 'group')} {without}, the first is "
            f"{describe(new.group_names[empty[0]])}: the shares there are those expected of a new one before "
            "anything is read."
        )
