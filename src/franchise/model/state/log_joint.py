"""The probabilities of a state: log p(x | z), and the log joint that is the same for every sampler.

    log joint = log p(x | z) + log p(z, m) + log priors of alpha and gamma where they are learned
    p(z, m)   = prod_j Gamma(alpha) / Gamma(alpha + n_j) * prod_jk s(n_jk, m_jk) alpha^m_jk
                * gamma^K prod_k Gamma(m_k) * Gamma(gamma) / Gamma(gamma + m)

docs/theory/diagnostics.md#eq-log-joint and docs/theory/enumeration.md#eq-joint-tables.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.family_ops import family_of
from franchise.kernels.recount import sum_log_densities, sum_log_stirling
from franchise.kernels.table_counts import log_stirling_table
from franchise.model.hdp_model import Model
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import CellTables, State
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD


def log_likelihood(
    state: State, data: PreparedData | None = None, executor: BlockExecutor = CALLING_THREAD
) -> float:
    """Return log p(x | z), the parameters of the topics integrated out: the sum of their log marginals.

    For a family that is not conjugate, it is given the parameters instead, and needs the data; NaN if no parameters
    have been drawn.
    """
    comm: Communicator = SINGLE_PROCESS if data is None else data.comm
    family = family_of(type(state.statistics))
    if Ability.CONJUGATE not in family.abilities:
        if state.parameters is None or data is None:
            return math.nan
        total, topics = np.zeros(1), state.topics(data)
        comm.ordered_reduce(
            [total], lambda: sum_log_densities(state.parameters, data.observations, topics, total)
        )
        return float(total[0])
    marginals = family.log_marginals(state.statistics, state.capacity, executor, comm)
    return float(marginals[state.observations_per_topic > 0].sum())


def log_prior(state: State, model: Model, cells: CellTables) -> float:
    """log p(z, m) given the concentrations."""
    from scipy.special import gammaln

    alpha, gamma = state.group_concentration, state.top_concentration
    sizes, times = model.distinct_sizes
    table_count = int(cells.per_topic.sum())
    of_topics = gammaln(cells.per_topic[cells.per_topic > 0])
    return float(
        (times * (math.lgamma(alpha) - gammaln(alpha + sizes))).sum()
        + _log_stirling_of(cells, model.comm)
        + of_topics.sum()
        + table_count * math.log(alpha)
        + len(of_topics) * math.log(gamma)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
    )


def _log_stirling_of(cells: CellTables, comm: Communicator) -> float:
    """The sum of log s(n_jk, m_jk) over the cells of all processes."""
    stirling = log_stirling_table(int(cells.customers.max(initial=1)), int(cells.tables.max(initial=1)))
    units = np.zeros(2, np.int64)
    sum_log_stirling(cells.customers, cells.tables, stirling, units)
    large, small = comm.allreduce(units).tolist()
    return (large * 2**32 + small) / 2**30
