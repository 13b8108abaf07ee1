"""Long runs of whole samplers: visit frequencies against the enumerated posterior."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats

import franchise as fr
from franchise.checks.enumeration import Enumeration, canonical, tiny_model
from franchise.checks.statistics import total_variation, typical_total_variation
from franchise.moves import DirectAssignment, TopicWeights
from tests.exactness import planted
from tests.exactness.cases import CASES, GROUPS, THREE

LIMIT = 0.03
DRAWS = 40_000


def run(family: str, sampler, alpha: float, gamma: float, draws: int = DRAWS):
    """Total variation of a run, and the threshold that independent draws of its effective size would keep."""
    case = CASES[family]
    exact = Enumeration(tiny_model(case.family, case.observations, GROUPS, alpha, gamma), alpha, gamma)
    posterior = fr.sample(
        fr.Groups(case.observations, GROUPS),
        case.family,
        sampler=sampler,
        alpha=alpha,
        gamma=gamma,
        draws=draws,
        warmup=100,
        chains=1,
        seed=7,
        keep_labels=True,
    )
    visits = [canonical(labels) for labels in posterior.labels[0]]
    effective = effective_size(visits, exact)
    mean, spread = typical_total_variation(exact.probabilities, effective, np.random.default_rng(0))
    return total_variation(visits, exact.partitions, exact.probabilities), mean + 5 * spread


def effective_size(visits, exact: Enumeration) -> float:
    """The smallest effective size among the number of topics and the most probable partitions."""
    likely = np.argsort(-exact.probabilities)[:5]
    series = [np.array([float(visit == exact.partitions[place]) for visit in visits]) for place in likely]
    series.append(np.array([float(max(visit)) for visit in visits]))
    sizes = [float(array_stats.ess(values[None, :], method="mean")) for values in series if values.std() > 0]
    return min([len(visits), *sizes])


@pytest.mark.parametrize("family", THREE)
@pytest.mark.parametrize("sampler", ["crf", "direct"])
def test_frequencies(sampler, family):
    distance, threshold = run(family, sampler, 1.0, 1.0)
    assert distance < LIMIT
    assert distance < threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
@pytest.mark.parametrize("sampler", ["crf", "direct"])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 4.0, 20.0])
def test_frequencies_at_any_concentrations(sampler, family, alpha, gamma):
    distance, threshold = run(family, sampler, alpha, gamma)
    assert distance < LIMIT
    assert distance < threshold


@pytest.mark.parametrize(
    "bug",
    [
        [planted.SwappedCrf()],
        [planted.DroppedGammaCrf()],
        [planted.SwappedDirect(), TopicWeights()],
        [DirectAssignment(), planted.DroppedGamma()],
        [planted.ForgottenRemoval(), TopicWeights()],
        [planted.StaleCount(), TopicWeights()],
    ],
    ids=lambda moves: type(moves[0]).__name__ + ("" if len(moves) == 1 else "+" + type(moves[1]).__name__),
)
def test_planted_bugs_are_caught(bug):
    distance, threshold = run("categorical", bug, 0.6, 4.0, draws=8000)
    assert distance > threshold


def test_lost_weight_is_caught():
    distance, threshold = run("categorical", [planted.LostWeight(), TopicWeights()], 4.0, 0.5, draws=8000)
    assert distance > threshold
