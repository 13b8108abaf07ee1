"""Topics of new documents, given topics' words and the switch probability of a fit.

After a fit by EM, the document's proportions are fitted, too (EM with all else held).  After Gibbs sampling nothing
is fitted: theta and the chain of each new document are drawn in turn, given the topics of some draws of the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from franchise.blocks import Part
from franchise.htmm.em import LOWEST, expectations_for, new_proportions, run_expect
from franchise.htmm.sentences import Prepared
from franchise.kernels.messages import Expectations, Parameters
from franchise.kernels.segments import Drawn, Finite, draw_finite, room_for
from franchise.kernels.turns import Turns


def fit_documents(
    prepared: Prepared,
    log_topics: np.ndarray,
    switch: float,
    prior: float,
    engine: Any,
    *,
    tolerance: float = 1e-8,
    max_steps: int = 200,
) -> tuple[Parameters, Expectations]:
    """MAP proportions of new documents, all else held; and what is expected under them."""
    topics = log_topics.shape[1]
    even = np.full((prepared.n_documents, topics), 1.0 / topics)
    parameters = Parameters(np.maximum(log_topics, LOWEST), even, switch)
    expectations = expectations_for(prepared, topics)
    before = -np.inf
    for _ in range(max_steps):
        run_expect(prepared, parameters, expectations, engine)
        objective = expectations.log_likelihood.sum()
        if prior > 1.0:
            objective += (prior - 1.0) * np.log(parameters.proportions).sum()
        if objective - before < tolerance * max(1, prepared.n_words):
            break
        before = objective
        parameters = parameters._replace(proportions=new_proportions(expectations.entered, prior))
    return parameters, expectations


class Draws(NamedTuple):
    """Frequencies among draws of the topics and switches of new documents."""

    topics: np.ndarray  # float64 (S, K)
    switches: np.ndarray  # float64 (S,)
    proportions: np.ndarray  # float64 (D, K): mean of E[theta | z, psi]


def draw_documents(
    prepared: Prepared, given: Finite, words: np.ndarray, engine: Any, *, burn_in: int = 10, kept: int = 20
) -> Draws:
    """Draw the chains of new documents by Gibbs sweeps, theta with them, given phi and epsilon.

    `words` are the states of a generator for every block, (burn_in + kept, blocks, 4).
    """
    topics = len(given.prior)
    drawn = Drawn(np.zeros(prepared.n_sentences, np.int32), prepared.first_sentences.copy())
    frequencies = np.zeros((prepared.n_sentences, topics))
    switches = np.zeros(prepared.n_sentences)
    entered = np.zeros((prepared.n_documents, topics))
    sentences = np.arange(prepared.n_sentences)
    for sweep in range(burn_in + kept):
        _sweep(prepared, given, words[sweep], drawn, engine)
        if sweep >= burn_in:
            frequencies[sentences, drawn.topics] += 1.0
            switches += drawn.switches
            np.add.at(
                entered, (prepared.document_of_sentence[drawn.switches], drawn.topics[drawn.switches]), 1.0
            )
    weights = entered / kept + given.prior
    return Draws(frequencies / kept, switches / kept, weights / weights.sum(axis=1, keepdims=True))


def _sweep(prepared: Prepared, given: Finite, words: np.ndarray, drawn: Drawn, engine: Any) -> None:
    def make_worker() -> Callable[[Turns], None]:
        room = room_for(prepared.longest, len(given.prior))
        return lambda turns: draw_finite(turns, prepared.data, given, room, words, drawn)

    engine.run_parts(Part(make_worker, prepared.cuts))
