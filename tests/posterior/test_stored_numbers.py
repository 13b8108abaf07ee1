"""Numbers of topics stay: on disk, with more draws, and within a chain."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import franchise as fr
from franchise.errors import StorageError
from franchise.posterior import consensus as consensus_module
from franchise.posterior.draw import Draw, draws_of
from franchise.posterior.stored_numbers import Numbering, carry_over
from franchise.storage.run_directory import RunDirectory
from tests.posterior.making import planted, posterior_of, tiny
from tests.running.runs import assert_same, assert_same_bits, sample_segments

CORPUS = fr.Corpus.from_tokens([["a"] * 20 + ["b"] * 20, ["c"] * 20 + ["d"] * 20, ["e"] * 9 + ["f"] * 9] * 3)
SETTINGS = {"sampler": "crf", "warmup": 50, "chains": 2, "seed": 0, "progress": False}
SETTINGS |= {"alpha": 0.1, "gamma": 0.1}  # three topics in nearly every draw


def draw(number, labels, topics):
    return Draw(0, number, np.array(labels, np.uint8), topics)


def test_topics_keep_their_numbers():
    first, second = draw(0, [0, 0, 0, 1, 1, 2], 3), draw(8, [0, 1, 1, 2, 2, 2], 3)
    earlier = Numbering.of([first], [np.array([2, 0, 1])])
    assert earlier.topic_count == 3
    numbers, new_of_old = carry_over([first, second], [np.array([0, 1, 2]), np.array([2, 3, 0])], 4, earlier)
    assert numbers.tolist() == [2, 0, 1, 3]  # topic 3 was not there before
    assert new_of_old.tolist() == [0, 1, 2]


def test_free_numbers_are_filled():
    only = draw(0, [0, 0, 0, 1, 1, 2], 3)
    earlier = Numbering.of([only], [np.array([3, 1, 0])])  # topic 2 was in draws that are gone
    numbers, new_of_old = carry_over([only], [np.array([0, 1, -1])], 2, earlier)
    assert numbers.tolist() == [0, 1]  # 3 is beyond the two topics left, and 0 is free
    assert new_of_old.tolist() == [-1, 1, -1, 0]


def test_other_draws_are_not_taken_for_the_same():
    posterior = tiny()
    numbering = posterior.consensus_topics.numbering
    again = Numbering.from_plain(json.loads(json.dumps(numbering.to_plain())))
    draws = draws_of(posterior)
    assert [m.tolist() for m in again.matches_of(draws)] == [
        m.tolist() for m in posterior.consensus_topics.matches
    ]
    assert again.matches_of(draws[1:]) is None
    changed = draws[0]._replace(given=draws[0].labels[::-1])
    assert again.matches_of([changed, *draws[1:]]) is None


@pytest.fixture
def kept(tmp_path):
    return fr.sample(CORPUS, draws=4, run_dir=tmp_path / "run", **SETTINGS)


def test_numbers_are_written_once_and_read_again(kept, tmp_path, monkeypatch):
    path = tmp_path / "run" / "run.json"
    assert "consensus" not in json.loads(path.read_text())
    table = kept.topics()
    written = path.read_bytes()
    assert "consensus" in json.loads(written)

    def never(*arguments):
        raise AssertionError("topics are matched again")

    monkeypatch.setattr(consensus_module, "match_draws", never)
    loaded = fr.load(tmp_path / "run")
    assert loaded.topics().equals(table)
    assert path.read_bytes() == written


def short(draws):
    return [[*key, numbers[:1]] for *key, numbers in draws]


def of_other_draws(draws):
    return [[chain, number, checksum ^ 1, numbers] for chain, number, checksum, numbers in draws]


@pytest.mark.parametrize("wrong", [short, of_other_draws, lambda draws: draws[:3]])
def test_numbers_that_do_not_fit_the_draws_are_not_used(kept, tmp_path, wrong):
    table = kept.topics()
    run = RunDirectory.open(tmp_path / "run")
    stored = run.settings["consensus"]
    run.change(consensus={**stored, "draws": wrong(stored["draws"])})
    assert fr.load(tmp_path / "run").topics()["words"].equals(table["words"])
    assert RunDirectory.open(tmp_path / "run").settings["consensus"] == stored  # repaired
    assert fr.load(tmp_path / "run").topics().equals(table)


def test_damaged_numbers_are_reported(kept, tmp_path):
    kept.topics()
    run = RunDirectory.open(tmp_path / "run")
    run.change(consensus={**run.settings["consensus"], "draws": [[0, "first", 1, [0]]]})
    with pytest.raises(StorageError, match=r"run\.json.*damaged"):
        fr.load(tmp_path / "run")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_read_only_run(kept, tmp_path):
    run = tmp_path / "run"
    run.chmod(0o555)
    try:
        table = fr.load(run).topics()
        assert fr.load(run).topics().equals(table)
        assert "consensus" not in json.loads((run / "run.json").read_text())
    finally:
        run.chmod(0o755)


def test_a_run_that_cannot_be_written_is_read_all_the_same(kept, tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise StorageError("read-only")

    monkeypatch.setattr(RunDirectory, "change", refuse)
    before = (tmp_path / "run" / "run.json").read_bytes()
    assert len(fr.load(tmp_path / "run").topics()) > 1
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_numbers_of_another_process_stay(kept, tmp_path):
    loaded = fr.load(tmp_path / "run")
    RunDirectory.open(tmp_path / "run").change(consensus={"draws": [], "numbers": [], "labels": []})
    written = (tmp_path / "run" / "run.json").read_bytes()
    loaded.topics()
    assert (tmp_path / "run" / "run.json").read_bytes() == written


def test_a_run_with_numbers_is_resumed_to_the_same_draws(kept, tmp_path):
    consensus = kept.consensus_topics
    count = consensus.topic_count
    turned = consensus.renumbered(np.roll(np.arange(count), 1))
    plain = {"draws": Numbering.of(turned.draws, turned.matches).to_plain(), "numbers": [], "labels": []}
    planted = RunDirectory.open(tmp_path / "run")
    planted.change(consensus=plain)
    longer = fr.resume(tmp_path / "run", draws=40)
    assert_same(longer, fr.sample(CORPUS, draws=40, **SETTINGS))
    words = fr.load(tmp_path / "run").topics()["words"]
    assert longer.topics()["words"].equals(words)
    fresh = fr.sample(CORPUS, draws=40, **SETTINGS).topics()["words"]
    assert words[:count].tolist() != fresh[:count].tolist()
    assert set(words) == set(fresh)
    assert [set(row.split()) for row in words[:count]] == [
        set(row.split()) for row in turned.table()["words"]
    ]


def test_numbers_of_a_hidden_topic_markov_model_are_kept(tmp_path):
    posterior = sample_segments(3, 4, run_dir=tmp_path / "run")
    named = posterior.set_labels({0: "first"})
    table = posterior.topics()
    assert fr.load(tmp_path / "run").topics().equals(table)
    longer = fr.resume(tmp_path / "run", draws=8)
    assert_same_bits(longer, sample_segments(3, 8))
    assert longer.numbering is not None
    assert "first" in named.extend(4).consensus_topics.labels


def test_a_chain_has_the_numbers_of_all(kept):
    whole = kept.consensus_topics
    for chain in (0, 1):
        alone = kept.chain(chain)
        assert alone.n_chains == 1
        assert alone.consensus_topics.labels == whole.labels
        assert alone.document_topics().columns.tolist() == kept.document_topics().columns.tolist()
        assert alone.topics()["share"].to_numpy() == pytest.approx(
            whole.shares[whole.chains == chain].mean(axis=0)
        )
    means = [kept.chain(chain).document_topics() for chain in (0, 1)]
    np.testing.assert_allclose((means[0] + means[1]) / 2, kept.document_topics())


def test_a_topic_that_a_chain_lacks():
    posterior = tiny()  # only the second chain has topic 2
    table = posterior.chain(0).topics()
    assert table["share"][2] == table["draws"][2] == 0.0
    assert table["words"].tolist()[2] == posterior.topics()["words"][2]
    assert posterior.chain(0).consensus_topics.words(2)["word"].tolist() == ["b"]
    assert np.isfinite(posterior.chain(0).topic_similarity().to_numpy()).all()


def test_a_note_where_topics_do_not_cover_everything():
    posterior = tiny()
    assert "note" not in posterior.topics().attrs
    rng = np.random.default_rng(6)
    corpus, truth = planted(rng)
    chains = [[np.where(truth == 0, 0, rng.integers(1, 5, size=len(truth))) for _ in range(8)]]
    uncertain = posterior_of(corpus, chains)
    coverage = uncertain.consensus_topics.coverage
    assert 0.3 < coverage < 0.95
    assert (
        uncertain.topics().attrs["note"]
        == f"{coverage:.0%} of the words are in consensus topics, which recur across draws."
    )
    shares = uncertain.document_topics()
    assert shares["other"].mean() == pytest.approx(1.0 - coverage, abs=0.1)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_a_run_of_shards_takes_an_ordinary_corpus(tmp_path):
    shards = fr.synthetic.write_planted(
        tmp_path / "shards", documents=30, vocabulary=50, tokens=2_000, topics=2
    )
    posterior = fr.sample(shards, draws=2, warmup=2, chains=1, progress=False)
    new = fr.Corpus.from_tokens([[0, 1, 2], [3, 3]], posterior.data.vocabulary)
    assert type(new) is not type(posterior.data)
    table = posterior.infer(new)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert np.isfinite(fr.diagnostics.document_completion(posterior, new).perplexity)
    with pytest.raises(fr.InputError, match="vocabulary of the training corpus"):
        posterior.infer(fr.Corpus.from_tokens([["cat"]]))
