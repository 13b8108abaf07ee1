"""Chang & Fisher's experiments at a tiny size: they run, are interrupted and go on, and judge by the numbers."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from franchise.cli import main as cli
from franchise.data.synthetic import bars as make_bars
from franchise.errors import InputError
from franchise_studies import chang_fisher, reproduce
from franchise_studies.chang_fisher import (
    bars,
    bias,
    corpora,
    page,
    ratios,
    results,
    size,
    statements,
    text,
)
from franchise_studies.chang_fisher.following import (
    Followed,
    Problem,
    Task,
    follow,
    last_state,
    read,
    remembered,
)
from franchise_studies.chang_fisher.samplers import (
    BALANCED,
    DETERMINISTIC,
    DIRECT,
    EXACT,
    FINITE,
    GLOBAL,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    PUBLISHED,
    SUBCLUSTER,
)
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder

# Where a group has no weight in either of two topics, the move that merges them divides zero by zero, and mends it.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")

TINY = dataclasses.replace(
    size.QUICK,
    visits=20,
    bars_documents=30,
    picture_sweeps=5,
    moves_seconds=0.03,
    algorithms_seconds=0.03,
    timed_sweeps=2,
    warmup=4,
    documents=40,
    starts=(1, 4),
    long_seconds=0.06,
    short_seconds=0.06,
    small_prior_seconds=0.06,
    probe_seconds=0.03,
    switch_seconds=0.03,
    order=10,
    tries=2,
    enron=(40, 200),
    large_starts=(1, 4),
    large_seconds=0.03,
    large_order=12,
    large_warmup=4,
)


def keep_on(what, share):
    """Receive progress messages."""


@pytest.fixture(scope="module", autouse=True)
def texts_are_read_once():
    """Reading the bundled text takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chang_fisher, "load_corpora", cache(corpora.load_corpora))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study on bundled text, interrupted once; its progress messages, and the chains there were by then."""
    out = tmp_path_factory.mktemp("study") / "out"
    messages = []

    def interrupt(what, share):
        if what == "AP" and share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chang_fisher.run(StudyFolder(out, "chang-fisher"), True, None, interrupt, TINY)
    kept = stamps(out)
    on_progress = lambda what, share: messages.append((what, share))  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "compile_kernels", lambda scale: None)
        written = chang_fisher.run(StudyFolder(out, "chang-fisher"), True, None, on_progress, TINY)
    return written, messages, kept


def stamps(out):
    """When each finished chain was written."""
    return {
        path.parent.name: path.stat().st_mtime_ns
        for path in (out / "chains").glob("*/checkpoint.safetensors")
    }


def test_the_folder_holds_what_the_page_shows(done):
    written, _, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', written.read_text())
    assert len(links) > 30
    for link in links:
        assert (written.parent / link).is_file()
    names = ("3a", "3b", "3c", "3d", "4a", "4b", "5a", "6")
    assert {path.stem for path in (written.parent / "figures").iterdir()} == {
        *(f"figure{name}" for name in names),
        "bias",
        "ratios",
    }
    facts = json.loads((written.parent / "study.json").read_text())
    assert facts["size"]["starts"] == [1, 4]
    assert facts["alpha"] == facts["gamma"] == 1.0
    assert "bundled text" in written.read_text()


def test_tables(done):
    written, _, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (written.parent / "tables").glob("*.csv")}
    assert len(tables["bias"]) == len(bias.DATA) * len(bias.COMPARED)
    assert len(tables["bars_moves"]) == len(bars.MOVE_SETS)
    assert tables["threads"]["threads"].tolist() == [1, 2, 1, 2]
    assert (
        tables["threads"]["topics at the end"].tolist()[0]
        == tables["threads"]["topics at the end"].tolist()[1]
    )
    assert len(tables["ap_runs"]) == 7 * 2
    assert tables["starts"]["sampler"].tolist().count("parallel, eta 0.1") == 1
    assert len(tables["switches"]) == len(text.SWITCHES) * 2
    assert len(tables["large_runs"]) == 2 * 4 * 2
    assert set(tables["acceptance"]["moves"]) == {SUBCLUSTER, LOCAL, GLOBAL, BALANCED, LOCAL_BALANCED}
    assert len(tables["confusion"]) == 4 * 2
    verdicts = tables["statements"]["Verdict"]
    assert len(verdicts) == 18
    assert set(verdicts) <= {AGREES, IN_PART, DIFFERS, OPEN}
    assert (verdicts == OPEN).sum() >= 15  # hundredths of a second decide little


def test_an_interrupted_study_goes_on(done):
    written, messages, kept = done
    now = stamps(written.parent)
    finished = {name for name in kept if now[name] == kept[name]}
    assert len(finished) >= 12  # those of the bars, and some on AP
    assert len(now) > len(kept)
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_command_writes_a_finished_study_anew(done, monkeypatch):
    written, _, _ = done
    monkeypatch.setattr(size, "QUICK", TINY)
    monkeypatch.setattr(results, "compile_kernels", lambda scale: None)
    monkeypatch.setattr(page, "write_parts", lambda *given: None)
    monkeypatch.delenv("FRANCHISE_DATA", raising=False)
    before = stamps(written.parent)
    written.unlink()
    result = CliRunner().invoke(
        cli.app, ["reproduce", "chang-fisher", "--quick", "--out", str(written.parent)]
    )
    assert result.exit_code == 0, result.output
    assert "The paper says" in result.output
    assert written.is_file()
    assert stamps(written.parent) == before


def test_other_chains_are_not_taken(done):
    out = done[0].parent
    with pytest.raises(InputError, match=r"other settings \(size\)"):
        chang_fisher.run(
            StudyFolder(out, "chang-fisher"), True, None, keep_on, dataclasses.replace(TINY, order=11)
        )
    with pytest.raises(InputError, match="new or empty"):
        reproduce("wang-blei", out, quick=True)


@pytest.mark.slow
def test_the_quick_form_as_it_is(tmp_path):
    assert reproduce("chang-fisher", tmp_path / "out", quick=True).is_file()


# --- chains that can be interrupted ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def problem():
    return Problem.of("bars", make_bars(documents=12).data)


def stop_after(calls):
    """A function that says to stop when it has been asked so often."""
    left = iter([False] * calls)
    return lambda: next(left, True)


@pytest.mark.parametrize("sampler", [SUBCLUSTER, PARALLEL])
def test_a_chain_goes_on_as_if_never_interrupted(sampler, problem, tmp_path):
    task = Task("bars", sampler, 3, 0.5, 1000.0, warmup=4)
    for calls, folder in ((12, "whole"), (5, "parts"), (7, "parts")):
        with pytest.raises(KeyboardInterrupt):
            follow(task, problem, tmp_path / folder, stop_after(calls))
    whole, parts = (read(task, tmp_path / folder) for folder in ("whole", "parts"))
    assert len(whole.seconds) == len(parts.seconds) == 12
    for name in ("n_topics", "log_joint", "log_likelihood_per_observation"):
        assert np.array_equal(whole.trace[name], parts.trace[name])
    assert (np.diff(parts.seconds) > 0).all()


def test_a_chain_is_scored_on_the_way_and_only_read_when_it_is_finished(problem, tmp_path):
    task = Task("bars", DIRECT, 1, 0.5, 0.1)
    run = follow(task, problem, tmp_path, lambda: False)
    assert run.seconds[-1] >= 0.1
    assert 2 <= len(run.held_out) <= 30
    assert run.scored_at[-1] == run.seconds[-1]
    assert (run.held_out < 0).all()
    again = follow(task, problem, tmp_path, stop_after(0))
    assert np.array_equal(again.held_out, run.held_out)


def test_what_was_not_checkpointed_is_forgotten(problem, tmp_path):
    task = Task("bars", DIRECT, 2, 0.5, 1000.0)
    with pytest.raises(KeyboardInterrupt):
        follow(task, problem, tmp_path, stop_after(4))
    log = tmp_path / task.name / "trace.log"
    log.write_bytes(log.read_bytes() + b"half a li")
    with pytest.raises(KeyboardInterrupt):
        follow(task, problem, tmp_path, stop_after(2))
    assert len(read(task, tmp_path).seconds) == 6


def test_a_chain_starts_from_the_last_state_of_another(problem, tmp_path):
    first = Task("bars", DIRECT, 12, 0.5, 0.02)
    follow(first, problem, tmp_path, lambda: False)
    _, state = last_state(first, problem, tmp_path)
    second = Task("bars", FINITE, first, 0.5, 0.02, order=2)  # too few: the order grows with the state
    run = follow(second, problem, tmp_path, lambda: False)
    assert run.trace["n_topics"][0] <= max(2, state.topic_count)
    assert text.start_of(second) == "direct from 12"
    assert second.name != first.name


def test_results_are_computed_once(tmp_path):
    asked = []
    for _ in range(2):
        assert remembered(tmp_path / "deep" / "x.json", lambda: asked.append(1) or [1.5]) == [1.5]
    assert len(asked) == 1
    (tmp_path / "deep" / "x.json").write_text("{")
    with pytest.raises(InputError, match=r"x\.json"):
        remembered(tmp_path / "deep" / "x.json", list)


# --- numbers made of chains -----------------------------------------------------------------------------------


def made(sampler, topics, held_out=-7.0, start=1, prior=0.5, joint=-1000.0, **counts):
    """A chain of 100 seconds whose number of topics goes evenly from its start to `topics`, and there stays."""
    sweeps = 100
    values = np.full(sweeps, float(topics))
    values[:20] = np.linspace(1.0, topics, 20)
    noise = 0.01 * np.sin(np.arange(sweeps))
    trace = {
        "seconds": np.arange(1.0, sweeps + 1),
        "n_topics": values + noise,
        "log_joint": np.full(sweeps, joint),
        "log_likelihood_per_observation": -8.0 + noise,
    }
    for name, count in counts.items():
        trace[f"subcluster_{name}"] = np.where(np.arange(sweeps) == 0, float(count), 0.0)
    stops = np.array([1.0, 10.0, 100.0])
    return Followed(
        Task("AP", sampler, start, prior, 100.0), trace, stops, np.array([-9.0, held_out, held_out])
    )


def settings(**topics_and_scores):
    """Chains on AP from four starts: for each sampler the topics, and HOW, by start."""
    names = {"split_merge": "split-merge"}
    runs = []
    for name, (topics, scores) in topics_and_scores.items():
        for start, count, score in zip((1, 25, 50, 75), topics, scores, strict=True):
            runs.append(made(names.get(name, name), count, score, start))
    return text.by_label(runs)


ALIKE, APART = [20, 20, 20, 20], [30, 50, 70, 90]
GOOD, BAD, MIXED = [-7.0] * 4, [-7.5] * 4, [-7.0, -7.0, -7.0, -7.5]


def test_late_values_and_times():
    run = made(LOCAL, 12)
    assert run.late("n_topics") == pytest.approx(12, abs=0.1)
    assert run.at("seconds", np.array([0.5, 3.5, 1000.0])).tolist() == [1.0, 3.0, 100.0]
    assert bars.first_time(run) < 20
    assert bars.first_time(run, 50) == np.inf
    assert np.isnan(bars.median_or_nan([1.0, np.inf, np.inf]))
    seconds, values = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.0, 5.0, 10.0, 10.0])
    assert bars.settled_at(seconds, values, 1.0) == 4.0
    assert bars.settled_at(seconds, np.ones(4), 1.0) == 1.0


def test_likeness_to_bars():
    row = np.zeros(25)
    row[5:10] = 0.2
    both = (row + np.roll(row, 5)) / 2
    assert bars.likeness_to_bars(np.array([row, both])) == pytest.approx([1.0, np.sqrt(0.5)])


def test_r_hat_is_over_starts():
    made_up = settings(direct=(APART, GOOD), parallel=(ALIKE, GOOD))
    assert made_up[DIRECT].r_hat("n_topics") > 2
    assert made_up[PARALLEL].r_hat("n_topics") < 1.1


def test_confusion(problem, tmp_path):
    task = Task("bars", DIRECT, 3, 0.5, 0.02)
    follow(task, problem, tmp_path, lambda: False)
    confusion = text.confusion_of(task, problem, tmp_path)
    assert confusion.sizes.sum() == problem.corpus.n_tokens
    assert (np.diff(confusion.sizes) <= 0).all()
    assert (confusion.gaps >= 0).all()  # Gibbs' inequality
    assert confusion.matrix.shape == (len(confusion.sizes),) * 2


def test_the_density_is_what_the_two_ratios_differ_by(problem, tmp_path):
    task = Task("bars", SUBCLUSTER, 3, 0.5, 0.1)
    follow(task, problem, tmp_path, lambda: False)
    rows = ratios.weigh_at_the_end(task, problem, 3, tmp_path)
    assert {row["move"] for row in rows} <= {"split", "merge"}
    for row in rows:
        assert row["printed"] == pytest.approx(row["rest"] + row["density"])
    assert rows == ratios.weigh_at_the_end(task, problem, 3, tmp_path)
    on_the_way = ratios.weigh_on_the_way(dataclasses.replace(task, start=1), problem, 2, tmp_path)
    assert {row["chain"] for row in on_the_way} == {"from 1, on the way"}
    assert min(row["topics"] for row in on_the_way) == 1
    table = ratios.table_of_ratios(rows + on_the_way)
    assert table["tries"].sum() == len(rows) + len(on_the_way)


def test_where_the_density_no_longer_outweighs_the_rest():
    rows = [
        {"move": "split", "topics": topics, "rest": rest, "printed": rest + 100.0}
        for topics, rest in ((2, -10.0), (20, -90.0), (30, -150.0), (40, -np.inf))
    ]
    assert ratios.most_topics_above_zero(rows, "printed") == 20
    assert ratios.most_topics_above_zero([], "printed") == 0
    assert ratios.count_impossible(rows) == 1


# --- verdicts -------------------------------------------------------------------------------------------------


def biases(published, exact, effective=5000.0):
    """Total variations of the published moves and of the exact samplers; chance gives less than 0.1."""
    distances = {
        **dict.fromkeys((*PUBLISHED, BALANCED, LOCAL_BALANCED), published),
        **dict.fromkeys(EXACT, exact),
    }
    return [
        {"sampler": name, "distance": value, "threshold": 0.1, "expected": 0.03, "effective_size": effective}
        for name, value in distances.items()
    ]


def test_verdict_on_the_guarantee():
    assert statements.guaranteed(biases(0.4, 0.02)).verdict == DIFFERS
    assert statements.guaranteed(biases(0.05, 0.02)).verdict == AGREES
    assert statements.guaranteed(biases(0.05, 0.02, effective=100.0)).verdict == OPEN
    mixed = biases(0.4, 0.02)
    mixed[1]["distance"] = 0.02
    assert statements.guaranteed(mixed).verdict == IN_PART


def test_verdict_on_sub_topics():
    bar = np.zeros(25)
    bar[:5] = 0.2
    other = np.roll(bar, 5)
    blend = (bar + other) / 2
    split = bars.Picture(np.array([blend]), np.array([[bar, other]]))
    same = bars.Picture(np.array([blend]), np.array([[blend, blend]]))
    assert statements.sub_topics(split).verdict == AGREES
    assert statements.sub_topics(same).verdict == DIFFERS


def on_bars(**topics):
    return [
        made(name, count, splits=10, split_tries=1000) for name, count in topics.items() for _ in range(5)
    ]


def test_verdicts_on_moves():
    runs = on_bars(deterministic=2, local=12, subcluster=12, **{"global": 12})
    assert statements.deterministic(runs).verdict == AGREES
    assert statements.global_not_needed(runs).verdict == AGREES
    runs = on_bars(deterministic=12, local=12, subcluster=15, **{"global": 12})
    assert statements.deterministic(runs).verdict == IN_PART  # rejected as often, but not slower
    assert statements.global_not_needed(runs).verdict == DIFFERS
    assert statements.deterministic([made(DETERMINISTIC, 2), made(LOCAL, 2)]).verdict == OPEN


def test_verdict_on_threads():
    def verdict(gain, seconds=10.0, cores=2):
        return statements.speedup(
            [
                {
                    "problem": "AP",
                    "threads": count,
                    "cores": cores,
                    "topics": [1],
                    "seconds": [seconds / gain ** (count - 1)],
                }
                for count in (1, 2)
            ]
        ).verdict

    assert [verdict(gain) for gain in (1.9, 1.5, 1.0)] == [AGREES, IN_PART, DIFFERS]
    assert verdict(1.9, seconds=0.1) == OPEN
    assert verdict(1.0, cores=1) == OPEN


def test_verdicts_on_the_finite_model():
    def runs(most, end, settled):
        made_up = []
        for _ in range(5):
            run = made(FINITE, end)
            run.trace["n_topics"][: settled - 1] = most
            scored = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0])
            made_up.append(Followed(run.task, run.trace, scored, np.full(7, -7.0)))
        return made_up

    assert statements.finite_settles_late(runs(20, 10, 40)).verdict == AGREES
    assert statements.finite_settles_late(runs(10, 10, 40)).verdict == DIFFERS
    assert statements.finite_creates_all(runs(20, 10, 40)).verdict == AGREES
    assert statements.finite_creates_all(runs(12, 10, 40)).verdict == DIFFERS
    assert statements.finite_creates_all(runs(20, 10, 40)[:2]).verdict == OPEN


def test_verdicts_on_starts():
    as_said = settings(
        subcluster=(ALIKE, GOOD),
        parallel=(APART, GOOD),
        direct=(APART, GOOD),
        finite=(APART, MIXED),
        local=(APART, BAD),
    )
    otherwise = settings(
        subcluster=(APART, [-7.5, -7.6, -7.7, -7.8]),
        parallel=(ALIKE, GOOD),
        direct=(ALIKE, GOOD),
        finite=(ALIKE, [-7.0, -7.3, -7.4, -7.5]),
        local=(ALIKE, GOOD),
    )
    judged = (
        statements.not_converged,
        statements.held_out_of_finite,
        statements.held_out_misleads,
        statements.local_only,
        statements.twenty_topics,
    )
    assert [judge(as_said).verdict for judge in judged] == [AGREES] * 5
    assert [judge(otherwise).verdict for judge in judged] == [DIFFERS] * 5
    elsewhere = {**as_said, **settings(subcluster=([40] * 4, GOOD))}
    assert statements.twenty_topics(elsewhere).verdict == IN_PART


def measured(ap=(), probes=(), switches=(), ratio_rows=()):
    empty = bars.Picture(np.ones((1, 25)), np.ones((1, 2, 25)))
    return results.Results(
        [], empty, [], [], [], list(ap), list(probes), list(switches), [], list(ratio_rows), []
    )


def global_chain(splits, merges):
    return made(
        SUBCLUSTER,
        20,
        global_splits=splits,
        global_split_tries=100,
        global_merges=merges,
        global_merge_tries=100,
        splits=1,
        split_tries=50,
        merges=40,
        merge_tries=50,
    )


RATIOS = [
    {
        "chain": "x",
        "topics": 9,
        "move": move,
        "words": 10,
        "rest": -50.0,
        "density": sign * 900.0,
        "printed": sign * 850.0,
        "balanced": -49.0,
    }
    for move, sign in (("split", 1), ("merge", -1))
]


def test_verdict_on_global_moves_and_the_explanation():
    one_way = measured([global_chain(40, 0)], ratio_rows=RATIOS)
    both_ways = measured([global_chain(40, 38)], ratio_rows=RATIOS)
    assert statements.global_moves(one_way).verdict == DIFFERS
    assert statements.global_moves(both_ways).verdict == AGREES
    assert statements.global_moves(measured([global_chain(0, 0)])).verdict == OPEN
    words = " ".join(page.explanation(one_way))
    assert "+900 nats" in words
    assert "40 of 100 splits and 0 of 100 merges" in words
    assert "39 more of these" in words
    assert "two errors balance" in words
    assert "not what decides" in " ".join(page.explanation(both_ways))


def switch(old, new, before, after):
    return text.Switch(made(old, before), made(new, after))


def test_verdicts_on_switching():
    olds, news = (DIRECT, FINITE, LOCAL), (FINITE, DIRECT, PARALLEL)

    def verdicts(to_subcluster, from_subcluster):
        switches = [switch(old, SUBCLUSTER, 60, to_subcluster) for old in olds]
        switches += [switch(SUBCLUSTER, new, 20, from_subcluster) for new in news]
        return (
            statements.switching_to(switches).verdict,
            statements.switching_from_subcluster(switches).verdict,
        )

    assert verdicts(20, 21) == (AGREES, AGREES)
    assert verdicts(59, 50) == (DIFFERS, DIFFERS)


def test_verdict_on_confusion():
    def confusion(sampler, topics, gap):
        matrix = np.full((topics, topics), -7.0 - gap)
        np.fill_diagonal(matrix, -7.0)
        return text.Confusion(sampler, "1", np.full(topics, 50), matrix)

    def verdict(subcluster, others):
        return statements.confusion(
            [
                confusion(SUBCLUSTER, *subcluster),
                *(confusion(name, *others) for name in (DIRECT, FINITE, PARALLEL)),
            ]
        ).verdict

    assert verdict((20, 2.0), (90, 0.5)) == AGREES
    assert verdict((20, 0.2), (90, 0.5)) == IN_PART
    assert verdict((90, 0.2), (20, 0.5)) == DIFFERS


def test_verdicts_on_large_corpora():
    def runs(finite, direct_score, topics):
        return [
            made(name, count, score, start)
            for start, count in zip((1, 50), topics, strict=True)
            for name, count, score in (
                (SUBCLUSTER, count, -7.0),
                (PARALLEL, count, -7.0),
                (FINITE, finite + count / 10, -7.0),
                (DIRECT, count, direct_score),
            )
        ]

    assert statements.large_finite(runs(180, -7.0, (20, 60)), 200).verdict == AGREES
    assert statements.large_finite(runs(60, -7.0, (20, 60)), 200).verdict == DIFFERS
    assert statements.large_unfinished(runs(180, -8.0, (20, 60))).verdict == AGREES
    assert statements.large_unfinished(runs(60, -7.0, (20, 20))).verdict == DIFFERS


# --- corpora --------------------------------------------------------------------------------------------------


def write_data(folder):
    """A data folder with three documents of each corpus."""
    for name, content in {
        "ap/ap.dat.gz": "2 0:1 2:3\n1 1:2\n2 0:2 1:1\n",
        "ap/vocab.txt": "one\ntwo\nthree\n",
        "nips_uci/docword.nips.txt.gz": "3\n2\n4\n1 1 2\n2 1 1\n2 2 5\n3 2 1\n",
        "nips_uci/vocab.nips.txt": "un\ndeux\n",
    }.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        content = content.encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_corpora_are_read_from_a_data_folder(tmp_path):
    write_data(tmp_path)
    ap, nips, enron = corpora.load_corpora(tmp_path, None, (20, 50))
    assert [named.name for named in (ap, nips, enron)] == ["AP", "NIPS", "Enron size"]
    assert ap.corpus.n_documents == 3
    assert ap.corpus.n_tokens == 9
    assert ap.corpus.vocabulary[2] == "three"
    assert nips.corpus.n_tokens == 9
    assert nips.corpus.to_matrix().toarray().tolist() == [[2, 0], [1, 5], [0, 1]]
    assert enron.corpus.n_documents == 20
    assert corpora.load_corpora(tmp_path, 2, (20, 50))[0].corpus.n_documents == 2


@pytest.mark.parametrize(
    "name", ["ap/ap.dat.gz", "ap/vocab.txt", "nips_uci/docword.nips.txt.gz", "nips_uci/vocab.nips.txt"]
)
def test_what_is_missing_is_named(name, tmp_path):
    write_data(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=rf"FRANCHISE_DATA.*{re.escape(name)}.*missing.*leave out --data"):
        reproduce("chang-fisher", tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("ap/ap.dat.gz", b"not gzipped", "not a sound .gz file"),
        ("ap/ap.dat.gz", gzip.compress(b"1 0:1\n1 zero:1\n", mtime=0), "ap.dat.gz, line 2: must be"),
        (
            "ap/ap.dat.gz",
            gzip.compress(b"1 7:1\n", mtime=0),
            "ap.dat.gz, line 1: word ids must be from 0 to 2",
        ),
        (
            "nips_uci/docword.nips.txt.gz",
            gzip.compress(b"1\n1\n1\n1 x 2\n", mtime=0),
            "line 4: must be a whole number",
        ),
        (
            "nips_uci/docword.nips.txt.gz",
            gzip.compress(b"1\n2\n1\n1 3 2\n", mtime=0),
            "line 4: the number of a word",
        ),
    ],
    ids=["not gzipped", "no number", "no such word", "no whole number", "a word too many"],
)
def test_damaged_data_are_named(name, content, words, tmp_path):
    write_data(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        corpora.load_corpora(tmp_path, None, (20, 50))
