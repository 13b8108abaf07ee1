"""The few statistical tests that the checks are made of, and one false-alarm rate for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

SMALLEST_P = 1e-4
"""A p-value below this is a failure, everywhere."""

_FEWEST_EXPECTED = 5.0


def goodness_of_fit(
    observed: Sequence[Hashable], outcomes: Sequence[Hashable], probabilities: np.ndarray
) -> float:
    """p-value of Pearson's chi-squared test that independent draws follow the given probabilities.

    Outcomes expected less than five times are taken together. An outcome that cannot happen gives 0.
    """
    from scipy.stats import chi2

    counter = Counter(observed)
    if set(counter) - set(outcomes):
        return 0.0
    counts = np.array([counter[outcome] for outcome in outcomes], dtype=float)
    expected = probabilities * len(observed)
    rare = expected < _FEWEST_EXPECTED
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, max(len(expected) - 1, 1)))


def same_law(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """p-value of the chi-squared test that two sets of independent draws of a discrete quantity have one law."""
    from scipy.stats import chi2_contingency

    one, two = Counter(first), Counter(second)
    both = one + two
    common = [outcome for outcome, count in both.items() if count >= 2 * _FEWEST_EXPECTED]
    table = np.array(
        [[one[outcome] for outcome in common], [two[outcome] for outcome in common]], dtype=float
    )
    rest = np.array([[len(first)], [len(second)]]) - table.sum(axis=1, keepdims=True)
    if rest.sum() >= 2 * _FEWEST_EXPECTED:
        table = np.hstack([table, rest])
    if table.shape[1] < 2:
        return 1.0
    return float(chi2_contingency(table, correction=False).pvalue)


def same_distribution(first: np.ndarray, second: np.ndarray) -> float:
    """p-value of the Kolmogorov-Smirnov test that two sets of independent numbers have one law."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(first, second).pvalue)
