"""Posteriors as pyLDAvis takes them: its documented contract, and pyLDAvis itself where it is installed."""

import numpy as np
import pytest

import franchise as fr
from franchise.diagnostics import to_pyldavis
from tests.running.runs import CORPUS, sample_segments


@pytest.fixture(scope="module", params=["hdp", "htmm"])
def posterior(request):
    if request.param == "htmm":
        return sample_segments(None, 5)
    return fr.sample(CORPUS, sampler="direct", draws=20, warmup=20, chains=2, seed=7, progress=False)


def test_arguments_fit_together(posterior):
    arguments = posterior.to_pyldavis()
    corpus, topics = posterior.data, posterior.consensus_topics.topic_count
    assert topics > 0
    assert arguments["topic_term_dists"].shape == (topics, corpus.vocabulary_size)
    assert arguments["doc_topic_dists"].shape == (corpus.n_documents, topics)
    for name in ("topic_term_dists", "doc_topic_dists"):
        assert (arguments[name] >= 0).all()
        np.testing.assert_allclose(arguments[name].sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert arguments["doc_lengths"].tolist() == np.diff(corpus.offsets).tolist()
    assert arguments["vocab"] == corpus.vocabulary
    assert arguments["term_frequency"].tolist() == corpus.to_matrix().sum(axis=0).tolist()
    shares = posterior.document_topics().drop(columns="other").to_numpy()
    np.testing.assert_allclose(
        arguments["doc_topic_dists"], shares / shares.sum(axis=1, keepdims=True), rtol=1e-12
    )


def test_pyldavis_takes_them(posterior):
    prepare = pytest.importorskip("pyLDAvis").prepare
    arguments = posterior.to_pyldavis()
    prepared = prepare(
        **arguments, mds=lambda topics: np.zeros((len(topics), 2)), n_jobs=1, sort_topics=False
    )
    assert prepared.topic_coordinates["topics"].tolist() == list(
        range(1, len(arguments["topic_term_dists"]) + 1)
    )


def test_topics_without_words_are_refused():
    groups = fr.Groups([1, 2, 3, 9, 8, 7], ["a", "a", "a", "b", "b", "b"])
    posterior = fr.sample(groups, fr.Poisson(), draws=4, warmup=2, progress=False, chains=2)
    with pytest.raises(fr.InputError, match="topics have no words"):
        to_pyldavis(posterior)
