"""Tables as numbers: how many tables each topic has in each group, drawn given topics and weights.

Only the number of customers n_jk and of tables m_jk of each cell (group and topic that meet) matters to the
concentrations, the topic weights and the joint probability.
"""

from __future__ import annotations

import numpy as np

from franchise.kernels.compile import helper, kernel
from franchise.kernels.random import draw_table_count


@kernel
def draw_tables(topic_of_observation, offsets, concentrations, customers, tables, per_topic, rng):
    """Draw m_jk given z and the topic weights, for every cell (algorithms 1.2).

    `concentrations` are alpha beta_k by slot; `customers` and `tables` are filled cell by cell, `per_topic`
    with m_k. Returns the number of cells.
    """
    for topic in range(len(per_topic)):
        per_topic[topic] = 0
    in_group = np.zeros(len(concentrations), np.int64)
    met = np.zeros(len(concentrations), np.int64)
    cells = 0
    for group in range(len(offsets) - 1):
        met_count = count_met(topic_of_observation, offsets[group], offsets[group + 1], in_group, met)
        for position in range(met_count):
            topic = met[position]
            count = draw_table_count(in_group[topic], concentrations[topic], rng)
            customers[cells], tables[cells] = in_group[topic], count
            per_topic[topic] += count
            cells += 1
            in_group[topic] = 0
    return cells


@helper
def count_met(topic_of_observation, begin, end, in_group, met):
    """Count the observations of one group by topic, listing the topics in the order they are met."""
    met_count = 0
    for index in range(begin, end):
        topic = topic_of_observation[index]
        if in_group[topic] == 0:
            met[met_count] = topic
            met_count += 1
        in_group[topic] += 1
    return met_count
