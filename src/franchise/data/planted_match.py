"""Which planted topics were found: the truth beside a corpus of `write_planted`, and a matching of topics.

match = fr.synthetic.planted_match(topics, "nytimes/")               topics (K, V) that a sampler has found
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.planted import TRUTH
from franchise.data.readers.source import check_path
from franchise.data.sharded.sharded_corpus import ShardedCorpus
from franchise.errors import InputError
from franchise.validation import PathLike, check_choice, check_finite, describe

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

_DISTANCES: dict[str, tuple[Any, float]] = {"total-variation": ("cityblock", 0.5), "cosine": ("cosine", 1.0)}
"""scipy's metric for each distance, and its factor."""


@dataclass(frozen=True, eq=False, repr=False)
class Planted:
    """A corpus together with the topics that it was drawn from.

    Parameters
    ----------
    data : Corpus
        The documents.
    labels : int32 array (N,)
        The true topic of each observation, in input order.
    topics : array (K, V)
        The true word probabilities of each topic.
    weights : array (documents, K) or None
        The true topic weights of each document; None where they were integrated out.

    Examples
    --------
    >>> planted = fr.synthetic.bars(documents=10, size=3)
    >>> planted.data.n_documents, planted.labels.shape
    (10, (1000,))
    """

    data: Corpus
    labels: np.ndarray
    """int32 (N,): the true topic of each observation, in input order"""
    topics: np.ndarray
    """(K, V): the true word probabilities of each topic"""
    weights: np.ndarray | None
    """(documents, K): the true topic weights of each document; None where they were integrated out"""

    def __repr__(self) -> str:
        return f"Planted({self.data!r}, {len(self.topics)} topics)"


class Truth(NamedTuple):
    """The planted topics."""

    topics: np.ndarray
    """float32 (K, V): word probabilities"""
    weights: np.ndarray
    """(K,): the expected proportion of tokens of each topic"""


def read_truth(folder: PathLike | ShardedCorpus) -> Truth:
    """Return the planted topics of a corpus that `write_planted` has written.

    Parameters
    ----------
    folder : path or ShardedCorpus
        Its folder, or the corpus.

    Returns
    -------
    Truth
        Word probabilities of the topics, and the expected proportion of tokens of each.

    Raises
    ------
    InputError
        If the folder has no file of topics, or the file is damaged.

    Examples
    --------
    >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
    >>> fr.synthetic.read_truth(shards).topics.shape
    (3, 100)
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    place = folder.folder if isinstance(folder, ShardedCorpus) else check_path(folder, "folder")
    path = place / TRUTH
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file. Use a folder that synthetic.write_planted has written."
        )
    try:
        arrays = load_file(path)
        return Truth(arrays["topics"], arrays["weights"])
    except (SafetensorError, KeyError, OSError, ValueError) as error:
        raise InputError(f"{path}: the file is damaged ({error}). Write the corpus again.") from error


AnyTruth: TypeAlias = "PathLike | ShardedCorpus | Truth | Planted | ArrayLike"


def planted_match(found: ArrayLike, truth: AnyTruth, distance: str = "total-variation") -> pd.DataFrame:
    """Match each planted topic to one found topic, so that the sum of distances is smallest.

    The Hungarian method (scipy's `linear_sum_assignment`) with one of two distances:

        total variation   1/2 sum_w |p_w - q_w|, from 0 (the same) to 1 (no word in common)
        cosine            1 - p.q / (|p| |q|), from 0 to 1

    Parameters
    ----------
    found : array (topics, V)
        Word probabilities of the topics found, or counts of their tokens; rows are scaled to sum to 1.
    truth : folder, ShardedCorpus, Truth, Planted or array (K, V)
        The planted topics.
    distance : "total-variation" or "cosine", default "total-variation"
        The distance between topics.

    Returns
    -------
    DataFrame
        One row per planted topic, by number: `found`, the topic matched to it, or -1 if there are too few;
        `distance`, 1 if none is matched; `share`, the expected proportion of tokens of the planted topic (NaN
        if only an array was given).

    Raises
    ------
    InputError
        If `found` and `truth` have different numbers of words, or an argument has another form.

    Examples
    --------
    >>> from franchise.data.synthetic import planted_match
    >>> topics, truth = np.array([[0, 0, 6], [2, 2, 0]]), np.array([[0.5, 0.5, 0], [0, 0, 1.0]])
    >>> planted_match(topics, truth)["found"].tolist()
    [1, 0]
    """
    import pandas as pd
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    metric, factor = _DISTANCES[check_choice("distance", distance, _DISTANCES)]
    planted, shares = _topics_and_shares(truth)
    rows = _check_topics("found", found)
    if rows.shape[1] != planted.shape[1]:
        raise InputError(
            f"found must have {planted.shape[1]} columns, one per word; got {rows.shape[1]} columns."
        )
    distances = factor * cdist(planted, rows, metric)
    matched, partner = linear_sum_assignment(distances)
    table = pd.DataFrame({"found": -1, "distance": 1.0, "share": shares}, index=range(len(planted)))
    table.index.name = "planted"
    table.loc[matched, "found"] = partner
    table.loc[matched, "distance"] = distances[matched, partner].clip(0.0, 1.0)
    return table


def _topics_and_shares(truth: AnyTruth) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(truth, (str, os.PathLike, ShardedCorpus)):
        truth = read_truth(truth)
    if isinstance(truth, Truth):
        return _check_topics("truth", truth.topics), truth.weights
    if isinstance(truth, Planted):
        counts = np.bincount(truth.labels, minlength=len(truth.topics))
        return _check_topics("truth", truth.topics), counts / counts.sum()
    topics = _check_topics("truth", truth)
    return topics, np.full(len(topics), np.nan)


def _check_topics(name: str, topics: ArrayLike) -> np.ndarray:
    """Return float64 rows that sum to 1; raise InputError for empty or negative rows."""
    rows = np.asarray(topics)
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or not rows.size:
        raise InputError(f"{name} must be numbers, one row per topic; got {describe(topics)}.")
    rows = check_finite(name, rows.astype(np.float64))
    sums = rows.sum(axis=1)
    if (rows < 0).any() or not (sums > 0).all():
        raise InputError(
            f"{name} must have no negative numbers and a positive sum in each row. Remove empty topics."
        )
    return rows / sums[:, None]
