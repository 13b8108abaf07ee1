"""How far each set of moves is from the posterior, by enumeration: five or six observations, all partitions.

The paper says that the restricted sampler "is guaranteed to converge to the true HDP model when combined with any
split move" (section 4), and that the moves keep detailed balance but for approximations "backed by intuition"
(section 6.2).  On a tiny data set the posterior is known exactly, so this can be counted
(docs/theory/subcluster.md#sec-subcluster-bias).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from franchise.families.categorical import Categorical
from franchise_studies.chang_fisher.following import remembered
from franchise_studies.chang_fisher.samplers import (
    BALANCED,
    DETERMINISTIC,
    DIRECT,
    GLOBAL,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    REPAIRED,
    RESTRICTED,
    SAMPLERS,
    SUBCLUSTER,
)
from franchise_studies.long_run import count_visits

if TYPE_CHECKING:
    import pandas as pd

COMPARED = (
    RESTRICTED,
    LOCAL,
    DETERMINISTIC,
    GLOBAL,
    BALANCED,
    SUBCLUSTER,
    LOCAL_BALANCED,
    REPAIRED,
    PARALLEL,
    DIRECT,
)


class Tiny(NamedTuple):
    """A data set that can be enumerated."""

    words: tuple[int, ...]
    groups: tuple[int, ...]
    prior: float  # eta
    alpha: float
    gamma: float


DATA = {
    "six words (0 0 1 | 1 2 2)": Tiny((0, 0, 1, 1, 2, 2), (0, 0, 0, 1, 1, 1), 0.5, 1.0, 1.0),
    "five words (0 0 1 | 1 2)": Tiny((0, 0, 1, 1, 2), (0, 0, 0, 1, 1), 0.2, 0.7, 1.3),
}


def tasks() -> list[tuple[str, str]]:
    """All pairs of a data set and a sampler, by name."""
    return [(data, sampler) for data in DATA for sampler in COMPARED]


def measure(task: tuple[str, str], draws: int, chains: Path) -> dict[str, Any]:
    """Total variation and mean number of topics of a long run; kept, so that it is done once."""
    data, sampler = task
    place = f"{list(DATA).index(data)}-{COMPARED.index(sampler)}"
    return dict(remembered(chains / "bias" / f"{place}.json", lambda: _measure(data, sampler, draws)))


def _measure(data: str, sampler: str, draws: int) -> dict[str, Any]:
    tiny = DATA[data]
    visits = count_visits(
        SAMPLERS[sampler],
        Categorical(max(tiny.words) + 1, prior=tiny.prior),
        list(tiny.words),
        list(tiny.groups),
        alpha=tiny.alpha,
        gamma=tiny.gamma,
        draws=draws,
    )
    return {"data": data, "sampler": sampler, "draws": draws, **visits._asdict()}


def table_of_bias(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One row a data set and sampler."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    return pd.DataFrame(
        {
            "data": frame["data"],
            "sampler": frame["sampler"],
            "total variation": frame["distance"],
            "as many independent draws": frame["independent"],
            "effective number": frame["effective_size"],
            "as many independent draws as that": frame["expected"],
            "hardly ever exceeded": frame["threshold"],
            "mean number of topics": frame["topics"],
            "of the posterior": frame["exact_topics"],
            "beyond chance": [_yes(is_biased(row)) for row in rows],
        }
    )


def is_biased(row: dict[str, Any]) -> bool:
    """Whether a run is further from the posterior than independent draws of its effective number ever are."""
    return bool(row["distance"] > row["threshold"])


def _yes(value: bool) -> str:
    return "yes" if value else "no"
