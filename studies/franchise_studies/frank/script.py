"""What the paper's repository takes for perplexity, computed from our draws.

Its script (github.com/quinnfrank/hdp-py, Real Data Example.py) counts how often the *label* of a word is w where it
means how often the word is w, so a topic k is a distribution with all its weight on word number k; and it scores a
word by its probabilities in all training documents together:

    q(w | k) = (0.5 + [w = k] n_k) / (0.5 V + n_k)                  n_k words of topic k in all draws
    p(k | d) = (0.5 + n_dk) / (25 + n_d)                            n_dk of them in document d; 50 topics
    score    = exp(- mean over words of log sum_d sum_k q(w | k) p(k | d))

Words are numbered by falling frequency.  Topics have no order, but this depends on how they are numbered, which is
shown by doing it twice: numbers as they come, low ones first, and numbers dealt out at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise_studies.frank.corpora import TextSample
from franchise_studies.frank.following import follow
from franchise_studies.frank.text import PRINTED, TOPICS, sample_hdp

if TYPE_CHECKING:
    import pandas as pd

_ADDED = 0.5


class ScriptScore(NamedTuple):
    """The script's perplexities for one way to number the topics."""

    numbering: str
    train: float
    test: float


def score_as_the_script(text: TextSample, sweeps: int, warmup: int) -> list[ScriptScore]:
    """The script's perplexities of one chain, its topics numbered in two ways."""
    posterior = sample_hdp(text.train, 1, sweeps, warmup, keep_labels=True)
    assert posterior.labels is not None
    labels = follow(posterior.labels[0])
    size = max(TOPICS, labels.max() + 1)
    numberings = {"as they come": np.arange(size), "at random": np.random.default_rng(0).permutation(size)}
    return [
        ScriptScore(name, *score_numbered(text, numbers[labels], size))
        for name, numbers in numberings.items()
    ]


def score_numbered(text: TextSample, labels: np.ndarray, topics: int) -> tuple[float, float]:
    """The script's perplexity of training and of test words, from labels (draws, words trained on)."""
    weights = np.full((text.train.n_documents, topics), _ADDED)
    for draw in labels:
        np.add.at(weights, (text.train.group_of_observation, draw), 1.0)
    weights /= weights.sum(axis=1, keepdims=True)
    terms = text.train.vocabulary_size
    counts = np.bincount(labels.ravel(), minlength=topics)
    words = np.full((topics, terms), _ADDED)
    both = np.arange(min(topics, terms))
    words[both, both] += counts[both]
    words /= words.sum(axis=1, keepdims=True)
    scores = (weights @ words).sum(axis=0)
    number = _numbers_by_frequency(text)
    train, test = (
        float(np.exp(-np.log(scores[number[corpus.observations]]).mean()))
        for corpus in (text.train, text.test)
    )
    return train, test


def _numbers_by_frequency(text: TextSample) -> np.ndarray:
    """For each word of the vocabulary its place by falling frequency in training and test documents."""
    counts = np.bincount(text.both.observations, minlength=text.both.vocabulary_size)
    return np.argsort(np.argsort(-counts, kind="stable"))


def table_of_script(scores: list[ScriptScore]) -> pd.DataFrame:
    """The script's perplexities by numbering, beside the printed ones."""
    import pandas as pd

    printed = {"topics numbered": "the paper", **PRINTED}
    rows = [{"topics numbered": s.numbering, "train": s.train, "test": s.test} for s in scores]
    return pd.DataFrame([printed, *rows])
