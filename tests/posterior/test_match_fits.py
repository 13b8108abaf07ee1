"""Two fits side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import franchise as fr
from tests.posterior.making import planted, posterior_of, tiny, tiny_groups


def test_topics_of_two_fits_of_other_documents():
    """The second has four of five topics, over other documents."""
    corpus, labels = planted(np.random.default_rng(0))
    other, others = planted(np.random.default_rng(1), topics=4)
    other = fr.Corpus(other.observations, other.offsets, corpus.vocabulary)
    table = fr.match_fits(posterior_of(corpus, [[labels]]), posterior_of(other, [[others]]))
    assert table.columns.tolist() == [
        "topic",
        "label",
        "share",
        "other_topic",
        "other_label",
        "other_share",
        "similarity",
        "words",
        "other_words",
    ]
    assert len(table) == 5
    matched = table.dropna()
    assert len(matched) == 4
    assert sorted(matched["other_topic"]) == [0, 1, 2, 3]
    assert (matched["similarity"] > 0.8).all()
    for row in matched.itertuples():
        assert row.words[0] == row.other_words[0]
    (alone,) = table[table["other_topic"].isna()].itertuples()
    assert alone.words.startswith("e")


def test_topics_of_the_second_that_match_none_come_last():
    corpus, labels = planted(np.random.default_rng(0))
    first, second = posterior_of(corpus, [[np.minimum(labels, 1)]]), posterior_of(corpus, [[labels]])
    table = fr.match_fits(first, second)
    assert table["topic"].tolist()[:2] == [0, 1]
    assert table["topic"].isna().sum() == len(table) - 2
    assert sorted(table["other_topic"].dropna()) == [0, 1, 2, 3, 4]


def test_the_same_fit_matches_itself():
    for posterior in (tiny(), tiny_groups()):
        table = fr.match_fits(posterior, posterior)
        assert table["topic"].tolist() == table["other_topic"].tolist() == [0, 1, 2]
        assert table["similarity"].tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_bad_input():
    with pytest.raises(fr.InputError, match="a must be what"):
        fr.match_fits(3, tiny())
    with pytest.raises(fr.InputError, match="b must be what"):
        fr.match_fits(tiny(), None)
    other = posterior_of(fr.Corpus.from_tokens([["a", "x"]]), [[[0, 1]]])
    with pytest.raises(fr.InputError, match="vocabulary of a"):
        fr.match_fits(tiny(), other)
    with pytest.raises(fr.InputError, match="same data"):
        fr.match_fits(tiny(), tiny_groups())


def test_other_observations_in_groups_of_the_same_sizes_are_other_data():
    def fit(values):
        return posterior_of(fr.Groups(values, ["x", "x", "y"]), [[[0, 0, 1]] * 2], fr.GaussianDiagonal(1))

    assert fr.match_fits(fit([0.0, 1.0, 2.0]), fit([0.0, 1.0, 2.0]))["similarity"].tolist() == [1.0, 1.0]
    with pytest.raises(fr.InputError, match="b must have the same data as a"):
        fr.match_fits(fit([0.0, 1.0, 2.0]), fit([0.0, 1.0, 3.0]))


def test_the_same_sparse_observations_are_the_same_data():
    def fit():
        rows = csr_array(np.array([[1, 0, 2], [0, 3, 0], [1, 1, 1]]))
        return posterior_of(fr.Groups(rows, ["x", "x", "y"]), [[[0, 0, 1]] * 2], fr.Multinomial(3))

    assert fr.match_fits(fit(), fit())["topic"].tolist() == [0, 1]
