"""Collapsed Gibbs sampling of the hidden topic Markov model: switches of sentences, topics and ends of runs.

The sentences of a document are visited from the last to the first.  Let R be the sentences from s to the one before
the next switch.  Given everything else, R keeps the topic before it (psi_s = 0) or draws one (psi_s = 1), with
theta_d and phi integrated out (docs/theory/htmm-collapsed.md#eq-htmm-collapsed):

    psi_s = 0                (1 - epsilon) (n_d + a) f_{z_(s-1)}(R)        not for a first sentence
    psi_s = 1, z_R = k       epsilon (n_dk + a_k) f_k(R)                   epsilon = 1 for a first sentence
    psi_s = 1, z_R = new     epsilon a_u f_new(R)

n_dk counts the other draws of topics in the document, a_k is alpha (K topics) or alpha beta_k, a_u is 0 or alpha
beta_u, a is their sum, and f_k(R) is the probability of the words of R given the other words of topic k.  While
sentences stay, R grows: the log f_k of all topics are continued, so that a sweep costs K per word.

A topic that loses its last run closes, and its weight goes back to the unseen.  Where the number of topics is given
one run more is counted for each, so that none closes.  A sweep that runs out of slots returns where it stopped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.crf_seating import first_vacant, slots_in_use
from franchise.kernels.random.weights import draw_from_weights, draw_stick, exponentiate
from franchise.kernels.runtime.compile import helper, kernel, shared_helper


class Runs(NamedTuple):
    """The state; C slots for topics."""

    topics: np.ndarray  # int32 (S,): z
    switches: np.ndarray  # bool (S,): psi
    counts: np.ndarray  # int32 (V, C): words by topic, n_kw
    totals: np.ndarray  # int64 (C,): words of topics, n_k
    sizes: np.ndarray  # int64 (C,): runs of topics; a slot without runs is vacant
    weights: np.ndarray  # float64 (C,): a_k, zero in vacant slots
    unseen: np.ndarray  # float64 (1,): a_u


class LogTables(NamedTuple):
    """Logs that Dirichlet-multinomial probabilities are sums of; they depend on the prior of the words only."""

    offsets: np.ndarray  # int64 (V + 1,): word w has the logs from offsets[w] on
    logs: np.ndarray  # float64: log(eta_w + n), n = 0, 1, ... up to the occurrences of w
    rising: np.ndarray  # float64 (N + 2,): sum of log(eta + i) over i < n, eta the sum of eta_w


class RunScratch(NamedTuple):
    """Scratch arrays."""

    rows: np.ndarray  # float64 (3, C): log f_k(R) without its denominator, n_dk + a_k, weights
    in_document: np.ndarray  # int64 (C,): zeros
    in_run: np.ndarray  # int32 (V,): zeros


@shared_helper
def take_out(data, runs, tables, sentence, limit, scratch):
    """Move the words of a sentence from its topic to R; what log f_new(R) gains."""
    log_words, in_run = scratch.rows[0], scratch.in_run
    own, gained = runs.topics[sentence], 0.0
    for place in range(data.tokens[sentence], data.tokens[sentence + 1]):
        word = data.words[place]
        row, already = runs.counts[word], in_run[word]
        logs = tables.logs[tables.offsets[word] : tables.offsets[word + 1]]
        of_own = log_words[own] + logs[row[own] - 1]
        for topic in range(limit):
            log_words[topic] += logs[row[topic] + already]
        log_words[own] = of_own
        gained += logs[already]
        row[own] -= 1
        in_run[word] += 1
    runs.totals[own] -= data.tokens[sentence + 1] - data.tokens[sentence]
    return gained


@shared_helper
def put_in(data, runs, begin, end, topic, scratch):
    """Give the sentences of R a topic; R is empty after it."""
    for sentence in range(begin, end):
        runs.topics[sentence] = topic
    for place in range(data.tokens[begin], data.tokens[end]):
        runs.counts[data.words[place], topic] += 1
        scratch.in_run[data.words[place]] = 0
    runs.totals[topic] += data.tokens[end] - data.tokens[begin]
    runs.sizes[topic] += 1
    scratch.in_document[topic] += 1


@shared_helper
def fill_weights(runs, tables, words, log_new, limit, scratch):
    """Fill in f_k(R) (n_dk + a_k), up to the factor that is returned as a log; the sum of them is returned, too."""
    log_words, prior, out = scratch.rows[0], scratch.rows[1], scratch.rows[2]
    largest = log_new if runs.unseen[0] > 0.0 else -math.inf
    for topic in range(limit):
        prior[topic] = scratch.in_document[topic] + runs.weights[topic]
        total = runs.totals[topic]
        out[topic] = log_words[topic] - (tables.rising[total + words] - tables.rising[total])
        if prior[topic] > 0.0:
            largest = max(largest, out[topic])
    return exponentiate(prior, largest, limit, out), largest


@shared_helper
def count_draws(data, runs, document, in_document):
    """Count the draws of topics in a document; their sum."""
    in_document[:] = 0
    draws = 0
    for sentence in range(data.documents[document], data.documents[document + 1]):
        if runs.switches[sentence]:
            in_document[runs.topics[sentence]] += 1
            draws += 1
    return draws


@helper
def close_run(runs, topic):
    """Take a run off its topic; without others the topic closes."""
    runs.sizes[topic] -= 1
    if runs.sizes[topic] == 0:
        runs.unseen[0] += runs.weights[topic]
        runs.weights[topic] = 0.0


@helper
def open_topic(runs, topic, gamma, uniform):
    """Break a Beta(1, gamma) share off the unseen weight for a new topic."""
    unseen = runs.unseen[0]
    runs.weights[topic] = unseen * draw_stick(gamma, uniform)
    runs.unseen[0] = unseen * math.exp(math.log1p(-uniform) / gamma)


@shared_helper
def sweep_document(data, runs, tables, document, last, mass, gamma, switch, scratch, rng):
    """Draw the switches and topics of a document from sentence `last` back; return where it stopped."""
    begin, end = data.documents[document], last + 1
    draws = count_draws(data, runs, document, scratch.in_document)
    log_words, weights = scratch.rows[0], scratch.rows[2]
    limit, log_new = slots_in_use(runs.sizes), 0.0
    vacant = first_vacant(runs.sizes, 0)
    log_words[:limit] = 0.0
    for sentence in range(last, begin - 1, -1):
        if end == sentence + 1 and vacant == len(runs.sizes) and runs.unseen[0] > 0.0:
            return sentence
        old = np.int64(runs.topics[sentence])
        log_new += take_out(data, runs, tables, sentence, limit, scratch)
        if runs.switches[sentence]:
            scratch.in_document[old] -= 1
            draws -= 1
            close_run(runs, old)
            if runs.sizes[old] == 0:
                vacant = min(vacant, old)
        words = data.tokens[end] - data.tokens[sentence]
        log_fresh = log_new - tables.rising[words]
        total, largest = fill_weights(runs, tables, words, log_fresh, limit, scratch)
        fresh = 0.0
        if runs.unseen[0] > 0.0:
            fresh = runs.unseen[0] * math.exp(log_fresh - largest)
        stay, to_enter = 0.0, 1.0
        if sentence > begin:
            before, to_enter = runs.topics[sentence - 1], switch
            stay = (1.0 - switch) * (draws + mass) * weights[before] / scratch.rows[1, before]
        uniform = rng.random() * (stay + to_enter * (total + fresh))
        runs.switches[sentence] = uniform >= stay
        if uniform < stay:
            continue
        uniform = (uniform - stay) / to_enter
        if uniform < fresh:
            topic, limit = vacant, max(limit, vacant + 1)
            open_topic(runs, topic, gamma, rng.random())
        else:
            topic = draw_from_weights(weights, total, limit, (uniform - fresh) / total)
        put_in(data, runs, sentence, end, topic, scratch)
        vacant = first_vacant(runs.sizes, vacant)
        draws += 1
        end, log_new = sentence, 0.0
        log_words[:limit] = 0.0
    return begin - 1


@kernel
def sweep_runs(data, runs, tables, last, mass, gamma, switch, scratch, rng):
    """Draw all sentences from `last` back to the first; return where it stopped for want of a slot, or -1."""
    for document in range(len(data.documents) - 2, -1, -1):
        if data.documents[document] <= last and data.documents[document + 1] > data.documents[document]:
            last = sweep_document(data, runs, tables, document, last, mass, gamma, switch, scratch, rng)
            if last >= data.documents[document]:
                return last
    return -1


# --- where a run ends and the next begins -------------------------------------------------------------------------


@helper
def move_words(data, counts, totals, begin, end, old, new):
    """Move the words of the sentences from `begin` to `end` from one topic to another."""
    for place in range(data.tokens[begin], data.tokens[end]):
        counts[data.words[place], old] -= 1
        counts[data.words[place], new] += 1
    words = data.tokens[end] - data.tokens[begin]
    totals[old] -= words
    totals[new] += words


@shared_helper
def move_sentence(data, runs, tables, sentence, old, new):
    """Move a sentence between topics; what the log probability of all words gains."""
    gained = 0.0
    for place in range(data.tokens[sentence], data.tokens[sentence + 1]):
        word = data.words[place]
        row, first = runs.counts[word], tables.offsets[word]
        row[old] -= 1
        gained += tables.logs[first + row[new]] - tables.logs[first + row[old]]
        row[new] += 1
    words = data.tokens[sentence + 1] - data.tokens[sentence]
    before, after = runs.totals[old], runs.totals[new]
    gained += tables.rising[before] - tables.rising[before - words]
    gained -= tables.rising[after + words] - tables.rising[after]
    runs.totals[old] -= words
    runs.totals[new] += words
    return gained


@shared_helper
def shift_boundary(data, runs, tables, begin, boundary, end, weights, rng):
    """Draw where the second of two runs begins, in ]begin, end[, given their topics; return the place."""
    first, second = runs.topics[begin], runs.topics[boundary]
    if first == second or end - begin == 2:
        return boundary
    move_words(data, runs.counts, runs.totals, begin + 1, boundary, first, second)
    choices = end - begin - 1
    weights[0], largest = 0.0, 0.0
    for choice in range(1, choices):
        gained = move_sentence(data, runs, tables, begin + choice, second, first)
        weights[choice] = weights[choice - 1] + gained
        largest = max(largest, weights[choice])
    total = 0.0
    for choice in range(choices):
        weights[choice] = math.exp(weights[choice] - largest)
        total += weights[choice]
    place = begin + 1 + draw_from_weights(weights, total, choices, rng.random())
    move_words(data, runs.counts, runs.totals, place, end - 1, first, second)
    runs.switches[boundary] = False
    runs.switches[place] = True
    runs.topics[begin:place] = first
    runs.topics[place:end] = second
    return place


@kernel
def shift_boundaries(data, runs, tables, weights, rng):
    """Draw the first sentence of every run but the first of its document, given topics and numbers of runs.

    docs/theory/htmm-collapsed.md#eq-htmm-shift.  `weights` has one number per sentence of the longest document.
    """
    for document in range(len(data.documents) - 1):
        begin, last = data.documents[document], data.documents[document + 1]
        boundary = begin + 1
        while boundary < last:
            end = boundary + 1
            while end < last and not runs.switches[end]:
                end += 1
            if runs.switches[boundary]:
                begin = shift_boundary(data, runs, tables, begin, boundary, end, weights, rng)
            boundary = end
