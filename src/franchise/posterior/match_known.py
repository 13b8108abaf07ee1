"""Consensus topics matched to reference signatures by cosine: one to one, the best of all, and sums of two.

Let two references have the directions u and v (unit vectors) with the cosine c, and let a topic have the cosines p
and q to them. The sum of both that is nearest to the topic is

    a u + b v,   a = p - c q,  b = q - c p,   with the cosine sqrt((p^2 + q^2 - 2 c p q) / (1 - c^2))

if a and b are positive; otherwise one reference is best. So all pairs are compared at once.  The references are
chosen by the posterior mean of the topic.  Intervals are of the cosines of these references to the topic in the
draws that have it, with words drawn from their Dirichlet distribution given the draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.reference_table import References, read_references
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.intervals import share_interval
from franchise.posterior.topic_means import draw_word_weights
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_share

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

_PARALLEL = 1e-9
"""Two references with 1 - c^2 below it are the same, and have no sums."""


class ReferenceTables(PosteriorContract[DrawT]):
    """Consensus topics beside reference signatures."""

    def match_known(
        self, table: Any, *, min_cosine: float = 0.8, min_gain: float = 0.02, level: float = 0.95
    ) -> pd.DataFrame:
        """Return the reference signature that each consensus topic matches, by cosine similarity.

        Channels are aligned by name, in any usual spelling.  References are compared with the posterior mean of the
        topic.  Intervals are over the draws that have the topic: single draws vary more than their mean, so the
        cosine of a topic with few observations can be above its interval.

        Parameters
        ----------
        table : DataFrame or path
            Signatures in columns and channels in rows, as COSMIC publishes them, or the other way round.  Sums may
            differ from 1 by 5%.  The channels are the vocabulary of the corpus.
        min_cosine : float, default 0.8
            The least cosine of a match in the column `reference`.
        min_gain : float, default 0.02
            A sum of two references is shown if its cosine is so much larger than that of the best single one.
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        DataFrame
            One row per topic: `label` and `share`; the `reference` that is matched one to one, such that the sum of
            all cosines is largest (missing if none is left), with `cosine`, `low` and `high`; the `best` reference
            of all, with `best_cosine`, `best_low` and `best_high`; and the best sum of two references, `pair`, with
            `weight`, the proportion of the first, `weight_low` and `weight_high`, and `pair_cosine`, `pair_low`
            and `pair_high`.  These are missing unless the sum is better than one.

        Raises
        ------
        InputError
            If topics have no words, or the table has other channels than the data.

        Examples
        --------
        >>> import pandas as pd
        >>> probabilities = posterior.component_probabilities()
        >>> references = pd.DataFrame(probabilities.T, index=corpus.vocabulary, columns=["sea", "bakery"])
        >>> posterior.match_known(references)["reference"].tolist()
        ['sea', 'bakery']
        """
        if not self.has_words:
            raise InputError(
                "match_known compares words or channels, which topics of this posterior do not have. Fit a Corpus, "
                "such as Corpus.from_matrix(counts)."
            )
        consensus = self.consensus_topics
        consensus.check_any()
        least, gain = check_share("min_cosine", min_cosine), check_share("min_gain", min_gain)
        references = read_references(table, consensus.vocabulary)
        return _table(consensus, references, matched(consensus, references, least, gain), level)


class Matches(NamedTuple):
    """The references of every topic, int64 (T,) each, and their cosines."""

    one_to_one: np.ndarray
    """-1 for none"""
    best: np.ndarray
    first: np.ndarray
    """of the best sum of two, the larger; -1 if one reference is as good"""
    second: np.ndarray
    cosines: np.ndarray
    """float64 (T, references): of the posterior means"""


def matched(consensus: Consensus, references: References, least: float, gain: float) -> Matches:
    """Return the references of every topic."""
    from scipy.optimize import linear_sum_assignment

    unit = _unit(references.probabilities)
    cosines = _unit(consensus.word_probabilities()) @ unit.T
    rows, columns = linear_sum_assignment(np.where(cosines >= least, cosines, 0.0), maximize=True)
    one_to_one = np.full(len(cosines), NONE)
    close = cosines[rows, columns] >= least
    one_to_one[rows[close]] = columns[close]
    first, second = _best_pairs(cosines, references, gain)
    return Matches(one_to_one, cosines.argmax(axis=1), first, second, cosines)


def _best_pairs(cosines: np.ndarray, references: References, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the two references of the best sum for every topic, the larger first; -1 if it gains too little."""
    between = _unit(references.probabilities) @ _unit(references.probabilities).T
    lengths = np.linalg.norm(references.probabilities, axis=1)
    first = np.full(len(cosines), NONE)
    second = first.copy()
    for topic, row in enumerate(cosines):
        cosine, weight = pair_fit(row[:, None], row[None, :], between, lengths[:, None] / lengths[None, :])
        one, other = np.unravel_index(cosine.argmax(), cosine.shape)
        if cosine[one, other] >= row.max() + gain:
            first[topic], second[topic] = (one, other) if weight[one, other] >= 0.5 else (other, one)
    return first, second


def pair_fit(
    one: np.ndarray, other: np.ndarray, between: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest cosine of sums of two references to a topic, and the proportion of the first in the sum.

    `one` and `other` are the cosines of the references to the topic, `between` that of one to the other, and
    `lengths` the length of the first divided by that of the second.
    """
    rest = 1.0 - between**2
    a, b = one - between * other, other - between * one
    inside = (rest > _PARALLEL) & (a > 0.0) & (b > 0.0)
    square = one**2 + other**2 - 2.0 * between * one * other
    cosine = np.where(
        inside, np.sqrt(np.maximum(square, 0.0) / np.where(inside, rest, 1.0)), np.maximum(one, other)
    )
    share = np.where(inside, a / np.where(inside, a + b * lengths, 1.0), (one >= other).astype(np.float64))
    return np.minimum(cosine, 1.0), share


# --- over draws ---------------------------------------------------------------------------------------------


def drawn_cosines(consensus: Consensus, references: References) -> np.ndarray:
    """Return the cosines of all topics to all references in every draw, float64 (draws, T, references).

    NaN where a draw lacks a topic.
    """
    unit = _unit(references.probabilities)
    # Words are drawn from block 2 of the stream; regressions use blocks 0 and 1.
    rng = Streams(consensus.posterior.seed, 0, 0, STREAMS.effects).generator(2)
    found = np.full((len(consensus.draws), consensus.topic_count, len(unit)), np.nan)
    for place, (draw, match) in enumerate(consensus.matched_draws):
        own = np.flatnonzero(consensus.appears[place])
        weights = draw_word_weights(consensus, own, draw, match)
        found[place, own] = _unit(np.exp(draw_dirichlets(weights, rng))) @ unit.T
    return found


def _table(consensus: Consensus, references: References, matches: Matches, level: float) -> pd.DataFrame:
    import pandas as pd

    names = np.array([*references.names, None], dtype=object)  # the last place is that of NONE
    drawn = drawn_cosines(consensus, references)
    columns: dict[str, Any] = {"label": consensus.labels, "share": consensus.shares.mean(axis=0)}
    for prefix, chosen in (("", matches.one_to_one), ("best_", matches.best)):
        columns[prefix.rstrip("_") or "reference"] = names[chosen]
        columns[f"{prefix}cosine"] = _of_each(matches.cosines, chosen)
        columns[f"{prefix}low"], columns[f"{prefix}high"] = _intervals(_chosen(drawn, chosen), level)
    columns.update(_pairs(references, matches, drawn, level))
    return pd.DataFrame(columns, index=pd.RangeIndex(consensus.topic_count, name="topic"))


def _pairs(references: References, matches: Matches, drawn: np.ndarray, level: float) -> dict[str, Any]:
    first, second = matches.first, matches.second
    unit = _unit(references.probabilities)
    lengths = np.linalg.norm(references.probabilities, axis=1)
    fixed = (unit[first] * unit[second]).sum(axis=1), lengths[first] / lengths[second]
    cosine, weight = pair_fit(_of_each(matches.cosines, first), _of_each(matches.cosines, second), *fixed)
    cosines, weights = pair_fit(_chosen(drawn, first), _chosen(drawn, second), *fixed)
    missing = first == NONE
    for values in (cosine, weight, cosines.T, weights.T):
        values[missing] = np.nan
    cosines[np.isnan(_chosen(drawn, first))] = np.nan
    weights[np.isnan(cosines)] = np.nan
    named = [
        None if one == NONE else f"{references.names[one]} + {references.names[other]}"
        for one, other in zip(first, second, strict=True)
    ]
    pairs: dict[str, Any] = {"pair": np.array(named, dtype=object), "weight": weight}
    pairs["weight_low"], pairs["weight_high"] = _intervals(weights, level)
    pairs["pair_cosine"] = cosine
    pairs["pair_low"], pairs["pair_high"] = _intervals(cosines, level)
    return pairs


def _of_each(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return one entry of each row; NaN for NONE."""
    return np.where(chosen == NONE, np.nan, values[np.arange(len(values)), chosen])


def _chosen(drawn: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the cosines to one reference of each topic, float64 (draws, T); NaN for NONE."""
    return np.where(chosen == NONE, np.nan, drawn[:, np.arange(drawn.shape[1]), chosen])


def _intervals(drawn: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each column, from the draws that are there."""
    ends = np.full((2, drawn.shape[1]), np.nan)
    for topic, values in enumerate(drawn.T):
        known = values[~np.isnan(values)]
        if len(known):
            ends[:, topic] = share_interval(known, level)
    return ends[0], ends[1]


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
