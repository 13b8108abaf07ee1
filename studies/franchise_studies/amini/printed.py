"""Algorithm 1 of Amini et al. (2019) as it is printed, for words.  It is NOT exact; only this study runs it.

Line by line (numbers of the print), and what is wrong with it.  j is a group, t a table in it, k a topic; gamma_j
and beta are the weights of tables and of topics, u_ji and v_jt the slices of tokens and of tables.

    1-3     Caps on tables and topics of 10, every token at table 1, every table with topic 1, slices uniform on
            (0, 1).  A slice should lie below the weight it belongs to; but a start may be anything.
    6, 7    Sticks of tables, (7).  Right: the slices are integrated out here ...
    8       ... and so they have to be drawn again under the new sticks before anything uses them.  WRONG: the old
            u_ji are used, which lie below the OLD weight of the token's table.  And T_ji, the last table with
            weight u_ji or more, is not defined when no table has; below such a token stays where it is.
    9, 25   When T_j reaches the cap, the cap grows by half and the iteration before is done again.  WRONG, though
            rarely: what is done again depends on what was drawn, and T_j < cap does not say that no table beyond
            the cap has weight u_ji, since weights are not monotone.  New tables begin as in lines 2 and 3.
    11, 12  Sticks of topics, (8), counting vacant tables too, up to the cap.  Right as long as vacant tables keep
            their topics from one iteration to the next, which they do here; it slows the weights down.
    13-15   WRONG as line 8, of the slices of tables.
    16      Parameters of topics, (10) and (13).  Right.
    18      Topics of tables.  WRONG: the indicator of (12) admits {k: beta_k >= v_jt}, the print all of 1..K_jt, of
            which some lie below the slice.
    19      Slices of tables, under weights that are redrawn (line 11) before the slices are used (line 13).
    20      Tables of tokens.  WRONG as line 18: all of 1..T_ji are admitted, not just {t: gamma_jt >= u_ji}.
    21      Slices of tokens, as line 19.

`READINGS` has the print, a second reading of it (T_ji and K_jt by what is left of the stick, as the paper's remark
A.1 suggests and the authors' released program does, github.com/aaamini/hdpslicer), and the print with one
correction at a time, to see how much harm each line does.

Groups that reach their caps in one iteration grow together here; the print goes back at the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from franchise.data.corpus import Corpus
from franchise.kernels.random.dirichlet import draw_dirichlets

FIRST_CAP = 10  # line 1, "say 10"
GROWTH = 1.5  # line 26


# --- which places a slice admits ----------------------------------------------------------------------------
#
# Each takes weights (sticks, places), the stick of each row (rows,) and the slice of each row (rows,), and gives
# bool (rows, places).


def up_to_the_last(weights: np.ndarray, stick: np.ndarray, slices: np.ndarray) -> np.ndarray:
    """Lines 8 and 13 as printed: every place up to the last whose weight reaches the slice; none if none does."""
    high = above(weights, stick, slices)
    last = high.shape[1] - 1 - np.argmax(high[:, ::-1], axis=1)
    return np.arange(high.shape[1]) <= np.where(high.any(axis=1), last, -1)[:, None]


def up_to_the_rest(weights: np.ndarray, stick: np.ndarray, slices: np.ndarray) -> np.ndarray:
    """Remark A.1: every place at which what is left of the stick still reaches the slice; the first always."""
    rest = 1.0 - (np.cumsum(weights, axis=1) - weights)
    return above(np.where(weights > 0.0, rest, 0.0), stick, slices)


def above(weights: np.ndarray, stick: np.ndarray, slices: np.ndarray) -> np.ndarray:
    """The indicator of (12): the places whose weight reaches the slice, and no others."""
    return weights[stick] >= slices[:, None]


class Reading(NamedTuple):
    """A way to read Algorithm 1."""

    name: str
    admit: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # which places a slice admits
    fresh: bool  # whether slices are drawn again as soon as their sticks are: not in the print


AS_PRINTED = Reading("as printed", up_to_the_last, fresh=False)
BY_THE_REST = Reading("as printed, supports by remark A.1", up_to_the_rest, fresh=False)
FRESH_SLICES = Reading("printed, but slices drawn after sticks", up_to_the_last, fresh=True)
RIGHT_SUPPORTS = Reading("printed, but supports of (12)", above, fresh=False)
BOTH_RIGHT = Reading("printed, but both corrected", above, fresh=True)
READINGS = (AS_PRINTED, BY_THE_REST, FRESH_SLICES, RIGHT_SUPPORTS, BOTH_RIGHT)


# --- the state ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """The data and all that is fixed."""

    words: np.ndarray  # int (N,)
    group_of_token: np.ndarray  # int (N,)
    groups: int
    vocabulary: int
    prior: float  # alpha_w
    alpha: float
    gamma: float

    @classmethod
    def of(cls, corpus: Corpus, prior: float, alpha: float, gamma: float) -> Problem:
        """The problem of a corpus."""
        group_of_token = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.offsets))
        words = np.asarray(corpus.observations)
        return cls(words, group_of_token, corpus.n_documents, corpus.vocabulary_size, prior, alpha, gamma)


@dataclass
class Caps:
    """How many tables of each group, and how many topics, are kept track of."""

    tables: np.ndarray  # int (groups,): T_j^cap
    topics: int  # K^cap

    @property
    def there(self) -> np.ndarray:
        """Bool (groups, most tables): whether the group has a table of this number."""
        return np.arange(self.tables.max()) < self.tables[:, None]


@dataclass(frozen=True)
class PrintedState:
    """What one iteration hands to the next."""

    table_of_token: np.ndarray  # int (N,): t_ji, from 0
    topic_of_table: np.ndarray  # int (groups, tables): k_jt, from 0, vacant tables too
    slice_of_token: np.ndarray  # float (N,): u_ji
    slice_of_table: np.ndarray  # float (groups, tables): v_jt

    def labels(self, problem: Problem) -> np.ndarray:
        """The topic of each token, z_ji (line 22)."""
        return self.topic_of_table[problem.group_of_token, self.table_of_token]

    def widened(self, tables: int, rng: np.random.Generator) -> PrintedState:
        """With this many tables in every group; new ones as in lines 2 and 3."""
        groups, present = self.topic_of_table.shape
        more = tables - present
        return replace(
            self,
            topic_of_table=np.hstack([self.topic_of_table, np.zeros((groups, more), np.int64)]),
            slice_of_table=np.hstack([self.slice_of_table, rng.random((groups, more))]),
        )


@dataclass
class LabelledRun:
    """What a run leaves: the labels after every iteration, and the iterations in which a cap was reached."""

    labels: np.ndarray  # int32 (iterations, N)
    capped: list[int] = field(default_factory=list)


def run_printed(
    problem: Problem, reading: Reading, iterations: int, seed: int, cap: int = FIRST_CAP
) -> LabelledRun:
    """Algorithm 1; an iteration that is done again (line 26) leaves the labels of its last time only."""
    rng = np.random.default_rng(seed)
    caps = Caps(np.full(problem.groups, cap), cap)
    state = start(problem, cap, rng)
    labels = np.zeros((iterations, len(problem.words)), np.int32)
    run = LabelledRun(labels)
    done, before, done_before = 0, state, 0
    while done < iterations:
        after = iterate(problem, state, caps, reading, rng)
        if after is None:
            run.capped.append(done)
            state, done = before.widened(caps.tables.max(), rng), done_before
            before = state
        else:
            before, done_before = state, done
            labels[done] = after.labels(problem)
            state, done = after, done + 1
    return run


def start(problem: Problem, cap: int, rng: np.random.Generator) -> PrintedState:
    """Lines 1 to 3."""
    shape = (problem.groups, cap)
    return PrintedState(
        np.zeros(len(problem.words), np.int64),
        np.zeros(shape, np.int64),
        rng.random(len(problem.words)),
        rng.random(shape),
    )


# --- one iteration ------------------------------------------------------------------------------------------


def iterate(
    problem: Problem, state: PrintedState, caps: Caps, reading: Reading, rng: np.random.Generator
) -> PrintedState | None:
    """Lines 5 to 23; None if a cap was reached, which has grown then."""
    table_weights = draw_table_weights(problem, state, caps, rng)  # lines 6, 7
    if reading.fresh:
        state = _with_token_slices(problem, state, table_weights, rng)
    tables_admitted = reading.admit(table_weights, problem.group_of_token, state.slice_of_token)  # line 8
    if grow_table_caps(problem, tables_admitted, caps):  # line 9
        return None
    topic_weights = draw_topic_weights(problem, state, caps, rng)  # lines 11, 12
    if reading.fresh:
        state = _with_table_slices(state, topic_weights, caps, rng)
    topics_admitted = _admit_topics(topic_weights, state, caps, reading)  # line 13
    if grow_topic_cap(topics_admitted, caps):  # lines 14, 15
        return None
    log_phi = draw_topics(problem, state, caps, rng)  # line 16
    state = _with_topics(problem, state, topics_admitted, log_phi, rng)  # line 18
    state = _with_table_slices(state, topic_weights, caps, rng)  # line 19
    state = _with_tables(problem, state, tables_admitted, log_phi, rng)  # line 20
    return _with_token_slices(problem, state, table_weights, rng)  # line 21


def draw_table_weights(
    problem: Problem, state: PrintedState, caps: Caps, rng: np.random.Generator
) -> np.ndarray:
    """Lines 6 and 7, equation (7): float (groups, tables), zero beyond a group's cap."""
    width = caps.tables.max()
    places = problem.group_of_token * width + state.table_of_token
    counts = np.bincount(places, minlength=problem.groups * width).reshape(problem.groups, width)
    return np.where(caps.there, break_sticks(counts, problem.alpha, rng), 0.0)


def draw_topic_weights(
    problem: Problem, state: PrintedState, caps: Caps, rng: np.random.Generator
) -> np.ndarray:
    """Lines 11 and 12, equation (8): float (topics,); every table up to its cap counts, vacant or not."""
    counts = np.bincount(state.topic_of_table[caps.there], minlength=caps.topics)
    return break_sticks(counts[None, :], problem.gamma, rng)[0]


def break_sticks(counts: np.ndarray, concentration: float, rng: np.random.Generator) -> np.ndarray:
    """F of Beta(n_l + 1, n_>l + concentration) fractions, each row a stick (Lemma 1, equation 2)."""
    later = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1] - counts
    fractions = rng.beta(counts + 1.0, later + concentration)
    rest = np.cumprod(1.0 - fractions, axis=1)
    return fractions * np.hstack([np.ones((len(counts), 1)), rest[:, :-1]])


def grow_table_caps(problem: Problem, admitted: np.ndarray, caps: Caps) -> bool:
    """Line 9: the caps of groups in which some token may reach the last table; whether there were any."""
    reached = admitted[np.arange(len(admitted)), caps.tables[problem.group_of_token] - 1]
    groups = np.unique(problem.group_of_token[reached])
    caps.tables[groups] = np.ceil(GROWTH * caps.tables[groups]).astype(np.int64)
    return len(groups) > 0


def grow_topic_cap(admitted: np.ndarray, caps: Caps) -> bool:
    """Lines 14 and 15: the cap of topics, if some table may reach the last; whether it did."""
    reached = bool(admitted[:, -1].any())
    if reached:
        caps.topics = int(np.ceil(GROWTH * caps.topics))
    return reached


def _admit_topics(topic_weights: np.ndarray, state: PrintedState, caps: Caps, reading: Reading) -> np.ndarray:
    """Line 13: bool (groups * tables, topics); a table beyond its group's cap is not there, and keeps its topic."""
    slices = state.slice_of_table.ravel()
    stick = np.zeros(len(slices), np.int64)  # all tables draw from one
    return reading.admit(topic_weights[None, :], stick, slices) & caps.there.reshape(-1, 1)


def draw_topics(problem: Problem, state: PrintedState, caps: Caps, rng: np.random.Generator) -> np.ndarray:
    """Line 16, equation (13): log word probabilities (topics, words), from the prior for topics without words."""
    shape = (caps.topics, problem.vocabulary)
    places = state.labels(problem) * problem.vocabulary + problem.words
    counts = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
    return draw_dirichlets(counts + problem.prior, rng)


def _with_topics(
    problem: Problem,
    state: PrintedState,
    admitted: np.ndarray,
    log_phi: np.ndarray,
    rng: np.random.Generator,
) -> PrintedState:
    """Line 18: k_jt over the topics admitted, with weight prod phi_k of the table's words; vacant: uniformly."""
    groups, width = state.topic_of_table.shape
    table = problem.group_of_token * width + state.table_of_token
    ones = np.ones(len(table))
    words_of_table = csr_array((ones, (table, problem.words)), shape=(groups * width, problem.vocabulary))
    drawn = draw_rows(words_of_table @ log_phi.T, admitted, state.topic_of_table.ravel(), rng)
    return replace(state, topic_of_table=drawn.reshape(groups, width))


def _with_tables(
    problem: Problem,
    state: PrintedState,
    admitted: np.ndarray,
    log_phi: np.ndarray,
    rng: np.random.Generator,
) -> PrintedState:
    """Line 20: t_ji over the tables admitted, with weight phi of the table's topic at the token's word."""
    topics = state.topic_of_table[problem.group_of_token]
    scores = log_phi[topics, problem.words[:, None]]
    drawn = draw_rows(scores, admitted, state.table_of_token, rng)
    return replace(state, table_of_token=drawn)


def _with_table_slices(
    state: PrintedState, topic_weights: np.ndarray, caps: Caps, rng: np.random.Generator
) -> PrintedState:
    """Line 19: v_jt ~ U(0, beta of the table's topic), of tables up to the caps."""
    slices = rng.random(state.topic_of_table.shape) * topic_weights[state.topic_of_table]
    slices = np.where(caps.there, slices, state.slice_of_table)
    return replace(state, slice_of_table=slices)


def _with_token_slices(
    problem: Problem, state: PrintedState, table_weights: np.ndarray, rng: np.random.Generator
) -> PrintedState:
    """Line 21: u_ji ~ U(0, gamma of the token's table)."""
    weights = table_weights[problem.group_of_token, state.table_of_token]
    slices = rng.random(len(weights)) * weights
    return replace(state, slice_of_token=slices)


def draw_rows(
    log_weights: np.ndarray, admitted: np.ndarray, present: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """For each row a column of those admitted, drawn by exp(log weight); `present` where none is admitted."""
    scores = np.where(admitted, log_weights, -np.inf)
    largest = scores.max(axis=1, keepdims=True)
    cumulative = np.cumsum(np.exp(scores - np.where(np.isfinite(largest), largest, 0.0)), axis=1)
    target = rng.random(len(scores)) * cumulative[:, -1]
    drawn = (cumulative <= target[:, None]).sum(axis=1)
    return np.where(admitted.any(axis=1), drawn, present)
