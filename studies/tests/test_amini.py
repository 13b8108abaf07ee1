"""Amini et al.'s experiments at a tiny size: they run, write what they promise, and judge by the numbers."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.cli import main as cli
from franchise.errors import InputError
from franchise_studies import amini, reproduce
from franchise_studies.amini import (
    Size,
    curves,
    exactness,
    printed,
    samplers,
    statements,
    synthetic,
    titles,
)
from franchise_studies.amini.curves import Curve
from franchise_studies.amini.samplers import BY_REST, CRF, FROM_25, METHODS, PRINTED, SLICE
from franchise_studies.amini.synthetic import GAUSSIAN, MULTINOMIAL
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder

TINY = Size(
    sizes=(3, 4),
    gaussian_sizes=(3,),
    repetitions=1,
    of_large=1,
    sweeps=6,
    printed_sweeps=5,
    title_runs=1,
    cases=1,
    tiny_sweeps=200,
)


def write_titles(folder, papers=12):
    """A data folder with a few papers of three fields, each with words of its own."""
    rows = [(paper + 1, 3 * (paper % 3) + word + 1, 2) for paper in range(papers) for word in range(3)]
    path = folder / titles.FOLDER
    path.mkdir(parents=True)
    with gzip.open(path / titles.COUNTS, "wt") as file:
        file.write(f"{papers}\n9\n{len(rows)}\n" + "".join("{} {} {}\n".format(*row) for row in rows))
    (path / titles.LABELS).write_text("".join(f"field{paper % 3}\n" for paper in range(papers)))
    return folder


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study with titles, and its progress messages."""
    messages = []
    path = tmp_path_factory.mktemp("study")
    on_progress = lambda what, share: messages.append((what, share))  # noqa: E731
    page = amini.run(StudyFolder(path / "out"), True, write_titles(path / "data"), on_progress, TINY)
    return page, messages


def test_the_folder_holds_what_the_page_shows(done):
    page, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', page.read_text())
    assert len(links) > 15
    for link in links:
        assert (page.parent / link).is_file()
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"{name}.{kind}"
        for name in ("exactness", "figure2", "figure2_samplers", "figure2_gaussian", "figure3")
        for kind in ("png", "svg")
    }
    facts = json.loads((page.parent / "study.json").read_text())
    assert facts["size"]["sweeps"] == 6
    assert facts["titles"]


def test_tables(done):
    page, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (page.parent / "tables").glob("*.csv")}
    assert len(tables["synthetic"]) == 2 * 3 * 5 + 3
    assert len(tables["synthetic_points"]) == 2 * 3 * (3 * 6 + 2 * 5) + 3 * 6
    assert tables["synthetic_points"]["nmi"].between(0.0, 1.0 + 1e-9).all()
    assert tables["exactness"]["sampler"].tolist() == [SLICE, *(one.name for one in printed.READINGS)]
    assert tables["titles"]["sampler"].tolist() == list(METHODS)  # 12 papers: no smaller choice
    assert len(tables["statements"]) == 11
    verdicts = tables["statements"]["Verdict"]
    assert set(verdicts) <= {AGREES, IN_PART, DIFFERS, OPEN}
    assert (verdicts == OPEN).sum() >= 8  # one data set and one run decide little


def test_progress_is_told(done):
    _, messages = done
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len({what for what, _ in messages}) == 3


def test_the_command_without_data(tmp_path, monkeypatch):
    monkeypatch.setattr(amini, "QUICK", replace(TINY, sizes=(3,)))
    monkeypatch.delenv("FRANCHISE_DATA", raising=False)
    out = tmp_path / "out"
    result = CliRunner().invoke(cli.app, ["reproduce", "amini", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    page = (out / "index.html").read_text()
    assert "Left out: the titles do not come with the package" in page
    assert statements.NO_TITLES in page
    assert not (out / "figures" / "figure3.png").exists()


@pytest.mark.slow
def test_the_quick_form_as_it_is(tmp_path):
    assert reproduce("amini", tmp_path / "out", quick=True).is_file()


# --- the data of figure 2 -----------------------------------------------------------------------------------


def test_words_follow_the_model():
    """Groups of equal length; words drawn from their topics; topics as many as the HDP has."""
    planted = synthetic.plant_words(10, 100, 3)
    assert np.diff(planted.data.offsets).tolist() == [100] * 10
    assert planted.topics.shape[1] == planted.data.vocabulary_size == 10
    largest = np.bincount(planted.labels).argmax()
    words = planted.data.observations[planted.labels == largest]
    assert goodness_of_fit(words.tolist(), range(10), planted.topics[largest]) > SMALLEST_P


def test_the_number_of_topics_is_that_of_the_prior():
    """Two words in one group: same topic with probability 1/2 + 1/2 * 1/4 for alpha 1 and gamma 3."""
    same = [
        labels[0] == labels[1]
        for labels in (synthetic.plant_words(1, 2, number).labels for number in range(400))
    ]
    error = np.sqrt(5 / 8 * 3 / 8 / len(same))
    assert np.mean(same) == pytest.approx(5 / 8, abs=4 * error)


def test_shorter_groups_are_the_beginnings_of_longer_ones():
    long, short = synthetic.plant_words(4, 300, 1), synthetic.plant_words(4, 30, 1)
    rows = np.asarray(long.data.observations).reshape(4, 300)[:, :30]
    assert np.array_equal(rows.ravel(), short.data.observations)
    assert np.array_equal(long.labels.reshape(4, 300)[:, :30].ravel(), short.labels)
    assert not np.array_equal(synthetic.plant_words(4, 30, 2).data.observations, short.data.observations)


def test_points_lie_about_the_means_of_their_topics():
    planted = synthetic.plant_words(5, 300, 0)
    points = np.asarray(synthetic.plant_points(planted, 0).observations)
    largest = points[planted.labels == np.bincount(planted.labels).argmax()]
    error = synthetic.SPREAD_OF_OBSERVATIONS / np.sqrt(2 * len(largest))
    assert largest.std(axis=0, ddof=1) == pytest.approx([0.2, 0.2], abs=4 * error)


# --- curves -------------------------------------------------------------------------------------------------


def test_agreement_with_the_truth():
    truth = np.array([0, 0, 1, 1])
    assert curves.mutual_information(truth, np.array([5, 5, 2, 2])) == pytest.approx(1.0)
    assert curves.mutual_information(truth, np.array([0, 1, 0, 1])) == pytest.approx(0.0, abs=1e-12)
    assert curves.mutual_information(truth, np.zeros(4, int)) == 0.0
    halves = curves.mutual_information(truth, np.arange(4))  # log 2 / sqrt(log 2 log 4)
    assert halves == pytest.approx(np.sqrt(0.5))


def test_when_a_curve_settles():
    sweeps = np.arange(1, 101)
    curve = Curve(sweeps, np.minimum(sweeps / 40, 1.0) * 0.5, np.full(100, 3))
    assert curve.level == 0.5
    assert curve.spread == 0.0
    assert curve.settled == 38
    assert curve.reaches(0.25) == 20
    assert curve.reaches(0.6) == np.inf
    assert curve.between(1, 3) == pytest.approx(0.025)


def test_scored_sweeps():
    assert curves.scored_sweeps(5).tolist() == [1, 2, 3, 4, 5]
    assert curves.scored_sweeps(72).tolist() == [*range(1, 61), 65, 70, 72]


# --- the printed algorithm ------------------------------------------------------------------------------------


ROWS = np.array([[0.5, 0.1, 0.3, 0.05], [0.2, 0.3, 0.1, 0.35]])


def test_places_that_a_slice_admits():
    stick, slices = np.array([0, 1, 0]), np.array([0.2, 0.32, 0.6])
    assert printed.above(ROWS, stick, slices).tolist() == [
        [True, False, True, False],
        [False, False, False, True],
        [False] * 4,
    ]
    assert printed.up_to_the_last(ROWS, stick, slices).tolist() == [
        [True, True, True, False],
        [True, True, True, True],
        [False] * 4,
    ]
    assert printed.up_to_the_rest(ROWS, stick, slices).tolist() == [
        [True, True, True, False],  # 1, 0.5, 0.4, 0.1 are left
        [True, True, True, True],  # 1, 0.8, 0.5, 0.4
        [True, False, False, False],
    ]


def test_rows_are_drawn_by_their_weights():
    rng = np.random.default_rng(3)
    logs = np.tile(np.log([1.0, 2.0, 5.0, 4.0]) - 900.0, (20_000, 1))
    admitted = np.tile([True, True, False, True], (20_000, 1))
    drawn = printed.draw_rows(logs, admitted, np.zeros(20_000, int), rng)
    assert goodness_of_fit(drawn.tolist(), range(4), np.array([1, 2, 0, 4]) / 7) > SMALLEST_P
    nobody = printed.draw_rows(logs[:2], np.zeros((2, 4), bool), np.array([3, 1]), rng)
    assert nobody.tolist() == [3, 1]


def test_sticks_have_the_means_of_their_betas():
    """Counts 2, 0, 1: means 3/5, then 1/3 and 2/3 of what is left, at concentration 1."""
    rng = np.random.default_rng(4)
    weights = printed.break_sticks(np.tile([2, 0, 1], (20_000, 1)), 1.0, rng)
    expected = [3 / 5, 2 / 5 / 3, 2 / 5 * 2 / 3 * 2 / 3]
    errors = weights.std(axis=0) / np.sqrt(len(weights))
    assert (np.abs(weights.mean(axis=0) - expected) < 4 * errors).all()


def test_caps_grow_and_the_iteration_before_is_done_again():
    problem = printed.Problem.of(synthetic.plant_words(3, 30, 0).data, 1 / 3, 1.0, 3.0)
    run = printed.run_printed(problem, printed.AS_PRINTED, 40, seed=0, cap=3)
    assert len(run.capped) > 0
    assert run.labels.shape == (40, 90)
    again = printed.run_printed(problem, printed.AS_PRINTED, 40, seed=0, cap=3)
    assert np.array_equal(run.labels, again.labels)
    roomy = printed.run_printed(problem, printed.AS_PRINTED, 5, seed=0, cap=60)
    assert roomy.capped == []


def test_the_print_is_not_exact_and_the_right_sampler_is():
    """Total variation far above what independent draws of the effective number have, and within it."""
    case = exactness.CASES[0]
    wrong = exactness.measure(exactness.Task(case, printed.AS_PRINTED), 2500)
    assert wrong.distance > 2 * wrong.threshold
    assert not wrong.exact
    right = exactness.measure(exactness.Task(case, None), 2500)
    assert right.exact
    assert right.topics == pytest.approx(right.true_topics, abs=0.2)


def test_the_print_with_both_put_right_is_near():
    both = exactness.measure(exactness.Task(exactness.CASES[0], printed.BOTH_RIGHT), 2500)
    assert both.exact


# --- verdicts on exactness --------------------------------------------------------------------------------------


def found(sampler, distance, case="5 words"):
    return exactness.Measured(case, sampler, 100, distance, 50.0, 0.05, 0.1, 2.0, 2.0)


def test_verdicts_on_exactness():
    name = printed.AS_PRINTED.name

    def verdicts(*distances):
        measured = [found(sampler, d, str(i)) for sampler in (name, SLICE) for i, d in enumerate(distances)]
        return statements.printed_exact(measured).verdict, statements.right_exact(measured).verdict

    assert verdicts(0.3, 0.4) == (DIFFERS, DIFFERS)
    assert verdicts(0.05, 0.09) == (AGREES, AGREES)
    assert verdicts(0.05, 0.4) == (IN_PART, IN_PART)


# --- verdicts on figure 2 ---------------------------------------------------------------------------------------


def chain(method, number, settled=10, level=0.6, spread=0.01, size=10, length=30, mixture=MULTINOMIAL):
    """A chain of 100 sweeps that rises in one step to a level about which it goes up and down."""
    sweeps = np.arange(1, 101)
    wave = spread * (-1.0) ** sweeps
    nmi = np.where(sweeps >= settled, level + wave, 0.0)
    return synthetic.Run(
        synthetic.Task(mixture, size, length, number, method), Curve(sweeps, nmi, np.full(100, 5))
    )


def test_verdict_on_settling():
    def verdict(*settled, sets=5):
        runs = [chain(SLICE, n, when, size=10 * s) for s, when in enumerate(settled, 1) for n in range(sets)]
        return statements.settles(runs, SLICE).verdict

    assert verdict(8, 15) == AGREES
    assert verdict(8, 40) == IN_PART
    assert verdict(30, 40) == DIFFERS
    assert verdict(8, 15, sets=4) == OPEN


def test_verdict_on_mixing():
    def verdict(slice_settles, crf_settles, crf_level=0.6):
        runs = [chain(SLICE, n, slice_settles + n % 2) for n in range(6)]
        runs += [chain(CRF, n, crf_settles + n % 3, crf_level) for n in range(6)]
        return statements.mixes_better(runs).verdict

    assert verdict(5, 40) == AGREES
    assert verdict(40, 5) == DIFFERS
    assert verdict(5, 5) == OPEN
    assert verdict(5, 10, crf_level=0.9) == DIFFERS  # soon at rest, but below where it should be


def test_verdict_on_variance():
    def verdict(short, long):
        runs = [
            chain(method, n, spread=spread * (1 + n / length), length=length)
            for method in (SLICE, CRF)
            for n in range(5)
            for length, spread in ((30, short), (300, long))
        ]
        return statements.less_variance(runs).verdict

    assert verdict(0.05, 0.01) == AGREES
    assert verdict(0.01, 0.05) == DIFFERS


def test_verdict_on_gaussians():
    def verdict(words, points):
        runs = [chain(SLICE, n, words) for n in range(5)]
        runs += [chain(SLICE, n, points, mixture=GAUSSIAN) for n in range(5)]
        return statements.gaussian_alike(runs).verdict

    assert verdict(10, 12) == AGREES
    assert verdict(40, 5) == DIFFERS


def test_verdict_on_caps():
    def verdict(*later, iterations=150):
        return statements.within_caps([synthetic.Capped(10, iterations, 20, one) for one in later]).verdict

    assert verdict(1, 2) == AGREES
    assert verdict(1, 30) == IN_PART
    assert verdict(30, 40) == DIFFERS
    assert verdict(0, iterations=synthetic.EARLY) == OPEN


# --- titles -----------------------------------------------------------------------------------------------------


def title_run(method, papers, number, about_100, late):
    sweeps = np.arange(1, 301)
    nmi = np.where(sweeps <= 150, about_100, late) + 0.001 * number
    return titles.Run(titles.Task(papers, number, method), Curve(sweeps, nmi, np.full(300, 5)))


def test_verdicts_on_titles():
    def verdicts(about_100, late, runs=5, crf=None):
        made = [
            title_run(method, papers, number, about_100[papers], crf if crf and method == CRF else late)
            for method in METHODS
            for papers in (100, 894)
            for number in range(runs)
        ]
        return statements.title_quality(made).verdict, statements.title_mixing(made).verdict

    assert verdicts({100: 0.37, 894: 0.36}, 0.37) == (AGREES, AGREES)
    assert verdicts({100: 0.37, 894: 0.45}, 0.45) == (IN_PART, IN_PART)
    assert verdicts({100: 0.1, 894: 0.1}, 0.4) == (DIFFERS, DIFFERS)
    assert verdicts({100: 0.1, 894: 0.1}, 0.1, crf=0.4) == (
        DIFFERS,
        DIFFERS,
    )  # at rest, but not where it should be
    assert verdicts({100: 0.37, 894: 0.36}, 0.37, runs=4) == (OPEN, OPEN)
    assert statements.title_quality([]).verdict == statements.title_mixing([]).verdict == OPEN


def test_majority_vote():
    labels = np.array([2, 1, 1, 0, 2, 2, 0])
    assert titles.vote(labels, np.array([0, 3, 5, 5, 7])).tolist() == [1, 0, 0, 0]


def test_titles_are_read_and_chosen(tmp_path):
    read = titles.load_titles(write_titles(tmp_path))
    assert read.corpus.n_documents == 12
    assert read.corpus.vocabulary_size == 9
    assert read.corpus.n_tokens == 72
    assert read.fields.tolist() == [0, 1, 2] * 4
    few = titles.choose_papers(read, titles.Task(5, 1, SLICE))
    assert few.corpus.n_documents == 5
    for paper, field in enumerate(few.fields):
        words = few.corpus.observations[few.corpus.offsets[paper] : few.corpus.offsets[paper + 1]]
        assert set(words.tolist()) == {3 * field, 3 * field + 1, 3 * field + 2}


def test_fields_are_found_where_nothing_is_easier(tmp_path):
    read = titles.load_titles(write_titles(tmp_path, 60))
    run = titles.run_chain(titles.Task(60, 0, CRF), read, 60)
    assert run.curve.level > 0.5


@pytest.mark.parametrize("name", [titles.COUNTS, titles.LABELS])
def test_a_missing_file_is_named(name, tmp_path):
    write_titles(tmp_path)
    (tmp_path / titles.FOLDER / name).unlink()
    with pytest.raises(InputError, match=rf"FRANCHISE_DATA.*dblp_titles.*{name}.*missing"):
        reproduce("amini", tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not gzipped", "not a sound .gz file"),
        (gzip.compress(b"2\n3\n2\n1 1 1\n", mtime=0), "must have 2 entries"),
        (gzip.compress(b"2\n3\n1\n1 7 1\n", mtime=0), "line 4: the number of a word must be"),
        (gzip.compress(b"2\n3\n1\n1 1 1\n", mtime=0), "12 labels, but there are 2 papers"),
    ],
    ids=["not gzipped", "lines missing", "no such word", "other labels"],
)
def test_damaged_titles_are_named(content, words, tmp_path):
    write_titles(tmp_path)
    (tmp_path / titles.FOLDER / titles.COUNTS).write_bytes(content)
    with pytest.raises(InputError, match=words):
        titles.load_titles(tmp_path)


# --- samplers ---------------------------------------------------------------------------------------------------


def test_starts():
    """After one sweep little has changed, so that where a chain began still shows."""
    corpus = synthetic.plant_words(20, 300, 0).data
    topics = {
        method: len(np.unique(samplers.run_method(method, corpus, 1 / 20, 1, seed=1))) for method in METHODS
    }
    assert topics[SLICE] <= 3
    assert topics[FROM_25] >= 15
    assert topics[PRINTED] == topics[BY_REST] == 1
