"""Tests of the hidden topic Markov model's twin: fractions by hand, other routes to one number, simulation.

The other routes are the thesis's 2K-state transition matrix, Gauss quadrature over theta, phi and epsilon
(the integrands are polynomials, so it is exact), the Chinese restaurant franchise played through, and
forward simulation kept where it gave the data's very words. Seeds are fixed; a p-value below 1e-4 fails.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import special, stats

from tests.naive import families, htmm, posterior
from tests.naive.partitions import all_partitions, canonical

SMALLEST_P_VALUE = 1e-4

# Two topics, two sentences. Of 960ths, the six sequences have
#
#   topics   switches   theta  words   link   theta  words
#   (0, 0)   (1, 0)     1/4  * 1/2  *  4/5         *  1/2      48
#   (1, 1)   (1, 0)     3/4  * 1/3  *  4/5         *  2/3     128
#   (0, 0)   (1, 1)     1/4  * 1/2  *  1/5  * 1/4  *  1/2       3
#   (0, 1)   (1, 1)     1/4  * 1/2  *  1/5  * 3/4  *  2/3      12
#   (1, 0)   (1, 1)     3/4  * 1/3  *  1/5  * 1/4  *  1/2       6
#   (1, 1)   (1, 1)     3/4  * 1/3  *  1/5  * 3/4  *  2/3      24      together 221
HAND_DOCUMENT = [[0], [1]]
HAND_THETA = [1 / 4, 3 / 4]
HAND_PHI = [[1 / 2, 1 / 2], [1 / 3, 2 / 3]]
HAND_EPSILON = 1 / 5
HAND_WEIGHTS = {
    ((0, 0), (1, 0)): 48,
    ((1, 1), (1, 0)): 128,
    ((0, 0), (1, 1)): 3,
    ((0, 1), (1, 1)): 12,
    ((1, 0), (1, 1)): 6,
    ((1, 1), (1, 1)): 24,
}
HAND = (HAND_DOCUMENT, HAND_THETA, HAND_PHI, HAND_EPSILON)


def _random_case(seed, n_topics=3, n_words=4):
    """A document with sentences of several lengths, an empty one among them, and parameters for it."""
    rng = np.random.default_rng(seed)
    document = [[int(word) for word in rng.integers(n_words, size=length)] for length in (2, 1, 0, 3)]
    theta = rng.dirichlet(np.ones(n_topics))
    phi = rng.dirichlet(np.ones(n_words), size=n_topics)
    return document, theta, phi, rng.uniform(0.1, 0.9)


def _p_value(counts, probabilities):
    """Chi-squared p-value of observed counts, outcomes expected fewer than 5 times pooled into one."""
    assert set(counts) <= set(probabilities)
    size = sum(counts.values())
    rare = [outcome for outcome, probability in probabilities.items() if probability * size < 5]
    common = [outcome for outcome in probabilities if outcome not in rare]
    observed = [counts.get(outcome, 0) for outcome in common]
    expected = [probabilities[outcome] * size for outcome in common]
    if rare:
        observed.append(sum(counts.get(outcome, 0) for outcome in rare))
        expected.append(sum(probabilities[outcome] for outcome in rare) * size)
    return stats.chisquare(observed, np.array(expected) * (size / sum(expected))).pvalue


# --- sequences and the joint density ------------------------------------------------------------------------


def test_sequences_are_all_that_can_happen():
    assert htmm.sequences(0, 3) == [((), ())]
    assert htmm.sequences(1, 2) == [((0,), (1,)), ((1,), (1,))]
    assert set(htmm.sequences(2, 2)) == set(HAND_WEIGHTS)
    for n_sentences, n_topics in itertools.product(range(1, 5), range(1, 4)):
        pairs = htmm.sequences(n_sentences, n_topics)
        assert len(pairs) == len(set(pairs)) == n_topics * (n_topics + 1) ** (n_sentences - 1)
        for topics, switches in pairs:
            assert switches[0] == 1
            assert all(switches[s] == 1 or topics[s] == topics[s - 1] for s in range(n_sentences))


def test_joint_by_hand():
    for (topics, switches), weight in HAND_WEIGHTS.items():
        joint = htmm.log_joint(HAND_DOCUMENT, topics, switches, HAND_THETA, HAND_PHI, HAND_EPSILON)
        assert joint == pytest.approx(math.log(weight / 960), abs=1e-14)


def test_what_cannot_happen_has_probability_zero():
    assert htmm.log_joint(HAND_DOCUMENT, (0, 1), (1, 0), HAND_THETA, HAND_PHI, HAND_EPSILON) == -math.inf
    assert htmm.log_joint(HAND_DOCUMENT, (0, 0), (0, 0), HAND_THETA, HAND_PHI, HAND_EPSILON) == -math.inf
    assert htmm.log_joint(HAND_DOCUMENT, (0, 0), (1, 1), HAND_THETA, HAND_PHI, 0.0) == -math.inf
    assert htmm.log_joint(HAND_DOCUMENT, (0, 0), (1, 0), HAND_THETA, HAND_PHI, 1.0) == -math.inf
    with pytest.raises(ValueError, match="probability 0"):
        htmm.posteriors([[1]], [0.5, 0.5], [[1.0, 0.0], [1.0, 0.0]], 0.5)


def test_joint_sums_to_one_over_all_words_and_sequences():
    _, theta, phi, epsilon = _random_case(1, n_topics=2, n_words=2)
    total = 0.0
    for a, b, c, d in itertools.product(range(2), repeat=4):
        total += math.exp(htmm.log_likelihood([[a, b], [], [c], [d]], theta, phi, epsilon))
    assert total == pytest.approx(1.0, abs=1e-12)


# --- posteriors of sentences --------------------------------------------------------------------------------


def test_posteriors_by_hand():
    found = htmm.posteriors(*HAND)
    assert found["log_likelihood"] == pytest.approx(math.log(221 / 960), abs=1e-14)
    np.testing.assert_allclose(found["topic"] * 221, [[63, 158], [57, 164]], rtol=1e-13)
    np.testing.assert_allclose(found["switch_and_topic"] * 221, [[63, 158], [9, 36]], rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_posteriors_sum_to_one(seed):
    found = htmm.posteriors(*_random_case(seed))
    np.testing.assert_allclose(found["topic"].sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found["switch_and_topic"][0], found["topic"][0])
    assert (found["switch_and_topic"][1:] < found["topic"][1:]).all()


def test_sentences_without_words_leave_the_prior():
    _, theta, phi, epsilon = _random_case(4)
    found = htmm.posteriors([[], [], []], theta, phi, epsilon)
    assert found["log_likelihood"] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found["topic"], [theta] * 3, rtol=1e-12)
    np.testing.assert_allclose(
        found["switch_and_topic"], [theta, epsilon * theta, epsilon * theta], rtol=1e-12
    )


def test_a_document_without_sentences():
    _, theta, phi, epsilon = _random_case(4)
    found = htmm.posteriors([], theta, phi, epsilon)
    assert found["log_likelihood"] == 0.0
    assert found["topic"].shape == found["switch_and_topic"].shape == (0, 3)
    assert htmm.best_sequence([], theta, phi, epsilon) == (((), ()), 0.0)
    assert htmm.best_topics([], theta, phi, epsilon) == ((), 0.0)


def _posteriors_by_matrices(document, theta, phi, epsilon):
    """The same by products of the 2K-state transition matrix: (5.4), (5.5), (5.8), (5.9), unscaled."""
    n_topics = len(theta)
    stay = (1 - epsilon) * np.eye(n_topics)
    to_switch = np.tile(epsilon * np.asarray(theta), (n_topics, 1))
    transition = np.block([[to_switch, stay], [to_switch, stay]])
    start = np.concatenate([theta, np.zeros(n_topics)])
    emissions = [np.tile(np.prod(np.asarray(phi)[:, words], axis=1), 2) for words in document]
    forward = [start * emissions[0]]
    for emission in emissions[1:]:
        forward.append((forward[-1] @ transition) * emission)
    backward = [np.ones(2 * n_topics)]
    for emission in emissions[:0:-1]:
        backward.insert(0, transition @ (emission * backward[0]))
    states = np.array(forward) * np.array(backward) / forward[-1].sum()
    return math.log(forward[-1].sum()), states[:, :n_topics] + states[:, n_topics:], states[:, :n_topics]


@pytest.mark.parametrize("seed", range(3))
def test_posteriors_are_those_of_the_chain_with_twice_as_many_states(seed):
    found = htmm.posteriors(*_random_case(seed))
    log_likelihood, topic, switch_and_topic = _posteriors_by_matrices(*_random_case(seed))
    assert found["log_likelihood"] == pytest.approx(log_likelihood, abs=1e-12)
    np.testing.assert_allclose(found["topic"], topic, atol=1e-12)
    np.testing.assert_allclose(found["switch_and_topic"], switch_and_topic, atol=1e-12)


# --- best sequences -----------------------------------------------------------------------------------------


def test_best_sequences_by_hand():
    assert htmm.best_sequence(*HAND) == (((1, 1), (1, 0)), pytest.approx(math.log(128 / 960)))
    assert htmm.best_topics(*HAND) == ((1, 1), pytest.approx(math.log(152 / 960)))


def test_best_topics_may_differ_from_the_topics_of_the_best_sequence():
    """After topic 0: switch to topic 1 with 1/3 * 1/2, stay with 1/2 * 0.3, switch to 0 with 1/6 * 0.3."""
    case = [[0], [1]], [1 / 3, 2 / 3], [[0.7, 0.3, 0.0], [0.05, 0.5, 0.45]], 1 / 2
    pair, value = htmm.best_sequence(*case)
    assert pair == ((0, 1), (1, 1))
    assert value == pytest.approx(math.log(1 / 3 * 0.7 * 1 / 3 * 0.5), abs=1e-14)
    topics, value = htmm.best_topics(*case)
    assert topics == (0, 0)
    assert value == pytest.approx(math.log(1 / 3 * 0.7 * (1 / 2 + 1 / 6) * 0.3), abs=1e-14)


def _highest_by_recursion(document, theta, phi, epsilon, topics_only):
    """The highest value by the recursion, one topic at a time (docs/theory/htmm.md#eq-htmm-viterbi)."""
    emissions = [[sum(math.log(row[word]) for word in words) for row in phi] for words in document]
    values = [math.log(weight) + emission for weight, emission in zip(theta, emissions[0], strict=True)]
    for emission in emissions[1:]:
        values = [
            emission[k]
            + max(
                math.log(epsilon * theta[k]) + max(values),
                math.log(1 - epsilon + (epsilon * theta[k] if topics_only else 0.0)) + values[k],
            )
            for k in range(len(theta))
        ]
    return max(values)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_better_than_the_best(seed):
    document, theta, phi, epsilon = case = _random_case(seed)
    (topics, switches), highest = htmm.best_sequence(*case)
    assert highest == htmm.log_joint(document, topics, switches, theta, phi, epsilon)
    assert highest == pytest.approx(_highest_by_recursion(*case, topics_only=False), abs=1e-12)
    everything = itertools.product(
        itertools.product(range(3), repeat=4), itertools.product((0, 1), repeat=4)
    )  # impossible sequences too
    assert all(htmm.log_joint(document, z, psi, theta, phi, epsilon) <= highest for z, psi in everything)

    topics, highest = htmm.best_topics(*case)
    assert highest == pytest.approx(_highest_by_recursion(*case, topics_only=True), abs=1e-12)
    its_terms = [
        math.exp(htmm.log_joint(document, topics, psi, theta, phi, epsilon))
        for psi in itertools.product((0, 1), repeat=4)
    ]
    assert highest == pytest.approx(math.log(sum(its_terms)), abs=1e-12)


# --- expectation-maximisation -------------------------------------------------------------------------------

EM_DOCUMENTS = [[[0, 0, 1], [1], [], [2, 2]], [[2, 0], [3], [3, 3]], [[1, 1]], [[], [3, 2]], []]


def _random_start(rng, n_topics=2, n_words=4):
    thetas = rng.dirichlet(np.ones(n_topics), size=len(EM_DOCUMENTS))
    return thetas, rng.dirichlet(np.ones(n_words), size=n_topics), rng.uniform(0.1, 0.9)


def test_objective_by_hand():
    parameters = [HAND_DOCUMENT], [HAND_THETA], HAND_PHI, HAND_EPSILON
    found = htmm.log_objective(*parameters, alpha=3, eta=[2, 5], zeta1=2, zeta2=4)
    by_hand = 221 / 960 * (3 / 16) ** 2 * (1 / 2 * 1 / 3) * (1 / 2 * 2 / 3) ** 4 * 1 / 5 * (4 / 5) ** 3
    assert found == pytest.approx(math.log(by_hand), abs=1e-12)
    assert htmm.log_objective(*parameters, 1, 1, 1, 1) == pytest.approx(math.log(221 / 960), abs=1e-14)


def test_objective_takes_nothing_times_the_log_of_nothing_as_nothing():
    documents, thetas, phi = [[[0], [0]], []], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.5, 0.5]]
    assert htmm.log_objective(documents, thetas, phi, 0.0, 1, 1, 1, 1) == 0.0
    assert htmm.log_objective(documents, thetas, phi, 1.0, 1, 1, 1, 1) == 0.0
    assert htmm.log_objective(documents, thetas, phi, 0.0, 1.5, 1, 1, 1) == -math.inf
    assert htmm.log_objective(documents, thetas, phi, 0.0, 1, 1.5, 1, 1) == -math.inf
    assert htmm.log_objective(documents, thetas, phi, 0.0, 1, 1, 1.5, 1) == -math.inf
    assert htmm.log_objective(documents, thetas, phi, 0.0, 1, 1, 1, 1.5) == 0.0


def test_em_step_by_hand():
    """221 times the expected counts: theta 63 + 9, 158 + 36; phi 63, 57 and 158, 164; switches 9 + 36."""
    parameters = [HAND_DOCUMENT], [HAND_THETA], HAND_PHI, HAND_EPSILON
    thetas, phi, epsilon = htmm.em_step(*parameters, alpha=2, eta=3, zeta1=2, zeta2=3)
    np.testing.assert_allclose(thetas, [[293 / 708, 415 / 708]], rtol=1e-13)
    np.testing.assert_allclose(phi, [[505 / 1004, 499 / 1004], [600 / 1206, 606 / 1206]], rtol=1e-13)
    assert epsilon == pytest.approx(266 / 884, rel=1e-13)
    thetas, phi, epsilon = htmm.em_step(*parameters, alpha=[1, 2], eta=[1, 2], zeta1=1, zeta2=1)
    np.testing.assert_allclose(thetas, [[72 / 487, 415 / 487]], rtol=1e-13)
    np.testing.assert_allclose(phi, [[63 / 341, 278 / 341], [158 / 543, 385 / 543]], rtol=1e-13)
    assert epsilon == pytest.approx(45 / 221, rel=1e-13)


def test_em_step_with_nothing_to_go_by():
    thetas, phi = [[0.2, 0.8], [0.3, 0.7]], [[0.1, 0.9], [0.6, 0.4]]
    new_thetas, new_phi, epsilon = htmm.em_step([[], []], thetas, phi, 0.3, 1, 1, 1, 1)
    np.testing.assert_array_equal(new_thetas, np.full((2, 2), 0.5))
    np.testing.assert_array_equal(new_phi, np.full((2, 2), 0.5))
    assert epsilon == 0.3
    new_thetas, new_phi, epsilon = htmm.em_step([[], [[]]], thetas, phi, 0.3, [3, 2], [2, 5], 2, 3)
    np.testing.assert_allclose(new_thetas, [[2 / 3, 1 / 3], [2.3 / 4, 1.7 / 4]], rtol=1e-13)
    np.testing.assert_allclose(new_phi, [[0.2, 0.8]] * 2, rtol=1e-13)
    assert epsilon == pytest.approx(1 / 3)
    new_thetas, new_phi, epsilon = htmm.em_step([], [], phi, 0.3, 1, 2, 1, 1)
    assert new_thetas.shape == (0, 2)
    # a topic that no document has keeps no words
    _, new_phi, _ = htmm.em_step([[[0], [1]]], [[1.0, 0.0]], phi, 0.3, 1, 1, 1, 1)
    np.testing.assert_allclose(new_phi, [[0.5, 0.5], [0.5, 0.5]])


def test_documents_without_sentences_leave_epsilon_alone():
    """Its denominator counts the sentences after the first, not sentences minus documents."""
    parameters = HAND_PHI, HAND_EPSILON, 2, 3, 1, 1
    alone = htmm.em_step([HAND_DOCUMENT], [HAND_THETA], *parameters)
    beside = htmm.em_step([[], HAND_DOCUMENT, []], [HAND_THETA] * 3, *parameters)
    assert beside[2] == pytest.approx(45 / 221, rel=1e-13)
    np.testing.assert_array_equal(alone[0][0], beside[0][1])
    np.testing.assert_array_equal(alone[1], beside[1])


@pytest.mark.parametrize(
    "bad", [(0.9, 1, 1, 1), ([1, 0.5], 1, 1, 1), (1, 0.9, 1, 1), (1, 1, 0.9, 1), (1, 1, 1, 0.9)]
)
def test_em_step_wants_priors_with_a_mode(bad):
    with pytest.raises(ValueError, match="at least 1"):
        htmm.em_step([HAND_DOCUMENT], [HAND_THETA], HAND_PHI, HAND_EPSILON, *bad)


@pytest.mark.parametrize(
    "priors", [(1, 1, 1, 1), (1.4, 1.2, 2, 3), (1, 1.01, 1, 4), ([1, 2.5], [1, 1, 2, 1.5], 1.5, 1)]
)
def test_em_never_lowers_the_objective(priors):
    rng = np.random.default_rng(31)
    for _ in range(2):
        parameters = _random_start(rng)
        values = [htmm.log_objective(EM_DOCUMENTS, *parameters, *priors)]
        for _ in range(30):
            parameters = htmm.em_step(EM_DOCUMENTS, *parameters, *priors)
            values.append(htmm.log_objective(EM_DOCUMENTS, *parameters, *priors))
        assert np.diff(values).min() > -1e-10
        assert values[-1] > values[0] + 0.1


def _slopes_on_the_simplex(parameters, priors, step=1e-5):
    """Derivatives of the objective as mass goes from each coordinate of a distribution to its next one."""
    thetas, phi, epsilon = parameters

    def value(name, index, direction):
        moved = {"thetas": np.array(thetas), "phi": np.array(phi)}
        if name == "epsilon":
            return htmm.log_objective(EM_DOCUMENTS, thetas, phi, epsilon + direction, *priors)
        row, column = index
        moved[name][row, column] += direction
        moved[name][row, column + 1] -= direction
        return htmm.log_objective(EM_DOCUMENTS, moved["thetas"], moved["phi"], epsilon, *priors)

    places = [("thetas", (row, 0)) for row in range(len(thetas))]
    places += [("phi", (row, column)) for row in range(len(phi)) for column in range(len(phi[0]) - 1)]
    places += [("epsilon", None)]
    return [(value(*place, step) - value(*place, -step)) / (2 * step) for place in places]


def test_a_fixed_point_of_em_has_no_slope():
    rng = np.random.default_rng(32)
    priors = 1.5, 1.3, 2.0, 3.0
    parameters = _random_start(rng)
    assert np.abs(_slopes_on_the_simplex(parameters, priors)).max() > 0.1
    for _ in range(1000):
        before, parameters = parameters, htmm.em_step(EM_DOCUMENTS, *parameters, *priors)
        if max(np.abs(new - old).max() for new, old in zip(parameters, before, strict=True)) < 1e-10:
            break
    else:
        pytest.fail("no fixed point")
    assert np.abs(_slopes_on_the_simplex(parameters, priors)).max() < 1e-6


# --- the finite model: sequences with everything else integrated out ----------------------------------------


def _beta_nodes(first, second, count=5):
    """Nodes x in (0, 1) and weights that integrate polynomials of degree < 2 count against Beta(first, second)."""
    nodes, weights = special.roots_jacobi(count, second - 1.0, first - 1.0)
    return [((1.0 + node) / 2.0, weight) for node, weight in zip(nodes, weights / weights.sum(), strict=True)]


@pytest.mark.parametrize(
    "documents", [[[[0], [1, 1]]], [[[0], [0, 1]], [[1]]], [[[1, 0], [], [0]]], [[], [[1]]]]
)
def test_finite_posterior_is_the_integral_over_the_parameters(documents):
    """Two topics and two words: theta_d, phi_0, phi_1 and epsilon are a number each, with Beta priors."""
    alpha, eta, zeta1, zeta2 = [0.7, 1.6], [0.5, 1.2], 1.3, 2.2
    theta_nodes = [_beta_nodes(*alpha)] * len(documents)
    phi_nodes = [_beta_nodes(*eta)] * 2
    integrals = Counter()
    for *pairs, (epsilon, weight) in itertools.product(*theta_nodes, *phi_nodes, _beta_nodes(zeta1, zeta2)):
        weight *= math.prod(pair[1] for pair in pairs)
        *thetas, phi_0, phi_1 = ([pair[0], 1.0 - pair[0]] for pair in pairs)
        joints = [
            htmm.log_joints(document, theta, [phi_0, phi_1], epsilon)
            for document, theta in zip(documents, thetas, strict=True)
        ]
        for sequences in itertools.product(*joints):
            log_joint = sum(logs[pair] for logs, pair in zip(joints, sequences, strict=True))
            integrals[sequences] += weight * math.exp(log_joint)
    total = sum(integrals.values())
    found = htmm.finite_posterior(documents, 2, 2, alpha, eta, zeta1, zeta2)
    assert found == pytest.approx({key: value / total for key, value in integrals.items()}, rel=1e-9)


def test_finite_posterior_by_hand():
    """One word twice, all priors uniform: phi gives 1/3 to the same topic, 1/4 to two, theta 1/3 and 1/6."""
    found = htmm.finite_posterior([[[0], [0]]], 2, 2, alpha=1, eta=1, zeta1=1, zeta2=1)
    weights = {
        ((0, 0), (1, 0)): 1 / 2 * 1 / 2 * 1 / 3,
        ((1, 1), (1, 0)): 1 / 2 * 1 / 2 * 1 / 3,
        ((0, 0), (1, 1)): 1 / 2 * 1 / 3 * 1 / 3,
        ((1, 1), (1, 1)): 1 / 2 * 1 / 3 * 1 / 3,
        ((0, 1), (1, 1)): 1 / 2 * 1 / 6 * 1 / 4,
        ((1, 0), (1, 1)): 1 / 2 * 1 / 6 * 1 / 4,
    }
    total = sum(weights.values())
    assert found == pytest.approx({(pair,): weight / total for pair, weight in weights.items()}, rel=1e-12)
    assert htmm.finite_posterior([], 2, 2, 1, 1, 1, 1) == {(): 1.0}
    assert htmm.finite_posterior([[]], 2, 2, 1, 1, 1, 1) == {(((), ()),): 1.0}


def test_draws_with_the_same_words_are_draws_from_the_finite_posterior():
    rng = np.random.default_rng(33)
    documents = [[[0], [], [0]], [[1], [0]]]
    lengths = [[len(sentence) for sentence in document] for document in documents]
    priors = 0.8, 0.6, 1.5, 2.0
    kept = Counter()
    for _ in range(20_000):
        drawn, topics, switches, *_ = htmm.draw_documents(rng, lengths, *priors, n_topics=2, n_words=2)
        if drawn == documents:
            kept[tuple(zip(topics, switches, strict=True))] += 1
    assert sum(kept.values()) > 800
    assert _p_value(kept, htmm.finite_posterior(documents, 2, 2, *priors)) > SMALLEST_P_VALUE


def _is_zero_on_average(values):
    return abs(np.mean(values)) < stats.norm.isf(SMALLEST_P_VALUE / 2) * np.std(values) / math.sqrt(
        len(values)
    )


def test_drawn_parameters_are_those_that_the_draws_came_from():
    """What a draw has more than its parameter promises is nought on average, for large parameters too."""
    rng = np.random.default_rng(34)
    alpha, eta, zeta1, zeta2 = [0.5, 1.0, 2.0], [2.0, 0.4], 1.5, 3.0
    surprises = {"first topic": [], "switch": [], "later topic": [], "word": []}
    values = {"theta": [], "phi": [], "epsilon": []}
    for _ in range(4000):
        documents, topics, switches, thetas, phi, epsilon = htmm.draw_documents(
            rng, [[], [1, 2]], alpha, eta, zeta1, zeta2, n_topics=3, n_words=2
        )
        assert documents[0] == []
        assert topics[0] == switches[0] == ()
        assert [len(sentence) for sentence in documents[1]] == [1, 2]
        assert np.shape(thetas) == (2, 3)
        assert np.shape(phi) == (3, 2)
        values["theta"].append(thetas[1][2] - 2.0 / 3.5)
        values["phi"].append(phi[1][0] - 2.0 / 2.4)
        values["epsilon"].append(epsilon - 1.5 / 4.5)
        (first, second), (_, psi), weight = topics[1], switches[1], thetas[1][2]
        surprises["first topic"].append(((first == 2) - weight) * weight)
        surprises["switch"].append((psi - epsilon) * epsilon)
        if psi == 1:
            surprises["later topic"].append(((second == 2) - weight) * weight)
        else:
            assert second == first
        surprises["word"].append(((documents[1][1][1] == 0) - phi[second][0]) * phi[second][0])
    for name, sample in (surprises | values).items():
        assert _is_zero_on_average(sample), name


# --- the nonparametric model --------------------------------------------------------------------------------

HDP_PRIORS = {"alpha": 1.3, "gamma": 0.8, "eta": 0.6, "zeta1": 1.5, "zeta2": 2.0}


def test_labels_of_sentences_go_on_until_the_next_switch():
    assert htmm.labels_of_sentences((0, 1, 0, 2), (1, 0, 1, 0, 0, 1, 1)) == (0, 0, 1, 1, 1, 0, 2)
    assert htmm.labels_of_sentences((), ()) == ()


def test_hdp_posterior_of_nothing():
    assert htmm.hdp_posterior([], 2, **HDP_PRIORS) == {((), ()): 1.0}
    assert htmm.hdp_posterior([[], [[0]]], 2, **HDP_PRIORS) == {((0,), (1,)): 1.0}


def test_hdp_posterior_by_hand():
    """One document, one word twice, all ones: a switch finds the old topic with 1/2 + 1/4."""
    found = htmm.hdp_posterior([[[0], [0]]], 2, alpha=1, gamma=1, eta=1, zeta1=1, zeta2=1)
    weights = {
        ((0, 0), (1, 0)): 1 / 2 * 1 / 3,
        ((0, 0), (1, 1)): 1 / 2 * 3 / 4 * 1 / 3,
        ((0, 1), (1, 1)): 1 / 2 * 1 / 4 * 1 / 4,
    }
    total = sum(weights.values())
    assert found == pytest.approx({key: weight / total for key, weight in weights.items()}, rel=1e-12)


def test_hdp_posterior_without_words_is_the_franchise_of_the_switches():
    """psi by a Beta-Bernoulli urn, then the franchise through every seating: no Gamma function anywhere."""
    documents = [[[], [], []], [], [[], []]]
    expected = {}
    for second, third, fifth in itertools.product((0, 1), repeat=3):
        probability = 1.0
        for seen, psi in enumerate((second, third, fifth)):
            switched = sum((second, third, fifth)[:seen])
            share = (1.5 + switched) / (3.5 + seen)
            probability *= share if psi == 1 else 1.0 - share
        groups = ["a"] + ["a"] * (second + third) + ["b"] + ["b"] * fifth
        for labels, prior in posterior.prior_by_seatings(groups, 1.3, 0.8).items():
            draws = list(labels)
            row = [draws.pop(0)]
            row.append(draws.pop(0) if second else row[-1])
            row.append(draws.pop(0) if third else row[-1])
            row.append(draws.pop(0))
            row.append(draws.pop(0) if fifth else row[-1])
            expected[tuple(row), (1, second, third, 1, fifth)] = probability * prior
    assert math.fsum(expected.values()) == pytest.approx(1.0, abs=1e-12)
    assert htmm.hdp_posterior(documents, 2, **HDP_PRIORS) == pytest.approx(expected, rel=1e-10)


def test_hdp_posterior_given_that_all_switch_is_that_of_the_hdp():
    """Sentences of one word that all draw anew are plain observations in groups."""
    words, groups = [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]
    found = htmm.hdp_posterior([[[0], [1], [1]], [[0], [0]]], 2, **HDP_PRIORS)
    given = {labels: found[labels, (1,) * 5] for labels in all_partitions(5)}
    total = sum(given.values())
    exact = posterior.posterior_over_partitions(words, groups, families.Categorical([0.6, 0.6]), 1.3, 0.8)
    assert {labels: value / total for labels, value in given.items()} == pytest.approx(exact, rel=1e-10)
    assert math.fsum(found.values()) == pytest.approx(1.0, abs=1e-12)


def _draw_place(rng, weights, new):
    """A place with probability proportional to its weight; the place after the last has the weight `new`."""
    position = rng.random() * (sum(weights) + new)
    for place, weight in enumerate(weights):
        position -= weight
        if position < 0:
            return place
    return len(weights)


def _draw_from_the_franchise(rng, documents, alpha, gamma, eta, zeta1, zeta2, n_words):
    """(partition, switches) drawn forward, words by an urn per dish; None once a word is not the data's."""
    epsilon = rng.beta(zeta1, zeta2)
    tables_of_dish, words_of_dish, labels, switches = [], [], [], []
    for document in documents:
        customers_of_table, dish_of_table = [], []
        for sentence, words in enumerate(document):
            switches.append(1 if sentence == 0 or rng.random() < epsilon else 0)
            if switches[-1] == 0:
                labels.append(labels[-1])
            else:
                table = _draw_place(rng, customers_of_table, alpha)
                if table == len(customers_of_table):
                    dish = _draw_place(rng, tables_of_dish, gamma)
                    if dish == len(tables_of_dish):
                        tables_of_dish.append(0)
                        words_of_dish.append([])
                    tables_of_dish[dish] += 1
                    customers_of_table.append(0)
                    dish_of_table.append(dish)
                customers_of_table[table] += 1
                labels.append(dish_of_table[table])
            for word in words:
                seen = words_of_dish[labels[-1]]
                if rng.random() * (n_words * eta + len(seen)) > eta + seen.count(word):
                    return None
                seen.append(word)
    return canonical(labels), tuple(switches)


@pytest.mark.parametrize(
    ("documents", "draws", "least"),
    [
        ([[[], [], []], [[], []]], 10_000, 10_000),
        ([[[0], [], [1]], [[1], [0]]], 100_000, 2000),
        ([[[0, 0], [0]], [], [[1, 1], [], [1]]], 100_000, 2000),
    ],
)
def test_franchise_draws_with_the_same_words_are_draws_from_the_hdp_posterior(documents, draws, least):
    rng = np.random.default_rng(35)
    kept = Counter(_draw_from_the_franchise(rng, documents, **HDP_PRIORS, n_words=2) for _ in range(draws))
    del kept[None]
    assert sum(kept.values()) >= least
    assert _p_value(kept, htmm.hdp_posterior(documents, 2, **HDP_PRIORS)) > SMALLEST_P_VALUE
