"""Expected numbers of observations by topic, where topics and their shares in groups are given."""

from __future__ import annotations

import math

from franchise.kernels.dirichlet_ops import sum_of_products
from franchise.kernels.runtime.compile import kernel, summing_helper


@kernel
def add_ratios(cells, shares, words, by_group, by_category):
    """Add the sums of docs/theory/starts.md#eq-expected-counts to `by_group` (J, K) and `by_category` (V, K).

    That is, what they expect of all cells divided by the shares (J, K) and by the words (V, K). Returns the log
    likelihood.
    """
    total = 0.0
    for group in range(len(cells.offsets) - 1):
        for cell in range(cells.offsets[group], cells.offsets[group + 1]):
            category, count = cells.categories[cell], cells.counts[cell]
            mixed = sum_of_products(shares[group], words[category])
            total += count * math.log(mixed)
            add_scaled(by_group[group], words[category], count / mixed)
            add_scaled(by_category[category], shares[group], count / mixed)
    return total


@summing_helper
def add_scaled(target, row, factor):
    """Add a multiple of a row to another."""
    for place in range(len(row)):
        target[place] += factor * row[place]
