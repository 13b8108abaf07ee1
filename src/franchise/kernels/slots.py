"""Slots: where topics and tables live in flat arrays.

A topic lives in a slot of every per-topic array.  A slot whose topic has no observations is vacant and may
be taken by the next topic that opens, so opening and closing never moves another topic.
"""

from __future__ import annotations

from franchise.kernels.compile import shared_helper


@shared_helper
def first_vacant(sizes, begin):
    """First slot from `begin` on whose size is zero; ``len(sizes)`` if there is none."""
    slot = begin
    while slot < len(sizes) and sizes[slot] > 0:
        slot += 1
    return slot


@shared_helper
def slots_in_use(sizes):
    """One more than the last slot whose size is not zero."""
    limit = len(sizes)
    while limit > 0 and sizes[limit - 1] == 0:
        limit -= 1
    return limit


@shared_helper
def group_of(offsets, index):
    """The group whose observations include `index`, by bisection; ``len(offsets) - 1`` if it is past the last."""
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if offsets[middle + 1] <= index:
            low = middle + 1
        else:
            high = middle
    return low


@shared_helper
def enlist(alive, count, topic):
    """Put a topic into the ascending list of those alive in a document, ``alive[:count]``; the new count.

    Ascending, so that a draw does not depend on the order in which topics came and went.
    """
    position = count
    while position > 0 and alive[position - 1] > topic:
        alive[position] = alive[position - 1]
        position -= 1
    alive[position] = topic
    return count + 1


@shared_helper
def strike_out(alive, count, topic):
    """Take a topic out of the list; the new count."""
    position = 0
    while alive[position] != topic:
        position += 1
    for later in range(position, count - 1):
        alive[later] = alive[later + 1]
    return count - 1
