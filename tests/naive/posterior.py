"""The exact posterior of a tiny data set, by summing over everything.

docs/theory/enumeration.md#sec-enumeration-posterior.

For a set partition z of the observations with K blocks, m_jk tables of group j serving topic k, m_k tables
of topic k, m tables in all, and s(n, m) the unsigned Stirling numbers of the first kind,

    p(z, m) = prod_j Gamma(alpha)/Gamma(alpha+n_j)  *  prod_jk s(n_jk, m_jk) alpha^m_jk
              *  gamma^K prod_k Gamma(m_k)  *  Gamma(gamma)/Gamma(gamma+m)
    p(z)    = sum of p(z, m) over all 1 <= m_jk <= n_jk, cells with n_jk > 0
    p(z|x)  ~ p(z) prod_k marginal likelihood of block k

Why: in group j the seating has probability Gamma(alpha)/Gamma(alpha+n_j) prod_t alpha (n_jt - 1)!, and the
(n_jt - 1)! of all seatings of a cell with m_jk tables add up to s(n_jk, m_jk); the tables are the customers
of the top restaurant, which is where the second line comes from.

`prior_by_seatings` finds p(z) in a completely different way: it plays the Chinese restaurant franchise
forward, customer by customer, through every possible seating, and adds up the products of predictive
probabilities. No Gamma function and no Stirling number occurs in it.

For tests that start a chain IN the posterior there are exact draws: a partition, its table counts given it,
and topic weights given both.
"""

import itertools
import math
from collections import Counter

from tests.naive.choices import NEW, draw_choice, log_sum_exp, normalised
from tests.naive.partitions import all_partitions, blocks_of, canonical
from tests.naive.stirling import log_stirling_first


def count_cells(labels, groups):
    """n_jk as a dictionary (group, topic) -> observations, only cells that have any."""
    return dict(Counter(zip(groups, labels, strict=True)))


def log_prior_of_partition_and_tables(labels, table_counts, groups, alpha, gamma):
    """log p(z, m), one summand of docs/theory/enumeration.md#eq-enumeration-prior.

    Parameters
    ----------
    table_counts : dictionary (group, topic) -> tables, one entry for every cell with observations (m_jk)
    """
    cells = count_cells(labels, groups)
    assert {cell for cell, tables in table_counts.items() if tables > 0} == set(cells)
    tables_per_topic = Counter()
    for (_, topic), tables in table_counts.items():
        tables_per_topic[topic] += tables
    table_count = sum(tables_per_topic.values())

    log_probability = 0.0
    for observations_in_group in Counter(groups).values():
        log_probability += math.lgamma(alpha) - math.lgamma(alpha + observations_in_group)
    for cell, observations_in_cell in cells.items():
        log_probability += log_stirling_first(observations_in_cell, table_counts[cell])
        log_probability += table_counts[cell] * math.log(alpha)
    for topic in set(labels):
        log_probability += math.log(gamma) + math.lgamma(tables_per_topic[topic])
    log_probability += math.lgamma(gamma) - math.lgamma(gamma + table_count)
    return log_probability


def all_table_counts(labels, groups):
    """Every way to choose 1 <= m_jk <= n_jk, as a list of dictionaries (group, topic) -> tables."""
    cells = count_cells(labels, groups)
    ranges = [range(1, observations_in_cell + 1) for observations_in_cell in cells.values()]
    return [dict(zip(cells, counts, strict=True)) for counts in itertools.product(*ranges)]


def log_prior_of_partition(labels, groups, alpha, gamma):
    """log p(z): the prior probability of one set partition under the HDP."""
    return log_sum_exp(
        log_prior_of_partition_and_tables(labels, table_counts, groups, alpha, gamma)
        for table_counts in all_table_counts(labels, groups)
    )


def log_likelihood_of_partition(labels, observations, family):
    """log p(x|z): the sum over blocks of the log marginal likelihood of the block."""
    return sum(
        family.log_marginal([observations[item] for item in items]) for items in blocks_of(labels).values()
    )


def prior_over_partitions(groups, alpha, gamma):
    """Dictionary canonical labels -> prior probability, over all partitions (not rescaled; sums to 1)."""
    return {
        labels: math.exp(log_prior_of_partition(labels, groups, alpha, gamma))
        for labels in all_partitions(len(groups))
    }


def check_prior_sums_to_one(groups, alpha, gamma, tolerance=1e-10):
    """Raise AssertionError unless the prior sums to 1 over all partitions; return the sum.

    docs/theory/enumeration.md#eq-enumeration-prior.
    """
    total = math.fsum(prior_over_partitions(groups, alpha, gamma).values())
    assert abs(total - 1.0) < tolerance, f"prior over partitions sums to {total}, not 1"
    return total


def posterior_over_partitions(observations, groups, family, alpha, gamma):
    """The exact posterior: dictionary canonical labels -> probability, over all Bell(n) partitions."""
    log_weights = {
        labels: log_prior_of_partition(labels, groups, alpha, gamma)
        + log_likelihood_of_partition(labels, observations, family)
        for labels in all_partitions(len(groups))
    }
    return normalised(log_weights)


def log_evidence(observations, groups, family, alpha, gamma):
    """log p(x): the log of the sum over all partitions of p(z) p(x|z)."""
    return log_sum_exp(
        log_prior_of_partition(labels, groups, alpha, gamma)
        + log_likelihood_of_partition(labels, observations, family)
        for labels in all_partitions(len(groups))
    )


# --- a second way to the prior ------------------------------------------------------------------------------


def prior_by_seatings(groups, alpha, gamma):
    """The prior over partitions again, by playing the franchise forward through every seating.

    Observation i, in group j where i_j others already sit:

        an occupied table t of its group      n_jt / (i_j + alpha)
        a new table                           alpha / (i_j + alpha), and for the new table's dish
            a dish in use                     m_k / (m + gamma)
            a new dish                        gamma / (m + gamma)

    Returns a dictionary canonical labels -> probability. For n <= 6 or so: the number of seatings grows
    faster than the Bell numbers.
    """
    probabilities = Counter()
    for seating, probability in _all_seatings(groups, alpha, gamma):
        dish_of_observation = {}
        for _, dish, customers in seating:
            for customer in customers:
                dish_of_observation[customer] = dish
        labels = canonical(dish_of_observation[i] for i in range(len(groups)))
        probabilities[labels] += probability
    return dict(probabilities)


def _all_seatings(groups, alpha, gamma):
    """Pairs (seating, probability); a seating is a tuple of tables (group, dish, tuple of observations)."""
    seatings = [((), 1.0)]
    for observation, group in enumerate(groups):
        seatings = [
            (longer, probability * step)
            for seating, probability in seatings
            for longer, step in _next_seatings(seating, observation, group, alpha, gamma)
        ]
    return seatings


def _next_seatings(seating, observation, group, alpha, gamma):
    """Every seating one customer later, with the predictive probability of that step."""
    already_here = sum(len(customers) for its_group, _, customers in seating if its_group == group)
    table_count = len(seating)
    tables_per_dish = Counter(dish for _, dish, _ in seating)
    for position, (its_group, dish, customers) in enumerate(seating):
        if its_group == group:
            joined = (group, dish, (*customers, observation))
            step = len(customers) / (already_here + alpha)
            yield (*seating[:position], joined, *seating[position + 1 :]), step
    opens_a_table = alpha / (already_here + alpha)
    for dish, tables in tables_per_dish.items():
        yield (*seating, (group, dish, (observation,))), opens_a_table * tables / (table_count + gamma)
    new_dish = len(tables_per_dish)
    yield (*seating, (group, new_dish, (observation,))), opens_a_table * gamma / (table_count + gamma)


# --- exact draws, to start a chain in the posterior ---------------------------------------------------------


def draw_partition(probabilities, rng):
    """One canonical label tuple from a dictionary labels -> probability."""
    return draw_choice({labels: math.log(p) for labels, p in probabilities.items() if p > 0}, rng)


def draw_tables_of_partition(labels, groups, alpha, gamma, rng):
    """Table counts m given the partition z alone, with probability proportional to the summand p(z, m).

    Returns a dictionary (group, topic) -> tables.
    """
    candidates = all_table_counts(labels, groups)
    log_weights = {
        index: log_prior_of_partition_and_tables(labels, table_counts, groups, alpha, gamma)
        for index, table_counts in enumerate(candidates)
    }
    return candidates[draw_choice(log_weights, rng)]


def draw_weights_of_tables(table_counts, gamma, rng):
    """beta | m ~ Dirichlet(m_1, ..., m_K, gamma): dictionary topic -> beta_k, and NEW -> beta_u."""
    parameters = Counter()
    for (_, topic), tables in table_counts.items():
        parameters[topic] += tables
    gammas = {topic: rng.gamma(shape) for topic, shape in parameters.items() if shape > 0}
    gammas[NEW] = rng.gamma(gamma)
    total = sum(gammas.values())
    return {topic: value / total for topic, value in gammas.items()}
