"""Parameters of consensus topics, such as rates of counts, with credible intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.kernels.random.dirichlet import seeded_generator
from franchise.posterior import predictive
from franchise.posterior.intervals import draw_quantiles, ends_of

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import HDPPosterior

COLUMNS = ["topic", "column", "parameter", "mean", "low", "high", "draws"]


def topic_parameters(posterior: HDPPosterior, level: float, seed: int) -> pd.DataFrame:
    """Draw the parameters of each topic in every stored draw, and summarise them by consensus topic.

    Intervals are quantiles of the draws.
    """
    family, ends = posterior.family, ends_of(level)
    if type(family).named_parameters is Family.named_parameters:
        raise InputError(
            f"topic_parameters is for families of counts, such as Poisson and NegativeBinomial; got "
            f"{type(family).__name__}. Use topics() for the means of the observations of each topic."
        )
    rng, topics, found = seeded_generator(seed), [], []
    for draw, match in posterior.consensus_topics.matched_draws:
        statistics = predictive.statistics_of(posterior.model, draw.kept)
        parameters = family.draw_parameters(statistics, len(match), rng)
        named = {
            name: np.reshape(values, (len(match), -1))
            for name, values in family.named_parameters(parameters).items()
        }
        topics.append(match)
        found.append(named)
    of_topic = np.concatenate(topics)
    rows: list[tuple[object, ...]] = []
    drawn = {name: np.concatenate([named[name] for named in found]) for name in found[0]}
    for topic in range(posterior.consensus_topics.topic_count):
        chosen = of_topic == topic
        for name, values in drawn.items():
            own = values[chosen]
            low, high = draw_quantiles(own, ends)
            for column in range(own.shape[1]):
                rows.append((topic, column, name, own[:, column].mean(), low[column], high[column], len(own)))
    return pd.DataFrame(rows, columns=COLUMNS)
