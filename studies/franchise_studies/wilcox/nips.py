"""The NIPS papers (7.2): the hidden topic Markov model by EM beside LDA, both with 100 topics.

LDA is scikit-learn's, by variational Bayes in whole passes over the documents, as many as the thesis needed.  It
takes priors up to 1 only and estimates means, where the thesis' priors of 1.5 and 1.01 go with maxima: a maximum
under a prior of 1 + a weighs counts as a mean under a does.  So LDA has 0.5 and 0.01.

Perplexity, two ways.  *Fitted*: theta of a document fitted on the words that are scored, as in the thesis.
*Completed*: theta fitted on the first half of a document's sentences, the words of the others scored.  LDA scores a
word by sum_k theta_k phi_kw; the hidden topic Markov model scores sentences in their order, each given all before.
"""

from __future__ import annotations

import io
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.text_options import LETTERS
from franchise.errors import InputError
from franchise.estimators.htmm_estimator import HTMM
from franchise.htmm.new_documents import first_sentences
from franchise.htmm.sentence_arrays import Prepared
from franchise.storage.atomic import read_errors_named, write_atomically
from franchise_studies.sources import read_records
from franchise_studies.wilcox.printed import NIPS_DOCUMENTS, NIPS_TEST

if TYPE_CHECKING:
    import pandas as pd

    from franchise_studies.wilcox.size import Size

PAPERS = "nips_text/nipstxt.jsonl.gz"
LEAST = 7  # a word is in at least this many of the training documents: closest to the thesis' vocabulary
THETA_PRIOR, WORD_PRIOR = 1.5, 1.01
TOLERANCE = 1e-5  # gain per word below which EM ends
ASKED = "support"  # the word whose senses are looked for
FREQUENT = 30  # among this many most frequent words of a topic
DOCUMENTS = (63, 323, 600, 1479)  # of Figures 7.17 and 7.18
HTMM_NAME, LDA_NAME = "HTMM", "LDA"


class Papers(NamedTuple):
    """Documents to train on and to test, over the vocabulary of the former."""

    train: Corpus
    test: Corpus
    least: int


@dataclass(frozen=True)
class Fitted:
    """A model fitted to the papers."""

    name: str
    topic_words: np.ndarray  # float64 (K, V)
    proportions: np.ndarray  # float64 (D, K): of the training documents
    train: float  # perplexities: of the training documents
    test: float  # of the test documents, fitted on the same words
    completed: float  # of the second halves of test documents
    seconds: float
    steps: int
    path: np.ndarray  # log likelihood after each step; empty for LDA
    switches: np.ndarray  # epsilon after each step; empty for LDA


def load_papers(data: Path, size: Size) -> Papers:
    """The thesis' numbers of papers to train on and to test, drawn at random with a fixed seed; or fewer."""
    records = read_records(data / PAPERS, {"id", "text"})
    wanted = (NIPS_DOCUMENTS, NIPS_TEST)
    if size.nips_documents is not None:
        wanted = (size.nips_documents, max(1, size.nips_documents // 8))
    if len(records) < sum(wanted):
        raise InputError(f"{PAPERS} has {len(records)} documents; {sum(wanted)} are needed.")
    order = np.random.default_rng(2017).permutation(len(records))[: sum(wanted)]
    return split_papers([records[place]["text"] for place in order], wanted[0], LEAST)


def split_papers(texts: list[str], train: int, least: int) -> Papers:
    """The first texts to train on, the others to test; cut into sentences at delimiters, as in the thesis."""
    asked = {"sentences": "simple", "token_pattern": LETTERS, "keep_texts": False}
    trained = Corpus.from_texts(texts[:train], min_df=least, **asked)
    test = Corpus.from_texts(texts[train:], vocabulary=trained.vocabulary, **asked)
    return Papers(trained, test, least)


# --- the two models -----------------------------------------------------------------------------------------


def fit_htmm(papers: Papers, size: Size) -> Fitted:
    """The hidden topic Markov model by EM."""
    import warnings

    begin = time.perf_counter()
    model = HTMM(
        size.nips_topics,
        inference="em",
        document_prior=THETA_PRIOR,
        word_prior=WORD_PRIOR,
        starts=size.nips_starts,
        max_iterations=size.nips_steps,
        tolerance=TOLERANCE,
        sentences="simple",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ends after this many steps: the page says so
        model.fit(papers.train)
    seconds = time.perf_counter() - begin
    return Fitted(
        HTMM_NAME,
        model.topic_words_,
        model.findings_.proportions[:, :-1],
        math.exp(-model.em_.log_likelihood / papers.train.n_tokens),
        model.perplexity(papers.test, completed=False),
        model.perplexity(papers.test, completed=True),
        seconds,
        len(model.em_.objectives),
        model.em_.objectives,
        np.append(model.em_.switches, model.em_.parameters.switch),
    )


def fit_lda(papers: Papers, size: Size) -> Fitted:
    """LDA by scikit-learn."""
    from sklearn.decomposition import LatentDirichletAllocation

    begin = time.perf_counter()
    model = LatentDirichletAllocation(
        size.nips_topics,
        doc_topic_prior=THETA_PRIOR - 1.0,
        topic_word_prior=WORD_PRIOR - 1.0,
        learning_method="batch",
        max_iter=size.lda_passes,
        random_state=0,
    )
    counts = papers.train.to_matrix()
    proportions = model.fit_transform(counts)
    seconds = time.perf_counter() - begin
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    test = papers.test.to_matrix()
    first = first_halves(papers.test)
    return Fitted(
        LDA_NAME,
        topics,
        proportions,
        score(counts, proportions, topics),
        score(test, model.transform(test), topics),
        score(test - first, model.transform(first), topics),
        seconds,
        model.n_iter_,
        np.empty(0),
        np.empty(0),
    )


def first_halves(corpus: Corpus) -> Any:
    """Counts of the words in the first halves of the documents, by sentences; a sparse matrix (D, V)."""
    half = first_sentences(Prepared.of(corpus), 0.5)
    offsets = half.data.tokens[half.data.documents]
    return Corpus(half.data.words, offsets, corpus.vocabulary).to_matrix()


def score(counts: Any, proportions: np.ndarray, topics: np.ndarray) -> float:
    """Perplexity of counted words, each with the probability sum_k theta_dk phi_kw."""
    cells = counts.tocoo()
    logs = 0.0
    for begin in range(0, cells.nnz, 2**15):
        chosen = slice(begin, begin + 2**15)
        rows, words = cells.row[chosen], cells.col[chosen]
        chances = np.einsum("ik,ik->i", proportions[rows], topics.T[words])
        logs += float(cells.data[chosen] @ np.log(chances))
    return math.exp(-logs / max(1, cells.data.sum()))


# --- tables -------------------------------------------------------------------------------------------------


def top_words(fitted: Fitted, vocabulary: list[str], topic: int, words: int = 10) -> str:
    """The most frequent words of a topic."""
    best = np.argsort(-fitted.topic_words[topic], kind="stable")[:words]
    return " ".join(vocabulary[word] for word in best)


def table_of_perplexity(fits: list[Fitted]) -> pd.DataFrame:
    """Ours beside the printed ones."""
    import pandas as pd

    from franchise_studies.wilcox.printed import HTMM_PERPLEXITY, LDA_PERPLEXITY

    printed = {HTMM_NAME: HTMM_PERPLEXITY, LDA_NAME: LDA_PERPLEXITY}
    return pd.DataFrame(
        [
            {
                "model": fit.name,
                "training, printed": printed[fit.name][0],
                "training": fit.train,
                "test, printed": printed[fit.name][1],
                "test, fitted on the same words": fit.test,
                "test, second halves": fit.completed,
                "steps": fit.steps,
                "seconds": fit.seconds,
            }
            for fit in fits
        ]
    )


def table_of_topics(fits: list[Fitted], vocabulary: list[str], count: int = 12) -> pd.DataFrame:
    """The largest topics of both models."""
    import pandas as pd

    rows = []
    for fit in fits:
        shares = fit.proportions.mean(axis=0)
        for topic in np.argsort(-shares, kind="stable")[:count].tolist():
            words = top_words(fit, vocabulary, topic)
            rows.append({"model": fit.name, "topic": int(topic), "share": shares[topic], "words": words})
    return pd.DataFrame(rows)


def table_of_senses(fits: list[Fitted], vocabulary: list[str], word: str = ASKED) -> pd.DataFrame:
    """Topics that have a word among their frequent ones."""
    import pandas as pd

    rows = []
    place = vocabulary.index(word) if word in vocabulary else -1
    for fit in fits if place >= 0 else []:
        ranks = (fit.topic_words >= fit.topic_words[:, [place]]).sum(
            axis=1
        )  # the last of equals: topics may be empty
        for topic in np.flatnonzero(ranks <= FREQUENT).tolist():
            rows.append(
                {
                    "model": fit.name,
                    "topic": int(topic),
                    "rank of the word": int(ranks[topic]),
                    "words": top_words(fit, vocabulary, topic),
                }
            )
    columns = ["model", "topic", "rank of the word", "words"]
    return pd.DataFrame(rows, columns=columns).sort_values(["model", "rank of the word"], ignore_index=True)


def effective_topics(proportions: np.ndarray) -> np.ndarray:
    """How many topics a document has: 1 / sum of the squares of its proportions."""
    return 1.0 / (proportions**2).sum(axis=1)


def shown_documents(papers: Papers) -> list[int]:
    """Those of the thesis' figures that there are, or the first ones."""
    there = [number for number in DOCUMENTS if number < papers.train.n_documents]
    return there if len(there) == len(DOCUMENTS) else list(range(min(4, papers.train.n_documents)))


def table_of_documents(fits: list[Fitted]) -> pd.DataFrame:
    """How many topics documents have in each model: over all of them."""
    import pandas as pd

    rows = []
    for fit in fits:
        counts = effective_topics(fit.proportions)
        above = (fit.proportions > 0.05).sum(axis=1)
        low, middle, high = np.quantile(counts, [0.1, 0.5, 0.9])
        rows.append(
            {
                "model": fit.name,
                "topics of a document, median": middle,
                "a tenth have fewer than": low,
                "a tenth have more than": high,
                "topics above 5 %, mean": float(above.mean()),
            }
        )
    return pd.DataFrame(rows)


# --- keeping ------------------------------------------------------------------------------------------------

_NUMBERS = ("train", "test", "completed", "seconds", "steps")
_ARRAYS = ("topic_words", "proportions", "path", "switches")


def fit_kept(name: str, papers: Papers, size: Size, path: Path) -> Fitted:
    """Fit a model; or read what an earlier run has fitted."""
    if path.is_file():
        with read_errors_named(path), np.load(path) as kept:
            train, test, completed, seconds, steps = kept["numbers"].tolist()
            arrays = {key: kept[key] for key in _ARRAYS}
        return Fitted(
            name, train=train, test=test, completed=completed, seconds=seconds, steps=int(steps), **arrays
        )
    fitted = {HTMM_NAME: fit_htmm, LDA_NAME: fit_lda}[name](papers, size)
    content = io.BytesIO()
    numbers = np.array([getattr(fitted, key) for key in _NUMBERS], np.float64)
    np.savez(content, numbers=numbers, **{key: getattr(fitted, key) for key in _ARRAYS})
    write_atomically(path, content.getvalue())
    return fitted
