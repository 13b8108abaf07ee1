"""Do held-out scores agree with one another where they estimate the same thing?

Given one draw s, the second half of a document can be scored in two ways,

    each word by itself   sum_i log p(w_i | first half)                      what document completion says
    in turn               sum_i log p(w_i | first half, w_1, ..., w_{i-1})   = log p(whole) - log p(first half)

and these are two different numbers: in turn, a word has the help of those before it.  The probability of a word
given some others, which both are made of, can be had by

    completion      sum_k E[pi_k | others] f_k(w), the weights by a fixed point (`document_weights.py`): no noise,
                    but an approximation
    Gibbs sampling  the same with E[pi_k | others] from a collapsed Gibbs sampler of their topics, written here in
                    NumPy: exact in the limit, with the noise of its chains
    left to right   p(others, w) / p(others), by particles: exact in the limit, with the noise of these; in turn,
                    all but the ends of the product cancel

So Gibbs sampling and left to right must agree within their errors, and completion with them up to the error of its
fixed point, which is seen here.  All is compared draw by draw.  Over several draws, completion gives each the same
weight, whereas p(whole) / p(first half), with both averaged over draws, gives weight to those under which the first
half is probable: that is another number again.

In a model of sentences both scores are by particles, and the last sentences of a document given the first are
log p(whole) - log p(first sentences).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.splits import halve_documents
from franchise.diagnostics.held_out import document_completion
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.held_out_steps import in_last_half
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.posterior.intervals import even_rows
from franchise.posterior.predictive import drawn_topics, prepare
from franchise.running.kept_draws import HDPDraw
from tests.support.predictions import completion_probabilities, document_log_probabilities

CHAINS = 8
"""Of the Gibbs sampler, for every beginning: their spread is its error."""

EACH, IN_TURN = "each word by itself", "in turn"
COMPLETION, GIBBS, LEFT_TO_RIGHT = "completion", "Gibbs sampling", "left to right"


class Estimate(NamedTuple):
    """Mean log probability per word, and its standard error for the noise of the estimator alone."""

    per_word: float
    error: float

    def apart(self, other: Estimate) -> float:
        """How many standard errors lie between two."""
        return abs(self.per_word - other.per_word) / math.hypot(self.error, other.error)


class Beginnings(NamedTuple):
    """Words of second halves, and what is given when each is predicted."""

    given: list[np.ndarray]
    words: np.ndarray  # int64 (n,)

    @classmethod
    def of(cls, first: Corpus, second: Corpus, in_turn: bool) -> Beginnings:
        """Given is the first half of the document; in turn, the words before it in the second half, too."""
        given: list[np.ndarray] = []
        for known, scored in zip(_documents(first), _documents(second), strict=True):
            given += [
                np.append(known, scored[:place] if in_turn else scored[:0]) for place in range(len(scored))
            ]
        return cls(given, second.observations.astype(np.int64))

    def as_documents(self, vocabulary: Any) -> tuple[Corpus, Corpus]:
        """A document for each word: what is given, without the word and with it."""
        whole = [np.append(given, word) for given, word in zip(self.given, self.words, strict=True)]
        return Corpus.from_tokens(self.given, vocabulary), Corpus.from_tokens(whole, vocabulary)


def compare_scores(
    posterior: HDPPosterior,
    held_out: Corpus,
    *,
    draws: int = 2,
    particles: int = 4000,
    sweeps: int = 200,
    seed: int = 0,
) -> dict[str, dict[str, Estimate]]:
    """The second halves of held-out documents, scored in two ways by three estimators each.

    Parameters
    ----------
    posterior : HDPPosterior
        Of a Corpus, with the family Categorical or KnownTopics.
    held_out : Corpus
        Short documents, best: Gibbs sampling in turn takes time in proportion to the square of their lengths.
    draws : int
        So many, evenly spaced, of all chains; numbers are means over them, each draw scored by itself.
    particles, sweeps : int
        Of left to right; of each of eight chains of the Gibbs sampler.
    seed : int
        Of the halves, the particles and the chains.

    Returns
    -------
    dict
        ``EACH`` and ``IN_TURN``, each with an Estimate of ``COMPLETION``, ``GIBBS`` and ``LEFT_TO_RIGHT``.
    """
    first, second = halve_documents(held_out, seed)
    chosen = even_rows([snapshot for chain in posterior.snapshots for snapshot in chain], draws)
    found: dict[str, dict[str, list[Estimate]]] = {EACH: {}, IN_TURN: {}}
    for number, snapshot in enumerate(chosen):
        alone = replace(posterior, snapshots=[[snapshot]])
        rng = np.random.default_rng([seed, number])
        for what, estimates in found.items():
            beginnings = Beginnings.of(first, second, in_turn=what == IN_TURN)
            known, whole = (
                (first, held_out) if what == IN_TURN else beginnings.as_documents(held_out.vocabulary)
            )
            ratio = by_ratio(alone, known, whole, particles, seed)
            estimates.setdefault(COMPLETION, []).append(by_completion(alone, beginnings))
            estimates.setdefault(GIBBS, []).append(_by_gibbs(alone, snapshot, beginnings, sweeps, rng))
            estimates.setdefault(LEFT_TO_RIGHT, []).append(ratio)
    return {what: {name: _mean(own) for name, own in estimates.items()} for what, estimates in found.items()}


def compare_segment_scores(
    posterior: HTMMPosterior, held_out: Corpus, *, draws: int = 2, particles: int = 2000, seed: int = 0
) -> dict[str, Estimate]:
    """The last sentences of held-out documents given the first, by completion and from left to right.

    Means over some draws, each scored by itself.
    """
    in_first = np.repeat(~in_last_half(held_out), np.diff(held_out.sentences.offsets))  # type: ignore[union-attr]
    first = held_out.select_tokens(in_first)
    found: dict[str, list[Estimate]] = {COMPLETION: [], LEFT_TO_RIGHT: []}
    for draw in even_rows([draw for chain in posterior.draws for draw in chain], draws):
        alone = replace(posterior, draws=[[draw]])
        score = document_completion(alone, held_out, seed=seed + 2)
        found[COMPLETION].append(Estimate(score.log_probability_per_word, score.particle_error))
        found[LEFT_TO_RIGHT].append(by_ratio(alone, first, held_out, particles, seed))
    return {name: _mean(own) for name, own in found.items()}


def by_completion(posterior: HDPPosterior, beginnings: Beginnings) -> Estimate:
    """Mean log probability of the words as `document_completion` has it; there is no noise."""
    given = Corpus.from_tokens(beginnings.given, posterior.data.vocabulary)  # type: ignore[attr-defined]
    places = np.arange(len(beginnings.words))
    logs = np.log(completion_probabilities(posterior, given, places, beginnings.words))
    return Estimate(float(logs.mean()), 0.0)


def by_ratio(posterior: Any, first: Corpus, whole: Corpus, particles: int, seed: int) -> Estimate:
    """log p(whole) - log p(first) of all documents, from left to right, per word that is not in the first."""
    before, noise_before = document_log_probabilities(posterior, first, particles=particles, seed=seed)
    after, noise_after = document_log_probabilities(posterior, whole, particles=particles, seed=seed + 1)
    variances = float(np.sum(noise_before**2)), float(np.sum(noise_after**2))
    low = (variances[1] - variances[0]) / 2.0  # logs of noisy estimates come out low
    n_words = whole.n_tokens - first.n_tokens
    return Estimate(
        float(after.sum() - before.sum()) / n_words, math.hypot(math.sqrt(sum(variances)), low) / n_words
    )


def words_from_counts(posterior: HDPPosterior, words: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """log p(word | its training document) from the counts of every draw in full tables, float64 (n,).

    mean over s of  sum_k (n_jk + alpha beta_k) / (n_j + alpha) (n_kw + eta) / (n_k + eta V), with a place for
    unseen topics, where counts are zero: what `held_out_words` says of a family Categorical whose prior is given.
    """
    data, prior = posterior.data, posterior.family.prior_vector()  # type: ignore[attr-defined]
    chances = []
    for snapshot in (snapshot for chain in posterior.snapshots for snapshot in chain):
        by_document = np.zeros((data.n_groups, snapshot.n_topics + 1))
        by_word = np.zeros((snapshot.n_topics + 1, len(prior)))
        np.add.at(by_document, (data.group_of_observation, snapshot.labels), 1.0)
        np.add.at(by_word, (snapshot.labels, data.observations), 1.0)
        tables = np.append(snapshot.tables_per_topic, snapshot.gamma)
        by_document += snapshot.alpha * tables / tables.sum()
        by_word += prior
        weights = by_document / by_document.sum(axis=1, keepdims=True)
        topics = by_word / by_word.sum(axis=1, keepdims=True)
        chances.append(np.einsum("ik,ki->i", weights[documents], topics[:, words]))
    return np.asarray(np.log(np.mean(chances, axis=0)))


def gibbs_weights(
    documents: list[np.ndarray], densities: np.ndarray, prior: np.ndarray, sweeps: int, rng: Any
) -> np.ndarray:
    """E[pi_j | x_j] of documents by collapsed Gibbs sampling, in several chains, float64 (CHAINS, J, K).

    All documents are swept at once, place after place: topic k of a word w is drawn with weight
    (prior_k + n_k) f_k(w), and the probabilities, not the draws, are what is averaged.  A fifth of the sweeps is
    warm-up.

    Parameters
    ----------
    documents : list (J) of ints
        Rows of `densities`, one for each word.
    densities : float64 (rows, K)
        f_k(w), each row up to a factor.
    prior : float64 (K,)
        alpha beta_k.
    sweeps, rng : int, Generator
        How many, and chance.
    """
    sizes = np.tile([len(document) for document in documents], CHAINS)
    order = np.argsort(
        -sizes, kind="stable"
    )  # the longest first: those with a word at a place are the first ones
    words = np.zeros((len(sizes), int(sizes.max())), np.int64)
    for row, number in enumerate(order):
        words[row, : sizes[number]] = documents[number % len(documents)]
    topics = np.full(words.shape, -1)
    counts, expected = np.tile(prior, (len(sizes), 1)), np.zeros((len(sizes), len(prior)))
    warmup = sweeps // 5
    for sweep in range(sweeps):
        for place in range(words.shape[1]):
            rows = np.arange(np.searchsorted(-sizes[order], -place))  # those longer than `place`
            own = counts[: len(rows)]
            if sweep > 0:
                own[rows, topics[rows, place]] -= 1.0
            weights = own * densities[words[rows, place]]
            upto = np.cumsum(weights, axis=1)
            chosen = (upto < rng.random(len(rows))[:, None] * upto[:, -1:]).sum(axis=1)
            own[rows, chosen] += 1.0
            topics[rows, place] = chosen
            if sweep >= warmup:
                expected[: len(rows)] += weights / upto[:, -1:]
    weights = np.empty_like(expected)
    weights[order] = prior + expected / (sweeps - warmup)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights.reshape(CHAINS, len(documents), len(prior))


# --- small parts --------------------------------------------------------------------------------------------


def _documents(corpus: Corpus) -> list[np.ndarray]:
    return np.split(corpus.observations, corpus.offsets[1:-1])


def _by_gibbs(
    posterior: HDPPosterior, snapshot: HDPDraw, beginnings: Beginnings, sweeps: int, rng: Any
) -> Estimate:
    """Mean log probability of the words, with what is given sampled; the error from the spread of chains."""
    known = np.unique(np.concatenate([*beginnings.given, beginnings.words]))
    draw = drawn_topics(posterior.model, snapshot, prepare(posterior.family, known), posterior.seed)
    given = [np.searchsorted(known, own) for own in beginnings.given]
    weights = gibbs_weights(given, draw.densities, draw.prior, sweeps, rng)
    rows = np.searchsorted(known, beginnings.words)
    chances = np.einsum("cjk,jk->cj", weights, draw.densities[rows])
    mean = chances.mean(axis=0)
    errors = chances.std(axis=0, ddof=1) / math.sqrt(CHAINS) / mean
    logs = np.log(mean) + draw.log_scales[rows]
    return Estimate(float(logs.mean()), math.sqrt(float(np.sum(errors**2))) / len(rows))


def _mean(estimates: list[Estimate]) -> Estimate:
    """Of independent estimates."""
    errors = [estimate.error for estimate in estimates]
    mean = float(np.mean([estimate.per_word for estimate in estimates]))
    return Estimate(mean, math.sqrt(float(np.sum(np.square(errors)))) / len(errors))
