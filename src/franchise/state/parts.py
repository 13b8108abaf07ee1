"""A state shared out over peers, and put together again (see `peers.py`).

What is of topics every peer has; what is of observations, or of groups, goes to the peer that holds them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from franchise.model import Model, Share
from franchise.state.base import PreparedData, State

_OF_OBSERVATIONS = ("topic_of_observation", "table_of_observation", "topic_of_table", "size_of_table")
_OF_GROUPS = ("table_slots",)


def part_of_model(model: Model, share: Share) -> Model:
    """The model with only the observations of a share."""
    offsets = model.data.offsets[share.groups.start : share.groups.stop + 1]
    observations = model.data.observations[offsets[0] : offsets[-1]]
    data = PreparedData(observations, offsets - offsets[0])
    return Model(data, model.family, model.alpha, model.gamma, model.finite_topics, share)


def part_of_state(state: State, share: Share) -> State:
    """A copy of what the peer that has this share needs of a state; tables drawn for the occasion are forgotten."""
    begin = share.first_observation
    end = begin + int(share.sizes[share.groups].sum())
    own: dict[str, Any] = {name: slice(begin, end) for name in _OF_OBSERVATIONS}
    own.update({name: share.groups for name in _OF_GROUPS})
    whole = state.copy()
    parts = {each.name: getattr(whole, each.name) for each in fields(whole)}
    for name, where in own.items():
        if name in parts:
            parts[name] = parts[name][where].copy()
    if "cell_tables" in parts:
        parts.update(cell_tables=None, tables_are_new=False)
    return type(state)(**parts)


def whole_of_states(parts: list[State]) -> State:
    """The state that was shared out, as its parts are now."""
    first = parts[0]
    whole = {each.name: getattr(first, each.name) for each in fields(first)}
    for name in (*_OF_OBSERVATIONS, *_OF_GROUPS):
        if name in whole:
            whole[name] = np.concatenate([getattr(part, name) for part in parts])
    if whole.get("cell_tables") is not None:
        tables = [part.cell_tables for part in parts]  # type: ignore[attr-defined]
        whole["cell_tables"] = tables[0]._replace(
            customers=np.concatenate([each.customers for each in tables]),
            tables=np.concatenate([each.tables for each in tables]),
        )
    return type(first)(**whole)
