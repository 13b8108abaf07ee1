"""Parameters of topics for moves that draw them all at once, by whatever is quickest for the family."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.families.categorical import CategoricalRows
from franchise.moves.blocks import Work
from franchise.moves.documents import is_sparse
from franchise.moves.gammas import Gammas


def draw_parameters(work: Work, statistics: Any, topics: np.ndarray, limit: int, stream: int) -> Any:
    """phi_k of the topics listed, all below the limit, given their observations; from the prior if there are none.

    Where there are many observations of categories, blocks of categories are drawn side by side. `stream` is the
    first of the streams that are used, one for each block and one more.
    """
    rng = work.streams.generator(stream)
    if not is_sparse(None, work.model):
        return work.model.family.draw_parameters(statistics, limit, rng)
    gammas = Gammas(
        statistics,
        topics,
        lambda blocks: work.streams.words_of_blocks(stream + 1, blocks).reshape(blocks, 4),
    )
    gammas.draw(work)
    gammas.redraw_prior(topics[statistics.totals[topics] == 0.0], rng)
    gammas.exchange(work)
    with np.errstate(divide="ignore", invalid="ignore"):
        probabilities = gammas.rows[:, :limit] / gammas.totals[:limit].astype(np.float32)
        probabilities = np.nan_to_num(probabilities, nan=0.0, copy=False)
        return CategoricalRows(probabilities, np.log(probabilities.astype(np.float64)))


def joined(*parts: tuple[Any, np.ndarray]) -> Any:
    """The parameters of some topics, one after the other: parameters, and which of their topics.

    What is by topic is told by its length; every part must have at least two topics.
    """
    first = parts[0][0]
    if isinstance(first, CategoricalRows):
        return CategoricalRows(
            *(np.concatenate([rows[:, which] for rows, which in pairs], axis=1) for pairs in _fields(parts))
        )
    lengths = [max(len(field) for field in parameters) for parameters, _ in parts]
    return type(first)(
        *(
            np.concatenate([rows[which] for rows, which in pairs])
            if all(len(rows) == length for (rows, _), length in zip(pairs, lengths, strict=True))
            else pairs[0][0]
            for pairs in _fields(parts)
        )
    )


def _fields(parts: tuple[tuple[Any, np.ndarray], ...]) -> Any:
    """For each field of the parameters, its arrays in all parts, with the topics asked for."""
    return zip(*([(rows, which) for rows in parameters] for parameters, which in parts), strict=True)
