"""A state shared out over peers, and its arrays put together again (see `peers.py`).

What is of topics every peer has; what is of observations, or of groups, goes to the peer that holds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from franchise.data.mapped import InFile, place_in_file
from franchise.model import Model, Share
from franchise.state.base import CellTables, PreparedData, State, frozen

OF_OBSERVATIONS = ("topic_of_observation", "table_of_observation", "topic_of_table", "size_of_table")
OF_GROUPS = ("table_slots",)
OF_CELLS = ("customers_of_cell", "tables_of_cell")


def part_of_model(model: Model, share: Share) -> Model:
    """The model with only the observations of a share."""
    offsets = model.data.offsets[share.groups.start : share.groups.stop + 1]
    observations = model.data.observations[offsets[0] : offsets[-1]]
    data = PreparedData(frozen(observations), frozen(offsets - offsets[0]))
    return replace(model, data=data, share=share)


def packed(model: Model) -> Model:
    """The model as it is sent to others: of observations that lie in a file only where."""
    place = place_in_file(model.data.observations)
    return model if place is None else replace(model, data=model.data._replace(observations=place))


def unpacked(model: Model) -> Model:
    """The model that was packed."""
    place = model.data.observations
    if not isinstance(place, InFile):
        return model
    return replace(model, data=model.data._replace(observations=frozen(place.open())))


def part_of_state(state: State, share: Share) -> State:
    """A copy of what the peer that has this share needs of a state."""
    begin = share.first_observation
    end = begin + int(share.sizes[share.groups].sum())
    parts: dict[str, Any] = {each.name: getattr(state, each.name) for each in fields(state)}
    for name in OF_OBSERVATIONS:
        if name in parts:
            parts[name] = parts[name][begin:end]
    for name in OF_GROUPS:
        if name in parts:
            parts[name] = parts[name][share.groups]
    if parts.get("cell_tables") is not None:
        parts["cell_tables"] = _cells_between(parts["cell_tables"], begin, end)
    return type(state)(**parts).copy()


def _cells_between(cells: CellTables, begin: int, end: int) -> CellTables:
    """The cells of the groups that have these observations: cells come group by group, as observations do."""
    ends = np.concatenate([[0], np.cumsum(cells.customers, dtype=np.int64)])
    first, last = np.searchsorted(ends, [begin, end])
    return cells._replace(customers=cells.customers[first:last], tables=cells.tables[first:last])


def whole_of_arrays(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays of a state (`state/save.py`), from those of its parts."""
    whole = dict(parts[0])
    for name in (*OF_OBSERVATIONS, *OF_GROUPS, *OF_CELLS):
        if name in whole:
            whole[name] = np.concatenate([part[name] for part in parts])
    return whole
