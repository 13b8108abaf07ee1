"""Topics of whole tables in the weights view, for categories (see `kernels/table_sweep.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.categorical import set_totals
from franchise.kernels import table_sweep as kernels
from franchise.kernels import table_sweep_seats as seats
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.blocks import BlockQueue, cut_categories
from franchise.kernels.runtime.padding import padded_zeros
from franchise.kernels.table_sweep import Franchise, Outside, ProposalScratch
from franchise.kernels.table_sweep_seats import Candidates, Proposals
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.block_sweep import SweepContext
from franchise.moves.seated_groups import SeatedGroups
from franchise.parallel.engine import BlockExecutor, BlockStages
from franchise.validation import check_integer


@dataclass(frozen=True)
class TableSweep(Move):
    """Draw the topic of every table: all observations of a group that share a table move together.

    So a superfluous topic can disperse over many others, which a split or merge of two topics cannot do.

    View: weights; tables are drawn first and discarded afterwards. Exact for the HDP, by enumeration: a
    Metropolis-Hastings proposal for every table, made from the groups outside its fold. Families of categories. One
    sweep costs N K multiplications, in parallel over groups; acceptance is sequential and costs a few memory reads
    per observation of a table whose proposal differs from its topic.

    docs/theory/table-sweep.md#sec-table-sweep.

    Parameters
    ----------
    folds : int, default 4
        Number of folds of the groups. With more folds, proposals are accepted more often and cost more.

    Raises
    ------
    InputError
        If `folds` is below 1.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.TableSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    folds: int = 4

    views = (Weights,)
    distributed = True
    updates = frozenset({"observations"})
    requires = frozenset({Ability.CONJUGATE, Ability.SPARSE})

    def __post_init__(self) -> None:
        """Check the setting."""
        check_integer("folds", self.folds, minimum=1)

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Seat all observations, draw the topics of their tables fold by fold, then the topic weights."""
        context = SweepContext(model, state, streams, executor)
        rng = streams.generator(STREAMS.seats)
        sweep = _Folds(context, self.folds)
        for fold in rng.permutation(self.folds).tolist():
            sweep.draw_fold(fold, rng)
        sweep.groups.forget_tables(rng)
        set_totals(state.statistics, state.observations_per_topic)
        return MoveReport()


class _Folds:
    """Tables by folds of their groups, and the counts by topic that a sweep changes."""

    def __init__(self, context: SweepContext, folds: int) -> None:
        model, state = context.model, context.state
        self.context, self.folds = context, folds
        self.groups = SeatedGroups(context)
        self.seated, self.tables = self.groups.seated, self.groups.tables
        self.first_group = 0 if model.partition is None else model.partition.groups.start
        self.rng_states = context.streams.rng_states(model.first_block, context.blocks, 1 + folds)[:, 1:]
        size = model.data.n_observations
        self.proposals = Proposals(np.empty(size, np.int32), np.empty(size))
        self.repeats = np.zeros(len(state.statistics.prior), np.int64)
        self.in_fold = np.zeros_like(state.statistics.counts)

    def draw_fold(self, fold: int, rng: np.random.Generator) -> None:
        """Draw the topics of the tables of one fold."""
        first = (fold - self.first_group) % self.folds
        outside = self._count_outside(first)
        self._propose(first, fold, outside)
        candidates = self._candidates(first)
        own = self._own_part(candidates)
        self._accept(candidates, outside.tables > 0, rng)
        data = self.context.data
        topics = candidates.present[own]
        seats.take_topics(first, self.folds, data.offsets, self.seated, self.proposals, topics)

    def _count_outside(self, first: int) -> Outside:
        """Count the observations of each topic in the groups outside the fold."""
        context, statistics, comm = self.context, self.context.state.statistics, self.context.comm
        sizes, tables = np.zeros((2, context.state.capacity), np.int64)
        data = context.data
        seats.count_fold(
            first, self.folds, data.observations, data.offsets, self.seated, self.in_fold, sizes, tables
        )
        if comm.size > 1:
            self.in_fold[:] = comm.allreduce(self.in_fold)
            sizes, tables = comm.allreduce(np.stack([sizes, tables]))
        mass = statistics.totals - sizes + statistics.prior_mass[0]
        outside = Outside(
            rows=np.empty(statistics.counts.shape, np.float32),
            scales=np.empty(len(statistics.prior)),
            tables=(self.tables - tables).astype(np.float64),
            inverse_mass=1.0 / mass,
        )
        counts, in_fold, prior, total = statistics.counts, self.in_fold, statistics.prior, float(mass.sum())

        def fill(queue: BlockQueue) -> None:
            kernels.fill_outside(queue, counts, in_fold, prior, total, outside)

        context.executor.run(BlockStages(lambda: fill, [cut_categories(len(prior))]))
        return outside

    def _propose(self, first: int, fold: int, outside: Outside) -> None:
        """Propose a topic for every table of the fold."""
        data, state = self.context.data, self.context.state
        limit = int(np.flatnonzero(outside.tables).max(initial=-1)) + 1
        rng_states, statistics, gamma = (
            self.rng_states[:, fold],
            state.statistics,
            state.top_concentration,
        )

        def make_worker() -> Callable[[BlockQueue], None]:
            scratch = ProposalScratch(
                weights=padded_zeros(limit, np.float64),
                words=padded_zeros(self.groups.longest, np.int32),
                repeats=padded_zeros(len(statistics.prior), np.int64),
            )
            return lambda queue: kernels.propose_topics(
                queue,
                first,
                self.folds,
                data.observations,
                data.offsets,
                self.seated,
                outside,
                statistics,
                gamma,
                rng_states,
                scratch,
                self.proposals,
            )

        self.groups.run(make_worker)

    def _candidates(self, first: int) -> Candidates:
        """List the tables of the fold that may change their topic, of all processes."""
        data, comm = self.context.data, self.context.comm
        tables, words = seats.count_candidates(first, self.folds, data.offsets, self.seated, self.proposals)
        candidates = Candidates(
            present=np.empty(tables, np.int32),
            proposed=np.empty(tables, np.int32),
            log_ratios=np.empty(tables),
            sizes=np.empty(tables, np.int32),
            words=np.empty(words, np.int32),
        )
        seats.list_candidates(
            first, self.folds, data.observations, data.offsets, self.seated, self.proposals, candidates
        )
        self._own_count = tables
        return Candidates(*map(comm.allgather_concat, candidates))

    def _own_part(self, candidates: Candidates) -> slice:
        """Return which candidates belong to this process."""
        counts = self.context.comm.allgather(self._own_count)
        begin = sum(counts[: self.context.comm.rank])
        return slice(begin, begin + self._own_count)

    def _accept(self, candidates: Candidates, is_outside: np.ndarray, rng: np.random.Generator) -> None:
        """Accept or reject the proposals in turn; every process does this for all of them."""
        state, family = self.context.state, self.context.model.family
        rng_state = rng.bit_generator.random_raw(4)
        number, place = 0, 0
        while True:
            capacity = state.capacity
            more = capacity - len(self.tables)
            if more > 0:
                self.tables, is_outside = (
                    np.append(each, np.zeros(more, each.dtype)) for each in (self.tables, is_outside)
                )
                self.in_fold = np.zeros_like(state.statistics.counts)
            others = np.flatnonzero((self.tables > 0) & ~is_outside)
            franchise = Franchise(
                tables=self.tables,
                is_outside=is_outside,
                others=np.concatenate([others, np.zeros(capacity - len(others), np.int64)]),
                other_count=np.array([len(others)]),
                log_weights=np.empty(capacity + 1),
                repeats=self.repeats,
            )
            number, place = kernels.accept_topics(
                state.statistics, candidates, number, place, franchise, state.top_concentration, rng_state
            )
            if number == len(candidates.present):
                return
            state.make_room(family)
