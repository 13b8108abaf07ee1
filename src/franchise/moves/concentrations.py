"""The levels above the topics: table counts and topic weights, the two concentrations, the prior of the topics.

    m_jk | z, beta       by urns (docs/theory/table-counts.md#eq-table-count-urn)
    gamma | m, K         by an auxiliary Beta variable (Escobar & West)
    alpha | m            by auxiliary Beta and Bernoulli variables (Teh et al. (2006), appendix A)
    beta | m, gamma      ~ Dirichlet(m_1, ..., m_K, gamma)

The order matters (docs/theory/concentrations.md#sec-concentration-order):
gamma given m and K has beta integrated out, so beta is drawn last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.random.gamma import draw_auxiliary
from franchise.kernels.random.streams import Streams
from franchise.kernels.runtime.blocks import BlockQueue, cut_evenly
from franchise.model.hdp_model import Model
from franchise.model.state.base import CellTables, State, Weighted, Weights
from franchise.model.state.cell_tables import new_cell_tables, sizes_and_tables, upper_tables
from franchise.model.state.views import CellCounts, Seating, draw_node_weights
from franchise.moves.base import Move, MoveReport
from franchise.parallel.engine import BlockExecutor, BlockStages
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import Gamma
from franchise.validation import LARGEST_LOG, check_positive

GROUPS_IN_BLOCK = 256


def draw_top_concentration(
    gamma: float, table_count: int, topic_count: int, prior: Gamma, rng: np.random.Generator
) -> float:
    """Draw gamma | m, K under a Gamma(a, b) prior (Escobar & West, 1995).

    docs/theory/concentrations.md#eq-top-concentration:
    h ~ Beta(gamma + 1, m); then Gamma(a + K, b - log h) with odds (a + K - 1) / (m (b - log h)), else
    Gamma(a + K - 1, b - log h).
    """
    rate = prior.rate - math.log(rng.beta(gamma + 1.0, table_count))
    shape = prior.shape + topic_count
    odds = (shape - 1.0) / (table_count * rate)
    if rng.random() * (1.0 + odds) >= odds:
        shape -= 1.0
    return _positive_gamma(shape, rate, rng)


def draw_group_concentration(
    alpha: float,
    table_count: int,
    group_sizes: np.ndarray,
    prior: Gamma,
    rng: np.random.Generator,
    executor: BlockExecutor = CALLING_THREAD,
) -> float:
    """Draw alpha | m under a Gamma(a, b) prior (Teh et al. (2006), appendix A).

    docs/theory/concentrations.md#eq-group-concentration:
    w_j ~ Beta(alpha + 1, n_j), s_j ~ Bernoulli(n_j / (n_j + alpha)), over groups that have observations;
    alpha ~ Gamma(a + m - sum s_j, b - sum log w_j).
    """
    block_bounds = cut_evenly(len(group_sizes), GROUPS_IN_BLOCK)
    rng_states = rng.bit_generator.random_raw((len(block_bounds) - 1, 4))
    logs, switches = np.empty(len(rng_states)), np.empty(len(rng_states), np.int64)

    def draw(queue: BlockQueue) -> None:
        draw_auxiliary(queue, group_sizes, alpha, rng_states, logs, switches)

    executor.run(BlockStages(lambda: draw, [block_bounds]))
    return _positive_gamma(prior.shape + table_count - switches.sum(), prior.rate - logs.sum(), rng)


def _positive_gamma(shape: float, rate: float, rng: np.random.Generator) -> float:
    """Return a Gamma draw; the smallest normal number replaces draws that underflow to zero."""
    return max(float(rng.standard_gamma(shape)) / rate, np.finfo(np.float64).tiny)


def draw_concentrations(
    model: Model,
    state: State,
    cells: CellTables,
    rng: np.random.Generator,
    executor: BlockExecutor,
    clusters: int,
) -> None:
    """Sample the concentrations that have priors, given the tables, and store them in the state.

    `clusters` is the number of topics, or its substitute in the draw of gamma. In a tree a concentration is drawn
    given the sizes and tables of all nodes that draw with it.
    """
    if isinstance(model.gamma, Gamma):
        state.top_concentration = draw_top_concentration(
            state.top_concentration, int(cells.per_topic.sum()), clusters, model.gamma, rng
        )
    if not any(isinstance(prior, Gamma) for prior in model.alphas):
        return
    of_nodes = sizes_and_tables(model, cells)
    for number, (prior, (sizes, tables)) in enumerate(zip(model.alphas, of_nodes, strict=True)):
        if isinstance(prior, Gamma):
            current = float(state.alphas[number])
            state.set_alpha(number, draw_group_concentration(current, tables, sizes, prior, rng, executor))


def draw_weights(model: Model, state: Weighted, cells: CellTables, rng: np.random.Generator) -> None:
    """Draw the topic weights given the tables of all levels, those of parents before those of their children.

    docs/theory/trees.md#sec-tree-order.
    """
    customers = cells.per_topic[None] if cells.inner is None else cells.inner[0]
    state.node_weights, state.node_unseen = draw_node_weights(model.data, customers, state, rng)


@dataclass(frozen=True)
class TopicWeights(Move):
    """Draw table counts given the topics, then the topic weights given the table counts.

    Views: weights or counts. Exact for the HDP. Costs a uniform for each observation. Any family.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.TopicWeights()]
    >>> fr.sample(corpus, alpha=1.0, gamma=1.0, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights, CellCounts)
    distributed = True
    supports_trees = True
    requires = frozenset()

    def step(self, model: Model, state: Weighted, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw m, then beta."""
        draw_weights(model, state, new_cell_tables(state, model, streams), streams.generator())
        return MoveReport()


@dataclass(frozen=True)
class UniformWeights(Move):
    """Give all topics the same weight. Not exact, so use it in the warm-up only.

    From a random start all topics are similar, and a topic that is larger by chance attracts the observations of
    others, until a few mixed topics are left. With equal weights all topics keep observations until they differ.

    Views: weights or counts. Approximate. Any family.

    Examples
    --------
    >>> first = fr.moves.during_warmup(fr.moves.UniformWeights(), (0.0, 0.25))
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.Concentrations(), first]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights, CellCounts)
    distributed = True
    supports_trees = True
    exact_for = None
    requires = frozenset()

    def step(self, model: Model, state: Weighted, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Divide the weight of the seen topics equally; the unseen weight stays."""
        occupied = state.occupied
        state.node_weights[:] = 0.0
        state.node_weights[:, occupied] = ((1.0 - state.node_unseen) / len(occupied))[:, None]
        state.cell_tables = None
        return MoveReport()


@dataclass(frozen=True)
class ModelPrior(Move):
    """Set the Dirichlet prior of the topics to the model's, which `ScaledPrior` may have changed in another sweep.

    Any view. Exact for the HDP: without such a sweep it changes nothing. Families of categories whose prior
    is not learned.

    Examples
    --------
    >>> first = [fr.moves.ModelPrior(), fr.moves.during_warmup(fr.moves.ScaledPrior(0.2))]
    >>> sampler = [*first, fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights, Seating, CellCounts)
    distributed = True
    supports_trees = True
    requires = frozenset({Ability.SPARSE})

    def step(self, model: Model, state: State, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Set the prior."""
        self._set_prior(model, state, 1.0)
        return MoveReport()

    def _set_prior(self, model: Model, state: State, factor: float) -> None:
        model.family.set_prior_value(state.statistics, factor * model.family.prior_vector())
        if isinstance(state, Weighted):
            state.forget_log_likelihood()


@dataclass(frozen=True)
class ScaledPrior(ModelPrior):
    """Multiply the Dirichlet prior of the topics by a factor, in the warm-up only (not exact), with `ModelPrior`.

    Under a small prior small topics survive, so a chain from many random topics finds more distinct ones. When the
    prior increases to its value, superfluous topics disappear. The others predict better than the topics of a chain
    that had this prior from the start.

    Any view. Approximate. Families of categories whose prior is not learned.

    Parameters
    ----------
    factor : float, default 0.2
        Factor of the prior.

    Raises
    ------
    InputError
        If `factor` is not positive.

    Examples
    --------
    >>> first = [fr.moves.ModelPrior(), fr.moves.during_warmup(fr.moves.ScaledPrior(0.2))]
    >>> sampler = [*first, fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    factor: float = 0.2

    exact_for = None

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("factor", self.factor)

    def step(self, model: Model, state: State, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Set the prior."""
        self._set_prior(model, state, self.factor)
        return MoveReport()


@dataclass(frozen=True)
class Concentrations(Move):
    """Sample alpha and gamma where they have Gamma priors and, unless tables are seated, tables and topic weights.

    Views: weights or counts (then it includes `TopicWeights`, in the right order) or seating, whose tables it
    uses as they are. Exact for the HDP. Any family.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights, Seating, CellCounts)
    distributed = True
    supports_trees = True
    updates = frozenset({"concentrations"})
    requires = frozenset()

    def step(
        self, model: Model, state: Weighted | Seating, streams: Streams, executor: BlockExecutor
    ) -> MoveReport:
        """Draw m unless the state has it; then gamma and alpha; then beta, in the views that store weights."""
        rng = streams.generator()
        if isinstance(state, Seating):
            cells = upper_tables(state, model.data)
        else:
            cells = new_cell_tables(state, model, streams)
        draw_concentrations(model, state, cells, rng, executor, state.topic_count)
        if isinstance(state, Weighted):
            draw_weights(model, state, cells, rng)
        return MoveReport()


@dataclass(frozen=True)
class TopicPrior(Move):
    """Draw a learned Dirichlet prior of the topics by slice sampling on its logarithm.

    The target is prior(eta) * eta * p(x | z, eta), the factor eta being the Jacobian of the logarithm
    (docs/theory/concentrations.md#eq-topic-prior).

    Any view. Exact for the HDP. Families whose `learned_prior` is set.

    Parameters
    ----------
    width : float, default 1.0
        First width of the slice, on the logarithmic scale.

    Raises
    ------
    InputError
        If `width` is not positive.

    Examples
    --------
    >>> family = fr.Categorical(17, prior=fr.Gamma(1.0, 10.0))
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.Concentrations(), fr.moves.TopicPrior()]
    >>> "prior" in fr.sample(corpus, family, sampler=sampler, draws=2, warmup=4, progress=False).trace
    True
    """

    width: float = 1.0

    views = (Weights, Seating, CellCounts)
    distributed = True
    supports_trees = True
    updates = frozenset({"prior"})

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("width", self.width)

    def check_family(self, family: Family) -> None:
        """Raise InputError unless the family has a sampled prior."""
        super().check_family(family)
        if family.learned_prior is None:
            raise InputError(
                f"TopicPrior samples the prior of the family, but {family!r} has a fixed one. Use "
                f"prior=franchise.Gamma(shape, rate), or remove the move."
            )

    def step(self, model: Model, state: State, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw eta given the topics."""
        family = model.family
        prior = family.learned_prior
        assert prior is not None
        log_likelihood = family.log_likelihood_by_prior(state.statistics, state.capacity)

        def log_target(log_value: float) -> float:
            if abs(log_value) > LARGEST_LOG:
                return -math.inf
            value = math.exp(log_value)
            return prior.log_density(value) + log_value + log_likelihood(value)

        current = math.log(family.prior_value(state.statistics))
        new = math.exp(slice_sample(log_target, current, self.width, streams.generator()))
        family.set_prior_value(state.statistics, new)
        if isinstance(state, Weighted):
            state.forget_log_likelihood()
        return MoveReport()


def slice_sample(
    log_density: Callable[[float], float], start: float, width: float, rng: np.random.Generator
) -> float:
    """Do one step of univariate slice sampling with stepping out and shrinkage (Neal, 2003, figures 3 and 5)."""
    height = log_density(start) + math.log1p(-rng.random())
    left = start - width * rng.random()
    right = left + width
    while log_density(left) > height:
        left -= width
    while log_density(right) > height:
        right += width
    while True:
        candidate = left + (right - left) * rng.random()
        if log_density(candidate) > height:
            return candidate
        if candidate < start:
            left = candidate
        else:
            right = candidate
