"""The probabilities of a state: log p(x | z), and the log joint that is the same for every sampler.

    log joint = log p(x | z) + log p(z, m) + log priors of alpha and gamma where they are learned
    p(z, m)   = prod_j Gamma(alpha) / Gamma(alpha + n_j) * prod_jk s(n_jk, m_jk) alpha^m_jk
                * gamma^K prod_k Gamma(m_k) * Gamma(gamma) / Gamma(gamma + m)

Algorithms page, section 1.3 (p(z, m) is the summand there).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from franchise.kernels.counting import log_gamma_parts, sum_log_densities
from franchise.kernels.stirling import log_stirling_table
from franchise.kernels.verbs import family_of
from franchise.state.base import CellTables, PreparedData, State


def log_likelihood(state: State, data: PreparedData | None = None, engine: Any = None) -> float:
    """log p(x | z), the parameters of the topics integrated out: the sum of their log marginals.

    With an engine, its workers share the work where there is much.

    For a family that is not conjugate, given the parameters instead, and only with the data; NaN if none are drawn.
    """
    family = family_of(type(state.statistics))
    if not family.conjugate:
        if state.parameters is None or data is None:
            return math.nan
        return float(sum_log_densities(state.parameters, data.observations, state.topics(data)))
    marginals = family.log_marginals(state.statistics, state.capacity, engine)
    return float(marginals[state.observations_per_topic > 0].sum())


def log_prior(state: State, data: PreparedData, cells: CellTables) -> float:
    """log p(z, m) given the concentrations."""
    alpha, gamma = state.group_concentration, state.top_concentration
    stirling = log_stirling_table(int(cells.customers.max()), int(cells.tables.max()))
    table_count = int(cells.tables.sum())
    return (
        log_gamma_parts(data.offsets, alpha, cells.customers, cells.tables, cells.per_topic, stirling)
        + table_count * math.log(alpha)
        + int(np.count_nonzero(cells.per_topic)) * math.log(gamma)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
    )
