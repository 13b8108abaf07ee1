"""Point estimates of the topics of sentences, given the parameters: best paths, or each sentence's mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.htmm.em import expectations_for, run_expect
from franchise.htmm.sentence_arrays import Prepared, run_kernel
from franchise.kernels.htmm_em import Parameters
from franchise.kernels.htmm_viterbi import PathScratch, Steps, find_paths
from franchise.kernels.runtime.padding import padded_zeros
from franchise.parallel.engine import BlockExecutor


class Decoded(NamedTuple):
    """Topics of all sentences, and where they switch."""

    topics: np.ndarray  # int32 (S,)
    switches: np.ndarray  # bool (S,)
    log_probability: np.ndarray  # float64 (D,): of the path and the words; of the words alone for modes


DECODERS = ("path", "topics", "sentence")


def decode(prepared: Prepared, parameters: Parameters, kind: str, executor: BlockExecutor) -> Decoded:
    """Decode by "path" (best topics and switches), "topics" (best topics) or "sentence" (mode of each sentence)."""
    if kind == "sentence":
        return sentence_modes(prepared, parameters, executor)
    return best_path(prepared, parameters, executor, sum_switches=kind == "topics")


def best_path(
    prepared: Prepared, parameters: Parameters, executor: BlockExecutor, sum_switches: bool = False
) -> Decoded:
    """The most probable topics and switches together (Viterbi): to stay is not to switch.

    With `sum_switches` the most probable topics, summed over switches: a switch may keep the topic.
    """
    topics = parameters.log_topics.shape[1]
    with np.errstate(divide="ignore"):
        entering = np.log(parameters.switch) + np.log(parameters.proportions)
        staying = np.full_like(entering, np.log1p(-parameters.switch))
        steps = Steps(entering, np.logaddexp(entering, staying) if sum_switches else staying)
    decoded = Decoded(
        np.empty(prepared.n_sentences, np.int32),
        np.empty(prepared.n_sentences, np.bool_),
        np.empty(prepared.n_documents),
    )

    def make_arguments() -> tuple[object, ...]:
        room = PathScratch(
            padded_zeros((prepared.longest, topics), np.bool_),
            padded_zeros(prepared.longest, np.int64),
            padded_zeros((3, topics)),
        )
        return prepared.data, parameters, steps, room, *decoded

    run_kernel(executor, prepared.own.block_bounds, find_paths, make_arguments)
    return decoded


def sentence_modes(prepared: Prepared, parameters: Parameters, executor: BlockExecutor) -> Decoded:
    """Return the most probable topic of each sentence, and whether a switch is more probable than not."""
    expected = expectations_for(prepared, parameters.log_topics.shape[1])
    run_expect(prepared, parameters, expected, executor)
    topics = expected.topics.argmax(axis=1).astype(np.int32)
    return Decoded(topics, expected.switches > 0.5, expected.log_likelihood)
