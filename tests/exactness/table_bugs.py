"""Bugs planted in the kernels that draw the topics of whole tables."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import NamedTuple
from unittest import mock

from franchise.kernels import table_gibbs, table_sweep, table_sweep_seats
from tests.exactness.mutation import mutated


class TableBug(NamedTuple):
    """A piece of a kernel that is replaced by another."""

    wrong: str
    module: ModuleType
    kernel: str
    old: str
    new: str

    def plant(self) -> AbstractContextManager:
        """Plant it for a while."""
        wrong = mutated(self.module, self.kernel, (self.old, self.new))
        return mock.patch.object(self.module, self.kernel, wrong)


GIBBS = {
    "a new topic without gamma": TableBug(
        "The weight of a new topic is 1 in place of gamma.",
        table_gibbs,
        "sweep_tables",
        "prior_weights[vacant] = gamma",
        "prior_weights[vacant] = 1.0",
    ),
    "the table itself is counted": TableBug(
        "A table is counted in its topic while it chooses.",
        table_gibbs,
        "sweep_tables",
        "            tables[old] -= 1\n",
        "",
    ),
    "topics by their observations": TableBug(
        "Topics are weighted by their observations, not by their tables.",
        table_gibbs,
        "sweep_tables",
        "prior_weights[topic] = tables[topic]",
        "prior_weights[topic] = sizes[topic]",
    ),
}

ACCEPTANCE = {
    name: TableBug(wrong, table_sweep, "accept_topics", old, new)
    for name, wrong, old, new in (
        (
            "the ratio of the proposals is forgotten",
            "The acceptance forgets the proposals' probabilities.",
            " + candidates.log_ratios[number]",
            "",
        ),
        (
            "a new topic accepted without gamma",
            "The acceptance weighs a new topic without gamma.",
            "math.log(gamma) - log_rising(",
            "-log_rising(",
        ),
        (
            "the accepted table counts itself",
            "A table is counted in its topic while it is accepted or rejected.",
            "tables[present] - 1, -len(words)",
            "tables[present], -len(words)",
        ),
        (
            "its own words are counted",
            "The words of a table count in its topic while it is accepted or rejected.",
            "else -1 - repeated",
            "else -repeated",
        ),
        (
            "others count the table itself",
            "A table is counted among the topics that have no tables outside the fold.",
            "franchise.tables[topic] - own",
            "franchise.tables[topic]",
        ),
    )
}

FOLDS = {
    "proposals from the counts of their own fold": TableBug(
        "Proposals come from counts that change while the fold is swept: the trap of the theory page.",
        table_sweep_seats,
        "count_fold",
        'of every `folds`-th group."""\n    for group in range(first, len(offsets) - 1, folds):',
        'of every `folds`-th group."""\n    for group in range(0):',
    ),
}

BUGS = {
    (shows, name): bug
    for shows, bugs in {"Gibbs": GIBBS, "sweep": ACCEPTANCE, "one fold": FOLDS}.items()
    for name, bug in bugs.items()
}
"""By the check that sees them (`test_table_moves.WHERE_BUGS_SHOW`) and by name."""

QUICK = [
    ("Gibbs", "a new topic without gamma"),
    ("sweep", "the accepted table counts itself"),
    ("one fold", "proposals from the counts of their own fold"),
]
"""Those that `make test` plants; each takes seconds to compile."""
