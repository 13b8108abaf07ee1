"""Groups of topics: the tree, its support, reduced posteriors, and names by a function."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.sparse import csr_array

import franchise as fr
from franchise.posterior.topic_tree import (
    MOST_DRAWS,
    DrawTree,
    TopicTree,
    compared_draws,
    distances,
    joins_of,
    steps_of,
)
from tests.posterior.making import noisy, posterior_of, segments, tiny, tiny_groups

PAIRS = 4  # topics 2k and 2k + 1 are in the same documents and share half their words


def paired(draws=6, chains=2, swapped=0, seed=0):
    """Eight topics in four pairs; in the last `swapped` draws of each chain, pairs are between other topics."""
    rng = np.random.default_rng(seed)
    truth, tokens, texts = [], [], []
    for document in range(80):
        own = rng.choice([2 * (document % PAIRS), 2 * (document % PAIRS) + 1], size=30)
        words = np.where(rng.random(30) < 0.5, 100 * (own // 2) + rng.integers(9, size=30), 0)
        words = np.where(words == 0, 1000 + 100 * own + rng.integers(9, size=30), words)
        truth.append(own)
        tokens.append([f"w{word}" for word in words])
        texts.append(f"text of pair {document % PAIRS}")
    corpus = fr.Corpus.from_tokens(tokens)
    corpus.texts = texts
    labels = np.concatenate(truth)
    other = np.where(labels % 2 == 1, (labels + 2) % (2 * PAIRS), labels)  # odd topics go to the next pair
    groups = np.repeat(np.arange(80), 30)
    moved = labels.copy()
    for document in range(80):
        inside = groups == document
        moved[inside] = np.where(rng.random(30) < 0.5, labels[inside], other[inside])
    kept = [[labels] * (draws - swapped) + [moved] * swapped for _ in range(chains)]
    return posterior_of(corpus, [[noisy(rng, own, 0.01, 8) for own in chain] for chain in kept])


def pairs_of(table):
    """The members of the groups, by the pair that their words are of."""
    return sorted(sorted(group) for _, group in table.groupby("topic").groups.items())


# --- the tree -----------------------------------------------------------------------------------------------


def test_distances_are_those_of_hellinger():
    rng = np.random.default_rng(0)
    tables = [rng.integers(5, size=(4, 7)), rng.integers(5, size=(4, 3)) + 1]
    squares = []
    for table in tables:
        p = table / table.sum(axis=1, keepdims=True)
        squares.append(((np.sqrt(p)[:, None] - np.sqrt(p)[None]) ** 2).sum(axis=2) / 2)
    expected = np.sqrt(np.mean(squares, axis=0))
    assert distances([csr_array(table) for table in tables]) == pytest.approx(expected, abs=1e-7)


def test_a_topic_without_observations_is_far_from_all():
    assert distances([csr_array([[1, 1], [0, 0], [1, 1]])])[1] == pytest.approx([1, 1, 1])


def test_steps_and_groups_are_those_of_scipy():
    points = np.random.default_rng(0).normal(size=(9, 2))
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    joins = joins_of(far, np.full(9, 30))
    assert joins == pytest.approx(linkage(far[np.triu_indices(9, 1)], "ward"))
    tree = TopicTree(joins, [])
    for count in range(1, 10):
        expected = cut_tree(joins, count).ravel()
        found = tree.groups(count)
        assert len(set(found)) == count
        assert ((found[:, None] == found) == (expected[:, None] == expected)).all()
        assert ((steps_of(joins) < 9 - count) == (expected[:, None] == expected)).all()


def test_a_topic_weighs_as_much_as_its_observations():
    rng = np.random.default_rng(1)
    points, sizes = rng.normal(size=(8, 3)), rng.integers(1, 5, size=8)
    far, copies = (np.linalg.norm(x[:, None] - x, axis=2) for x in (points, np.repeat(points, sizes, axis=0)))
    expected = linkage(copies[np.triu_indices(len(copies), 1)], "ward")[-7:]
    joins = joins_of(far, sizes)
    assert joins[:, 2] * np.sqrt(sizes.mean()) == pytest.approx(expected[:, 2])
    tree = TopicTree(joins, [])
    for count in range(1, 8):
        members = cut_tree(linkage(copies[np.triu_indices(len(copies), 1)], "ward"), count).ravel()
        first = members[np.cumsum(sizes) - 1]
        found = tree.groups(count)
        assert ((found[:, None] == found) == (first[:, None] == first)).all()


def test_support_is_one_if_all_draws_have_the_same_joins():
    assert paired().topic_hierarchy()["support"].iloc[:4].tolist() == [1.0] * 4  # the four pairs


def test_support_and_groups_of_draws_that_differ():
    def joins(*pairs):
        return np.array([[*pair, height, 0] for height, pair in enumerate(pairs)], float)

    same, other = joins((0, 1), (2, 3), (4, 5)), joins((0, 2), (1, 3), (4, 5))
    few = DrawTree(np.array([0, 1, 3]), joins((0, 2), (1, 3)))  # topics 0 and 3, then 1
    tree = TopicTree(same, [DrawTree(np.arange(4), same), DrawTree(np.arange(4), other), few])
    assert tree.support() == pytest.approx([(1 + 1 / 2 + 2 / 3) / 3, (1 + 1 / 2) / 2, 1])
    together = tree.together(2)
    assert together[0] == pytest.approx([1, 1 / 3, 1 / 2, 1 / 3])
    assert together[2] == pytest.approx([1 / 2, 0, 1, 1 / 2])


def by_hand(posterior):
    """The support of each join: the most similar set of the tree of each draw."""
    consensus = posterior.consensus_topics
    tree, topics = consensus.tree, consensus.topic_count
    found = [[] for _ in tree.joins]
    for place in compared_draws(consensus.shares):
        draw, match = consensus.draws[place], consensus.matches[place]
        present = np.flatnonzero(consensus.shares[place])
        labels, data = match[draw.labels], consensus.data
        documents = np.repeat(np.arange(data.n_groups), data.group_sizes)
        tables = [np.zeros((topics, len(data.vocabulary))), np.zeros((topics, data.n_groups))]
        for table, of in zip(tables, (data.grouped_observations, documents), strict=True):
            np.add.at(table, (labels, of), labels >= 0)
        far = distances([csr_array(table[present]) for table in tables])
        joins = joins_of(far, tables[0][present].sum(axis=1))
        sets = [{int(topic)} for topic in present]
        for left, right in joins[:, :2].astype(int):
            sets.append(sets[left] | sets[right])
        for own, (left, right) in zip(found, tree.joins[:, :2].astype(int), strict=True):
            parts = [set(tree.members[node]) & set(present.tolist()) for node in (left, right)]
            if all(parts):
                wanted = parts[0] | parts[1]
                own.append(max(len(wanted & other) / len(wanted | other) for other in sets[len(present) :]))
    return [np.mean(own) if own else np.nan for own in found]


@pytest.mark.parametrize("posterior", [paired(draws=3, swapped=1), tiny()], ids=["paired", "tiny"])
def test_support_is_the_likeness_of_the_nearest_join_of_each_draw(posterior):
    expected = pytest.approx(by_hand(posterior), nan_ok=True)
    assert posterior.topic_hierarchy()["support"].tolist() == expected


def test_support_is_missing_where_no_draw_has_both():
    data = fr.Corpus.from_tokens([["a", "b"] * 5, ["c", "d"] * 5])
    labels = np.array([0] * 10 + [1] * 10)
    parts = np.array([0, 1] * 5 + [2, 3] * 5)  # another chain has a and b as topics of their own
    posterior = posterior_of(data, [[labels] * 4, [parts] * 4])
    table = posterior.topic_hierarchy()
    never = [
        not (posterior.consensus_topics.appears[:, one] & posterior.consensus_topics.appears[:, other]).any()
        for one, other in zip(table["left"], table["right"], strict=True)
        if max(one, other) < len(table) + 1
    ]
    assert table["support"].isna().tolist()[: len(never)] == never
    assert any(never)


def test_few_draws_are_compared_but_every_topic_is_in_one():
    shares = np.zeros((100, 3))
    shares[:, 0] = 1.0
    shares[7, 1] = 0.5  # none of the evenly spaced ones
    shares[7, 2], shares[8, 2] = 0.1, 0.2
    chosen = compared_draws(shares)
    assert {7, 8} <= set(chosen)
    assert MOST_DRAWS <= len(chosen) <= MOST_DRAWS + 2


def test_the_hierarchy_is_a_table_of_joins():
    posterior = paired()
    table = posterior.topic_hierarchy()
    assert table.index.tolist() == list(range(8, 15))
    assert table["groups"].tolist() == [7, 6, 5, 4, 3, 2, 1]
    assert table["height"].is_monotonic_increasing
    assert table["members"].iloc[-1] == list(range(8))
    assert table["topics"].iloc[-1] == 8
    assert table["share"].iloc[-1] == pytest.approx(posterior.consensus_topics.coverage)
    assert table["label"].str.len().min() > 0
    for node, row in table.iterrows():
        members = {key: [key] for key in range(8)} | dict(zip(table.index, table["members"], strict=True))
        assert members[node] == sorted(members[row["left"]] + members[row["right"]])


def test_topics_without_words_are_compared_by_groups():
    table = tiny_groups().topic_hierarchy()
    assert "label" not in table
    assert len(table) == 2
    one_group = fr.Groups([0.0, 0.1, 5.0, 5.1], [0] * 4)
    alone = posterior_of(one_group, [[[0, 0, 1, 1]] * 4], fr.GaussianDiagonal(1))
    with pytest.raises(fr.InputError, match=r"in one group.*topic_similarity"):
        alone.topic_hierarchy()
    with pytest.raises(fr.InputError, match="in one group"):
        alone.reduce_topics(1)


def test_a_single_topic_has_no_joins():
    one = tiny().merge_topics([[0, 1, 2]])
    assert one.topic_hierarchy().empty
    assert one.reduce_topics(1).topic_groups()["support"].isna().all()
    with pytest.raises(fr.InputError, match="two topics or more; there is one"):
        fr.plots.topic_tree_data(one)


# --- reduced posteriors -------------------------------------------------------------------------------------


def test_similar_topics_are_one_group():
    posterior = paired()
    few = posterior.reduce_topics(4)
    assert len(few.topics()) == 4
    words = posterior.topics(words=30)["words"]
    kind = {topic: {int(word[1:]) // 100 for word in own.split()} for topic, own in words.items()}
    for _, members in few.topic_groups().groupby("topic").groups.items():
        assert len(members) == 2
        assert kind[members[0]] & kind[members[1]]
    assert few.topics()["share"].sum() == pytest.approx(posterior.topics()["share"].sum())
    assert few.document_topics().sum(axis=1).tolist() == pytest.approx([1.0] * 80)
    assert few.consensus_topics.word_probabilities().sum(axis=1) == pytest.approx(np.ones(4))
    assert posterior.consensus_topics.topic_count == 8  # unchanged
    assert few.topics()["share"].is_monotonic_decreasing


def test_members_keep_numbers_names_and_words():
    posterior = paired().set_labels({5: "five"})
    few = posterior.reduce_topics(4)
    table = few.topic_groups(words=5)
    assert sorted(table.index) == list(range(8))
    assert table.loc[5, "label"] == "five"
    plain = posterior.topics(words=5)
    for column in ("label", "share", "chains", "words"):
        assert table[column].sort_index().tolist() == plain[column].tolist()
    listed = [list(map(int, members.split())) for members in few.topics()["members"]]
    assert sorted(topic for members in listed for topic in members) == list(range(8))
    assert [table.index[table["topic"] == group].tolist() for group in range(4)] == listed
    assert table["group"].tolist() == [few.consensus_topics.labels[group] for group in table["topic"]]
    assert list(few.topic_info().columns).count("members") == 1


def test_support_of_members():
    assert paired().reduce_topics(4).topic_groups()["support"].tolist() == [1.0] * 8
    unsure = paired(swapped=3).reduce_topics(4).topic_groups()["support"]
    assert 0.0 < unsure.mean() < 1.0
    alone = paired().reduce_topics(8).topic_groups()["support"]
    assert alone.isna().all()


def test_support_of_groups():
    assert paired().reduce_topics(4).topics()["support"].tolist() == [1.0] * 4
    posterior = paired(swapped=3)
    few = posterior.reduce_topics(3)
    members = few.topic_groups()
    for group, own in members.groupby("topic"):
        weights = posterior.topics().loc[own.index, "share"]
        expected = np.average(own["support"], weights=weights) if len(own) > 1 else np.nan
        assert few.topics().loc[group, "support"] == pytest.approx(expected, nan_ok=True)


def general(share):
    """Five topics; topic 0 has this share of every document, and small topics have words of their own."""
    rng = np.random.default_rng(0)
    truth, tokens = [], []
    for document in range(40):
        own = np.where(rng.random(50) < share, 0, 1 + document % 4)
        tokens.append([f"w{topic}{rng.integers(9)}" for topic in own])
        truth.append(own)
    return posterior_of(fr.Corpus.from_tokens(tokens), [[np.concatenate(truth)] * 4] * 2)


def test_small_topics_do_not_leave_one_group_with_most_words():
    rng = np.random.default_rng(0)
    tokens, truth = [], []
    for document in range(
        60
    ):  # four large topics, which share a third of their words; six small ones of their own
        large = document % 4
        words = [
            f"c{rng.integers(9)}" if rng.random() < 0.35 else f"l{large}{rng.integers(9)}" for _ in range(60)
        ]
        small = [f"s{document % 6}{rng.integers(3)}"]
        tokens.append(words + small)
        truth += [large] * 60 + [4 + document % 6]
    few = posterior_of(fr.Corpus.from_tokens(tokens), [[np.array(truth)] * 4] * 2).reduce_topics(4)
    assert few.topics()["share"].tolist() == pytest.approx([0.25] * 4, abs=0.02)


def test_a_general_topic_is_a_group_of_its_own_and_a_warning_names_it():
    with pytest.warns(
        UserWarning, match=r"group 0 \(.*\) has 6.% of the words; it is one general topic, number 0"
    ):
        few = general(0.65).reduce_topics(4)
    assert few.topics()["members"].tolist()[0] == "0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        general(0.3).reduce_topics(4)
        general(0.65).reduce_topics(2)  # one of two groups


def test_a_warning_names_a_group_with_most_words():
    rng = np.random.default_rng(0)
    truth = rng.integers(6, size=2000)  # all topics have the same words in the same documents
    truth[1800:] = 6 + np.arange(200) // 50
    words = np.where(truth < 6, rng.integers(20, size=2000), 20 + truth)
    corpus = fr.Corpus.from_tokens([[f"w{word}" for word in row] for row in words.reshape(20, 100)])
    with pytest.warns(UserWarning, match=r"has 90% of the words, in 6 similar topics. Use more groups"):
        posterior_of(corpus, [[truth] * 4] * 2).reduce_topics(5)


def test_a_second_reduction_starts_from_the_members():
    posterior = paired()
    again = posterior.reduce_topics(2).reduce_topics(4)
    assert again.topics().equals(posterior.reduce_topics(4).topics())
    back = again.reduce_topics(None)
    assert back.topics().equals(posterior.topics())
    assert "members" not in back.topics()


def test_names_of_groups():
    posterior = paired().set_labels({0: "zero"})
    few = posterior.reduce_topics(4).set_labels({0: "first", 3: "last"})
    assert few.topics()["label"].tolist()[0] == "first"
    members = few.topics()["members"]
    again = few.reduce_topics(5)
    table = again.topics()
    assert table.set_index("members")["label"].get(members[3], "last") == "last"
    kept = [label for label in table["label"] if label in ("first", "last")]
    assert len(kept) >= 1  # one group at most was divided
    single = posterior.reduce_topics(8)
    assert "zero" in single.topics()["label"].tolist()  # a group of one topic has its name
    assert few.reduce_topics(None).topics().loc[0, "label"] == "zero"


def test_groups_can_be_merged_by_hand():
    few = paired().reduce_topics(4).merge_topics([[0, 1]])
    assert len(few.topics()) == 3
    assert sorted(map(len, few.topics()["members"].str.split())) == [2, 2, 4]
    assert sorted(few.topic_groups().groupby("topic").size()) == [2, 2, 4]


@pytest.mark.parametrize("n", [0, 9, 2.5, "two"])
def test_a_bad_number_of_groups(n):
    with pytest.raises(fr.InputError, match="n must be"):
        paired().reduce_topics(n)


def test_only_groups_have_members():
    with pytest.raises(fr.InputError, match="no groups"):
        paired().topic_groups()


def test_one_chain_has_the_groups_of_all():
    few = paired().reduce_topics(4)
    one = few.chain(1)
    assert one.topics()["members"].tolist() == few.topics()["members"].tolist()
    assert one.topic_groups().index.tolist() == few.topic_groups().index.tolist()
    with pytest.raises(fr.InputError, match="before chain"):
        one.reduce_topics(2)


def test_other_rules_keep_groups():
    posterior = tiny()
    few = posterior.reduce_topics(2)
    strict = few.with_consensus(min_chains=2)
    assert (
        strict.consensus_topics.members.topic_count
        == posterior.with_consensus(min_chains=2).consensus_topics.topic_count
    )
    assert "members" in strict.topics()
    assert few.with_consensus().topics().equals(few.topics())


def test_other_names_of_words():
    few = tiny().reduce_topics(2).named(["A", "B", "C", "D"])
    assert few.topic_groups(words=1).loc[0, "words"] == "A"


def test_groups_are_saved(tmp_path):
    texts = [["a"] * 20 + ["b"] * 20, ["c"] * 20 + ["d"] * 20, ["e"] * 20 + ["f"] * 20] * 3
    posterior = fr.sample(
        fr.Corpus.from_tokens(texts), draws=6, warmup=20, progress=False, seed=1, start=6, chains=2
    )
    topics = posterior.consensus_topics.topic_count
    assert topics >= 3
    few = posterior.set_labels({1: "one"}).reduce_topics(2).set_labels({0: "large"})
    few.save(tmp_path / "run")
    again = fr.load(tmp_path / "run")
    assert again.topics().equals(few.topics())
    assert again.topic_groups().equals(few.topic_groups())
    assert again.changes == few.changes
    longer = few.extend(4, progress=False)
    assert "members" in longer.topics()
    assert "large" in longer.topics()["label"].tolist()
    assert again.reduce_topics(None).topics().loc[1, "label"] == "one"


def test_a_markov_model_has_groups(tmp_path):
    corpus = fr.Corpus.from_sentences([[["a", "b"], ["c", "d"]], [["c", "d"], ["e", "f"]]] * 4)
    labels = [0, 1, 1, 2] * 4
    posterior = segments([[labels] * 4, [labels] * 4], corpus, 3)
    few = posterior.reduce_topics(2)
    assert sorted(map(len, few.topics()["members"].str.split())) == [1, 2]
    assert few.topics()["sentences"].sum() == 16
    assert len(posterior.topic_hierarchy()) == 2
    assert set(few.sentence_modes[0].tolist()) == {0, 1}


# --- words and names ----------------------------------------------------------------------------------------


def test_frex_is_high_for_words_that_are_frequent_and_exclusive():
    from franchise.posterior.topic_tables import frex

    phi = np.array([[0.5, 0.3, 0.15, 0.05], [0.9, 0.0, 0.05, 0.05]])
    scores = frex(phi[0], phi.sum(axis=0))
    assert scores.argmax() == 1  # second by frequency, first by exclusivity; word 0 is last by that
    assert scores[1] == pytest.approx(2 / (1 / 3 + 1 / 4) / 4)


def test_names_by_a_function():
    posterior = paired()
    asked = []

    def hook(words, documents):
        asked.append((words, documents))
        return f" about {words[0]} "

    named = posterior.label_topics(hook, words=3, documents=2)
    relevant = posterior.consensus_topics.relevant_words(3)
    assert named.topics()["label"].tolist() == [f"about {words[0]}" for words in relevant]
    assert [words for words, _ in asked] == relevant
    assert asked[0][1] == posterior.representative_documents(0, 2)["text"].tolist()
    assert named.changes.labels[0] == (0, f"about {relevant[0][0]}")


def test_names_by_hand_win_unless_their_topics_are_listed():
    posterior = tiny().set_labels({1: "sea"})
    named = posterior.label_topics(lambda words, documents: words[0] + "!")
    assert named.consensus_topics.labels == ["a!", "sea", "b!"]
    assert posterior.label_topics(lambda w, d: "x", [1]).consensus_topics.labels[1] == "x"


def test_equal_names_get_numbers():
    with pytest.warns(UserWarning, match="the same name") as warned:
        named = tiny().label_topics(lambda words, documents: "x")
    said = [str(each.message) for each in warned]
    assert "topics 0 and 1 have the same name 'x'. The second is named 'x (2)'." in said[0]
    assert "merge_topics([[0, 2]])" in said[1]
    assert named.consensus_topics.labels == ["x", "x (2)", "x (3)"]
    with pytest.warns(UserWarning, match="same name"):
        again = named.set_labels({2: "x (2)"})
    assert again.consensus_topics.labels == ["x", "x (2)", "x (2) (2)"]


def test_documents_without_texts():
    asked = []
    tiny().label_topics(lambda words, documents: asked.append(documents) or "x" * len(asked))
    assert asked == [[], [], []]


def boom(words, documents):
    if words[0] == "c":
        raise RuntimeError("no connection")
    return "fine"


@pytest.mark.parametrize("bad", [None, 3, "", "  ", ["a"]])
def test_a_function_that_returns_no_name(bad):
    with pytest.raises(fr.InputError, match=r"hook must return a name.*for topic 0, with the words a, b"):
        tiny().label_topics(lambda words, documents: bad)


def test_a_function_that_fails():
    with pytest.raises(fr.InputError, match=r"hook failed for topic 1: RuntimeError: no connection") as error:
        tiny().label_topics(boom)
    assert isinstance(error.value.__cause__, RuntimeError)


def test_bad_arguments_of_names():
    with pytest.raises(fr.InputError, match="hook must be a function"):
        tiny().label_topics("war")
    with pytest.raises(fr.InputError, match="topics must be a list"):
        tiny().label_topics(boom, 3)
    with pytest.raises(fr.InputError, match="topic must be"):
        tiny().label_topics(boom, [7])
    with pytest.raises(fr.InputError, match="topics have no words"):
        tiny_groups().label_topics(boom)
