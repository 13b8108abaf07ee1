"""Sampled trees: weights of nodes, concentrations, new groups and updates in the tables of a posterior."""

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.diagnostics import group_completion
from franchise.diagnostics.to_arviz import to_arviz

LEVELS = ["cohort", "patient", "sample"]
ROWS = [(cohort, patient, sample) for cohort in "AB" for patient in "12" for sample in "xy"] + [
    ("A", "1", None)
]


def tree_of_counts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(ROWS * 12, columns=LEVELS)
    means = np.where(rng.random(len(frame)) < np.where(frame["cohort"] == "A", 0.9, 0.1), 2.0, 30.0)
    return fr.Groups(rng.poisson(means), frame)


@pytest.fixture(scope="module", params=["level", "parent"])
def posterior(request):
    options = {"sampler": "direct", "draws": 80, "warmup": 40, "chains": 2, "seed": 3, "progress": False}
    alpha = {"cohort": 2.0, "patient": fr.Gamma(2.0, 0.5), "sample": 5.0}
    family = fr.Poisson(1.0, 0.1)
    return fr.sample(tree_of_counts(), family, alpha=alpha, alpha_per=request.param, start=2, **options)


def test_weights_of_nodes_shrink_towards_the_node_above(posterior):
    weights = {level: posterior.exposures(level)["weight"].unstack() for level in ("(all)", *LEVELS[:2])}
    shares = {level: posterior.exposures(level)["mean"].unstack() for level in LEVELS[:2]}
    assert (weights["cohort"].sum(axis=1) <= 1.0 + 1e-9).all()
    low = int(posterior.exposures("cohort").loc["A", "mean"].idxmax())
    for node in ("A", "B"):
        ends = sorted([shares["cohort"].loc[node, low], weights["(all)"].loc["(all)", low]])
        assert ends[0] - 0.05 < weights["cohort"].loc[node, low] < ends[1] + 0.05
    assert weights["patient"].loc["A/1", low] > 0.5 > weights["patient"].loc["B/1", low]
    assert posterior.exposures().loc["A/1", "weight"].notna().all()  # a group at an inner node


def test_the_summary_has_the_concentration_of_every_level(posterior):
    quantities = posterior.summary().index
    of_levels = [name for name in quantities if name.startswith("alpha[")]
    if "alpha[cohort]" in quantities:
        assert of_levels == [f"alpha[{level}]" for level in LEVELS]
        assert posterior.summary().loc["alpha[patient]", ["5%", "95%", "prior 5%"]].notna().all()
    else:
        assert "alpha[patient of A]" in of_levels
        assert len(of_levels) == 7  # the root, two cohorts and four patients


def test_new_groups_are_like_the_node_above(posterior):
    low = int(posterior.exposures("cohort").loc["A", "mean"].idxmax())
    empty = fr.Groups([2, 30], ["a", "b"])
    found = posterior.infer(empty, parents={"a": "A/1", "b": "B/1"})
    other = posterior.infer(empty, parents={"a": "B/1", "b": "A/1"})
    assert found.loc["a", low] > other.loc["a", low]
    assert found.loc["b", low] < other.loc["b", low]
    frame = pd.DataFrame([("A", "1", "new"), ("B", "1", "new")], columns=LEVELS)
    by_levels = posterior.infer(fr.Groups([2, 30], frame))
    assert by_levels.to_numpy() == pytest.approx(found.to_numpy())
    assert posterior.infer(empty).to_numpy().sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(fr.InputError, match="got 'C'"):
        posterior.infer(empty, parents="C")


def test_an_update_adds_nodes(posterior):
    frame = pd.DataFrame([("A", "1", "new"), ("C", "1", "x"), ("C", "1", None)], columns=LEVELS)
    more = posterior.update(fr.Groups([2, 30, 30], frame), draws=4, warmup=4, progress=False)
    nodes = more.nodes()
    assert nodes.loc["A/1", "observations"] == posterior.nodes().loc["A/1", "observations"] + 1
    assert nodes.loc["C", ["level", "groups", "observations"]].tolist() == ["cohort", 2, 2]
    assert more.data.tree.levels == posterior.data.tree.levels
    assert more.priors.keys() - posterior.priors.keys() <= {"alpha[patient of C]"}


def test_a_run_keeps_the_tree(posterior, tmp_path):
    posterior.save(tmp_path / "run")
    again = fr.load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.exposures("patient"), posterior.exposures("patient"))
    pd.testing.assert_frame_equal(again.nodes(), posterior.nodes())


def test_held_out_documents_of_known_nodes_are_scored_by_their_node():
    rng = np.random.default_rng(1)
    parties = ["A", "B"] * 12
    texts = [list(rng.choice(list("abc" if party == "A" else "def"), size=9)) for party in parties]
    corpus = fr.Corpus.from_tokens(texts, groups=parties)
    known, new = corpus.subset(np.arange(20)), corpus.subset(np.arange(20, 24))
    posterior = fr.sample(known, start=2, draws=10, warmup=10, chains=1, seed=0, progress=False, alpha=1.0)
    by_party = posterior.infer(new)
    without = posterior.infer(fr.Corpus(new.observations, new.offsets, new.vocabulary))
    assert by_party.to_numpy().max(axis=1).sum() > without.to_numpy().max(axis=1).sum()
    score = fr.diagnostics.document_completion(posterior, new)
    plain = fr.diagnostics.document_completion(
        posterior, fr.Corpus(new.observations, new.offsets, new.vocabulary)
    )
    assert score.log_probability_per_word > plain.log_probability_per_word
    few = {"particles": 4, "draws": 4}
    score = fr.diagnostics.left_to_right(posterior, new, **few)
    plain = fr.diagnostics.left_to_right(
        posterior, fr.Corpus(new.observations, new.offsets, new.vocabulary), **few
    )
    assert score.log_probability_per_word > plain.log_probability_per_word + 0.1


def test_held_out_groups_of_known_nodes_are_scored_and_clustered_by_their_node(posterior):
    frame = pd.DataFrame([("A", "1", f"new {number}") for number in range(20)], columns=LEVELS)
    new = fr.Groups(np.full(20, 2), frame)  # groups of one: nothing but the node says what to expect
    plain = fr.Groups(np.full(20, 2), frame["sample"])
    assert group_completion(posterior, new) > group_completion(posterior, plain) + 0.02
    low = int(posterior.exposures("cohort").loc["A", "mean"].idxmax())
    by_node = posterior.observation_probabilities(new)[:, low]
    assert (by_node > posterior.observation_probabilities(plain)[:, low]).all()


def test_concentrations_are_judged_and_exchanged(posterior, tmp_path):
    table = posterior.verdict().table
    if "alpha[patient]" in posterior.trace:
        assert [name for name in table.index if "alpha" in name] == [f"alpha[{level}]" for level in LEVELS]
    else:
        assert not [name for name in table.index if "alpha" in name]  # many, each with little data
    tree = to_arviz(posterior)
    named = [name for name in posterior.trace if name.startswith("alpha[")]
    for name in named:
        held = tree["posterior"][name.replace("/", "|")]
        np.testing.assert_array_equal(held, posterior.trace[name])
    tree.to_netcdf(tmp_path / "draws.nc")
