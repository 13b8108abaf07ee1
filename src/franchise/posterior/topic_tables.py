"""Tables of topics: descriptions, similarities, the topics of a word, and the number of topics.

Short names of topics, made of their words.

Labels have the words that are probable in the topic and more probable than in the corpus. This is the relevance of
Sievert & Shirley (2014, LDAvis), equation 2, with the weight of 0.6 from their study with readers:

    r(w, k) = 0.6 log phi_kw + 0.4 log (phi_kw / p_w)          p_w the share of word w in the corpus
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.errors import InputError, NoWords
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.document_tables import largest_topics
from franchise.posterior.level_tables import nodes_with_topic
from franchise.posterior.topic_similarity import NONE, dice
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.data.grouped import GroupedData
    from franchise.htmm.results import HTMMResults
    from franchise.posterior.consensus import Consensus


class TopicTables(PosteriorContract[DrawT]):
    """Tables of the consensus topics."""

    def topic_info(self, words: int = 10, level: str | None = None) -> pd.DataFrame:
        """Return the table of `topics` with three more columns.

        The column `documents` (or `groups`) counts those in which the topic is the largest; `relevant` words are
        probable in the topic and more probable than in the corpus (Sievert & Shirley 2014), and labels are made of
        them; `frex` words are frequent in the topic and exclusive to it (Bischof & Airoldi 2012); `words` are only
        probable.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.
        level : str, optional
            A level of the tree of groups, such as "patient". The column `nodes` is then the number of nodes of the
            level that have observations of the topic, mean over draws [default: no such column].

        Returns
        -------
        DataFrame
            One row per topic, indexed by its number.

        Raises
        ------
        InputError
            If `words` is below 1, or there is no such level.

        Examples
        --------
        >>> posterior.topic_info(words=1)[["documents", "relevant"]]
               documents relevant
        topic
        0             16    ships
        1              8    bread
        """
        consensus = self.consensus_topics
        table = consensus.table(check_integer("words", words, minimum=1))
        largest = largest_topics(consensus)
        documents = np.bincount(largest[largest >= 0], minlength=consensus.topic_count)
        name = "documents" if consensus.has_words else "groups"
        table.insert(list(table.columns).index("n_chains") + 1, name, documents)
        if level is not None:
            table.insert(list(table.columns).index(name) + 1, "nodes", nodes_with_topic(consensus, level))
        if consensus.has_words:
            table["relevant"] = [" ".join(row) for row in consensus.relevant_words(words)]
            table["frex"] = [" ".join(row) for row in consensus.frex_words(words)]
        return table

    def n_topics_posterior(self) -> pd.DataFrame:
        """Return the posterior of the number of topics.

        Returns
        -------
        DataFrame
            One row per number of topics: `n_topics`, its `probability`, and that in each chain.

        Examples
        --------
        >>> posterior.n_topics_posterior().columns.tolist()
        ['n_topics', 'probability', 'chain 0', 'chain 1']
        """
        import pandas as pd

        counts = self.trace["n_topics"]
        values = np.arange(int(counts.min()), int(counts.max()) + 1)
        shares = (counts[:, :, None] == values).mean(axis=1)
        by_chain = {f"chain {chain}": row for chain, row in enumerate(shares)}
        return pd.DataFrame({"n_topics": values, "probability": shares.mean(axis=0), **by_chain})

    def find_topics(self, query: str | Sequence[str], count: int = 5) -> pd.DataFrame:
        """Return the most probable topics of a word, a sentence or a list of words.

        Words are read as the texts of the corpus were; unknown words are ignored.  The probability is the
        mean over words w of p(k | w) = phi_kw share_k / sum_l phi_lw share_l.

        Parameters
        ----------
        query : str, or sequence of str
            A word, a text, or a list of words.
        count : int, default 5
            The largest number of topics to return.

        Returns
        -------
        DataFrame
            One row per topic, the most probable first: `label`, `probability`, `share` and `words`.

        Raises
        ------
        InputError
            If the corpus knows none of the words.

        Examples
        --------
        >>> posterior.find_topics("buy bread", count=1).index.tolist()
        [1]
        """
        count, consensus = check_integer("count", count, minimum=1), self.consensus_topics
        words = _words_of(consensus.corpus, query)
        joint = consensus.word_probabilities()[:, words] * consensus.shares.mean(axis=0)[:, None]
        probability = (joint / joint.sum(axis=0)).mean(axis=1)
        table = consensus.table().loc[:, ["label", "share", "words"]]
        table.insert(1, "probability", probability)
        return table.sort_values("probability", ascending=False, kind="stable").head(count)

    def topic_similarity(self) -> pd.DataFrame:
        """Return the similarity of any two topics, from 0 to 1, float (T, T).

        For a corpus it is one minus the Jensen-Shannon distance (to base 2) of their words,

            JS(p, q)^2 = H((p + q) / 2) - (H(p) + H(q)) / 2

        Otherwise it measures how often observations are in one topic in some draws and in the other topic in
        others: with p_i and q_i the shares of draws in which observation i is in them,

            2 sum p_i q_i / (sum p_i^2 + sum q_i^2)

        Returns
        -------
        DataFrame
            One row and one column per topic; 1 on the diagonal.

        Examples
        --------
        >>> posterior.topic_similarity().round(0)
        topic    0    1
        topic
        0      1.0  0.0
        1      0.0  1.0
        """
        consensus = self.consensus_topics
        return square_table(
            _alike_by_words(consensus.word_probabilities())
            if consensus.has_words
            else alike_by_observations(consensus, consensus)
        )

    def confusion_matrix(self) -> pd.DataFrame:
        """Return how well topics (columns) predict the words of topics (rows), in nats per word, for a corpus.

            C_rc = sum_w phi_rw log phi_cw                    (Chang & Fisher 2014, figure 5)

        The diagonal is minus the entropy of the topic, the largest value of its row. Similar topics have values
        near it.

        Returns
        -------
        DataFrame
            One row and one column per topic.

        Raises
        ------
        InputError
            If topics have no words.

        Examples
        --------
        >>> posterior.confusion_matrix().to_numpy().argmax(axis=1)
        array([0, 1])
        """
        words = self.consensus_topics.word_probabilities()
        return square_table(words @ np.log(words).T)


def topic_table(columns: Mapping[str, Any], topics: int) -> pd.DataFrame:
    """Return a table with one row per topic."""
    import pandas as pd

    return pd.DataFrame(columns, index=pd.RangeIndex(topics, name="topic"))


def square_table(values: np.ndarray) -> pd.DataFrame:
    """Return a matrix of topics by topics as a table."""
    import pandas as pd

    index = pd.RangeIndex(len(values), name="topic")
    return pd.DataFrame(values, index=index, columns=index)


def numbers_or_missing(topics: np.ndarray) -> Any:
    """Return numbers of topics as a column of a table, missing where they are NONE."""
    import pandas as pd

    return pd.arrays.IntegerArray(topics.astype(np.int64), topics == NONE)


def estimated_topics(corpus: Corpus, results: HTMMResults, words: int) -> pd.DataFrame:
    """Return the table of topics of one estimate, with the columns of consensus topics: it is the only draw."""
    vocabulary = np.asarray(corpus.vocabulary, dtype=object)
    frequencies = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) / corpus.n_tokens
    relevant = np.argsort(-relevance(results.topic_words, frequencies), axis=1, kind="stable")[:, :10]
    best = np.argsort(-results.topic_words, axis=1, kind="stable")[:, :words]
    share = results.words_per_topic / max(1.0, results.words_per_topic.sum())
    has = results.sentence_topic >= 0
    table = {
        "label": short_labels([list(vocabulary[row]) for row in relevant], {}),
        "share": share,
        "low": share,
        "high": share,
        "draws": 1.0,
        "chains": 1,
        "n_chains": 1,
        "sentences": np.bincount(results.sentence_topic[has], minlength=results.n_topics),
        "words": [" ".join(vocabulary[row]) for row in best],
    }
    return topic_table(table, results.n_topics)


def _words_of(corpus: Corpus, query: object) -> np.ndarray:
    """The words of a query, ids: as they are in the vocabulary, or read as texts; InputError if there are none."""
    parts = [query] if isinstance(query, str) else query
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
        raise InputError(f"query must be a word, a sentence or a list of words; got {describe(query)}.")
    known = {word: number for number, word in enumerate(corpus.vocabulary)}
    words = [word for part in parts for word in ([known[part]] if part in known else _read(corpus, part))]
    if not words:
        near = get_close_matches(" ".join(parts).lower(), corpus.vocabulary, n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(f"query must have a word of the vocabulary; got {describe(query)}.{hint}")
    return np.array(words)


def _read(corpus: Corpus, text: str) -> list[int]:
    """Return the words of a text, ids; none if the corpus knows none of them."""
    try:
        words: list[int] = corpus.read_new_texts([text], sentences="simple").observations.tolist()
    except NoWords:
        return []
    return words


_WORDS_AT_ONCE = 128
"""Words of all topics that are compared at a time: their probabilities stay in the processor's cache."""


def _alike_by_words(words: np.ndarray) -> np.ndarray:
    """One minus the Jensen-Shannon distance of any two rows, float64 (T, T).

    JS(p, q)^2 = log 2 - (sum (p + q) log (p + q) - sum p log p - sum q log q) / 2, as rows sum to one
    """
    mixed, single = np.zeros((len(words), len(words))), np.zeros(len(words))
    for begin in range(0, words.shape[1], _WORDS_AT_ONCE):
        block = np.maximum(words[:, begin : begin + _WORDS_AT_ONCE], np.finfo(np.float64).tiny)  # has a log
        sums, logs = np.empty_like(block), np.empty_like(block)
        single += _sum_of_x_log_x(block, logs)
        for topic in range(len(words) - 1):
            rest = slice(topic + 1, None)
            np.add(block[rest], block[topic], out=sums[rest])
            mixed[topic, rest] += _sum_of_x_log_x(sums[rest], logs[rest])
    divergence = 1.0 - (mixed - single - single[:, None]) / (2.0 * np.log(2.0))
    upper = np.triu(1.0 - np.sqrt(np.clip(divergence, 0.0, 1.0)), k=1)
    return upper + upper.T + np.eye(len(words))


def _sum_of_x_log_x(rows: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return sum x log x of each row; `logs` is scratch of the same shape."""
    np.log(rows, out=logs)
    sums: np.ndarray = np.einsum("ij,ij->i", rows, logs)
    return sums


def _in_grouped_order(data: GroupedData, places: np.ndarray) -> np.ndarray:
    """Return the places in grouped order of observations in input order."""
    return data.to_input_order(np.arange(data.n_observations))[places]


def alike_by_observations(one: Consensus, other: Consensus) -> np.ndarray:
    """Return 2 sum p_i q_i / (sum p_i^2 + sum q_i^2) of any topic of the one and of the other.

    The one may have more observations after those of the other, in input order; these do not count.
    """
    shared = np.arange(other.data.n_observations)
    ours, theirs = (
        each.label_probabilities()[_in_grouped_order(each.data, shared), : each.topic_count]
        for each in (one, other)
    )
    squares = [np.asarray(each.multiply(each).sum(axis=0)).ravel() for each in (ours, theirs)]
    return dice((ours.T @ theirs).toarray(), *squares)


WEIGHT = 0.6
"""lambda of Sievert & Shirley."""

WORDS = 3
"""Number of words of a label, unless it needs more to differ from others."""


def relevance(probabilities: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return r(w, k), float64 (K, V); minus infinity for words that do not occur."""
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    with np.errstate(divide="ignore"):
        lifts = logs - np.log(shares)
    return np.where(shares > 0, WEIGHT * logs + (1.0 - WEIGHT) * lifts, -np.inf)


def frex(own: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the harmonic means of the ranks of a topic's words by frequency and by exclusivity.

    1 / F(w) = 0.5 / rank(phi_kw) + 0.5 / rank(phi_kw / sum_l phi_lw)

    Ranks are from 0 to 1 (Bischof & Airoldi 2012). `own` has the probabilities of the words in the topic, `total`
    their sums over all topics.
    """
    frequency, exclusivity = _mean_ranks(own), _mean_ranks(own / total)
    scores: np.ndarray = 2.0 / (1.0 / frequency + 1.0 / exclusivity) / max(1, len(own))
    return scores


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values from 1; equal ones have the mean of theirs.  SciPy's module takes long to load."""
    order = np.argsort(values)
    begins = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0.0)
    ends = np.append(begins, len(values))[1:]
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((begins + ends + 1) / 2.0, ends - begins)
    return ranks


def short_labels(words: Sequence[Sequence[str]], taken: Mapping[int, str]) -> list[str]:
    """Return a label for each topic of its first words: three, or as many more as make it differ from the others.

    `taken` are labels that topics have already.
    """
    labels: list[str] = []
    used = set(taken.values())
    for topic, own in enumerate(words):
        choices = [", ".join(own[:count]) for count in range(min(WORDS, len(own)), len(own) + 1)]
        label = next((choice for choice in choices if choice not in used), f"{choices[-1]} ({topic})")
        used.add(label)
        labels.append(label)
    return labels
