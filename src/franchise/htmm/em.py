"""Maximum a posteriori by expectation and maximisation (Wilcox, 5.3; docs/theory/htmm.md#sec-htmm-em).

    theta_dk ~ sum_s p(z_s = k, psi_s = 1) + alpha - 1         (5.30; a first sentence counts as a switch)
    phi_kw   ~ sum p(z_s = k) count_sw + eta - 1               (5.39)
    epsilon  = (sum_{s > 1} p(psi_s = 1) + zeta1 - 1) / (later sentences + zeta1 + zeta2 - 2)      (5.43)

Later sentences are all but the first of each document.  The last line has the prior of epsilon in it, which the
print leaves out, so that what never falls is the log posterior

    sum_d log p(words of d) + (alpha - 1) sum log theta + (eta - 1) sum log phi
        + (zeta1 - 1) log epsilon + (zeta2 - 1) log(1 - epsilon) + constant.

All priors must be at least 1 for a maximum to exist.  EM finds a local maximum, which need not be the
global one: two topics may share the words of one.  So several random starts run on a sample of the documents, and
the best of them continues on all documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from franchise.errors import InputError
from franchise.htmm.sentence_arrays import Prepared, run_kernel
from franchise.kernels.htmm_em import (
    Expectations,
    MessageScratch,
    Parameters,
    expect,
    expect_words,
    fill_log_topics,
)
from franchise.kernels.runtime.padding import padded_zeros
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class Priors:
    """Dirichlet priors, the same for all topics and words, and the Beta prior of the switch probability."""

    document: float  # alpha
    word: float  # eta
    switch: tuple[float, float]  # zeta1, zeta2


def expectations_for(prepared: Prepared, topics: int) -> Expectations:
    """Room for what an E-step gives."""
    return Expectations(
        topics=np.empty((prepared.n_sentences, topics)),
        switches=np.empty(prepared.n_sentences),
        entered=np.empty((prepared.n_documents, topics)),
        log_likelihood=np.empty(prepared.n_documents),
    )


def run_expect(
    prepared: Prepared, parameters: Parameters, out: Expectations, executor: BlockExecutor
) -> None:
    """E-step: fill in the posteriors of topics and switches."""
    topics = parameters.log_topics.shape[1]

    def make_arguments() -> tuple[object, ...]:
        room = MessageScratch(
            emissions=padded_zeros((prepared.longest, topics)),
            scales=padded_zeros(prepared.longest),
            rows=padded_zeros((4, topics)),
            bits=padded_zeros(topics, np.int64),
        )
        return prepared.data, parameters, room, out

    run_kernel(executor, prepared.own.block_bounds, expect, make_arguments)


@dataclass
class Maximiser:
    """The parameters of a fit on their way, and room for what each step needs."""

    prepared: Prepared
    priors: Priors
    executor: BlockExecutor
    parameters: Parameters
    objectives: list[float] = field(default_factory=list)
    """Log posterior after 0, 1, ... steps, up to a constant."""
    log_likelihood: float = -math.inf  # of the parameters before the last step

    def __post_init__(self) -> None:
        """Make room."""
        words, topics = self.parameters.log_topics.shape
        self.expectations = expectations_for(self.prepared, topics)
        self._counts = np.empty((words, topics))
        self._log_topics_sum = float(self.parameters.log_topics.sum())

    def step(self) -> None:
        """Do one E-step and one M-step; return the objective of the parameters before the step."""
        run_expect(self.prepared, self.parameters, self.expectations, self.executor)
        self.log_likelihood = float(self.expectations.log_likelihood.sum())
        prior = log_prior(self.parameters, self._log_topics_sum, self.priors)
        self.objectives.append(self.log_likelihood + prior)
        totals = self._expect_words()
        self._counts += self.priors.word - 1.0
        totals += len(self._counts) * (self.priors.word - 1.0)
        self.parameters = Parameters(
            self._fill_log_topics(totals),
            new_proportions(self.expectations.entered, self.priors.document),
            new_switch(self.prepared, self.expectations.switches, self.priors.switch),
        )

    def _expect_words(self) -> np.ndarray:
        """Fill in the expected counts by word and topic; their sums by topic."""
        prepared, topics = self.prepared, self.expectations.topics
        totals = np.empty((len(prepared.word_cuts) - 1, topics.shape[1]))
        arguments = (prepared.sentence_of_place, prepared.places, topics, self._counts, totals)
        run_kernel(self.executor, prepared.word_cuts, expect_words, lambda: arguments)
        return totals.sum(axis=0)

    def _fill_log_topics(self, totals: np.ndarray) -> np.ndarray:
        """Logs of the weights by word and topic over their totals."""
        logs, bounds = self.parameters.log_topics, self.prepared.word_cuts
        sums = np.empty(len(bounds) - 1)
        totals[totals == 0.0] = 1.0  # a topic that nothing belongs to
        run_kernel(self.executor, bounds, fill_log_topics, lambda: (self._counts, totals, logs, sums))
        self._log_topics_sum = float(sums.sum())
        return logs


def new_proportions(entered: np.ndarray, prior: float) -> np.ndarray:
    """(5.30): theta_d; uniform for a document without information."""
    weights = entered + (prior - 1.0)
    totals = weights.sum(axis=1, keepdims=True)
    even = 1.0 / entered.shape[1]
    return np.divide(weights, totals, out=np.full_like(weights, even), where=totals > 0.0)


def new_switch(prepared: Prepared, switches: np.ndarray, prior: tuple[float, float]) -> float:
    """(5.43) with the prior of epsilon; its mode, or 1/2 if that is flat, where there are no later sentences."""
    later = float(switches[~prepared.first_sentences].sum())
    total = prepared.later_sentences + prior[0] + prior[1] - 2.0
    return min(max((later + prior[0] - 1.0) / total, 0.0), 1.0) if total > 0.0 else 0.5


def log_prior(parameters: Parameters, log_topics_sum: float, priors: Priors) -> float:
    """The part of the objective that the priors have."""
    total = _times(priors.word - 1.0, log_topics_sum)
    if priors.document > 1.0:
        with np.errstate(divide="ignore"):
            total += (priors.document - 1.0) * float(np.log(parameters.proportions).sum())
    switch, (first, second) = parameters.switch, priors.switch
    total += _times(first - 1.0, math.log(switch) if switch > 0.0 else -math.inf)
    return total + _times(second - 1.0, math.log1p(-switch) if switch < 1.0 else -math.inf)


def _times(factor: float, log: float) -> float:
    """A prior's factor times a log, nothing if the factor is zero."""
    return 0.0 if factor == 0.0 else factor * log


# --- from a start to a summit -------------------------------------------------------------------------------

STEPS_OF_A_HEAT = 5
"""Steps after which the worse half of the starts is given up."""

LOWEST = -690.0
"""log phi of a word that a topic is not known to have, where a fit has put it at zero."""

_WORDS_FOR_A_TOPIC, _FEWEST_WORDS = 10_000, 20_000
"""Of the sample that starts race in: in much fewer words the winner fits chance, and is worse than one start."""


@dataclass(frozen=True)
class Fit:
    """Where the climb has ended."""

    parameters: Parameters
    expectations: Expectations  # under these parameters
    objectives: np.ndarray  # log posterior after 0, 1, ... steps, up to a constant
    switches: np.ndarray  # epsilon after 0, 1, ... steps
    log_likelihood: float
    converged: bool

    def ordered(self, order: np.ndarray) -> Fit:
        """The same with the topics in this order."""

        def ordered(by_topic: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(by_topic[:, order])

        (log_topics, proportions, switch), found = self.parameters, self.expectations
        parameters = Parameters(ordered(log_topics), ordered(proportions), switch)
        expectations = found._replace(topics=ordered(found.topics), entered=ordered(found.entered))
        return replace(self, parameters=parameters, expectations=expectations)


def fit(
    prepared: Prepared,
    topics: int,
    priors: Priors,
    rng: np.random.Generator,
    executor: BlockExecutor,
    *,
    starts: int = 10,
    tolerance: float = 1e-6,
    max_steps: int = 1000,
    on_progress: Callable[[int, float], None] = lambda step, log_likelihood: None,
) -> Fit:
    """Climb from the best of some starts until a step gains less than `tolerance` for each word of the text."""
    log_topics = find_start(prepared, topics, priors, starts, rng, executor)
    climb = Maximiser(prepared, priors, executor, _even(prepared, log_topics))
    switches, converged = [climb.parameters.switch], False
    for step in range(max_steps):
        climb.step()
        if not math.isfinite(climb.objectives[-1]):
            raise InputError(
                "EM produced numbers that are not finite: the priors are too large, or words have "
                "probability 0 in all topics. Use smaller priors, or a word_prior above 1."
            )
        on_progress(step, climb.log_likelihood)
        gain = climb.objectives[-1] - climb.objectives[-2] if step > 0 else math.inf
        if gain < tolerance * prepared.n_words:
            converged = True
            break
        switches.append(climb.parameters.switch)
    run_expect(prepared, climb.parameters, climb.expectations, executor)
    return Fit(
        climb.parameters,
        climb.expectations,
        np.array(climb.objectives),
        np.array(switches[: len(climb.objectives)]),
        float(climb.expectations.log_likelihood.sum()),
        converged,
    )


def find_start(
    prepared: Prepared,
    topics: int,
    priors: Priors,
    starts: int,
    rng: np.random.Generator,
    executor: BlockExecutor,
) -> np.ndarray:
    """log phi (V, K) to start with: the winner of some starts in a sample of the documents."""
    shape, least = (prepared.vocabulary_size, topics), np.finfo(float).tiny
    weights = (rng.standard_exponential(shape) + least for _ in range(starts))
    drawn = [np.log(each / each.sum(axis=0)) for each in weights]  # phi_k ~ Dirichlet(1, ..., 1)
    if starts == 1:
        return drawn[0]
    sample = prepared.sample(max(_FEWEST_WORDS, _WORDS_FOR_A_TOPIC * topics), rng)
    climbs = [Maximiser(sample, priors, executor, _even(sample, log_topics)) for log_topics in drawn]
    for climb in climbs[1:]:
        climb.expectations = climbs[0].expectations  # one at a time climbs: one room for all
    while len(climbs) > 1:
        for climb in climbs:
            for _ in range(STEPS_OF_A_HEAT):
                climb.step()
        climbs.sort(key=lambda climb: -climb.objectives[-1])
        climbs = climbs[: -(-len(climbs) // 2)]
    return np.maximum(climbs[0].parameters.log_topics, LOWEST)  # the sample may not have every word


def _even(prepared: Prepared, log_topics: np.ndarray) -> Parameters:
    """Return these topics, uniform proportions in all documents, and an even switch probability."""
    topics = log_topics.shape[1]
    return Parameters(log_topics, np.full((prepared.n_documents, topics), 1.0 / topics), 0.5)
