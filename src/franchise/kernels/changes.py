"""Counts most of which are zero, as lists of the others (see `peers.py`)."""

from __future__ import annotations

from franchise.kernels.compile import kernel


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
def add_changes(counts, places, changes):
    """Add listed changes to flat counts."""
    for number in range(len(places)):
        counts[places[number]] += changes[number]
