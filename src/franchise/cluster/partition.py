"""A model and the arrays of a state shared out over peers (see `parallel/communicator.py`).

What is of topics every peer has; what is of observations goes to the peer that holds them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from franchise.data.sharded.sharded_corpus import ShardedWords
from franchise.model.hdp_model import Model, Partition
from franchise.model.prepared_data import PreparedData, frozen

_OF_OBSERVATIONS = ("topic_of_observation", "table_of_observation", "topic_of_table", "subtopics_sides")
_OF_CELLS = ("customers_of_cell", "tables_of_cell")

PER_OBSERVATION = (*_OF_OBSERVATIONS, *_OF_CELLS)
"""The arrays of a state (`storage/state_arrays.py`) of which each peer has only those of its observations."""


def part_of_model(model: Model, partition: Partition) -> Model:
    """The model with only the observations of a share."""
    offsets = model.data.offsets[partition.groups.start : partition.groups.stop + 1]
    if model.words is not None:
        of_words = (offsets[-1] - offsets[0]) / model.data.n_observations
        part = model.words.of_groups(partition.groups.start, partition.groups.stop, of_words)
    else:
        part = frozen(
            model.family.take_rows(model.data.observations, slice(int(offsets[0]), int(offsets[-1])))
        )
    return replace(
        model, data=PreparedData(part, frozen(offsets - offsets[0])), partition=partition, words=None
    )


def without_data(model: Model) -> Model:
    """The model without observations that others can read for themselves."""
    if model.words is None:
        return model
    return replace(model, data=model.data._replace(observations=model.words), words=None)


def materialised(model: Model) -> Model:
    """The model with observations that can be seen: those that are in shards are read."""
    words = model.data.observations
    if not isinstance(words, ShardedWords):
        return model
    return replace(model, data=model.data._replace(observations=frozen(words.read())))


def cut_arrays(arrays: dict[str, np.ndarray], begin: int, end: int) -> dict[str, np.ndarray]:
    """The arrays of a state with what is of the observations from `begin` to `end` only, whole groups."""
    part = dict(arrays)
    for name in _OF_OBSERVATIONS:
        if name in part:
            part[name] = part[name][begin:end]
    if "customers_of_cell" in part:  # cells come group by group, as observations do
        ends = np.concatenate([[0], np.cumsum(part["customers_of_cell"], dtype=np.int64)])
        first, last = np.searchsorted(ends, [begin, end])
        for name in _OF_CELLS:
            part[name] = part[name][first:last]
    return part
