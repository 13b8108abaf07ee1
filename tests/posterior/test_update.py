"""More data for a fitted model: where chains continue, what they sample, and topics before and after."""

from __future__ import annotations

import json

import numpy as np
import pytest

import franchise as fr
from franchise.checks.enumeration import Enumeration, canonical, tiny_model
from franchise.data.extend import extend_corpus
from franchise.moves import (
    CrfGibbs,
    DirectAssignment,
    ScaledPrior,
    TopicWeights,
    UniformWeights,
    during_warmup,
)
from franchise.moves.compose import moves_of
from franchise.running.run import Run
from franchise_studies.long_run import effective_size, total_variation, typical_total_variation
from tests.exactness.cases import CASES, size
from tests.posterior.making import planted
from tests.running.runs import SENTENCES, assert_same, assert_same_bits, sample_segments
from tests.support.nightly import nightly

QUICK = {"draws": 20, "warmup": 40, "chains": 2, "progress": False}
SEA = "Ships sail the sea. Waves rock the ships. Sailors watch the waves. Storms sink ships."
BREAD = "Bakers knead dough. Ovens bake the bread. People buy bread."
TRAINS = "Trains leave stations. Engines pull trains. Rails guide engines to stations."


def texts_of(*texts, copies=8):
    return [*texts, " ".join(texts)] * copies


@pytest.fixture(scope="module")
def fitted():
    corpus = fr.Corpus.from_texts(texts_of(SEA, BREAD), sentences="simple")
    return fr.sample(corpus, alpha=0.5, gamma=0.5, **QUICK)


@pytest.fixture(scope="module")
def updated(fitted):
    return fitted.set_labels({0: "shipping"}).update(texts_of(TRAINS, SEA), progress=False)


def topic_of(posterior, word):
    return int(posterior.find_topics(word).index[0])


def test_topics_before_and_after(fitted, updated):
    """Two topics are kept, with their numbers and names; the third is that of the new texts."""
    table = fitted.compare(updated)
    assert table["change"].tolist().count("kept") == 2
    kept = table[table["change"] == "kept"]
    assert kept["topic"].tolist() == kept["topic_before"].tolist()
    assert (kept["similarity"] > 0.8).all()
    new = table[table["change"] == "new"].iloc[0]
    assert "trains" in new["words"].split()[:4]
    assert new["topic"] == topic_of(updated, "trains")
    assert np.isnan(new["share_before"])
    assert updated.topics().loc[0, "label"] == "shipping"
    back = updated.compare(fitted)
    assert "vanished" in back["change"].tolist()
    assert back.loc[back["change"] == "vanished", "label"].iloc[0] == new["label"]


def test_the_result_is_an_ordinary_run_over_all_documents(fitted, updated, tmp_path):
    assert updated.data.n_documents == fitted.data.n_documents + 24
    assert (updated.n_chains, updated.n_draws) == (fitted.n_chains, fitted.n_draws)
    assert updated.warmup_trace["n_topics"].shape == (2, 10)  # a quarter of the run's
    assert fitted.data.n_documents == 24
    updated.save(tmp_path / "run")
    again = fr.load(tmp_path / "run")
    assert_same(again, updated)
    assert again.topics()["label"].tolist() == updated.topics()["label"].tolist()
    more = updated.update(["Engines pull ships."], draws=3, warmup=0, progress=False)
    assert more.n_draws == 3
    assert more.topics().loc[0, "label"] == "shipping"


def stopped_update(fitted, folder, monkeypatch):
    """Update a stored fit with names, and interrupt it before topics have numbers."""

    def interrupt(self, options):
        raise KeyboardInterrupt

    fitted.save(folder / "old")
    old = fr.load(folder / "old").set_labels({0: "shipping", 1: "baking"})
    with monkeypatch.context() as patch:
        patch.setattr(Run, "go", interrupt)
        with pytest.raises(KeyboardInterrupt):
            old.update(texts_of(TRAINS, SEA), warmup=10, progress=False, run_dir=folder / "new")
    return old


def test_an_interrupted_update_keeps_numbers_and_names_when_it_is_resumed(fitted, tmp_path, monkeypatch):
    old = stopped_update(fitted, tmp_path, monkeypatch)
    new = fr.resume(tmp_path / "new", progress=False)
    assert new.topics().loc[[0, 1], "label"].tolist() == ["shipping", "baking"]
    assert topic_of(new, "ships") == topic_of(old, "ships")
    (tmp_path / "old").rename(tmp_path / "elsewhere")  # numbers are stored now
    assert fr.load(tmp_path / "new").topics().loc[0, "label"] == "shipping"


def test_a_resumed_update_warns_if_the_old_run_is_gone(fitted, tmp_path, monkeypatch):
    stopped_update(fitted, tmp_path, monkeypatch)
    (tmp_path / "old").rename(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match="topics have new numbers, as the run from before the update cannot"):
        new = fr.resume(tmp_path / "new", progress=False)
    assert "shipping" not in new.topics()["label"].tolist()


@pytest.mark.filterwarnings("ignore:no move in the sampler")
def test_old_documents_start_with_the_topics_of_the_last_state(fitted):
    """Moves that draw no topics: what chains start with is what they end with."""
    still = [TopicWeights()]
    frozen = fr.sample(
        fitted.data,
        sampler=still,
        start=list(fitted.states),
        alpha=0.5,
        gamma=0.5,
        draws=1,
        warmup=0,
        chains=2,
    )
    new = frozen.update(texts_of(SEA, TRAINS, copies=1), draws=1, warmup=0, progress=False)
    for chain in (0, 1):
        before, after = frozen.snapshots[chain][-1].labels, new.snapshots[chain][-1].labels
        old = after[: len(before)]
        assert canonical(old) == canonical(before)
        text = new.data.n_documents - 3  # of the sea
        begin, end = new.data.offsets[text : text + 2]
        waves = fitted.data.vocabulary.index("waves")
        sea = old[np.flatnonzero(frozen.data.observations == waves)[0]]
        assert (after[begin:end] == sea).mean() > 0.8
        assert after.max() == before.max()  # new documents begin with present topics


def test_states_continue(fitted):
    """Concentrations and a learned prior, too."""
    family = fr.Categorical(fitted.data.vocabulary_size, fr.Gamma(1.0, 5.0))
    one = fr.sample(fitted.data, family, **QUICK)
    setup, states = one.run.setup.continued(
        extend_corpus(one.data, fitted.data), one.run.chains, 0, fr.engines.Threads(1)
    )
    for start, before in zip(states, one.states, strict=True):
        state = start.make()
        assert state.group_concentration == before.group_concentration
        assert state.top_concentration == before.top_concentration
        assert family.prior_value(state.statistics) == family.prior_value(before.statistics)
    assert setup.model.n_observations == 2 * fitted.data.n_observations


@pytest.mark.exactness
@pytest.mark.parametrize("sampler", nightly(["crf", "direct", "parallel"], but=["crf"]))
def test_draws_are_of_the_posterior_of_all_data(sampler):
    case, groups = CASES["poisson"], [0, 0, 0, 0, 1, 1]
    draws = size(8_000)
    first = fr.sample(
        fr.Groups(case.observations[:3], groups[:3]),
        case.family,
        sampler=sampler,
        alpha=1.0,
        gamma=1.0,
        draws=2,
        warmup=10,
        chains=1,
        keep_labels=True,
        progress=False,
    )
    new = first.update(fr.Groups(case.observations[3:], groups[3:]), draws=draws, warmup=100, progress=False)
    exact = Enumeration(tiny_model(case.family, case.observations, groups, 1.0, 1.0), 1.0, 1.0)
    visits = [canonical(labels) for labels in new.labels[0]]
    rng = np.random.default_rng(0)
    mean, spread = typical_total_variation(exact.probabilities, effective_size(visits, exact), rng)
    assert total_variation(visits, exact.partitions, exact.probabilities) < mean + 5 * spread


def test_the_moves_for_random_starts_are_left_out():
    own = [DirectAssignment(), during_warmup(UniformWeights(), (0.0, 0.5)), during_warmup(CrfGibbs())]
    corpus, _ = planted(np.random.default_rng(0), documents=30, length=80)
    for sampler in ("direct", own):
        posterior = fr.sample(
            corpus, sampler=sampler, draws=1, warmup=1, chains=1, alpha=1.0, gamma=1.0, progress=False
        )
        kinds = {type(move) for move in moves_of(posterior.run.setup.schedule)}
        assert kinds & {ScaledPrior, UniformWeights}
        new = posterior.update(corpus.subset([0]), progress=False)
        later = {type(move) for move in moves_of(new.run.setup.schedule)}
        assert later == kinds - {ScaledPrior, UniformWeights}


def test_seeds_and_threads(fitted):
    one, two = (fitted.update([TRAINS], workers=workers, progress=False) for workers in (1, 2))
    assert_same_bits(one, two)
    assert one.seed == fitted.seed + 1  # the states depend on the random numbers of the run
    other = fitted.update([TRAINS], seed=5, progress=False)
    assert other.seed == 5
    assert not np.array_equal(one.trace["log_joint"], other.trace["log_joint"])


def test_a_run_directory_can_be_resumed(fitted, tmp_path):
    named = fitted.set_labels({1: "baking"})
    new = named.update([TRAINS, SEA], draws=4, warmup=2, run_dir=tmp_path / "new", progress=False)
    assert fr.load(tmp_path / "new").topics().loc[1, "label"] == "baking"
    assert fr.resume(tmp_path / "new", draws=6, progress=False).topics().loc[1, "label"] == "baking"
    assert new.topics().loc[1, "label"] == "baking"


def test_merges_and_rules_stay(fitted):
    merged = fitted.merge_topics([[0, 1]]).set_labels({0: "all"})
    new = merged.update(texts_of(TRAINS), progress=False)
    assert "all" in new.topics()["label"].tolist()
    assert len(new.topics()) == len(fitted.update(texts_of(TRAINS), progress=False).topics()) - 1
    strict = fitted.with_consensus(min_share=0.1).update(texts_of(TRAINS), progress=False)
    assert strict.consensus_topics.rules.min_share == 0.1


@pytest.mark.parametrize("prior", [0.5, fr.Gamma(1.0, 2.0), "by frequency"])
def test_priors_of_new_words(fitted, prior):
    corpus = fitted.data
    family = (
        fr.Categorical.by_frequency(corpus)
        if prior == "by frequency"
        else fr.Categorical(corpus.vocabulary_size, prior)
    )
    new = fr.sample(corpus, family, **QUICK).update([TRAINS], draws=2, warmup=2, progress=False)
    assert new.family.size == new.data.vocabulary_size > corpus.vocabulary_size
    if prior == "by frequency":
        assert new.family.prior[: corpus.vocabulary_size].tolist() == family.prior.tolist()
        assert new.family.prior[-1] == pytest.approx(family.prior.mean())
    else:
        assert new.family.prior == family.prior


def test_known_topics(fitted):
    known = fitted.as_known_topics([0], names=["shipping"])
    posterior = fr.sample(fitted.data, known, **QUICK)
    new = posterior.update([TRAINS, SEA], draws=4, warmup=4, progress=False)
    assert new.family.names == ["shipping"]
    assert "shipping" in new.known_shares().index


@pytest.mark.parametrize(
    ("family", "make"),
    [
        (fr.GaussianFull(2), lambda rng, mean, n: rng.normal(mean, 1.0, (n, 2))),
        (fr.GaussianIndependent(2), lambda rng, mean, n: rng.normal(mean, 1.0, (n, 2))),
        (fr.Poisson(1.0, 0.1), lambda rng, mean, n: rng.poisson(mean, n)),
    ],
)
def test_other_families(family, make):
    rng = np.random.default_rng(0)
    old = fr.Groups(np.concatenate([make(rng, 1, 20), make(rng, 20, 20)]), np.arange(40) % 4)
    posterior = fr.sample(old, family, **QUICK)
    new = posterior.update(fr.Groups(make(rng, 60, 10), np.arange(10) % 5 + 3), progress=False)
    assert new.data.n_groups == 8
    changes = posterior.compare(new)
    assert changes["change"].tolist()[:3].count("kept") == 2
    assert "new" in changes["change"].tolist()


# --- the hidden topic Markov model --------------------------------------------------------------------------


@pytest.mark.parametrize("n_topics", [3, None])
def test_segments(n_topics, tmp_path):
    posterior = sample_segments(n_topics, 4)
    new_words = fr.Corpus.from_sentences([[["word1", "fresh"], ["word2"]], [["fresh"]]])
    new = posterior.update(new_words, draws=3, warmup=1, run_dir=tmp_path / "run", progress=False)
    assert new.data.n_sentences == SENTENCES.n_sentences + 3
    assert new.data.vocabulary == [*SENTENCES.vocabulary, "fresh"]
    assert new.given_topics == n_topics
    assert len(new.sentence_topics()) == new.data.n_sentences
    assert set(posterior.compare(new)["change"]) <= {"kept", "new", "vanished"}
    assert_same_bits(fr.resume(tmp_path / "run", progress=False), new)


@pytest.mark.parametrize("n_topics", [3, None])
def test_old_sentences_keep_topics_and_switches(n_topics):
    posterior = sample_segments(n_topics, 4)
    extended = extend_corpus(posterior.data, SENTENCES.subset([0, 1, 2]))
    _, states = posterior.run.setup.continued(extended, posterior.run.chains, 0, fr.engines.Threads(1))
    for start, chain in zip(states, posterior.run.chains, strict=True):
        state, before = start.make(), chain.chain.state
        old = SENTENCES.n_sentences
        assert state.topics[:old].tolist() == before.topics.tolist()
        assert state.switches[:old].tolist() == before.switches.tolist()
        stays = np.flatnonzero(~state.switches)
        assert (state.topics[stays] == state.topics[stays - 1]).all()
        assert state.switch_probability == before.switch_probability


# --- bad input ----------------------------------------------------------------------------------------------


def test_bad_input(fitted):
    for data in ("one text", 3, fr.Groups([1], [0]), {"a": 1}):
        with pytest.raises(fr.InputError, match="data must be a list of texts, or a Corpus"):
            fitted.update(data)
    with pytest.raises(fr.InputError, match="texts must all be str"):
        fitted.update([None])
    with pytest.raises(fr.InputError, match="at least one document"):
        fitted.update([])
    with pytest.raises(fr.InputError, match="names, metadata and tokenizer are for texts"):
        fitted.update(fitted.data, names=["a"] * 24)
    with pytest.raises(fr.InputError, match="Use the posterior of all chains"):
        fitted.chain(0).update([SEA])
    with pytest.raises(fr.InputError, match="draws must be"):
        fitted.update([SEA], draws=0)
    with pytest.raises(fr.InputError, match="names must have one entry per document"):
        fitted.update([SEA], names=["a", "b"])
    with pytest.raises(fr.InputError, match="a must be what"):
        fitted.compare(3)


def test_nothing_is_written_if_the_folder_has_a_run(fitted, tmp_path):
    fitted.save(tmp_path / "run")
    before = json.loads((tmp_path / "run" / "run.json").read_text())
    with pytest.raises(fr.InputError, match="run_dir"):
        fitted.update([SEA], run_dir=tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == before
