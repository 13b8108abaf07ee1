"""Draws in one form, whichever the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.draw import draws_of
from tests.posterior.making import posterior_of, segments, tiny


def test_draws_of_a_mixture():
    draws = draws_of(tiny())
    assert [(draw.chain, draw.number, draw.topic_count) for draw in draws] == [
        (0, 0, 2),
        (0, 1, 2),
        (1, 0, 2),
        (1, 1, 3),
    ]
    assert draws[3].labels.tolist() == [0, 0, 2, 1, 1, 0, 1]
    assert draws[3].sizes.tolist() == [3, 3, 1]


def test_the_draw_shown_is_the_nearest_to_all_whatever_the_log_joint():
    corpus = fr.Corpus.from_tokens([["a", "b", "c", "d"], ["a", "b", "c", "d"]])
    halves, other, one = [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0, 1, 0], [0] * 8
    posterior = posterior_of(corpus, [[one, other], [halves, halves]], log_joint=[[9.0, 8.0], [1.0, 2.0]])
    assert (posterior.draw().chain, posterior.draw().number) == (1, 0)


def test_draws_that_not_all_chains_have_are_left_out():
    posterior = tiny()
    trace = {name: values[:, :1] for name, values in posterior.trace.items()}
    assert [draw.number for draw in draws_of(replace(posterior, trace=trace))] == [0, 0]


def test_words_have_the_topic_of_their_sentence():
    corpus = fr.Corpus.from_sentences([[["a", "b"], [], ["c"]], [["c", "c"]]])
    posterior = segments([[[0, 2, 1, 1]]], corpus, topics=4)
    (draw,) = draws_of(posterior)
    assert draw.labels.tolist() == [0, 0, 1, 1, 1]
    assert draw.topic_count == 4
    assert draw.sizes.tolist() == [2, 3, 0, 0]
    assert posterior.topic_word_weights(draw.kept, np.array([[1.0, 1.0, 0.0]])).tolist() == [[1.5, 1.5, 0.5]]
    # one switch a document, and a prior of one for each of four topics
    assert posterior.document_weights(draw.kept)[0] == pytest.approx([0.4, 0.2, 0.2, 0.2, 0.0])


def test_at_most_64_draws_of_a_chain():
    corpus = fr.Corpus.from_sentences([[["a"], ["b"]]])
    posterior = segments([[[0, 1]] * 100], corpus, topics=2)
    draws = draws_of(posterior)
    assert len(draws) == 64
    assert (draws[0].number, draws[-1].number) == (0, 99)


def test_a_learned_prior_is_that_of_the_draw():
    corpus = fr.Corpus.from_tokens([["a", "b"]])
    posterior = posterior_of(corpus, [[[0, 1]]], fr.Categorical(2, fr.Gamma(1, 1)))
    posterior.snapshots[0][0] = replace(posterior.snapshots[0][0], prior=0.25)
    assert posterior.topic_word_weights(draws_of(posterior)[0].kept, np.ones((1, 2))).tolist() == [
        [1.25, 1.25]
    ]
