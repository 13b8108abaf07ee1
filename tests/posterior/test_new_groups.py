"""New groups below known nodes: which nodes, which concentrations, and what is expected of them."""

import itertools

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.posterior import predictive
from franchise.posterior.new_groups import Above, Kind, above_new
from franchise.running.kept_draws import HDPDraw

FRAME = pd.DataFrame(
    {
        "cohort": ["A", "A", "A", "B", "B"],
        "patient": ["1", "1", "2", "1", "1"],
        "sample": ["x", "y", "x", "x", "y"],
    }
)
KNOWN = fr.Groups([1, 2, 3, 4, 5], FRAME)
BY_LEVEL = np.array([0, 1, 1, 2, 2, 2])  # inner nodes: root, A, B, A/1, A/2, B/1
NAMES = ["(all)", "A", "B", "A/1", "A/2", "B/1"]


def draw_with(weights, concentrations):
    weights = np.asarray(weights, float)
    topics = weights.shape[1] - 1
    labels = np.arange(5, dtype=np.uint8) % topics
    numbers = (1, 1.0, 1.0, float("nan"))
    return HDPDraw(
        0, labels, np.ones(topics, np.int64), *numbers[1:], weights, np.asarray(concentrations, float)
    )


def kinds_of(new, parents=None, numbers=BY_LEVEL):
    above = above_new(KNOWN, numbers, new, parents)
    return [(NAMES[above.kinds[kind].place], above.kinds[kind].numbers) for kind in above.kind]


def new_groups(*rows):
    return fr.Groups(np.arange(len(rows)), pd.DataFrame(rows, columns=FRAME.columns))


def test_groups_with_levels_are_below_the_nearest_known_node():
    new = new_groups(("A", "1", "z"), ("A", "9", "x"), ("C", "1", "x"), ("B", None, None), ("A", "2", None))
    assert kinds_of(new) == [
        ("A/1", ((2,),)),  # a new sample
        ("A", ((1,), (2,))),  # of a new patient
        ("(all)", ((0,), (1,), (2,))),  # of a new cohort
        ("(all)", ((0,),)),
        ("A", ((1,),)),
    ]


def test_concentrations_of_parents_are_those_of_the_known_nodes():
    by_parent = np.arange(6)
    new = new_groups(("A", "1", "z"), ("A", "9", "x"))
    assert kinds_of(new, numbers=by_parent) == [("A/1", ((3,),)), ("A", ((1,), (3, 4, 5)))]


@pytest.mark.parametrize(
    "parents",
    [
        ["A/1", None, ("A", "2")],
        {"a": "A/1", "b": None, "c": "A/2"},
        pd.Series({"a": "A/1", "b": np.nan, "c": "A/2"}),
    ],
)
def test_parents_are_given_by_name_or_in_order(parents):
    new = fr.Groups([1, 2, 3], ["a", "b", "c"])
    assert kinds_of(new, parents) == [("A/1", ((2,),)), ("(all)", ((0,), (1,), (2,))), ("A/2", ((2,),))]


def test_one_parent_is_that_of_all_and_unique_labels_are_enough():
    new = fr.Groups([1, 2], ["a", "b"])
    assert kinds_of(new, "B") == [("B", ((1,),))] * 2
    assert kinds_of(new, "2") == [("A/2", ((2,),))] * 2
    assert kinds_of(new) == [("(all)", ((0,), (1,), (2,)))] * 2


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ("A/3", r"got 'A/3'. Did you mean 'A/[12]'\? posterior.nodes\(\) lists them"),
        ("1", "got '1'"),  # two patients have this label
        ("A/1/x", "must be nodes of the tree that have groups below them"),
        (["A"], r"one node per new group \(2\); got 1"),
        ({"a": "A"}, "got none for 'b'"),
        (3, "must be a node, or one node per new group"),
    ],
)
def test_wrong_parents(parents, message):
    with pytest.raises(fr.InputError, match=message):
        above_new(KNOWN, BY_LEVEL, fr.Groups([1, 2], ["a", "b"]), parents)


def test_data_without_levels_take_none():
    flat, new = fr.Groups([1, 2], ["a", "b"]), new_groups(("A", "1", "z"))
    assert above_new(flat, BY_LEVEL, flat) is None
    for given in ((new,), (flat, "A")):
        with pytest.raises(fr.InputError, match="as the training data have none"):
            above_new(flat, BY_LEVEL, *given)
    other = fr.Groups([1, 2], pd.DataFrame({"town": ["a", "b"], "sample": ["x", "x"]}))
    with pytest.raises(
        fr.InputError, match=r"must have the levels cohort, patient, sample, .* got town, sample"
    ):
        above_new(KNOWN, BY_LEVEL, other)


def test_a_prior_has_the_mean_and_variance_of_nested_draws():
    rng = np.random.default_rng(0)
    weights, alphas = np.array([0.5, 0.3, 0.2]), [3.0, 7.0, 2.0]
    draw = draw_with([weights], alphas)
    assert Kind(0, ((1,),)).prior(draw) == pytest.approx(7.0 * weights)
    assert Kind(0, ((0, 1),)).prior(draw) == pytest.approx(5.0 * weights)
    prior = Kind(0, ((0,), (1,), (2,))).prior(draw)
    nested = np.tile(weights, (40_000, 1))
    for alpha in alphas:
        gammas = rng.gamma(alpha * nested)
        nested = gammas / gammas.sum(axis=1, keepdims=True)
    share = prior / prior.sum()
    assert share == pytest.approx(weights)
    wanted = share * (1 - share) / (prior.sum() + 1)
    error = nested.var(axis=0) * np.sqrt(2.0 / len(nested))
    assert np.all(np.abs(nested.var(axis=0) - wanted) < 5 * error)


def test_weights_of_new_groups_are_exact_given_those_of_the_node_above():
    """By summation over the topics of a group's two observations, with an urn of the node's weights."""
    rng = np.random.default_rng(1)
    draw = draw_with(rng.dirichlet(np.ones(4), 6), [2.0, 0.7, 1.5])
    densities = rng.random((3, 4))
    topics = predictive.DrawnTopics(draw, densities, np.zeros(3), np.ones(4))
    kinds = [Kind(3, ((2,),)), Kind(2, ((1,),))]
    above = Above(np.array([1, 0, 0]), kinds)
    offsets, rows = np.array([0, 2, 4, 4]), np.array([0, 1, 1, 2])
    observed = predictive.Occurrences(offsets, rows, np.ones(4, np.int64), None, above)
    found = predictive.fitted_weights(topics, observed)
    for group, kind in enumerate([kinds[1], kinds[0]]):
        prior = kind.prior(draw)
        total, weights = 0.0, np.zeros(4)
        for pair in itertools.product(range(4), repeat=2):
            counts, probability = prior.copy(), 1.0
            for row, topic in zip(rows[offsets[group] : offsets[group + 1]], pair, strict=True):
                probability *= counts[topic] / counts.sum() * densities[row, topic]
                counts[topic] += 1.0
            total += probability
            weights += probability * counts / counts.sum()
        assert found[group] == pytest.approx(weights / total, rel=1e-9)
    assert found[2] == pytest.approx(draw.node_weights[3])  # without observations
