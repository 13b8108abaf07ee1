"""Topics named and merged by hand, and kept with a run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.stored_numbers import TopicEdits
from franchise.storage.atomic import checksum_of
from tests.posterior.making import tiny


def test_labels_by_hand():
    posterior = tiny()
    named = posterior.set_labels({1: " sea ", 2: "b"})
    assert named.consensus_topics.labels == ["a, b", "sea", "b"]
    assert posterior.consensus_topics.labels == ["a, b", "c", "b"]
    assert (
        named.consensus()["label"].tolist()
        == named.topic_info()["label"].tolist()
        == named.consensus_topics.labels
    )
    again = named.set_labels({0: "land", 1: ""})
    assert again.consensus_topics.labels == ["land", "c", "b"]
    assert type(again) is type(posterior)


def test_automatic_labels_avoid_those_by_hand():
    assert tiny().set_labels({2: "c"}).consensus_topics.labels == ["a, b", "c (1)", "c"]


def test_merged_topics_by_hand():
    posterior = tiny().set_labels({0: "first", 2: "third"})
    merged = posterior.merge_topics([[2, 1]])
    consensus = merged.consensus_topics
    assert consensus.shares == pytest.approx(np.array([[4, 3], [4, 3], [4, 3], [3, 4]]) / 7)
    assert [match.tolist() for match in consensus.matches] == [[0, 1], [1, 0], [0, 1], [0, 1, 1]]
    assert consensus.labels == ["first", "third"]
    assert consensus.appears.all()
    last = np.array([0.5, 1.5, 3.5, 0.5]) / 6  # c c c and b in the last draw: the prior counts once
    three = np.array([0.5, 0.5, 3.5, 0.5]) / 5
    assert consensus.word_probabilities()[1] == pytest.approx((3 * three + last) / 4)
    assert consensus.document_shares().sum(axis=1) == pytest.approx(np.ones(4))
    whole = merged.merge_topics([[0, 1]])
    assert whole.consensus()["share"].tolist() == [1.0]
    assert whole.consensus_topics.labels == ["first"]


def test_merging_numbers_by_size_anew():
    merged = tiny().merge_topics([(1, 2)])
    assert merged.changes.numbers == (0, 1, 1)
    assert merged.merge_topics([[0, 1]]).changes.numbers == (0, 0, 0)
    assert merged.consensus()["share"].tolist() == pytest.approx([15 / 28, 13 / 28])


def test_changes_can_be_done_again():
    posterior = tiny().merge_topics([[0, 2]]).set_labels({1: "sea"})
    fresh = posterior.changes.apply(tiny().consensus_topics)
    assert fresh.table().equals(posterior.consensus())


@pytest.mark.parametrize("groups", [[], [[0]], [[0, 1], [1, 2]], [[0, 0]], 3, [0, 1], [[0, 9]], "ab"])
def test_bad_groups(groups):
    with pytest.raises(fr.InputError, match=r"groups must be|topic must be"):
        tiny().merge_topics(groups)


@pytest.mark.parametrize("labels", [{9: "x"}, {0: 3}, ["x"], None, {"a": "x"}])
def test_bad_labels(labels):
    with pytest.raises(fr.InputError, match=r"labels must|topic must"):
        tiny().set_labels(labels)


@pytest.fixture(scope="module")
def sampled():
    corpus = fr.Corpus.from_tokens([["a"] * 20 + ["b"] * 20, ["c"] * 20 + ["d"] * 20] * 3)
    return fr.sample(corpus, sampler="crf", draws=4, warmup=20, chains=2, seed=0, progress=False)


def test_what_is_told_elsewhere(sampled):
    assert sampled.verdict().level == "too short"
    assert {"r_hat", "note"} <= set(sampled.summary().columns)


def test_changes_are_kept_with_a_run(sampled, tmp_path):
    topics = sampled.consensus_topics.topic_count
    named = sampled.merge_topics([[0, 1]]).set_labels({0: "all"})
    named.save(tmp_path / "run")
    back = fr.load(tmp_path / "run")
    assert back.consensus_topics.labels[0] == "all"
    assert back.consensus_topics.topic_count == topics - 1
    assert back.consensus().equals(named.consensus())
    sampled.save(tmp_path / "plain")
    assert fr.load(tmp_path / "plain").consensus_topics.topic_count == topics
    assert "topics" not in json.loads((tmp_path / "plain" / "run.json").read_text())


def test_names_and_merges_survive_more_draws(sampled, tmp_path):
    named = sampled.merge_topics([[0, 1]]).set_labels({0: "all"})
    named.save(tmp_path / "run")
    for longer in (fr.resume(tmp_path / "run", draws=6), named.extend(2), fr.load(tmp_path / "run")):
        assert longer.n_draws == 6
        assert longer.consensus_topics.labels[0] == "all"
        assert longer.changes.numbers[:2] == (0, 0)
        assert longer.topics()["label"][0] == "all"
    again = fr.load(tmp_path / "run")
    assert again.topics().equals(longer.topics())


def test_a_name_whose_topic_is_gone_is_dropped_with_a_warning():
    edits = TopicEdits((0, 0, 1, 2), ((0, "both"), (2, "gone")))
    with pytest.warns(UserWarning, match="topics named 'gone'"):
        carried = edits.carried(np.array([1, 0, 2, -1]), 4)
    assert carried == TopicEdits((0, 0, 1, 2), ((0, "both"),))
    assert TopicEdits(labels=((1, "x"),)).carried(np.array([2, 0]), 3) == TopicEdits(labels=((0, "x"),))


def test_edits_of_version_0_1_are_read(sampled, tmp_path):
    replace(sampled).save(tmp_path / "run", topics={"draws": 4, "merges": [[[0, 1]]], "labels": [[0, "all"]]})
    for draws in (4, 6):
        read = fr.load(tmp_path / "run") if draws == 4 else fr.resume(tmp_path / "run", draws=draws)
        assert read.consensus_topics.labels[0] == "all"
        assert read.changes.merges or read.changes.numbers[:2] == (0, 0)


def test_damaged_changes(sampled, tmp_path):
    sampled.set_labels({0: "all"}).save(tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    settings = json.loads(path.read_text())
    del settings["checksum"]
    settings["consensus"]["labels"] = [["x", 3]]
    path.write_text(json.dumps({**settings, "checksum": checksum_of(settings)}))
    with pytest.raises(fr.InputError, match=r"run\.json|another run"):
        fr.load(tmp_path / "run")
