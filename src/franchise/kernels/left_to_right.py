"""The probability of whole documents given topics, from left to right, by particles.

    log p(w_1, ..., w_n)  =  sum_i log p(w_i | w_1, ..., w_{i-1})

Each of R particles holds topics z_1, ..., z_{i-1} of the words so far; the document's proportions are integrated
out.  For word i (Wallach et al., 2009, "Evaluation methods for topic models"; Buntine, 2009, "Estimating
likelihoods for topic models"):

    1. now and then, the topics so far are drawn again, one after the other, each given all the others
    2. every particle has the weight  p(w_i | z_1, ..., z_{i-1}) = sum_k (alpha_k + n_k) f_k(w_i) / (alpha + i - 1);
       the mean of the weights is the estimate of p(w_i | w_1, ..., w_{i-1})
    3. particles are copied or dropped in proportion to their weights (systematic resampling)
    4. z_i is drawn in every particle, with weights (alpha_k + n_k) f_k(w_i)

Wallach et al. do without step 3.  It makes the four a particle filter (Scott & Baldridge, 2013, "A recursive
estimate for the predictive likelihood in a topic model"), and the product of the means an unbiased estimate of
p(w_1, ..., w_n), for any number of particles and however often topics are drawn again, as step 1 leaves the
posterior of z_1, ..., z_{i-1} as it is.  Topics are drawn again at each of the first words, then whenever the
document has grown by an eighth: a document of n words takes time in proportion to n, not to its square.

For sentences it is the same with the topic and the switch of each sentence in place of z (`htmm/`); those so far
are drawn again together, theta first, by `kernels/htmm_gibbs.py`.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.htmm_em import SentenceData, scaled_emissions
from franchise.kernels.htmm_gibbs import Drawn, draw_document
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import helper, kernel, shared_helper

GROWTH = 8
"""Topics so far are drawn again when a document has grown by one word in GROWTH, and by one word at least."""


# --- particles ----------------------------------------------------------------------------------------------


@helper
def fill_copies(weights, total, uniform, copies):
    """How often each particle is copied: for each point uniform + 0, 1, ... in its part of the way from 0 to R."""
    size, cumulative, before = len(weights), 0.0, 0
    for particle in range(size):
        cumulative += weights[particle]
        upto = size
        if particle < size - 1:
            upto = min(size, max(before, math.ceil(cumulative / total * size - uniform)))
        copies[particle] = upto - before
        before = upto


@helper
def fill_sources(weights, total, uniform, copies, sources):
    """The particle that each continues as: itself, or if it has no copy, one that has more than one.

    So those that others are copies of stay where they are; `copies` is room.
    """
    fill_copies(weights, total, uniform, copies)
    vacant = 0
    for particle in range(len(copies)):
        if copies[particle] > 0:
            sources[particle] = particle
        for _ in range(copies[particle] - 1):
            while copies[vacant] > 0:
                vacant += 1
            sources[vacant] = particle
            vacant += 1


# --- words --------------------------------------------------------------------------------------------------


@shared_helper
def draw_again(densities, words, topics, counts, upto, weights, states):
    """Draw the topics of the words before `upto` in turn, each given the others, in one particle."""
    for place in range(upto):
        counts[topics[place]] -= 1.0
        topics[place] = draw_topic(densities[words[place]], counts, weights, states)
        counts[topics[place]] += 1.0


@shared_helper
def draw_topic(density, counts, weights, states):
    """A topic with weights (alpha_k + n_k) f_k."""
    total = 0.0
    for topic in range(len(counts)):
        weights[topic] = counts[topic] * density[topic]
        total += weights[topic]
    return draw_from_weights(weights, total, len(counts), next_uniform(states))


@shared_helper
def predict_words(densities, words, prior, particles, states, out):
    """Fill ``out[i]`` with the estimate of log p(w_i | w_1, ..., w_{i-1}) in one document."""
    size = len(prior)
    topics = np.zeros((particles, len(words)), np.int32)
    counts, chances = np.empty((particles, size)), np.empty(particles)
    copies, sources, weights = np.empty(particles, np.int64), np.empty(particles, np.int64), np.empty(size)
    mass = 0.0
    for topic in range(size):
        mass += prior[topic]
    for particle in range(particles):
        counts[particle] = prior
    again = 1
    for place in range(len(words)):
        if place >= again:
            for particle in range(particles):
                draw_again(densities, words, topics[particle], counts[particle], place, weights, states)
            again = place + 1 + place // GROWTH
        density, total = densities[words[place]], 0.0
        for particle in range(particles):
            chance = 0.0
            for topic in range(size):
                chance += counts[particle, topic] * density[topic]
            chances[particle] = chance
            total += chance
        out[place] = math.log(total / (particles * (mass + place)))
        fill_sources(chances, total, next_uniform(states), copies, sources)
        for particle in range(particles):
            source = sources[particle]
            if source != particle:
                topics[particle, :place] = topics[source, :place]
                counts[particle] = counts[source]
        for particle in range(particles):
            topic = draw_topic(density, counts[particle], weights, states)
            topics[particle, place] = topic
            counts[particle, topic] += 1.0


@kernel
def predict_documents(offsets, words, densities, prior, particles, states, out):
    """Fill ``out[b, i]`` with the estimates of log p(w_i | words before it in its document), for all documents.

    Parameters
    ----------
    offsets, words : int64 (J + 1,), int64 (N,)
        Documents one after the other; `words` are rows of `densities`.
    densities : float64 (rows, K)
        f_k(w); each row may have a factor of its own.
    prior : float64 (K,)
        alpha_k, all positive.
    particles : int
        R.
    states : uint64 (B, J, 4)
        Generators of B independent estimates of each document.
    out : float64 (B, N)
        Filled.
    """
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        for estimate in range(len(out)):
            own = states[estimate, document].copy()
            predict_words(densities, words[begin:end], prior, particles, own, out[estimate, begin:end])


# --- sentences ----------------------------------------------------------------------------------------------


@shared_helper
def weigh_topics(given, counts, drawn, before, emissions, weights):
    """Fill in p(z_s = k | topics and switches so far) times the emission of topic k; their sum.

    p = epsilon (alpha_k + n_k) / (alpha + n) + (1 - epsilon) [k = z_{s-1}].  `before` is z_{s-1}, or -1 for a first
    sentence, which draws its topic for certain.
    """
    total, switch = 0.0, 1.0 if before < 0 else given.switch
    for topic in range(len(weights)):
        chance = switch * counts[topic] / drawn
        if topic == before:
            chance = chance + 1.0 - switch
        weights[topic] = emissions[topic] * chance
        total += weights[topic]
    return total


@shared_helper
def recount_draws(given, topics, switches, upto, counts):
    """alpha_k + n_k, with n_k the sentences before `upto` that drew topic k; the sum of all."""
    total = 0.0
    for topic in range(len(counts)):
        counts[topic] = given.prior[topic]
        total += counts[topic]
    for sentence in range(upto):
        if switches[sentence]:
            counts[topics[sentence]] += 1.0
            total += 1.0
    return total


@shared_helper
def predict_sentences(words, tokens, given, particles, scratch, states, out):
    """Fill ``out[s]`` with the estimate of log p(sentence s | sentences before it) in one document."""
    size, sentences = len(given.prior), len(tokens) - 1
    topics, switches = np.zeros((particles, sentences), np.int32), np.zeros((particles, sentences), np.bool_)
    counts, drawn = np.empty((particles, size)), np.empty(particles)
    chances = np.empty(particles)
    copies, sources = np.empty(particles, np.int64), np.empty(particles, np.int64)
    weights, proportions, barrier, emissions = np.empty(size), np.empty(size), np.zeros(size), np.empty(size)
    bounds = np.zeros(2, np.int64)
    data = SentenceData(words, tokens, bounds)
    for particle in range(particles):
        drawn[particle] = recount_draws(given, topics[particle], switches[particle], 0, counts[particle])
    again = 1
    for sentence in range(sentences):
        if sentence >= again:
            bounds[1] = sentence
            for particle in range(particles):
                chain = Drawn(topics[particle], switches[particle])
                draw_document(data, given, 0, scratch, proportions, states, chain)
                drawn[particle] = recount_draws(
                    given, topics[particle], switches[particle], sentence, counts[particle]
                )
            again = sentence + 1 + sentence // GROWTH
        largest = scaled_emissions(data, given.log_topics, sentence, barrier, scratch.bits, emissions)
        total = 0.0
        for particle in range(particles):
            before = np.int64(topics[particle, sentence - 1]) if sentence > 0 else np.int64(-1)
            chance = weigh_topics(given, counts[particle], drawn[particle], before, emissions, weights)
            chances[particle] = chance
            total += chance
        out[sentence] = math.log(total / particles) + largest
        fill_sources(chances, total, next_uniform(states), copies, sources)
        for particle in range(particles):
            source = sources[particle]
            if source != particle:
                topics[particle, :sentence] = topics[source, :sentence]
                switches[particle, :sentence] = switches[source, :sentence]
                counts[particle], drawn[particle] = counts[source], drawn[source]
        for particle in range(particles):
            before = np.int64(topics[particle, sentence - 1]) if sentence > 0 else np.int64(-1)
            total = weigh_topics(given, counts[particle], drawn[particle], before, emissions, weights)
            topic = draw_from_weights(weights, total, size, next_uniform(states))
            enter = given.switch * counts[particle, topic] / drawn[particle]
            stays = topic == before and next_uniform(states) * (enter + 1.0 - given.switch) >= enter
            topics[particle, sentence], switches[particle, sentence] = topic, not stays
            if not stays:
                counts[particle, topic] += 1.0
                drawn[particle] += 1.0


@kernel
def predict_texts(data, given, particles, scratch, states, out):
    """Fill ``out[b, s]`` with the estimates of log p(sentence s | those before it in its document), for all.

    `states` are the generators of B independent estimates of each document, uint64 (B, D, 4); `given` is a
    `franchise.kernels.htmm_gibbs.Finite`, and `scratch` as `draw_document` needs it.
    """
    for document in range(len(data.documents) - 1):
        begin, end = data.documents[document], data.documents[document + 1]
        for estimate in range(len(out)):
            own = states[estimate, document].copy()
            tokens = data.tokens[begin : end + 1]
            predict_sentences(data.words, tokens, given, particles, scratch, own, out[estimate, begin:end])
