"""Counts of ants in three made-up studies, printed by Frank et al.; see ORIGIN.md."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING

from franchise.data.groups import Groups

if TYPE_CHECKING:
    import pandas as pd


def load_ants() -> Groups:
    """184 counts in 12 groups (study, condition): 3 studies of 4 conditions, of 20, 16 and 10 trials each.

    Which groups share a rate is the question: all three controls were made with the same one, and so were the
    two groups where only temperature was changed.

    Returns
    -------
    Groups
        `group_names` are pairs such as ("altitude and temperature", "control"); `metadata` has "study" and
        "condition" of each group.
    """
    rows = _rows()
    labels = [(row["study"], row["condition"]) for row in rows]
    studies, conditions = zip(*dict.fromkeys(labels), strict=True)
    return Groups(
        [int(row["count"]) for row in rows], labels, metadata={"study": studies, "condition": conditions}
    )


def ants_table() -> pd.DataFrame:
    """One row a trial: study, condition, trial, count."""
    import pandas as pd

    return pd.DataFrame(_rows()).astype({"trial": int, "count": int})


def _rows() -> list[dict[str, str]]:
    table = files(__package__).joinpath("ants.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(table.splitlines()))
