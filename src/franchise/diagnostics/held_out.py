"""How well unseen observations are predicted: the other half of new groups, and words taken out of documents.

All score observations x of groups j under the predictive distribution averaged over draws s,

    p(x | j) = mean over s of  sum_k E[pi_jk | s] f_k(x; s) + E[pi_ju | s] f_new(x)

with everything at its posterior mean given the draw's labels and tables (`franchise/predictive.py`).  Densities are
averaged before the log is taken: the draws together are one predictive distribution, which for words sums to one
over the vocabulary, and its score does not punish draws for differing from one another.

What differs is where E[pi_j] comes from. A document of the training set has its counts n_jk and
(n_jk + alpha beta_k) / (n_j + alpha). For a new group it is fitted on half of its observations, topics fixed
(`predictive.fitted_weights`).

Whole documents, and the second halves of texts with sentences, are scored from left to right
(`diagnostics/left_to_right.py`); how sure a score is, `diagnostics/score.py` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.diagnostics.score import LogMeans, Score, blocks_of, score_of
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.posterior.draw import kept_by_all
from franchise.posterior.hdp_posterior import Posterior
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.posterior.predictive import (
    DrawnTopics,
    Occurrences,
    check_like,
    drawn_topics,
    fitted_weights,
    prepare,
)
from franchise.running.kept_draws import HDPDraw
from franchise.validation import check_counts, describe


def document_completion(posterior: Posterior | HTMMPosterior, held_out: Corpus, seed: int = 0) -> Score:
    """Predict one half of each held-out document from the other.

        training, held_out = hold_out_documents(corpus)            # franchise.data.splits
        print(document_completion(fr.sample(training), held_out))

    Each word x of the second half of document j has, with s the draws,

        log p(x | j) = log of the mean over s of  sum_k E[pi_jk | first half, s] phi_kx(s)

    Of a hidden topic Markov model, the last half of the sentences from the first, by particles. It is quick, and
    fair where documents are long; for short ones, and for the probability of whole ones, see `left_to_right`.

    Parameters
    ----------
    posterior : Posterior or HTMMPosterior
        Of a Corpus, with the family Categorical or KnownTopics.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; `data.splits.hold_out_documents` splits a
        corpus in two.
    seed : int
        Seed of the halves: each document's words are split at random. (Sentences: seed of the particles.)

    Returns
    -------
    Score
        Of the second halves; a document of one word has none, and one of a single sentence is all second half.
    """
    if isinstance(posterior, HTMMPosterior):
        from franchise.diagnostics.left_to_right import segment_completion

        return segment_completion(posterior, held_out, seed=seed)
    halves = _Halves.of(posterior, held_out, seed)
    means = _log_means(posterior, halves.observations, halves.documents, halves.rows, halves.weights_of)
    return _score(posterior, means, halves.documents, halves.words)


def held_out_trace(posterior: Posterior | HTMMPosterior, held_out: Corpus, seed: int = 0) -> np.ndarray:
    """The score of `document_completion` under every single draw that is kept in full.

    It tells when chains have become good at predicting, and whether they agree on it; give it to `summarise`.

    Returns
    -------
    float64 array (chains, draws kept in full)
        Mean log probability per word, of the draws in full that all chains have (`found.draws.kept_by_all`;
        sentences: at most 32 of a chain, evenly spaced).
    """
    if isinstance(posterior, HTMMPosterior):
        from franchise.diagnostics.left_to_right import segment_trace

        return segment_trace(posterior, held_out, seed=seed)
    halves = _Halves.of(posterior, held_out, seed)
    scores = [
        [
            float(logs.mean())
            for logs in _log_densities(
                posterior, snapshots, halves.observations, halves.documents, halves.rows, halves.weights_of
            )
        ]
        for snapshots in kept_by_all(posterior)
    ]
    return np.array(scores)


def held_out_words(posterior: Posterior, words: Any, documents: Any) -> Score:
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
    """
    corpus, _ = scored_parts(posterior)
    words = _check_ids("words", words, corpus.vocabulary_size, "words of the vocabulary")
    documents = _check_ids("documents", documents, corpus.n_documents, "documents of the corpus")
    if len(words) != len(documents) or len(words) == 0:
        raise InputError(
            f"words and documents must be as many, at least one; got {len(words)} and {len(documents)}."
        )
    return _score(posterior, _training_means(posterior, documents, words), documents, words)


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
    means = _log_means(
        posterior,
        observed.observations,
        groups,
        observed.rows[~in_first],
        lambda draw: fitted_weights(draw, first),
    )
    return float(means.logs().mean())


class _Halves(NamedTuple):
    """The second halves of documents, word by word, and what predicts them."""

    documents: np.ndarray  # int64 (n,)
    words: np.ndarray  # int32 (n,)
    rows: np.ndarray  # int64 (n,): of `observations`
    observations: Any
    weights_of: Callable[[DrawnTopics], np.ndarray]

    @classmethod
    def of(cls, posterior: Posterior, held_out: Corpus, seed: int) -> _Halves:
        """Those of some new documents."""
        from franchise.data.splits import halve_documents

        corpus, _ = scored_parts(posterior)
        check_like("held_out", held_out, corpus)
        first, second = halve_documents(held_out, seed)
        return cls.given(posterior, first, second.group_of_observation, second.observations)

    @classmethod
    def given(cls, posterior: Posterior, first: Corpus, documents: np.ndarray, words: np.ndarray) -> _Halves:
        """Pairs (document, word), and the first halves of all documents."""
        known, rows = np.unique(np.concatenate([first.cells.word, words]), return_inverse=True)
        cell_rows, word_rows = np.split(rows.astype(np.int64), [len(first.cells.word)])
        observations = prepare(posterior.family, known)
        observed = Occurrences(
            first.cells.offsets.copy(), cell_rows, first.cells.count.astype(np.float64), observations
        )
        return cls(documents, words, word_rows, observations, lambda draw: fitted_weights(draw, observed))


def completion_probabilities(
    posterior: Posterior, first: Corpus, documents: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """p(word | the words of the document in `first`), averaged over draws, for pairs (document, word)."""
    halves = _Halves.given(posterior, first, documents, words)
    means = _log_means(posterior, halves.observations, documents, halves.rows, halves.weights_of)
    return np.exp(means.logs())


def training_probabilities(posterior: Posterior, documents: np.ndarray, words: np.ndarray) -> np.ndarray:
    """p(word | document of the training corpus), averaged over draws, for pairs (document, word)."""
    return np.exp(_training_means(posterior, documents, words).logs())


def _training_means(posterior: Posterior, documents: np.ndarray, words: np.ndarray) -> LogMeans:
    from franchise.posterior.hdp_posterior import expected_document_weights

    known, word_rows = np.unique(words, return_inverse=True)
    return _log_means(
        posterior,
        prepare(posterior.family, known),
        documents,
        word_rows.astype(np.int64),
        lambda draw: expected_document_weights(posterior.data, draw.snapshot),
    )


def _log_means(
    posterior: Posterior,
    observations: Any,
    groups: np.ndarray,
    rows: np.ndarray,
    weights_of: Callable[[DrawnTopics], np.ndarray],
) -> LogMeans:
    """log of the mean over draws of sum_k E[pi_jk] f_k(x), for pairs of a group and a row of `observations`."""
    draws, blocks = blocks_of(posterior.snapshots)
    means = LogMeans(len(groups), blocks)
    snapshots = [snapshot for _, snapshot in draws]
    by_draw = _log_densities(posterior, snapshots, observations, groups, rows, weights_of)
    for (block, _), logs in zip(draws, by_draw, strict=True):
        means.add(block, logs)
    return means


def _log_densities(
    posterior: Posterior,
    snapshots: list[HDPDraw],
    observations: Any,
    groups: np.ndarray,
    rows: np.ndarray,
    weights_of: Callable[[DrawnTopics], np.ndarray],
) -> Iterator[np.ndarray]:
    """log sum_k E[pi_jk] f_k(x) for these pairs, draw after draw."""
    from franchise.kernels.predictive import add_word_probabilities

    groups = np.array(groups, dtype=np.int64)
    for snapshot in snapshots:
        draw = drawn_topics(posterior.model, snapshot, observations, posterior.seed)
        mixed = np.zeros(len(groups))
        add_word_probabilities(groups, rows, draw.densities, weights_of(draw), mixed)
        yield draw.log_scales[rows] + np.log(mixed)


def _word_prior(family: Family, snapshot: HDPDraw) -> np.ndarray:
    """eta_w, float64 (V,): as given, or as learned by then."""
    if family.learned_prior is None:
        return family.prior_vector()
    return np.full(family.size, snapshot.prior)


def _snapshots(posterior: Posterior) -> list[HDPDraw]:
    """Those of all chains."""
    return [snapshot for kept in posterior.snapshots for snapshot in kept]


def _score(posterior: Posterior, means: LogMeans, documents: np.ndarray, words: np.ndarray) -> Score:
    log_baseline = float(log_unigram(posterior)[words].sum())
    return score_of(means, documents, np.ones(len(words), np.int64), log_baseline)


def log_unigram(posterior: Posterior) -> np.ndarray:
    """log of (n_w + eta_w) / (n + eta) over the training corpus, (V,); a learned eta at its mean over the draws."""
    corpus, family = scored_parts(posterior)
    word_prior = np.mean([_word_prior(family, snapshot) for snapshot in _snapshots(posterior)], axis=0)
    return log_frequencies(corpus, word_prior)


def log_frequencies(corpus: Corpus, word_prior: np.ndarray) -> np.ndarray:
    """log of (n_w + eta_w) / (n + eta), (V,)."""
    smoothed = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) + word_prior
    return np.asarray(np.log(smoothed / smoothed.sum()))


# --- checks -------------------------------------------------------------------------------------------------


def scored_parts(posterior: Any) -> tuple[Corpus, Family]:
    """The corpus and the family of a posterior whose words can be scored; InputError for any other."""
    _check_posterior(posterior)
    data, family = posterior.data, posterior.family
    if not isinstance(data, Corpus) or Ability.IS_CATEGORICAL not in family.abilities:
        raise InputError(
            f"held-out scores are for words: posterior must be of a Corpus with the family Categorical or "
            f"KnownTopics; got "
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
