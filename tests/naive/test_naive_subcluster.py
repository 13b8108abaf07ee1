"""Tests of the sub-cluster twin.

Identities hold to 1e-9, on random small states: each printed ratio equals the one from parts, and dropping
any factor breaks it. Then the ratios are put to work: in samplers whose proposals are honest (labels by fair
dice, both directions known) they must lead to the enumerated posterior, and without gamma they must not.
Samplers are judged by frequencies, with fixed seeds and thresholds from independent draws.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from franchise.checks.enumeration import Enumeration, tiny_model
from franchise.families import Categorical
from tests.naive import frequencies, posterior, stirling, subcluster
from tests.naive.choices import normalised
from tests.naive.partitions import all_partitions, canonical
from tests.naive.subcluster import Problem, Weights
from tests.support.nightly import nightly

SMALL = Problem(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2]), 1.0, 1.0, 0.5, 3)
UNEVEN = Problem(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 2]), 1.7, 0.6, 0.5, 3)
SEEDS = range(12)


# --- random small states ------------------------------------------------------------------------------------


def _random_problem(rng):
    """16 observations in 3 groups, 4 words."""
    return Problem(
        groups=np.arange(16) % 3,
        words=rng.integers(4, size=16),
        alpha=rng.uniform(0.5, 3.0),
        gamma=rng.uniform(0.3, 0.8),
        eta=rng.uniform(0.2, 1.5),
        vocabulary=4,
    )


def _random_weights(topic_count, problem, rng):
    """Every topic has observations, and in no order."""
    labels = rng.permutation(np.arange(len(problem.words)) % topic_count)
    drawn = rng.dirichlet(np.ones(topic_count + 1))
    return Weights(labels, drawn[:-1], float(drawn[-1]))


def _random_local_split(seed):
    """Arguments of `log_local_split` for 2 to 4 topics; both sides of the topic occur in two groups."""
    rng = np.random.default_rng(seed)
    problem = _random_problem(rng)
    weights = _random_weights(2 + seed % 3, problem, rng)
    topic = int(rng.integers(len(weights.beta)))
    members = np.flatnonzero(weights.labels == topic)
    sides = rng.integers(2, size=16)
    sides[members] = np.arange(len(members)) % 2
    return weights, sides, topic, rng.uniform(0.1, 0.9), -rng.uniform(1, 9), problem


def _random_global_split(seed):
    """Arguments of `log_global_split`: 2 to 4 topics before and one more after, nothing else in common."""
    rng = np.random.default_rng(seed)
    problem = _random_problem(rng)
    before = _random_weights(2 + seed % 3, problem, rng)
    after = _random_weights(3 + seed % 3, problem, rng)
    return before, after, -rng.uniform(1, 9), -rng.uniform(1, 9), rng.uniform(1, 4), problem


def _random_parameters(topic_count, problem, rng):
    """pi (J, K), its leftover cut off, and phi (K, V)."""
    pi = rng.dirichlet(np.ones(topic_count + 1), size=problem.group_count)[:, :-1]
    return pi, rng.dirichlet(np.ones(problem.vocabulary), size=topic_count)


def _seeds_broken_without(dropped, arguments_of, terms_of, log_ratio):
    """True if most ratios change without the factor; G(1) and G(2) are 1, so a few need not."""
    broken = 0
    for seed in SEEDS:
        arguments = arguments_of(seed)
        rest = sum(term for name, term in terms_of(*arguments).items() if name != dropped)
        broken += abs(rest - log_ratio(*arguments)) > 1e-3
    return broken > len(SEEDS) / 2


# --- the target and the proposal of weights -----------------------------------------------------------------


def _log_prior_through_tables(weights, problem):
    """log of the sum over all table counts of p(z, m) Dir(beta; m, gamma)."""
    labels, beta, beta_u = weights
    groups = problem.groups.tolist()
    total = 0.0
    for tables in posterior.all_table_counts(labels.tolist(), groups):
        log_joint = posterior.log_prior_of_partition_and_tables(
            labels.tolist(), tables, groups, problem.alpha, problem.gamma
        )
        shapes = [sum(m for (_, k), m in tables.items() if k == topic) for topic in range(len(beta))]
        total += math.exp(log_joint) * stats.dirichlet.pdf([*beta, beta_u], [*shapes, problem.gamma])
    return math.log(total)


@pytest.mark.parametrize("labels", [(0, 0, 0, 0, 0), (0, 1, 0, 1, 1), (0, 0, 1, 2, 1)])
def test_prior_of_weights_and_topics_is_the_sum_over_table_counts(labels):
    drawn = np.random.default_rng(1).dirichlet(np.ones(max(labels) + 2))
    weights = Weights(np.array(labels), drawn[:-1], float(drawn[-1]))
    counts = subcluster.count_by_group_topic(labels, UNEVEN.groups, max(labels) + 1, 2)
    log_prior = subcluster.log_prior_of_weights_and_topics(
        weights.beta, weights.beta_u, counts, UNEVEN.alpha, UNEVEN.gamma
    )
    through_tables = _log_prior_through_tables(weights, UNEVEN)
    assert log_prior == pytest.approx(through_tables, abs=1e-9)
    if max(labels) > 0:  # gamma once instead of once for every topic
        assert abs(log_prior - max(labels) * math.log(UNEVEN.gamma) - through_tables) > 0.1


def test_proposed_tables_maximise_the_probability_of_a_table_count():
    for count, topics in itertools.product(range(1, 25), range(1, 7)):
        best = subcluster.proposed_tables(count, topics)
        log_probabilities = [
            stirling.log_probability_of_table_count(count, tables, 1 / topics)
            for tables in range(1, count + 1)
        ]
        assert log_probabilities[best - 1] >= max(log_probabilities) - 1e-12
    assert [subcluster.proposed_tables(n, 1) for n in range(6)] == [0, 1, 1, 2, 2, 2]
    assert [subcluster.proposed_tables(n, 2) for n in range(6)] == [0, 1, 1, 1, 1, 2]


def test_densities_of_proposed_weights():
    rng = np.random.default_rng(2)
    *beta, beta_u = rng.dirichlet(np.ones(4))
    assert subcluster.log_density_of_weights(beta, beta_u, [3, 1, 2], 0.7) == pytest.approx(
        stats.dirichlet.logpdf([*beta, beta_u], [3, 1, 2, 0.7]), abs=1e-9
    )
    assert subcluster.log_density_of_share(0.3, 4, 2) == pytest.approx(stats.beta.logpdf(0.3, 4, 2), abs=1e-9)


def test_the_share_needs_the_jacobian_to_become_a_density_of_two_weights():
    """Beta shares of a Dirichlet part are a Dirichlet again, if the density of the share is over beta_a."""
    b, c, rest, unseen = np.random.default_rng(3).dirichlet(np.ones(4))
    both = subcluster.log_density_of_weights([b, c, rest], unseen, [3, 2, 4], 0.7)
    together = subcluster.log_density_of_weights([b + c, rest], unseen, [5, 4], 0.7)
    share = subcluster.log_density_of_share(b / (b + c), 3, 2)
    assert both == pytest.approx(together + share - math.log(b + c), abs=1e-9)


# --- local splits and merges --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", nightly(SEEDS, but=range(2)))
def test_local_split_as_printed_is_the_one_from_parts(seed):
    arguments = _random_local_split(seed)
    printed = subcluster.log_local_split(*arguments)
    assert printed == pytest.approx(subcluster.log_local_split_from_parts(*arguments), abs=1e-9)
    for topics in (1, 7):
        assert subcluster.log_local_split(*arguments, topics) == pytest.approx(
            subcluster.log_local_split_from_parts(*arguments, topics), abs=1e-9
        )


@pytest.mark.parametrize(
    "dropped", ["gamma", "tables", "weights", "likelihood", "labels", "choice", "groups"]
)
def test_no_factor_of_the_local_split_can_be_dropped(dropped):
    assert _seeds_broken_without(
        dropped, _random_local_split, subcluster.terms_of_local_split, subcluster.log_local_split_from_parts
    )


def test_local_split_without_the_jacobian_is_something_else():
    for seed in SEEDS:
        weights, _, topic, *_ = arguments = _random_local_split(seed)
        without = subcluster.log_local_split_from_parts(*arguments) - math.log(weights.beta[topic])
        assert abs(without - subcluster.log_local_split(*arguments)) > 1e-2


@pytest.mark.parametrize("seed", nightly(SEEDS, but=range(2)))
def test_local_merge_undoes_local_split(seed):
    weights, sides, topic, share, log_q, problem = arguments = _random_local_split(seed)
    after = subcluster.after_local_split(weights, sides, topic, share)
    for pair in itertools.permutations((topic, len(weights.beta))):
        back = subcluster.after_local_merge(after, pair)
        assert canonical(back.labels) == canonical(weights.labels)
        assert sorted(back.beta) == pytest.approx(sorted(weights.beta), abs=1e-12)
        log_merge = subcluster.log_local_merge(after, pair, log_q, problem)
        assert log_merge == pytest.approx(-subcluster.log_local_split(*arguments), abs=1e-9)


def test_labels_of_a_local_split_have_the_probability_of_their_sides():
    rng = np.random.default_rng(4)
    labels, sides = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 1, 0, 1, 1, 0])
    sub_pi = rng.dirichlet(np.ones(2), size=(2, 2))
    sub_phi = rng.dirichlet(np.ones(3), size=(2, 2))
    by_hand = 1.0
    for i in np.flatnonzero(labels == 1):
        left, right = (sub_pi[SMALL.groups[i], 1, h] * sub_phi[1, h, SMALL.words[i]] for h in (0, 1))
        by_hand *= (left, right)[sides[i]] / (left + right)
    log_q = subcluster.log_probability_of_sides(labels, sides, 1, sub_pi, sub_phi, SMALL)
    assert log_q == pytest.approx(math.log(by_hand), abs=1e-9)


@pytest.mark.parametrize("seed", nightly(SEEDS, but=range(2)))
def test_stand_in_of_a_merge_from_the_matrix(seed):
    rng = np.random.default_rng(seed)
    problem = _random_problem(rng)
    labels = _random_weights(4, problem, rng).labels
    pi, phi = _random_parameters(4, problem, rng)
    log_l = subcluster.log_matrix_of_merges(labels, pi, phi, problem)
    for b, c in itertools.permutations(range(4), 2):
        log_q = subcluster.log_probability_of_undoing(labels, (b, c), pi, phi, problem)
        assert log_q == pytest.approx(log_l[b, b] + log_l[c, c] - log_l[b, c] - log_l[c, b], abs=1e-9)


def test_stand_in_of_a_merge_is_exact_if_sub_topics_were_the_topics():
    """With bar-pi_jal = pi_jb/(pi_jb+pi_jc) and bar-phi_al = phi_b, and so for c, (20) is (16)."""
    rng = np.random.default_rng(5)
    pi, phi = _random_parameters(2, SMALL, rng)
    sides = np.array([0, 1, 1, 0, 1, 0])
    sub_pi = (pi / pi.sum(axis=1, keepdims=True))[:, None, :]
    as_sides = subcluster.log_probability_of_sides(np.zeros(6, int), sides, 0, sub_pi, phi[None], SMALL)
    as_topics = subcluster.log_probability_of_undoing(sides, (0, 1), pi, phi, SMALL)
    assert as_sides == pytest.approx(as_topics, abs=1e-9)


# --- global splits and merges -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", nightly(SEEDS, but=range(2)))
def test_global_split_written_out_is_the_one_by_parts(seed):
    arguments = _random_global_split(seed)
    written_out = subcluster.log_global_split_written_out(*arguments)
    assert written_out == pytest.approx(subcluster.log_global_split(*arguments), abs=1e-9)
    for topics in (1, 7):
        assert subcluster.log_global_split_written_out(*arguments, topics) == pytest.approx(
            subcluster.log_global_split(*arguments, topics), abs=1e-9
        )


@pytest.mark.parametrize(
    "dropped", ["gamma", "all tables", "likelihood", "labels", "topic", "choice", "before", "after"]
)
def test_no_factor_of_the_global_split_can_be_dropped(dropped):
    assert _seeds_broken_without(
        dropped, _random_global_split, subcluster.terms_of_global_split, subcluster.log_global_split
    )


def test_global_merge_undoes_global_split():
    for seed in SEEDS:
        before, after, log_q_after, log_q_before, log_q_topic, problem = _random_global_split(seed)
        log_split = subcluster.log_global_split(
            before, after, log_q_after, log_q_before, log_q_topic, problem
        )
        log_merge = subcluster.log_global_merge(
            after, before, log_q_before, log_q_after, log_q_topic, problem
        )
        assert log_merge == pytest.approx(-log_split, abs=1e-9)


def test_temporaries_of_global_moves_undo_each_other():
    rng = np.random.default_rng(6)
    pi, phi = _random_parameters(4, SMALL, rng)
    for b, c in itertools.combinations(range(4), 2):
        merged_phi = rng.dirichlet(np.ones(3))
        merged = subcluster.temporaries_of_global_merge((b, c), pi, phi, merged_phi)
        assert merged[0].sum(axis=1) == pytest.approx(pi.sum(axis=1))
        assert merged[1][b] == pytest.approx(merged_phi)
        shares = pi[:, [b, c]] / pi[:, [b, c]].sum(axis=1, keepdims=True)
        back = subcluster.temporaries_of_global_split(b, c, *merged, shares, phi[[b, c]])
        np.testing.assert_allclose(back[0], pi, atol=1e-12)
        np.testing.assert_allclose(back[1], phi, atol=1e-12)


def test_printed_global_ratio_depends_on_the_coordinates_of_phi(monkeypatch):
    """A density without a partner: in logarithmic coordinates (24) is another number, the repair is not."""
    labels, split_labels = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 2, 0, 1, 2, 1])
    phi = np.random.default_rng(7).dirichlet(np.ones(3))
    arguments = (phi, split_labels, (0, 2), labels, 0, SMALL)
    printed, repaired = (
        subcluster.log_density_of_merged_topic(*arguments),
        subcluster.log_ratio_of_merged_topic(*arguments),
    )
    usual = subcluster.log_dirichlet_density
    monkeypatch.setattr(
        subcluster,
        "log_dirichlet_density",
        lambda point, shapes: usual(point, shapes) + sum(math.log(coordinate) for coordinate in point),
    )
    assert subcluster.log_ratio_of_merged_topic(*arguments) == pytest.approx(repaired, abs=1e-9)
    assert abs(subcluster.log_density_of_merged_topic(*arguments) - printed) > 1.0


# --- the ratios at work -------------------------------------------------------------------------------------


def _guarded_sweep(weights, problem, rng):
    """(2), (3), (4) unless a topic would be empty, (5), (1)."""
    labels = _proposed_labels(weights, problem, rng)
    if len(set(labels)) < len(weights.beta):
        labels = weights.labels
    return _with_new_weights(weights._replace(labels=labels), problem, rng)


def _published_sweep(weights, problem, rng):
    """(2) to (5), (1); topics that empty disappear."""
    labels = _proposed_labels(weights, problem, rng)
    kept = sorted(set(labels))
    left = Weights(np.searchsorted(kept, labels), weights.beta[kept], 1.0 - sum(weights.beta[kept]))
    return _with_new_weights(left, problem, rng)


def _proposed_labels(weights, problem, rng):
    pi = subcluster.draw_weights_of_groups(weights, problem, rng)
    phi = subcluster.draw_topics(weights.labels, len(weights.beta), problem, rng)
    return subcluster.draw_choices(subcluster.probabilities_of_labels(pi, phi, problem), rng)


def _with_new_weights(weights, problem, rng):
    counts = subcluster.count_by_group_topic(
        weights.labels, problem.groups, len(weights.beta), problem.group_count
    )
    shapes = np.broadcast_to(problem.alpha * weights.beta, counts.shape)
    tables = subcluster.draw_table_counts(counts, shapes, rng)
    return Weights(weights.labels, *subcluster.draw_topic_weights(tables.sum(axis=0), problem.gamma, rng))


def _honest_local_move(weights, problem, rng):
    """A coin for split or merge, the topic or pair by a die, the sides of a split by coins.

    Both namings of the sides lead to the same split, so q(z') = 2 * 2^-n. Q_merge(K+1)/Q_split(K) is 2/(K+1).
    """
    topic_count = len(weights.beta)
    if rng.random() < 0.5:
        topic, sides = int(rng.integers(topic_count)), rng.integers(2, size=len(weights.labels))
        members = weights.labels == topic
        if len(set(sides[members])) < 2:
            return weights
        log_q = (1 - sum(members)) * math.log(2)
        split = subcluster.after_local_split(weights, sides, topic, 0.5)
        tables = subcluster.tables_of_labels(split.labels, topic_count + 1, topic_count, problem)
        share = rng.beta(tables[topic], tables[topic_count])
        log_ratio = subcluster.log_local_split(weights, sides, topic, share, log_q, problem)
        log_ratio += math.log(2 / (topic_count + 1) / subcluster.probability_of_local_merge(topic_count + 1))
        proposed = subcluster.after_local_split(weights, sides, topic, share)
    else:
        if topic_count == 1:
            return weights
        pair = rng.choice(topic_count, 2, replace=False)
        log_q = (1 - sum(np.isin(weights.labels, pair))) * math.log(2)
        log_ratio = subcluster.log_local_merge(weights, pair, log_q, problem)
        log_ratio -= math.log(2 / topic_count / subcluster.probability_of_local_merge(topic_count))
        proposed = subcluster.after_local_merge(weights, pair)
    return proposed if subcluster.accepts(log_ratio, rng) else weights


def _honest_global_move(weights, problem, rng):
    """A coin for one topic more or less, all labels by dice with so many faces, weights by (13).

    No topic is picked, and every partition into K topics comes with K! namings, so that Q_merge/Q_split in
    (24) becomes K!/(K+1)! = 1/(K+1).
    """
    topic_count, size = len(weights.beta), len(weights.labels)
    if rng.random() < 0.5:
        proposed = subcluster.propose_weights(
            rng.integers(topic_count + 1, size=size), topic_count + 1, topic_count, problem, rng
        )
        fewer, more, sign = weights, proposed, 1
    else:
        if topic_count == 1:
            return weights
        proposed = subcluster.propose_weights(
            rng.integers(topic_count - 1, size=size), topic_count - 1, topic_count - 1, problem, rng
        )
        fewer, more, sign = proposed, weights, -1
    if proposed is None:
        return weights
    few = len(fewer.beta)
    log_ratio = subcluster.log_global_split_written_out(
        fewer, more, -size * math.log(few + 1), -size * math.log(few), 0.0, problem
    )
    picked = subcluster.probability_of_global_merge(few + 1) / subcluster.probability_of_global_split(few)
    log_ratio -= math.log(picked * (few + 1))
    return proposed if subcluster.accepts(sign * log_ratio, rng) else weights


def _compare_honest_sampler(move, sweep=_guarded_sweep):
    """(total variation, threshold, effective size) of 4000 sweeps, each followed by the move."""
    rng = np.random.default_rng(8)
    weights, draws = Weights(np.zeros(5, int), np.array([0.5]), 0.5), []
    for _ in range(4000):
        weights = move(sweep(weights, UNEVEN, rng), UNEVEN, rng)
        draws.append(canonical(weights.labels))
    return frequencies.compare_draws(draws, subcluster.exact_posterior(UNEVEN), np.random.default_rng(1))


@pytest.mark.parametrize("move", [_honest_local_move, _honest_global_move])
def test_honest_proposals_with_the_printed_ratios_give_the_posterior(move):
    distance, threshold, effective = _compare_honest_sampler(move)
    assert distance < threshold
    assert effective > 200


@pytest.mark.parametrize(
    ("move", "terms"),
    [(_honest_local_move, "terms_of_local_split"), (_honest_global_move, "terms_of_global_split")],
)
def test_without_gamma_they_do_not(move, terms, monkeypatch):
    right = getattr(subcluster, terms)
    monkeypatch.setattr(subcluster, terms, lambda *arguments: right(*arguments) | {"gamma": 0.0})
    distance, threshold, _ = _compare_honest_sampler(move)
    assert distance > threshold


def test_nor_after_sweeps_that_empty_topics():
    distance, threshold, _ = _compare_honest_sampler(_honest_local_move, _published_sweep)
    assert distance > threshold


# --- the conditionals of the sub-topics ---------------------------------------------------------------------


def test_shapes_of_the_sub_topics_by_hand():
    labels, sides = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1, 1, 1, 0, 0])
    counts = subcluster.count_by_group_topic_side(labels, sides, 2, SMALL)
    assert counts.tolist() == [[[1, 1], [0, 1]], [[1, 0], [1, 1]]]
    sub_beta = np.array([[0.25, 0.75], [0.4, 0.6]])
    of_groups = subcluster.sub_group_weights_conditional(labels, sides, sub_beta, SMALL)
    np.testing.assert_allclose(of_groups, [[[1.25, 1.75], [0.4, 1.6]], [[1.25, 0.75], [1.4, 1.6]]])
    of_topics = subcluster.sub_topics_conditional(labels, sides, 2, SMALL)
    np.testing.assert_allclose(
        of_topics, [[[1.5, 0.5, 1.5], [1.5, 0.5, 0.5]], [[0.5, 0.5, 1.5], [0.5, 2.5, 0.5]]]
    )
    of_weights = subcluster.sub_weights_conditional(np.array([[2, 1], [1, 2]]), 0.7)
    np.testing.assert_allclose(of_weights, [[2.7, 1.7], [1.7, 2.7]])


def _posterior_of_sides(problem):
    """p(bar-z|x) of a single topic, all else summed or integrated out: dictionary sides -> probability.

    bar-beta ~ Dir(gamma, gamma), so the tables of the sides have prod_h G(gamma+m_h)/G(gamma) / G(2 gamma+m).
    """
    family = subcluster.families.Categorical([problem.eta] * problem.vocabulary)
    groups, log_weights = problem.groups.tolist(), {}
    for sides in itertools.product((0, 1), repeat=len(groups)):
        terms = []
        for tables in posterior.all_table_counts(sides, groups):
            term = 0.0
            cells = posterior.count_cells(sides, groups)
            for cell, count in tables.items():
                term += stirling.log_stirling_first(cells[cell], count) + count * math.log(problem.alpha)
            for side in (0, 1):
                of_side = sum(count for (_, its_side), count in tables.items() if its_side == side)
                term += math.lgamma(problem.gamma + of_side)
            terms.append(term - math.lgamma(2 * problem.gamma + sum(tables.values())))
        log_weights[sides] = float(np.logaddexp.reduce(terms))
        log_weights[sides] += posterior.log_likelihood_of_partition(sides, problem.words, family)
    return normalised(log_weights)


def _draw_sides(problem, sweeps, seed):
    rng = np.random.default_rng(seed)
    state = subcluster.starting_state(problem, np.zeros(len(problem.words), int), rng)
    draws = []
    for _ in range(sweeps):
        state = subcluster.one_sweep(state, rng, set())
        draws.append(tuple(state.sides.tolist()))
    return draws


def test_sides_of_a_single_topic_follow_their_posterior():
    draws, exact = _draw_sides(UNEVEN, 2000, 9), _posterior_of_sides(UNEVEN)
    distance, threshold, _ = frequencies.compare_draws(draws, exact, np.random.default_rng(1))
    assert distance < threshold


def test_sides_with_the_weights_of_regular_topics_do_not(monkeypatch):
    """(6) without its gammas, bar-beta ~ Dir(bar-m), is caught (kept above zero for empty sides)."""
    monkeypatch.setattr(subcluster, "sub_weights_conditional", lambda tables, gamma: tables + 1e-3)
    draws, exact = _draw_sides(UNEVEN, 2000, 9), _posterior_of_sides(UNEVEN)
    distance, threshold, _ = frequencies.compare_draws(draws, exact, np.random.default_rng(1))
    assert distance > threshold


# --- the published sweep ------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic_count", [2, 3])
def test_guarded_sweeps_give_the_posterior_among_partitions_with_so_many_topics(topic_count):
    everything = subcluster.exact_posterior(SMALL)
    total = sum(p for labels, p in everything.items() if max(labels) + 1 == topic_count)
    exact = {labels: p / total if max(labels) + 1 == topic_count else 0.0 for labels, p in everything.items()}
    exact = {labels: p for labels, p in exact.items() if p > 0}
    draws = subcluster.visited_partitions(
        SMALL, {"guarded"}, 1500, np.random.default_rng(10), start=np.arange(6) % topic_count
    )
    distance, threshold, _ = frequencies.compare_draws(draws, exact, np.random.default_rng(1))
    assert distance < threshold


def test_unguarded_sweeps_without_moves_end_in_one_topic():
    draws = subcluster.visited_partitions(
        SMALL, set(), 300, np.random.default_rng(11), start=np.arange(6) % 3
    )
    counts = [max(labels) + 1 for labels in draws]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1


def test_empty_topics_leave_their_weight_to_the_unseen():
    rng = np.random.default_rng(12)
    state = subcluster.starting_state(SMALL, [0, 1, 2, 0, 1, 2], rng)
    weights = Weights(np.array([0, 2, 2, 0, 0, 2]), np.array([0.2, 0.3, 0.4]), 0.1)
    after = subcluster.drop_empty_topics(subcluster.replace(state, weights=weights))
    assert after.weights.labels.tolist() == [0, 1, 1, 0, 0, 1]
    assert after.weights.beta.tolist() == [0.2, 0.4]
    assert after.weights.beta_u == pytest.approx(0.4)
    assert after.phi.tolist() == state.phi[[0, 2]].tolist()
    assert after.sub_pi.tolist() == state.sub_pi[:, [0, 2]].tolist()


EVERY_MOVE = {"local", "deterministic", "global", "balanced"}


def test_every_sweep_leaves_a_whole_state():
    rng = np.random.default_rng(13)
    state = subcluster.starting_state(SMALL._replace(alpha=3.0, gamma=5.0), [0, 1, 2, 0, 1, 2], rng)
    seen = set()
    for _ in range(250):
        state = subcluster.one_sweep(state, rng, EVERY_MOVE)
        topic_count = state.topic_count
        seen.add(topic_count)
        assert set(state.weights.labels.tolist()) == set(range(topic_count))
        assert set(state.sides.tolist()) <= {0, 1}
        assert sum(state.weights.beta) + state.weights.beta_u == pytest.approx(1.0)
        assert state.pi.shape == (2, topic_count)
        assert (state.pi.sum(axis=1) <= 1 + 1e-12).all()
        assert state.sub_beta.shape == (topic_count, 2)
        assert state.age.shape == (topic_count,)
        for rows, shape in (
            (state.phi, (topic_count, 3)),
            (state.sub_pi, (2, topic_count, 2)),
            (state.sub_phi, (topic_count, 2, 3)),
        ):
            assert rows.shape == shape
            np.testing.assert_allclose(rows.sum(axis=-1), 1.0)
    assert len(seen) >= 3


def test_same_seed_same_chain():
    chains = [
        subcluster.visited_partitions(SMALL, EVERY_MOVE, 40, np.random.default_rng(14)) for _ in range(2)
    ]
    assert chains[0] == chains[1]


def test_a_young_topic_is_not_split():
    moves = {"local", "global"}
    for burn_in, most in ((10**6, 1), (1, 6)):
        draws = subcluster.visited_partitions(SMALL, moves, 200, np.random.default_rng(15), burn_in=burn_in)
        counts = {max(labels) + 1 for labels in draws}
        assert max(counts) <= most
        assert (len(counts) > 1) == (most > 1)


# --- how far off --------------------------------------------------------------------------------------------


def test_exact_posterior_is_that_of_the_package():
    enumeration = Enumeration(
        tiny_model(Categorical(3, 0.5), SMALL.words, SMALL.groups.tolist()), SMALL.alpha, SMALL.gamma
    )
    exact = subcluster.exact_posterior(SMALL)
    assert list(exact) == enumeration.partitions == all_partitions(6)
    np.testing.assert_allclose(list(exact.values()), enumeration.probabilities, atol=1e-9)


@pytest.mark.parametrize("moves", [{"local"}, {"global"}, {"local", "global"}])
def test_the_published_sampler_has_too_few_topics(moves):
    bias = subcluster.measure_bias(SMALL, moves, 700, np.random.default_rng(16))
    assert bias.exact_topics == pytest.approx(2.3723, abs=1e-4)
    assert bias.topics < bias.exact_topics - 0.2
    assert bias.distance > 1.5 * bias.independent
