"""Messages along the sentences of a document, for the hidden topic Markov model; O(K) a sentence.

The first sentence draws its topic from theta; each later one switches with probability epsilon and then draws from
theta, else it keeps the topic before it.  With e_s(k), the log probability of the words of sentence s under topic
k, the chain over (topic, switch) needs K numbers a sentence (Wilcox, 5.2;
docs/theory/htmm.md#sec-htmm-messages):

    forward     p_1(k) = theta_k;  p_s(k) = epsilon theta_k + (1 - epsilon) a_{s-1}(k)
                a_s(k) = p_s(k) exp(e_s(k)) / c_s,  c_s such that a_s sums to one;  log likelihood = sum of log c_s
    backward    q_s(k) = exp(e_s(k)) b_s(k) / c_s,   b_S = 1
                b_{s-1}(k) = epsilon sum_j theta_j q_s(j) + (1 - epsilon) q_s(k)
    posteriors  p(z_s = k) = p_s(k) q_s(k);   p(z_s = k, psi_s = 1) = epsilon theta_k q_s(k)   (p_1 q_1 for s = 1)

Two ways to compute them.  *Scaled*: exp(e_s(k) - max_k e_s(k)) in plain numbers, for documents in which
epsilon theta_k is above `PLAIN` for all topics that are possible at all.  Then nothing is lost: to leave a topic
for a sentence and come back costs a factor of 1e-200 at most, and what underflows is below 1e-300, so that it was
not worth staying in.  *In logs*, for the others: there a topic that is nearly impossible to enter may be worth
staying in, however small its number has become.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.dirichlet_ops import sum_of_products
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper, summing_helper

PLAIN = 1e-100
"""Documents whose topics can all be entered with at least this probability are computed in plain numbers."""

LOST = 50.0
"""A number whose log is smaller by so much is lost in a sum: it is below 2e-22 of the larger one."""


SMALLEST = -708.0
"""Below it exp is taken for zero."""

_PER_LOG_2 = 1.0 / math.log(2.0)
_LOG_2 = 0.693147180369123816490  # the leading bits of log 2, so that their product with n is exact
_REST = 1.90821492927058770002e-10  # the others
_TERMS = tuple(1.0 / math.factorial(power) for power in range(14))
_BIAS, _PLACE = np.int32(1023), np.int64(52)


class SentenceData(NamedTuple):
    """Words in sentences in documents, as flat arrays."""

    words: np.ndarray  # int32 (N,)
    tokens: np.ndarray  # int64 (S + 1,): sentence s has the words from tokens[s] to tokens[s + 1]
    documents: (
        np.ndarray
    )  # int64 (D + 1,): document d has the sentences from documents[d] to documents[d + 1]


class Parameters(NamedTuple):
    """What the chain of each document is made of."""

    log_topics: np.ndarray  # float64 (V, K): log phi_kw, a row a word
    proportions: np.ndarray  # float64 (D, K): theta_dk
    switch: float  # epsilon


class Expectations(NamedTuple):
    """What an E-step gives; filled in by `expect`."""

    topics: np.ndarray  # float64 (S, K): p(z_s = k)
    switches: np.ndarray  # float64 (S,): p(psi_s = 1); 1 for first sentences
    entered: np.ndarray  # float64 (D, K): expected number of sentences that drew topic k from theta_d
    log_likelihood: np.ndarray  # float64 (D,)


# --- emissions ----------------------------------------------------------------------------------------------


@shared_helper
def fill_emissions(data, log_topics, sentence, barrier, out):
    """e_s(k), the sum of log phi_kw over a sentence's words; `barrier` is -inf for impossible topics, else 0."""
    topics = len(out)
    for topic in range(topics):
        out[topic] = barrier[topic]
    begin, end = data.tokens[sentence], data.tokens[sentence + 1]
    paired = begin + (end - begin) // 2 * 2
    for token in range(begin, paired, 2):
        first, second = log_topics[data.words[token]], log_topics[data.words[token + 1]]
        for topic in range(topics):
            out[topic] += first[topic] + second[topic]
    if paired < end:
        last = log_topics[data.words[paired]]
        for topic in range(topics):
            out[topic] += last[topic]


@helper
def largest_of(values):
    """The largest of some numbers."""
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@helper
def fill_barrier(proportions, out):
    """0 for topics that are possible, -inf for those with theta_k = 0; the least theta_k of the possible ones."""
    least = math.inf
    for topic in range(len(out)):
        if proportions[topic] > 0.0:
            out[topic] = 0.0
            least = min(least, proportions[topic])
        else:
            out[topic] = -math.inf
    return least


@summing_helper
def weigh(weights, emissions, out):
    """out = weights * emissions; the sum."""
    total = 0.0
    for topic in range(len(out)):
        out[topic] = weights[topic] * emissions[topic]
        total += out[topic]
    return total


# --- in plain numbers ---------------------------------------------------------------------------------------


@shared_helper
def exponentiate_below(values, largest, bits):
    """Replace each value by exp(value - largest), in vector registers; none may be above `largest`.

    exp(x) = 2^n exp(r),   n = round(x / log 2),   r = x - n log 2, |r| <= (log 2) / 2

    exp(r) is its Taylor polynomial of degree 13, whose error there is below the last bit; 2^n is made of its bits,
    for which `bits`, int64, is scratch.  The result is within two units of the last place (measured: 2.2e-16), in
    half the time of as many calls.
    """
    for place in range(len(values)):
        value = max(values[place] - largest, SMALLEST)
        power = np.floor(value * _PER_LOG_2 + 0.5)
        rest = (value - power * _LOG_2) - power * _REST
        total = _TERMS[13]
        for term in range(12, -1, -1):
            total = total * rest + _TERMS[term]
        bits[place] = np.int64(np.int32(power) + _BIAS) << _PLACE
        values[place] = total if values[place] - largest > SMALLEST else 0.0
    powers = bits.view(np.float64)
    for place in range(len(values)):
        values[place] *= powers[place]


@shared_helper
def scaled_emissions(data, log_topics, sentence, barrier, bits, out):
    """exp(e_s(k) - m) with m the largest e_s(k); m. `bits` is scratch."""
    fill_emissions(data, log_topics, sentence, barrier, out)
    largest = largest_of(out)
    exponentiate_below(out, largest, bits)
    return largest


@helper
def predict(filtered, entering, stay, out):
    """p_s(k) = epsilon theta_k + (1 - epsilon) a_{s-1}(k); a_{s-1} may come times c if `stay` is divided by it."""
    for topic in range(len(out)):
        out[topic] = entering[topic] + stay * filtered[topic]


@shared_helper
def expect_scaled(data, parameters, document, scratch, expectations):
    """Fill in the expectations of a document, in plain numbers; the first of the scratch rows is its barrier."""
    begin, end = data.documents[document], data.documents[document + 1]
    proportions, switch = parameters.proportions[document], parameters.switch
    barrier, entering, filtered, backward = scratch.rows[0], scratch.rows[1], scratch.rows[2], scratch.rows[3]
    for topic in range(len(entering)):
        entering[topic] = switch * proportions[topic]
    total, scale = 0.0, 1.0
    for sentence in range(begin, end):
        emissions, predicted = scratch.emissions[sentence - begin], expectations.topics[sentence]
        largest = scaled_emissions(data, parameters.log_topics, sentence, barrier, scratch.bits, emissions)
        if sentence == begin:
            predicted[:] = proportions
        else:
            predict(filtered, entering, (1.0 - switch) / scale, predicted)
        scale = weigh(predicted, emissions, filtered)
        scratch.scales[sentence - begin] = scale
        total += math.log(scale) + largest
    expectations.log_likelihood[document] = total
    entered = expectations.entered[document]
    backward[:] = 1.0
    for sentence in range(end - 1, begin, -1):
        passed, posterior = scratch.emissions[sentence - begin], expectations.topics[sentence]
        inverse = 1.0 / scratch.scales[sentence - begin]
        for topic in range(len(entered)):
            passed[topic] *= backward[topic] * inverse
        switched = sum_of_products(entering, passed)
        for topic in range(len(entered)):
            entered[topic] += entering[topic] * passed[topic]
            posterior[topic] *= passed[topic]
            backward[topic] = switched + (1.0 - switch) * passed[topic]
        expectations.switches[sentence] = switched
    first = expectations.topics[begin]
    for topic in range(len(entered)):
        first[topic] *= scratch.emissions[0, topic] / scratch.scales[0] * backward[topic]
        entered[topic] += first[topic]
    expectations.switches[begin] = 1.0


# --- in logs ------------------------------------------------------------------------------------------------


@helper
def log_sum(first, second):
    """log(exp(first) + exp(second)); -inf if both are."""
    larger, smaller = max(first, second), min(first, second)
    if not smaller > larger - LOST:
        return larger
    return larger + math.log1p(math.exp(smaller - larger))


@shared_helper
def log_sum_of(values):
    """log of the sum of exp(values); -inf if all are."""
    largest = largest_of(values)
    if largest == -math.inf:
        return largest
    total = 0.0
    for value in values:
        if value > largest - LOST:
            total += math.exp(value - largest)
    return largest + math.log(total)


@helper
def log_of(value):
    """The logarithm, -inf of zero."""
    return math.log(value) if value > 0.0 else -math.inf


@shared_helper
def log_step(entering, log_stay, emissions, filtered):
    """One sentence forward in logs: the log weights of entering a topic, `filtered` comes with log a_{s-1}.

    It goes out with log a_s; log c_s is returned.
    """
    for topic in range(len(filtered)):
        filtered[topic] = log_sum(entering[topic], log_stay + filtered[topic]) + emissions[topic]
    scale = log_sum_of(filtered)
    for topic in range(len(filtered)):
        filtered[topic] -= scale
    return scale


@shared_helper
def expect_in_logs(data, parameters, document, scratch, expectations):
    """The same in logs."""
    begin, end = data.documents[document], data.documents[document + 1]
    proportions, switch = parameters.proportions[document], parameters.switch
    log_switch, log_stay = log_of(switch), log_of(1.0 - switch)
    barrier, entering, filtered, backward = scratch.rows[0], scratch.rows[1], scratch.rows[2], scratch.rows[3]
    for topic in range(len(entering)):
        entering[topic] = log_switch + log_of(proportions[topic])
    total = 0.0
    for sentence in range(begin, end):
        emissions, predicted = scratch.emissions[sentence - begin], expectations.topics[sentence]
        fill_emissions(data, parameters.log_topics, sentence, barrier, emissions)
        for topic in range(len(filtered)):
            if sentence == begin:
                predicted[topic] = log_of(proportions[topic])
            else:
                predicted[topic] = log_sum(entering[topic], log_stay + filtered[topic])
            filtered[topic] = predicted[topic] + emissions[topic]
        scale = log_sum_of(filtered)
        for topic in range(len(filtered)):
            filtered[topic] -= scale
            emissions[topic] -= scale
        total += scale
    expectations.log_likelihood[document] = total
    entered = expectations.entered[document]
    backward[:] = 0.0
    for sentence in range(end - 1, begin, -1):
        passed, posterior = scratch.emissions[sentence - begin], expectations.topics[sentence]
        for topic in range(len(entered)):
            passed[topic] += backward[topic]
            filtered[topic] = entering[topic] + passed[topic]
        switched = log_sum_of(filtered)
        for topic in range(len(entered)):
            entered[topic] += math.exp(filtered[topic])
            posterior[topic] = math.exp(posterior[topic] + passed[topic])
            backward[topic] = log_sum(switched, log_stay + passed[topic])
        expectations.switches[sentence] = math.exp(switched)
    first = expectations.topics[begin]
    for topic in range(len(entered)):
        first[topic] = math.exp(first[topic] + scratch.emissions[0, topic] + backward[topic])
        entered[topic] += first[topic]
    expectations.switches[begin] = 1.0


# --- over documents -----------------------------------------------------------------------------------------


class MessageScratch(NamedTuple):
    """Scratch arrays for one document at a time."""

    emissions: np.ndarray  # float64 (sentences of the longest document, K)
    scales: np.ndarray  # float64 (sentences of the longest document,)
    rows: np.ndarray  # float64 (4, K)
    bits: np.ndarray  # int64 (K,)


@kernel
def expect(queue, data, parameters, scratch, expectations):
    """E-step: the posteriors of the topics and switches of all sentences, over blocks of documents."""
    while next_block(queue) >= 0:
        _, begin, end = block_at_hand(queue)
        for document in range(begin, end):
            expectations.entered[document, :] = 0.0
            expectations.log_likelihood[document] = 0.0
            if data.documents[document + 1] > data.documents[document]:
                least = fill_barrier(parameters.proportions[document], scratch.rows[0])
                if parameters.switch * least > PLAIN:
                    expect_scaled(data, parameters, document, scratch, expectations)
                else:
                    expect_in_logs(data, parameters, document, scratch, expectations)


@kernel
def expect_words(queue, sentence_of_place, places, topics, out, totals):
    """Expected numbers of words by word and topic, sum over the places of a word of p(z_s = k); blocks of words.

    Word w has the places from places[w] to places[w + 1]; the sums over the words of block b go into ``totals[b]``.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        total = np.zeros(out.shape[1])
        for word in range(begin, end):
            row = out[word]
            row[:] = 0.0
            for place in range(places[word], places[word + 1]):
                posterior = topics[sentence_of_place[place]]
                for topic in range(len(row)):
                    row[topic] += posterior[topic]
            for topic in range(len(row)):
                total[topic] += row[topic]
        totals[block] = total


@kernel
def fill_log_topics(queue, weights, totals, out, sums):
    """log phi_kw: logs of weights over their totals, -inf of zero; the sums of blocks of words into ``sums[b]``."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        total = 0.0
        for word in range(begin, end):
            for topic in range(out.shape[1]):
                out[word, topic] = log_of(weights[word, topic] / totals[topic])
                total += out[word, topic]
        sums[block] = total
