"""Frank et al.'s experiments at a tiny size: they run, write what they promise, and judge by the numbers."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

from franchise.data.datasets import load
from franchise.errors import InputError
from franchise_studies import frank, reproduce
from franchise_studies.frank import Size, ants, corpora, script, speed, statements, text
from franchise_studies.frank.following import follow
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder

TINY = Size(
    ants_chains=2,
    ants_sweeps=110,
    speed_sweeps=10,
    speed_repeats=2,
    samples=2,
    documents=25,
    chains=2,
    sweeps=30,
    warmup=10,
    topics=(3, 5),
)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study on bundled text, and its progress messages."""
    messages = []
    path = tmp_path_factory.mktemp("study") / "out"
    on_progress = lambda what, share: messages.append((what, share))  # noqa: E731
    page = frank.run(StudyFolder(path), True, None, on_progress, TINY)
    return page, messages


def test_the_folder_holds_what_the_page_shows(done):
    page, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', page.read_text())
    assert len(links) > 25
    for link in links:
        assert (page.parent / link).is_file()
    names = ["ants_clusters", "ants_traces", "ants_heat_direct", "ants_heat_crf", "ants_links"]
    names += ["text_topics", "comparison_lda"]
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"{name}.{kind}" for name in names for kind in ("png", "svg")
    }
    facts = json.loads((page.parent / "study.json").read_text())
    assert facts["size"]["samples"] == 2
    assert facts["texts"] == corpora.SOTU
    assert "State of the Union addresses stand in for the Reuters stories" in page.read_text()


def test_tables(done):
    page, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (page.parent / "tables").glob("*.csv")}
    clusters = tables["ants_clusters"]
    assert clusters["the paper"].sum() == 450
    np.testing.assert_allclose(clusters.drop(columns=["clusters", "the paper"]).sum(), 450.0)
    assert tables["ants_chains"]["chains"].tolist() == [2] * 4
    assert len(tables["speed"]) == 4
    assert (tables["speed"].drop(columns=["sampler", "family"]) > 0).all(axis=None)
    assert tables["speed_ratios"]["the paper"].round(2).tolist() == [6.79, 25.84, 1.15, 4.39]
    assert tables["text_samples"]["documents"].tolist() == [50, 50]
    assert tables["comparison_lda"]["topics"].tolist() == [3, 5]
    verdicts = tables["statements"]["Verdict"]
    assert len(verdicts) == 18
    assert set(verdicts) <= {AGREES, IN_PART, DIFFERS, OPEN}
    assert (verdicts == OPEN).sum() >= 14  # two chains and two samples decide little


def test_progress_is_told(done):
    _, messages = done
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {what for what, _ in messages} == {"run times", "ants", "text"}


@pytest.mark.slow
def test_the_quick_form_as_it_is(tmp_path):
    assert reproduce("frank", tmp_path / "out", quick=True).is_file()


# --- ants ---------------------------------------------------------------------------------------------------


def test_both_groupings_keep_the_order_of_the_counts():
    conditions = load("ants")
    studies = ants.group_by(ants.STUDIES)
    assert (conditions.n_groups, studies.n_groups) == (12, 3)
    np.testing.assert_array_equal(studies.observations, conditions.observations)
    assert studies.group_sizes.tolist() == [80, 64, 40]


def test_clusters_are_followed_from_draw_to_draw():
    labels = np.array(
        [
            [0, 0, 0, 1, 1, 2],
            [1, 1, 1, 0, 0, 2],  # renamed
            [1, 1, 1, 0, 0, 0],  # the last one joins: its number is free
            [1, 1, 2, 0, 0, 0],  # the third leaves: the lowest free number
        ]
    )
    np.testing.assert_array_equal(
        follow(labels),
        [[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1], [0, 0, 2, 1, 1, 1]],
    )


def test_chance_together_by_hand():
    labels = np.array([[0, 0, 0, 1], [0, 1, 1, 1]])
    groups = np.array([0, 0, 1, 1])
    # first draw: shares (1, 0) and (1/2, 1/2); second: (1/2, 1/2) and (0, 1)
    np.testing.assert_allclose(ants.chance_together(labels, groups), [[0.75, 0.5], [0.5, 0.75]])


def test_pairs_made_with_one_rate():
    pairs = ants.linked_pairs()
    assert pairs["control"] == [(0, 4), (0, 8), (4, 8)]
    assert pairs["temperature"] == [(2, 6)]
    assert len(pairs["others"]) == 66 - 4


def ants_run(sampler=ants.DIRECT, clusters=(5, 6), followed=None, together=None, seed=0):
    """A chain of two numbers of clusters, every trial in the cluster of its condition."""
    conditions = load("ants").group_of_observation
    return ants.Run(
        task=ants.Task(sampler, ants.STUDIES, seed),
        clusters=np.array(clusters),
        followed=np.tile(conditions, (60, 1)) if followed is None else followed,
        together=np.eye(12) if together is None else together,
    )


def ants_chains(count=10, **settings):
    return [ants_run(sampler, seed=seed, **settings) for sampler in ants.SAMPLERS for seed in range(count)]


def test_verdicts_on_the_number_of_clusters():
    def verdicts(clusters, count=10):
        chains = ants_chains(count, clusters=clusters)
        functions = (statements.four_to_seven, statements.histogram, statements.at_most_nine)
        return [function(chains).verdict for function in functions]

    printed = np.repeat(list(ants.REPORTED), list(ants.REPORTED.values()))
    assert verdicts(printed) == [AGREES, AGREES, AGREES]
    assert verdicts([5] * 60 + [6] * 39 + [10]) == [AGREES, IN_PART, IN_PART]
    assert verdicts([3, 10]) == [DIFFERS, DIFFERS, DIFFERS]
    assert verdicts(printed, count=4) == [OPEN, OPEN, OPEN]


def test_verdicts_on_the_heat_maps():
    def verdicts(followed):
        chains = ants_chains(followed=followed)
        functions = (statements.lasting, statements.two_colours, statements.one_dominates)
        return [function(chains).verdict for function in functions]

    conditions = load("ants").group_of_observation
    assert verdicts(np.tile(conditions % 4, (60, 1))) == [AGREES, AGREES, AGREES]
    assert verdicts(np.tile(conditions, (60, 1))) == [IN_PART, AGREES, AGREES]  # twelve last, not four
    now_and_then = np.tile(conditions % 4, (60, 1))
    now_and_then[20], now_and_then[40] = 4, 5
    assert verdicts(now_and_then) == [AGREES, IN_PART, AGREES]
    restless = (np.arange(60)[:, None] + np.arange(184)) % 12
    assert verdicts(restless) == [IN_PART, DIFFERS, DIFFERS]


def test_verdict_on_links():
    def verdict(*linked):
        together = np.full((12, 12), 0.2)
        together[[0, 0, 4, 2], [4, 8, 8, 6]] = 0.1
        for pair in linked:
            together[pair] = 0.6
        return statements.linked(ants_chains(together=together)).verdict

    controls = [(0, 4), (0, 8), (4, 8)]
    assert verdict(*controls, (2, 6)) == AGREES
    assert verdict(*controls) == IN_PART
    assert verdict((0, 1)) == DIFFERS


def test_verdict_on_what_is_like_the_controls():
    def verdict(altitude, dirt, sunlight):
        together = np.full((12, 12), 0.4)
        for place, chance in ((1, altitude), (10, dirt), (5, sunlight)):
            together[place] = together[:, place] = chance
        return statements.like_controls(ants_chains(together=together)).verdict

    assert verdict(0.0, 0.1, 0.3) == AGREES
    assert verdict(0.0, 0.1, 0.1) == IN_PART
    assert verdict(0.3, 0.1, 0.1) == DIFFERS


# --- run times ----------------------------------------------------------------------------------------------


def test_data_are_the_papers():
    """The old generator is fixed for ever, so these are the first draws of the paper's notebook."""
    prior, groups, categories = speed.random_data(speed.PAPER)
    assert prior[:2].round(6).tolist() == [0.548814, 0.715189]
    assert (len(prior), len(groups), len(categories)) == (50, 100, 100)
    assert (groups.max(), categories.max()) == (4, 48)


def timings(**seconds):
    """The same times at both sizes, by sampler and the first letter of the family."""
    families = {"m": speed.MULTINOMIAL, "c": speed.CATEGORICAL}
    return [
        speed.Timing(shape, name[:-2], families[name[-1]], np.array([value, value, 99.0]))
        for shape in speed.SHAPES
        for name, value in seconds.items()
    ]


def test_verdicts_on_run_times():
    def verdicts(**seconds):
        made = timings(**seconds)
        return statements.direct_is_faster(made).verdict, statements.categorical_is_faster(made).verdict

    assert verdicts(crf_m=2.56, crf_c=2.0, direct_m=0.38, direct_c=0.09) == (AGREES, AGREES)
    assert verdicts(crf_m=2.0, crf_c=1.0, direct_m=1.0, direct_c=0.6) == (IN_PART, IN_PART)
    assert verdicts(crf_m=1.0, crf_c=1.0, direct_m=1.0, direct_c=1.0) == (DIFFERS, DIFFERS)


# --- text ---------------------------------------------------------------------------------------------------


def chains_of_topics(commonest=20, chains=6, train=86.8, test=116.7, **settings):
    """Chains with a number of topics after ten sweeps, give or take one, and given perplexities."""
    later = commonest + np.tile([0, 0, 1, 0, -1], 20)
    topics = np.tile(np.concatenate([np.linspace(50, commonest, 10).astype(int), later]), (chains, 1))
    values = {
        "topics": topics,
        "warmup": 20,
        "train": np.full(chains, -np.log(train)),
        "test": np.full(chains, -np.log(test)),
        "unigram": 230.0,
        "seconds": 2.0,
        "seconds_of_both": 4.0,
    }
    return text.HdpChains(**{**values, **settings})


def text_run(hdp=None, lda=(), lsa_seconds=0.1):
    facts = {"sample": 0, "words": 6000, "words trained on": 3000}
    fits = lda or [text.LdaFit(3, -5.0, 300.0, 0.1), text.LdaFit(9, -5.1, 400.0, 0.1)]
    return text.TextRun(facts, hdp or chains_of_topics(), list(fits), lsa_seconds)


def test_verdict_on_the_number_of_topics():
    def verdict(commonest, name=corpora.REUTERS, chains=6):
        run = text_run(chains_of_topics(commonest, chains))
        return statements.topics_of_reuters(name, [run]).verdict

    assert verdict(19) == AGREES
    assert verdict(23) == DIFFERS
    assert verdict(19, chains=4) == OPEN
    assert verdict(19, name=corpora.SOTU) == OPEN
    spread = dataclasses.replace(chains_of_topics(30), topics=np.tile(np.arange(30, 15, -1), (6, 10)))
    assert statements.topics_of_reuters(corpora.REUTERS, [text_run(spread)]).verdict == IN_PART


def test_verdict_on_convergence():
    def verdict(hdp):
        return statements.converges(corpora.REUTERS, [text_run(hdp)]).verdict

    steady = chains_of_topics()
    assert steady.arrival <= 10
    assert verdict(steady) == AGREES
    apart = dataclasses.replace(steady, topics=steady.topics + 5 * np.arange(6)[:, None])
    assert verdict(apart) == IN_PART
    late = np.repeat(np.linspace(50, 20, 30).astype(int), 10) + 5 * np.arange(6)[:, None]
    assert verdict(dataclasses.replace(steady, topics=late, warmup=200)) == DIFFERS


def test_verdicts_on_perplexity():
    def verdicts(train, test, name=corpora.REUTERS):
        runs = [text_run(chains_of_topics(train=train, test=test))]
        scores = [script.ScriptScore("as they come", 1.0, 2.0)]
        return statements.perplexities(name, runs, scores).verdict, statements.predicts(name, runs).verdict

    assert verdicts(90.0, 110.0) == (AGREES, AGREES)
    assert verdicts(50.0, 120.0) == (IN_PART, AGREES)
    assert verdicts(150.0, 140.0) == (DIFFERS, IN_PART)
    assert verdicts(500.0, 400.0) == (DIFFERS, DIFFERS)
    assert verdicts(90.0, 110.0, name=corpora.SOTU) == (OPEN, OPEN)


def test_verdict_on_twice_the_documents():
    def verdict(seconds):
        return statements.twice_the_documents([text_run(chains_of_topics(seconds_of_both=seconds))]).verdict

    assert [verdict(seconds) for seconds in (14.0, 7.0, 4.0)] == [AGREES, IN_PART, DIFFERS]


def test_verdict_on_the_order_of_times():
    def verdict(hdp, lda, lsa, sweeps=2000):
        chains = dataclasses.replace(chains_of_topics(), topics=np.full((6, sweeps), 20), seconds=hdp)
        fits = [text.LdaFit(count, -5.0, 300.0, lda / len(text.COUNTS)) for count in text.COUNTS]
        return statements.order_of_times([text_run(chains, fits, lsa)]).verdict

    assert verdict(960.0, 52.6, 2.61) == AGREES
    assert verdict(1.0, 5.0, 0.1) == IN_PART
    assert verdict(1.0, 5.0, 6.0) == DIFFERS
    assert verdict(960.0, 52.6, 2.61, sweeps=600) == OPEN


def test_verdict_on_lda():
    def verdict(*gaps, runs=6):
        """Runs in which the HDP is ahead of two numbers of topics by so much, give or take a little."""
        made = []
        for number in range(runs):
            noise = 0.001 * (-1) ** number
            fits = [
                text.LdaFit(3 + k, -np.log(116.7) - gap + noise, 300.0, 0.1) for k, gap in enumerate(gaps)
            ]
            made.append(text_run(chains_of_topics(), fits))
        return statements.better_than_lda(made).verdict

    assert verdict(0.1, 0.2) == AGREES
    assert verdict(0.1, 0.0) == IN_PART
    assert verdict(-0.1, 0.0) == DIFFERS
    assert verdict(0.1, 0.2, runs=4) == OPEN


def test_lda_is_scored_as_the_hdp_is():
    """With a single topic LDA predicts by smoothed word frequencies: the baseline of document completion."""
    sample = corpora.load_texts(None, 1, 25).samples[0]
    fit = text.fit_lda(sample, 1)
    hdp = text.run_hdp(sample, chains=1, sweeps=4, warmup=2)
    assert np.exp(-fit.test) == pytest.approx(hdp.unigram, rel=1e-3)
    assert hdp.topics.shape == (1, 4)
    assert hdp.train[0] > hdp.test[0]


def test_the_scripts_perplexity_by_hand():
    """Two documents, three words and two topics: words by falling frequency are b (0), a (1) and c (2)."""
    sample = corpora.make_sample(0, ["alpha beta beta", "beta gamma", "beta", "alpha"], least=1)
    labels = np.array([[0, 1, 1, 0, 1]])  # one draw: alpha in topic 0, beta in 1, beta 1, beta 0, gamma 1
    words = np.array([[2.5, 0.5, 0.5], [0.5, 3.5, 0.5]]) / [[3.5], [4.5]]
    weights = np.array([[1.5, 2.5], [1.5, 1.5]]) / [[4.0], [3.0]]
    beta, alpha, gamma = np.log((weights @ words).sum(axis=0))
    train, test = script.score_numbered(sample, labels, 2)
    assert train == pytest.approx(np.exp(-(3 * beta + alpha + gamma) / 5))
    assert test == pytest.approx(np.exp(-(beta + alpha) / 2))
    renumbered, _ = script.score_numbered(sample, 1 - labels, 2)
    assert renumbered != pytest.approx(train)  # no perplexity: it hangs on the numbers of topics


# --- corpora ------------------------------------------------------------------------------------------------


def test_words_of_a_story():
    story = "Oil prices\nrose 3.5 pct, OPEC's Mr. Subroto SAID; U.S. oil-prices didn't.\n REUTER\n\x03"
    assert corpora.words_of(story.replace("\x03", "")) == [
        "oil", "prices", "rose", "pct", "opecs", "mr", "subroto", "oilprices", "didnt"
    ]  # fmt: skip


def test_a_sample_has_the_words_seen_often_enough_in_both_halves_together():
    sample = corpora.make_sample(0, ["grain grain wheat", "grain corn", "wheat wheat", "tin"], least=3)
    assert sample.both.vocabulary == ["grain", "wheat"]
    assert (sample.train.n_documents, sample.test.n_documents) == (2, 2)
    assert sample.train.to_matrix().toarray().tolist() == [[2, 1], [1, 0]]
    assert sample.test.to_matrix().toarray().tolist() == [[0, 2], [0, 0]]  # an empty document keeps its place
    assert sample.test.vocabulary == sample.train.vocabulary


def write_stories(folder, count=8):
    path = folder / "reuters21578" / "reuters21578.jsonl.gz"
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt") as file:
        for number in range(count):
            dated = {"dateline": "NEW YORK, March 1 -", "body": f"{'wheat ' * 9}{'tin ' * number}"}
            undated = {"dateline": "", "body": "no such story"}
            file.writelines(json.dumps(record) + "\n" for record in (dated, undated))
    return path


def test_stories_come_in_order_without_those_that_have_no_dateline(tmp_path):
    write_stories(tmp_path)
    texts = corpora.load_texts(tmp_path, samples=2, documents=2)
    assert texts.name == corpora.REUTERS
    first, second = texts.samples
    assert first.both.vocabulary == ["wheat"]  # tin: 0 + 1 + 2 + 3 times
    assert second.both.vocabulary == ["tin", "wheat"]  # 4 + 5 + 6 + 7 times
    assert second.train.to_matrix().toarray().tolist() == [[4, 9], [5, 9]]
    with pytest.raises(InputError, match="has 8 documents of the kind wanted; 12 are needed"):
        corpora.load_texts(tmp_path, samples=3, documents=2)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"FRANCHISE_DATA.*reuters21578.jsonl.gz.*missing.*leave out --data"):
        reproduce("frank", tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()


def test_damaged_data_are_named(tmp_path):
    write_stories(tmp_path).write_bytes(gzip.compress(b'{"title": "x"}\n', mtime=0))
    with pytest.raises(InputError, match="line 1: needs the fields body, dateline"):
        corpora.load_texts(tmp_path, 1, 2)
