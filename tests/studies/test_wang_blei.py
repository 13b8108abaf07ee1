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
from franchise.studies import reproduce, wang_blei
from franchise.studies.output import AGREES, DIFFERS, IN_PART, OPEN, StudyFolder
from franchise.studies.wang_blei import Size, corpora, statements, synthetic, text

TINY = Size(seeds=2, sweeps=40, runs=2, text_sweeps=12, priors=(0.2, 0.5), documents=60)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The study on bundled text, and what it told on the way."""
    told = []
    path = tmp_path_factory.mktemp("study") / "out"
    tell = lambda what, share: told.append((what, share))  # noqa: E731
    page = wang_blei.run(StudyFolder(path), True, None, tell, TINY)
    return page, told


def test_the_folder_holds_what_the_page_shows(done):
    page, _ = done
    links = re.findall(r'(?:src|href)="([^"]+)"', page.read_text())
    assert len(links) > 20
    for link in links:
        assert (page.parent / link).is_file()
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"figure{number}.{kind}"
        for number in ("4a", "4b", "4cd", "5", "6", "7", "8")
        for kind in ("png", "svg")
    }
    facts = json.loads((page.parent / "study.json").read_text())
    assert facts["size"]["seeds"] == 2
    assert "bundled text" in page.read_text()


def test_tables(done):
    page, _ = done
    tables = {path.stem: pd.read_csv(path) for path in (page.parent / "tables").glob("*.csv")}
    assert len(tables["synthetic_runs"]) == 2 * 2 * 2
    assert tables["synthetic"]["seeds"].tolist() == [2] * 4
    assert len(tables["text_runs"]) == 2 * 2 * 2
    assert set(tables["text_runs"]["corpus"]) == {"SOTU"}
    tried = tables["text_runs"].query("method == 'Gibbs+SM'")
    assert (tried["split_tries"] + tried["merge_tries"] == 12 * text.TRIES).all()
    assert tables["acceptance"]["corpus"].tolist() == ["SOTU"] * 6 + ["all"] * 3
    assert len(tables["differences"]) == 2
    assert tables["differences"].notna().all(axis=None)
    assert len(tables["statements"]) == 10
    assert set(tables["statements"]["Verdict"]) <= {AGREES, IN_PART, DIFFERS, OPEN}


def test_progress_is_told(done):
    _, told = done
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len({what for what, _ in told}) == 3


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
    assert synthetic.median_sweep([run]) == np.inf
    assert synthetic.found_within([run], 5) == 0


@pytest.mark.slow
@pytest.mark.parametrize("start", synthetic.STARTS)
def test_split_merge_finds_five_topics_in_nearly_every_seed(start):
    runs = [synthetic.run_chain((seed, start, synthetic.SPLIT_MERGE), 200) for seed in range(20)]
    assert synthetic.found_within(runs, 200) >= 18


# --- text ---------------------------------------------------------------------------------------------------


PROPOSALS = {"split_tries": 30, "merge_tries": 20, "splits": 1, "merges": 0}


def text_run(method, seconds, likelihood, number=0, **settings):
    values = {
        "task": text.Task("SOTU", 0.5, number, method),
        "seconds": np.array(seconds, float),
        "likelihood": np.array(likelihood, float),
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
    tries = [{"corpus": "SOTU", "eta": 0.5, "scans": 0, **PROPOSALS, "splits": 4}]
    table = text.table_of_acceptance([*runs, text_run(synthetic.GIBBS, [1, 2], [-9, -8])], tries)
    assert table["accepted"].tolist() == [0.02, 0.08, 0.02, 0.08]
    assert table["corpus"].tolist() == ["SOTU", "SOTU", "all", "all"]


def test_verdicts_follow_the_numbers():
    def acceptance(in_runs, in_tries):
        runs = [text_run(synthetic.SPLIT_MERGE, [1], [-9], proposals={**PROPOSALS, "splits": in_runs})]
        tries = [{"corpus": "SOTU", "eta": 0.5, "scans": 0, **PROPOSALS, "splits": in_tries}]
        return statements._acceptance(runs, tries).verdict

    assert [acceptance(*splits) for splits in ((0, 0), (2, 2), (2, 20))] == [DIFFERS, AGREES, IN_PART]

    def held_out(values):
        found = text.Difference("SOTU", 0.5, np.ones(1), np.zeros((4, 1)), np.array(values)[:, None])
        return statements._held_out([found]).verdict

    assert held_out([0.1, 0.11, 0.1, 0.09]) == AGREES
    assert held_out([-0.1, -0.11, -0.1, -0.09]) == IN_PART


def test_a_chain_is_stopped_and_goes_on():
    run = text.run_chain(text.Task("x", 0.5, 0, synthetic.SPLIT_MERGE), five_topics(0).data, 3)
    assert len(run.similarities) == 0 or run.similarities.max() <= 1.0 + 1e-12
    assert run.seconds.shape == run.likelihood.shape == (3,)
    assert (np.diff(run.seconds) > 0).all()
    assert len(run.held_out) == 3


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
    assert arxiv.corpus.n_documents == 36
    assert conferences.corpus.n_documents == 18
    assert nips.corpus.n_documents == 36
    assert "broken" not in arxiv.corpus.vocabulary
    assert "bro" not in nips.corpus.vocabulary
    small = corpora.load_corpora(tmp_path, 10)
    assert [named.corpus.n_documents for named in small] == [10, 10, 10]


def test_what_is_missing_is_named(tmp_path):
    write_data(tmp_path)
    (tmp_path / "nips_text" / "nipstxt.jsonl.gz").unlink()
    with pytest.raises(InputError, match=r"nipstxt.jsonl.gz.*missing.*bundled text"):
        reproduce("wang-blei", tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="not a folder"):
        reproduce("wang-blei", tmp_path / "other", quick=True, data=tmp_path / "nowhere")
    assert not (tmp_path / "other").exists()
