"""A posterior as pyLDAvis takes it (Sievert & Shirley, 2014): an interactive map of topics and their words.

    pyLDAvis.prepare(**posterior.to_pyldavis())

The topics are the consensus topics.  pyLDAvis is not needed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.posterior.base import check_posterior


def to_pyldavis(posterior: object) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare`` for the consensus topics of a posterior of either model.

    pyLDAvis knows no words outside the topics: the proportions of the consensus topics in a document are divided by
    their sum, and a document without any has those of the whole corpus.

    Parameters
    ----------
    posterior : Posterior
        Of a `Corpus`; at least one topic must recur in the draws.

    Returns
    -------
    dict
        ``topic_term_dists``, float64 (topics, words), the mean topic-word distributions; ``doc_topic_dists``,
        float64 (documents, topics); ``doc_lengths``, int64 (documents,), tokens; ``vocab``, list of str;
        ``term_frequency``, int64 (words,).  Rows of the distributions sum to one.

    Raises
    ------
    InputError
        If topics have no words, or if no topic recurs in the draws.

    Examples
    --------
    >>> import franchise as fr
    >>> from franchise.diagnostics import to_pyldavis
    >>> corpus = fr.Corpus.from_tokens([["cat", "dog"], ["dog", "ship"]] * 10)
    >>> posterior = fr.sample(corpus, draws=10, warmup=5, start=1, progress=False)
    >>> arguments = to_pyldavis(posterior)
    >>> arguments["vocab"], arguments["doc_lengths"][:2].tolist()
    (['cat', 'dog', 'ship'], [2, 2])
    >>> pyLDAvis.prepare(**arguments, sort_topics=False, start_index=0)  # doctest: +SKIP
    """
    consensus = check_posterior("posterior", posterior).consensus_topics
    corpus = consensus.corpus
    consensus.check_any()
    words = consensus.word_probabilities()
    shares = consensus.document_shares()[:, :-1]
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0.0, shares, consensus.shares.mean(axis=0))
    return {
        "topic_term_dists": words / words.sum(axis=1, keepdims=True),
        "doc_topic_dists": shares / shares.sum(axis=1, keepdims=True),
        "doc_lengths": corpus.group_sizes,
        "vocab": list(consensus.vocabulary),
        "term_frequency": np.bincount(corpus.observations, minlength=corpus.vocabulary_size),
    }
