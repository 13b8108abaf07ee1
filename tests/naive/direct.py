"""Gibbs sampling by direct assignment, on plain dictionaries (Frank et al. 5.3; Teh et al. 5.3).

docs/theory/direct-assignment.md#sec-direct-assignment.

The state is (labels, beta):

    labels : list, topic of each observation; None while an observation is being redrawn
    beta   : dictionary topic -> weight for every topic in use, and NEW -> beta_u for all others; sums to 1

pi and phi are integrated out. A sweep redraws every label, then the table counts m given labels and beta
(docs/theory/table-counts.md#eq-table-count-urn), then beta given m.
The delicate point is the weight of a topic that loses its last
observation: it must go back to beta_u BEFORE that observation is redrawn. Print reads "set to 0", which loses
it and is wrong.
"""

import math
from collections import Counter

from tests.naive.choices import NEW, draw_choice, exponentiated, log_of
from tests.naive.posterior import (
    count_cells,
    draw_weights_of_tables,
    log_likelihood_of_partition,
    log_prior_of_partition_and_tables,
)

# --- the label of one observation ---------------------------------------------------------------------------


def log_weights_of_topics(observation, labels, beta, observations, groups, family, alpha):
    """The topic of one observation, given all other labels and beta.

        p(z = k)   ~ (n_jk + alpha beta_k) f_k(x)
        p(z = new) ~ alpha beta_u f_new(x)

    labels[observation] must be None, and every topic in beta must have another observation. Returns a
    dictionary topic, or NEW -> log weight.
    """
    assert labels[observation] is None
    log_weights = {}
    for topic in beta:
        if topic == NEW:
            continue
        others = [other for other, label in enumerate(labels) if label == topic]
        in_group = sum(1 for other in others if groups[other] == groups[observation])
        log_predictive = family.log_predictive(
            observations[observation], [observations[other] for other in others]
        )
        log_weights[topic] = log_of(in_group + alpha * beta[topic]) + log_predictive
    log_weights[NEW] = log_of(alpha * beta[NEW]) + family.log_predictive(observations[observation], [])
    return log_weights


def weights_of_topics(observation, labels, beta, observations, groups, family, alpha):
    """`log_weights_of_topics` exponentiated, not normalised."""
    return exponentiated(
        log_weights_of_topics(observation, labels, beta, observations, groups, family, alpha)
    )


def give_weight_back(beta, topic):
    """A topic has emptied: its weight returns to beta_u, in place."""
    beta[NEW] += beta.pop(topic)


def break_stick(beta, gamma, rng):
    """A topic has opened: it takes a fraction b ~ Beta(1, gamma) of beta_u, in place. Returns its name."""
    topic = max((name for name in beta if name != NEW), default=-1) + 1
    fraction = rng.beta(1.0, gamma)
    beta[topic] = fraction * beta[NEW]
    beta[NEW] = (1.0 - fraction) * beta[NEW]
    return topic


def draw_label(observation, labels, beta, observations, groups, family, alpha, gamma, rng):
    """Redraw the label of one observation; labels and beta change in place."""
    old_topic = labels[observation]
    labels[observation] = None
    if old_topic not in labels:
        give_weight_back(beta, old_topic)
    choice = draw_choice(
        log_weights_of_topics(observation, labels, beta, observations, groups, family, alpha), rng
    )
    labels[observation] = break_stick(beta, gamma, rng) if choice == NEW else choice


# --- table counts and weights -------------------------------------------------------------------------------


def draw_table_count(customers, concentration, rng):
    """Tables of n customers: 1 + sum of Bernoulli(a/(a+i)), i = 1..n-1; 0 for none.

    docs/theory/table-counts.md#eq-table-count-urn.
    """
    tables = 0
    for already_seated in range(customers):
        if already_seated == 0 or rng.random() < concentration / (concentration + already_seated):
            tables += 1
    return tables


def draw_table_counts(labels, groups, beta, alpha, rng):
    """m | z, beta: dictionary (group, topic) -> tables, each cell with concentration alpha beta_k."""
    return {
        (group, topic): draw_table_count(customers, alpha * beta[topic], rng)
        for (group, topic), customers in count_cells(labels, groups).items()
    }


def draw_beta(table_counts, gamma, rng):
    """beta | m ~ Dirichlet(m_1, ..., m_K, gamma)."""
    return draw_weights_of_tables(table_counts, gamma, rng)


def direct_sweep(labels, beta, observations, groups, family, alpha, gamma, rng):
    """One sweep of direct assignment: all labels in order of the index, then m, then beta.

    Returns new (labels, beta); the arguments are left alone. Topic names are integers and may have gaps.
    """
    labels = list(labels)
    beta = dict(beta)
    for observation in range(len(labels)):
        draw_label(observation, labels, beta, observations, groups, family, alpha, gamma, rng)
    table_counts = draw_table_counts(labels, groups, beta, alpha, rng)
    return labels, draw_beta(table_counts, gamma, rng)


# --- joint densities ----------------------------------------------------------------------------------------


def log_joint(labels, table_counts, observations, groups, family, alpha, gamma):
    """log p(x|z) + log p(z, m), with p(z, m) of docs/theory/enumeration.md#eq-joint-tables.

    Parameters
    ----------
    table_counts : dictionary (group, topic) -> tables, for every cell with observations (m_jk)
    """
    return log_likelihood_of_partition(labels, observations, family) + log_prior_of_partition_and_tables(
        labels, table_counts, groups, alpha, gamma
    )


def log_joint_of_weights(labels, beta, observations, groups, family, alpha, gamma):
    """log p(x|z) + log p(beta, z), the density of the weights view.

    docs/theory/subcluster.md#eq-joint-weights.

        p(beta, z) = gamma^K beta_u^(gamma-1) prod_k beta_k^-1
                     * prod_j Gamma(alpha)/Gamma(alpha+n_j)
                     * prod_jk Gamma(alpha beta_k + n_jk)/Gamma(alpha beta_k)

    A density of (beta_1, ..., beta_K) with beta_u = 1 - sum, for the set partition z. The conditionals of
    labels are ratios of it.
    """
    log_density = (gamma - 1.0) * math.log(beta[NEW])
    for topic in set(labels):
        log_density += math.log(gamma) - math.log(beta[topic])
    for in_group in Counter(groups).values():
        log_density += math.lgamma(alpha) - math.lgamma(alpha + in_group)
    for (_, topic), in_cell in count_cells(labels, groups).items():
        mass = alpha * beta[topic]
        log_density += math.lgamma(mass + in_cell) - math.lgamma(mass)
    return log_density + log_likelihood_of_partition(labels, observations, family)
