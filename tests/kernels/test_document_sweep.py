"""The kernels for categories, against the exact law of a sweep over one document, many times over.

All documents are alike in words and topics, so after one sweep their topics are that many draws from one law, which
is worked out observation by observation.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from franchise.checks.statistics import SMALLEST_P
from franchise.kernels.block_sweep import Cells
from franchise.kernels.runtime.blocks import first_turns
from franchise.kernels.word_sweep import Densities, SweepInputs, SweepStages, fill_no_more, sweep_settled
from franchise.kernels.word_sweep_slices import Fresh, sweep_slices
from franchise.moves.document import word_sweep as categories
from franchise.parallel import Threads
from franchise.parallel.communicator import SINGLE_PROCESS

DOCUMENTS = 200_000
WORDS = np.array([0, 2, 0, 1], np.int32)
TOPICS = np.array([0, 1, 1, 3], np.int32)  # at first; 2 is not among them
CATEGORIES = np.array([0, 3])  # all in one block
CONCENTRATIONS = np.array([0.8, 0.3, 0.5, 0.2])
PARAMETERS = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.3, 0.5, 0.2], [0.1, 0.6, 0.3]])  # (K, V)


def exact_law(
    topics: np.ndarray, parameters: np.ndarray, concentrations: np.ndarray, heights: np.ndarray
) -> dict[tuple[int, ...], float]:
    """The probabilities of what a sweep leads to; topics of height zero take no part."""
    law = {tuple(topics.tolist()): 1.0}
    for place, word in enumerate(WORDS):
        after: dict[tuple[int, ...], float] = {}
        for before, probability in law.items():
            old = before[place]
            if heights[old] == 0.0:
                after[before] = after.get(before, 0.0) + probability
                continue
            counts = np.bincount(np.delete(before, place), minlength=len(heights))
            weights = (counts + concentrations) * parameters[:, word]
            for new, share in enumerate(averaged_over_slices(weights, heights, heights[old])):
                topic_by_place = (*before[:place], new, *before[place + 1 :])
                after[topic_by_place] = after.get(topic_by_place, 0.0) + probability * share
        law = after
    return {topics: probability for topics, probability in law.items() if probability > 0.0}


def averaged_over_slices(weights: np.ndarray, heights: np.ndarray, below: float) -> np.ndarray:
    """Probabilities by weights divided by heights, over those above a slice that is uniform below a height."""
    edges = np.unique(np.append(heights[heights < below], [0.0, below]))
    shares = np.zeros(len(weights))
    for lower, upper in itertools.pairwise(edges):
        reached = heights > lower
        over = np.divide(weights, heights, out=np.zeros(len(weights)), where=reached)
        shares += (upper - lower) / below * over / over.sum()
    return shares


def swept(sweep) -> np.ndarray:
    """The topics of all documents after a sweep, (DOCUMENTS, 4); the sweep gets what all kernels need."""
    labels = np.tile(TOPICS, DOCUMENTS)
    offsets = np.arange(0, 4 * DOCUMENTS + 1, 4)
    capacity = len(CONCENTRATIONS)
    cells = Cells(
        *np.zeros((2, len(labels)), np.int32),
        *np.zeros((3, 1), np.int64),
        *np.zeros((2, capacity + 2), np.int64),
    )
    words = np.random.default_rng(7).integers(0, 2**63, (1, 3, 4), dtype=np.uint64)
    sweep(first_turns(np.array([0, DOCUMENTS])), np.tile(WORDS, DOCUMENTS), offsets, labels, words, cells)
    assert cells.customers_per_topic.sum() == cells.customers.sum() == len(labels)
    np.testing.assert_array_equal(np.bincount(labels, minlength=capacity + 2), cells.customers_per_topic)
    return labels.reshape(DOCUMENTS, 4)


def densities(heights: np.ndarray) -> Densities:
    rows = np.divide(PARAMETERS.T, heights, out=np.zeros((3, 4)), where=heights > 0.0).astype(np.float32)
    no_more = np.empty((4, categories.CUSTOMERS))
    fill_no_more(CONCENTRATIONS, no_more)
    return Densities(rows, heights, CONCENTRATIONS, no_more)


def p_value(drawn: np.ndarray, law: dict[tuple[int, ...], float]) -> float:
    """Of the number of documents with each outcome; outcomes that are hardly expected are taken together."""
    outcomes, counts = np.unique(drawn, axis=0, return_counts=True)
    observed = {tuple(outcome.tolist()): count for outcome, count in zip(outcomes, counts, strict=True)}
    assert set(observed) <= set(law)
    expected = np.array(list(law.values())) * len(drawn)
    found = np.array([observed.get(outcome, 0) for outcome in law])
    rare = expected < 20.0
    found, expected = (np.append(values[~rare], values[rare].sum()) for values in (found, expected))
    kept = expected > 0.0
    return stats.chisquare(found[kept], expected[kept]).pvalue


def settled_topics(skew: float = 1.0) -> np.ndarray:
    """After a settled sweep, over all topics but the last, whose observation must stay."""
    heights = np.array([1.0, 1.0, 1.0, 0.0])
    given = densities(heights)
    given.rows[:, 2] *= skew

    def sweep(turns, observations, offsets, labels, words, cells):
        counts, rising = np.empty((3, 4), np.int32), np.empty((1, 4))
        by_word = np.argsort(observations, kind="stable").astype(np.int32)
        word_offsets = np.append(0, np.cumsum(np.bincount(observations, minlength=3)))
        sweep_settled(
            SweepStages(
                first_turns(turns.block_bounds), first_turns(CATEGORIES), turns, first_turns(CATEGORIES)
            ),
            SweepInputs(
                densities=given,
                totals=np.ones(4),
                shared=np.empty((3, 2)),
                observations=observations,
                offsets=offsets,
                by_word=by_word,
                word_offsets=word_offsets,
                rng_states=words,
                prior=np.full(3, 0.5),
                rising=rising,
            ),
            0.0,
            labels,
            counts,
            categories._room_for_live(4),
            cells,
        )
        np.testing.assert_array_equal(
            counts, [np.bincount(labels[observations == word], minlength=4) for word in range(3)]
        )
        np.testing.assert_allclose(rising[0], (gammaln(0.5 + counts) - gammaln(0.5)).sum(axis=0))

    return swept(sweep)


def test_settled_sweeps_draw_from_their_law():
    law = exact_law(TOPICS, PARAMETERS, CONCENTRATIONS, np.array([1.0, 1.0, 1.0, 0.0]))
    assert sum(law.values()) == pytest.approx(1.0)
    assert p_value(settled_topics(), law) > SMALLEST_P
    assert p_value(settled_topics(skew=1.03), law) < SMALLEST_P  # so small an error is seen


FRESH = np.array([0.25, 0.1])  # weights beta of two fresh topics, alpha = 2
FRESH_PARAMETERS = np.array([[0.2, 0.7, 0.1], [0.5, 0.1, 0.4]])


def sliced_topics(cutoff: float, skew: float = 1.0) -> tuple[np.ndarray, dict[tuple[int, ...], float]]:
    """After a sweep by slices, and the law."""
    heights = np.minimum(cutoff, CONCENTRATIONS / 2.0)
    fresh_heights = np.minimum(cutoff, FRESH)
    given = densities(heights)
    work = SimpleNamespace(
        executor=Threads(1),
        comm=SINGLE_PROCESS,
        state=SimpleNamespace(statistics=SimpleNamespace(prior=np.ones(3))),
    )
    order = categories._sum_in_order(work, given, np.ones(4, np.float32), np.arange(4))
    fresh = Fresh(
        heights=fresh_heights,
        weights=2.0 * FRESH / fresh_heights * skew,
        inverse_heights=1.0 / fresh_heights,
        begins=np.array([0, 4]),
        ranks=np.arange(3),
        probabilities=np.append(FRESH_PARAMETERS, np.zeros((2, 1)), axis=1).ravel(),
    )

    def sweep(turns, observations, offsets, labels, words, cells):
        live = categories._room_for_live(4)
        sweep_slices(turns, given, observations, offsets, labels, order, fresh, words, live, cells)

    law = exact_law(
        TOPICS,
        np.append(PARAMETERS, FRESH_PARAMETERS, axis=0),
        np.append(CONCENTRATIONS, 2.0 * FRESH),
        np.append(heights, fresh_heights),
    )
    return swept(sweep), law


@pytest.mark.parametrize("cutoff", [1.0, 0.2, 0.05])
def test_sweeps_by_slices_draw_from_their_law(cutoff):
    drawn, law = sliced_topics(cutoff)
    assert sum(law.values()) == pytest.approx(1.0)
    assert p_value(drawn, law) > SMALLEST_P
    drawn, _ = sliced_topics(cutoff, skew=1.1)
    assert p_value(drawn, law) < SMALLEST_P
