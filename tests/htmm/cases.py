"""Small documents, and their flat form."""

from __future__ import annotations

import numpy as np

from franchise.htmm.sentences import Prepared
from franchise.kernels.messages import Parameters, SentenceData


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
