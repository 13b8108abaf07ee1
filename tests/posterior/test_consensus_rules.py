"""Rules of consensus topics: what is merged, what is left over, and that all tables follow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import franchise as fr
from franchise.posterior import consensus as consensus_module
from franchise.posterior.consensus_rules import NO_RULES, joined_by_cosine
from tests.posterior.making import planted, posterior_of, tiny, tiny_groups
from tests.running.runs import sample_segments


def cosines(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T - np.eye(len(rows))


@pytest.fixture(scope="module")
def truth():
    return planted(np.random.default_rng(0))


def make(truth):
    """Two chains of four draws: topics a to e, of which the second chain has a in two parts by documents, and b
    and c as one; every other draw of both has 20 words of d, all in one document, as a topic of their own.
    """
    corpus, labels = truth
    documents = np.repeat(np.arange(corpus.n_groups), corpus.group_sizes)
    rare = np.flatnonzero(labels == 3)
    rare = rare[documents[rare] == documents[rare[0]]][:20]
    parts = np.where((labels == 0) & (documents % 2 == 0), 5, np.where(labels == 2, 1, labels))
    chains = []
    for partition in (labels, parts):
        own = [np.where(np.isin(np.arange(len(labels)), rare), 6, partition), partition]
        chains.append([np.unique(own[number % 2], return_inverse=True)[1] for number in range(4)])
    return posterior_of(corpus, chains)


@pytest.fixture(scope="module")
def posterior(truth):
    return make(truth)


def letters(posterior):
    """The first letter of the words of every topic."""
    return "".join(words[0] for words in posterior.topics()["words"])


def test_what_there_is_without_rules(posterior):
    assert sorted(letters(posterior)) == list("aabcdde")
    assert posterior.consensus_topics.rules == NO_RULES
    assert posterior.left_over()["topics"].tolist()[:4] == [0, 0, 0, 0]


def test_similar_topics_are_merged(posterior):
    merged = posterior.with_consensus(merge_cosine=0.8)
    before, after = (each.consensus_topics.word_probabilities() for each in (posterior, merged))
    assert cosines(before).max() > 0.9
    assert cosines(after).max() <= 0.8
    assert letters(merged).count("a") == letters(merged).count("d") == 1
    table = merged.topics()
    assert table["chains"].iloc[letters(merged).index("a")] == 2
    assert table["share"].sum() == pytest.approx(posterior.topics()["share"].sum())
    assert merged.left_over()["topics"].sum() == 0


def test_rules_leave_topics_over(posterior):
    """Topic c, which is part of b in the second chain, and the smaller part of a."""
    chosen = posterior.with_consensus(min_chains=2)
    table = posterior.topics()
    alone = table["chains"] == 1
    assert alone.sum() == 2
    left = chosen.left_over()
    assert left.loc["in too few chains"].tolist() == [alone.sum(), pytest.approx(table["share"][alone].sum())]
    assert left["share"].sum() == pytest.approx(1.0 - chosen.consensus_topics.coverage)
    assert (chosen.topics()["chains"] == 2).all()
    share = f"{table['share'][alone].sum():.1%}"
    note = f"2 topics are excluded, with {share} of the words: 2 in too few chains ({share})."
    assert chosen.topics().attrs["note"].startswith(note)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"min_draws": 0.6}, "in too few draws"),
        ({"min_share": 0.02}, "too small"),
        ({"min_groups": 2}, "in too few groups"),
    ],
)
def test_a_topic_in_few_draws_or_groups_is_left_over(posterior, rule, reason):
    merged = posterior.with_consensus(min_chains=2)
    rare = merged.topics()["share"].idxmin()
    assert merged.topics()["draws"][rare] == 0.5
    chosen = posterior.with_consensus(min_chains=2, **rule)
    left = chosen.left_over()
    assert left.loc[reason].tolist() == [1, pytest.approx(merged.topics()["share"][rare])]
    assert len(chosen.topics()) == len(merged.topics()) - 1


def test_a_topic_counts_for_one_reason_only(posterior):
    everything = {"min_chains": 2, "min_draws": 0.6, "min_share": 0.02, "min_groups": 2}
    left = posterior.with_consensus(**everything).left_over()
    assert left["topics"].sum() == len(posterior.topics()) - len(
        posterior.with_consensus(**everything).topics()
    )
    assert left["topics"]["too small"] == left["topics"]["in too few groups"] == 0


def test_rules_replace_rules(posterior):
    """They are not added to those before."""
    again = posterior.with_consensus(min_chains=2).with_consensus(merge_cosine=0.8)
    assert again.topics().equals(posterior.with_consensus(merge_cosine=0.8).topics())
    assert again.with_consensus().topics().equals(posterior.topics())


def test_every_table_follows(posterior):
    chosen = posterior.with_consensus(merge_cosine=0.8, min_chains=2)
    count = len(chosen.topics())
    assert count == len(set(letters(chosen)))
    assert chosen.topics()["share"].is_monotonic_decreasing
    new = fr.Corpus.from_tokens(
        [[f"{letter}1"] * 30 for letter in letters(chosen)], posterior.data.vocabulary
    )
    inferred = chosen.infer(new)
    assert inferred.columns.tolist() == [*range(count), "other"]
    assert inferred[list(range(count))].to_numpy().argmax(axis=1).tolist() == list(range(count))
    assert chosen.document_topics().columns.tolist() == [*range(count), "other"]
    np.testing.assert_allclose(chosen.document_topics().sum(axis=1), 1.0)
    assert chosen.component_probabilities().shape[0] == count == len(chosen.topic_similarity())
    assert [chosen.find_topics(f"{letter}1").index[0] for letter in letters(chosen)] == list(range(count))
    assert [words.split()[0][0] for words in chosen.chain(0).topics()["words"]] == list(letters(chosen))
    assert max(chosen.draw(0).topics()["topic"].dropna()) == count - 1


def test_names_and_merges_by_hand_stay(posterior):
    table = posterior.topics()
    first, second = table.index[table["chains"] == 2][:2]
    alone = table.index[table["chains"] == 1][0]
    edited = posterior.merge_topics([[first, second]])
    made = edited.changes.numbers
    edited = edited.set_labels({made[first]: "both", made[alone]: "alone"})
    with pytest.warns(UserWarning, match="'alone'"):
        chosen = edited.with_consensus(min_chains=2)
    assert "both" in chosen.topics()["label"].tolist()
    assert len(chosen.topics()) == len(posterior.with_consensus(min_chains=2).topics()) - 1


def test_rows_of_the_table_can_be_chosen(posterior):
    table = posterior.topics()
    shown = posterior.topics(min_share=0.1, min_chains=2)
    kept = (table["share"] >= 0.1) & (table["chains"] == 2)
    assert 0 < kept.sum() < len(table)
    assert shown.equals(table[kept])  # numbers stay
    assert f"{(~kept).sum()} topics are excluded" in shown.attrs["note"]
    assert posterior.consensus_topics.topic_count == len(table)


def test_much_in_a_single_chain_is_reported(posterior):
    share = posterior.consensus_topics.share_in_one_chain
    assert share > 0.1
    assert (
        f"{share:.0%} of the words are in topics found by only one chain" in posterior.topics().attrs["note"]
    )
    assert "only one chain" not in posterior.with_consensus(min_chains=2).topics().attrs["note"]
    assert posterior.chain(0).consensus_topics.share_in_one_chain == 0.0


# --- merging ------------------------------------------------------------------------------------------------


def test_the_most_similar_rows_are_joined_first():
    angles = np.radians([0.0, 10.0, 18.0, 60.0])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert joined_by_cosine(rows, np.ones(4), np.cos(np.radians(9.0))).tolist() == [0, 1, 1, 3]
    # the mean of the second and third is 14 degrees from the first, whatever the second's distance
    assert joined_by_cosine(rows, np.ones(4), np.cos(np.radians(13.0))).tolist() == [0, 1, 1, 3]
    assert joined_by_cosine(rows, np.ones(4), np.cos(np.radians(15.0))).tolist() == [0, 0, 0, 3]
    heavy = np.array([1.0, 9.0, 1.0, 1.0])  # the mean is nearer to the second
    assert joined_by_cosine(rows, heavy, np.cos(np.radians(13.0))).tolist() == [0, 0, 0, 3]
    assert joined_by_cosine(np.empty((0, 2)), np.empty(0), 0.5).tolist() == []


@pytest.mark.parametrize("seed", range(3))
def test_no_two_joined_rows_are_above_the_limit(seed):
    rng = np.random.default_rng(seed)
    rows, sizes = rng.dirichlet(np.full(5, 0.5), 40), rng.random(40) + 0.1
    numbers = joined_by_cosine(rows, sizes, 0.8)
    means = [
        np.average(rows[numbers == number], 0, sizes[numbers == number]) for number in np.unique(numbers)
    ]
    assert 1 < len(means) < 40
    for one, other in combinations(means, 2):
        assert one @ other <= 0.8 * np.linalg.norm(one) * np.linalg.norm(other) + 1e-12


def test_categories_and_counts_can_be_merged():
    counts = np.tile([[9, 1, 0], [9, 1, 0], [0, 1, 9]], (4, 1))
    labels = np.tile([0, 1, 2], 4)
    groups = fr.Groups(counts, np.repeat(list("wxyz"), 3))
    posterior = posterior_of(groups, [[labels] * 2] * 2, fr.Multinomial(3))
    assert len(posterior.topics()) == 3
    assert posterior.with_consensus(merge_cosine=0.9).topics()["share"].tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )


def test_topics_without_categories_cannot_be_merged():
    with pytest.raises(
        fr.InputError, match=r"GaussianDiagonal do not have.*Categorical, KnownTopics and Multin"
    ):
        tiny_groups().with_consensus(merge_cosine=0.9)
    assert len(tiny_groups().with_consensus(min_chains=2).topics()) == 2


# --- on disk, and more draws --------------------------------------------------------------------------------


@pytest.fixture
def sampled():
    corpus = fr.Corpus.from_tokens([["a"] * 20 + ["b"] * 20, ["c"] * 20 + ["d"] * 20, ["e"] * 3] * 3)
    settings = {"sampler": "crf", "warmup": 50, "chains": 2, "seed": 0, "progress": False}
    return fr.sample(corpus, draws=8, alpha=0.1, gamma=0.1, **settings)


def test_rules_are_saved_and_judged_again(sampled, tmp_path, monkeypatch):
    rules = {"min_share": 0.1, "min_chains": 2, "merge_cosine": 0.95}
    chosen = sampled.with_consensus(**rules)
    assert 1 < len(chosen.topics()) < len(sampled.topics())
    chosen.save(tmp_path / "run")
    loaded, calls = fr.load(tmp_path / "run"), []
    match_draws = consensus_module.match_draws

    def counted(*arguments):
        calls.append(arguments)
        return match_draws(*arguments)

    monkeypatch.setattr(consensus_module, "match_draws", counted)
    assert loaded.topics().equals(chosen.topics())
    assert loaded.topics().attrs == chosen.topics().attrs
    assert loaded.left_over().equals(chosen.left_over())
    assert not calls
    assert loaded.with_consensus().topics().equals(sampled.topics())
    assert len(calls) == 1
    longer = loaded.extend(8)
    assert longer.consensus_topics.rules == chosen.consensus_topics.rules
    assert (longer.topics()["share"] >= 0.1).all()
    fresh = sampled.extend(8).with_consensus(**rules)
    assert sorted(longer.topics()["words"]) == sorted(fresh.topics()["words"])
    assert longer.left_over().equals(fresh.left_over())


def test_rules_of_a_hidden_topic_markov_model():
    posterior = sample_segments(3, 4)
    smallest = posterior.topics()["share"].min()
    chosen = posterior.with_consensus(min_share=smallest + 1e-9)
    assert len(chosen.topics()) == len(posterior.topics()) - 1
    assert chosen.topics()["sentences"].sum() == (chosen.sentence_topics()["topic"] >= 0).sum()
    shown = posterior.topics(min_share=smallest + 1e-9)
    assert shown["sentences"].tolist() == posterior.topics()["sentences"][shown.index].tolist()
    merged = posterior.with_consensus(merge_cosine=0.0)
    assert len(merged.topics()) == 1


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"merge_cosine": 1.5}, "merge_cosine must be a number from 0 to 1; got 1.5"),
        ({"min_share": "much"}, "min_share must be a number from 0 to 1; got 'much'"),
        ({"min_draws": -0.1}, "min_draws must be a number from 0 to 1"),
        ({"min_chains": 0.5}, "min_chains must be a whole number"),
        ({"min_chains": 3}, "min_chains must be at most 2, the number of chains; got 3"),
        ({"min_groups": -1}, "min_groups must be a whole number"),
        ({"min_share": 0.9}, r"no consensus topic satisfies the rules\. 3 topics are excluded.*Use lower"),
    ],
)
def test_bad_rules(rules, message):
    with pytest.raises(fr.InputError, match=message):
        tiny().with_consensus(**rules)


def test_rules_come_before_a_chain_is_chosen():
    with pytest.raises(fr.InputError, match="Call with_consensus before chain"):
        tiny().chain(0).with_consensus(min_share=0.1)
    assert len(tiny().with_consensus(min_share=0.1).chain(0).topics()) == 2
