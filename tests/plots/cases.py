"""Posteriors made by hand: draws and traces as they are wanted, nothing sampled."""

from __future__ import annotations

import math
from io import BytesIO

import numpy as np

import franchise as fr
from franchise.htmm.htmm_chain import HTMMDraw
from franchise.htmm.model import InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model

FRUIT, METAL, WAR = ["apple", "pear", "plum"], ["iron", "tin", "$gold$"], ["army", "_navy", "war"]
DOCUMENTS = [  # three topics, told apart by their words
    FRUIT * 4 + METAL,
    METAL * 4,
    WAR * 2 + FRUIT,
    FRUIT * 2 + WAR * 3,
    METAL * 2 + FRUIT * 2,
]
TOPIC_OF = {word: topic for topic, words in enumerate((FRUIT, METAL, WAR)) for word in words}
YEARS = [1900, 1901, 1901, 1903, 1904]


def corpus(metadata=None):
    metadata = {"year": YEARS, "party": list("abbab")} if metadata is None else metadata
    names = ["first", "second", "third", "fourth", "fifth"]
    return fr.Corpus.from_tokens(DOCUMENTS, names=names, metadata=metadata)


def labels_of(data, numbers=(0, 1, 2)):
    """The topic of each word: fruit, metal and war have these numbers."""
    return np.array([numbers[TOPIC_OF[data.vocabulary[word]]] for word in data.observations], np.uint8)


def trace(n_topics, **more):
    """A trace with these numbers of topics, (chains, draws), and all that goes with it."""
    topics = np.asarray(n_topics)
    rows = np.arange(topics.size, dtype=float).reshape(topics.shape)
    made = {
        "n_topics": topics,
        "n_tables": 2 * topics,
        "log_joint": -100.0 + rows % 7,
        "log_likelihood_per_observation": -2.0 + 0.01 * rows,
        "alpha": np.full(topics.shape, 1.0),
        "gamma": 1.0 + 0.1 * (rows % 5),
        "seconds": rows,
    }
    return {**made, **{name: np.asarray(values) for name, values in more.items()}}


def mixture(
    n_topics=((3, 3, 3, 3), (3, 3, 3, 3)), warmup=((1, 2, 3), (9, 5, 3)), data=None, labels=None, **more
):
    """A posterior whose draws all have the three topics, each chain with another numbering."""
    data = corpus() if data is None else data
    chains, draws = np.shape(n_topics)
    if labels is None:
        numbers = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
        labels = [[labels_of(data, numbers[chain % 3])] * draws for chain in range(chains)]
    snapshots = [
        [
            HDPDraw(number, drawn, np.full(int(drawn.max()) + 1, 3, np.int64), 1.0, 1.0, math.nan)
            for number, drawn in enumerate(of_chain)
        ]
        for of_chain in labels
    ]
    model = make_model(data, fr.Categorical(data.vocabulary_size, 0.1), 1.0, 1.0)
    return HDPPosterior(
        trace(n_topics, **more), trace(warmup), None, snapshots, [None] * chains, data, model, "crf", 0
    )


def points():
    """A posterior of points instead of words: two groups, two topics."""
    data = fr.Groups(np.array([0.0, 0.1, 5.0, 5.1]), [0, 0, 1, 1])
    model = make_model(data, fr.GaussianKnownPrecision(1), 1.0, 1.0)
    snapshot = HDPDraw(0, np.array([0, 0, 1, 1], np.uint8), np.array([1, 1]), 1.0, 1.0, math.nan)
    return HDPPosterior(trace([[2, 2]]), trace([[1]]), None, [[snapshot]], [None], data, model, "crf", 0)


SENTENCES = [  # a document of six sentences, the fourth without words; and one of two
    [
        ["apple", "pear"],
        ["plum", "apple", "pear"],
        ["iron", "tin"],
        [],
        ["iron", "tin", "tin"],
        ["army", "war"],
    ],
    [["war", "army"], ["war", "war"]],
]
SENTENCE_TOPICS = [0, 0, 1, 1, 1, 2, 2, 2]
SWITCHES = [True, False, True, False, False, True, True, False]


def segmented():
    """A posterior of sentences: four draws in two chains; one of them has another topic in the second sentence."""
    data = fr.Corpus.from_sentences(SENTENCES, names=["long", "short"])
    prepared = Prepared.of(data)
    model = InfiniteModel(prepared, 1.0, 1.0, 0.1, (1.0, 1.0))
    other_topics, other_switches = list(SENTENCE_TOPICS), list(SWITCHES)
    other_topics[1], other_switches[1] = 1, True
    drawn = [
        [(SENTENCE_TOPICS, SWITCHES), (SENTENCE_TOPICS, SWITCHES)],
        [(SENTENCE_TOPICS, SWITCHES), (other_topics, other_switches)],
    ]
    draws = [
        [
            HTMMDraw(
                number,
                np.array(topics, np.uint8),
                np.array(switches),
                3,
                0.3,
                1.0,
                0.1,
                1.0,
                np.array([2, 2, 2]),
            )
            for number, (topics, switches) in enumerate(of_chain)
        ]
        for of_chain in drawn
    ]
    switch = {"switch_probability": [[0.2, 0.3], [0.25, 0.35]]}
    # the second chain's last draw is not the reference, which has the highest log joint probability
    joint = {"log_joint": [[-10.0, -11.0], [-12.0, -13.0]]}
    return HTMMPosterior(
        trace([[3, 3], [3, 3]], **switch, **joint), trace([[1, 2], [5, 4]]), draws, data, model, 0
    )


def as_png(figure):
    """The bytes of a picture, made in memory."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def assert_drawn(figure):
    """A picture can be made of it, and pyplot knows nothing of that."""
    assert as_png(figure).startswith(b"\x89PNG")
    import matplotlib.pyplot

    assert matplotlib.pyplot.get_fignums() == []
