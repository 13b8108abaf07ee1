"""An initial state for counts in the hundreds and thousands: from a chain on a sample of them.

Where a group has thousands of observations, moves of single observations or cells rarely merge two topics or
split one, and split-merge moves take time in proportion to the number of observations. A sample has the same
topics, and a chain finds them there in seconds. Superfluous topics are removed (`prune_topics.py`), and the
initial state of all data is drawn given the others. It need not be exact, because the sweeps that follow are.
"""

from __future__ import annotations

import numpy as np

from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import SPARE_SLOTS, Weights
from franchise.model.state.views import CellCounts, cells_of, to_weights
from franchise.moves.compose import in_turn
from franchise.parallel.engine import BlockExecutor
from franchise.priors import Gamma
from franchise.running.chain import Chain
from franchise.running.prune_topics import Expected, fit_without_superfluous
from franchise.samplers.default_starts import FromSample
from franchise.storage.state_arrays import state_of_counts

SAMPLE = 40_000
"""Approximate number of observations in the sample."""

SWEEPS = 300


def start_from_sample(
    model: Model, start: FromSample, streams: Streams, executor: BlockExecutor
) -> CellCounts:
    """Return a state in the counts view, with the topics that moves find in a sample of the observations."""
    rng = streams.generator()
    sample = _thinned(model, rng)
    labels = rng.integers(0, start.topics, sample.data.n_observations, np.int32)
    state = Weights.from_topics(sample.data, model.family, labels, sample.start_alpha(), model.start_gamma())
    seed = int(rng.integers(2**62))
    chain = Chain(
        sample, in_turn(*start.moves(sample)), state, seed, number=0, warmup=SWEEPS, executor=executor
    )
    for _ in range(SWEEPS):
        for number, move in chain.begin_sweep():
            chain.apply(move, number)
    return _drawn_given(to_weights(chain.state, sample.data, rng), sample, model, rng)


def _thinned(model: Model, rng: np.random.Generator) -> Model:
    """Return the model of a sample: each observation is drawn with equal probability, and each group has at
    least one. Groups of a tree are all below the root in it.
    """
    data = model.data
    kept = rng.random(data.n_observations) < SAMPLE / data.n_observations
    kept[data.offsets[:-1][np.diff(data.offsets) > 0]] = True
    offsets = np.concatenate([[0], np.cumsum(kept)])[data.offsets]
    thinned = PreparedData(frozen(data.observations[kept]), frozen(offsets))
    return Model(thinned, model.family, model.alpha, model.gamma)


def _drawn_given(state: Weights, sample: Model, model: Model, rng: np.random.Generator) -> CellCounts:
    """Draw topics for all observations of the model, cell by cell, given the topics of the sample."""
    cells, prior = cells_of(model.data), state.statistics.prior
    kept, expected = fit_without_superfluous(cells, _counted(state, sample), prior, rng)
    shares, words = expected.mixture(prior)
    of_cells = np.repeat(np.arange(len(shares)), np.diff(cells.offsets))
    weights = shares[of_cells] * words[cells.categories]
    counts = rng.multinomial(cells.counts, weights / weights.sum(axis=1, keepdims=True)).astype(np.int32)
    nodes = model.data.tree.size
    start = state_of_counts(counts, cells, model.family, len(kept) + SPARE_SLOTS, nodes)
    start.group_concentration, start.top_concentration = state.group_concentration, state.top_concentration
    if nodes > 1:
        start.tree_concentrations = np.full(len(model.alphas), state.group_concentration)
        for number, alpha in enumerate(model.alphas):
            if not isinstance(alpha, Gamma):
                start.set_alpha(number, alpha)
    start.unseen_weight[:] = state.unseen_weight
    if model.family.learned_prior is not None:
        model.family.set_prior_value(start.statistics, model.family.prior_value(state.statistics))
    start.recount(model.data)
    of_topics = state.topic_weights[state.occupied[kept]]
    start.topic_weights[: len(kept)] = of_topics / of_topics.sum() * (1.0 - state.unseen_weight[0])
    lost = start.observations_per_topic == 0
    start.unseen_weight[0] += start.topic_weights[lost].sum()
    start.topic_weights[lost] = 0.0
    start.spread_root()
    return start


def _counted(state: Weights, sample: Model) -> Expected:
    """Return the observations of the sample by group and by category, for each of its topics."""
    topics = state.occupied
    groups = np.repeat(np.arange(sample.data.n_groups), np.diff(sample.data.offsets))
    columns = np.searchsorted(topics, state.topic_of_observation)
    wide = (sample.data.n_groups, len(topics))
    by_group = np.bincount(groups * len(topics) + columns, minlength=wide[0] * wide[1]).reshape(wide)
    return Expected(by_group.astype(np.float64), state.statistics.counts[:, topics].astype(np.float64))
