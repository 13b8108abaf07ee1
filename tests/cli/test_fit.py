"""From files to fitted models and back, by commands."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import franchise as fr
from franchise.cli import options
from franchise.cli.render import print_largest_topics
from tests.cli.commands import TEXTS, run

SHORT = ["--draws", "6", "--warmup", "4", "--chains", "2"]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A file with a text a line."""
    path = tmp_path_factory.mktemp("texts") / "animals.txt"
    path.write_text("\n".join(TEXTS))
    return path


@pytest.fixture(scope="module")
def fitted(lines, tmp_path_factory):
    """The folder of a finished run."""
    out = tmp_path_factory.mktemp("runs") / "run"
    command = [sys.executable, "-m", "franchise", "fit", str(lines), "--out", str(out), *SHORT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    return out, done


def test_fit_says_what_was_read_chosen_and_found(fitted):
    out, done = fitted
    for said in (
        "20 documents",
        "stop words",
        "(auto; ",
        "words",
        "Topics per draw: ",
        f"franchise topics {out}",
        f"franchise report {out}",
        "--draws 106",
    ):
        assert said in done.stdout + done.stderr, said


def test_the_run_is_the_librarys(fitted):
    posterior = fr.load(fitted[0])
    assert posterior.n_draws == 6
    assert posterior.n_chains == 2
    assert posterior.data.texts == TEXTS


def test_fit_refuses_a_folder_that_holds_a_run(fitted, lines, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fit", lines, "--out", fitted[0])
    assert (code, out) == (2, "")
    assert "resume" in err
    assert err.count("\n") == 1


def test_json_is_all_that_fit_prints(lines, tmp_path, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fit", lines, "--out", tmp_path / "run", *SHORT, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["run"] == str(tmp_path / "run")
    assert found["draws"] == 6
    assert found["summary"]["n_topics"]["mean"] >= 1
    assert 0.9 < sum(topic["share"] for topic in found["topics"]) <= 1.0
    assert {"topic", "label", "low", "high", "draws", "chains", "words"} <= found["topics"][0].keys()


def test_quiet_fit_prints_where_the_run_is(lines, tmp_path, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fit", lines, "--out", tmp_path / "run", *SHORT, "--quiet")
    assert (code, out, err) == (0, f"{tmp_path / 'run'}\n", "")


def test_fit_of_a_grouped_table(tmp_path, monkeypatch, capsys):
    fr.datasets.table("ants").to_csv(tmp_path / "ants.csv", index=False)
    arguments = ["fit", tmp_path / "ants.csv", "--out", tmp_path / "run", "--group", "study,condition"]
    arguments += ["--columns", "count", "--family", "poisson", "--set", "rate=0.1", *SHORT, "--json"]
    code, out, _ = run(monkeypatch, capsys, *arguments)
    assert code == 0
    assert fr.load(tmp_path / "run").family.rate == 0.1
    assert "words" not in json.loads(out)["topics"][0]


def test_fit_of_overdispersed_counts(tmp_path, monkeypatch, capsys):
    lines = ["site,a,b,c", *(f"s{row % 3},{row % 4},{row % 2},{3 * (row % 5)}" for row in range(12))]
    (tmp_path / "counts.csv").write_text("\n".join(lines))
    learned = 'dispersion={"shape": 1, "rate": 2}'
    for family, prior in (("negative-binomial", []), ("dirichlet-multinomial", ["--prior", "0.5"])):
        out = tmp_path / family
        arguments = ["fit", tmp_path / "counts.csv", "--out", out, "--group", "site", "--family", family]
        arguments += [
            "--columns",
            "a,b,c",
            "--set",
            learned,
            "--set",
            "grid_size=4",
            *prior,
            *SHORT,
            "--quiet",
        ]
        assert run(monkeypatch, capsys, *arguments)[0] == 0
        posterior = fr.load(out)
        assert posterior.family.dispersion == fr.Gamma(1.0, 2.0)
        longer = fr.resume(out, posterior.n_draws + 1, progress=False)
        assert longer.n_draws == posterior.n_draws + 1
        assert longer.topic_parameters()["mean"].gt(0.0).all()
    assert posterior.family.prior.tolist() == [0.5, 0.5, 0.5]


def test_only_commands_that_the_run_accepts_are_suggested(lines, tmp_path, monkeypatch, capsys):
    """New documents can be inferred and scored; a table of observations has none."""
    ants = ["fit", "ants", "--family", "poisson", "--out", tmp_path / "ants", *SHORT]
    of_ants = run(monkeypatch, capsys, *ants)[1]
    of_texts = run(monkeypatch, capsys, "fit", lines, "--out", tmp_path / "texts", *SHORT)[1]
    assert "franchise resume" in of_ants
    for command in ("franchise infer", "franchise evaluate"):
        assert command in of_texts
        assert command not in of_ants


def test_fit_of_a_bundled_data_set(tmp_path, monkeypatch, capsys):
    arguments = ["fit", "ants", "--family", "poisson", "--out", tmp_path / "run", *SHORT, "--quiet"]
    assert run(monkeypatch, capsys, *arguments)[0] == 0
    assert fr.load(tmp_path / "run").data.n_observations == 184


def test_fit_of_topics_that_follow_the_text(lines, tmp_path, monkeypatch, capsys):
    arguments = ["fit", lines, "--model", "htmm", "--out", tmp_path / "run", *SHORT]
    code, out, _ = run(monkeypatch, capsys, *arguments)
    assert code == 0
    assert "sentences" in out
    code, out, _ = run(monkeypatch, capsys, "resume", tmp_path / "run", "--draws", "8", "--json")
    assert json.loads(out)["sampler"] == "htmm"
    path = tmp_path / "new.txt"
    path.write_text("The cat purred. A ship sank.\nSailors swam to the harbour.\n")
    code, out, _ = run(monkeypatch, capsys, "infer", tmp_path / "run", path)
    assert code == 0
    assert len(out.splitlines()) == 3
    for method in ("completion", "left-to-right"):
        code, out, _ = run(
            monkeypatch, capsys, "evaluate", tmp_path / "run", path, "--method", method, "--json"
        )
        score = json.loads(out)
        assert score["perplexity"] > 1.0
        assert score["baseline_perplexity"] > 1.0
        assert score["monte_carlo_error"] > 0.0


# --- looking ------------------------------------------------------------------------------------------------


def test_topics(fitted, tmp_path, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "topics", fitted[0], "--most", "1")
    assert code == 0
    assert "cat" in out or "ship" in out
    files = ["--out", tmp_path / "topics.csv", "--documents", tmp_path / "new" / "documents.csv"]
    assert run(monkeypatch, capsys, "topics", fitted[0], *files) == (0, "", "")
    topics = pd.read_csv(tmp_path / "topics.csv", index_col="topic")
    documents = pd.read_csv(tmp_path / "new" / "documents.csv", index_col="document")
    assert len(documents) == len(TEXTS)
    assert documents.shape[1] == len(topics) + 1
    _, out, _ = run(monkeypatch, capsys, "topics", fitted[0], "--json")
    assert [row["topic"] for row in json.loads(out)] == topics.index.tolist()
    _, out, _ = run(monkeypatch, capsys, "topics", fitted[0], "--draw", "1", "--json")
    assert [row["name"] for row in json.loads(out)][:2] == ["d0", "d1"]
    code, _, err = run(monkeypatch, capsys, "topics", fitted[0], "--draw", "2")
    assert code == 2
    assert "chain must be a whole number from 0 to 1" in err


def test_rules_of_topics(fitted, tmp_path, monkeypatch, capsys):
    least = float(fr.load(fitted[0]).topics()["share"].min()) + 1e-6
    table = fr.load(fitted[0]).with_consensus(min_share=least, merge_cosine=0.99).topics()
    rules = ["--min-share", str(least), "--merge-cosine", "0.99"]
    _, out, _ = run(monkeypatch, capsys, "topics", fitted[0], *rules, "--json")
    assert [row["words"] for row in json.loads(out)] == table["words"].tolist()
    _, out, _ = run(monkeypatch, capsys, "topics", fitted[0], *rules)
    assert "excluded, with" in out
    (tmp_path / "new.txt").write_text("cat dog")
    _, out, _ = run(monkeypatch, capsys, "infer", fitted[0], tmp_path / "new.txt", *rules, "--json")
    assert list(json.loads(out)[0]) == ["document", *map(str, range(len(table))), "other"]
    page = tmp_path / "report.html"
    assert run(monkeypatch, capsys, "report", fitted[0], *rules, "--out", page, "--quiet")[0] == 0
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
    assert [row["label"] for row in data["topics"]] == table["label"].tolist()
    assert "1 topic is excluded, with" in page.read_text()
    code, _, err = run(monkeypatch, capsys, "topics", fitted[0], "--min-share", "2")
    assert (code, "--min-share must be a number from 0 to 1" in err) == (2, True)


def test_infer_reads_new_documents_as_the_run_read_its_own(fitted, tmp_path, monkeypatch, capsys):
    path = tmp_path / "new.txt"
    path.write_text("The CAT purred.\nSailors at sea!\nnothing known hereabouts\n")
    code, out, _ = run(monkeypatch, capsys, "infer", fitted[0], path, "--json")
    assert code == 0
    rows = json.loads(out)
    assert len(rows) == 3
    for row in rows:
        shares = [value for name, value in row.items() if name != "document"]
        assert sum(shares) == pytest.approx(1.0, abs=1e-6)
    code, out, _ = run(monkeypatch, capsys, "infer", fitted[0], path)
    assert out.splitlines()[0].startswith("document,")


def test_a_terminal_gets_the_largest_topics_of_new_documents():
    weights = pd.DataFrame(
        [[0.5, 0.3, 0.04, 0.16], [0.0, 0.0, 0.9, 0.1]], index=["[a]", "b"], columns=[0, 1, 2, "other"]
    )
    labels = ["cat, mouse", "ship, [sea]", "war"]
    console = Console(file=io.StringIO(), width=80)
    print_largest_topics(console, weights, 30, labels)
    out = console.file.getvalue()
    assert [line for line in out.splitlines() if "topic 0" in line] == [
        "│ [a]      │  50%  topic 0  cat, mouse  │"
    ]
    assert "30%  topic 1  ship, [sea]" in out
    assert "90%  topic 2  war" in out
    assert out.count("topic 2") == 1  # too small in the first document
    assert "2 of 30 documents" in out


def test_evaluate(fitted, lines, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "evaluate", fitted[0], lines)
    assert code == 0
    assert "perplexity" in out
    _, out, _ = run(monkeypatch, capsys, "evaluate", fitted[0], lines, "--json")
    score = json.loads(out)
    assert 1.0 < score["perplexity"] < score["baseline_perplexity"] * 2
    assert score["n_documents"] == len(TEXTS)
    assert score["method"] == "completion"


def test_evaluate_whole_documents(fitted, lines, monkeypatch, capsys):
    whole = ["evaluate", fitted[0], lines, "--method", "left-to-right"]
    code, out, _ = run(monkeypatch, capsys, *whole, "--json")
    assert code == 0
    score = json.loads(out)
    assert 1.0 < score["perplexity"] < score["baseline_perplexity"] * 2
    assert score["particle_error"] > 0.0
    _, out, _ = run(monkeypatch, capsys, *whole)
    assert f"perplexity {score['perplexity']:.1f} (unigram: " in out
    code, _, err = run(monkeypatch, capsys, "evaluate", fitted[0], lines, "--method", "right-to-left")
    assert code == 2
    assert "left-to-right" in err


def test_compare(lines, tmp_path, monkeypatch, capsys):
    arguments = [
        "compare",
        lines,
        "--samplers",
        "direct,crf",
        "--draws",
        "12",
        "--warmup",
        "4",
        "--chains",
        "2",
    ]
    code, out, _ = run(monkeypatch, capsys, *arguments, "--out", tmp_path / "table.csv")
    assert code == 0
    assert "Comparison of samplers" in out
    table = pd.read_csv(tmp_path / "table.csv", index_col="sampler")
    assert table.index.tolist() == ["direct", "crf"]
    assert (table["held-out nats/word"] < 0).all()
    code, _, err = run(monkeypatch, capsys, "compare", lines, "--samplers", "direct,gibbs")
    assert code == 2
    assert "gibbs" in err


# --- resuming and interruptions -----------------------------------------------------------------------------


def test_resume_makes_a_run_longer(lines, tmp_path, monkeypatch, capsys):
    at_once, later = tmp_path / "at-once", tmp_path / "later"
    long = ["--draws", "12", "--warmup", "4", "--chains", "2", "--quiet"]
    assert run(monkeypatch, capsys, "fit", lines, "--out", at_once, *long)[0] == 0
    assert run(monkeypatch, capsys, "fit", lines, "--out", later, *SHORT, "--quiet")[0] == 0
    code, out, _ = run(monkeypatch, capsys, "resume", later, "--draws", "12", "--json")
    assert code == 0
    assert json.loads(out)["draws"] == 12
    assert fr.load(later).trace["log_joint"].tolist() == fr.load(at_once).trace["log_joint"].tolist()


def test_a_run_that_ran_out_of_time_says_so_and_how_to_go_on(lines, tmp_path, monkeypatch, capsys):
    arguments = ["fit", lines, "--out", tmp_path / "run", "--draws", "1000000", "--warmup", "2"]
    code, out, err = run(monkeypatch, capsys, *arguments, "--time-limit", "0.5")
    assert code == 0
    assert "warning: time limit reached" in err
    assert "UserWarning" not in err
    assert f"franchise resume {tmp_path / 'run'} " in out
    assert "finish the run" in out


def has_draws(out):
    """Whether all four chains of a run are past their ten sweeps of warm-up."""
    logs = list(out.glob("chain-*/trace.log"))
    return len(logs) == 4 and all(len(log.read_text().splitlines()) > 20 for log in logs)


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_fit_says_how_to_go_on(lines, tmp_path, signal_):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "franchise", "fit", str(lines), "--out", str(out)]
    long = ["--draws", "1000000", "--warmup", "10", "--checkpoint", "0.1"]
    process = subprocess.Popen(
        [*command, *long],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run unattended
    )
    try:
        while not has_draws(out):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal_)
        printed = "".join(process.communicate(timeout=60))
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"franchise resume {out}" in printed
    assert "Traceback" not in printed
    assert fr.load(out).n_draws > 0


def test_no_run_no_resume(tmp_path, monkeypatch, capsys):
    for command in ("resume", "topics"):
        code, out, err = run(monkeypatch, capsys, command, tmp_path / "nowhere")
        assert (code, out) == (2, "")
        assert "nowhere" in err
        assert "Traceback" not in err


# --- asking -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--alpha", "many"], "--alpha"),
        (["--alpha", "=2"], "--alpha must be a number, SHAPE,RATE or LEVEL=VALUE; got '=2'"),
        (["--alpha", "party=much"], "--alpha party must be a number"),
        (["--alpha", "party=2"], "--alpha has levels, but the data have one level of groups"),
        (["--alpha-per", "parent"], "--alpha-per has levels, but the data have one level of groups"),
        (["--alpha-per", "node"], "--alpha-per must be one of 'level', 'parent'"),
        (["--prior", "1,2,3"], "--prior"),
        (["--family", "poisson"], "--group"),
        (["--set", "prior"], "NAME=VALUE"),
        (["--min-df", "1.5"], "--min-df"),
        (["--engine", "steam"], "--engine"),
        (["--sampler", "gibs"], "sampler"),
        (["--draws", "0"], "draws"),
        (["--stop-words", "klingon"], "--stop-words"),
        (["--start", "somewhere"], "start"),
        (["--model", "lda"], "--model"),
        (["--n-topics", "3"], "--n-topics"),
        (["--n-topics", "3", "--sampler", "direct"], "--sampler finite"),
        (["--set", "foo=1"], "family 'categorical' has no setting 'foo'. Its settings are size, prior."),
        (["--set", "priro=1"], "Did you mean 'prior'?"),
        (["--strip", "htm"], "Did you mean 'html'?"),
        (["--tokenizer", "jieba"], "--tokenizer must be MODULE:FUNCTION"),
        (["--tokenizer", "no_such_module:cut"], "--tokenizer no_such_module:cut cannot be imported"),
        (["--tokenizer", "os:no_such"], "--tokenizer os:no_such cannot be imported"),
        (["--model", "htmm", "--family", "poisson"], "--family"),
        (["--model", "htmm", "--sampler", "direct"], "--sampler"),
        (["--model", "htmm", "--set", "prior=1"], "--set"),
        (["--columns", "a,b"], "--columns"),
        (["--seeds", "no such file"], "--seeds no such file must be a text file in UTF-8"),
        (["--model", "htmm", "--seeds", "any"], "--seeds is not for --model htmm"),
    ],
)
def test_bad_options_end_with_2_and_leave_nothing(lines, tmp_path, monkeypatch, capsys, arguments, said):
    code, _, err = run(monkeypatch, capsys, "fit", lines, "--out", tmp_path / "run", *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_known_topics_from_a_file_of_seeds(lines, tmp_path, monkeypatch, capsys):
    seeds, out = tmp_path / "seeds.txt", tmp_path / "run"
    seeds.write_text("pets: cat, kitten\n\nsea : harbour ship\n")
    arguments = ["--seeds", seeds, "--set", "strength=20", "--prior", "0.2", *SHORT, "--quiet"]
    code, _, err = run(monkeypatch, capsys, "fit", lines, "--out", out, *arguments)
    assert (code, err) == (0, "")
    posterior = fr.load(out)
    words = {"pets": ["cat", "kitten"], "sea": ["harbour", "ship"]}
    known = fr.KnownTopics.from_words(words, posterior.data.vocabulary, strength=20, prior=0.2)
    assert posterior.model.family.settings() == known.settings()


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("\n", [], "has no topics. Write one per line"),
        ("pets: cat\nsea ship", [], "line 2, must be a new name, a colon and words"),
        ("pets: cat\npets: kitten", [], "line 2, must be a new name"),
        ("pets:", [], "line 1, must be"),
        ("pets: catt", [], "Did you mean 'cat'?"),
        ("pets: cat", ["--set", "foo=1"], "--set foo is no setting of known topics"),
        ("pets: cat", ["--prior", "1,2"], "prior must be"),
    ],
)
def test_bad_seeds_end_with_2(lines, tmp_path, monkeypatch, capsys, text, arguments, said):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(text)
    out = tmp_path / "run"
    code, _, err = run(monkeypatch, capsys, "fit", lines, "--out", out, "--seeds", seeds, *arguments)
    assert code == 2
    assert said in err
    assert not out.exists()


def test_the_number_of_topics_of_the_finite_model(lines, tmp_path, monkeypatch, capsys):
    arguments = ["--sampler", "finite", "--n-topics", "3", *SHORT, "--quiet"]
    code, _, err = run(monkeypatch, capsys, "fit", lines, "--out", tmp_path / "run", *arguments)
    assert (code, err) == (0, "")
    posterior = fr.load(tmp_path / "run")
    assert posterior.model.finite_topics == 3
    assert posterior.trace["n_topics"].max() <= 3


def test_a_run_is_not_made_shorter(fitted, monkeypatch, capsys):
    out, _ = fitted
    code, printed, err = run(monkeypatch, capsys, "resume", out, "--draws", "5")
    assert (code, printed) == (2, "")
    assert "draws must be at least the number of draws per chain that the run has (6); got 5" in err


def test_options_of_words_and_notes(tmp_path, monkeypatch, capsys):
    path, texts = (
        tmp_path / "texts.csv",
        ["New York ships <b>sail</b>", "ships and mice", "a mouse, ships"] * 10,
    )
    rows = "\n".join(f'"{text}",{place // 2}' for place, text in enumerate([*texts, "cat"]))
    path.write_text(f"body,code\n{rows}\n")
    arguments = ["--phrases", "--strip", "html,latex", "--name", "code", "--min-df", "1", *SHORT]
    code, printed, err = run(monkeypatch, capsys, "fit", path, "--out", tmp_path / "run", *arguments)
    assert code == 0, err
    printed = " ".join(printed.split())
    for note in (
        "--text body was guessed.",
        "15 names in column 'code' were repeated or missing and got a number: '0 (2)'.",
        "1 phrase: new_york.",
        "10 documents have HTML or XML tags, first document 0: ignored.",
        "27 documents with the words of an earlier one: kept",
    ):
        assert note in printed, note
    loaded = fr.load(tmp_path / "run").data
    assert loaded.group_names[:3] == ["0", "0 (2)", "1"]
    assert loaded.dropped.stop_words.tokens == 10
    assert len(loaded.notes) == 5


def test_duplicates_are_dropped_by_a_command(lines, tmp_path, monkeypatch, capsys):
    arguments = ["--drop-duplicates", "--out", tmp_path / "run", *SHORT]
    code, printed, _ = run(monkeypatch, capsys, "fit", lines, *arguments)
    assert code == 0
    assert printed.startswith("4 documents,")
    assert "16 duplicate documents" in printed


def test_words_of_a_bundled_data_set_are_chosen_already(tmp_path, monkeypatch, capsys):
    for option, value in (("--min-df", ["2"]), ("--drop-duplicates", []), ("--stem", ["en"])):
        code, _, err = run(monkeypatch, capsys, "fit", "sotu", "--out", tmp_path / "run", option, *value)
        assert code == 2
        assert f"{option} cannot be used with the data set 'sotu', which is already read" in err


def test_a_tokenizer_by_its_name(tmp_path, monkeypatch, capsys):
    path, out = tmp_path / "chinese.txt", tmp_path / "run"
    path.write_text(
        "\n".join(["我们热爱北京天安门上太阳", "今天天气很好我们去公园玩"] * 10), encoding="utf-8"
    )
    (tmp_path / "cut_pairs.py").write_text(
        "def cut(text):\n    return [text[at : at + 2] for at in range(0, len(text), 2)]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    code, _, err = run(monkeypatch, capsys, "fit", path, "--out", out, *SHORT)
    assert code == 2
    assert "the texts seem to be Chinese or Japanese" in err
    assert run(monkeypatch, capsys, "fit", path, "--out", out, "--tokenizer", "cut_pairs:cut", *SHORT)[0] == 0
    assert "我们" in fr.load(out).data.vocabulary
    code, _, err = run(monkeypatch, capsys, "infer", out, path)
    assert code == 2
    assert "the tokenizer 'cut', which is not stored. Give it again" in err
    assert run(monkeypatch, capsys, "infer", out, path, "--tokenizer", "cut_pairs:cut")[0] == 0


def test_a_document_without_a_known_word_is_reported(fitted, tmp_path, monkeypatch, capsys):
    path = tmp_path / "new.txt"
    path.write_text("a cat and a ship\nzebra\n")
    code, printed, err = run(monkeypatch, capsys, "infer", fitted[0], path)
    assert code == 0
    assert "1 of 2 documents have no word of the vocabulary, the first is '1'" in err
    assert len(printed.splitlines()) == 3


def test_options_list_what_there_is():
    from franchise.data.readers.formats import ALL
    from franchise.families.registry import FAMILIES
    from franchise.samplers.registry import AUTO, SAMPLERS

    assert list(options.FAMILIES) == list(FAMILIES)
    assert list(options.SAMPLERS) == [AUTO, *SAMPLERS]
    assert list(options.FORMATS) == ALL


def test_completion_of_commands_and_values():
    def completed(words, place):
        environment = {
            **os.environ,
            "_FRANCHISE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        command = Path(sys.executable).with_name("franchise")
        done = subprocess.run([command], capture_output=True, text=True, env=environment)
        return done.stdout.split()

    assert completed("franchise re", 1) == ["resume", "report", "reproduce"]
    assert completed("franchise fit --sampler sp", 3) == ["split-merge"]


def test_a_corpus_in_shards(monkeypatch, capsys, tmp_path):
    """A folder that `franchise generate` has written; options for texts are none for it."""
    shards = fr.synthetic.write_planted(
        tmp_path / "corpus", documents=60, vocabulary=80, tokens=1500, topics=2
    )
    code, out, err = run(monkeypatch, capsys, "fit", tmp_path / "corpus", "--out", tmp_path / "run", *SHORT)
    assert code == 0, err
    assert "60 documents, 1,500 words, 80 distinct words" in out + err
    posterior = fr.load(tmp_path / "run")
    assert posterior.n_draws == 6
    assert posterior.data.shards.folder == shards.folder
    for option in (["--min-df", "2"], ["--group", "x"], ["--text", "x"]):
        code, _, err = run(
            monkeypatch, capsys, "fit", tmp_path / "corpus", "--out", tmp_path / "other", *option
        )
        assert code == 2
        assert "is a sharded corpus" in err
    assert not (tmp_path / "other").exists()
