"""Both samplers by Geweke's joint test: forward draws against a chain of sweeps and new data; and planted bugs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from franchise.checks.statistics import SMALLEST_P
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm import gibbs_steps as sweeping
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments
from franchise.kernels.random.streams import Streams
from franchise.parallel import Threads
from franchise.priors import Gamma
from tests.exactness.cases import size
from tests.htmm import bugs
from tests.htmm.cases import prepared
from tests.support.geweke import same_mean

pytestmark = pytest.mark.exactness

ENGINE = Threads(1)
LENGTHS = [[2, 1, 0, 3], [2, 2, 1]]
VOCABULARY = 4


def draw_words(rng, labels, eta):
    """Words of every sentence, topics' probabilities from their prior."""
    phi = {label: rng.dirichlet(np.full(VOCABULARY, eta)) for label in sorted(set(labels))}
    flat = [length for lengths in LENGTHS for length in lengths]
    words = [
        rng.choice(VOCABULARY, size=length, p=phi[label]) for label, length in zip(labels, flat, strict=True)
    ]
    ends = np.cumsum([0, *map(len, LENGTHS)])
    return [[words[place] for place in range(*pair)] for pair in pairwise(ends)]


def draw_switches(rng, epsilon):
    return [place == 0 or rng.random() < epsilon for lengths in LENGTHS for place in range(len(lengths))]


def summarise(model, state, table_count):
    """Label-free numbers of parameters and data."""
    data = model.prepared.data
    gamma, unseen = getattr(state, "top_concentration", 0.0), getattr(state, "unseen_weight", 0.0)
    return {
        "topics": len(np.unique(state.topics)),
        "switches": state.later_switches(model.prepared),
        "largest": float(np.bincount(state.topics).max()),
        "last shares with first": float(state.topics[0] == state.topics[-1]),
        "switch probability": state.switch_probability,
        "concentration": state.concentration,
        "word prior": state.word_prior,
        "log likelihood": sweeping.WordCounts(model.prepared, state.counts).log_likelihood(state.word_prior),
        "same word in a sentence": float(data.words[0] == data.words[1]),
        "same word in both documents": float(data.words[0] == data.words[data.tokens[4]]),
        "gamma": gamma,
        "unseen weight": unseen,
        "gamma times unseen weight": gamma * unseen,
        "tables": table_count,
    }


class FiniteJoint:
    """Three topics, both priors learned."""

    priors = (Gamma(3.0, 4.0), Gamma(4.0, 6.0), (2.0, 1.5))

    def forward(self, rng):
        alpha, eta = (rng.gamma(prior.shape, 1.0 / prior.rate) for prior in self.priors[:2])
        epsilon = rng.beta(*self.priors[2])
        switches, topics = draw_switches(rng, epsilon), []
        place = 0
        for lengths in LENGTHS:
            theta = rng.dirichlet(np.full(3, alpha))
            for _ in lengths:
                topics.append(int(rng.choice(3, p=theta)) if switches[place] else topics[-1])
                place += 1
        model = FiniteModel(prepared(draw_words(rng, topics, eta), VOCABULARY), 3, *self.priors)
        state = finite.start_from(model, np.array(topics, np.int32), np.array(switches), ENGINE)
        state.switch_probability, state.concentration, state.word_prior = epsilon, alpha, eta
        return model, state, 0

    def sweep(self, model, state, streams):
        finite.sweep(model, state, streams, ENGINE)
        return 0

    def with_words(self, model, state, rng):
        """New data, given the topics."""
        documents = draw_words(rng, state.topics.tolist(), state.word_prior)
        model = type(model)(prepared(documents, VOCABULARY), *list(vars(model).values())[1:])
        sweeping.count_words(model.prepared, state, ENGINE)
        return model


class InfiniteJoint(FiniteJoint):
    """All concentrations learned."""

    priors = (Gamma(3.0, 2.0), Gamma(3.0, 2.0), Gamma(4.0, 6.0), (2.0, 1.5))

    def forward(self, rng):
        alpha, gamma, eta = (rng.gamma(prior.shape, 1.0 / prior.rate) for prior in self.priors[:3])
        epsilon = rng.beta(*self.priors[3])
        switches, topics = draw_switches(rng, epsilon), []
        per_topic: list[int] = []
        place = 0
        for lengths in LENGTHS:
            tables: list[list[int]] = []  # customers, topic
            for _ in lengths:
                if not switches[place]:
                    topics.append(topics[-1])
                else:
                    weights = np.array([customers for customers, _ in tables] + [alpha])
                    table = rng.choice(len(weights), p=weights / weights.sum())
                    if table == len(tables):
                        weights = np.array([*per_topic, gamma], dtype=float)
                        topic = int(rng.choice(len(weights), p=weights / weights.sum()))
                        per_topic += [0] * (topic == len(per_topic))
                        per_topic[topic] += 1
                        tables.append([0, topic])
                    tables[table][0] += 1
                    topics.append(tables[table][1])
                place += 1
        model = InfiniteModel(prepared(draw_words(rng, topics, eta), VOCABULARY), *self.priors)
        state = InfiniteSegments(
            topics=np.array(topics, np.int32),
            switches=np.array(switches),
            switch_probability=epsilon,
            concentration=alpha,
            word_prior=eta,
            topic_count=len(per_topic),
            top_concentration=gamma,
        )
        weights = rng.dirichlet([*per_topic, gamma])
        state.weights, state.unseen_weight = weights[:-1], float(weights[-1])
        sweeping.count_words(model.prepared, state, ENGINE)
        return model, state, sum(per_topic)

    def sweep(self, model, state, streams):
        infinite.sweep(model, state, streams, ENGINE)
        return int(state.tables.sum())


def p_values(joint, draws):
    """p-values of all summaries, forward draws against a chain of sweeps and new data."""
    rng = np.random.default_rng(7)
    forward = [summarise(*joint.forward(rng)) for _ in range(draws)]
    model, state, _ = joint.forward(rng)
    pool: dict = {}
    successive = []
    for sweep in range(1, draws + 1):
        table_count = joint.sweep(model, state, Streams(3, 0, sweep, 0, pool))
        model = joint.with_words(model, state, rng)
        successive.append(summarise(model, state, table_count))
    one, two = (
        {name: np.array([row[name] for row in rows]) for name in rows[0]} for rows in (forward, successive)
    )
    return {
        **{name: same_mean(one[name], two[name]) for name in one},
        **{f"{name} squared": same_mean(one[name] ** 2, two[name] ** 2) for name in one},
    }


@pytest.mark.parametrize("joint", [FiniteJoint(), InfiniteJoint()], ids=["three topics", "learned number"])
def test_joint_distribution(joint):
    values = p_values(joint, size(12_000))
    assert min(values.values()) >= SMALLEST_P, {name: p for name, p in values.items() if p < 0.01}


def test_a_concentration_drawn_by_all_sentences_is_seen():
    """alpha | m has the sentences that drew a topic as customers, not all of them."""
    with bugs.all_sentences_draw(LENGTHS):
        assert min(p_values(InfiniteJoint(), 2000).values()) < SMALLEST_P


def test_weights_drawn_before_gamma_are_seen():
    """The order is m, gamma and alpha, then beta."""
    with bugs.weights_before_gamma():
        assert min(p_values(InfiniteJoint(), 3000).values()) < SMALLEST_P
