"""Small documents, and their flat form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import Parameters, SentenceData


def prepared(documents, vocabulary_size):
    """Nested lists (documents, sentences, words) as flat arrays."""
    sentences = [sentence for document in documents for sentence in document]
    words = np.array([word for sentence in sentences for word in sentence], np.int32)
    tokens = np.cumsum([0, *map(len, sentences)])
    data = SentenceData(words, tokens, np.cumsum([0, *map(len, documents)]))
    return Prepared(data, vocabulary_size)


def random_documents(rng, sentences, vocabulary_size, longest=4):
    """Documents with the given numbers of sentences, each of up to `longest` words, some without any."""
    return [
        [rng.integers(vocabulary_size, size=rng.integers(longest + 1)).tolist() for _ in range(count)]
        for count in sentences
    ]


def random_parameters(rng, documents, topics, words):
    """thetas (D, K), phi (K, V), epsilon."""
    thetas = rng.dirichlet(np.ones(topics), len(documents))
    return thetas, rng.dirichlet(np.ones(words), topics), float(rng.uniform(0.1, 0.9))


def parameters(thetas, phi, epsilon):
    """The same as kernels take them."""
    with np.errstate(divide="ignore"):
        logs = np.ascontiguousarray(np.log(phi).T)
    return Parameters(logs, np.ascontiguousarray(thetas), epsilon)


class Truth(NamedTuple):
    """What data were made of."""

    topics: np.ndarray  # (S,)
    switches: np.ndarray  # (S,)
    thetas: np.ndarray  # (D, K)
    phi: np.ndarray  # (K, V)


def simulate(rng, documents, sentences, topics, epsilon, words=200, length=12):
    """Data of the model: sentences of `length` words, Poisson many a document."""
    phi = rng.dirichlet(np.full(words, 0.1), topics)
    thetas = rng.dirichlet(np.full(topics, 0.8), documents)
    counts = rng.poisson(sentences, documents)
    labels, switches = [], []
    for theta, count in zip(thetas, counts, strict=True):
        for place in range(count):
            switches.append(place == 0 or rng.random() < epsilon)
            labels.append(int(rng.choice(topics, p=theta)) if switches[-1] else labels[-1])
    made = np.array([rng.choice(words, size=length, p=phi[label]) for label in labels], np.int32).reshape(-1)
    data = SentenceData(made, np.arange(len(labels) + 1) * length, np.concatenate([[0], np.cumsum(counts)]))
    return Prepared(data, words), Truth(np.array(labels), np.array(switches), thetas, phi)


def matched_share(found, truth):
    """Share of sentences that agree, topics matched one to one."""
    table = np.zeros((max(found) + 1, max(truth) + 1))
    np.add.at(table, (found, truth), 1)
    return table[linear_sum_assignment(-table)].sum() / len(truth)
