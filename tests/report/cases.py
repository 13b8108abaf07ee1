"""Posteriors made by hand: texts of three themes, texts that would break out of a page, and many topics."""

from __future__ import annotations

import numpy as np

import franchise as fr
from tests.plots.cases import mixture

SEA = "The captain saw the harbour, and sailors of the ship swam in the sea. A ship sank near the harbour! "
GARDEN = "Roses and tulips bloom in the garden; bees love roses. The gardener waters tulips. "
WAR = "Soldiers of the army fought the battle, and cannons roared. The army won the war. "
THEMES = {
    0: ["captain", "harbour", "sailors", "ship", "swam", "sea", "sank", "near", "saw"],
    1: ["roses", "tulips", "bloom", "garden", "bees", "love", "gardener", "waters"],
    2: ["soldiers", "army", "fought", "battle", "cannons", "roared", "won", "war"],
}
TOPIC_OF = {word: topic for topic, words in THEMES.items() for word in words}


def themes():
    """A posterior of two chains of twenty draws; the second chain numbers topics in another way."""
    return mixture(data=corpus(), labels=labels_of(corpus()), n_topics=numbers(), **joint())


def corpus():
    texts = [(SEA * 2 + GARDEN, GARDEN * 2 + WAR, WAR * 2 + SEA)[place % 3] for place in range(24)]
    metadata = {
        "year": [1900 + place for place in range(24)],
        "party": [f"P{place % 2}" for place in range(24)],
    }
    names = [f"letter {place}" for place in range(24)]
    return fr.Corpus.from_texts(texts, names=names, metadata=metadata)


def labels_of(data, chains=2, draws=20, topic_of=TOPIC_OF, topics=3):
    """Labels by theme; in every draw a few are drawn anew, and each chain has numbers of its own."""
    rng = np.random.default_rng(0)
    true = np.array([topic_of.get(data.vocabulary[word], 0) for word in data.observations])
    orders = [np.roll(np.arange(topics), chain) for chain in range(chains)]
    changed = [[_changed(rng, true, topics) for _ in range(draws)] for _ in range(chains)]
    return [
        [order[labels].astype(np.uint16) for labels in own]
        for order, own in zip(orders, changed, strict=True)
    ]


def _changed(rng, labels, topics):
    return np.where(rng.random(len(labels)) < 0.05, rng.integers(topics, size=len(labels)), labels)


def numbers(chains=2, draws=20):
    """Numbers of topics that change a little."""
    return np.random.default_rng(1).choice([3, 3, 3, 4], size=(chains, draws))


def joint(chains=2, draws=20):
    return {"log_joint": np.random.default_rng(2).normal(-12345.6, 3.0, (chains, draws))}


SCRIPT = "<script>window.broken = 1</script>"
IMAGE = "<img src=x onerror='window.broken = 2'>"
NASTY = [
    SCRIPT,
    "</script>",
    "-->",
    "<!--",
    "=cmd()",
    "+1",
    "@x",
    "-2+3",
    '"quoted"',
    "it's",
    "&lt;b&gt;",
    IMAGE,
]


def nasty():
    """A posterior whose documents, names, words, metadata all hold pieces of HTML, scripts and formulas."""
    data = fr.Corpus.from_tokens(
        [NASTY + [word] * 3 for word in NASTY],
        NASTY,
        names=[f"{word}{SCRIPT}" for word in NASTY],
        metadata={
            "year": list(range(len(NASTY))),
            f"by {IMAGE}": NASTY,
            "=sum()": NASTY[::-1],
            f"class {SCRIPT}": [IMAGE, SCRIPT] * (len(NASTY) // 2),
        },
    )
    return _of_halves(data, {word: place % 2 for place, word in enumerate(NASTY)})


def nasty_texts():
    """The same for texts that are shown as they stand, with words found in them."""
    texts = [
        f'ship {SCRIPT} harbour "sea" {IMAGE} --> sailors &amp; {mark} \U0001f6a2 roses 𝒷ees tulips'
        for mark in NASTY
    ]
    data = fr.Corpus.from_texts(texts, names=NASTY)
    return _of_halves(data, TOPIC_OF)


def _of_halves(data, topic_of):
    labels = labels_of(data, topic_of=topic_of, topics=2)
    return mixture(data=data, labels=labels, n_topics=numbers(), **joint())


def many(topics=500, documents=20_000, length=30, words=8):
    """A posterior of many topics and documents: four draws of two chains."""
    rng = np.random.default_rng(0)
    own = rng.integers(topics, size=(documents, 3))
    labels = np.take_along_axis(own, rng.integers(3, size=(documents, length)), axis=1).ravel()
    tokens = labels * words + rng.integers(words, size=labels.size)
    vocabulary = [f"w{topic}x{word}" for topic in range(topics) for word in range(words)]
    offsets = np.arange(documents + 1) * length
    years = rng.integers(1800, 2020, size=documents).tolist()
    data = fr.Corpus(tokens, offsets, vocabulary, metadata={"year": years})
    draws = [[np.roll(np.arange(topics), chain)[labels].astype(np.uint16)] * 2 for chain in range(2)]
    return mixture(data=data, labels=draws, n_topics=np.full((2, 2), topics))
