"""Coherence of the words of a topic: NPMI and C_v, with the same values as gensim.

Words are counted in windows that slide over the documents word by word; p(w) is the share of windows that contain a
word, p(v, w) the share of windows that contain both.  With epsilon = 1e-12,

    NPMI(v, w) = log[(p(v, w) + epsilon) / (p(v) p(w))] / -log(p(v, w) + epsilon)

    npmi   the mean of NPMI(v, w) over all pairs of different words of the topic; windows of 10 words
           (Bouma, 2009; Aletras & Stevenson, 2013, "Evaluating topic coherence using distributional semantics")
    c_v    the mean over its words w of the cosine between the vectors NPMI(w, .) and sum_v NPMI(v, .), over the
           words of the topic; windows of 110 words (Roeder, Both & Hinneburg, 2015, "Exploring the space of topic
           coherence measures")

A document shorter than the window is one window.  Numbers are those of gensim's `CoherenceModel` ("c_npmi", "c_v"),
as these are the ones that people compare.  That includes a peculiarity of its counting: when a copy of a word
leaves the window on the left, the word counts as gone until a copy enters on the right, even if another is still
inside.

Windows are not visited one by one.  A word is in a few runs of windows, known from where it occurs; the counts for
the words of a topic come from the ends of these runs, in time that grows with their occurrences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.validation import check_choice, check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

WINDOWS = {"npmi": 10, "c_v": 110}
"""The measures, and the words in a window of each."""

DOCUMENTS = "documents"
"""In place of a number of words: every document is one window."""

_EPSILON = 1e-12


def coherence(
    topics: object,
    corpus: Corpus | None = None,
    measure: str = "npmi",
    words: int = 10,
    window: int | str | None = None,
) -> pd.Series:
    """How well the most probable words of topics go together in a corpus; higher is better.

    Parameters
    ----------
    topics : Posterior, HTMMPosterior, or list of lists of words
        Of a posterior, the topics that ``posterior.topics()`` has, in that order.
    corpus : Corpus, optional
        Where words are counted [default: the posterior's corpus].
    measure : "npmi" or "c_v"
        NPMI is from -1 to 1, and 0 for words that have nothing to do with each other; C_v is from 0 to 1, mostly.
    words : int
        How many words of each topic, at most.
    window : int or "documents", optional
        Words in a window; [default: 10 for NPMI, 110 for C_v].  If "documents", words go together that are in
        the same document, however far apart.  That is also taken where a corpus has no order of words, as one made
        from a matrix of counts; it shows by words that ascend in every document.

    Returns
    -------
    Series
        One value a topic; ``.mean()`` is the coherence of all.  Words that the corpus does not have are left out;
        a topic of which fewer than two are left has NaN.

    Raises
    ------
    InputError
        If the measure is unknown, a number is out of range, or the corpus or topics do not fit it.

    Examples
    --------
    >>> import franchise as fr
    >>> from franchise.diagnostics import coherence
    >>> texts = ["the cat and the dog", "a dog and a cat", "a ship at sea", "the sea and a ship"] * 5
    >>> corpus = fr.Corpus.from_texts(texts)
    >>> coherence([["cat", "dog"], ["cat", "sea"]], corpus).round(2).tolist()
    [1.0, -0.95]
    """
    import pandas as pd

    measure = check_choice("measure", measure, WINDOWS)
    words = check_integer("words", words, minimum=2)
    lists, corpus = _words_of_topics(topics, corpus, words)
    size = _check_window(window, measure, corpus)
    ids = _known_words(corpus, lists)
    relevant = np.unique(np.concatenate([*ids, np.empty(0, np.int64)]))
    runs = runs_of_documents(corpus, relevant) if size is None else runs_of_windows(corpus, relevant, size)
    confirm = _mean_npmi if measure == "npmi" else _mean_cosine
    values = [
        confirm(npmi(count_together(runs, topic), runs.n_windows)) if len(topic) > 1 else np.nan
        for topic in ids
    ]
    return pd.Series(values, index=pd.RangeIndex(len(ids), name="topic"), name=measure, dtype=float)


# --- from counts to coherence -------------------------------------------------------------------------------


def npmi(together: np.ndarray, n_windows: int) -> np.ndarray:
    """NPMI of all pairs, float64 (n, n), from the numbers of windows that have both; alone, on the diagonal."""
    joint = together / n_windows
    alone = np.diagonal(joint)
    return np.log((joint + _EPSILON) / np.outer(alone, alone)) / -np.log(joint + _EPSILON)


def _mean_npmi(table: np.ndarray) -> float:
    """Over pairs of different words."""
    return float(table[~np.eye(len(table), dtype=bool)].mean())


def _mean_cosine(table: np.ndarray) -> float:
    """Over words, of the cosines between their rows and the sum of all rows."""
    total = table.sum(axis=0)
    return float((table @ total / (np.linalg.norm(table, axis=1) * np.linalg.norm(total))).mean())


# --- windows ------------------------------------------------------------------------------------------------


class Runs(NamedTuple):
    """In which windows words are: runs of windows, word after word, ascending."""

    words: np.ndarray  # int64 (runs,), ascending
    begins: np.ndarray  # int64 (runs,): the first window of each
    ends: np.ndarray  # int64 (runs,): the window after the last
    n_windows: int


def runs_of_windows(corpus: Corpus, relevant: np.ndarray, size: int) -> Runs:
    """The runs of windows of `size` words that some words are in, as gensim counts them.

    In a document of n words, window t has the places from t to t + L - 1, for t from 0 to max(0, n - L).  Let a
    word occur at q_1 < q_2 < ...  It is in window t <= q_1 if q_1 has entered, t >= q_1 - L + 1.  From q_{i-1} + 1
    on, when the copy at q_{i-1} has left, it counts again when one enters that came too late to be seen together
    with that one: the first r >= q_{i-1} + L.  So for i > 1 the run before q_i leaves is r - L + 1 <= t <= q_i.
    """
    places, words, documents = _occurrences(corpus, relevant)
    n_windows = np.maximum(1, corpus.group_sizes - size + 1)
    before = np.concatenate([[0], np.cumsum(n_windows)])
    within = places - corpus.offsets[documents]
    repeated = np.zeros(len(places), bool)
    repeated[1:] = (words[1:] == words[:-1]) & (documents[1:] == documents[:-1])
    previous = np.where(repeated, np.roll(within, 1), 0)

    # the first occurrence, of the same word in the same document, that is a window's length after the previous one
    keys = words * (max(1, corpus.n_tokens) + size) + places
    entering = np.searchsorted(keys, np.where(repeated, keys - within + previous + size, keys))
    last = np.minimum(entering, len(keys) - 1)
    enters = ~repeated | ((entering < len(keys)) & (words[last] == words) & (documents[last] == documents))
    begins = np.maximum(0, within[last] - size + 1)
    ends = np.minimum(within + 1, n_windows[documents])
    kept = enters & (begins < ends)
    shift = before[documents[kept]]
    return Runs(words[kept], begins[kept] + shift, ends[kept] + shift, int(before[-1]))


def runs_of_documents(corpus: Corpus, relevant: np.ndarray) -> Runs:
    """The documents that some words are in, each a window."""
    _, words, documents = _occurrences(corpus, relevant)
    pairs = np.unique(words * corpus.n_documents + documents)
    words, documents = np.divmod(pairs, corpus.n_documents)
    return Runs(words, documents, documents + 1, corpus.n_documents)


def _occurrences(corpus: Corpus, relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where some words occur, which word it is there, and in which document; word after word, places ascending."""
    places = np.flatnonzero(np.isin(corpus.observations, relevant))
    words = corpus.observations[places].astype(np.int64)
    order = np.argsort(words, kind="stable")
    places, words = places[order], words[order]
    return places, words, np.searchsorted(corpus.offsets, places, side="right") - 1


def count_together(runs: Runs, topic: np.ndarray) -> np.ndarray:
    """The numbers of windows that have both of two words of a topic, int64 (n, n); on the diagonal, the one word.

    Between the ends of runs nothing changes: all windows in between have the same words.
    """
    own = [slice(*np.searchsorted(runs.words, [word, word + 1])) for word in topic]
    times = np.concatenate([ends[part] for ends in (runs.begins, runs.ends) for part in own])
    column_of_run = np.repeat(np.arange(len(topic)), [part.stop - part.start for part in own])
    order = np.argsort(times, kind="stable")
    changes = np.zeros((len(times), len(topic)), np.int64)
    changes[np.arange(len(times)), np.tile(column_of_run, 2)] = np.repeat([1, -1], len(column_of_run))
    present = np.cumsum(changes[order], axis=0)[:-1]
    together: np.ndarray = (present * np.diff(times[order])[:, None]).T @ present
    return together


# --- checks -------------------------------------------------------------------------------------------------


def _words_of_topics(topics: object, corpus: object, words: int) -> tuple[list[list[str]], Corpus]:
    """The words of every topic, and where to count them."""
    from franchise.posterior.base import Posterior

    if isinstance(topics, Posterior):
        _check_corpus("the data of the posterior", topics.data)
        lists = topics.consensus_topics.top_words(words)
        return lists, _check_corpus("corpus", topics.data if corpus is None else corpus)
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise InputError(
            f"topics must be a posterior or a list of lists of words, one per topic; got {describe(topics)}."
        )
    lists = [_check_topic(number, topic)[:words] for number, topic in enumerate(topics)]
    return lists, _check_corpus("corpus", corpus)


def _check_topic(number: int, topic: object) -> list[str]:
    words: list[Any] = [None] if isinstance(topic, str) or not isinstance(topic, Sequence) else list(topic)
    if not all(isinstance(word, str) for word in words):
        raise InputError(
            f"topics[{number}] must be a list of words; got {describe(topic)}. The words in a table of topics "
            "are one text: split it."
        )
    if len(set(words)) < len(words):
        raise InputError(f"topics[{number}] must not contain a word twice; got {words}.")
    return words


def _check_corpus(name: str, corpus: object) -> Corpus:
    if not isinstance(corpus, Corpus):
        raise InputError(
            f"{name} must be a Corpus, as coherence is computed from words; got {describe(corpus)}."
        )
    return corpus


def _check_window(window: object, measure: str, corpus: Corpus) -> int | None:
    """Words in a window; None for whole documents."""
    if window == DOCUMENTS:
        return None
    if window is None:
        return WINDOWS[measure] if _has_order(corpus) else None
    return check_integer("window", window, minimum=1)


def _has_order(corpus: Corpus) -> bool:
    """Return whether words have the order of a text; in counts, the ids of every document ascend."""
    words = corpus.observations
    falls = np.flatnonzero(words[1:] < words[:-1]) + 1
    return bool(len(falls) and not np.isin(falls, corpus.offsets).all())


def _known_words(corpus: Corpus, topics: list[list[str]]) -> list[np.ndarray]:
    """The ids, int64, of the words of each topic that occur in the corpus."""
    occurs = np.unique(corpus.observations).tolist()
    numbers = {corpus.vocabulary[number]: number for number in occurs}
    return [np.array([numbers[word] for word in topic if word in numbers], np.int64) for topic in topics]
