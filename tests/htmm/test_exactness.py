"""Both samplers against enumeration over all topics and switches: long runs, one-step invariance; planted bugs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from unittest import mock

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit, same_distribution
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.collapsed import draw_given_runs, draw_learned_runs
from franchise.htmm.gibbs_steps import GibbsContext, draw_switch_probability
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments
from franchise.kernels.random.streams import Streams
from franchise.moves import LaunchSplitMerge, TableGibbs
from franchise.parallel import Threads
from franchise_studies.long_run import total_variation, typical_total_variation
from tests.exactness.cases import size
from tests.htmm import bugs
from tests.htmm.cases import prepared
from tests.naive import htmm as naive
from tests.naive.choices import NEW
from tests.naive.posterior import draw_tables_of_partition, draw_weights_of_tables
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

ENGINE = Threads(1)
DOCUMENTS = [[[0, 1], [0], [2, 2]], [[1], [2]]]
"""Two documents over three words."""

GAPS = [[[0, 0], [], [1, 2]], [], [[1, 2], [0]]]
"""With a sentence that has no words, and a document that has no sentences."""

PLANTED = [[[0], [0], [1], []], [[1], [0]]]
"""Documents in which it shows how topics are drawn and kept: those of planted bugs."""

LONGER = [[[0, 1], [0, 1, 0], [2, 2], [0]], [[1]]]
"""With words that occur again in a run: where bugs of the collapsed sweep and of table moves show."""

ETA, ZETAS = 0.5, (1.0, 2.0)
BASE_MEASURE = np.array([0.4, 0.8, 1.8])
"""eta_w / ETA, where words do not have the same prior."""


def canonical(labels):
    """Labels in the order of their first appearance."""
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


class FiniteCase:
    """The model with two topics."""

    numbers = ("switch_probability",)

    def __init__(self, documents, alpha, base_measure=None):
        self.documents = documents
        flat = replace(prepared(documents, 3), base_measure=base_measure)
        self.model = FiniteModel(flat, 2, alpha, ETA, ZETAS)
        exact = naive.finite_posterior(documents, 2, 3, alpha, ETA * flat.relative_prior, *ZETAS)
        self.outcomes, self.probabilities = list(exact), np.array(list(exact.values()))

    def start(self, streams):
        return finite.start_at_random(self.model, streams, ENGINE)

    def exact_state(self, outcome, streams):
        """A state with the topics and switches of an outcome, everything else drawn given these."""
        topics, switches = self.flat(outcome)
        state = finite.start_from(self.model, np.array(topics, np.int32), np.array(switches, bool), ENGINE)
        finite.draw_numbers(self.model, GibbsContext(self.model.prepared, state, streams, ENGINE))
        return state

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

    numbers = ("switch_probability", "unseen_weight")

    def __init__(self, documents, alpha, gamma, regrouping=infinite.REGROUPING, base_measure=None):
        self.documents = documents
        self.regrouping = regrouping
        flat = replace(prepared(documents, 3), base_measure=base_measure)
        self.model = InfiniteModel(flat, alpha, gamma, ETA, ZETAS)
        exact = naive.hdp_posterior(documents, 3, alpha, gamma, ETA * flat.relative_prior, *ZETAS)
        self.outcomes, self.probabilities = list(exact), np.array(list(exact.values()))

    def start(self, streams):
        return infinite.start_at_random(self.model, 2, streams, ENGINE)

    def exact_state(self, outcome, streams):
        model, rng = self.model, streams.generator()
        topics, switches = np.array(outcome[0], np.int32), np.array(outcome[1], bool)
        groups = model.prepared.document_of_sentence[switches].tolist()
        drawn = topics[switches].tolist()
        tables = draw_tables_of_partition(drawn, groups, model.alpha, model.gamma, rng)
        beta = draw_weights_of_tables(tables, model.gamma, rng)
        state = InfiniteSegments(
            topics=topics,
            switches=switches,
            switch_probability=0.5,
            concentration=model.alpha,
            word_prior=model.word_prior,
            topic_count=max(drawn) + 1,
            top_concentration=model.gamma,
            weights=np.array([beta[topic] for topic in range(max(drawn) + 1)]),
            unseen_weight=beta[NEW],
        )
        state.switch_probability = draw_switch_probability(state, model.prepared, model.switch_prior, rng)
        return state

    def sweep(self, state, streams):
        with mock.patch.object(infinite, "REGROUPING", self.regrouping):
            infinite.sweep(self.model, state, streams, ENGINE)

    def flat(self, outcome):
        return outcome

    def outcome(self, state):
        return canonical(state.topics.tolist()), tuple(state.switches.astype(int).tolist())


class CollapsedInfiniteCase(InfiniteCase):
    """The same, by collapsed sweeps alone: three of them, so that errors add up."""

    numbers = ("unseen_weight",)

    def sweep(self, state, streams):
        for move in range(3):
            own = replace(streams, move=move)
            draw_learned_runs(GibbsContext(self.model.prepared, state, own, ENGINE))


class RegroupedCase(InfiniteCase):
    """The same, by moves over runs alone."""

    numbers = ("unseen_weight",)

    def sweep(self, state, streams):
        context = GibbsContext(self.model.prepared, state, streams, ENGINE)
        infinite.regroup(context, self.regrouping)


SPLITS, TABLES = 6 * (LaunchSplitMerge(),), 3 * (TableGibbs(),)
"""Moves over runs, several in turn, so that errors add up."""

TABLES_ALONE = (RegroupedCase, LONGER, 0.3, 2.0, TABLES)
"""The case of bugs in moves of whole tables."""


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
    "learned number, sentences and tables": (InfiniteCase, DOCUMENTS, 0.5, 3.0, TABLES),
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


def one_step_p_values(case, repetitions):
    """p-values that states from the exact posterior follow it after a sweep, too.

    Numbers after it are compared with those before it of other states.
    """
    rng, pool, after = np.random.default_rng(4), {}, []
    numbers = np.empty((repetitions, 2, len(case.numbers)))
    for number, place in enumerate(rng.choice(len(case.outcomes), repetitions, p=case.probabilities)):
        state = case.exact_state(case.outcomes[place], Streams(8, 0, number, 0, pool))
        numbers[number, 0] = [getattr(state, name) for name in case.numbers]
        case.sweep(state, Streams(9, 0, number, 0, pool))
        numbers[number, 1] = [getattr(state, name) for name in case.numbers]
        after.append(case.outcome(state))
    before, later = numbers[: repetitions // 2, 0], numbers[repetitions // 2 :, 1]
    return [
        goodness_of_fit(after, case.outcomes, case.probabilities),
        *(same_distribution(*pair) for pair in zip(before.T, later.T, strict=True)),
    ]


ONE_STEP = {
    "two topics": (FiniteCase, DOCUMENTS, 0.7),
    "two topics in logs": (FiniteCase, DOCUMENTS, 0.002),
    "two topics, collapsed": (CollapsedCase, DOCUMENTS, 0.7),
    "learned number": (InfiniteCase, DOCUMENTS, 1.2, 0.8),
    "learned number, collapsed": (CollapsedInfiniteCase, LONGER, 0.5, 0.8),
    "learned number, collapsed, gaps": (CollapsedInfiniteCase, GAPS, 3.0, 5.0),
    "learned number, splits and merges": (RegroupedCase, PLANTED, 0.1, 3.0, SPLITS),
    "learned number, tables": TABLES_ALONE,
    "learned number, tables, gaps": (RegroupedCase, GAPS, 2.0, 0.8, TABLES, BASE_MEASURE),
}


@pytest.mark.parametrize("name", nightly(ONE_STEP, but=ONE_STEP.keys() - {"learned number, collapsed, gaps"}))
def test_one_sweep_leaves_the_posterior_as_it_is(name):
    kind, *settings = ONE_STEP[name]
    assert min(one_step_p_values(kind(*settings), size(8000))) >= SMALLEST_P


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


@pytest.mark.parametrize("name", bugs.KERNEL_BUGS)
def test_bugs_in_the_kernels_are_seen(name):
    alpha = 1.0 if name == "a switch costs nothing" else 0.3
    with bugs.in_kernel(name):
        assert is_seen(FiniteCase(PLANTED, alpha))


@pytest.mark.parametrize("name", bugs.COLLAPSED_BUGS)
def test_bugs_in_the_collapsed_sweep_are_seen(name):
    with bugs.in_collapsed(name):
        assert min(one_step_p_values(CollapsedInfiniteCase(LONGER, 0.5, 0.8), 1000)) < SMALLEST_P


def test_runs_taken_for_one_document_are_seen():
    with bugs.runs_in_one_document():
        assert min(one_step_p_values(RegroupedCase(PLANTED, 0.1, 3.0, SPLITS), 1000)) < SMALLEST_P


@pytest.mark.parametrize("name", bugs.TABLE_BUGS)
def test_bugs_in_table_moves_over_runs_are_seen(name):
    kind, *settings = TABLES_ALONE
    with bugs.in_tables(name):
        assert min(one_step_p_values(kind(*settings), 2000)) < SMALLEST_P
