"""Conversion of states to named arrays for checkpoints, and back.

Checkpoints store only what cannot be counted again: assignments, weights, concentrations, a learned prior; and
the number of
slots, as draws are made for vacant ones too.

All arrays are checked before a kernel uses them: types, shapes, and that every number refers to an existing table,
topic or slot.  An `InputError` names the fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise import validation
from franchise.errors import InputError, InternalError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import CellTables, State, SubTopics, Weighted, Weights
from franchise.model.state.inner_seats import InnerSeats, slots_of_nodes
from franchise.model.state.views import CellCounts, DataCells, Seating, cells_of
from franchise.storage.chain_store import Arrays
from franchise.validation import check_array, check_labels, check_learned


def state_to_arrays(state: State, family: Family) -> Arrays:
    """Return the state as arrays by name."""
    arrays = {
        "concentrations": np.append(state.alphas, state.top_concentration),
        "slots": np.array([state.capacity]),
    }
    if family.learned_prior is not None and isinstance(state.statistics, family.Statistics):
        arrays["prior"] = np.array([family.prior_value(state.statistics)])
    if isinstance(state, Seating):
        arrays["table_of_observation"] = state.table_of_observation
        arrays["topic_of_table"] = state.topic_of_table
        if state.inner is not None:
            arrays.update(inner_topics=state.inner.topics, inner_sizes=state.inner.sizes)
    elif isinstance(state, Weights):
        arrays["topic_of_observation"] = state.topic_of_observation
        if state.subtopics is not None:
            arrays.update({f"subtopics_{name}": values for name, values in state.subtopics._asdict().items()})
    elif isinstance(state, CellCounts):
        arrays["topic_counts"] = state.topic_counts[:, : int(state.occupied[-1]) + 1]
    used = int(state.occupied[-1]) + 1
    if state.parameters is not None:
        for name, rows in state.parameters._asdict().items():
            arrays[f"parameters_{name}"] = rows[:used]
    if isinstance(state, Weighted):
        arrays["topic_weights"] = state.topic_weights[:used]
        arrays["unseen_weight"] = state.unseen_weight
        if state.tree_concentrations is not None:
            arrays["inner_weights"] = state.node_weights[1:, :used]
            arrays["inner_unseen"] = state.node_unseen[1:]
        if state.cell_tables is not None:
            arrays["customers_of_cell"] = state.cell_tables.customers
            arrays["tables_of_cell"] = state.cell_tables.tables
            arrays["tables_per_topic"] = state.cell_tables.per_topic[:used]
            if state.cell_tables.inner is not None:
                arrays["inner_tables"] = state.cell_tables.inner[:, :, :used]
    return arrays


def view_of(arrays: Arrays) -> type[State]:
    """Return the view of the state that arrays represent; arrays with one entry per observation are optional."""
    if "topic_counts" in arrays:
        return CellCounts
    return Weights if "topic_weights" in arrays else Seating


def state_from_arrays(arrays: Arrays, data: PreparedData, family: Family) -> State:
    """Return the state that `state_to_arrays` was given; its statistics are recounted."""
    count = len(data.tree.names) + 1
    concentrations = check_array("concentrations", arrays["concentrations"], np.float64, (count,))
    if not (np.isfinite(concentrations) & (concentrations > 0.0)).all():
        raise InputError(f"concentrations must be positive; got {concentrations.tolist()}")
    slots = _checked_slots(arrays["slots"], family)
    if "table_of_observation" in arrays:
        state: State = _seating_from(arrays, data, family, slots)
    elif "topic_of_observation" in arrays:
        state = _weights_from(arrays, data, family, slots)
    elif "topic_counts" in arrays:
        state = _counts_from(arrays, data, family, slots)
    else:
        raise InputError(f"no state can be made of arrays named {sorted(arrays)}")
    *_, state.group_concentration, state.top_concentration = concentrations.tolist()
    state.tree_concentrations = concentrations[:-1].copy() if data.tree.is_deep else None
    state.parameters = _parameters_from(arrays, family, slots)
    if "prior" in arrays:
        prior = check_array("prior", arrays["prior"], np.float64, (1,))
        family.set_prior_value(state.statistics, check_learned("prior", float(prior[0])))
    return state


def check_state(state: State, data: PreparedData, n_observations: int) -> None:
    """Raise InputError if a stored state is invalid, as far as that shows without a recount.

    `data` are the observations of this process, out of `n_observations`.

    """
    if state.observations_per_topic.sum() != n_observations:
        raise InputError("not every observation has a topic")
    used = int(state.occupied[-1]) + 1
    if state.parameters is not None and any(len(rows) < used for rows in state.parameters):
        raise InputError("a topic that has observations has no parameters")
    if isinstance(state, Weighted):
        try:
            state.check_weights(data)
        except InternalError as error:
            raise InputError(str(error)) from error


def _seating_from(arrays: Arrays, data: PreparedData, family: Family, slots: int) -> Seating:
    size = data.n_observations
    tables = check_array("table_of_observation", arrays["table_of_observation"], np.int32, (size,), lowest=0)
    topics = check_array("topic_of_table", arrays["topic_of_table"], np.int32, (size,), lowest=-1)
    sizes = np.diff(data.offsets)
    if (tables >= np.repeat(sizes, sizes)).any() or (topics >= slots).any():
        raise InputError("an observation has a missing table, or a table a missing topic")
    seating = Seating.empty(data, family.empty_statistics(slots), slots, 1.0, 1.0)
    seating.table_of_observation[:] = tables
    seating.topic_of_table[:] = topics
    if seating.inner is not None:
        _set_inner_seats(seating.inner, arrays, data, slots)
    seating.recount(data)
    if ((seating.topic_of_table < 0) != (seating.size_of_table == 0)).any():
        raise InputError("tables must have a topic if and only if they have observations")
    return seating


def _set_inner_seats(inner: InnerSeats, arrays: Arrays, data: PreparedData, slots: int) -> None:
    """Set the tables of inner nodes; their customers are counted later."""
    size = inner.topics.shape
    inner.topics[:] = check_array("inner_topics", arrays["inner_topics"], np.int32, size, lowest=-1)
    inner.sizes[:] = check_array("inner_sizes", arrays["inner_sizes"], np.int32, size, lowest=0)
    if (inner.topics >= slots).any() or ((inner.topics < 0) != (inner.sizes == 0)).any():
        raise InputError("tables of inner nodes must have a topic if and only if they have customers")
    places = np.flatnonzero(inner.sizes)
    nodes = inner.nodes_of(data, places)
    np.maximum.at(inner.used, nodes, places - slots_of_nodes(data)[nodes] + 1)


def _weights_from(arrays: Arrays, data: PreparedData, family: Family, slots: int) -> Weights:
    topics = check_labels("topic_of_observation", arrays["topic_of_observation"], data.n_observations, slots)
    weights = Weights.from_topics(data, family, topics, 1.0, 1.0, slots)
    _set_weights(weights, arrays, data)
    if all(f"subtopics_{name}" in arrays for name in SubTopics._fields):
        weights.subtopics = _subtopics_from(arrays, data.n_observations, slots)
    return weights


def _subtopics_from(arrays: Arrays, size: int, slots: int) -> SubTopics:
    sides = check_array("sides", arrays["subtopics_sides"], np.int8, (size,), lowest=0)
    check_labels("sides", sides, size, 2)
    kept = [
        check_array(name, arrays[f"subtopics_{name}"], dtype, (slots,))
        for name, dtype in (("left_shares", float), ("likelihoods", float), ("ready", bool))
    ]
    return SubTopics(sides.copy(), *(values.copy() for values in kept))


def _counts_from(arrays: Arrays, data: PreparedData, family: Family, slots: int) -> CellCounts:
    if Ability.SPARSE not in family.abilities:
        raise InputError("counts of cells are for categories only")
    cells = cells_of(data)
    kept = check_array("topic_counts", arrays["topic_counts"], np.int32, (len(cells.counts), None), lowest=0)
    if kept.shape[1] > slots or (kept.sum(axis=1) != cells.counts).any():
        raise InputError("the topic_counts of a cell must sum to its observations")
    state = state_of_counts(kept, cells, family, slots, data.tree.size)
    state.recount(data)
    _set_weights(state, arrays, data)
    return state


def state_of_counts(
    counts: np.ndarray, cells: DataCells, family: Family, slots: int, nodes: int = 1
) -> CellCounts:
    """Return a state with these topic counts of cells, before its statistics are counted and it has weights."""
    return CellCounts(
        statistics=family.empty_statistics(slots),
        observations_per_topic=np.zeros(slots, np.int64),
        group_concentration=1.0,
        top_concentration=1.0,
        node_weights=np.zeros((nodes, slots)),
        node_unseen=np.ones(nodes),
        cells=cells,
        topic_counts=np.pad(counts, ((0, 0), (0, slots - counts.shape[1]))),
    )


def _set_weights(state: Weighted, arrays: Arrays, data: PreparedData) -> None:
    weights = check_array("topic_weights", arrays["topic_weights"], np.float64, (None,), lowest=0.0)
    used = len(weights)
    if used > state.capacity:
        raise InputError(f"there are {used} topic_weights for {state.capacity} slots")
    state.node_weights[:] = 0.0
    state.topic_weights[:used] = weights
    state.unseen_weight[:] = check_array(
        "unseen_weight", arrays["unseen_weight"], np.float64, (1,), lowest=0.0
    )
    if data.tree.is_deep:
        wide = (data.tree.size - 1, used)
        inner = check_array("inner_weights", arrays["inner_weights"], np.float64, wide, lowest=0.0)
        state.node_weights[1:, :used] = inner
        state.node_unseen[1:] = check_array(
            "inner_unseen", arrays["inner_unseen"], np.float64, wide[:1], lowest=0.0
        )
    if "tables_of_cell" in arrays:
        state.cell_tables = _cell_tables_from(arrays, used, state.capacity, data)


def _cell_tables_from(arrays: Arrays, used: int, slots: int, data: PreparedData) -> CellTables:
    customers = check_array("customers_of_cell", arrays["customers_of_cell"], np.int32, (None,), lowest=1)
    tables = check_array("tables_of_cell", arrays["tables_of_cell"], np.int32, customers.shape, lowest=1)
    kept = check_array("tables_per_topic", arrays["tables_per_topic"], np.int64, (used,), lowest=0)
    if not data.tree.is_deep and kept.sum() != data.comm.allreduce(np.array([tables.sum()]))[0]:
        raise InputError("the numbers of tables of topics and cells differ")
    per_topic = np.zeros(slots, np.int64)
    per_topic[:used] = kept
    if not data.tree.is_deep:
        return CellTables(customers.copy(), tables.copy(), per_topic)
    wide = (2, data.tree.size, used)
    inner = np.zeros((*wide[:2], slots), np.int64)
    inner[:, :, :used] = check_array("inner_tables", arrays["inner_tables"], np.int64, wide, lowest=0)
    if (inner[0, 0] != per_topic).any():
        raise InputError("the customers of the root and the numbers of tables of topics differ")
    return CellTables(customers.copy(), tables.copy(), per_topic, inner=inner)


def _parameters_from(arrays: Arrays, family: Family, slots: int) -> Any:
    """Return the parameters of topics, if the family stores them; their rows must have the shape of its draws."""
    fields: tuple[str, ...] = getattr(family.Parameters, "_fields", ())
    if not fields or any(f"parameters_{name}" not in arrays for name in fields):
        return None
    like = family.draw_parameters(family.empty_statistics(1), 1, np.random.Generator(np.random.Philox(0)))
    kept = []
    for name, row in zip(fields, like, strict=True):
        rows = check_array(name, arrays[f"parameters_{name}"], row.dtype, (None, *row.shape[1:]))
        if len(rows) > slots or not np.isfinite(rows).all():
            raise InputError(f"the parameters {name} of topics must be finite, one row per topic")
        kept.append(rows.copy())
    return family.Parameters(*kept)


def _checked_slots(slots: np.ndarray, family: Family) -> int:
    """Return the number of slots, if the statistics of this many topics fit in memory."""
    count = int(check_array("slots", slots, np.int64, (1,), lowest=1)[0])
    of_one = sum(part.nbytes for part in family.empty_statistics(1) if isinstance(part, np.ndarray))
    if count * of_one > validation.available_memory():
        raise InputError(f"{count} slots for topics will not fit in memory")
    return count
