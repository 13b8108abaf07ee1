"""Counts few of which change, as lists of what has changed (see `communicator.py`); places in a list ascend."""

from __future__ import annotations

from franchise.kernels.runtime.compile import kernel


@kernel
def list_changes(counts, own, total, places, values):
    """List where flat counts differ from `own`, and by how much; how many places there are.

    `own` becomes what `counts` are, and these become `total`, all in one pass over memory. Lists have room for all.
    """
    found = 0
    for place in range(len(counts)):
        change = counts[place] - own[place]
        if change != 0:
            places[found] = place
            values[found] = change
            own[place] = counts[place]
            found += 1
        counts[place] = total[place]
    return found


@kernel
def list_nonzero(counts, places, values):
    """List what is not zero of flat counts: where, and how much; how many there are. Lists have room for all."""
    found = 0
    for place in range(len(counts)):
        if counts[place] != 0:
            places[found] = place
            values[found] = counts[place]
            found += 1
    return found


@kernel
def merge_changes(places, values, other_places, other_values, merged_places, merged_values):
    """Two lists as one, in which changes of the same place are added up; how long it is."""
    one = other = found = 0
    while one < len(places) or other < len(other_places):
        if other == len(other_places) or (one < len(places) and places[one] < other_places[other]):
            merged_places[found], merged_values[found] = places[one], values[one]
            one += 1
        elif one == len(places) or other_places[other] < places[one]:
            merged_places[found], merged_values[found] = other_places[other], other_values[other]
            other += 1
        else:
            merged_places[found] = places[one]
            merged_values[found] = values[one] + other_values[other]
            one += 1
            other += 1
        found += 1
    return found


@kernel
def add_changes(counts, places, changes):
    """Add listed changes to flat counts."""
    for number in range(len(places)):
        counts[places[number]] += changes[number]
