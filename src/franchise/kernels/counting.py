"""Statistics counted anew from labels, and the log likelihood they give."""

from __future__ import annotations

import numpy as np

from franchise.kernels import verbs
from franchise.kernels.compile import kernel


@kernel
def recount(statistics, observations, topic_of_observation, observations_per_topic):
    """Clear every topic and put each observation into its topic, in order; -1 means in no topic."""
    for topic in range(len(observations_per_topic)):
        verbs.clear(statistics, topic)
        observations_per_topic[topic] = 0
    for index in range(len(topic_of_observation)):
        topic = np.int64(topic_of_observation[index])
        if topic >= 0:
            verbs.add(statistics, observations, index, topic)
            observations_per_topic[topic] += 1


@kernel
def log_likelihood(statistics, observations_per_topic):
    """log p(x | z): the sum of the log marginal likelihoods of the topics."""
    marginals = np.zeros(len(observations_per_topic))
    verbs.fill_log_marginals(statistics, len(observations_per_topic), marginals)
    total = 0.0
    for topic in range(len(observations_per_topic)):
        if observations_per_topic[topic] > 0:
            total += marginals[topic]
    return total
