"""What is traced: the log joint probability against the enumerated posterior; and names of random streams."""

from __future__ import annotations

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from scipy.special import logsumexp

from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.gibbs_steps import count_words
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments
from franchise.htmm.new_documents import draw_documents
from franchise.kernels.htmm_gibbs import Finite
from franchise.kernels.random.streams import Streams
from franchise.parallel import Threads
from franchise.priors import Gamma
from tests.htmm.cases import prepared
from tests.naive import htmm as naive

ENGINE = Threads(1)
DOCUMENTS = [[[0, 1], [0], [2, 2]], [[1], [2]]]
ETA, ZETAS = 0.5, (1.0, 2.0)


def spread_of_differences(logs, probabilities):
    """How far logs are from the logs of probabilities, up to a constant."""
    return np.ptp(np.array(logs) - np.log(probabilities))


def test_log_joint_with_a_given_number_of_topics():
    exact = naive.finite_posterior(DOCUMENTS, 2, 3, 0.7, ETA, *ZETAS)
    model = FiniteModel(prepared(DOCUMENTS, 3), 2, 0.7, ETA, ZETAS)
    logs = []
    for outcome in exact:
        topics = np.array([topic for labels, _ in outcome for topic in labels], np.int32)
        switches = np.array([drew for _, flags in outcome for drew in flags], bool)
        state = finite.start_from(model, topics, switches, ENGINE)
        logs.append(finite.measure(model, state)["log_joint"])
    assert spread_of_differences(logs, list(exact.values())) < 1e-9


def test_log_joint_with_a_learned_number_of_topics():
    """Summed over all numbers of tables."""
    exact = naive.hdp_posterior(DOCUMENTS, 3, 1.2, 0.8, ETA, *ZETAS)
    model = InfiniteModel(prepared(DOCUMENTS, 3), 1.2, 0.8, ETA, ZETAS)
    logs = []
    for labels, flags in exact:
        state = InfiniteSegments(
            topics=np.array(labels, np.int32),
            switches=np.array(flags, bool),
            switch_probability=0.5,
            concentration=1.2,
            word_prior=ETA,
            topic_count=max(labels) + 1,
            top_concentration=0.8,
        )
        count_words(model.prepared, state, ENGINE)
        counts = state.switches_by_topic(model.prepared)
        _, topics = np.nonzero(counts)
        state.customers = counts[counts > 0].astype(np.int32)
        terms = []
        for tables in itertools.product(*(range(1, customers + 1) for customers in state.customers)):
            state.tables = np.array(tables, np.int32)
            state.tables_per_topic = np.bincount(topics, weights=tables).astype(np.int64)
            terms.append(infinite.measure(model, state)["log_joint"])
        logs.append(logsumexp(terms))
    assert spread_of_differences(logs, list(exact.values())) < 1e-9


def test_learned_numbers_add_their_priors():
    model = FiniteModel(prepared(DOCUMENTS, 3), 2, Gamma(2.0, 3.0), Gamma(1.5, 2.5), ZETAS)
    fixed = FiniteModel(prepared(DOCUMENTS, 3), 2, 2.0 / 3.0, 0.6, ZETAS)
    streams = Streams(0, 0, 0, 0)
    one, other = (
        finite.measure(kind, finite.start_at_random(kind, streams, ENGINE)) for kind in (model, fixed)
    )
    added = Gamma(2.0, 3.0).log_density(2.0 / 3.0) + Gamma(1.5, 2.5).log_density(0.6)
    assert one["log_joint"] - other["log_joint"] == pytest.approx(added)


def test_every_stream_of_a_sweep_has_a_name_of_its_own():
    model = InfiniteModel(prepared(DOCUMENTS * 20, 3), Gamma(1, 1), Gamma(1, 1), Gamma(1, 1), ZETAS)
    state = infinite.start_at_random(model, 3, Streams(0, 0, 0, 0), ENGINE)
    taken = []
    generator, words = Streams.generator, Streams.rng_states

    def note_generator(self, block=0):
        taken.append((self.sweep, self.move, block))
        return generator(self, block)

    def note_words(self, first, blocks, count=1):
        taken.extend((self.sweep, self.move, first + block) for block in range(blocks))
        return words(self, first, blocks, count)

    with (
        mock.patch.object(Streams, "generator", note_generator),
        mock.patch.object(Streams, "rng_states", note_words),
    ):
        for sweep in (1, 2):
            infinite.sweep(model, state, Streams(0, 0, sweep, 0), ENGINE)
    assert len(taken) >= 10
    assert len(set(taken)) == len(taken)


def test_proportions_of_new_documents_are_means_over_draws():
    """With words that say nothing: those of the prior."""
    flat = prepared([[[0]] * 6] * 300, 1)
    given = Finite(np.zeros((1, 2)), np.array([3.0, 1.0]), 0.5)
    words = np.random.default_rng(0).integers(2**63, size=(30, flat.n_documents, 4), dtype=np.uint64)
    shares = draw_documents(flat, given, words, ENGINE).proportions[:, 0]
    assert shares.mean() == pytest.approx(0.75, abs=5 * shares.std() / math.sqrt(300))
    assert shares.std() < 0.25  # weights n_d + prior, n_d about 3.5: not n_d of all draws together
    expected = (3.0 + 3.5) / (4.0 + 3.5)
    assert shares.max() <= expected + 0.1
