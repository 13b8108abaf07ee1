"""Messages of commands name options, and bad options are refused before any data are read."""

from __future__ import annotations

import pytest

import franchise as fr
from franchise.cli.option_names import in_options
from tests.cli.commands import TEXTS, run


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "with min_chains=2, topics() excludes them.",
            "with --min-chains 2, `franchise topics` excludes them.",
        ),
        ("draws must be a whole number; got -1.", "--draws must be a whole number; got -1."),
        ("Set format= to one of 'csv'.", "Set --format to one of 'csv'."),
        ("strip='html' ignores it", "--strip html ignores it"),
        ("3 words below min_df (4 tokens).", "3 words below --min-df (4 tokens)."),
        ("such as start=[2, 9, 36] with three chains", "such as --start 2,9,36 with three chains"),
        ("(stop_words, or max_df=0.5), or longer", "(--stop-words, or --max-df 0.5), or longer"),
        ("corpus.drop_duplicates() (--drop-duplicates)", "corpus.drop_duplicates() (--drop-duplicates)"),
        (
            "Use fr.read_groups(path, group='site').infer(x).",
            "Use fr.read_groups(path, group='site').infer(x).",
        ),
        ("The text must be long, and the draws short.", "The text must be long, and the draws short."),
    ],
)
def test_arguments_become_options(message, expected):
    assert in_options(message) == expected


BAD = {
    "--draws": ["-1", "0"],
    "--warmup": ["-1"],
    "--thin": ["0"],
    "--chains": ["0"],
    "--seed": ["-1"],
    "--workers": ["0"],
    "--time-limit": ["0", "nan"],
    "--checkpoint-interval": ["-1"],
    "--sampler": ["gibs"],
    "--family": ["poison"],
    "--alpha": ["-1", "1,0", "many"],
    "--gamma": ["0"],
    "--prior": ["0"],
    "--start": ["0", "sequentially", "2,3,4"],
}


@pytest.mark.parametrize(("option", "value"), [(name, value) for name in BAD for value in BAD[name]])
def test_fit_refuses_bad_values_before_reading(tmp_path, monkeypatch, capsys, option, value):
    monkeypatch.setattr("franchise.cli.library_arguments.read_data", lambda *_: pytest.fail("data were read"))
    code, _, err = run(monkeypatch, capsys, "fit", tmp_path, "--out", tmp_path / "run", f"{option}={value}")
    assert code == 2
    assert option in err
    assert value.split(",")[-1] in err or "1,0" in value


@pytest.mark.parametrize(
    "given",
    [
        ("resume", "--draws", "-1"),
        ("update", "x.txt", "--out", "new", "--warmup", "-1"),
        ("update", "x.txt", "--out", "new", "--draws", "0"),
        ("topics", "--words", "0"),
        ("topics", "--min-share", "2"),
        ("topics", "--min-draws", "-0.5"),
        ("report", "--documents", "0"),
        ("report", "--merge-cosine", "7"),
        ("evaluate", "x.txt", "--seed", "-1"),
    ],
    ids=" ".join,
)
def test_other_commands_refuse_bad_values_before_reading(tmp_path, monkeypatch, capsys, given):
    command, *rest = given
    code, _, err = run(monkeypatch, capsys, command, tmp_path / "none", *rest)
    assert code == 2
    assert next(word for word in reversed(rest) if word.startswith("--")) in err
    assert "none" not in err


def test_notes_and_errors_name_options(tmp_path, monkeypatch, capsys):
    fr.sample(fr.Corpus.from_texts(TEXTS), draws=8, warmup=20, progress=False).save(tmp_path / "run")
    code, _, err = run(monkeypatch, capsys, "topics", tmp_path / "run", "--min-chains", "9")
    assert code == 2
    assert "min_chains" not in err
    (tmp_path / "new.txt").write_text("\n".join(TEXTS))
    printed = run(
        monkeypatch, capsys, "fit", tmp_path / "new.txt", "--out", tmp_path / "b", "--draws", 2, "--warmup", 2
    )[1]
    assert "--format file reads the file as one document" in " ".join(printed.split())


def test_each_chain_has_its_start(tmp_path, monkeypatch, capsys):
    (tmp_path / "new.txt").write_text("\n".join(TEXTS))
    given = ("--draws", 2, "--warmup", 2, "--chains", 2, "--start", "2,7")
    code, _, err = run(monkeypatch, capsys, "fit", tmp_path / "new.txt", "--out", tmp_path / "run", *given)
    assert code == 0, err
    assert fr.load(tmp_path / "run").start_topics == [2, 7]
