"""Segments drawn given the topics of other documents: against sums over all segmentations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import dirichlet

import franchise as fr
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.htmm import bursty_segments
from franchise.htmm.bursty_segments import (
    GivenTopics,
    choose_concentration,
    document_logs,
    draw_boundaries,
    draw_segments,
    filter_segments,
)
from tests.htmm.cases import prepared

DOCUMENTS = [[[0, 1, 0], [2], [], [2, 2, 0], [1]], [[1, 1], [0]], []]
OWN = np.array([0, 0, 1, 1, 0, 1, 1])  # the topics of sentences
SWITCH, CONCENTRATION = 0.3, 2.5
OTHERS = np.array([[1.5, 0.5, 0.5], [0.5, 2.5, 0.5], [0.7, 0.7, 0.7]])  # eta + n_kw of the second document


def given():
    """Topics 0 and 1, and one without words; eta is 0.5, and 0.7 for the last topic."""
    data = prepared(DOCUMENTS, 3)
    counts = np.full((3, 3), 0.5)
    counts[:, 2] = 0.7
    np.add.at(counts, (data.data.words, np.repeat(OWN, np.diff(data.data.tokens))), 1.0)
    return data, GivenTopics(OWN, counts, np.array([0.5, 0.3, 0.2]), SWITCH)


def of_others():
    """eta + n_kw of the words of the second document alone, by topic."""
    counts = np.full((3, 3), 0.5)
    counts[2] = 0.7
    for words, topic in zip(DOCUMENTS[1], OWN[5:], strict=True):
        for word in words:
            counts[topic, word] += 1
    return counts


def naive_segment(sentences, weights):
    """log p(words of a segment): words one by one, for every topic."""
    total = 0.0
    for counts, weight in zip(of_others(), weights, strict=True):
        mean, seen, product = counts / counts.sum(), [], weight
        for word in itertools.chain(*sentences):
            product *= (CONCENTRATION * mean[word] + seen.count(word)) / (CONCENTRATION + len(seen))
            seen.append(word)
        total += product
    return math.log(total)


def naive_law(longest=5):
    """The log joint of words and boundaries of the first document, for all boundaries."""
    _, known = given()
    law = {}
    for later in itertools.product((False, True), repeat=4):
        begins = (True, *later)
        edges = [*np.flatnonzero(begins), 5]
        if max(np.diff(edges)) > longest:
            continue
        log = sum(math.log(SWITCH if flag else 1.0 - SWITCH) for flag in later)
        for first, last in itertools.pairwise(edges):
            log += naive_segment(DOCUMENTS[0][first:last], known.weights)
        law[begins] = log
    return law


def test_segments_have_the_probability_of_their_words_one_by_one():
    data, known = given()
    logs = document_logs(data, known, CONCENTRATION, 5, 0)
    for first, length in itertools.product(range(5), range(5)):
        if first + length < 5:
            expected = naive_segment(DOCUMENTS[0][first : first + length + 1], known.weights)
            assert logs[first, length] == pytest.approx(expected)
        else:
            assert logs[first, length] == -np.inf


def test_the_words_of_a_segment_are_dirichlet_multinomial():
    """The same by integration over its distribution of words: many draws of it."""
    data, known = given()
    counts = of_others()
    rng = np.random.default_rng(0)
    values = np.zeros(20_000)
    for topic, weight in zip(counts, known.weights, strict=True):
        drawn = dirichlet.rvs(CONCENTRATION * topic / topic.sum(), 20_000, rng)
        values += weight * drawn[:, [0, 1, 0, 2]].prod(axis=1)
    found = math.exp(document_logs(data, known, CONCENTRATION, 5, 0)[0, 1])
    assert abs(found - values.mean()) < 4.0 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize("longest", [2, 5])
def test_the_evidence_is_the_sum_over_all_segmentations(longest):
    data, known = given()
    logs = document_logs(data, known, CONCENTRATION, longest, 0)
    expected = np.logaddexp.reduce(list(naive_law(longest).values()))
    assert filter_segments(logs, SWITCH)[-1] == pytest.approx(expected)


def p_value_of_draws(longest, draws=20_000):
    """Whether draws of boundaries follow the enumerated law."""
    data, known = given()
    law = naive_law(longest)
    logs = np.array(list(law.values()))
    expected = np.exp(logs - np.logaddexp.reduce(logs))
    found = draw_boundaries(data, known, CONCENTRATION, longest, draws, np.random.default_rng(3))
    assert found[:, 5].all()  # the first sentence of the second document
    return goodness_of_fit(list(map(tuple, found[:, :5].tolist())), list(law), expected)


@pytest.mark.parametrize("longest", [3, 5])
def test_draws_follow_the_law_of_all_segmentations(longest):
    assert p_value_of_draws(longest) > SMALLEST_P


@pytest.mark.parametrize("wrong", ["own words stay", "no repetition", "switch forgotten"])
def test_planted_bugs_are_found(monkeypatch, wrong):
    if wrong == "own words stay":
        whole = given()[1].counts
        monkeypatch.setattr(
            bursty_segments,
            "document_logs",
            lambda data, known, c, longest, document: document_logs(
                data, known._replace(counts=whole + 1.0), c, longest, document
            ),
        )
    elif wrong == "no repetition":
        gains = bursty_segments._gains_of_repetition
        monkeypatch.setattr(
            bursty_segments,
            "_gains_of_repetition",
            lambda *arguments: (gains(*arguments)[0], 0.0 * gains(*arguments)[1]),
        )
    else:
        monkeypatch.setattr(
            bursty_segments, "draw_segments", lambda logs, _, *rest: draw_segments(logs, 0.5, *rest)
        )
    assert p_value_of_draws(5) < SMALLEST_P


def repeating(rng, documents=20, repeat=0.5):
    """Documents of two segments; a word repeats one of its segment with probability `repeat`."""
    texts = []
    for _ in range(documents):
        text = []
        for topic in rng.permutation(4)[:2]:
            words: list[int] = []
            for place in range(30):
                again = place > 0 and rng.random() < repeat
                words.append(int(rng.choice(words)) if again else int(50 * topic + rng.integers(50)))
            text += np.split(np.array(words), 5)
        texts.append(text)
    return texts


def test_the_chosen_concentration_has_the_highest_evidence():
    data, known = given()
    chosen = choose_concentration(data, known, 5)

    def evidence(value):
        logs = [document_logs(data, known, value, 5, document) for document in (0, 1)]
        return sum(filter_segments(own, SWITCH)[-1] for own in logs)

    grid = np.exp(np.linspace(0.0, math.log(1e5), 200))
    assert evidence(chosen) == pytest.approx(max(map(evidence, grid)), abs=0.01)


def test_repetition_lowers_the_concentration():
    chosen = []
    for repeat in (0.1, 0.6):
        texts = repeating(np.random.default_rng(5), repeat=repeat)
        data = prepared([[words.tolist() for words in text] for text in texts], 200)
        topics = data.data.words[data.data.tokens[:-1]] // 50
        counts = np.full((200, 4), 0.1)
        np.add.at(counts, (data.data.words, np.repeat(topics, np.diff(data.data.tokens))), 1.0)
        chosen.append(choose_concentration(data, GivenTopics(topics, counts, np.full(4, 0.25), 0.1), 20))
    assert chosen[1] < 0.3 * chosen[0]


@pytest.fixture(scope="module")
def fitted():
    texts = repeating(np.random.default_rng(7))
    corpus = fr.Corpus.from_sentences(texts, [f"w{number}" for number in range(200)])
    model = fr.HTMM(None, draws=2, warmup=10, chains=2, seed=0, progress=False)
    return model.fit(corpus).posterior_


@pytest.mark.parametrize("segments", [2, None])
def test_boundaries_of_a_posterior_are_found(fitted, segments):
    begins = fitted.boundaries(segments)
    assert begins.shape == (200,)
    found = begins.reshape(20, 10)
    assert found[:, 0].all()
    assert found[:, 5].mean() > 0.9
    if segments == 2:
        assert (found.sum(axis=1) == 2).all()


def test_draws_are_those_of_their_seed(fitted):
    first, again = (fitted.draw_boundaries(50.0, stored_draws=2, draws=2) for _ in range(2))
    assert first.shape == (4, 200)
    assert (first == again).all()
    assert (first != fitted.draw_boundaries(50.0, stored_draws=2, draws=2, seed=1)).any()


def test_segments_begin_at_given_boundaries(fitted):
    begins = np.arange(200) % 5 == 0
    table = fitted.segment(boundaries=begins)
    assert table["first_sentence"].tolist() == [0, 5] * 20
    assert table["tokens"].sum() == fitted.data.n_tokens
    own = fitted.segment()
    changes = own["first_sentence"].to_numpy() + 10 * np.repeat(
        np.arange(20), own.groupby("document", sort=False).size()
    )
    assert fitted.segment(boundaries=np.isin(np.arange(200), changes)).equals(own)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"concentration": 0.0}, ["concentration", "positive"]),
        ({"longest": 0}, ["longest", "1 or more"]),
        ({"draws": 0}, ["draws", "1 or more"]),
        ({"stored_draws": 0}, ["stored_draws", "1 or more"]),
        ({"seed": -1}, ["seed", "0 or more"]),
    ],
)
def test_wrong_numbers(fitted, arguments, words):
    with pytest.raises(fr.InputError) as caught:
        fitted.draw_boundaries(**arguments)
    for word in words:
        assert word in str(caught.value)


def test_wrong_boundaries(fitted):
    with pytest.raises(fr.InputError, match="200; got 3"):
        fitted.segment(boundaries=[True, False, True])
    with pytest.raises(fr.InputError, match="one bool per sentence"):
        fitted.segment(boundaries=np.full(200, 0.5))
