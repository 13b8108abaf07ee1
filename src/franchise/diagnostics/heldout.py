"""How well unseen observations are predicted: the other half of new groups, and words taken out of documents.

All score observations x of groups j under the predictive distribution averaged over draws s,

    p(x | j) = mean over s of  sum_k E[pi_jk | s] f_k(x; s) + E[pi_ju | s] f_new(x)

with everything at its posterior mean given the draw's labels and tables (`franchise/predictive.py`).  Densities are
averaged before the log is taken: the draws together are one predictive distribution, which for words sums to one
over the vocabulary, and its score does not punish draws for differing from one another.

What differs is where E[pi_j] comes from. A document of the training set has its counts n_jk and
(n_jk + alpha beta_k) / (n_j + alpha). For a new group it is fitted on half of its observations, topics fixed
(`predictive.fitted_weights`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from franchise.chains.snapshots import Snapshot
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.categorical import Categorical
from franchise.posterior import Posterior
from franchise.predictive import DrawnTopics, Occurrences, check_like, drawn_topics, fitted_weights, prepare
from franchise.validation import check_counts, describe


@dataclass(frozen=True)
class Score:
    """How well held-out words were predicted.

    Attributes
    ----------
    log_probability_per_word : float
        Mean log probability of a held-out word, in nats; higher is better.
    standard_error : float
        Of `log_probability_per_word`, over documents: how far it would move with other documents of the same
        kind. (NaN for a single document. The noise of the draws is not in it; chains tell.)
    n_words, n_documents : int
        Words that were scored, and documents with such words.
    baseline_perplexity : float
        What a unigram model has: every word drawn with its frequency in the training corpus, smoothed by the
        prior, (n_w + eta_w) / (n + eta).
    """

    log_probability_per_word: float
    standard_error: float
    n_words: int
    n_documents: int
    baseline_perplexity: float

    @property
    def perplexity(self) -> float:
        """exp(-log probability per word): as uncertain as among so many equal words; lower is better."""
        return math.exp(-self.log_probability_per_word)

    def __str__(self) -> str:
        """The score in one line."""
        return (
            f"perplexity {self.perplexity:.1f} (unigram: {self.baseline_perplexity:.1f}); "
            f"{self.log_probability_per_word:.4f} ± {self.standard_error:.4f} nats per word, "
            f"{self.n_words} words in {self.n_documents} documents"
        )


def document_completion(posterior: Posterior, held_out: Corpus, seed: int = 0) -> Score:
    """Predict one half of each held-out document from the other.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus, with the family Categorical.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; `data.splits.hold_out_documents` splits a
        corpus in two.
    seed : int
        Seed of the halves: each document's words are split at random.

    Returns
    -------
    Score
        Of the second halves; a document of one word has none.
    """
    from franchise.data.splits import halve_documents

    corpus, _ = _scored_parts(posterior)
    check_like("held_out", held_out, corpus)
    first, second = halve_documents(held_out, seed)
    documents, words = second.group_of_observation, second.observations
    return _score(posterior, completion_probabilities(posterior, first, documents, words), documents, words)


def held_out_words(posterior: Posterior, words: Any, documents: Any) -> Score:
    """Predict words taken out of the training documents (HOW; Chang & Fisher, section 6).

    Parameters
    ----------
    posterior : Posterior
        Of the corpus without these words, with the family Categorical.
    words, documents : ints (n,)
        Word ids, and the document each was taken from; `data.splits.hold_out_words` makes all three.
    """
    corpus, _ = _scored_parts(posterior)
    words = _check_ids("words", words, corpus.vocabulary_size, "words of the vocabulary")
    documents = _check_ids("documents", documents, corpus.n_documents, "documents of the corpus")
    if len(words) != len(documents) or len(words) == 0:
        raise InputError(
            f"words and documents must be as many, at least one; got {len(words)} and {len(documents)}."
        )
    return _score(posterior, training_probabilities(posterior, documents, words), documents, words)


def group_completion(posterior: Posterior, held_out: GroupedData, seed: int = 0) -> float:
    """Predict one half of each held-out group from the other, for observations of any family.

    Parameters
    ----------
    posterior : Posterior
        Of any data, with any family.
    held_out : Groups or Corpus
        Groups that were not sampled.
    seed : int
        Seed of the halves: each group's observations are split at random.

    Returns
    -------
    float
        Mean log density of an observation in the second halves, in nats; higher is better. A group of one
        observation has no first half: it is predicted by the topics' weights alone.
    """
    from franchise.data.splits import shuffled_places

    _check_posterior(posterior)
    check_like("held_out", held_out, posterior.data)
    observed = Occurrences.of_groups(held_out, posterior.family)
    sizes = held_out.group_sizes
    given = np.where(sizes > 1, (sizes + 1) // 2, 0)
    in_first = shuffled_places(held_out.offsets, seed) < np.repeat(given, sizes)
    groups = np.repeat(np.arange(held_out.n_groups), sizes)[~in_first]
    first = observed.only(in_first)
    logs = _mean_log_densities(
        posterior,
        observed.observations,
        groups,
        observed.rows[~in_first],
        lambda draw: fitted_weights(draw, first),
    )
    return float(logs.mean())


def completion_probabilities(
    posterior: Posterior, first: Corpus, documents: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """p(word | the words of the document in `first`), averaged over draws, for pairs (document, word)."""
    known, rows = np.unique(np.concatenate([first.cells.word, words]), return_inverse=True)
    cell_rows, word_rows = np.split(rows.astype(np.int64), [len(first.cells.word)])
    observations = prepare(posterior.family, known)
    observed = Occurrences(
        first.cells.offsets.copy(), cell_rows, first.cells.count.astype(np.float64), observations
    )
    return np.exp(
        _mean_log_densities(
            posterior, observations, documents, word_rows, lambda draw: fitted_weights(draw, observed)
        )
    )


def training_probabilities(posterior: Posterior, documents: np.ndarray, words: np.ndarray) -> np.ndarray:
    """p(word | document of the training corpus), averaged over draws, for pairs (document, word)."""
    from franchise.tables import expected_document_weights

    known, word_rows = np.unique(words, return_inverse=True)
    return np.exp(
        _mean_log_densities(
            posterior,
            prepare(posterior.family, known),
            documents,
            word_rows.astype(np.int64),
            lambda draw: expected_document_weights(posterior.data, draw.snapshot),
        )
    )


def _mean_log_densities(
    posterior: Posterior,
    observations: Any,
    groups: np.ndarray,
    rows: np.ndarray,
    weights_of: Callable[[DrawnTopics], np.ndarray],
) -> np.ndarray:
    """log of the mean over draws of sum_k E[pi_jk] f_k(x), for pairs of a group and a row of `observations`."""
    from franchise.kernels.heldout import add_word_probabilities

    groups = np.array(groups, dtype=np.int64)
    total = np.full(len(groups), -np.inf)
    snapshots = _snapshots(posterior)
    for snapshot in snapshots:
        draw = drawn_topics(posterior.model, snapshot, observations, posterior.seed)
        mixed = np.zeros(len(groups))
        add_word_probabilities(groups, rows, draw.densities, weights_of(draw), mixed)
        np.logaddexp(total, draw.log_scales[rows] + np.log(mixed), out=total)
    return total - math.log(len(snapshots))


def _word_prior(family: Categorical, snapshot: Snapshot) -> np.ndarray:
    """eta_w, float64 (V,): as given, or as learned by then."""
    if family.learned_prior is None:
        return family.prior_vector()
    return np.full(family.size, snapshot.prior)


def _snapshots(posterior: Posterior) -> list[Snapshot]:
    """Those of all chains."""
    return [snapshot for kept in posterior.snapshots for snapshot in kept]


def _score(
    posterior: Posterior, probabilities: np.ndarray, documents: np.ndarray, words: np.ndarray
) -> Score:
    logs = np.log(probabilities)
    mean = float(logs.mean())
    present, place = np.unique(documents, return_inverse=True)
    return Score(
        log_probability_per_word=mean,
        standard_error=_error_over_documents(np.bincount(place, weights=logs - mean), len(logs)),
        n_words=len(logs),
        n_documents=len(present),
        baseline_perplexity=math.exp(-float(np.log(_unigram(posterior)[words]).mean())),
    )


def _error_over_documents(deviations: np.ndarray, n_words: int) -> float:
    """Standard error of a ratio, log probability over words, whose terms are documents.

    `deviations` are each document's log probability less its words times the mean; they sum to zero.
    """
    n_documents = len(deviations)
    if n_documents < 2:
        return math.nan
    return math.sqrt(n_documents / (n_documents - 1) * float(np.sum(deviations**2))) / n_words


def _unigram(posterior: Posterior) -> np.ndarray:
    """(n_w + eta_w) / (n + eta) over the training corpus; a learned eta at its mean over the draws."""
    corpus, family = _scored_parts(posterior)
    word_prior = np.mean([_word_prior(family, snapshot) for snapshot in _snapshots(posterior)], axis=0)
    smoothed = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) + word_prior
    return np.asarray(smoothed / smoothed.sum())


# --- checks -------------------------------------------------------------------------------------------------


def _scored_parts(posterior: Any) -> tuple[Corpus, Categorical]:
    """The corpus and the family of a posterior whose words can be scored; InputError for any other."""
    _check_posterior(posterior)
    data, family = posterior.data, posterior.family
    if not isinstance(data, Corpus) or not isinstance(family, Categorical):
        raise InputError(
            f"held-out scores are for words: posterior must be of a Corpus with the family Categorical; got "
            f"{type(data).__name__} with {type(family).__name__}. For other data use group_completion."
        )
    return data, family


def _check_posterior(posterior: Any) -> None:
    if not isinstance(posterior, Posterior):
        raise InputError(f"posterior must be what franchise.sample returns; got {describe(posterior)}.")


def _check_ids(name: str, values: Any, limit: int, what: str) -> np.ndarray:
    ids = check_counts(name, values)
    if ids.ndim != 1:
        raise InputError(f"{name} must be a flat array of numbers; got {describe(ids)}.")
    if ids.size and ids.max() >= limit:
        raise InputError(f"{name} must be from 0 to {limit - 1}, numbers of {what}; got {ids.max()}.")
    return ids
