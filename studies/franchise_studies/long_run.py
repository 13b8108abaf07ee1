"""Long runs of whole samplers: do they visit every partition as often as the posterior says?

This also tests what one-step invariance cannot: that the sampler reaches everything.  The distance is total
variation; since even independent draws are some way off, it is judged against that of independent draws of the
same effective size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.checks.enumeration import Enumeration, Partition, canonical, tiny_model
from franchise.data.groups import Groups
from franchise.families.base import Family
from franchise.samplers.registry import SamplerLike
from franchise.sampling import sample

_MOST_SPREADS = 5.0


class Visits(NamedTuple):
    """How far the visit frequencies of a run are from the posterior."""

    distance: float  # total variation
    independent: float  # what as many independent draws have on average
    threshold: float  # what independent draws of the run's effective size hardly ever exceed
    effective_size: float
    expected: float  # what independent draws of the run's effective size have on average
    topics: float  # mean number of topics of the run
    exact_topics: float  # the same of the posterior


def count_visits(
    sampler: SamplerLike,
    family: Family,
    observations: ArrayLike,
    groups: list[int],
    *,
    alpha: float,
    gamma: float,
    draws: int = 40_000,
    seed: int = 0,
    finite_topics: int | None = None,
) -> Visits:
    """Run a sampler on a tiny data set and compare its visits with the enumerated posterior.

    With `finite_topics`, that of the finite model of this order.
    """
    exact = Enumeration(tiny_model(family, observations, groups, alpha, gamma), alpha, gamma, finite_topics)
    order = 100 if finite_topics is None else finite_topics
    settings: dict[str, Any] = {"alpha": alpha, "gamma": gamma, "finite_topics": order}
    return visits_of(exact, Groups(observations, groups), sampler, family, draws, seed, **settings)


def visits_of(
    exact: Enumeration,
    data: Groups,
    sampler: SamplerLike,
    family: Family,
    draws: int,
    seed: int = 0,
    **settings: Any,
) -> Visits:
    """Run a sampler on some data and compare its visits with their enumerated posterior."""
    plan: dict[str, Any] = {
        "draws": draws,
        "warmup": 100,
        "chains": 1,
        "keep_labels": True,
        "progress": False,
    }
    posterior = sample(data, family, sampler=sampler, seed=seed, **plan, **settings)
    assert posterior.labels is not None
    visits = [canonical(labels) for labels in posterior.labels[0]]
    size = effective_size(visits, exact)
    rng = np.random.default_rng(seed)
    mean, spread = typical_total_variation(exact.probabilities, size, rng)
    return Visits(
        distance=total_variation(visits, exact.partitions, exact.probabilities),
        independent=typical_total_variation(exact.probabilities, draws, rng)[0],
        threshold=mean + _MOST_SPREADS * spread,
        effective_size=size,
        expected=mean,
        topics=float(np.mean([max(visit) + 1 for visit in visits])),
        exact_topics=float(exact.probabilities @ [max(partition) + 1 for partition in exact.partitions]),
    )


def effective_size(visits: list[Partition], exact: Enumeration) -> float:
    """The smallest effective size among the number of topics and the five most probable partitions."""
    from arviz_stats.base import array_stats

    likely = np.argsort(-exact.probabilities)[:5]
    series = [np.array([float(visit == exact.partitions[place]) for visit in visits]) for place in likely]
    series.append(np.array([float(max(visit)) for visit in visits]))
    sizes = [float(array_stats.ess(values[None, :], method="mean")) for values in series if values.std() > 0]
    return min([float(len(visits)), *sizes])


def total_variation(
    observed: Sequence[Hashable], outcomes: Sequence[Hashable], probabilities: np.ndarray
) -> float:
    """Half the summed difference between the visit frequencies and the probabilities."""
    counter = Counter(observed)
    frequencies = np.array([counter[outcome] for outcome in outcomes]) / len(observed)
    elsewhere = 1.0 - frequencies.sum()
    return float((np.abs(frequencies - probabilities).sum() + elsewhere) / 2)


def typical_total_variation(
    probabilities: np.ndarray, size: float, rng: np.random.Generator, repetitions: int = 400
) -> tuple[float, float]:
    """Mean and standard deviation of the total variation of `size` independent draws."""
    counts = rng.multinomial(int(size), probabilities, size=repetitions)
    distances = np.abs(counts / int(size) - probabilities).sum(axis=1) / 2
    return float(distances.mean()), float(distances.std())
