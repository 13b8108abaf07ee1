"""What sampling gives: traces, draws, and tables made of them.

Tables of one draw: its topics with their words, its documents with their topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.model.hdp_model import Model
from franchise.model.state.base import LastStates, State
from franchise.posterior.base import WithTopics
from franchise.posterior.edits import NO_EDITS, TopicEdits
from franchise.running.kept_draws import HDPDraw
from franchise.running.run import Run
from franchise.running.trace import names_of, stack
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    pass


@dataclass(frozen=True, repr=False)
class Posterior(WithTopics):
    """Draws from the posterior.

    Attributes
    ----------
    trace : dict of arrays (chains, draws)
        ``n_topics`` (occupied), ``n_tables``, ``log_joint``, ``log_likelihood_per_observation``, ``alpha``,
        ``gamma``, ``seconds``; ``best_log_likelihood_per_observation``, the highest after any sweep so far;
        ``share_of_largest_1`` to ``share_of_largest_10``, the shares of the observations in the largest topic,
        in the two largest, and so on; and what moves add.
    warmup_trace : dict of arrays (chains, warm-up sweeps)
        The same for every sweep of the warm-up.
    labels : int32 array (chains, draws, N) or None
        The topic of every observation in input order, 0..n_topics-1 within a draw, without meaning across
        draws; only with ``keep_labels=True``.
    snapshots : list (chains) of lists of Snapshot
        Some of the draws in full, evenly spaced; scores and tables are made of them.
    states : sequence (chains) of State
        The last state of each chain; can be given as `start` of another run.
    data, model, sampler, seed
        What was sampled, and how.
    run : Run
        The chains as they stand, with their schedule and plan: what `save` and `extend` go by.
    changes : Changes
        How consensus topics were named or merged by hand.
    """

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    labels: np.ndarray | None
    snapshots: list[list[HDPDraw]]
    states: Sequence[State]
    data: GroupedData
    model: Model
    sampler: str
    seed: int
    run: Run | None = None
    changes: TopicEdits = NO_EDITS

    @classmethod
    def from_run(cls, run: Run, data: GroupedData, model: Model, sampler: str, seed: int) -> Posterior:
        """Gather what the chains have kept."""
        chains, draws = run.chains, run.fewest_draws
        warmup = min(len(chain.warmup_trace) for chain in chains)
        names = names_of([chain.trace for chain in chains])
        in_warmup = names_of([trace for chain in chains for trace in (chain.trace, chain.warmup_trace)])
        return cls(
            trace=stack([chain.trace for chain in chains], draws, names),
            warmup_trace=stack([chain.warmup_trace for chain in chains], warmup, in_warmup),
            labels=None if run.labels is None else run.labels[:, :draws],
            snapshots=[list(chain.snapshots.kept) for chain in chains],
            states=LastStates([chain.chain for chain in chains]),
            data=data,
            model=model,
            sampler=sampler,
            seed=seed,
            run=run,
        )

    @property
    def family(self) -> Family:
        """The likelihood family."""
        return self.model.family

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.states)

    def __repr__(self) -> str:
        """Say what was found, how sure it is, and what to call next."""
        topics = self.trace["n_topics"]
        low, high = np.quantile(topics, [0.05, 0.95])
        between = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
        likelihood = self.trace["log_likelihood_per_observation"][:, -1].mean()
        return (
            f"Posterior({self.n_chains} chains x {self.n_draws} draws of {self.data!r}, "
            f"sampler {self.sampler!r}, {self.seconds:.1f} s)\n"
            f"  topics: {between} (middle 90 % of draws)\n"
            f"  log likelihood per observation: {likelihood:.3f}\n"
            f"  see .summary(), .verdict(), .consensus(), .topics(), .document_topics(), .trace"
        )

    def topics(self, words: int = 10, chain: int | None = None) -> pd.DataFrame:
        """The topics of one draw, largest first.

        One row a topic: its share of the observations and, for a Corpus, its most probable words.

        Parameters
        ----------
        words : int
            How many words to show.
        chain : int, optional
            Topics have no meaning across chains or draws, so these are those of one draw: of the draws that are
            kept in full that with the highest log joint probability; of the last one of this chain, if it is given.
        """
        pass

        words = check_integer("words", words, minimum=1)
        return topic_table(self.data, self.model, self._draw(chain), words)

    def document_topics(self, chain: int | None = None) -> pd.DataFrame:
        """The share of each topic in each group; rows sum to one.

            E[pi_jk | z, m] = (n_jk + alpha E[beta_k]) / (n_j + alpha)

        One row a group; columns are the topics as numbered by `topics`, and "unseen" for all others.
        """
        pass

        return document_table(self.data, self._draw(chain))

    def infer(self, data: GroupedData) -> pd.DataFrame:
        """The expected share of each topic in new documents or groups, given their observations; rows sum to one.

        Parameters
        ----------
        data : Corpus or Groups
            New documents over the same vocabulary (`read_corpus(path, like=posterior.data)` and
            `posterior.data.read_new_texts` make them), or new groups of observations.

        Returns
        -------
        DataFrame
            As `document_topics`: columns are the topics as numbered by `topics`, and "unseen".
        """
        from franchise.posterior.predictive import Occurrences, check_like, infer_weights

        pass

        check_like("data", data, self.data)
        observed = Occurrences.of(data, self.family)
        return weights_table(
            data.group_names, infer_weights(self.model, self._draw(None), observed, self.seed)
        )

    def _draw(self, chain: int | None) -> HDPDraw:
        pass

        if chain is None:
            return reference_draw(self)
        chain = check_integer("chain", chain, minimum=0)
        if chain >= self.n_chains:
            raise InputError(f"chain must be from 0 to {self.n_chains - 1}; got {chain}.")
        return self.snapshots[chain][-1]


def reference_draw(posterior: Posterior) -> HDPDraw:
    """Of all draws kept in full, of all chains, that with the highest log joint probability."""
    log_joint = posterior.trace["log_joint"]
    scored = [
        (log_joint[chain, snapshot.draw], snapshot)
        for chain, kept in enumerate(posterior.snapshots)
        for snapshot in kept
        if snapshot.draw < log_joint.shape[1]  # a chain may have gone further than others
    ]
    return max(scored, key=lambda pair: pair[0])[1]


def topic_sizes(snapshot: HDPDraw) -> np.ndarray:
    """Observations of each topic, int64 (K,): n_k."""
    return np.bincount(snapshot.labels, minlength=snapshot.n_topics)


def by_size(snapshot: HDPDraw) -> np.ndarray:
    """The topics from the largest to the smallest; equal ones by number."""
    return np.argsort(-topic_sizes(snapshot), kind="stable")


def expected_weights(snapshot: HDPDraw) -> tuple[np.ndarray, float]:
    """E[beta | m] = (m_1, ..., m_K, gamma) / (m + gamma): of the topics (K,), and of all unseen ones."""
    mass = snapshot.tables_per_topic.sum() + snapshot.gamma
    return snapshot.tables_per_topic / mass, snapshot.gamma / mass


def count_words(corpus: Corpus, snapshot: HDPDraw) -> np.ndarray:
    """Tokens by topic and word, int64 (K, V): n_kw."""
    size = corpus.vocabulary_size
    flat = snapshot.labels.astype(np.int64) * size + corpus.observations
    return np.bincount(flat, minlength=snapshot.n_topics * size).reshape(-1, size)


def count_documents(data: GroupedData, snapshot: HDPDraw) -> np.ndarray:
    """Observations by group and topic, int64 (J, K): n_jk."""
    groups = np.repeat(np.arange(data.n_groups), data.group_sizes)
    flat = groups * snapshot.n_topics + snapshot.labels
    return np.bincount(flat, minlength=data.n_groups * snapshot.n_topics).reshape(data.n_groups, -1)


def expected_document_weights(data: GroupedData, snapshot: HDPDraw) -> np.ndarray:
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
    data: GroupedData, model: Model, snapshot: HDPDraw, words: int, vocabulary: Sequence[str] | None = None
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
    if Ability.IS_CATEGORICAL not in model.family.abilities:
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


def document_table(data: GroupedData, snapshot: HDPDraw) -> pd.DataFrame:
    """The topics of the groups that were sampled, in one draw."""
    return weights_table(data.group_names, in_order(snapshot, expected_document_weights(data, snapshot)))


def in_order(snapshot: HDPDraw, weights: np.ndarray) -> np.ndarray:
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
