"""Wilcox's experiments at a tiny size: they run, go on, write what they promise, and judge by the numbers."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from franchise.errors import InputError
from franchise.htmm.viterbi import best_path
from franchise.parallel.threads import Threads
from franchise_studies import reproduce, wilcox
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder
from franchise_studies.wilcox import fits, nips, statements
from franchise_studies.wilcox.decoding import decode_as_printed
from franchise_studies.wilcox.fits import Sweeps
from franchise_studies.wilcox.simulation import Design, designs, draw_topics, simulate
from franchise_studies.wilcox.size import ADDED, FULL, WRITTEN, Size

BRIEF = Sweeps(10, 10, 1)
TINY = Size(
    documents=40,
    trained=30,
    numbers=(1, 4, 7),
    starts=2,
    small=BRIEF,
    few_topics=BRIEF,
    many_topics=BRIEF,
    large_again=BRIEF,
    nips_documents=24,
    nips_topics=3,
    nips_starts=2,
    nips_steps=10,
    lda_passes=2,
)


def write_papers(folder, count=30):
    """Made-up papers about two things, in sentences, each with thanks for support."""
    rng = np.random.default_rng(0)
    subjects = [
        ["vector", "support", "machine", "kernel", "margin"],
        ["neuron", "spike", "cortex", "cell", "eye"],
    ]
    thanks = "We thank the grant foundation for support and funding."
    path = folder / nips.PAPERS
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt") as file:
        for number in range(count):
            sentences = [" ".join(rng.choice(subjects[rng.integers(2)], 6)) for _ in range(8)]
            file.write(json.dumps({"id": str(number), "text": ". ".join([*sentences, thanks])}) + "\n")
    return folder


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study with made-up papers, and its progress messages."""
    messages = []
    base = tmp_path_factory.mktemp("study")
    data = write_papers(base / "data")
    on_progress = lambda what, share: messages.append((what, share))  # noqa: E731
    page = wilcox.run(StudyFolder(base / "out", "wilcox"), True, data, on_progress, TINY)
    return page, messages, data


def test_the_folder_holds_what_the_page_shows(done):
    page, _, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', page.read_text())
    assert len(links) > 40
    for link in links:
        assert (page.parent / link).is_file()
    names = [f"{what}_{number}" for what in ("switch", "theta", "phi") for number in (1, 7)]
    names += ["climb", "epsilon", "papers_climb", "papers_documents"]
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"{name}.{kind}" for name in names for kind in ("png", "svg")
    }


def test_the_tables_have_every_data_set(done):
    page, _, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (page.parent / "tables").glob("*.csv")}
    for name in (
        "em",
        "gibbs",
        "decoding",
        "em_added",
        "gibbs_added",
        "decoding_added",
        "matching",
        "epsilon",
    ):
        assert tables[name]["data"].tolist() == [1, 4, 7]
    assert tables["em"]["accuracy, printed"].tolist() == [0.78, 0.365, 0.832]
    assert tables["papers_perplexity"]["model"].tolist() == ["HTMM", "LDA"]
    assert set(tables["papers_senses"]["model"]) == {"HTMM", "LDA"}
    verdicts = tables["statements"]["Verdict"]
    assert len(verdicts) == 14
    assert set(verdicts) <= {AGREES, IN_PART, DIFFERS, OPEN}
    assert (verdicts[:7] == OPEN).all()  # three data sets decide nothing about twelve


def test_progress_is_told(done):
    _, messages, _ = done
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_interrupted_study_goes_on(done):
    page, _, data = done
    kept = {path: path.stat().st_mtime_ns for path in (page.parent / "chains").iterdir()}
    again = wilcox.run(StudyFolder(page.parent, "wilcox"), True, data, lambda what, share: None, TINY)
    assert again == page
    measured = [path for path in kept if path.name != "study.json"]
    assert len(measured) == 10
    assert all(path.stat().st_mtime_ns == kept[path] for path in measured)
    with pytest.raises(InputError, match="other settings"):
        wilcox.run(StudyFolder(page.parent, "wilcox"), True, None, lambda what, share: None, TINY)


def test_without_papers_the_page_says_what_is_missing(tmp_path):
    size = dataclasses.replace(TINY, numbers=(1,))
    page = wilcox.run(StudyFolder(tmp_path / "out", "wilcox"), True, None, lambda what, share: None, size)
    assert "left out. It needs nips_text/nipstxt.jsonl.gz" in page.read_text()
    verdicts = pd.read_csv(page.parent / "tables" / "statements.csv")["Verdict"]
    assert (verdicts[-5:] == OPEN).all()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nipstxt.jsonl.gz.*missing"):
        reproduce("wilcox", tmp_path / "out", quick=True, data=tmp_path)


@pytest.mark.slow
def test_the_quick_form_as_it_is(tmp_path):
    assert reproduce("wilcox", tmp_path / "out", quick=True).is_file()


# --- simulation ---------------------------------------------------------------------------------------------


def test_table_7_1():
    rows = designs()
    assert [row.number for row in rows] == list(range(1, 13))
    assert rows[2][:4] == (3, 10, 2, 0.9)
    assert rows[9][:4] == (10, 250, 10, 0.1)
    assert [task[1].added for task in FULL.tasks()] == [0.0] * 12 + [1.0] * 12


def test_sentences_stay_as_often_as_they_should():
    theta = np.tile([0.7, 0.3], (200, 1))
    sizes = np.full(200, 100)
    labels = draw_topics(theta, sizes, 0.2, np.random.default_rng(0)).reshape(200, 100)
    changed = np.mean(labels[:, 1:] != labels[:, :-1])
    assert changed == pytest.approx(0.2 * 2 * 0.7 * 0.3, abs=0.01)
    assert labels.mean() == pytest.approx(0.3, abs=0.03)


def test_only_the_documents_to_train_on_are_kept():
    simulated = simulate(Design(1, 10, 2, 0.5, documents=30, trained=20, vocabulary=50))
    assert simulated.corpus.n_documents == len(simulated.proportions) == 20
    assert len(simulated.sentence_topics) == simulated.prepared.n_sentences
    assert simulated.words_of_sentences.mean() == pytest.approx(20.0, abs=2.0)


# --- decoding and errors ------------------------------------------------------------------------------------


def test_as_printed_a_word_in_a_sentence_goes_where_it_is_most_frequent():
    simulated = simulate(Design(4, 10, 3, 0.5, documents=10, trained=10, vocabulary=40, added=1.0))
    data, given = simulated.prepared.data, simulated.parameters
    labels = decode_as_printed(data, given, 10)
    likeliest = given.log_topics[data.words].argmax(axis=1)
    inner = np.ones(len(labels), bool)
    inner[data.tokens[:-1]] = inner[data.tokens[1:] - 1] = False
    np.testing.assert_array_equal(labels[inner], likeliest[inner])
    path = best_path(simulated.prepared, given, Threads(1)).topics
    assert fits.accuracy(simulated, path) > np.mean(labels == np.repeat(path, simulated.words_of_sentences))


def test_as_printed_is_viterbi_where_sentences_are_single_words():
    """Then (5.51) is never used, and the recursion is right."""
    made = simulate(Design(2, 10, 3, 0.3, documents=12, trained=12, vocabulary=30))
    tokens = np.arange(len(made.prepared.data.words) + 1)
    documents = made.prepared.data.tokens[made.prepared.data.documents]
    flat = dataclasses.replace(
        made.prepared, data=made.prepared.data._replace(tokens=tokens, documents=documents)
    )
    path = best_path(flat, made.parameters, Threads(1)).topics
    np.testing.assert_array_equal(decode_as_printed(flat.data, made.parameters, 12), path)


def test_accuracy_by_hand():
    simulated = simulate(Design(1, 10, 2, 0.5, documents=20, trained=20, vocabulary=50))
    assert fits.accuracy(simulated, 1 - simulated.sentence_topics) == 1.0
    ones = np.zeros_like(simulated.sentence_topics)
    words = simulated.words_of_sentences
    share = words @ simulated.sentence_topics / words.sum()
    assert fits.accuracy(simulated, ones) == pytest.approx(max(share, 1.0 - share))
    true, found = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 2, 2])
    assert fits.match_by_argmax(true, found, np.ones(5), 3).tolist() == [0, 0, 1]


def test_unmatched_errors_are_means_over_pairings():
    estimate, truth = np.array([[1.0, 0.0]]), np.array([[0.75, 0.25]])
    assert fits.unmatched_error(estimate, truth) == pytest.approx((0.25 + 0.75 + 0.25 + 0.75) / 4)


def test_priors_that_fit():
    assert fits.fitting_priors(designs()[3]) == pytest.approx((0.55, 0.5005))
    assert fits.fitting_priors(designs()[0]._replace(added=1.0)) == pytest.approx((1.75, 1.5005))
    assert fits.thesis_prior(10) == 6.0


# --- papers -------------------------------------------------------------------------------------------------


def test_first_halves_go_by_sentences():
    papers = nips.split_papers(["cat dog. cat. cow dog cat.", "dog. cow.", "cat."], 2, 1)
    halves = nips.first_halves(papers.train).toarray()
    assert papers.train.vocabulary == ["cat", "cow", "dog"]
    assert halves.tolist() == [[2, 0, 1], [0, 0, 1]]


def test_score_by_hand():
    counts = nips.split_papers(["cat dog dog.", "cat."], 1, 1).train.to_matrix()
    found = nips.score(counts, np.array([[0.5, 0.5]]), np.array([[1.0, 0.0], [0.2, 0.8]]))
    assert found == pytest.approx(math.exp(-(math.log(0.6) + 2 * math.log(0.4)) / 3))


def test_a_topic_without_words_has_none_among_its_frequent_ones():
    words = np.array([[0.6, 0.4 / 49, *[0.4 / 49] * 48], [0.1, 0.5, *[0.4 / 48] * 48], [0.02] * 50])
    made = dataclasses.replace(fitted("HTMM", 1.0, 1.0, 1.0), topic_words=words)
    table = nips.table_of_senses([made], ["cat", "support", *map(str, range(48))])
    assert table["topic"].tolist() == [1]
    assert table["rank of the word"].tolist() == [1]


def test_effective_topics():
    assert nips.effective_topics(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).tolist() == [2.0, 1.0]


# --- verdicts -----------------------------------------------------------------------------------------------


def outcome(number, accuracy=1.0, truth=1.0, low=0.0, high=1.0, **settings):
    design = designs()[number - 1]
    em = {"switch": design.switch, "theta": 0.1, "phi": 1e-4, "phi_unmatched": 1e-3, "steps": 9}
    em |= {"path": accuracy, "sentence": accuracy, "printed": 0.3}
    gibbs = {
        "switch": design.switch,
        "low": low,
        "high": high,
        "theta": 0.1,
        "accuracy": accuracy,
        "paths": {},
    }
    return {
        "design": design._asdict(),
        "truth": {"path": truth, "sentence": truth},
        "em": em,
        "gibbs": gibbs | settings,
        "fitting": {"low": 0.0, "high": 1.0},
    }


def outcomes(**settings):
    found = [outcome(number, **settings) for number in range(1, 13)]
    return {WRITTEN: found, ADDED: found}


def test_verdicts_on_decoding():
    assert statements.viterbi(outcomes()).verdict == DIFFERS
    assert statements.viterbi(outcomes(accuracy=0.9)).verdict == IN_PART
    assert statements.gibbs_accuracy(outcomes()).verdict == AGREES
    assert statements.gibbs_accuracy(outcomes(accuracy=0.9)).verdict == IN_PART
    assert statements.gibbs_accuracy({WRITTEN: outcomes()[WRITTEN][:3]}).verdict == OPEN


def test_verdict_on_the_cause():
    found = outcomes(low=0.95)[WRITTEN]
    judged = statements.cause(found)
    assert judged.verdict == DIFFERS
    assert "in 0 of 12 data sets with the thesis' priors, and in 12 of 12" in judged.measured


def test_verdict_on_starts():
    found = outcomes()[WRITTEN]
    assert statements.convergence(found, [1.0, 0.995]).verdict == AGREES
    judged = statements.convergence(found, [1.0, 0.9, 0.8])
    assert judged.verdict == IN_PART
    assert "2 end where two topics share one, with accuracies of 0.800 to 0.900" in judged.measured


def fitted(name, train, test, completed):
    return nips.Fitted(
        name,
        np.eye(2),
        np.tile(np.eye(2), (800, 1)),
        train,
        test,
        completed,
        1.0,
        3,
        np.array([0.0, 9.0, 10.0]),
        np.full(3, 0.3),
    )


def test_verdicts_on_perplexity():
    def verdicts(*numbers):
        fits_of = [fitted("HTMM", *numbers), fitted("LDA", 1460.1, 1952.7, 1900.0)]
        return [one.verdict for one in statements.judge_papers(fits_of, {"HTMM": [], "LDA": []})]

    assert verdicts(1159.8, 1157.3, 1200.0)[:3] == [AGREES, AGREES, AGREES]
    assert verdicts(1159.8, 1700.0, 2000.0)[:3] == [AGREES, IN_PART, DIFFERS]
    assert verdicts(1500.0, 2000.0, 2000.0)[1] == DIFFERS


def test_verdict_on_senses():
    def verdict(*topics):
        fits_of = [fitted("HTMM", 1.0, 1.0, 1.0), fitted("LDA", 1.0, 1.0, 1.0)]
        return statements.judge_papers(fits_of, {"HTMM": list(topics), "LDA": []})[3].verdict

    assert verdict("kernel support", "grant thank") == AGREES
    assert verdict("kernel grant", "cat dog") == IN_PART
    assert verdict("cat dog") == DIFFERS
