"""Tables of one draw: its topics with their words, its documents with their topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.chains.snapshots import Snapshot
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.model import Model

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior import Posterior


def reference_draw(posterior: Posterior) -> Snapshot:
    """Of all draws kept in full, of all chains, that with the highest log joint probability."""
    log_joint = posterior.trace["log_joint"]
    scored = [
        (log_joint[chain, snapshot.draw], snapshot)
        for chain, kept in enumerate(posterior.snapshots)
        for snapshot in kept
        if snapshot.draw < log_joint.shape[1]  # a chain may have gone further than others
    ]
    return max(scored, key=lambda pair: pair[0])[1]


def topic_sizes(snapshot: Snapshot) -> np.ndarray:
    """Observations of each topic, int64 (K,): n_k."""
    return np.bincount(snapshot.labels, minlength=snapshot.n_topics)


def by_size(snapshot: Snapshot) -> np.ndarray:
    """The topics from the largest to the smallest; equal ones by number."""
    return np.argsort(-topic_sizes(snapshot), kind="stable")


def expected_weights(snapshot: Snapshot) -> tuple[np.ndarray, float]:
    """E[beta | m] = (m_1, ..., m_K, gamma) / (m + gamma): of the topics (K,), and of all unseen ones."""
    mass = snapshot.tables_per_topic.sum() + snapshot.gamma
    return snapshot.tables_per_topic / mass, snapshot.gamma / mass


def count_words(corpus: Corpus, snapshot: Snapshot) -> np.ndarray:
    """Tokens by topic and word, int64 (K, V): n_kw."""
    size = corpus.vocabulary_size
    flat = snapshot.labels.astype(np.int64) * size + corpus.observations
    return np.bincount(flat, minlength=snapshot.n_topics * size).reshape(-1, size)


def count_documents(data: GroupedData, snapshot: Snapshot) -> np.ndarray:
    """Observations by group and topic, int64 (J, K): n_jk."""
    groups = np.repeat(np.arange(data.n_groups), data.group_sizes)
    flat = groups * snapshot.n_topics + snapshot.labels
    return np.bincount(flat, minlength=data.n_groups * snapshot.n_topics).reshape(data.n_groups, -1)


def expected_document_weights(data: GroupedData, snapshot: Snapshot) -> np.ndarray:
    """E[pi_j | z, m], float64 (J, K + 1); the last column is for all unseen topics; rows sum to one."""
    weights, unseen = expected_weights(snapshot)
    counts = count_documents(data, snapshot)
    prior = snapshot.alpha * np.append(weights, unseen)
    totals = counts.sum(axis=1, keepdims=True) + snapshot.alpha
    return (np.hstack([counts, np.zeros((len(counts), 1))]) + prior) / totals


MOST_MEANS = 20
"""Dimensions of observations up to which topics are shown with their means."""


def mean_columns(data: GroupedData, members: Any) -> dict[str, np.ndarray]:
    """The mean observation of every topic, a column a dimension, for tables; none where there are many dimensions.

    `members` (N, topics), sparse, says how much each observation, in grouped order, is in each topic.
    """
    observations = data.grouped_observations
    columns = observations.reshape(len(observations), -1) if observations.ndim == 1 else observations
    if columns.shape[1] > MOST_MEANS:
        return {}
    sums = members.T @ columns
    sums = sums.toarray() if hasattr(sums, "toarray") else np.asarray(sums)
    means = sums / np.asarray(members.sum(axis=0)).reshape(-1, 1)
    names = ["mean"] if columns.shape[1] == 1 else [f"mean {place}" for place in range(columns.shape[1])]
    return dict(zip(names, means.T, strict=True))


def members_of(labels: np.ndarray, topics: int) -> Any:
    """Which observation is in which topic, scipy CSR array (N, topics) of ones."""
    from scipy.sparse import csr_array

    size = len(labels)
    return csr_array((np.ones(size), labels.astype(np.int64), np.arange(size + 1)), shape=(size, topics))


def topic_table(
    data: GroupedData, model: Model, snapshot: Snapshot, words: int, vocabulary: Sequence[str] | None = None
) -> pd.DataFrame:
    """One row a topic, largest first: share, groups it occurs in, and its most frequent words in a corpus.

    Topics of other observations have their means, if these have few dimensions.
    Words are those of the corpus, or of the `vocabulary` if one is given.
    """
    import pandas as pd

    order = by_size(snapshot)
    sizes = topic_sizes(snapshot)
    table = pd.DataFrame(
        {
            "topic": np.arange(len(order)),
            "observations": sizes[order],
            "share": sizes[order] / sizes.sum(),
            "groups": (count_documents(data, snapshot) > 0).sum(axis=0)[order],
        }
    )
    if not model.family.of_words:
        means = mean_columns(data, members_of(snapshot.labels, snapshot.n_topics))
        for name, values in means.items():
            table[name] = values[order]
    if isinstance(data, Corpus):
        names = np.asarray(data.vocabulary if vocabulary is None else vocabulary, dtype=object)
        counts = count_words(data, snapshot)
        table["words"] = [" ".join(names[_most_frequent(counts[topic], words)]) for topic in order]
    return table.set_index("topic")


def _most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of the largest counts, from the largest on; of none that is zero."""
    return np.argsort(-counts, kind="stable")[: min(most, int((counts > 0).sum()))]


def document_table(data: GroupedData, snapshot: Snapshot) -> pd.DataFrame:
    """The topics of the groups that were sampled, in one draw."""
    return weights_table(data.group_names, in_order(snapshot, expected_document_weights(data, snapshot)))


def in_order(snapshot: Snapshot, weights: np.ndarray) -> np.ndarray:
    """Weights (J, K + 1) with topics as `topic_table` numbers them; the last column, of unseen ones, stays."""
    return weights[:, np.append(by_size(snapshot), snapshot.n_topics)]


def weights_table(names: list[Any], weights: np.ndarray) -> pd.DataFrame:
    """One row a group, one column a topic (numbered as in `topic_table`), and "unseen"."""
    import pandas as pd

    return pd.DataFrame(
        weights,
        index=pd.Index(names, name="group", tupleize_cols=False),
        columns=[*range(weights.shape[1] - 1), "unseen"],
    )
