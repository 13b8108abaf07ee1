"""Split-merge of topics with whole tables as the items (Wang & Blei 3.2 and figure 2).

docs/theory/split-merge.md#sec-split-merge-proposal.

One step: two distinct tables, the seeds, are picked uniformly. If they serve one topic, a SPLIT of it is
proposed: each seed starts a side, and the other tables of the topic, in a random order, each join a side.
If they serve two topics, a MERGE of these is proposed; its q is the probability with which a split of the
union, with the same seeds and a random order, would have led to the sides as they are now. Seats never
change, only which topic each table serves.

    A_split = gamma (m_k1 - 1)! (m_k2 - 1)! / (m_k - 1)!  *  f(x_k1) f(x_k2) / f(x_k)  /  q
    A_merge = 1 / (the same for the split that undoes the merge)

The tables of the two sides are visited in passes. In a pass every table except the seeds, in the order, draws
its side with weight m_side f_side(x_table), from what is on the side at that moment, itself taken out:

    pass 1, the sequential allocation    starts from the seeds alone
    pass 2, 3, ..., restricted scans     start from where the pass before ended (Jain & Neal 2004)

`scans` restricted scans make scans + 1 passes. The LAST pass is the proposal and q is the probability of its
choices alone; where the passes before it ended is the launch. With scans = 0 the launch is the seeds alone,
and this is the paper's algorithm. The order and the launch are drawn in the same way in a split and in a
merge, without a look at the present sides: they have the same law in both directions, which is why q may be
taken given them, and why the step is in detailed balance for each order and launch on its own.

Everything comes twice: `transition_probabilities` walks through all seeds, orders, launches and last passes
and uses no random number; `draw_step` draws one of each. Tables are numbered 0, 1, ... through the groups in
the order of the state, `partition` is the canonical tuple of their topics, and these names recur:

    tables : list of the observations (indices) at each table, see `tables_of_state`
    order  : tuple of the tables that are not seeds, of the one or two topics concerned
    sides  : dictionary table -> 0 (with the first seed) or 1 (with the second); a table without a side is
             not in it
"""

import itertools
import math
from collections import Counter

from tests.naive.choices import draw_choice, log_sum_exp
from tests.naive.crf import copy_state, unused_dish
from tests.naive.partitions import blocks_of, canonical

# --- tables as the items ------------------------------------------------------------------------------------


def tables_of_state(state):
    """The seats alone: list with the observations of each table, group after group."""
    return [list(table["observations"]) for tables in state.values() for table in tables]


def partition_of_state(state):
    """The canonical partition of the tables by dish, in the order of `tables_of_state`."""
    return canonical(table["dish"] for tables in state.values() for table in tables)


def with_partition(state, partition):
    """A copy of the seating in which the tables have the labels of the partition for dishes."""
    state = copy_state(state)
    every_table = [table for tables in state.values() for table in tables]
    for table, dish in zip(every_table, partition, strict=True):
        table["dish"] = dish
    return state


def observations_at(chosen, tables, observations):
    """All observations that sit at the chosen tables, in one list."""
    return [observations[index] for table in chosen for index in tables[table]]


def log_weight_of_tables(partition, tables, observations, family, gamma):
    """Log posterior of the partition of the tables into topics given the seats, up to a constant.

    p(k | t, x) ~ gamma^K prod_k (m_k - 1)! f(x_k)
    """
    log_weight = 0.0
    for members in blocks_of(partition).values():
        log_weight += math.log(gamma) + math.lgamma(len(members))
        log_weight += family.log_marginal(observations_at(members, tables, observations))
    return log_weight


# --- what a step is about -----------------------------------------------------------------------------------


def other_tables(first, second, partition):
    """The tables that share a topic with a seed and are no seeds."""
    topics = {partition[first], partition[second]}
    return [
        table for table, topic in enumerate(partition) if topic in topics and table not in (first, second)
    ]


def present_sides(first, second, partition):
    """The sides of the tables of two different topics: 0 for those of the first seed's, 1 for the second's."""
    side_of_topic = {partition[first]: 0, partition[second]: 1}
    return {table: side_of_topic[topic] for table, topic in enumerate(partition) if topic in side_of_topic}


def after_split(partition, sides):
    """The partition in which the tables of side 1 have left for a topic of their own."""
    return canonical("new" if sides.get(table) == 1 else topic for table, topic in enumerate(partition))


def after_merge(partition, first, second):
    """The partition in which the topic of the second seed has become that of the first."""
    return canonical(partition[first] if topic == partition[second] else topic for topic in partition)


# --- the acceptance -----------------------------------------------------------------------------------------


def log_prior_ratio_of_split(first_count, second_count, gamma):
    """log of gamma (m_k1 - 1)! (m_k2 - 1)! / (m_k - 1)!, from the tables on the two sides."""
    return (
        math.log(gamma)
        + math.lgamma(first_count)
        + math.lgamma(second_count)
        - math.lgamma(first_count + second_count)
    )


def log_likelihood_ratio_of_split(sides, tables, observations, family):
    """log of f(x_k1) f(x_k2) / f(x_k)."""
    on_side = {side: [table for table in sides if sides[table] == side] for side in (0, 1)}
    return (
        family.log_marginal(observations_at(on_side[0], tables, observations))
        + family.log_marginal(observations_at(on_side[1], tables, observations))
        - family.log_marginal(observations_at(sides, tables, observations))
    )


def log_acceptance_of_split(sides, log_q, tables, observations, family, gamma):
    """log A_split of the split into these sides, proposed with probability q; a merge has minus this."""
    counts = Counter(sides.values())
    return (
        log_prior_ratio_of_split(counts[0], counts[1], gamma)
        + log_likelihood_ratio_of_split(sides, tables, observations, family)
        - log_q
    )


def probability_of_acceptance(log_acceptance):
    """min(1, A)."""
    return math.exp(min(0.0, log_acceptance))


# --- one pass -----------------------------------------------------------------------------------------------


def log_weights_of_side(table, sides, tables, observations, family):
    """The side of one table given the sides of the others.

        p(side) ~ m_side f_side(x_table)

    f_side is the joint predictive of the observations at the table given those of the tables on the side.
    The table itself is taken out first if it has a side; tables that have none yet do not count.

    Returns a dictionary side -> log weight.
    """
    block = observations_at([table], tables, observations)
    log_weights = {}
    for side in (0, 1):
        members = [other for other in sides if sides[other] == side and other != table]
        others = observations_at(members, tables, observations)
        log_weights[side] = math.log(len(members)) + family.log_predictive_of_block(block, others)
    return log_weights


def log_probabilities_of_side(table, sides, tables, observations, family):
    """`log_weights_of_side` normalised, still in logs: dictionary side -> log probability."""
    log_weights = log_weights_of_side(table, sides, tables, observations, family)
    log_total = log_sum_exp(log_weights.values())
    return {side: log_weight - log_total for side, log_weight in log_weights.items()}


def all_passes(start, order, tables, observations, family):
    """Every way a pass can end: list of (sides, log probability of the choices made)."""
    passes = [(start, 0.0)]
    for table in order:
        longer = []
        for sides, log_q in passes:
            choices = log_probabilities_of_side(table, sides, tables, observations, family)
            for side, log_probability in choices.items():
                longer.append((sides | {table: side}, log_q + log_probability))
        passes = longer
    return passes


def draw_pass(start, order, tables, observations, family, rng):
    """One pass drawn: the sides at its end and the log probability of the choices made."""
    sides, log_q = dict(start), 0.0
    for table in order:
        choices = log_probabilities_of_side(table, sides, tables, observations, family)
        side = draw_choice(choices, rng)
        log_q += choices[side]
        sides[table] = side
    return sides, log_q


def log_probability_of_pass(target, start, order, tables, observations, family):
    """The log probability that a pass from `start` makes the choices that end in the target."""
    sides, log_q = dict(start), 0.0
    for table in order:
        choices = log_probabilities_of_side(table, sides, tables, observations, family)
        log_q += choices[target[table]]
        sides[table] = target[table]
    return log_q


# --- order and launch: the same law in a split and in a merge -----------------------------------------------


def orders(others, sides):
    """Every order in which the other tables may be visited, all equally likely.

    `sides` are the present sides in a merge and None in a split. They are only here to be ignored: an order
    that depends on them is wrong.
    """
    return list(itertools.permutations(others))


def draw_order(others, sides, rng):
    """One of `orders`."""
    return tuple(others[position] for position in rng.permutation(len(others)))


def all_launches(first, second, order, scans, tables, observations, family):
    """Every start of the last pass: list of (sides, log probability), one for each way to get there."""
    launches = [({first: 0, second: 1}, 0.0)]
    for _ in range(scans):
        launches = [
            (after, log_probability + log_step)
            for sides, log_probability in launches
            for after, log_step in all_passes(sides, order, tables, observations, family)
        ]
    return launches


def draw_launch(first, second, order, scans, tables, observations, family, rng):
    """One of `all_launches`: the sides."""
    sides = {first: 0, second: 1}
    for _ in range(scans):
        sides, _ = draw_pass(sides, order, tables, observations, family, rng)
    return sides


# --- the step, enumerated -----------------------------------------------------------------------------------


def all_splits(first, second, partition, tables, observations, family, gamma, scans):
    """Every split that two seeds of one topic can propose, once for every order and every launch.

    Returns a list of (partition proposed, probability of proposing it this way, probability of accepting).
    """
    proposals = []
    every_order = orders(other_tables(first, second, partition), None)
    for order in every_order:
        for launch, log_launch in all_launches(first, second, order, scans, tables, observations, family):
            for sides, log_q in all_passes(launch, order, tables, observations, family):
                log_acceptance = log_acceptance_of_split(sides, log_q, tables, observations, family, gamma)
                proposals.append(
                    (
                        after_split(partition, sides),
                        math.exp(log_launch + log_q) / len(every_order),
                        probability_of_acceptance(log_acceptance),
                    )
                )
    return proposals


def all_merges(first, second, partition, tables, observations, family, gamma, scans):
    """The one merge that seeds of two topics propose, once for every order and every launch.

    Returns a list like that of `all_splits`.
    """
    proposals = []
    sides = present_sides(first, second, partition)
    every_order = orders(other_tables(first, second, partition), sides)
    for order in every_order:
        for launch, log_launch in all_launches(first, second, order, scans, tables, observations, family):
            log_q = log_probability_of_pass(sides, launch, order, tables, observations, family)
            log_acceptance = -log_acceptance_of_split(sides, log_q, tables, observations, family, gamma)
            proposals.append(
                (
                    after_merge(partition, first, second),
                    math.exp(log_launch) / len(every_order),
                    probability_of_acceptance(log_acceptance),
                )
            )
    return proposals


def transition_probabilities(state, observations, family, gamma, scans=0):
    """The exact distribution of the partition of the tables after one step.

    Parameters
    ----------
    state : a seating of `tests.naive.crf`; left as it is
    scans : restricted scans after the sequential allocation; 0 is the paper's algorithm

    Returns
    -------
    dictionary : canonical partition of the tables -> probability, only partitions that can be reached, among
        them always the present one
    """
    tables, partition = tables_of_state(state), partition_of_state(state)
    if len(tables) < 2:
        return {partition: 1.0}
    probabilities = {partition: 0.0}
    pairs = list(itertools.permutations(range(len(tables)), 2))
    for first, second in pairs:
        proposals_of = all_splits if partition[first] == partition[second] else all_merges
        arguments = (partition, tables, observations, family, gamma, scans)
        for proposed, probability, accepted in proposals_of(first, second, *arguments):
            share = probability / len(pairs)
            probabilities[proposed] = probabilities.get(proposed, 0.0) + share * accepted
            probabilities[partition] += share * (1 - accepted)
    return probabilities


# --- the step, drawn ----------------------------------------------------------------------------------------


def draw_step(state, observations, family, gamma, rng, scans=0):
    """One step, in place: only the dishes of the tables change.

    After a split the tables of the first seed keep their dish; after a merge all have the dish of the first
    seed. Returns True when a proposal was accepted.
    """
    tables, partition = tables_of_state(state), partition_of_state(state)
    if len(tables) < 2:
        return False
    first, second = (int(table) for table in rng.choice(len(tables), size=2, replace=False))
    others = other_tables(first, second, partition)
    is_split = partition[first] == partition[second]
    present = None if is_split else present_sides(first, second, partition)

    order = draw_order(others, present, rng)
    launch = draw_launch(first, second, order, scans, tables, observations, family, rng)
    if is_split:
        sides, log_q = draw_pass(launch, order, tables, observations, family, rng)
        log_acceptance = log_acceptance_of_split(sides, log_q, tables, observations, family, gamma)
    else:
        sides = present
        log_q = log_probability_of_pass(sides, launch, order, tables, observations, family)
        log_acceptance = -log_acceptance_of_split(sides, log_q, tables, observations, family, gamma)
    if rng.random() >= probability_of_acceptance(log_acceptance):
        return False

    every_table = [table for tables_of_group in state.values() for table in tables_of_group]
    dish = unused_dish(state) if is_split else every_table[first]["dish"]
    for table, side in sides.items():
        if side == 1:
            every_table[table]["dish"] = dish
    return True
