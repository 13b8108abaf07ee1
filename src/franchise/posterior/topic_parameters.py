"""Parameters of consensus topics, such as rates of counts, with credible intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.families.bernoulli import BernoulliParameters
from franchise.families.dirichlet_prior import CategoricalParameters
from franchise.families.gaussian_diagonal import GaussianDiagonalParameters
from franchise.families.gaussian_full import GaussianFullParameters
from franchise.families.gaussian_independent import GaussianIndependentParameters
from franchise.families.gaussian_known_precision import GaussianKnownPrecisionParameters
from franchise.families.multinomial import MultinomialParameters
from franchise.kernels.random.dirichlet import seeded_generator
from franchise.posterior import predictive
from franchise.posterior.intervals import draw_quantiles, ends_of

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import HDPPosterior

NAMED: dict[type, Callable[[Any], dict[str, np.ndarray]]] = {
    BernoulliParameters: lambda drawn: {"probability": np.exp(drawn.log_ones)},
    CategoricalParameters: lambda drawn: {"probability": np.exp(drawn.log_probabilities)},
    MultinomialParameters: lambda drawn: {"probability": np.exp(drawn.log_probabilities)},
    GaussianDiagonalParameters: lambda drawn: {"mean": drawn.means, "sd": drawn.precisions**-0.5},
    GaussianIndependentParameters: lambda drawn: {
        "mean": drawn.means,
        "sd": np.exp(-drawn.log_precisions / 2),
    },
    GaussianFullParameters: lambda drawn: {"mean": drawn.means, "sd": _deviations(drawn.whiteners)},
    GaussianKnownPrecisionParameters: lambda drawn: {"mean": drawn.centres},
}
"""Names of the parameters of families that have none by themselves (`Family.named_parameters`)."""

COLUMNS = ["topic", "column", "parameter", "mean", "low", "high", "draws"]


def topic_parameters(posterior: HDPPosterior, level: float, seed: int) -> pd.DataFrame:
    """Draw the parameters of each topic in every stored draw, and summarise them by consensus topic.

    Intervals are quantiles of the draws.
    """
    family, ends = posterior.family, ends_of(level)
    if posterior.has_words or not has_parameters(family):
        raise InputError(
            f"topic_parameters is for families of counts and measurements, such as Poisson; got "
            f"{type(family).__name__}{' of words' if posterior.has_words else ''}. Use topics() for words, or for "
            "the means of the observations of each topic."
        )
    rng, topics, found = seeded_generator(seed), [], []
    for draw, match in posterior.consensus_topics.matched_draws:
        statistics = predictive.statistics_of(posterior.model, draw.kept)
        parameters = family.draw_parameters(statistics, len(match), rng)
        named = {
            name: np.reshape(values, (len(match), -1)) for name, values in _named(family, parameters).items()
        }
        topics.append(match)
        found.append(named)
    of_topic = np.concatenate(topics)
    rows: list[tuple[object, ...]] = []
    names = getattr(posterior.data, "columns", None)
    drawn = {name: np.concatenate([named[name] for named in found]) for name in found[0]}
    for topic in range(posterior.consensus_topics.topic_count):
        chosen = of_topic == topic
        for name, values in drawn.items():
            own = values[chosen]
            low, high = draw_quantiles(own, ends)
            for column in range(own.shape[1]):
                place = names[column] if names is not None and len(names) == own.shape[1] else column
                rows.append((topic, place, name, own[:, column].mean(), low[column], high[column], len(own)))
    return pd.DataFrame(rows, columns=COLUMNS)


def has_parameters(family: Family) -> bool:
    """Return whether the parameters of a family have names."""
    return type(family).named_parameters is not Family.named_parameters or family.Parameters in NAMED


def _named(family: Family, drawn: Any) -> dict[str, np.ndarray]:
    """Return drawn parameters by name, float64 (K, D) or (K,)."""
    named = NAMED.get(family.Parameters)
    return dict(family.named_parameters(drawn)) if named is None else named(drawn)


def _deviations(whiteners: np.ndarray) -> np.ndarray:
    """Return the standard deviations of the dimensions, (K, D), from W with W' W the inverse of the covariance."""
    inverse = np.linalg.inv(whiteners)
    return np.asarray(np.sqrt((inverse**2).sum(axis=2)))
