"""Split-merge with bugs planted in its kernel.

All are caught by comparing the law of one step with that of the naive twin, row by row (tests/kernels). A wrong
order is caught there only, and by the twin's exact stationarity (tests/naive): it shifts probabilities by less
than one in a hundred even on data made for it, which enumeration by sampling would need millions of steps to see.
The last two are wrong but consistent proposals, which leave the posterior as it is: only the rows show them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from franchise.kernels import split_merge
from franchise.moves import SplitMerge
from tests.exactness.mutation import mutated

BUGS = {
    "q forgotten": [
        (
            "log_split - log_proposal if is_split else log_proposal - log_split",
            "log_split if is_split else -log_split",
        )
    ],
    "factorials swapped": [
        ("+ math.lgamma(tables_left)", "- math.lgamma(tables_left)"),
        ("+ math.lgamma(tables_right)", "- math.lgamma(tables_right)"),
        ("- math.lgamma(tables_left + tables_right)", "+ math.lgamma(tables_left + tables_right)"),
    ],
    "gamma dropped": [("math.log(gamma)\n", "0.0\n")],
    "order of the present sides reused": [
        (
            "    for entry in range(len(order) - 1, 2, -1):\n"
            "        chosen = 2 + int(rng.random() * (entry - 1))\n"
            "        order[entry], order[chosen] = order[chosen], order[entry]\n",
            "    present = tables.topic_of_table\n"
            "    for entry in range(2, len(order)):\n"
            "        for later in range(entry + 1, len(order)):\n"
            "            one, two = present[sides.slots[order[entry]]], present[sides.slots[order[later]]]\n"
            "            if one != two and two == present[first]:\n"
            "                order[entry], order[later] = order[later], order[entry]\n",
        ),
        ("def draw_order(sides,", "def draw_order(tables, sides,"),
        ("    draw_order(sides,", "    draw_order(tables, sides,"),
    ],
    "launch looks at the present sides": [
        (
            "    for _ in range(scans):\n"
            "        allocate(statistics, observations, sides, left, right, bench, rng)\n",
            "",
        ),
        (
            "    log_proposal = allocate(",
            "    for _ in range(scans):\n"
            "        allocate(statistics, observations, sides, left, right, bench, rng)\n"
            "    log_proposal = allocate(",
        ),
    ],
    "sides weighed without their tables": [("math.log(tables_left / tables_right)", "0.0")],
    "tables never taken out in a scan": [
        (
            "        if side == left:\n"
            "            tables_left -= 1\n"
            "        elif side == right:\n"
            "            tables_right -= 1\n",
            "",
        )
    ],
}


@functools.cache
def kernel_with(bug: str):
    """The kernel with one of the bugs."""
    return mutated(split_merge, "split_or_merge", *BUGS[bug])


@dataclass(frozen=True)
class Buggy(SplitMerge):
    """The move on a kernel with a bug."""

    bug: str = ""

    @property
    def kernel(self):
        return kernel_with(self.bug)
