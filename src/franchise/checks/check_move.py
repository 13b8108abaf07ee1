"""`check_move`: test whether a move leaves the posterior invariant.

The test draws independent states from the exact posterior of a tiny data set (`checks.enumeration`), applies the
move once to each, and compares the results with the posterior.  As the draws are independent, the p-values are
valid and a failure identifies the faulty move, unlike a long run of a whole sampler.

It compares the partition with its enumerated probabilities, and quantities that hardly depend on the partition
(topic weights, seats) with new exact draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from franchise.checks import CheckFailed
from franchise.checks.enumeration import Enumeration, Partition, canonical, tiny_model
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit, same_distribution, same_law
from franchise.errors import InputError
from franchise.families.base import Arrays, Family
from franchise.families.categorical import Categorical
from franchise.kernels import family_ops
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.state.base import State, Weights
from franchise.model.state.views import CellCounts, Seating, convert
from franchise.moves.base import FINITE, HDP, Move
from franchise.moves.compose import Composed, InTurn, in_turn, moves_of
from franchise.parallel.threads import Threads
from franchise.running.chain import Chain
from franchise.validation import check_integer, check_positive

if TYPE_CHECKING:
    import pandas as pd

TINY_GROUPS = [0, 0, 0, 0, 1, 1]
_CONSISTENCY_CHECKS = 25


def check_move(
    move: Move | Composed,
    family: Family | None = None,
    observations: ArrayLike | None = None,
    groups: list[int] | None = None,
    *,
    alpha: float = 1.0,
    gamma: float = 1.0,
    repetitions: int = 20_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Test that a move leaves the posterior of the HDP mixture invariant, and keeps its counts right.

    Parameters
    ----------
    move : Move, or a composition of moves
        What is tested. It should claim to be exact for the HDP.
    family : Family, optional
        The likelihood of the tiny data set [default: Categorical].
    observations : array, optional
        Up to 8 observations [default: six observations of two topics; drawn from the family's prior, if a
        family is given].
    groups : list of int, optional
        The group number of each, ascending [default: two groups, of four and two observations].
    alpha : float, default 1.0
        Concentration of the groups.
    gamma : float, default 1.0
        Concentration of the top level.
    repetitions : int, default 20000
        Independent states the move is applied to.
    seed : int, default 0
        The same seed, the same p-values.

    Returns
    -------
    DataFrame
        One row for each quantity compared: the p-value, and whether it passed.

    Raises
    ------
    CheckFailed
        If a p-value is below 1e-4, with the table.
    InputError
        If the data are too large, or an argument is out of range.
    InternalError
        If counts are wrong.

    Examples
    --------
    >>> table = fr.check_move(fr.moves.CrfGibbs(), alpha=0.6, gamma=4.0, repetitions=200)
    >>> table["passed"].all().item()
    True
    """
    schedule = in_turn(move)
    finite_topics = _claimed_order(schedule)
    repetitions = check_integer("repetitions", repetitions, minimum=100)
    rng = np.random.default_rng(seed)
    family, observations, groups = tiny_data(family, observations, groups, rng)
    alpha, gamma = check_positive("alpha", alpha), check_positive("gamma", gamma)
    exact = Enumeration(tiny_model(family, observations, groups, alpha, gamma), alpha, gamma, finite_topics)
    table = compare_one_step(exact, schedule, repetitions, seed, rng)
    if not table["passed"].all():
        raise CheckFailed(
            f"{move!r} does not leave the posterior of {family!r} invariant (alpha {alpha}, gamma {gamma}, "
            f"{repetitions} independent steps, seed {seed}):\n{table.to_string()}"
        )
    return table


def compare_one_step(
    exact: Enumeration, schedule: InTurn, repetitions: int, seed: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare states from the exact posterior after one sweep with that posterior; see `check_move`."""
    import pandas as pd

    for part in moves_of(schedule):
        part.check_family(exact.model.family)
    view = next(moves_of(schedule)).views[0]
    # Counts do not tell observations of a cell apart, so their labels are compared; so are those in a tree.
    if view is CellCounts or exact.model.data.tree.is_deep:
        view = Weights
    before = _quantities(exact, view, repetitions, rng, lambda state, _: state)
    after = _quantities(exact, view, repetitions, rng, _one_sweep(exact, schedule, view, seed))
    rows = [("partition", goodness_of_fit(after.pop("partition"), exact.partitions, exact.probabilities))]
    for name, values in after.items():
        test = same_distribution if isinstance(values[0], float) else same_law
        rows.append((name, test(before[name], values)))  # type: ignore[arg-type]
    table = pd.DataFrame(rows, columns=["quantity", "p_value"]).set_index("quantity")
    table["passed"] = table["p_value"] >= SMALLEST_P
    return table


def tiny_data(
    family: Family | None,
    observations: ArrayLike | Arrays | None,
    groups: list[int] | None,
    rng: np.random.Generator,
) -> tuple[Family, Any, list[int]]:
    """Return the given arguments, completed to a tiny data set."""
    if family is None:
        family = Categorical(3, 0.5)
        observations = np.array([0, 0, 1, 2, 0, 1]) if observations is None else observations
    groups = TINY_GROUPS if groups is None else list(groups)
    if observations is None:
        parameters = family.draw_parameters(family.empty_statistics(2), 2, rng)
        observations = family.draw_observations(parameters, np.arange(len(groups)) % 2, rng, None)
    if groups != sorted(groups):
        raise InputError(f"groups must be ascending group numbers, one per observation; got {groups}.")
    return family, observations, groups


def _claimed_order(schedule: Composed) -> int | None:
    """The model that all moves claim to be exact for: the order of a finite one, or None for the HDP."""
    orders = set()
    for part in moves_of(schedule):
        if part.exact_for not in (HDP, FINITE):
            raise InputError(
                f"moves must be exact; {type(part).__name__} is "
                f"{'approximate' if part.exact_for is None else 'exact for ' + part.exact_for}."
            )
        orders.add(part.topics if part.exact_for == FINITE else None)  # type: ignore[attr-defined]
    if len(orders) > 1:
        raise InputError("moves must all be exact for the same model.")
    return orders.pop() if orders else None


def _one_sweep(
    exact: Enumeration, schedule: InTurn, view: type[State], seed: int
) -> Callable[[State, int], State]:
    """Apply the schedule once, as a chain would, ending in the view begun in; the first results are recounted."""
    engine = Threads(1)
    # Generators are costly to make, and each is reset before it is used.
    generators: dict[tuple[int, int], np.random.Generator] = {}

    def apply(state: State, repetition: int) -> State:
        chain = Chain(exact.model, schedule, state, seed, repetition, 0, engine, _generators=generators)
        for number, move in chain.begin_sweep():
            chain.apply(move, number)
        if repetition < _CONSISTENCY_CHECKS:
            chain.state.check_consistency(exact.model.data, exact.model.family)
        back = Streams(seed, repetition, chain.sweeps, STREAMS.conversion).generator(STREAMS.check_conversion)
        return convert(chain.state, view, exact.model.data, back)

    return apply


def _quantities(
    exact: Enumeration,
    view: type[State],
    repetitions: int,
    rng: np.random.Generator,
    apply: Callable[[State, int], State],
) -> dict[str, list[Any]]:
    """Return the quantities to compare, for independent states from the posterior after `apply`."""
    rows = []
    for repetition, partition in enumerate(exact.draw_partitions(repetitions, rng)):
        state = apply(exact.draw_state(view, partition, rng), repetition)
        rows.append({"partition": canonical(state.topics(exact.model.data)), **_quantities_of(state, exact)})
    return {name: [row[name] for row in rows] for name in rows[0]}


def _quantities_of(state: State, exact: Enumeration) -> dict[str, Any]:
    """Label-free quantities of a state beside its partition."""
    quantities: dict[str, Any] = {}
    if isinstance(state, Seating):
        quantities = {"tables": int(state.table_count[0]), "seats": _seats(state, exact)}
    elif isinstance(state, Weights):
        weights = state.topic_weights
        quantities = {
            "unseen weight": float(state.unseen_weight[0]),
            "weight of the first observation's topic": float(weights[state.topic_of_observation[0]]),
            "weight of the last observation's topic": float(weights[state.topic_of_observation[-1]]),
            "sum of squared weights": float((weights**2).sum()),
        }
        for node in range(1, len(state.node_unseen)):
            of_last = state.node_weights[node, state.topic_of_observation[-1]]
            quantities[f"unseen weight at node {node}"] = float(state.node_unseen[node])
            quantities[f"weight of the last observation's topic at node {node}"] = float(of_last)
    if state.parameters is not None:
        data = exact.model.data
        first = int(state.topics(data)[0])
        quantities["log density of the first observation"] = float(
            family_ops.log_density(state.parameters, data.observations, 0, first)
        )
    return quantities


def _seats(state: Seating, exact: Enumeration) -> Partition:
    """The partition of the observations into tables."""
    groups = np.repeat(np.arange(exact.model.data.n_groups), np.diff(exact.model.data.offsets))
    return canonical(groups * (exact.model.data.n_observations + 1) + state.table_of_observation)
