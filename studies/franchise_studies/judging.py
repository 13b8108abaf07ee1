"""When a difference counts, the same in every study.

A difference over runs counts if Student's t-test says so at 5 % in all, shared out over the settings compared
(Bonferroni).  With fewer than FEWEST runs or seeds nothing is decided.
"""

from __future__ import annotations

import numpy as np

FEWEST = 5
LEVEL = 0.05


def sign(values: np.ndarray, comparisons: int = 1) -> int:
    """Whether the mean of some runs is clearly above zero (1), clearly below (-1), or neither (0)."""
    from scipy.stats import ttest_1samp

    if len(values) < FEWEST or np.ptp(values) == 0.0:
        return 0
    test = ttest_1samp(values, 0.0)
    return int(np.sign(test.statistic)) if test.pvalue < LEVEL / comparisons else 0
