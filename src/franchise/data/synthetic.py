"""Synthetic data with planted topics, which are returned together with the data.

    from_hdp         a draw from the hierarchical Dirichlet process itself
    five_topics      two similar topics, and three easy ones (Wang and Blei, 2012, section 4.1)
    bars             ten horizontal and vertical bars on a grid (Chang and Fisher, 2014, section 6.1)
    planted_topics   a corpus with word frequencies of real text (docs/theory/synthetic.md#sec-planted-topics)
    write_planted    the same distribution, for corpora too large for memory: written to disk in shards (`planted`)
    planted_match    which planted topics were found

All are seeded, and vectorised over tokens where size matters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import offsets_of_sizes
from franchise.data.planted import draw_words, word_table, write_planted
from franchise.data.planted_match import Planted, planted_match, read_truth
from franchise.data.tokens import numbered
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlet, seeded_generator
from franchise.validation import check_counts, check_integer, check_positive, describe

__all__ = [
    "Planted",
    "bars",
    "five_topics",
    "from_hdp",
    "planted_match",
    "planted_topics",
    "read_truth",
    "write_planted",
]


def from_hdp(
    n_groups: int,
    group_size: int | Sequence[int],
    vocabulary_size: int,
    prior: float = 0.1,
    alpha: float = 1.0,
    gamma: float = 1.0,
    seed: int = 0,
) -> Planted:
    """Draw a corpus from the HDP itself, by the Chinese restaurant franchise; topics are Categorical.

    Token i of a document sits at table t with probability n_jt/(i + alpha) and opens a new one with
    alpha/(i + alpha); a new table serves topic k with probability m_k/(m + gamma) and a new topic with
    gamma/(m + gamma).  Teh et al. (2006), section 4;
    docs/theory/notation.md#sec-crf-generative.

    Parameters
    ----------
    n_groups : int
        Documents.
    group_size : int or sequence of n_groups ints
        Tokens of each document.
    vocabulary_size : int
        Words (V).
    prior : float
        Each topic is a draw from the symmetric Dirichlet with this parameter (eta).
    alpha, gamma : float
        Concentrations of the group level and of the top level.
    seed : int
        Seed of all draws.

    Returns
    -------
    Planted
        Labels number the topics in the order in which they were opened; `weights` is None (integrated out).

    Raises
    ------
    InputError
        If a size, the prior or a concentration is not positive.

    Examples
    --------
    >>> fr.synthetic.from_hdp(n_groups=5, group_size=20, vocabulary_size=10).data
    Corpus(5 documents, 100 tokens, vocabulary of 10)
    """
    n_groups = check_integer("n_groups", n_groups, minimum=1)
    vocabulary_size = check_integer("vocabulary_size", vocabulary_size, minimum=1)
    sizes = _check_sizes(group_size, n_groups)
    prior = check_positive("prior", prior)
    alpha, gamma = check_positive("alpha", alpha), check_positive("gamma", gamma)
    generator = seeded_generator(seed)
    labels = _seat_franchise(generator, sizes, alpha, gamma)
    topics = draw_dirichlet(generator, np.full((int(labels.max()) + 1, vocabulary_size), prior))
    return _planted(generator, topics, labels, sizes, weights=None)


def five_topics(seed: int = 0, documents: int = 100, words: int = 50) -> Planted:
    """Draw documents of five topics over twelve words, the first two similar (Wang and Blei, 2012, section 4.1).

    The paper says: 100 documents of 50 words, at most two topics a document; topics 1 and 2 share words 3
    to 9 with the same, highest probability, topic 1 has high probability on word 1 and low on word 2, topic 2
    the reverse; topics 3 to 5 share no word with them and differ among themselves; ideally each topic has a
    fifth of the words.  It shows the probabilities only as dots of a figure (Fig. 3), and does not say how
    the topics of a document are chosen.  We chose:

        topic 1      0.124 on word 1 and on each of words 3 to 9, 0.008 on word 2
        topic 2      the same with words 1 and 2 exchanged
        topics 3-5   0.90 on word 10, 11 or 12, 0.05 on each of the other two
        documents    two topics drawn uniformly, maybe the same one twice, and if they are 1 and 2 the first
                     alone: mixed in one document the two could hardly be distinguished by any method;
                     the first topic has a uniform share of the words

    Parameters
    ----------
    seed : int, default 0
        Seed of all draws.
    documents : int, default 100
        Number of documents.
    words : int, default 50
        Number of words in each.

    Returns
    -------
    Planted
        The corpus, with labels, topics and weights.

    Raises
    ------
    InputError
        If a number is below 1.

    Examples
    --------
    >>> fr.synthetic.five_topics(documents=10).topics.shape
    (5, 12)
    """
    documents = check_integer("documents", documents, minimum=1)
    words = check_integer("words", words, minimum=1)
    generator = seeded_generator(seed)
    topics = np.zeros((5, 12))
    topics[:2, :9] = 0.124
    topics[[0, 1], [1, 0]] = 0.008
    topics[2:, 9:] = 0.05 + 0.85 * np.eye(3)
    pairs = generator.integers(5, size=(documents, 2))
    alike = (pairs < 2).all(axis=1)
    pairs[alike, 1] = pairs[alike, 0]
    share = generator.random(documents)
    weights = np.zeros((documents, 5))
    np.add.at(weights, (np.arange(documents), pairs[:, 0]), share)
    np.add.at(weights, (np.arange(documents), pairs[:, 1]), 1.0 - share)
    return _plant(generator, weights, topics, np.full(documents, words))


def bars(seed: int = 0, documents: int = 200, words: int = 100, size: int = 5) -> Planted:
    """Draw documents of bars on a square grid: each topic is one row or one column of it.

    The example is from Chang and Fisher (2014), section 6.1.  Words are the cells of a size x size grid, row
    by row; topics 0 to size - 1 are its rows, the others its columns, each uniform over its cells.  The paper
    has 200 documents on a 5 x 5 grid and leaves the rest to Griffiths and Steyvers (2004); we take document
    weights ~ Dirichlet(1, ..., 1) and 100 words per document.

    Parameters
    ----------
    seed : int, default 0
        Seed of all draws.
    documents : int, default 200
        Number of documents.
    words : int, default 100
        Number of words in each.
    size : int, default 5
        Cells along a side: 2 size topics over size^2 words.

    Returns
    -------
    Planted
        The corpus, with labels, topics and weights.

    Raises
    ------
    InputError
        If a number is below 1, or `size` below 2.

    Examples
    --------
    >>> fr.synthetic.bars(documents=10, size=3).topics.shape
    (6, 9)
    """
    documents = check_integer("documents", documents, minimum=1)
    words = check_integer("words", words, minimum=1)
    size = check_integer("size", size, minimum=2)
    generator = seeded_generator(seed)
    side, ones = np.eye(size), np.ones((1, size))
    topics = np.concatenate([np.kron(side, ones), np.kron(ones, side)]) / size
    weights = draw_dirichlet(generator, np.ones((documents, 2 * size)))
    return _plant(generator, weights, topics, np.full(documents, words))


def planted_topics(
    seed: int = 0,
    documents: int = 36_000,
    vocabulary: int = 28_000,
    topics: int = 100,
    *,
    zipf_exponent: float = 1.05,
    topic_concentration: float = 200.0,
    document_concentration: float = 5.0,
    median_length: float = 120.0,
    length_spread: float = 0.7,
    shortest: int = 5,
) -> Planted:
    """Draw a corpus with planted topics and the word frequencies of real text.

    docs/theory/synthetic.md#eq-planted-topics:

        base            ~ rank^-1.05, ranks dealt to the words at random
        topic k         ~ Dirichlet(200 base)
        global weights  ~ Dirichlet(1, ..., 1)
        document j      ~ Dirichlet(5 global weights)
        length of j     = log-normal, median 120, sigma 0.7, rounded, at least 5

    The full size has 5.5 million tokens.

    Parameters
    ----------
    seed : int, default 0
        Seed of all draws.
    documents : int, default 36000
        Number of documents D.
    vocabulary : int, default 28000
        Number of words V.
    topics : int, default 100
        Number of topics K.
    zipf_exponent : float, default 1.05
        Exponent of the frequencies of words.
    topic_concentration : float, default 200.0
        Sum of the Dirichlet prior of topics: larger values give topics nearer to the overall frequencies.
    document_concentration : float, default 5.0
        Sum of the Dirichlet prior of documents' weights: larger values give documents nearer to the global
        weights.
    median_length : float, default 120.0
        Median number of tokens of a document.
    length_spread : float, default 0.7
        Standard deviation of the log of the number of tokens.
    shortest : int, default 5
        The least number of tokens of a document.

    Returns
    -------
    Planted
        The corpus, with labels, topics and weights.

    Raises
    ------
    InputError
        If a number is not positive.

    Examples
    --------
    >>> fr.synthetic.planted_topics(documents=10, vocabulary=50, topics=3).topics.shape
    (3, 50)
    """
    documents = check_integer("documents", documents, minimum=1)
    vocabulary = check_integer("vocabulary", vocabulary, minimum=1)
    topics = check_integer("topics", topics, minimum=1)
    shortest = check_integer("shortest", shortest, minimum=1)
    generator = seeded_generator(seed)
    rank = 1.0 + generator.permutation(vocabulary)
    base = rank ** -check_positive("zipf_exponent", zipf_exponent)
    base *= check_positive("topic_concentration", topic_concentration) / base.sum()
    word_probabilities = draw_dirichlet(generator, np.tile(base, (topics, 1)))
    global_weights = draw_dirichlet(generator, np.ones(topics))
    concentration = check_positive("document_concentration", document_concentration)
    weights = draw_dirichlet(generator, np.tile(concentration * global_weights, (documents, 1)))
    spread = check_positive("length_spread", length_spread) * generator.standard_normal(documents)
    lengths = np.rint(check_positive("median_length", median_length) * np.exp(spread)).astype(np.int64)
    return _plant(generator, weights, word_probabilities, np.maximum(lengths, shortest))


def _plant(
    generator: np.random.Generator, weights: np.ndarray, topics: np.ndarray, lengths: np.ndarray
) -> Planted:
    """Draw every token's topic from its document's weights, then its word from the topic."""
    offsets = offsets_of_sizes(lengths)
    uniforms = generator.random(int(offsets[-1]))
    labels = np.empty(len(uniforms), dtype=np.int32)
    for document, cumulative in enumerate(np.cumsum(weights, axis=1)):
        part = slice(offsets[document], offsets[document + 1])
        labels[part] = np.searchsorted(cumulative / cumulative[-1], uniforms[part], side="right")
    return _planted(generator, topics, labels, lengths, weights)


def _planted(
    generator: np.random.Generator,
    topics: np.ndarray,
    labels: np.ndarray,
    sizes: np.ndarray,
    weights: np.ndarray | None,
) -> Planted:
    """Draw the word of every token from its topic."""
    words = draw_words(generator, [word_table(row) for row in topics], labels)
    corpus = Corpus(words, offsets_of_sizes(sizes), numbered(topics.shape[1]))
    return Planted(corpus, labels, topics, weights)


def _seat_franchise(
    generator: np.random.Generator, sizes: np.ndarray, alpha: float, gamma: float
) -> np.ndarray:
    """The topic of each token in one draw of the Chinese restaurant franchise, int32."""
    labels: list[int] = []
    tables_per_topic: list[int] = []
    for size in sizes.tolist():
        topic_of_seated: list[int] = []  # of each token so far; a uniform choice among them is ~ n_jt
        for seated, uniform in enumerate(generator.random(size).tolist()):
            place = uniform * (seated + alpha)
            if place < seated:
                topic = topic_of_seated[int(place)]
            else:
                topic = _open_table(generator.random(), tables_per_topic, gamma)
            topic_of_seated.append(topic)
        labels.extend(topic_of_seated)
    return np.array(labels, dtype=np.int32)


def _open_table(uniform: float, tables_per_topic: list[int], gamma: float) -> int:
    """The topic of a new table, old with weight m_k or new with weight gamma; counts it."""
    place = uniform * (sum(tables_per_topic) + gamma)
    for topic, tables in enumerate(tables_per_topic):
        if place < tables:
            tables_per_topic[topic] += 1
            return topic
        place -= tables
    tables_per_topic.append(1)
    return len(tables_per_topic) - 1


def _check_sizes(group_size: int | Sequence[int], n_groups: int) -> np.ndarray:
    sizes = check_counts("group_size", group_size)
    if sizes.ndim > 1 or sizes.size not in (1, n_groups) or sizes.sum() == 0:
        raise InputError(
            f"group_size must be one number or {n_groups}, one per group, not all 0; "
            f"got {describe(group_size)}."
        )
    return np.broadcast_to(sizes, (n_groups,))
