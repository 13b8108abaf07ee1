"""Scores of predictions of unseen observations: the other half of new groups, and words held out of documents.

All score observations x of groups j under the predictive distribution averaged over draws s,

    p(x | j) = mean over s of  sum_k E[pi_jk | s] f_k(x; s) + E[pi_ju | s] f_new(x)

with everything at its posterior mean given the draw's labels and tables (`posterior/predictive.py`).  Densities are
averaged before the log is taken: the draws together are one predictive distribution, which for words sums to one
over the vocabulary, and its score does not punish draws for differing from one another.

What differs is where E[pi_j] comes from. A document of the training set has its counts n_jk and
(n_jk + alpha beta_k) / (n_j + alpha). For a new group it is fitted on half of its observations, topics fixed
(`predictive.fitted_weights`).

Whole documents, and the second halves of texts with sentences, are scored from left to right, by particles: given a
draw, topics' words are at their posterior mean, and the document's proportions and the topics of its words are
integrated out (`kernels/left_to_right.py`).  That is unbiased for p(document | s), so for the mean over draws, too:

    log p(document) = log of the mean over draws s of p(document | s)

In a model of words their order makes no difference to p(document).  In one of sentences it does, and the same steps
tell how well the last sentences of a document are predicted by the first.  `diagnostics/score.py` averages over
draws and has the standard errors of a score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.splits import shuffled_places
from franchise.diagnostics.score import DRAWS, Score, means_of, score_steps, trace_of_steps
from franchise.errors import InputError
from franchise.posterior.base import Posterior, check_posterior
from franchise.posterior.held_out_steps import (
    ESTIMATES,
    PARTICLES,
    HeldOutSteps,
    check_words,
    exact_steps,
    log_frequencies,
)
from franchise.posterior.predictive import Occurrences, check_like, fitted_weights, prepare
from franchise.validation import check_counts, check_integer, describe

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import HDPPosterior


def document_completion(posterior: Posterior[Any], held_out: Corpus, seed: int = 0) -> Score:
    """Predict one half of each held-out document from the other.

        training, held_out = hold_out_documents(corpus)            # franchise.data.splits
        print(document_completion(fr.sample(training), held_out))

    Each word x of the second half of document j has, with s the draws,

        log p(x | j) = log of the mean over s of  sum_k E[pi_jk | first half, s] phi_kx(s)

    Of a hidden topic Markov model, the last half of the sentences from the first, by particles. It is quick, and
    fair where documents are long; for short ones, and for the probability of whole ones, see `left_to_right`.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus, with the family Categorical or KnownTopics; or of a hidden topic Markov model.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; `data.splits.hold_out_documents` splits a
        corpus in two.
    seed : int, default 0
        Seed of the halves: each document's words are split at random. For a hidden topic Markov model, seed of the
        particles.

    Returns
    -------
    Score
        The score of the second halves. A document of one word has no second half, and one of a single sentence is
        all second half.

    Raises
    ------
    InputError
        If `held_out` has another vocabulary, or no document has a second half.

    Examples
    --------
    >>> fr.diagnostics.document_completion(posterior, corpus.subset([0, 1, 2])).n_documents
    3
    """
    return score_steps(
        posterior, check_posterior("posterior", posterior).completion(held_out, seed), seed=seed
    )


def left_to_right(
    posterior: Posterior[Any],
    held_out: Corpus,
    *,
    particles: int = PARTICLES,
    draws: int = DRAWS,
    seed: int = 0,
) -> Score:
    """Estimate the probability of held-out documents, each as a whole (Wallach et al., 2009).

        training, held_out = hold_out_documents(corpus)            # franchise.data.splits
        print(left_to_right(fr.sample(training), held_out))

        log p(w_1, ..., w_n) = log of the mean over draws s of  prod_i p(w_i | w_1, ..., w_{i-1}, s)

    Nothing of a document is given, so short documents count as well; it takes longer than `document_completion`, in
    proportion to `particles` and `draws`.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus, with the family Categorical or KnownTopics; or of a hidden topic Markov model.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; with sentences for a model of sentences.
    particles : int, default 20
        Particles under each draw. More of them make `Score.particle_error` smaller: in documents of some ten words
        in proportion to the square root, and faster in long ones, where the error is mostly that logs come out low.
        Give hundreds for documents of thousands of words.
    draws : int, default 32
        At most this number of draws, evenly spaced, equally many of each chain.
    seed : int, default 0
        Seed of the particles.

    Returns
    -------
    Score
        The score of all words; the first word of a document is predicted by the topics' weights alone.

    Raises
    ------
    InputError
        If `held_out` has another vocabulary, or an argument is out of range.

    Examples
    --------
    >>> score = fr.diagnostics.left_to_right(posterior, corpus.subset([0, 1, 2]), particles=4, draws=2)
    >>> score.n_words
    42
    """
    share = -(-check_integer("particles", particles, minimum=1) // ESTIMATES)
    return score_steps(
        posterior, check_posterior("posterior", posterior).particles(held_out, share), draws, seed
    )


def held_out_trace(posterior: Posterior[Any], held_out: Corpus, seed: int = 0) -> np.ndarray:
    """Return the score of `document_completion` under every stored draw.

    It shows when chains have become good at predicting, and whether they agree; pass it to `summarise`.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus, with the family Categorical or KnownTopics; or of a hidden topic Markov model.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary.
    seed : int, default 0
        Seed of the halves of documents, or of the particles.

    Returns
    -------
    float64 array (chains, stored draws)
        Mean log probability per word, in nats, of the stored draws that all chains have
        (`posterior.draw.kept_by_all`; sentences: at most 32 of a chain, evenly spaced).

    Raises
    ------
    InputError
        If `held_out` has another vocabulary, or no document has a second half.

    Examples
    --------
    >>> fr.diagnostics.held_out_trace(posterior, corpus.subset([0, 1, 2])).shape
    (2, 10)
    """
    return trace_of_steps(posterior, check_posterior("posterior", posterior).completion(held_out, seed), seed)


def held_out_words(posterior: HDPPosterior, words: ArrayLike, documents: ArrayLike) -> Score:
    """Predict words taken out of the training documents (HOW; Chang & Fisher, section 6).

        rest, words, documents = hold_out_words(corpus)            # franchise.data.splits
        print(held_out_words(fr.sample(rest), words, documents))

        p(w | j) = mean over draws of  sum_k (n_jk + alpha beta_k) / (n_j + alpha) phi_kw

    Parameters
    ----------
    posterior : Posterior
        Of the corpus without these words, with the family Categorical or KnownTopics.
    words, documents : ints (n,)
        Word ids, and the document each was taken from; `data.splits.hold_out_words` makes all three.

    Returns
    -------
    Score
        The score of these words.

    Raises
    ------
    InputError
        If `words` and `documents` differ in length, are empty, or have a number that the corpus lacks.

    Examples
    --------
    >>> from franchise.data.splits import hold_out_words
    >>> rest, words, documents = hold_out_words(corpus)
    >>> fr.diagnostics.held_out_words(posterior, words, documents).n_words
    24
    """
    posterior = _check_mixture(posterior)
    corpus = check_words(posterior.data, posterior.family)
    words = _check_ids("words", words, corpus.vocabulary_size, "words of the vocabulary")
    documents = _check_ids("documents", documents, corpus.n_documents, "documents of the corpus")
    if len(words) != len(documents) or len(words) == 0:
        raise InputError(
            f"words and documents must have the same length, at least 1; got {len(words)} and {len(documents)}."
        )
    return score_steps(posterior, _training_steps(posterior, documents, words))


def group_completion(posterior: HDPPosterior, held_out: GroupedData, seed: int = 0) -> float:
    """Predict one half of each held-out group from the other, for observations of any family.

    Parameters
    ----------
    posterior : Posterior
        Of an HDP mixture, of any data and with any family.
    held_out : Groups or Corpus
        Groups that were not sampled.
    seed : int, default 0
        Seed of the halves: each group's observations are split at random.

    Returns
    -------
    float
        Mean log density of an observation in the second halves, in nats; higher is better. A group of one
        observation has no first half: it is predicted by the topics' weights alone.

    Raises
    ------
    InputError
        If `held_out` has another kind of observations, or the posterior is of a hidden topic Markov model.

    Examples
    --------
    >>> new = fr.Groups([2, 4, 30, 28], [0, 0, 1, 1])
    >>> fr.diagnostics.group_completion(clusters, new) < 0
    True
    """
    posterior = _check_mixture(posterior)
    check_like("held_out", held_out, posterior.data)
    observed = posterior.below_parents(Occurrences.of_groups(held_out, posterior.family), held_out)
    sizes = held_out.group_sizes
    given = np.where(sizes > 1, (sizes + 1) // 2, 0)
    in_first = shuffled_places(held_out.offsets, seed) < np.repeat(given, sizes)
    groups = np.repeat(np.arange(held_out.n_groups), sizes)[~in_first]
    first = observed.only(in_first)
    steps = exact_steps(
        posterior,
        observed.observations,
        groups,
        observed.rows[~in_first],
        lambda topics: fitted_weights(topics, first),
        np.zeros(len(groups)),
    )
    return float(means_of(posterior, steps)[0].logs().mean())


def training_probabilities(posterior: HDPPosterior, documents: np.ndarray, words: np.ndarray) -> np.ndarray:
    """p(word | document of the training corpus), averaged over draws, for pairs (document, word)."""
    return np.exp(means_of(posterior, _training_steps(posterior, documents, words))[0].logs())


def _training_steps(posterior: HDPPosterior, documents: np.ndarray, words: np.ndarray) -> HeldOutSteps:
    known, word_rows = np.unique(words, return_inverse=True)
    return exact_steps(
        posterior,
        prepare(posterior.family, known),
        documents,
        word_rows.astype(np.int64),
        lambda topics: posterior.document_weights(topics.snapshot),
        log_frequencies(posterior)[words],
    )


# --- checks -------------------------------------------------------------------------------------------------


def _check_mixture(posterior: object) -> HDPPosterior:
    """Return the posterior of an HDP mixture, whose observations each have a topic; InputError for others."""
    checked = check_posterior("posterior", posterior)
    if checked.family is None:
        raise InputError(f"posterior must be what franchise.sample returns; got {describe(posterior)}.")
    return cast("HDPPosterior", checked)


def _check_ids(name: str, values: ArrayLike, limit: int, what: str) -> np.ndarray:
    ids = check_counts(name, values)
    if ids.ndim != 1:
        raise InputError(f"{name} must be a flat array of numbers; got {describe(ids)}.")
    if ids.size and ids.max() >= limit:
        raise InputError(f"{name} must be from 0 to {limit - 1}, numbers of {what}; got {ids.max()}.")
    return ids
