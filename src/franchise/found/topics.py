"""Tables of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def n_topics_table(counts: np.ndarray) -> pd.DataFrame:
    """The posterior of the number of topics, of numbers (chains, draws): in all chains, and in each."""
    import pandas as pd

    values = np.arange(int(counts.min()), int(counts.max()) + 1)
    shares = (counts[:, :, None] == values).mean(axis=1)
    by_chain = {f"chain {chain}": row for chain, row in enumerate(shares)}
    return pd.DataFrame({"n_topics": values, "probability": shares.mean(axis=0), **by_chain})
