"""Unsigned Stirling numbers of the first kind, as exact Python integers.

docs/theory/table-counts.md#sec-stirling.

s(n, m) is the number of ways to seat n customers in m cycles (tables with a circular order). It collects the
factors (n_t - 1)! of a Chinese restaurant process over all seatings with the same number of tables:

    sum over partitions of n customers into m tables of  prod_t (n_t - 1)!  =  s(n, m)
    p(m tables | n customers, concentration a)  =  Gamma(a)/Gamma(a+n) s(n, m) a^m

Recursion: the last customer opens a cycle of its own, or sits to the left of one of the n - 1 others.

    s(n, m) = s(n-1, m-1) + (n-1) s(n-1, m),   s(0, 0) = 1,   s(n, 0) = 0 for n > 0,   s(n, m) = 0 for m > n
"""

import math

_ROWS = [[1]]


def stirling_row(customers):
    """The list [s(n, 0), s(n, 1), ..., s(n, n)] for n = `customers`."""
    while len(_ROWS) <= customers:
        above = _ROWS[-1]
        n = len(_ROWS)
        row = [0] * (n + 1)
        for m in range(1, n + 1):
            joins_a_cycle = (n - 1) * above[m] if m < n else 0
            row[m] = above[m - 1] + joins_a_cycle
        _ROWS.append(row)
    return list(_ROWS[customers])


def stirling_first(customers, tables):
    """s(customers, tables) as an exact integer; 0 outside 0 <= tables <= customers."""
    if tables < 0 or tables > customers:
        return 0
    return stirling_row(customers)[tables]


def log_stirling_first(customers, tables):
    """Natural logarithm of s(customers, tables); minus infinity where the number is 0."""
    number = stirling_first(customers, tables)
    return math.log(number) if number > 0 else -math.inf


def log_probability_of_table_count(customers, tables, concentration):
    """Log probability of `tables` occupied tables after `customers` customers.

    docs/theory/table-counts.md#eq-table-count.

    p(m) = Gamma(a)/Gamma(a+n) s(n, m) a^m
    """
    number = stirling_first(customers, tables)
    if number == 0:
        return -math.inf
    return (
        math.lgamma(concentration)
        - math.lgamma(concentration + customers)
        + math.log(number)
        + tables * math.log(concentration)
    )
