"""Tables per level: exposures and nodes compared with plain counts, draw by draw."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.posterior import level_tables
from franchise.posterior.intervals import share_interval
from tests.posterior.making import planted, posterior_of

FRAME = pd.DataFrame(
    {
        "cohort": ["A", "A", "A", "B", "B", "A", "B"],
        "patient": ["1", "1", "2", "1", None, "1", None],
        "sample": ["x", "y", "x", "x", None, "x", None],
    }
)
REPEATS = 6


def tree_posterior(chains: int = 2, draws: int = 12):
    """Two topics that all draws have, and a third in some; labels differ at random between draws."""
    rng = np.random.default_rng(2)
    frame = pd.concat([FRAME] * REPEATS, ignore_index=True)
    values = np.tile([0, 30], len(frame))[: len(frame)]
    groups = fr.Groups(values, frame)
    flat = fr.Groups(values, [groups.group_names[group] for group in groups.group_of_observation])
    truth = (groups.grouped_observations > 10).astype(int)
    labels = [
        [
            np.where(rng.random(len(truth)) < 0.1, rng.integers(3, size=len(truth)), truth)
            for _ in range(draws)
        ]
        for _ in range(chains)
    ]
    return replace(posterior_of(flat, labels, fr.Poisson()), data=groups)


POSTERIOR = tree_posterior()


def counts_by_node(posterior, level):
    """Plain counts: {node: (draws, T)}, from the columns that the tree was made of."""
    tree, depth = posterior.data.tree, [*posterior.data.tree.levels].index(level) + 1
    paths = [path[:depth] if len(path) >= depth else None for path in tree.paths()]
    groups = np.repeat(np.arange(posterior.data.n_groups), posterior.data.group_sizes)
    topics = posterior.consensus_topics.topic_count
    counts = {}
    for draw, labels in enumerate(posterior.consensus_topics.labelled()):
        for group, topic in zip(groups, labels, strict=True):
            if paths[group] is not None and topic >= 0:
                node = counts.setdefault("/".join(paths[group]), np.zeros((24, topics)))
                node[draw, topic] += 1
    return counts


@pytest.mark.parametrize("level", ["cohort", "patient", "sample"])
@pytest.mark.parametrize("most", [level_tables.MOST_BYTES, 1])
def test_exposures_are_counts_over_draws(level, most, monkeypatch):
    monkeypatch.setattr(level_tables, "MOST_BYTES", most)  # 1 byte: node by node
    table = POSTERIOR.exposures(level, interval=0.9)
    numbers = POSTERIOR.exposures(level, interval=0.9, counts=True)
    wanted = counts_by_node(POSTERIOR, level)
    assert list(dict.fromkeys(table.index.get_level_values(level))) == list(wanted)
    sizes = POSTERIOR.nodes()["observations"]
    for node, drawn in wanted.items():
        shares = drawn / sizes[node]
        low, high = share_interval(shares, 0.9)
        assert table.loc[node, "mean"].to_numpy() == pytest.approx(shares.mean(axis=0))
        assert table.loc[node, "lower"].to_numpy() == pytest.approx(low)
        assert table.loc[node, "upper"].to_numpy() == pytest.approx(high)
        assert table.loc[node, "present"].to_numpy() == pytest.approx((drawn > 0).mean(axis=0))
        assert numbers.loc[node, "mean"].to_numpy() == pytest.approx(drawn.mean(axis=0))
        assert numbers.loc[node, "upper"].to_numpy() == pytest.approx(high * sizes[node])


def test_the_root_has_all_observations():
    table = POSTERIOR.exposures("(all)")
    topics = POSTERIOR.topics()
    assert table.loc["(all)", "mean"].to_numpy() == pytest.approx(topics["share"].to_numpy())
    assert table.loc["(all)", "lower"].to_numpy() == pytest.approx(topics["low"].to_numpy())


def test_groups_have_their_own_observations_and_weights():
    table = POSTERIOR.exposures()
    assert table.index.names == ["sample", "topic"]
    own = dict.fromkeys(POSTERIOR.data.group_names, 0)
    for group in POSTERIOR.data.group_of_observation:
        own[POSTERIOR.data.group_names[group]] += 1
    numbers = POSTERIOR.exposures(counts=True)["mean"] / table["mean"]
    for name, size in own.items():
        assert numbers[name].to_numpy() == pytest.approx(size)
    weights = POSTERIOR.document_topics()
    assert table.loc["A/1/x", "weight"].to_numpy() == pytest.approx(weights.loc["A/1/x"].to_numpy()[:-1])
    assert table.loc["B", "weight"].isna().all()  # an inner node, and these draws have no weights of nodes


def test_nodes_have_the_weights_of_draws():
    posterior = tree_posterior()
    rng = np.random.default_rng(0)
    total = np.zeros((6, posterior.consensus_topics.topic_count + 1))
    for draw, match in posterior.consensus_topics.matched_draws:
        weights = rng.dirichlet(np.ones(draw.topic_count + 1), 6)
        object.__setattr__(draw.kept, "node_weights", weights)
        object.__setattr__(draw.kept, "concentrations", np.ones(3))
        for topic, number in enumerate(match):
            total[:, number] += weights[:, topic]
        total[:, -1] += weights[:, -1]
    total /= 24
    names = [
        name
        for name, inner in zip(posterior.data.tree.names, posterior.data.tree.is_inner, strict=True)
        if inner
    ]
    for level in ("(all)", "cohort", "patient"):
        table = posterior.exposures(level)
        for node in dict.fromkeys(table.index.get_level_values(0)):
            wanted = total[names.index(node), :-1]
            assert table.loc[node, "weight"].to_numpy() == pytest.approx(wanted)
    assert posterior.exposures().loc["B", "weight"].to_numpy() == pytest.approx(total[names.index("B"), :-1])


def test_nodes_lists_the_tree():
    table = POSTERIOR.nodes()
    assert table.index.tolist() == list(POSTERIOR.data.tree.names)
    assert table.loc["A/1"].tolist()[:4] == ["patient", "A", 2, 3 * REPEATS]
    assert table.loc["B"].tolist()[:4] == ["cohort", "(all)", 2, 3 * REPEATS]
    drawn = [len(np.unique(draw.labels)) for draw in POSTERIOR.consensus_topics.draws]
    assert table.loc["(all)", "topics"] == pytest.approx(np.mean(drawn))
    assert (table["topics"] <= table.loc["(all)", "topics"]).all()


def test_topic_info_counts_the_nodes_of_a_level():
    nodes = POSTERIOR.topic_info(level="patient")["nodes"]
    counts = counts_by_node(POSTERIOR, "patient")
    assert nodes.to_numpy() == pytest.approx(sum((drawn > 0).mean(axis=0) for drawn in counts.values()))
    assert "nodes" not in POSTERIOR.topic_info()


def test_documents_are_the_only_level_without_a_tree():
    corpus, labels = planted(np.random.default_rng(0), documents=12)
    posterior = posterior_of(corpus, [[labels, labels]])
    table = posterior.exposures()
    assert table.index.names == ["document", "topic"]
    by_document = table["mean"].unstack()
    counts = pd.crosstab(np.repeat(corpus.group_names, corpus.group_sizes), labels, normalize="index")
    found = np.sort(by_document.loc[counts.index].to_numpy(), axis=1)
    assert found == pytest.approx(np.sort(counts.to_numpy(), axis=1))
    assert table["present"].isin([0.0, 1.0]).all()
    nodes = posterior.nodes()
    assert nodes.index.tolist() == ["(all)", *corpus.group_names]
    assert nodes.loc["(all)"].tolist() == ["(all)", "", 12, corpus.n_tokens, 5.0]


def test_a_document_without_words_has_no_shares():
    corpus, labels = planted(np.random.default_rng(0), documents=12)
    with_empty = fr.Corpus(corpus.observations, [*corpus.offsets, corpus.n_tokens], corpus.vocabulary)
    table = posterior_of(with_empty, [[labels, labels]]).exposures()
    assert table.loc["12", ["mean", "lower", "upper"]].isna().all(axis=None)
    assert (table.loc["12", "weight"] > 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": "town"}, r"level must be one of '\(all\)', 'cohort', 'patient', 'sample'; got 'town'"),
        ({"interval": 1.0}, "interval must be a probability below 1"),
    ],
)
def test_wrong_arguments(given, message):
    with pytest.raises(fr.InputError, match=message):
        POSTERIOR.exposures(**given)
