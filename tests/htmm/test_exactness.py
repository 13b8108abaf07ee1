"""Both samplers against enumeration over all topics and switches, and Geweke's joint test; and planted bugs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from unittest import mock

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.htmm import (
    gibbs_finite as finite,
)
from franchise.htmm import (
    gibbs_hdp as infinite,
)
from franchise.htmm import (
    gibbs_steps as sweeping,
)
from franchise.htmm.collapsed import draw_given_runs
from franchise.htmm.gibbs_steps import GibbsContext
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments
from franchise.kernels.random.streams import Streams
from franchise.parallel import Threads
from franchise.priors import Gamma
from franchise_studies.long_run import total_variation, typical_total_variation
from tests.exactness.cases import size
from tests.htmm import bugs
from tests.htmm.cases import prepared
from tests.naive import htmm as naive
from tests.support.geweke import same_mean
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

ENGINE = Threads(1)
DOCUMENTS = [[[0, 1], [0], [2, 2]], [[1], [2]]]
"""Two documents over three words."""

GAPS = [[[0, 0], [], [1, 2]], [], [[1, 2], [0]]]
"""With a sentence that has no words, and a document that has no sentences."""

PLANTED = [[[0], [0], [1], []], [[1], [0]]]
"""Documents in which it shows how topics are drawn and kept: those of planted bugs."""

ETA, ZETAS = 0.5, (1.0, 2.0)
BASE_MEASURE = np.array([0.4, 0.8, 1.8])
"""eta_w / ETA, where words do not have the same prior."""


def canonical(labels):
    """Labels in the order of their first appearance."""
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


class FiniteCase:
    """The model with two topics."""

    def __init__(self, documents, alpha, base_measure=None):
        self.documents = documents
        flat = replace(prepared(documents, 3), base_measure=base_measure)
        self.model = FiniteModel(flat, 2, alpha, ETA, ZETAS)
        exact = naive.finite_posterior(documents, 2, 3, alpha, ETA * flat.relative_prior, *ZETAS)
        self.outcomes, self.probabilities = list(exact), np.array(list(exact.values()))

    def start(self, streams):
        return finite.start_at_random(self.model, streams, ENGINE)

    def sweep(self, state, streams):
        finite.sweep(self.model, state, streams, ENGINE)

    def flat(self, outcome):
        """Topics and switches of all sentences."""
        return [label for labels, _ in outcome for label in labels], [
            flag for _, flags in outcome for flag in flags
        ]

    def outcome(self, state):
        ends = self.model.prepared.data.documents
        return tuple(
            (tuple(state.topics[begin:end].tolist()), tuple(state.switches[begin:end].astype(int).tolist()))
            for begin, end in pairwise(ends)
        )


class CollapsedCase(FiniteCase):
    """The model with two topics, by the sweeps that chains start with."""

    def sweep(self, state, streams):
        context = GibbsContext(self.model.prepared, state, streams, ENGINE)
        draw_given_runs(context)
        finite.draw_numbers(self.model, context._replace(streams=replace(streams, move=1)))


class InfiniteCase(FiniteCase):
    """The model that learns the number of topics, concentrations fixed."""

    def __init__(self, documents, alpha, gamma, regrouping=infinite.REGROUPING, base_measure=None):
        self.documents = documents
        self.regrouping = regrouping
        flat = replace(prepared(documents, 3), base_measure=base_measure)
        self.model = InfiniteModel(flat, alpha, gamma, ETA, ZETAS)
        exact = naive.hdp_posterior(documents, 3, alpha, gamma, ETA * flat.relative_prior, *ZETAS)
        self.outcomes, self.probabilities = list(exact), np.array(list(exact.values()))

    def start(self, streams):
        return infinite.start_at_random(self.model, 2, streams, ENGINE)

    def sweep(self, state, streams):
        with mock.patch.object(infinite, "REGROUPING", self.regrouping):
            infinite.sweep(self.model, state, streams, ENGINE)

    def flat(self, outcome):
        return outcome

    def outcome(self, state):
        return canonical(state.topics.tolist()), tuple(state.switches.astype(int).tolist())


def run(case, draws, seed=0):
    """What a long run visits."""
    pool: dict = {}
    state = case.start(Streams(seed, 0, 0, 0, pool))
    visits = []
    for sweep in range(1, draws + 101):
        case.sweep(state, Streams(seed, 0, sweep, 0, pool))
        if sweep > 100:
            visits.append(case.outcome(state))
    return visits


def far_off(case, visits):
    """Total variation, over what independent draws of the run's effective size hardly ever exceed."""
    likely = [case.outcomes[place] for place in np.argsort(-case.probabilities)[:5]]
    series = [np.array([float(visit == outcome) for visit in visits]) for outcome in likely]
    size = min(
        float(array_stats.ess(values[None, :], method="mean")) for values in series if values.std() > 0
    )
    sizes = min(size, len(visits))
    mean, spread = typical_total_variation(case.probabilities, sizes, np.random.default_rng(0))
    return total_variation(visits, case.outcomes, case.probabilities) / (mean + 5.0 * spread)


def features(case, outcome):
    """Which sentences switched, which share a topic, and both at once."""
    topics, switches = case.flat(outcome)
    same = [one == other for one, other in combinations(topics, 2)]
    return np.array([*switches, *same, *(one and both for one in switches for both in same)], dtype=float)


def largest_deviation(case, visits):
    """Of the features' frequencies from the exact ones, in Monte Carlo errors: sharper than total variation."""
    frequencies = np.array([features(case, visit) for visit in visits])
    exact = case.probabilities @ np.array([features(case, outcome) for outcome in case.outcomes])
    deviations = [
        abs(values.mean() - expected) / float(array_stats.mcse(values[None, :], method="mean"))
        for values, expected in zip(frequencies.T, exact, strict=True)
        if 0.02 < expected < 0.98
    ]
    return max(deviations)


MOST_ERRORS = 5.0
"""Beyond it one of about a hundred features is with probability 6e-5."""


CASES = {
    "two topics": (FiniteCase, DOCUMENTS, 0.7),
    "two topics, strong prior": (FiniteCase, GAPS, 3.0),
    "two topics, single words": (FiniteCase, PLANTED, 0.3),
    "two topics in logs": (FiniteCase, DOCUMENTS, 0.002),
    "two topics, base measure": (FiniteCase, GAPS, 0.7, BASE_MEASURE),
    "two topics, collapsed": (CollapsedCase, DOCUMENTS, 0.7, BASE_MEASURE),
    "learned number": (InfiniteCase, DOCUMENTS, 1.2, 0.8),
    "learned number, base measure": (InfiniteCase, DOCUMENTS, 1.2, 0.8, infinite.REGROUPING, BASE_MEASURE),
    "learned number, many": (InfiniteCase, GAPS, 3.0, 5.0),
    "learned number, sentences alone": (InfiniteCase, DOCUMENTS, 1.2, 0.8, ()),
}


@pytest.mark.parametrize(
    "name",
    nightly(
        CASES,
        but=CASES.keys()
        - {"two topics, base measure", "learned number, base measure", "learned number, many"},
    ),
)
def test_a_long_run_visits_everything_as_often_as_it_should(name):
    kind, *settings = CASES[name]
    case = kind(*settings)
    visits = run(case, size(16_000))
    assert far_off(case, visits) < 1.0
    assert largest_deviation(case, visits) < MOST_ERRORS


@pytest.mark.parametrize(("kind", "alpha"), [(FiniteCase, 0.7), (FiniteCase, 0.002), (CollapsedCase, 0.7)])
def test_one_sweep_leaves_the_posterior_as_it_is(kind, alpha):
    """Topics and switches from the exact posterior, a sweep, and they follow it again."""
    case = kind(DOCUMENTS, alpha)
    rng = np.random.default_rng(4)
    pool: dict = {}
    after = []
    for number, place in enumerate(rng.choice(len(case.outcomes), 4000, p=case.probabilities)):
        topics, switches = case.flat(case.outcomes[place])
        state = finite.start_from(case.model, np.array(topics, np.int32), np.array(switches, bool), ENGINE)
        finite.draw_numbers(
            case.model, GibbsContext(case.model.prepared, state, Streams(8, 0, number, 0, pool), ENGINE)
        )
        case.sweep(state, Streams(9, 0, number, 0, pool))
        after.append(case.outcome(state))
    assert goodness_of_fit(after, case.outcomes, case.probabilities) >= SMALLEST_P


# --- Geweke's joint test ------------------------------------------------------------------------------------

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
        "gamma": getattr(state, "top_concentration", 0.0),
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


def joint_p_values(joint, draws):
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
    values = joint_p_values(joint, size(12_000))
    assert min(values.values()) >= SMALLEST_P, {name: p for name, p in values.items() if p < 0.01}


# --- planted bugs -------------------------------------------------------------------------------------------


def is_seen(case):
    """Whether a run, or one four times as long, is further off than the right sampler's."""
    return any(largest_deviation(case, run(case, draws)) > MOST_ERRORS for draws in (1500, 6000))


def test_stays_that_count_as_draws_are_seen():
    case = InfiniteCase(PLANTED, 3.0, 0.3, ())
    with bugs.stays_counted():
        assert is_seen(case)


@pytest.mark.parametrize(
    "case", [FiniteCase(PLANTED, 1.0), InfiniteCase(PLANTED, 0.5, 0.8, ())], ids=["K", "HDP"]
)
def test_first_sentences_that_count_as_switches_are_seen(case):
    with bugs.firsts_counted():
        assert is_seen(case)


def test_a_concentration_drawn_by_all_sentences_is_seen():
    """alpha | m has the sentences that drew a topic as customers, not all of them."""
    with bugs.all_sentences_draw(LENGTHS):
        assert min(joint_p_values(InfiniteJoint(), 2000).values()) < SMALLEST_P


@pytest.mark.parametrize("name", bugs.KERNEL_BUGS)
def test_bugs_in_the_kernels_are_seen(name):
    alpha = 1.0 if name == "a switch costs nothing" else 0.3
    with bugs.in_kernel(name):
        assert is_seen(FiniteCase(PLANTED, alpha))


@pytest.mark.parametrize("name", bugs.COLLAPSED_BUGS)
def test_bugs_in_the_collapsed_sweep_are_seen(name):
    with bugs.in_collapsed(name):
        assert is_seen(InfiniteCase(DOCUMENTS, 0.5, 0.8, ()))


def test_runs_taken_for_one_document_are_seen():
    case = InfiniteCase(PLANTED, 0.1, 3.0, 6 * infinite.REGROUPING)
    with bugs.runs_in_one_document():
        assert is_seen(case)
