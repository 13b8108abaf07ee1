"""Gibbs sampling in the Chinese restaurant franchise, on plain dictionaries (Frank et al. 5.1).

docs/theory/crf-gibbs.md#sec-crf-gibbs.

The state is the whole seating:

    state = {group: [{"dish": topic, "observations": [index, ...]}, ...], ...}

one list of tables for every group; topics are integers without meaning; no table is empty, except that a
group may have no table at all. beta, pi and phi are integrated out. Two kinds of step make a sweep:

1. every observation is taken out of its table and draws a table, or a new one, given all others;
2. every table draws its topic, or a new one, with all its observations moving together.

Each conditional comes as `log_weights_of_...` (dictionary choice -> log weight) and as `weights_of_...`
(the same exponentiated, not normalised, exactly the right-hand sides printed below). f_k(x) is the
predictive density of x given the other observations of topic k.
"""

import math
from collections import Counter

from tests.naive.choices import NEW, draw_choice, exponentiated, log_of, log_sum_exp, normalised
from tests.naive.partitions import canonical

# --- the state ----------------------------------------------------------------------------------------------


def copy_state(state):
    """An independent copy of a seating."""
    return {
        group: [{"dish": table["dish"], "observations": list(table["observations"])} for table in tables]
        for group, tables in state.items()
    }


def one_table_per_group(groups):
    """A seating to start from: everybody of a group at one table, all tables with dish 0."""
    state = {}
    for observation, group in enumerate(groups):
        tables = state.setdefault(group, [{"dish": 0, "observations": []}])
        tables[0]["observations"].append(observation)
    return state


def dish_per_observation(state):
    """Dictionary observation -> dish, for the observations that are seated."""
    return {
        observation: table["dish"]
        for tables in state.values()
        for table in tables
        for observation in table["observations"]
    }


def labels_of_state(state, observation_count):
    """The canonical partition of observations 0..observation_count-1 by dish."""
    dishes = dish_per_observation(state)
    return canonical(dishes[observation] for observation in range(observation_count))


def tables_per_dish(state):
    """m_k: dictionary dish -> tables that serve it, in all groups; tables with dish None are left out."""
    return Counter(
        table["dish"] for tables in state.values() for table in tables if table["dish"] is not None
    )


def observations_of_dish(state, dish):
    """Indices of all observations that eat the dish, in all groups."""
    return [
        observation
        for tables in state.values()
        for table in tables
        if table["dish"] == dish
        for observation in table["observations"]
    ]


def table_counts_of_state(state):
    """m_jk: dictionary (group, dish) -> tables."""
    return dict(Counter((group, table["dish"]) for group, tables in state.items() for table in tables))


def unused_dish(state):
    """A name for a new dish: one more than the largest in use."""
    return max(tables_per_dish(state), default=-1) + 1


def unseat(state, group, observation):
    """Take an observation out of its table, in place; a table left empty is closed."""
    for position, table in enumerate(state[group]):
        if observation in table["observations"]:
            table["observations"].remove(observation)
            if not table["observations"]:
                del state[group][position]
            return
    raise ValueError(f"observation {observation} is not seated in group {group}")


def seat(state, group, observation, table, dish):
    """Seat an observation, in place: at a table of its group by position, or at a NEW one with this dish."""
    if table == NEW:
        name = unused_dish(state) if dish == NEW else dish
        state[group].append({"dish": name, "observations": [observation]})
    else:
        state[group][table]["observations"].append(observation)


# --- the table of one observation ---------------------------------------------------------------------------


def log_predictives_of_dishes(observation, state, observations, family):
    """log f_k(x) for every dish in use, and log f_new(x) under NEW; the observation must be unseated."""
    log_predictives = {}
    for dish in tables_per_dish(state):
        others = [observations[other] for other in observations_of_dish(state, dish)]
        log_predictives[dish] = family.log_predictive(observations[observation], others)
    log_predictives[NEW] = family.log_predictive(observations[observation], [])
    return log_predictives


def log_weights_of_dish_of_new_table(observation, state, observations, family, gamma):
    """The topic of a new table that one observation opens.

    p(k_new = k) ~ m_k f_k(x),   p(k_new = new) ~ gamma f_new(x)
    """
    log_predictives = log_predictives_of_dishes(observation, state, observations, family)
    log_weights = {
        dish: math.log(tables) + log_predictives[dish] for dish, tables in tables_per_dish(state).items()
    }
    log_weights[NEW] = math.log(gamma) + log_predictives[NEW]
    return log_weights


def log_weights_of_tables(observation, group, state, observations, family, alpha, gamma):
    """The table of one observation, given all others (docs/theory/crf-gibbs.md#eq-crf-table).

        p(t = t)   ~ n_jt f_{k_jt}(x)
        p(t = new) ~ alpha p_new(x),   p_new(x) = [ sum_k m_k f_k(x) + gamma f_new(x) ] / (m + gamma)

    The observation must be unseated.

    Returns
    -------
    dictionary : position of the table in state[group], or NEW -> log weight
    dictionary : dish, or NEW -> log weight of the topic of a new table (m_k f_k(x), gamma f_new(x))
    """
    log_predictives = log_predictives_of_dishes(observation, state, observations, family)
    log_weights = {}
    for position, table in enumerate(state[group]):
        log_weights[position] = math.log(len(table["observations"])) + log_predictives[table["dish"]]
    of_new_table = log_weights_of_dish_of_new_table(observation, state, observations, family, gamma)
    table_count = sum(tables_per_dish(state).values())
    log_weights[NEW] = math.log(alpha) + log_sum_exp(of_new_table.values()) - math.log(table_count + gamma)
    return log_weights, of_new_table


def weights_of_tables(observation, group, state, observations, family, alpha, gamma):
    """`log_weights_of_tables`, both dictionaries exponentiated."""
    tables, dishes = log_weights_of_tables(observation, group, state, observations, family, alpha, gamma)
    return exponentiated(tables), exponentiated(dishes)


# --- the same, topic first ----------------------------------------------------------------------------------


def log_weights_of_topics(observation, group, state, observations, family, alpha, gamma):
    """The topic of one observation with its table summed out (the cheap form).

    docs/theory/crf-gibbs.md#eq-crf-topic-first.

        p(z = k)   ~ (n_jk + alpha m_k/(m+gamma)) f_k(x)
        p(z = new) ~ alpha gamma/(m+gamma) f_new(x)

    The observation must be unseated. Returns a dictionary dish, or NEW -> log weight.
    """
    log_predictives = log_predictives_of_dishes(observation, state, observations, family)
    tables = tables_per_dish(state)
    table_count = sum(tables.values())
    log_weights = {}
    for dish in tables:
        in_group = sum(len(table["observations"]) for table in state[group] if table["dish"] == dish)
        mass = in_group + alpha * tables[dish] / (table_count + gamma)
        log_weights[dish] = math.log(mass) + log_predictives[dish]
    log_weights[NEW] = math.log(alpha * gamma / (table_count + gamma)) + log_predictives[NEW]
    return log_weights


def weights_of_topics(observation, group, state, observations, family, alpha, gamma):
    """`log_weights_of_topics` exponentiated."""
    return exponentiated(log_weights_of_topics(observation, group, state, observations, family, alpha, gamma))


def log_weights_of_tables_given_topic(dish, group, state, alpha, gamma):
    """The table of one observation whose topic has been drawn.

    docs/theory/crf-gibbs.md#eq-crf-table-given-topic.

        p(t = t | k)   ~ n_jt                    tables of this group that serve k
        p(t = new | k) ~ alpha m_k/(m+gamma)     always a new table if the topic is NEW

    Returns a dictionary position of the table in state[group], or NEW -> log weight.
    """
    if dish == NEW:
        return {NEW: 0.0}
    tables = tables_per_dish(state)
    log_weights = {
        position: math.log(len(table["observations"]))
        for position, table in enumerate(state[group])
        if table["dish"] == dish
    }
    log_weights[NEW] = log_of(alpha * tables[dish] / (sum(tables.values()) + gamma))
    return log_weights


def weights_of_tables_given_topic(dish, group, state, alpha, gamma):
    """`log_weights_of_tables_given_topic` exponentiated."""
    return exponentiated(log_weights_of_tables_given_topic(dish, group, state, alpha, gamma))


# --- the topic of one table ---------------------------------------------------------------------------------


def log_weights_of_dish(group, position, state, observations, family, gamma):
    """The topic of a whole table, its observations moving together.

    docs/theory/crf-gibbs.md#eq-crf-table-topic.

        p(k_jt = k)   ~ m_k^{-jt} f_k(x_jt)
        p(k_jt = new) ~ gamma f_new(x_jt)

    f_k(x_jt) is the JOINT predictive of all observations at the table, given those of topic k at other
    tables. The dish the table has now is not looked at; a topic that only this table serves is the NEW
    choice.

    Returns a dictionary dish, or NEW -> log weight.
    """
    without = copy_state(state)
    without[group][position]["dish"] = None
    block = [observations[observation] for observation in state[group][position]["observations"]]
    log_weights = {}
    for dish, tables in tables_per_dish(without).items():
        others = [observations[other] for other in observations_of_dish(without, dish)]
        log_weights[dish] = math.log(tables) + family.log_predictive_of_block(block, others)
    log_weights[NEW] = math.log(gamma) + family.log_predictive_of_block(block, [])
    return log_weights


def weights_of_dish(group, position, state, observations, family, gamma):
    """`log_weights_of_dish` exponentiated."""
    return exponentiated(log_weights_of_dish(group, position, state, observations, family, gamma))


# --- the sweep ----------------------------------------------------------------------------------------------


def draw_table_of_observation(
    observation, group, state, observations, family, alpha, gamma, rng, topic_first=False
):
    """Redraw the table of one observation, in place, in one of two equivalent forms.

    docs/theory/crf-gibbs.md#sec-crf-observations and docs/theory/crf-gibbs.md#sec-crf-topic-first.
    """
    unseat(state, group, observation)
    arguments = (observation, group, state, observations, family, alpha, gamma)
    if topic_first:
        dish = draw_choice(log_weights_of_topics(*arguments), rng)
        table = draw_choice(log_weights_of_tables_given_topic(dish, group, state, alpha, gamma), rng)
    else:
        of_table, of_new_table = log_weights_of_tables(*arguments)
        table = draw_choice(of_table, rng)
        dish = draw_choice(of_new_table, rng) if table == NEW else None
    seat(state, group, observation, table, dish)


def draw_dish_of_table(group, position, state, observations, family, gamma, rng):
    """Redraw the topic of one table, in place."""
    dish = draw_choice(log_weights_of_dish(group, position, state, observations, family, gamma), rng)
    state[group][position]["dish"] = None
    state[group][position]["dish"] = unused_dish(state) if dish == NEW else dish


def crf_sweep(state, observations, groups, family, alpha, gamma, rng, topic_first=False):
    """One sweep of CRF Gibbs: every observation in order of index, then every table. Returns a new state."""
    state = copy_state(state)
    for observation, group in enumerate(groups):
        draw_table_of_observation(
            observation, group, state, observations, family, alpha, gamma, rng, topic_first
        )
    for group, tables in state.items():
        for position in range(len(tables)):
            draw_dish_of_table(group, position, state, observations, family, gamma, rng)
    return state


# --- joint density, enumeration and exact draws -------------------------------------------------------------


def log_joint_of_seating(state, observations, family, alpha, gamma):
    """log p(x, t, k): the log probability of this very seating and of the data under it.

    p(t, k) = prod_j [ Gamma(alpha)/Gamma(alpha+n_j) prod_t alpha (n_jt - 1)! ]
              * gamma^K prod_k (m_k - 1)! * Gamma(gamma)/Gamma(gamma+m)

    All conditionals of this module are ratios of it. Every observation counted must be seated.
    """
    log_density = 0.0
    for tables in state.values():
        in_group = sum(len(table["observations"]) for table in tables)
        log_density += math.lgamma(alpha) - math.lgamma(alpha + in_group)
        for table in tables:
            log_density += math.log(alpha) + math.lgamma(len(table["observations"]))
    per_dish = tables_per_dish(state)
    log_density += math.lgamma(gamma) - math.lgamma(gamma + sum(per_dish.values()))
    for dish, tables in per_dish.items():
        log_density += math.log(gamma) + math.lgamma(tables)
        log_density += family.log_marginal([observations[i] for i in observations_of_dish(state, dish)])
    return log_density


def frozen(state):
    """A seating as a hashable: its tables in order of their first observation, dishes renamed in that order.

    Each table is (group, dish, tuple of its observations); `thawed` goes back.
    """
    tables = sorted(
        (tuple(sorted(table["observations"])), group, table["dish"])
        for group, tables in state.items()
        for table in tables
    )
    dishes = canonical(dish for _, _, dish in tables)
    return tuple(
        (group, dish, observations) for (observations, group, _), dish in zip(tables, dishes, strict=True)
    )


def thawed(tables, groups):
    """The state of a frozen seating."""
    state = {group: [] for group in groups}
    for group, dish, observations in tables:
        state[group].append({"dish": dish, "observations": list(observations)})
    return state


def posterior_over_seatings(observations, groups, family, alpha, gamma):
    """Every seating with its exact posterior probability: dictionary frozen seating -> probability.

    A distribution on these can be pushed through any conditional exactly, without a single random number.
    For n <= 5 or so.
    """
    log_weights = {}
    for seating in all_seatings(groups):
        state = thawed(seating, groups)
        log_weights[frozen(state)] = log_joint_of_seating(state, observations, family, alpha, gamma)
    return normalised(log_weights)


def all_seatings(groups):
    """Every seating once, frozen: each observation joins a table of its group or opens one with any dish."""
    seatings = [()]
    for observation, group in enumerate(groups):
        longer = []
        for seating in seatings:
            for position, (its_group, dish, others) in enumerate(seating):
                if its_group == group:
                    joined = (group, dish, (*others, observation))
                    longer.append((*seating[:position], joined, *seating[position + 1 :]))
            dish_count = len({dish for _, dish, _ in seating})
            for dish in range(dish_count + 1):
                longer.append((*seating, (group, dish, (observation,))))
        seatings = longer
    return seatings


def draw_seating_from_prior(groups, alpha, gamma, rng):
    """A seating from the prior: customers enter one by one, as in `posterior.prior_by_seatings`."""
    state = {group: [] for group in groups}
    for observation, group in enumerate(groups):
        dishes = {dish: math.log(tables) for dish, tables in tables_per_dish(state).items()}
        dishes[NEW] = math.log(gamma)
        tables = {
            position: math.log(len(table["observations"])) for position, table in enumerate(state[group])
        }
        tables[NEW] = math.log(alpha)
        seat(state, group, observation, draw_choice(tables, rng), draw_choice(dishes, rng))
    return state


def draw_seating_of_weights(labels, weights, groups, alpha, rng):
    """Weights -> seating: seat each cell by a restaurant of concentration alpha beta_k.

    docs/theory/views.md#eq-weights-to-seating.

    Parameters
    ----------
    labels : topic of each observation
    weights : dictionary topic -> beta_k (an entry NEW is ignored)

    Returns a state whose dishes are the topics of `labels` renamed to 0, 1, ... in order of first appearance.
    """
    name_of_topic = dict(zip(labels, canonical(labels), strict=True))
    state = {group: [] for group in groups}
    for observation, (group, topic) in enumerate(zip(groups, labels, strict=True)):
        dish = name_of_topic[topic]
        choices = {
            position: math.log(len(table["observations"]))
            for position, table in enumerate(state[group])
            if table["dish"] == dish
        }
        choices[NEW] = log_of(alpha * weights[topic])
        seat(state, group, observation, draw_choice(choices, rng), dish)
    return state
