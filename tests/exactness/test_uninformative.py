"""With one word the data say nothing, so a sampler must give back the prior.

docs/theory/enumeration.md#sec-uninformative.

200 documents of 100 tokens have on average sum_i alpha / (alpha + i) tables each: 5.19 at alpha 1, 15.7 at 5.
"""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.moves import TopicWeights
from tests.exactness import planted
from tests.support.nightly import nightly

DOCUMENTS, WORDS = 200, 100


def tables_per_document(sampler, alpha: float, documents: int = DOCUMENTS, draws: int = 300) -> float:
    corpus = fr.Corpus.from_matrix(np.full((documents, 1), WORDS))
    posterior = fr.sample(
        corpus,
        sampler=sampler,
        alpha=alpha,
        gamma=1.0,
        draws=draws,
        warmup=100,
        chains=1,
        seed=3,
    )
    return float(posterior.trace["n_tables"].mean()) / documents


def expected(alpha: float) -> float:
    return float((alpha / (alpha + np.arange(WORDS))).sum())


@pytest.mark.parametrize(
    ("sampler", "draws", "alpha"),
    [
        ("crf", 150, 5.0),
        ("direct", 150, 1.0),
        *nightly([("crf", 300, 1.0), ("direct", 300, 5.0), ("slice", 1200, 1.0), ("slice", 1200, 5.0)]),
    ],
)
def test_prior_number_of_tables(sampler, draws, alpha):
    """Slices mix slowly: they need more draws."""
    assert tables_per_document(sampler, alpha, draws=draws) == pytest.approx(expected(alpha), rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug",
    [[planted.SwappedCrf()], [planted.StaleCount(), TopicWeights()]],
)
def test_planted_bugs_are_caught(bug):
    alpha = 5.0
    measured = tables_per_document(bug, alpha, documents=4, draws=100)
    assert measured != pytest.approx(expected(alpha), rel=0.02)
