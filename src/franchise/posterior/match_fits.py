"""Matching of the topics of two fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.grouped import GroupedData, is_sparse
from franchise.errors import InputError
from franchise.posterior.base import check_posterior
from franchise.posterior.consensus import Consensus
from franchise.posterior.topic_similarity import ALIKE, NONE, Pairs
from franchise.posterior.topic_tables import alike_by_observations, numbers_or_missing

if TYPE_CHECKING:
    import pandas as pd

ALIKE_BY_WORDS = 0.6
"""Topics with at least this W count as the same; a topic and its union with one of the same size have 0.5."""


def match_fits(a: object, b: object) -> pd.DataFrame:
    """Return the consensus topics of two posteriors, matched one to one.

        table = match_fits(sample(corpus, seed=1), sample(corpus, seed=2))
        table["similarity"].isna().mean()          the share of topics that only one of the two has

    Two corpora are matched by the overlap of word distributions, W = sum_w min(phi_aw, phi_bw); their documents may
    differ, and the vocabulary of one must contain that of the other. Other families are matched by shared
    observations, so the data must be the same, or one must begin with the other.

    Parameters
    ----------
    a, b : Posterior
        Two fits.

    Returns
    -------
    DataFrame
        One row for each topic of `a`, from the largest, then those of `b` that match none: `topic`, `label` and
        `share` in `a`, `other_topic`, `other_label` and `other_share` in `b`, their `similarity` from 0 to 1, and
        for corpora their `words` and `other_words`.  Where there is no match, the other side is missing.

    Raises
    ------
    InputError
        If two corpora have different vocabularies, or other data are not the same.

    Examples
    --------
    >>> fr.match_fits(posterior, posterior)[["topic", "other_topic", "similarity"]]
       topic  other_topic  similarity
    0      0            0         1.0
    1      1            1         1.0
    """
    import pandas as pd

    one, other = (check_posterior(*named).consensus_topics for named in (("a", a), ("b", b)))
    match, alike = match_consensus(one, other)
    left = np.setdiff1d(np.arange(other.topic_count), match)
    first = np.concatenate([np.arange(one.topic_count), np.full(len(left), NONE)])
    second = np.concatenate([match, left])
    both = (first != NONE) & (second != NONE)
    similarity = np.full(len(first), np.nan)
    similarity[both] = alike[first[both], second[both]]
    columns = {**_columns(one, first, ""), **_columns(other, second, "other_"), "similarity": similarity}
    in_order = sorted(columns, key=lambda name: name.endswith("words"))  # words, which are long, come last
    return pd.DataFrame({name: columns[name] for name in in_order})


def match_consensus(one: Consensus, other: Consensus) -> tuple[np.ndarray, np.ndarray]:
    """Return the topic of `other` that matches each of `one`, or -1, and all similarities, (topics, topics)."""
    alike, enough = _likeness(one, other)
    return Pairs.of(alike.T).same(enough).assign(), alike


def _columns(consensus: Consensus, topics: np.ndarray, prefix: str) -> dict[str, Any]:
    rows = consensus.table().reindex(topics)  # of -1, which is not there, everything is missing
    names = ["label", "share", *(["words"] if consensus.has_words else [])]
    columns = {f"{prefix}{name}": rows[name].to_numpy() for name in names}
    return {f"{prefix}topic": numbers_or_missing(topics), **columns}


def _likeness(one: Consensus, other: Consensus) -> tuple[np.ndarray, float]:
    """Return the similarity of the topics of both, float64 (topics, topics), and the least value of a match."""
    if one.has_words and other.has_words:
        from scipy.spatial.distance import cdist

        ours, theirs = _over_same_words(one, other)
        return 1.0 - cdist(ours, theirs, "cityblock") / 2.0, ALIKE_BY_WORDS
    if not (one.has_words or other.has_words):
        if _begins_with(one.data, other.data):
            return alike_by_observations(one, other), ALIKE
        if _begins_with(other.data, one.data):
            return alike_by_observations(other, one).T, ALIKE
    raise InputError(
        "b must have the same data as a, as topics without words are matched by shared observations. Data to which "
        "observations were added by update are fine, too."
    )


def _over_same_words(one: Consensus, other: Consensus) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of the topics of both over the larger vocabulary; InputError if it lacks some."""
    large = one if one.corpus.vocabulary_size >= other.corpus.vocabulary_size else other
    number = {word: place for place, word in enumerate(large.corpus.vocabulary)}
    both = []
    for each in (one, other):
        if not all(word in number for word in each.corpus.vocabulary):
            raise InputError(
                f"b must have the vocabulary of a ({one.corpus.vocabulary_size} words), or one must contain the "
                f"other; got a different one of {other.corpus.vocabulary_size}. Read its texts with "
                "corpus.read_new_texts."
            )
        words = np.zeros((each.topic_count, len(number)))
        words[:, [number[word] for word in each.corpus.vocabulary]] = each.word_probabilities()
        both.append(words)
    return both[0], both[1]


def _begins_with(one: GroupedData, other: GroupedData) -> bool:
    """Whether one data set begins with the observations of the other, in groups of the same names."""
    ours, theirs, count = one.observations, other.observations, other.n_observations
    if one.n_observations < count or ours.shape[1:] != theirs.shape[1:]:
        return False
    groups = one.group_of_observation[:count]
    if not np.array_equal(groups, other.group_of_observation):
        return False
    if one.group_names[: other.n_groups] != other.group_names:
        return False
    unlike = ours[:count] != theirs
    return not (unlike.nnz if is_sparse(unlike) else unlike.any())
