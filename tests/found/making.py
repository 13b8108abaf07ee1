"""Posteriors made by hand: corpora and groups with planted topics, and draws that are what a test wants."""

from __future__ import annotations

import numpy as np

import franchise as fr
from franchise.chains.snapshots import Snapshot, narrowest
from franchise.posterior import Posterior
from franchise.sampling import make_model


def snapshot(number, labels, alpha=1.0, gamma=1.0):
    """A draw with these labels, of one table a topic."""
    labels = np.asarray(labels)
    topics = int(labels.max()) + 1
    return Snapshot(number, narrowest(labels), np.ones(topics, np.int64), alpha, gamma, float("nan"))


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
    return Posterior(trace, {}, None, snapshots, [None] * len(chains), data, model, "by hand", 0)


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
