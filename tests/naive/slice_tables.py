"""Slice sampling of tables and topics in stick-breaking form, in plain loops (Amini et al. 2019).

docs/theory/slice.md#sec-slice-steps.

In group j the tables have weights gamma_j = F(gamma'_j), all topics the weights beta = F(beta'), F the
stick-breaking map (their equation 2), and the state is

    tables : list, the table of each observation, 0, 1, 2, ... within its group (t_ji)
    topics : dictionary (group, table) -> topic, for occupied tables only (k_jt)

Numbers of tables and topics are places along a stick, so they mean something and stay: a table may be vacant
while a later one is occupied. All else (sticks, slices, vacant tables, phi) is drawn anew in every sweep and
forgotten after it. One function per step, in the order of docs/theory/slice.md#sec-slice-steps:

    (a) sticks of tables, THEN slices of observations, then more sticks until no slice lies below the rest
    (b) sticks of topics, THEN slices of tables, then more sticks; vacant tables draw a topic from beta
    (c) parameters of topics
    (d) topics of occupied tables, among those whose weight is above the table's slice
    (e) tables of observations, among those whose weight is above the observation's slice
"""

from tests.naive.choices import draw_choice


def labels_of(tables, topics, groups):
    """The topic of each observation, z_ji = k of its table."""
    return [topics[group, table] for group, table in zip(groups, tables, strict=True)]


def everything_at_one_table(groups):
    """The start of their Algorithm 1: all observations at the first table of their group, all with one topic."""
    return [0] * len(groups), {(group, 0): 0 for group in set(groups)}


# --- sticks -------------------------------------------------------------------------------------------------


class Sticks:
    """Weights broken off a stick one after another, and what is left of it."""

    def __init__(self, concentration):
        self.concentration = concentration
        self.weights = []
        self.rest = 1.0

    def break_off(self, fraction):
        """The next weight is this fraction of the rest."""
        self.weights.append(fraction * self.rest)
        self.rest *= 1.0 - fraction

    def break_until_below(self, level, rng):
        """Sticks from the prior until the rest, so every weight still to come, is below the level (A.1)."""
        while self.rest >= level:
            self.break_off(rng.beta(1.0, self.concentration))

    def draw_place(self, rng):
        """A place with probability its weight; sticks are broken off as far as the draw needs."""
        uniform = rng.random()
        self.break_until_below(1.0 - uniform, rng)
        for place, weight in enumerate(self.weights):
            uniform -= weight
            if uniform < 0.0:
                return place
        return len(self.weights) - 1  # only reached by rounding


def draw_sticks(places, concentration, rng):
    """Sticks given the places that things have, up to the last place taken.

    stick_l ~ Beta(n_l + 1, n_>l + concentration)      Lemma 1; (7) for tables, (8) for topics
    """
    sticks = Sticks(concentration)
    for place in range(max(places) + 1):
        here = sum(1 for other in places if other == place)
        later = sum(1 for other in places if other > place)
        sticks.break_off(rng.beta(here + 1.0, later + concentration))
    return sticks


# --- the five steps -----------------------------------------------------------------------------------------


def draw_table_sticks(tables, groups, alpha, rng):
    """Step (a): dictionary group -> Sticks over its tables, and the slice of each observation.

    u_ji ~ U(0, gamma_{j t_ji}) is drawn under the new sticks.
    """
    sticks = {}
    slices = [None] * len(tables)
    for group in sorted(set(groups)):
        members = [item for item, its_group in enumerate(groups) if its_group == group]
        sticks[group] = draw_sticks([tables[item] for item in members], alpha, rng)
        for item in members:
            slices[item] = rng.uniform(0.0, sticks[group].weights[tables[item]])
        sticks[group].break_until_below(min(slices[item] for item in members), rng)
    return sticks, slices


def draw_topic_sticks(topics, gamma, rng):
    """Step (b), first half: Sticks over topics, and dictionary occupied table -> slice.

    v_jt ~ U(0, beta_{k_jt}) is drawn under the new sticks; vacant tables are not counted in (8).
    """
    sticks = draw_sticks(list(topics.values()), gamma, rng)
    slices = {table: rng.uniform(0.0, sticks.weights[topic]) for table, topic in topics.items()}
    sticks.break_until_below(min(slices.values()), rng)
    return sticks, slices


def fill_vacant_tables(topics, table_sticks, topic_sticks, rng):
    """Step (b), second half: dictionary (group, table) -> topic for every table that has a stick."""
    filled = dict(topics)
    for group, sticks in table_sticks.items():
        for table in range(len(sticks.weights)):
            if (group, table) not in filled:
                filled[group, table] = topic_sticks.draw_place(rng)
    return filled


def draw_parameters(labels, topic_count, observations, family, rng):
    """Step (c): phi_k given the observations of topic k, from the prior if it has none; (10)."""
    return [
        family.draw_parameter(
            [x for x, label in zip(observations, labels, strict=True) if label == topic], rng
        )
        for topic in range(topic_count)
    ]


def admitted_places(weights, slice_level):
    """The places whose weight is at least the slice: the indicator of (12)."""
    return [place for place, weight in enumerate(weights) if weight >= slice_level]


def draw_topics_of_tables(tables, topics, slices, beta, parameters, observations, groups, family, rng):
    """Step (d): k_jt of occupied tables, over {k: beta_k >= v_jt}, with weight prod f(x; phi_k)."""
    drawn = {}
    for group, table in topics:
        members = [i for i in range(len(tables)) if (groups[i], tables[i]) == (group, table)]
        log_weights = {
            topic: sum(family.log_density(observations[i], parameters[topic]) for i in members)
            for topic in admitted_places(beta, slices[group, table])
        }
        drawn[group, table] = draw_choice(log_weights, rng)
    return drawn


def draw_tables(topics, slices, table_sticks, parameters, observations, groups, family, rng):
    """Step (e): t_ji over {t: gamma_jt >= u_ji}, with weight f(x; phi of the table's topic); (12).

    `topics` has every table with a stick, vacant ones too.
    """
    drawn = []
    for item, group in enumerate(groups):
        log_weights = {
            table: family.log_density(observations[item], parameters[topics[group, table]])
            for table in admitted_places(table_sticks[group].weights, slices[item])
        }
        drawn.append(draw_choice(log_weights, rng))
    return drawn


def slice_sweep(tables, topics, observations, groups, family, alpha, gamma, rng):
    """One sweep, (a) to (e); returns new (tables, topics) and leaves the arguments alone."""
    table_sticks, slices = draw_table_sticks(tables, groups, alpha, rng)
    topic_sticks, table_slices = draw_topic_sticks(topics, gamma, rng)
    all_tables = fill_vacant_tables(topics, table_sticks, topic_sticks, rng)
    beta = topic_sticks.weights
    labels = labels_of(tables, topics, groups)
    parameters = draw_parameters(labels, len(beta), observations, family, rng)
    all_tables |= draw_topics_of_tables(
        tables, topics, table_slices, beta, parameters, observations, groups, family, rng
    )
    tables = draw_tables(all_tables, slices, table_sticks, parameters, observations, groups, family, rng)
    occupied = set(zip(groups, tables, strict=True))
    return tables, {table: topic for table, topic in all_tables.items() if table in occupied}
