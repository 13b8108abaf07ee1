"""The held-out scores with dictionaries and loops, straight from the formulas; slow and readable."""

from __future__ import annotations

import itertools
import math
from collections import Counter

UNSEEN = "unseen"


class NaiveDraw:
    """One draw: counts, topics and weights at their posterior means."""

    def __init__(self, documents, labels, tables, alpha, gamma, word_prior):
        """`documents` and `labels` are lists of lists: word ids, and topics 0..K-1."""
        self.alpha, self.word_prior = alpha, word_prior
        self.words_of_topic = {topic: Counter() for topic in range(len(tables))}
        self.topics_of_document = [Counter(topics) for topics in labels]
        for words, topics in zip(documents, labels, strict=True):
            for word, topic in zip(words, topics, strict=True):
                self.words_of_topic[topic][word] += 1
        mass = sum(tables) + gamma
        self.weights = {topic: count / mass for topic, count in enumerate(tables)}
        self.weights[UNSEEN] = gamma / mass

    def phi(self, topic, word):
        counts = Counter() if topic == UNSEEN else self.words_of_topic[topic]
        return (counts[word] + self.word_prior[word]) / (sum(counts.values()) + sum(self.word_prior))

    def weights_of_training_document(self, document):
        counts = self.topics_of_document[document]
        return self._posterior_mean({topic: counts[topic] for topic in self.weights})

    def exact_weights(self, words):
        """E[pi | words] by summing over all assignments of topics to the words."""
        topics = list(self.weights)
        mean, total = dict.fromkeys(topics, 0.0), 0.0
        for assignment in itertools.product(topics, repeat=len(words)):
            counts = Counter(assignment)
            chance = math.prod(self.phi(topic, word) for topic, word in zip(assignment, words, strict=True))
            for topic in topics:
                prior = self.alpha * self.weights[topic]
                chance *= math.exp(math.lgamma(prior + counts[topic]) - math.lgamma(prior))
            posterior_mean = self._posterior_mean(counts)
            total += chance
            for topic in topics:
                mean[topic] += chance * posterior_mean[topic]
        return {topic: value / total for topic, value in mean.items()}

    def _posterior_mean(self, counts):
        total = self.alpha + sum(counts[topic] for topic in self.weights)
        return {
            topic: (self.alpha * weight + counts[topic]) / total for topic, weight in self.weights.items()
        }

    def probability(self, word, weights):
        return sum(weight * self.phi(topic, word) for topic, weight in weights.items())
