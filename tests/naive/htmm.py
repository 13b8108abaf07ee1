"""The hidden topic Markov model, by summing over every hidden sequence (Wilcox, chapters 5 and 6).

docs/theory/htmm.md#sec-htmm-model and docs/theory/htmm-hdp.md#eq-htmm-hdp-posterior.

A document is a list of sentences, a sentence a list of word ids 0..V-1. With K topics

    theta_d ~ Dirichlet(alpha),   phi_k ~ Dirichlet(eta),   epsilon ~ Beta(zeta1, zeta2)
    psi_1 = 1 by definition,      psi_s ~ Bernoulli(epsilon) for the later sentences
    z_s ~ theta_d where psi_s = 1 (it may be the topic before once more),   z_s = z_{s-1} where psi_s = 0
    every word of sentence s ~ phi_{z_s}

(phi is called beta in the thesis, and the thesis goes word by word where this goes sentence by sentence). A
sentence without words says nothing, but it is a link of the chain like any other; a document may have no
sentences at all. In the nonparametric model theta_d ~ DP(alpha, beta) with beta ~ GEM(gamma) instead.

There is no forward and no backward recursion in here. A document of S sentences has K (K+1)^(S-1) pairs of
hidden sequences, and all of them are written down and added up: good for some six sentences.

Names
-----
document, documents : list of sentences; list of documents
topics, switches : tuples, z_s and psi_s of every sentence of one document
theta, thetas : K topic weights of one document; one such vector per document
phi : (K, V), word probabilities of the topics
alpha, eta : the Dirichlet parameter of every topic or word (not their sum); a number, or one for each
"""

import itertools
import math

import numpy as np

from tests.naive.choices import log_of, log_sum_exp, normalised
from tests.naive.families import Categorical
from tests.naive.partitions import all_partitions, blocks_of
from tests.naive.posterior import log_prior_of_partition


def sequences(n_sentences, n_topics):
    """Every (topics, switches) of positive probability, as a list of pairs of tuples.

    The first sentence switches. A later one stays, with the topic before, or switches to any topic.
    """
    pairs = [((), ())]
    for sentence in range(n_sentences):
        longer = []
        for topics, switches in pairs:
            if sentence > 0:
                longer.append(((*topics, topics[-1]), (*switches, 0)))
            for topic in range(n_topics):
                longer.append(((*topics, topic), (*switches, 1)))
        pairs = longer
    return pairs


def log_joint(document, topics, switches, theta, phi, epsilon):
    """log p(words, z, psi | theta, phi, epsilon); minus infinity for what cannot happen.

    theta_{z_1} * prod_{s>1} [epsilon theta_{z_s} if psi_s = 1, (1 - epsilon) I(z_s = z_{s-1}) if psi_s = 0]
                * prod_s prod_{words w of s} phi_{z_s w}              (5.3), (5.5), (5.7)
    """
    log_probability = 0.0
    for sentence, words in enumerate(document):
        topic = topics[sentence]
        if sentence == 0:
            log_probability += log_of(theta[topic]) if switches[0] == 1 else -math.inf
        elif switches[sentence] == 1:
            log_probability += log_of(epsilon) + log_of(theta[topic])
        else:
            log_probability += log_of(1.0 - epsilon) if topic == topics[sentence - 1] else -math.inf
        for word in words:
            log_probability += log_of(phi[topic][word])
    return log_probability


def log_joints(document, theta, phi, epsilon):
    """Dictionary (topics, switches) -> log p(words, z, psi | theta, phi, epsilon), over all sequences."""
    return {
        (topics, switches): log_joint(document, topics, switches, theta, phi, epsilon)
        for topics, switches in sequences(len(document), len(theta))
    }


def log_likelihood(document, theta, phi, epsilon):
    """log p(words | theta, phi, epsilon): z and psi summed out; 0 for a document without sentences."""
    return log_sum_exp(log_joints(document, theta, phi, epsilon).values())


def posteriors(document, theta, phi, epsilon):
    """What the forward-backward algorithm must give, from the posterior of whole sequences.

    Returns
    -------
    dictionary
        "log_likelihood" : log p(words)
        "topic" : (S, K), p(z_s = k | words)
        "switch_and_topic" : (S, K), p(z_s = k, psi_s = 1 | words); for the first sentence the same as "topic"
    """
    logs = log_joints(document, theta, phi, epsilon)
    log_total = log_sum_exp(logs.values())
    if log_total == -math.inf:
        raise ValueError("these words have probability 0 under every sequence, so there is no posterior")
    topic_posterior = np.zeros((len(document), len(theta)))
    switch_and_topic = np.zeros((len(document), len(theta)))
    for (topics, switches), log_probability in logs.items():
        probability = math.exp(log_probability - log_total)
        for sentence in range(len(document)):
            topic_posterior[sentence, topics[sentence]] += probability
            if switches[sentence] == 1:
                switch_and_topic[sentence, topics[sentence]] += probability
    return {"log_likelihood": log_total, "topic": topic_posterior, "switch_and_topic": switch_and_topic}


def best_sequence(document, theta, phi, epsilon):
    """((topics, switches), log_joint) where log_joint is highest: what (5.45) is after."""
    logs = log_joints(document, theta, phi, epsilon)
    best = max(logs, key=logs.get)
    return best, logs[best]


def best_topics(document, theta, phi, epsilon):
    """(topics, log p(words, z = topics)) where that is highest, psi summed out.

    Not always the topics of `best_sequence`: staying in a topic and switching to it are one sequence here.
    """
    terms = {}
    for (topics, _), log_probability in log_joints(document, theta, phi, epsilon).items():
        terms.setdefault(topics, []).append(log_probability)
    logs = {topics: log_sum_exp(its_terms) for topics, its_terms in terms.items()}
    best = max(logs, key=logs.get)
    return best, logs[best]


# --- maximum a posteriori by expectation-maximisation -------------------------------------------------------


def _one_for_each(parameter, count):
    """A Dirichlet parameter as a list of `count` numbers, from one number or from such a list."""
    return [float(value) for value in np.broadcast_to(parameter, (count,))]


def _times_log(factor, value):
    """factor * log(value), with 0 log 0 = 0."""
    return 0.0 if factor == 0 else factor * log_of(value)


def log_objective(documents, thetas, phi, epsilon, alpha, eta, zeta1, zeta2):
    """The log posterior density of (thetas, phi, epsilon) up to a constant: what EM climbs.

    sum_d log p(words of d) + sum_dk (alpha_k - 1) log theta_dk + sum_kw (eta_w - 1) log phi_kw
        + (zeta1 - 1) log epsilon + (zeta2 - 1) log(1 - epsilon)            (5.17), (5.20) and the Beta prior

    A factor 0 times log 0 is 0, so with all parameters 1 this is the log likelihood.
    """
    n_topics, n_words = np.shape(phi)
    alphas, etas = _one_for_each(alpha, n_topics), _one_for_each(eta, n_words)
    total = _times_log(zeta1 - 1.0, epsilon) + _times_log(zeta2 - 1.0, 1.0 - epsilon)
    for document, theta in zip(documents, thetas, strict=True):
        total += log_likelihood(document, theta, phi, epsilon)
        total += sum(_times_log(alphas[topic] - 1.0, theta[topic]) for topic in range(n_topics))
    for topic in range(n_topics):
        total += sum(_times_log(etas[word] - 1.0, phi[topic][word]) for word in range(n_words))
    return total


def _mode(weights):
    """Weights divided by their sum: the mode of a Dirichlet(weights + 1); uniform if all are 0."""
    total = sum(weights)
    if total == 0:
        return [1.0 / len(weights)] * len(weights)
    return [weight / total for weight in weights]


def em_step(documents, thetas, phi, epsilon, alpha, eta, zeta1, zeta2):
    """One step of MAP-EM: (thetas, phi, epsilon) that maximise the expected log joint plus the log prior.

    theta_dk ~ sum_s p(z_s = k, psi_s = 1 | words) + alpha_k - 1           (5.30), the first sentence included
    phi_kw   ~ sum over sentences of p(z_s = k | words) count_sw + eta_w - 1                       (5.39)
    epsilon  = [sum_{s>1} p(psi_s = 1 | words) + zeta1 - 1] / [later sentences + zeta1 + zeta2 - 2]    (5.43)

    The later sentences are all but the first of each document that has a first one. A document without
    sentences gets the mode of its prior. Where nothing at all is to go by (no sentences and alpha = 1, no
    words of a topic and eta = 1) every distribution is as good, and it is the uniform one; so is every
    epsilon without later sentences if zeta1 = zeta2 = 1, and it stays what it is. All parameters must be at
    least 1, or the prior has no mode inside.

    Returns
    -------
    (thetas, phi, epsilon) : arrays (documents, K) and (K, V), and a number
    """
    n_topics, n_words = np.shape(phi)
    alphas, etas = _one_for_each(alpha, n_topics), _one_for_each(eta, n_words)
    if min(*alphas, *etas, zeta1, zeta2) < 1:
        raise ValueError("alpha, eta, zeta1 and zeta2 must be at least 1")
    new_thetas = []
    word_weights = [[its_eta - 1.0 for its_eta in etas] for _ in range(n_topics)]
    expected_switches = 0.0
    later_sentences = 0
    for document, theta in zip(documents, thetas, strict=True):
        expected = posteriors(document, theta, phi, epsilon)
        topic_weights = [its_alpha - 1.0 for its_alpha in alphas]
        for sentence, words in enumerate(document):
            for topic in range(n_topics):
                topic_weights[topic] += expected["switch_and_topic"][sentence, topic]
                for word in words:
                    word_weights[topic][word] += expected["topic"][sentence, topic]
            if sentence > 0:
                later_sentences += 1
                expected_switches += expected["switch_and_topic"][sentence].sum()
        new_thetas.append(_mode(topic_weights))
    new_phi = [_mode(weights) for weights in word_weights]
    denominator = later_sentences + zeta1 + zeta2 - 2.0
    new_epsilon = (expected_switches + zeta1 - 1.0) / denominator if denominator > 0 else epsilon
    return np.reshape(new_thetas, (len(documents), n_topics)), np.array(new_phi), float(new_epsilon)


# --- the exact posterior of the sequences, everything else integrated out -----------------------------------


def _log_probability_of_switches(switches_of_documents, zeta1, zeta2):
    """log B(zeta1 + switches, zeta2 + stays) / B(zeta1, zeta2), first sentences not counted (6.9).

    The later psi are draws from a two-sided coin with a Beta prior: a Categorical with two words.
    """
    later = [psi for switches in switches_of_documents for psi in switches[1:]]
    return Categorical([zeta2, zeta1]).log_marginal(later)


def _log_marginal_of_words(sentences, labels, etas):
    """Sum over topics of the log marginal likelihood of all words of all sentences that carry the label."""
    log_probability = 0.0
    for members in blocks_of(labels).values():
        log_probability += Categorical(etas).log_marginal([word for s in members for word in sentences[s]])
    return log_probability


def finite_posterior(documents, n_topics, n_words, alpha, eta, zeta1, zeta2):
    """p(z, psi | words) with theta, phi and epsilon integrated out.

    p(z, psi, words) = B(zeta1 + switches, zeta2 + stays) / B(zeta1, zeta2)       later sentences only
                       * prod_d  B(alpha + n_d) / B(alpha),   n_dk = sentences with psi = 1 and z = k
                       * prod_k  B(eta + n_k) / B(eta),       n_kw = words w in sentences with z = k

    with B(a) = prod Gamma(a_l) / Gamma(sum a_l).

    Returns
    -------
    dictionary : one (topics, switches) per document, as a tuple of pairs -> probability
    """
    alphas, etas = _one_for_each(alpha, n_topics), _one_for_each(eta, n_words)
    all_sentences = [sentence for document in documents for sentence in document]
    log_weights = {}
    for pairs in itertools.product(*(sequences(len(document), n_topics) for document in documents)):
        log_weight = _log_probability_of_switches([switches for _, switches in pairs], zeta1, zeta2)
        for topics, switches in pairs:
            drawn = [topic for topic, psi in zip(topics, switches, strict=True) if psi == 1]
            log_weight += Categorical(alphas).log_marginal(drawn)
        all_topics = [topic for topics, _ in pairs for topic in topics]
        log_weights[pairs] = log_weight + _log_marginal_of_words(all_sentences, all_topics, etas)
    return normalised(log_weights)


def _all_switches(documents):
    """Every choice of switches: a list of lists with one tuple per document, 1 at each first sentence."""
    choices = []
    for document in documents:
        if len(document) == 0:
            choices.append([()])
        else:
            choices.append([(1, *later) for later in itertools.product((0, 1), repeat=len(document) - 1)])
    return [list(switches) for switches in itertools.product(*choices)]


def labels_of_sentences(labels_of_draws, flat_switches):
    """The label of every sentence: the next draw's where it switches, else that of the sentence before.

    Every block appears first at a switch, so canonical labels of the draws give canonical labels.
    """
    remaining = iter(labels_of_draws)
    labels = []
    for psi in flat_switches:
        labels.append(next(remaining) if psi == 1 else labels[-1])
    return tuple(labels)


def hdp_posterior(documents, n_words, alpha, gamma, eta, zeta1, zeta2):
    """p(partition of the sentences, psi | words) with theta_d ~ DP(alpha, beta), beta ~ GEM(gamma).

    p = B(zeta1 + switches, zeta2 + stays) / B(zeta1, zeta2)                      later sentences only
        * p(partition of the sentences with psi = 1, grouped by document)         `posterior`
        * prod over blocks of B(eta + n_k) / B(eta)                               words of all its sentences

    Here alpha is the concentration of the group level, not a parameter of each topic.

    Returns
    -------
    dictionary : (partition, switches) -> probability, both flat tuples over the sentences of all documents in
        order, the partition with canonical labels
    """
    etas = _one_for_each(eta, n_words)
    all_sentences = [sentence for document in documents for sentence in document]
    log_weights = {}
    for switches_of_documents in _all_switches(documents):
        log_switches = _log_probability_of_switches(switches_of_documents, zeta1, zeta2)
        flat_switches = tuple(psi for switches in switches_of_documents for psi in switches)
        groups = [
            index for index, switches in enumerate(switches_of_documents) for psi in switches if psi == 1
        ]
        for labels_of_draws in all_partitions(len(groups)):
            labels = labels_of_sentences(labels_of_draws, flat_switches)
            log_weights[labels, flat_switches] = (
                log_switches
                + log_prior_of_partition(labels_of_draws, groups, alpha, gamma)
                + _log_marginal_of_words(all_sentences, labels, etas)
            )
    return normalised(log_weights)


# --- forward simulation -------------------------------------------------------------------------------------


def draw_documents(rng, sentence_lengths, alpha, eta, zeta1, zeta2, n_topics, n_words):
    """Parameters, hidden sequences and words from the model, in the order in which it is written.

    Parameters
    ----------
    sentence_lengths : list per document of the number of words of each of its sentences

    Returns
    -------
    (documents, topics per document, switches per document, thetas, phi, epsilon)
    """
    alphas, etas = _one_for_each(alpha, n_topics), _one_for_each(eta, n_words)
    epsilon = rng.beta(zeta1, zeta2)
    phi = rng.dirichlet(etas, size=n_topics)
    thetas = rng.dirichlet(alphas, size=len(sentence_lengths))
    documents, all_topics, all_switches = [], [], []
    for theta, lengths in zip(thetas, sentence_lengths, strict=True):
        document, topics, switches = [], [], []
        for sentence, length in enumerate(lengths):
            psi = 1 if sentence == 0 or rng.random() < epsilon else 0
            topic = int(rng.choice(n_topics, p=theta)) if psi == 1 else topics[-1]
            switches.append(psi)
            topics.append(topic)
            document.append([int(rng.choice(n_words, p=phi[topic])) for _ in range(length)])
        documents.append(document)
        all_topics.append(tuple(topics))
        all_switches.append(tuple(switches))
    return documents, all_topics, all_switches, thetas, phi, epsilon
