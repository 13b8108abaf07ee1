"""Tables of all groups for the sweep over tables: seating, counting, listing, and back to topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.block_sweep import add_cell
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import next_block
from franchise.kernels.runtime.compile import helper, kernel

STAYS = -2
"""The mark of a table that proposes the topic it has."""


class SeatedTables(NamedTuple):
    """Tables of all groups; table t of a group has the slot ``offsets[group] + t``."""

    members: np.ndarray  # int32 or int64 (N,): the observations of each group, table by table
    topics: np.ndarray  # int32 (N,): topic by table slot
    sizes: np.ndarray  # int32 (N,): observations by table slot
    counts: np.ndarray  # int32 (J,): tables of each group


class SeatingScratch(NamedTuple):
    """What one thread needs to seat the observations of a group."""

    table_of: np.ndarray  # int32, by observation of the group
    next_table: np.ndarray  # int32, by table: the next older one with the same topic; -1: none
    latest_table: np.ndarray  # int32, by topic: the youngest; -1: none
    customers: np.ndarray  # int64, by topic


class Proposals(NamedTuple):
    """Proposed topics by table slot."""

    topics: np.ndarray  # int32: a topic, OTHER or STAYS
    log_ratios: np.ndarray  # float64: log of w of the present topic less that of the proposed one


class Candidates(NamedTuple):
    """Tables that may change their topic, of all processes."""

    present: np.ndarray  # int32 (T,): the topics they have
    proposed: np.ndarray  # int32 (T,)
    log_ratios: np.ndarray  # float64 (T,)
    sizes: np.ndarray  # int32 (T,)
    words: np.ndarray  # int32: the categories of the first table, of the second, ...


# --- seating -------------------------------------------------------------------------------------------------


@kernel
def seat_cells(
    queue, labels, offsets, parents, concentrations, rng_states, seated, scratch, tables_per_topic
):
    """Seat the observations of every cell by a Chinese restaurant process.

    docs/theory/views.md#eq-weights-to-seating.

    `concentrations` are alpha beta_k by inner node and slot, `parents` the inner nodes above the groups.
    `tables_per_topic` is added to.
    """
    block = next_block(queue)
    while block >= 0:
        own = rng_states[block].copy()
        for group in range(queue.block_bounds[block], queue.block_bounds[block + 1]):
            begin, end = offsets[group], offsets[group + 1]
            prior = concentrations[parents[group]]
            count = seat_group(labels, begin, end, prior, own, seated, scratch)
            seated.counts[group] = count
            for slot in range(begin, begin + count):
                tables_per_topic[seated.topics[slot]] += 1
            list_by_table(begin, end, count, seated, scratch)
        block = next_block(queue)


@helper
def seat_group(labels, begin, end, prior, rng_state, seated, scratch):
    """Seat the observations of one group; how many tables they have."""
    tables = 0
    for index in range(begin, end):
        topic = labels[index]
        target = next_uniform(rng_state) * (scratch.customers[topic] + prior[topic])
        if target < scratch.customers[topic]:
            table = scratch.latest_table[topic]
            target -= seated.sizes[begin + table]
            while target >= 0.0 and scratch.next_table[table] >= 0:
                table = scratch.next_table[table]
                target -= seated.sizes[begin + table]
        else:
            table = tables
            tables += 1
            scratch.next_table[table] = scratch.latest_table[topic]
            scratch.latest_table[topic] = table
            seated.topics[begin + table] = topic
            seated.sizes[begin + table] = 0
        seated.sizes[begin + table] += 1
        scratch.customers[topic] += 1
        scratch.table_of[index - begin] = table
    return tables


@helper
def list_by_table(begin, end, count, seated, scratch):
    """List the observations of a group table by table, and forget its customers."""
    place = begin
    for table in range(count):
        topic = seated.topics[begin + table]
        scratch.latest_table[topic] = -1
        scratch.customers[topic] = 0
        scratch.next_table[table] = place - begin  # from here on: where its next member goes
        place += seated.sizes[begin + table]
    for index in range(begin, end):
        table = scratch.table_of[index - begin]
        seated.members[begin + scratch.next_table[table]] = index
        scratch.next_table[table] += 1


# --- the tables of a fold ------------------------------------------------------------------------------------


@kernel
def count_fold(first, folds, observations, offsets, seated, counts, sizes, tables):
    """Count observations by category and topic, observations and tables by topic, of every `folds`-th group."""
    for group in range(first, len(offsets) - 1, folds):
        place = offsets[group]
        for slot in range(place, place + seated.counts[group]):
            topic, size = seated.topics[slot], seated.sizes[slot]
            for member in seated.members[place : place + size]:
                counts[observations[member], topic] += 1
            sizes[topic] += size
            tables[topic] += 1
            place += size


@kernel
def count_candidates(first, folds, offsets, seated, proposals):
    """Number of tables of a fold that may change their topic, and of their observations."""
    tables, words = 0, 0
    for group in range(first, len(offsets) - 1, folds):
        for slot in range(offsets[group], offsets[group] + seated.counts[group]):
            if proposals.topics[slot] != STAYS:
                tables += 1
                words += seated.sizes[slot]
    return tables, words


@kernel
def list_candidates(first, folds, observations, offsets, seated, proposals, out):
    """List the tables of a fold that may change their topic."""
    table, word = 0, 0
    for group in range(first, len(offsets) - 1, folds):
        place = offsets[group]
        for slot in range(place, place + seated.counts[group]):
            size = seated.sizes[slot]
            if proposals.topics[slot] != STAYS:
                out.present[table] = seated.topics[slot]
                out.proposed[table] = proposals.topics[slot]
                out.log_ratios[table] = proposals.log_ratios[slot]
                out.sizes[table] = size
                table += 1
                for member in seated.members[place : place + size]:
                    out.words[word] = observations[member]
                    word += 1
            place += size


@kernel
def take_topics(first, folds, offsets, seated, proposals, topics):
    """Give the candidates of a fold the topics that they have now."""
    table = 0
    for group in range(first, len(offsets) - 1, folds):
        for slot in range(offsets[group], offsets[group] + seated.counts[group]):
            if proposals.topics[slot] != STAYS:
                seated.topics[slot] = topics[table]
                table += 1


# --- back to topics of observations --------------------------------------------------------------------------


@kernel
def take_labels(queue, offsets, seated, labels, cells, places):
    """Give the observations the topics of their tables, and list customers and tables of every cell.

    `places` has -1 for every topic, and gets them back.
    """
    block = next_block(queue)
    while block >= 0:
        cells.filled[0] = cells.begins[block]
        for group in range(queue.block_bounds[block], queue.block_bounds[block + 1]):
            place = begin = offsets[group]
            for slot in range(begin, begin + seated.counts[group]):
                topic, size = np.int64(seated.topics[slot]), seated.sizes[slot]
                if places[topic] < 0:
                    places[topic] = cells.filled[0]
                    add_cell(cells, topic, 0, 0)
                add_to_cell(cells, places[topic], topic, size)
                for member in seated.members[place : place + size]:
                    labels[member] = topic
                place += size
            for slot in range(begin, begin + seated.counts[group]):
                places[seated.topics[slot]] = -1
        cells.ends[block] = cells.filled[0]
        block = next_block(queue)


@helper
def add_to_cell(cells, place, topic, size):
    """Add a table of this size to a cell that is listed."""
    cells.customers[place] += size
    cells.tables[place] += 1
    cells.customers_per_topic[topic] += size
    cells.tables_per_topic[topic] += 1
