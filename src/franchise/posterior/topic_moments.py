"""Means and covariances of consensus topics of measurements and counts, with credible intervals.

In every stored draw the observations of a consensus topic give its posterior, from which parameters are drawn: a
mean and a covariance.  So these draws have both uncertainties, that of the parameters given the labels and that of
the labels.  Estimates are means over the draws that have the topic, intervals their quantiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.posterior.intervals import draw_quantiles, ends_of

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.hdp_posterior import HDPPosterior

ENOUGH = 4000
"""Draws of parameters, in all: the Monte Carlo error of a mean is then 1.6% of the posterior standard deviation."""

MOST_NUMBERS = 2**25
"""Numbers in all draws of parameters, where a draw of parameters for each stored draw is fewer."""


class TopicMoments(NamedTuple):
    """Means and covariances of the observations of T consensus topics, in D dimensions.

    `HDPPosterior.topic_moments` returns it.

    Parameters
    ----------
    columns : list of str
        Names of the dimensions.
    means : float64 array (T, D)
        Posterior means of the means of topics.
    means_interval : float64 array (2, T, D)
        Ends of their credible intervals.
    covariances : float64 array, or None
        Posterior means of covariances (T, D, D), or of variances: (T, D) where dimensions are independent, (T,)
        where they have the same; None for counts.
    covariances_interval : float64 array, or None
        Ends of their credible intervals; the first axis has length 2.

    Examples
    --------
    >>> moments = clusters.topic_moments()
    >>> moments.means.round(0).tolist()
    [[30.0], [3.0]]
    """

    columns: list[str]
    means: np.ndarray
    means_interval: np.ndarray
    covariances: np.ndarray | None
    covariances_interval: np.ndarray | None

    def table(self) -> pd.DataFrame:
        """Return the means as a table.

        Returns
        -------
        DataFrame
            One row per topic and column of the observations: `mean`, `low` and `high`.

        Examples
        --------
        >>> clusters.topic_moments().table().columns.tolist()
        ['mean', 'low', 'high']
        """
        import pandas as pd

        index = pd.MultiIndex.from_product([range(len(self.means)), self.columns], names=["topic", "column"])
        low, high = self.means_interval
        values = {"mean": self.means.ravel(), "low": low.ravel(), "high": high.ravel()}
        return pd.DataFrame(values, index=index)


def moments_of(posterior: HDPPosterior, level: float) -> TopicMoments:
    """Return the moments of the consensus topics; InputError if the family has none."""
    family: Any = posterior.family
    if Ability.HAS_MOMENTS not in family.abilities:
        raise InputError(
            f"topics of the family {type(family).__name__} have no means and covariances. Use topics(), or "
            "component_probabilities() for families of categories."
        )
    ends = ends_of(level)
    means, covariances = _drawn(posterior)
    names = getattr(posterior.data, "columns", None) or [str(axis) for axis in range(means.shape[-1])]
    appears = posterior.consensus_topics.appears
    found = TopicMoments(list(names), *_summary(means, appears, ends), None, None)
    if covariances is None:
        return found
    covariance, interval = _summary(covariances, appears, ends)
    return found._replace(covariances=covariance, covariances_interval=interval)


def _drawn(posterior: HDPPosterior) -> tuple[np.ndarray, np.ndarray | None]:
    """Return drawn means (draws, parts, T, D), and covariances of the topics of all draws."""
    consensus, family = posterior.consensus_topics, posterior.family
    observations, topics = posterior.model.memory_mapped.data.observations, consensus.topic_count
    rng = np.random.Generator(np.random.Philox(posterior.seed))
    stored, parts = len(consensus.draws), 0
    drawn: list[list[tuple[np.ndarray, np.ndarray | None]]] = []
    for labels in consensus.labelled():
        statistics, sizes = family.empty_statistics(topics), np.zeros(topics, np.int64)
        family.recount(statistics, observations, labels.astype(np.int32), sizes)
        own = [family.moments(family.draw_parameters(statistics, topics, rng))]
        if parts == 0:
            numbers = stored * sum(part.size for part in own[0] if part is not None)
            parts = max(1, min(-(-ENOUGH // stored), MOST_NUMBERS // max(1, numbers)))
        for _ in range(parts - 1):
            own.append(family.moments(family.draw_parameters(statistics, topics, rng)))
        drawn.append(own)
    means = np.array([[mean for mean, _ in own] for own in drawn])
    if drawn[0][0][1] is None:
        return means, None
    return means, np.array([[covariance for _, covariance in own] for own in drawn])


def _summary(draws: np.ndarray, appears: np.ndarray, ends: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return means and intervals over the draws that have a topic; NaN for a topic that no draw has."""
    shape = draws.shape[2:]
    mean, interval = np.full(shape, np.nan), np.full((2, *shape), np.nan)
    for topic in np.flatnonzero(appears.any(axis=0)):
        own = draws[appears[:, topic], :, topic]
        own = own.reshape(-1, *shape[1:])
        mean[topic] = own.mean(axis=0)
        interval[:, topic] = draw_quantiles(own, ends)
    return mean, interval
