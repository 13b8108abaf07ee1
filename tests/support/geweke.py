"""The joint distribution test of Geweke (2004): the judge of moves for concentrations and priors.

Two ways to draw parameters and data together must agree:

* forward: parameters from their prior, the seating from the franchise, data from the topics;
* successive: a chain that alternates a sweep of the sampler, given the data, with new data, given the labels.

If the sampler leaves the posterior invariant, the second has the joint law of the first as its stationary law;
it starts in it, with a forward draw.  A move that by itself cannot reach every state is tested by many short
chains, each from a forward draw of its own (`steps`).  Means and mean squares of label-free summaries are
compared, with the chain's autocorrelation taken into account.  No enumeration is needed, so everything may be
learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.checks import CheckFailed
from franchise.checks.statistics import SMALLEST_P
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import State, Weights
from franchise.model.state.cell_tables import log_likelihood
from franchise.model.state.views import CellCounts, convert
from franchise.moves.compose import InTurn
from franchise.parallel.threads import Threads
from franchise.priors import Gamma
from franchise.running.chain import Chain

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class JointTest:
    """What is tested: a model, whose data serve as the shape of new ones, and a sampler of it."""

    model: Model
    schedule: InTurn
    seed: int = 0
    steps: int | None = (
        None  # steps of each chain, whose last one counts; None: one chain, and every step counts
    )
    finite_topics: int | None = None  # the order of the model, if it is the finite one

    def run(self, draws: int) -> pd.DataFrame:
        """Compare `draws` forward draws with as many steps of the chain; CheckFailed if they disagree."""
        import pandas as pd

        rng = np.random.default_rng(self.seed)
        forward = [summarise(*self.draw_forward(rng)) for _ in range(draws)]
        successive = self._successive(draws, rng)
        rows = []
        for name in [name for name in forward[0] if name in successive[0]]:
            first = np.array([row[name] for row in forward])
            second = np.array([row[name] for row in successive])
            rows.append((name, first.mean(), second.mean(), same_mean(first, second)))
            rows.append(
                (f"{name} squared", (first**2).mean(), (second**2).mean(), same_mean(first**2, second**2))
            )
        table = pd.DataFrame(rows, columns=["summary", "forward", "successive", "p_value"]).set_index(
            "summary"
        )
        table["passed"] = table["p_value"] >= SMALLEST_P
        if not table["passed"].all():
            raise CheckFailed(
                f"the joint distribution test fails for {self.schedule} with {self.model.family!r} "
                f"({draws} draws, seed {self.seed}):\n{table.to_string()}"
            )
        return table

    def draw_forward(self, rng: np.random.Generator) -> tuple[Model, State]:
        """Everything from the prior: concentrations, topics' prior, labels, data."""
        model = self.model
        alpha, gamma = (
            rng.gamma(value.shape, 1.0 / value.rate) if isinstance(value, Gamma) else value
            for value in (model.alpha, model.gamma)
        )
        labels, beta = draw_labels(model.data.offsets, alpha, gamma, self.finite_topics, rng)
        prior = model.family.learned_prior
        eta = None if prior is None else rng.gamma(prior.shape, 1.0 / prior.rate)
        model, parameters = self.redraw_data(model, labels, eta, rng)
        state = Weights.from_topics(model.data, model.family, labels, alpha, gamma)
        state.parameters = parameters
        if eta is not None:
            model.family.set_prior_value(state.statistics, eta)
        state.topic_weights[: len(beta) - 1] = beta[:-1]
        state.unseen_weight[0] = beta[-1]
        return model, state

    @staticmethod
    def redraw_data(
        model: Model, labels: np.ndarray, eta: float | None, rng: np.random.Generator
    ) -> tuple[Model, Any]:
        """The model with new data given the labels: phi_k ~ H, x ~ F(phi); and phi, if states keep it."""
        family = model.family
        topics = int(labels.max()) + 1
        empty = family.empty_statistics(topics)
        if eta is not None:
            family.set_prior_value(empty, eta)
        parameters = family.draw_parameters(empty, topics, rng)
        observations = family.draw_observations(parameters, labels, rng, model.data.observations)
        data = replace(model.data, observations=frozen(observations))
        conjugate = Ability.CONJUGATE in family.abilities
        return replace(model, data=data), None if conjugate else parameters

    def _successive(self, draws: int, rng: np.random.Generator) -> list[dict[str, float]]:
        if self.steps is None:
            return list(self._chain(0, draws, rng))
        return [list(self._chain(number, self.steps, rng))[-1] for number in range(draws)]

    def _chain(self, number: int, steps: int, rng: np.random.Generator) -> Iterator[dict[str, float]]:
        """Summaries after every sweep, from a forward draw on; after each, the data are drawn anew."""
        model, state = self.draw_forward(rng)
        family = model.family
        chain = Chain(model, self.schedule, state, self.seed, number, warmup=0, executor=Threads(1))
        for _ in range(steps):
            for place, move in chain.begin_sweep():
                chain.apply(move, place)
            if isinstance(chain.state, CellCounts):  # its cells are those of the data, which change
                chain.state = convert(chain.state, Weights, chain.model.data, rng)
            yield summarise(chain.model, chain.state)
            eta = None if family.learned_prior is None else family.prior_value(chain.state.statistics)
            labels = chain.state.topics(chain.model.data)
            chain.model, parameters = self.redraw_data(chain.model, labels, eta, rng)
            chain.state.recount(chain.model.data)
            chain.state.parameters = parameters


def draw_labels(
    offsets: np.ndarray, alpha: float, gamma: float, finite_topics: int | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0..K-1, and the weights of these topics and of all others together."""
    if finite_topics is None:
        labels, tables_per_topic = draw_franchise(offsets, alpha, gamma, rng)
        return labels, rng.dirichlet([*tables_per_topic, gamma])
    weights = rng.dirichlet(np.full(finite_topics, gamma / finite_topics))
    drawn: list[int] = []
    for size in np.diff(offsets):
        urn = alpha * weights
        for _ in range(int(size)):
            drawn.append(_draw(urn.tolist(), rng))
            urn[drawn[-1]] += 1.0
    topics, labels = np.unique(drawn, return_inverse=True)
    return labels.astype(np.int32), np.append(weights[topics], max(0.0, 1.0 - weights[topics].sum()))


def draw_franchise(
    offsets: np.ndarray, alpha: float, gamma: float, rng: np.random.Generator
) -> tuple[np.ndarray, list[int]]:
    """Labels from the Chinese restaurant franchise, and the tables of each topic; no kernels involved."""
    labels: list[int] = []
    tables_per_topic: list[int] = []
    for group in range(len(offsets) - 1):
        sizes: list[int] = []
        topic_of_table: list[int] = []
        for _ in range(int(offsets[group + 1] - offsets[group])):
            table = _draw([*sizes, alpha], rng)
            if table == len(sizes):
                topic = _draw([*tables_per_topic, gamma], rng)
                if topic == len(tables_per_topic):
                    tables_per_topic.append(0)
                tables_per_topic[topic] += 1
                sizes.append(0)
                topic_of_table.append(topic)
            sizes[table] += 1
            labels.append(topic_of_table[table])
    return np.array(labels, dtype=np.int32), tables_per_topic


def _draw(weights: list[float], rng: np.random.Generator) -> int:
    target = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        target -= weight
        if target < 0:
            return index
    return len(weights) - 1


def summarise(model: Model, state: State) -> dict[str, float]:
    """Label-free summaries of parameters, labels and data together."""
    sizes = state.observations_per_topic[state.occupied]
    labels = state.topics(model.data)
    values = {
        "topics": float(len(sizes)),
        "largest topic": float(sizes.max()),
        "first two together": float(labels[0] == labels[1]),
        "first and last together": float(labels[0] == labels[-1]),
        "log likelihood per observation": log_likelihood(state, model.data) / model.data.n_observations,
    }
    for name, prior, alpha in zip(model.data.tree.names, model.alphas, state.alphas.tolist(), strict=True):
        if isinstance(prior, Gamma):
            values[name] = alpha
            values[f"{name} x topics"] = alpha * len(sizes)
    if isinstance(model.gamma, Gamma):
        values["gamma"] = state.top_concentration
        values["gamma x topics"] = state.top_concentration * len(sizes)
    if model.family.learned_prior is not None:
        values["log prior"] = float(np.log(model.family.prior_value(state.statistics)))
    if isinstance(state, Weights):
        values["unseen weight"] = float(state.unseen_weight[0])
        values["gamma x unseen weight"] = state.top_concentration * float(state.unseen_weight[0])
        for node in range(1, len(state.node_unseen)):
            values[f"unseen weight at node {node}"] = float(state.node_unseen[node])
    return values


def example_model(family: Family, observations: Any, offsets: list[int], alpha: Any, gamma: Any) -> Model:
    """A model whose data only lend their shape."""
    family = family.for_data(observations)
    return Model(PreparedData.of(observations, np.array(offsets), family), family, alpha, gamma)


def same_mean(first: np.ndarray, second: np.ndarray) -> float:
    """p-value that independent numbers (first) and the values of one chain (second) have one mean.

    The standard error of the chain is that of ArviZ, which takes its autocorrelation into account.
    """
    from arviz_stats.base import array_stats
    from scipy.stats import norm

    error = first.std() / np.sqrt(len(first))
    chain_error = float(array_stats.mcse(second[None, :], method="mean"))
    spread = np.hypot(error, 0.0 if np.isnan(chain_error) else chain_error)
    if spread == 0.0:
        return 1.0 if first.mean() == second.mean() else 0.0
    return float(2 * norm.sf(abs(first.mean() - second.mean()) / spread))
