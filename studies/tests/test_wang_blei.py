"""Wang & Blei's experiments at a tiny size: they run, write what they promise, and judge by the numbers."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from franchise.cli import main as cli
from franchise.data.synthetic import five_topics
from franchise.errors import InputError
from franchise_studies import reproduce, wang_blei
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder
from franchise_studies.wang_blei import Size, corpora, statements, synthetic, text

TINY = Size(seeds=2, sweeps=40, runs=2, text_sweeps=12, priors=(0.2, 0.5), documents=60)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study on bundled text, and its progress messages."""
    messages = []
    path = tmp_path_factory.mktemp("study") / "out"
    on_progress = lambda what, share: messages.append((what, share))  # noqa: E731
    page = wang_blei.run(StudyFolder(path), True, None, on_progress, TINY)
    return page, messages


def test_the_folder_holds_what_the_page_shows(done):
    page, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', page.read_text())
    assert len(links) > 20
    for link in links:
        assert (page.parent / link).is_file()
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"figure{number}.{kind}"
        for number in ("4a", "4b", "4cd", "5", "6", "6b", "7", "8")
        for kind in ("png", "svg")
    }
    facts = json.loads((page.parent / "study.json").read_text())
    assert facts["size"]["seeds"] == 2
    assert "bundled text" in page.read_text()


def test_tables(done):
    page, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (page.parent / "tables").glob("*.csv")}
    assert len(tables["synthetic_runs"]) == 2 * 3 * 2
    assert tables["synthetic"]["seeds"].tolist() == [2] * 6
    assert len(tables["text_runs"]) == 2 * 2 * 2
    assert set(tables["text_runs"]["corpus"]) == {"SOTU"}
    tried = tables["text_runs"].query("method == 'Gibbs+SM'")
    assert (tried["split_tries"] + tried["merge_tries"] == 12 * text.TRIES).all()
    assert tables["acceptance"]["corpus"].tolist() == ["SOTU"] * 8 + ["all"] * 4
    assert len(tables["differences"]) == 2
    assert tables["differences"].notna().all(axis=None)
    assert len(tables["statements"]) == 10
    verdicts = tables["statements"]["Verdict"]
    assert set(verdicts) <= {AGREES, IN_PART, DIFFERS, OPEN}
    assert (verdicts == OPEN).sum() >= 7  # two seeds and two runs decide little


def test_progress_is_told(done):
    _, messages = done
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len({what for what, _ in messages}) == 3


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(wang_blei, "QUICK", TINY)
    monkeypatch.delenv("FRANCHISE_DATA", raising=False)
    out = tmp_path / "out"
    result = CliRunner().invoke(cli.app, ["reproduce", "wang-blei", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "The paper says" in result.output
    assert (out / "index.html").is_file()


# --- the synthetic study ------------------------------------------------------------------------------------


def test_topics_are_matched_to_the_truth():
    planted = five_topics(0)
    truth = np.asarray(planted.labels)
    assert synthetic.match_topics(planted, truth) == (5, True)
    assert synthetic.match_topics(planted, (truth + 2) % 5) == (5, True)
    assert synthetic.match_topics(planted, np.where(truth == 1, 0, truth)) == (4, False)
    few = truth.copy()
    few[:100] = 5  # two per cent of the words: too small a topic to count
    assert synthetic.match_topics(planted, few) == (5, True)
    halves = np.where(truth == 1, 0, truth)
    halves[np.flatnonzero(truth == 2)[::2]] = 1  # five topics, but topic 3 in two and 1 and 2 in one
    assert synthetic.match_topics(planted, halves) == (5, False)


def test_when_the_topics_are_found():
    run = synthetic.run_chain((4, synthetic.AS_ONE, synthetic.SPLIT_MERGE), 60)
    assert run.found == np.flatnonzero(run.true)[0] + 1
    assert run.topics[run.found - 1] == 5
    assert run.shares.shape == (60, 10)
    assert (np.diff(run.shares, axis=1) >= 0).all()
    assert run.words_of_topics.sum() == 5000
    assert (np.diff(run.best) >= 0).all()


def test_never_found_is_infinitely_late():
    run = synthetic.run_chain((5, synthetic.AS_ONE, synthetic.GIBBS), 5)
    assert run.found is None
    assert not run.by_split
    assert np.isnan(synthetic.median_sweep([run]))
    assert synthetic.found_within([run], 5) == 0


def test_starts_differ_in_their_concentrations():
    """Seated with small ones, the words of a document share few tables."""
    planted = five_topics(0)
    (small,) = synthetic.make_start(planted, synthetic.PAPER, 0)
    assert synthetic.make_start(planted, synthetic.SEQUENTIAL, 0) == "sequential"
    assert small.group_concentration == 0.1
    assert small.table_count[0] < 300
    as_one = synthetic.make_start(planted, synthetic.AS_ONE, 0)
    assert synthetic.match_topics(planted, as_one) == (4, False)


@pytest.mark.slow
@pytest.mark.parametrize("start", [synthetic.SEQUENTIAL, synthetic.AS_ONE])
def test_split_merge_finds_five_topics_in_nearly_every_seed(start):
    runs = [synthetic.run_chain((seed, start, synthetic.SPLIT_MERGE), 200) for seed in range(20)]
    assert synthetic.found_within(runs, 200) >= 18


@pytest.mark.slow
def test_the_quick_form_as_it_is(tmp_path):
    assert reproduce("wang-blei", tmp_path / "out", quick=True).is_file()


# --- verdicts on the synthetic study --------------------------------------------------------------------------


def chain(seed, start, method, found, best=0.0, topics=5, splits=0, merges=0, seconds=1.0):
    """A chain of 300 sweeps that has the five topics from some sweep on, or never."""
    true = np.arange(1, 301) >= (999 if found is None else found)
    return synthetic.Run(
        seed=seed,
        start=start,
        method=method,
        topics=np.where(true, 5, topics),
        true=true,
        best=np.full(300, best),
        best_joint=np.full(300, best),
        splits=np.full(300, splits),
        shares=np.ones((300, 10)),
        accepted={"split_tries": 9, "splits": splits, "merge_tries": 9, "merges": merges},
        words_of_topics=np.ones((5, 12), int),
        seconds=seconds,
    )


def chains(old, new, seeds=10):
    """Chains from all starts; `old` and `new` give the settings of Gibbs and of Gibbs+SM for a seed."""
    settings = {synthetic.GIBBS: old, synthetic.SPLIT_MERGE: new}
    return [
        chain(seed, start, method, **settings[method](seed))
        for start in synthetic.STARTS
        for method in settings
        for seed in range(seeds)
    ]


def test_verdict_on_the_trap():
    def verdict(**old):
        return statements.trapped(chains(lambda seed: old, lambda seed: {"found": 5})).verdict

    assert verdict(found=None, topics=4) == AGREES
    assert verdict(found=None, topics=8) == IN_PART
    assert verdict(found=20) == DIFFERS
    few = chains(lambda seed: {"found": 20}, lambda seed: {"found": 5}, seeds=4)
    assert statements.trapped(few).verdict == OPEN


def test_verdict_on_finding_five():
    def verdict(found):
        return statements.finds_five(
            chains(lambda seed: {"found": None}, lambda seed: {"found": found})
        ).verdict

    assert [verdict(found) for found in (20, 250, None)] == [AGREES, DIFFERS, DIFFERS]


def test_verdict_on_modes():
    def verdict(gap, noise):
        old = lambda seed: {"found": 5, "best": 0.0}  # noqa: E731
        new = lambda seed: {"found": 5, "best": gap + noise * (-1) ** seed}  # noqa: E731
        return statements.better_mode(chains(old, new)).verdict

    assert verdict(0.01, 0.005) == AGREES
    assert verdict(0.001, 0.05) == DIFFERS
    assert verdict(-0.01, 0.005) == DIFFERS


def test_verdicts_on_reverse_moves_and_cost():
    def both(merges, seconds):
        new = lambda seed: {"found": 5, "splits": 2, "merges": merges, "seconds": seconds}  # noqa: E731
        made = chains(lambda seed: {"found": 5}, new)
        return statements.reverse_moves(made).verdict, statements.cheap(made).verdict

    assert both(0, 1.05) == (AGREES, AGREES)
    assert both(2, 1.2) == (DIFFERS, IN_PART)
    assert both(2, 1.5) == (DIFFERS, DIFFERS)


# --- text ---------------------------------------------------------------------------------------------------


PROPOSALS = {"split_tries": 30, "merge_tries": 20, "splits": 1, "merges": 0}


def text_run(method, seconds, likelihood, number=0, **settings):
    values = {
        "task": text.Task("SOTU", 0.5, number, method),
        "seconds": np.array(seconds, float),
        "likelihood": np.array(likelihood, float),
        "joint": np.array(likelihood, float) - 2.0,
        "scored_at": np.array(seconds, float),
        "held_out": np.array(likelihood, float) - 1.0,
        "topics": 3,
        "proposals": PROPOSALS,
        "similarities": np.array([0.1, 0.2]),
    }
    return text.TextRun(**{**values, **settings})


def test_differences_are_taken_at_equal_times():
    old = text_run(synthetic.GIBBS, [1, 2, 4, 8], [-9, -8, -8.5, -7])
    new = text_run(synthetic.SPLIT_MERGE, [2, 4, 8, 16], [-8, -7, -7.5, -6])
    (found,) = text.differences([old, new])
    assert found.seconds[0] == 2
    assert found.seconds[-1] == pytest.approx(8)
    assert found.best[0, 0] == 0.0  # at 2 s both have -8
    middle = np.searchsorted(found.seconds, 5.0)
    assert found.best[0, middle] == 1.0  # -7 against the best so far, -8
    assert found.held_out[0, middle] == 1.5  # -8 against -9.5: no best there, but what it is at the time


def test_acceptance_is_over_all_tries():
    runs = [text_run(synthetic.SPLIT_MERGE, [1, 2], [-9, -8], number) for number in range(2)]
    tries = [{"where": "uniformly", "corpus": "SOTU", "eta": 0.5, **PROPOSALS, "splits": 4}]
    table = text.table_of_acceptance([*runs, text_run(synthetic.GIBBS, [1, 2], [-9, -8])], tries)
    assert table["accepted"].tolist() == [0.02, 0.08, 0.02, 0.08]
    assert table["corpus"].tolist() == ["SOTU", "SOTU", "all", "all"]


def difference(corpus, prior, gap, noise=0.001, runs=6):
    """Gibbs+SM ahead by `gap` in everything, at two times."""
    values = gap + noise * np.array([(-1) ** run for run in range(runs)])[:, None] * np.ones(2)
    return text.Difference(corpus, prior, np.ones(2), values, values, values)


SETTINGS = [(corpus, prior) for corpus in ("ARXIV", "ML+IR", "NIPS") for prior in (0.1, 0.2, 0.5)]


def test_verdict_on_being_faster():
    def verdict(gaps, runs=6):
        return statements.faster(
            [difference(*one, gaps.get(one, 0.0), runs=runs) for one in SETTINGS]
        ).verdict

    as_said = dict.fromkeys(statements.FASTER, 0.05)
    assert verdict(as_said) == AGREES
    assert verdict({**as_said, ("ARXIV", 0.1): -0.05}) == IN_PART
    assert verdict({("NIPS", 0.2): 0.05}) == IN_PART
    assert verdict({}) == DIFFERS
    assert verdict(as_said, runs=4) == OPEN
    assert statements.faster([difference("SOTU", 0.2, 0.05)]).verdict == OPEN


def test_verdicts_on_the_end():
    def both(gap, runs=6):
        found = [difference("NIPS", 0.5, gap, runs=runs)]
        return statements.end_alike(found).verdict, statements.held_out(found).verdict

    assert both(0.001) == (AGREES, AGREES)
    assert both(0.05) == (DIFFERS, AGREES)
    assert both(-0.05) == (DIFFERS, DIFFERS)
    assert both(-0.05, runs=3) == (OPEN, OPEN)
    unclear = [difference("NIPS", 0.5, -0.05, noise=0.2)]  # large, but not clear
    assert statements.end_alike(unclear).verdict == OPEN
    assert statements.held_out(unclear).verdict == OPEN


def test_no_true_difference_is_seldom_taken_for_one():
    """Nine settings of five runs: one of them is called clear in about one study in twenty."""
    rng = np.random.default_rng(1)
    false = [any(statements.sign(rng.normal(size=5), 9) for _ in range(9)) for _ in range(300)]
    assert 0.01 < np.mean(false) < 0.1


def test_verdict_on_acceptance():
    def verdict(in_runs, in_tries):
        runs = [text_run(synthetic.SPLIT_MERGE, [1], [-9], proposals=_proposals(in_runs))]
        return statements.acceptance(
            runs, [{"where": "else", "corpus": "SOTU", "eta": 0.5, **_proposals(in_tries)}]
        ).verdict

    assert verdict(30, 28) == AGREES
    assert verdict(1, 30) == IN_PART
    assert verdict(1, 200) == DIFFERS


def _proposals(accepted):
    return {"split_tries": 500, "merge_tries": 500, "splits": accepted, "merges": 0}


def test_verdict_on_similarity():
    def verdict(**cosines):
        runs = [
            text_run(
                synthetic.GIBBS,
                [1],
                [-9],
                task=text.Task({"MLIR": "ML+IR"}.get(name, name), 0.5, 0, synthetic.GIBBS),
                similarities=np.array([value]),
            )
            for name, value in cosines.items()
        ]
        return statements.similarity(runs, 0.5).verdict

    assert verdict(ARXIV=0.1, NIPS=0.2, MLIR=0.3) == AGREES
    assert verdict(ARXIV=0.2, NIPS=0.1, MLIR=0.3) == IN_PART
    assert verdict(ARXIV=0.3, NIPS=0.1, MLIR=0.2) == DIFFERS
    assert verdict(SOTU=0.3) == OPEN


def test_a_chain_is_stopped_and_goes_on():
    task = text.Task("x", 0.5, 0, synthetic.SPLIT_MERGE)
    run = text.run_chain(task, five_topics(0).data, 8)
    assert run.seconds.shape == run.likelihood.shape == run.joint.shape == (8,)
    assert (np.diff(run.seconds) > 0).all()
    assert len(run.held_out) == 4  # after sweeps 1, 2, 5 and 8
    assert run.similarities.max() < 1.0
    with pytest.raises(KeyboardInterrupt):
        text.run_chain(task, five_topics(0).data, 8, stopped=lambda: True)


# --- corpora ------------------------------------------------------------------------------------------------


def write_data(folder):
    """A data folder with a few texts of each kind."""
    texts = [
        "deep networks learn features",
        "kernel methods learn margins",
        "topics of words in documents",
    ] * 12
    for name, records in {
        "arxiv_cs_abstracts/arxiv_cs": [
            {"abstract": words, "conference": "arxiv" if place % 2 else "ICML"}
            for place, words in enumerate(texts)
        ],
        "nips_text/nipstxt": [
            {"text": f"TITLE\nABSTRACT\n{words} with a bro-\nken word {words}\nIntroduction"}
            for words in texts
        ]
        + [{"text": "no such section"}],
    }.items():
        path = folder / f"{name}.jsonl.gz"
        path.parent.mkdir(parents=True)
        with gzip.open(path, "wt") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)


def test_corpora_are_read_from_a_data_folder(tmp_path):
    write_data(tmp_path)
    arxiv, conferences, nips = corpora.load_corpora(tmp_path, None)
    assert [named.name for named in (arxiv, conferences, nips)] == ["ARXIV", "ML+IR", "NIPS"]
    assert arxiv.corpus.n_documents == 18
    assert conferences.corpus.n_documents == 18
    assert nips.corpus.n_documents == 36
    assert "broken" not in arxiv.corpus.vocabulary
    assert "bro" not in nips.corpus.vocabulary
    small = corpora.load_corpora(tmp_path, 10)
    assert [named.corpus.n_documents for named in small] == [10, 10, 10]


def test_what_is_missing_is_named(tmp_path):
    write_data(tmp_path)
    (tmp_path / "nips_text" / "nipstxt.jsonl.gz").unlink()
    with pytest.raises(InputError, match=r"FRANCHISE_DATA.*nipstxt.jsonl.gz.*missing.*leave out --data"):
        reproduce("wang-blei", tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="not a folder"):
        reproduce("wang-blei", tmp_path / "other", quick=True, data=tmp_path / "nowhere")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not gzipped", "not a gzipped file of JSON lines"),
        (gzip.compress(b"not json\n", mtime=0), "not a gzipped file of JSON lines"),
        (gzip.compress(b'{"title": "x"}\n', mtime=0), r"line 1: needs the fields abstract, conference"),
    ],
    ids=["not gzipped", "not JSON", "fields missing"],
)
def test_damaged_data_are_named(content, words, tmp_path):
    write_data(tmp_path)
    (tmp_path / "arxiv_cs_abstracts" / "arxiv_cs.jsonl.gz").write_bytes(content)
    with pytest.raises(InputError, match=words):
        corpora.load_corpora(tmp_path, 10)


def test_the_variable_names_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FRANCHISE_DATA", str(tmp_path / "nowhere"))
    result = CliRunner().invoke(
        cli.app, ["reproduce", "wang-blei", "--quick", "--out", str(tmp_path / "out")]
    )
    assert isinstance(result.exception, InputError)
    assert "FRANCHISE_DATA" in str(result.exception)
