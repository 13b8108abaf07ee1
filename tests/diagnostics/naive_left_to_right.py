"""Probabilities of documents by summing over everything, and the particle filter in loops; slow and readable."""

from __future__ import annotations

import itertools
import math

import numpy as np


def log_rising(prior, counts):
    """log probability of a sequence of draws with these counts, proportions integrated out (Polya's urn)."""
    value = math.lgamma(sum(prior)) - math.lgamma(sum(prior) + sum(counts))
    return value + sum(
        math.lgamma(alpha + count) - math.lgamma(alpha) for alpha, count in zip(prior, counts, strict=True)
    )


def exact_probability_of_words(words, phi, prior):
    """Sum over all assignments of topics to words; phi (K, V)."""
    topics, total = range(len(prior)), 0.0
    for assignment in itertools.product(topics, repeat=len(words)):
        counts = [assignment.count(topic) for topic in topics]
        chance = math.exp(log_rising(prior, counts))
        total += chance * math.prod(phi[topic][word] for topic, word in zip(assignment, words, strict=True))
    return total


def exact_probability_of_sentences(sentences, phi, prior, epsilon):
    """Sum over all topics and switches of sentences; a first sentence draws its topic for certain."""
    topics, total = range(len(prior)), 0.0
    for assignment in itertools.product(topics, repeat=len(sentences)):
        emitted = math.prod(
            phi[topic][word] for topic, words in zip(assignment, sentences, strict=True) for word in words
        )
        for later in itertools.product([False, True], repeat=max(0, len(sentences) - 1)):
            switches = [True, *later][: len(sentences)]
            if any(
                not switched and assignment[place] != assignment[place - 1]
                for place, switched in enumerate(switches)
            ):
                continue
            drawn = [topic for topic, switched in zip(assignment, switches, strict=True) if switched]
            chance = math.prod(epsilon if switched else 1.0 - epsilon for switched in switches[1:])
            total += emitted * chance * math.exp(log_rising(prior, [drawn.count(topic) for topic in topics]))
    return total


def estimate(words, phi, prior, particles, rng, *, again=True, copied=True):
    """One estimate of p(words), particle by particle.

    Without `again`, earlier topics are never drawn again; without `copied`, particles are not copied or dropped in
    proportion to their weights.
    """
    phi, prior = np.asarray(phi), np.asarray(prior)

    def drawn(chances):
        return int(np.searchsorted(np.cumsum(chances), rng.random() * chances.sum(), side="right"))

    topics = [[] for _ in range(particles)]
    estimated = 1.0

    def weights(held, word):
        return (prior + np.bincount(held, minlength=len(prior))) * phi[:, word]

    for place, word in enumerate(words):
        if again:
            for held in topics:
                for earlier in range(place):
                    others = np.array(held[:earlier] + held[earlier + 1 :], int)
                    held[earlier] = drawn(weights(others, words[earlier]))
        chances = np.array([weights(np.array(held, int), word).sum() for held in topics])
        estimated *= chances.mean() / (prior.sum() + place)
        if copied:
            topics = [list(topics[drawn(chances)]) for _ in range(particles)]
        for held in topics:
            held.append(drawn(weights(np.array(held, int), word)))
    return estimated
