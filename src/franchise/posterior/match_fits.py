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

    Two corpora with the same vocabulary are matched by the overlap of word distributions, W = sum_w min(phi_aw,
    phi_bw); their documents may differ. Other families are matched by shared observations, so the data must be the
    same.

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
    alike, enough = _likeness(one, other)
    match = Pairs.of(alike.T).same(enough).assign()  # for each topic of a, that of b
    left = np.setdiff1d(np.arange(other.topic_count), match)
    first = np.concatenate([np.arange(one.topic_count), np.full(len(left), NONE)])
    second = np.concatenate([match, left])
    both = (first != NONE) & (second != NONE)
    similarity = np.full(len(first), np.nan)
    similarity[both] = alike[first[both], second[both]]
    columns = {**_columns(one, first, ""), **_columns(other, second, "other_"), "similarity": similarity}
    in_order = sorted(columns, key=lambda name: name.endswith("words"))  # words, which are long, come last
    return pd.DataFrame({name: columns[name] for name in in_order})


def _columns(consensus: Consensus, topics: np.ndarray, prefix: str) -> dict[str, Any]:
    rows = consensus.table().reindex(topics)  # of -1, which is not there, everything is missing
    names = ["label", "share", *(["words"] if consensus.has_words else [])]
    columns = {f"{prefix}{name}": rows[name].to_numpy() for name in names}
    return {f"{prefix}topic": numbers_or_missing(topics), **columns}


def _likeness(one: Consensus, other: Consensus) -> tuple[np.ndarray, float]:
    """Return the similarity of the topics of both, float64 (topics, topics), and the least value of a match."""
    if one.has_words and other.has_words:
        from scipy.spatial.distance import cdist

        if one.corpus.vocabulary != other.corpus.vocabulary:
            raise InputError(
                f"b must have the vocabulary of a, word for word ({one.corpus.vocabulary_size} words); got a "
                f"different one of {other.corpus.vocabulary_size}. Read its texts with corpus.read_new_texts."
            )
        distances = cdist(one.word_probabilities(), other.word_probabilities(), "cityblock")
        return 1.0 - distances / 2.0, ALIKE_BY_WORDS
    if one.has_words or other.has_words or not _are_the_same(one.data, other.data):
        raise InputError(
            "b must have the same data as a, as topics without words are matched by shared observations."
        )
    return alike_by_observations(one, other), ALIKE


def _are_the_same(one: GroupedData, other: GroupedData) -> bool:
    """Whether two data sets have the same observations in the same groups."""
    if one.observations.shape != other.observations.shape or not np.array_equal(one.offsets, other.offsets):
        return False
    unlike = one.grouped_observations != other.grouped_observations
    return not (unlike.nnz if is_sparse(unlike) else unlike.any())
