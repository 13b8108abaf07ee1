"""Simulation-based calibration of the default sampler: true values have uniform ranks among the draws.

    FRANCHISE_FULL=1 python -m pytest tests/exactness/test_calibration.py -m slow -n 2 -rP

prints the tables of the full size, in about ten minutes on two cores.  A p-value below 1e-4 fails.  There are 19,
so that a right sampler fails with a probability of at most 0.002.
"""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from tests.exactness.cases import size
from tests.planted_bugs.registry import all_bugs
from tests.support.calibration import Calibration, p_value, rank_of

pytestmark = pytest.mark.exactness

SMALL = Calibration(documents=30, length=12, vocabulary=40, prior=0.1, warmup=50, draws=2, thin=30)

LARGE = {
    "given prior": Calibration(documents=60, length=35, vocabulary=100, prior=0.1),
    "learned prior": Calibration(documents=60, length=35, vocabulary=100, prior=fr.Gamma(8.0, 80.0)),
    "few categories": Calibration(documents=40, length=50, vocabulary=12, prior=0.3),
}
"""About 2,000 words. By default a given prior is smaller in warm-up, and few categories start from samples."""


def check(calibration, replications):
    table = calibration.judge(replications)
    print(f"\n{calibration}, {replications} replications\n{table.round(5).to_string()}")
    assert table["p_value"].min() >= SMALLEST_P


def test_ranks_are_uniform():
    check(SMALL, 24)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_ranks_are_uniform_at_full_size(name):
    check(LARGE[name], size(300))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "name"),
    [
        ("warm-up: it never ends", "given prior"),
        ("alpha: Bernoulli variables forgotten", "few categories"),
        ("tables: topics by their observations", "learned prior"),
    ],
)
def test_planted_bugs_are_caught(bug, name):
    with all_bugs()[bug].plant(), pytest.raises(AssertionError):
        check(LARGE[name], 60)


def test_p_values_are_uniform_for_uniform_ranks_and_small_for_others():
    rng = np.random.default_rng(1)
    values = [p_value(rng.integers(0, 11, 80), 10) for _ in range(400)]
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.1, abs=4 * 0.015)
    assert p_value(rng.integers(0, 9, 80), 10) < 0.05
    assert p_value(rng.binomial(10, 0.5, 80), 10) < SMALLEST_P


def test_ties_are_broken_at_random():
    rng = np.random.default_rng(1)
    ranks = [rank_of(2.0, np.array([1.0, 2.0, 2.0, 3.0]), rng) for _ in range(300)]
    assert np.bincount(ranks).tolist() == pytest.approx([0, 100, 100, 100], abs=4 * 8.2)
