"""Posteriors made by hand: corpora and groups with planted topics, and draws that are what a test wants."""

from __future__ import annotations

import numpy as np

import franchise as fr
from franchise.htmm.htmm_chain import HTMMDraw
from franchise.htmm.model import FiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.running.chain import narrowest
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model


def snapshot(number, labels, alpha=1.0, gamma=1.0):
    """A draw with these labels, of one table a topic."""
    labels = np.asarray(labels)
    topics = int(labels.max()) + 1
    return HDPDraw(number, narrowest(labels), np.ones(topics, np.int64), alpha, gamma, float("nan"))


def posterior_of(data, chains, family=None, log_joint=None):
    """A posterior of hand-made draws: for each chain a list of labels (N,), in grouped order."""
    snapshots = [[snapshot(number, labels) for number, labels in enumerate(chain)] for chain in chains]
    counts = np.array([[len(np.unique(labels)) for labels in chain] for chain in chains], np.float64)
    trace = {
        "n_topics": counts,
        "log_joint": np.zeros(counts.shape) if log_joint is None else np.asarray(log_joint, np.float64),
        "log_likelihood_per_observation": np.zeros(counts.shape),
        "seconds": np.ones(counts.shape),
    }
    model = make_model(data, family, 1.0, 1.0)
    return HDPPosterior(trace, {}, None, snapshots, [None] * len(chains), data, model, "by hand", 0)


def planted(rng, topics=5, documents=60, length=40, words=20):
    """A corpus of topics with words of their own, and the topic of every token."""
    labels, tokens = [], []
    for _ in range(documents):
        mine = rng.choice(topics, size=2, replace=False)
        own = rng.choice(mine, size=length)
        labels.append(own)
        tokens.append(own * words + rng.integers(words, size=length))
    vocabulary = [f"{'abcdefgh'[topic]}{word}" for topic in range(topics) for word in range(words)]
    years = [1900 + document for document in range(documents)]
    corpus = fr.Corpus.from_tokens([row.tolist() for row in tokens], vocabulary, metadata={"year": years})
    return corpus, np.concatenate(labels)


def noisy(rng, labels, share, topics):
    """The same with a share of the labels drawn anew, and all topics renamed at random."""
    labels = np.where(rng.random(len(labels)) < share, rng.integers(topics, size=len(labels)), labels)
    used = np.unique(labels)
    names = np.empty(int(used.max()) + 1, np.int64)
    names[used] = rng.permutation(len(used))
    return names[labels]


def tiny(texts=None, metadata=None):
    """Two chains of two draws of four documents, a a b | c c | | a c, one without words; d never occurs.

    Three draws have {a a b a} and {c c c}; the last of the second chain has {a a a}, {c c c} and {b}.
    """
    corpus = fr.Corpus(
        [0, 0, 1, 2, 2, 0, 2],
        [0, 3, 5, 5, 7],
        ["a", "b", "c", "d"],
        names=["one", "two", "three", "four"],
        texts=texts,
        metadata=metadata,
    )
    chains = [
        [[0, 0, 0, 1, 1, 0, 1], [1, 1, 1, 0, 0, 1, 0]],
        [[0, 0, 0, 1, 1, 0, 1], [0, 0, 2, 1, 1, 0, 1]],
    ]
    return posterior_of(corpus, chains, fr.Categorical(4, 0.5))


def tiny_groups(metadata=None):
    """The same partitions of numbers in groups, the input not in the order of groups."""
    groups = fr.Groups(
        [0.0, 5.0, 0.1, 5.1, 0.2, 0.3, 5.2], ["x", "y", "x", "y", "x", "z", "z"], metadata=metadata
    )
    chains = [
        [[0, 0, 0, 1, 1, 0, 1], [1, 1, 1, 0, 0, 1, 0]],
        [[0, 0, 0, 1, 1, 0, 1], [0, 0, 2, 1, 1, 0, 1]],
    ]
    return posterior_of(groups, chains, fr.GaussianDiagonal(1))


def segments(chains, corpus, topics):
    """A posterior of a hidden topic Markov model: for each chain a list of labels of sentences (S,)."""
    prepared = Prepared.of(corpus)
    first = prepared.first_sentences

    def draw(number, labels):
        return HTMMDraw(
            number,
            narrowest(np.asarray(labels)),
            first,
            topics,
            0.5,
            1.0,
            0.5,
            float("nan"),
            np.empty(0, np.int64),
        )

    draws = [[draw(number, labels) for number, labels in enumerate(chain)] for chain in chains]
    shape = (len(chains), len(chains[0]))
    trace = {
        "n_topics": np.full(shape, float(topics)),
        "log_joint": np.zeros(shape),
        "seconds": np.ones(shape),
    }
    model = FiniteModel(prepared, topics, 1.0, 0.5, (1.0, 1.0))
    return HTMMPosterior(trace, {}, draws, corpus, model, 0)
