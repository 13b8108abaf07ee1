"""The folder of a study: tables, figures, the page; and what is refused before anything runs."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from franchise.errors import InputError
from franchise_studies import STUDIES, reproduce
from franchise_studies.output import AGREES, Statement, StudyFolder, markdown_table


def figure():
    made = Figure()
    made.subplots().plot([1, 2], [3, 4])
    return made


def test_everything_is_written_and_shown(tmp_path):
    folder = StudyFolder(tmp_path / "deep" / "study")
    folder.make()
    folder.heading("A <heading>")
    folder.text("Words & more.")
    frame = pd.DataFrame({"name": ["a|b", "c"], "value": [1.23456789, np.nan], "count": [3, 4]})
    folder.table("numbers", frame, "Some numbers.")
    folder.table("hidden", frame, "Not shown.", on_page=False)
    folder.figure("picture", figure(), "A picture.")
    folder.facts({"seed": 1})
    page = folder.page("Title", ["First words."], [Statement("said", "4.1", "seen", AGREES)])
    text = page.read_text()
    for piece in ("A &lt;heading&gt;", "Words &amp; more.", "First words.", "said", "seen", AGREES, "1.235"):
        assert piece in text
    assert text.index("said") < text.index("A &lt;heading&gt;")
    assert text.count("<table>") == 2
    for name in ("numbers", "hidden", "statements"):
        assert (folder.path / "tables" / f"{name}.md").is_file()
    assert pd.read_csv(folder.path / "tables" / "numbers.csv").equals(frame)
    for kind in ("png", "svg"):
        assert (folder.path / "figures" / f"picture.{kind}").stat().st_size > 500


def test_markdown_reads_as_a_table():
    frame = pd.DataFrame({"name": ["a|b", "c"], "value": [1.23456789, np.nan], "count": [3, 4]})
    assert markdown_table(frame) == (
        "| name | value | count |\n| --- | --- | --- |\n| a\\|b | 1.235 | 3 |\n| c | – | 4 |\n"
    )


def test_the_chains_of_the_same_study_may_stay(tmp_path):
    facts = {"size": {"starts": (1, 25)}, "quick": True}
    folder = StudyFolder(tmp_path / "out", "some-study")
    folder.keep_chains(facts)
    (folder.chains / "trace.log").write_text("sweeps")
    again = StudyFolder(tmp_path / "out", "some-study")
    again.keep_chains(facts)
    again.make()
    again.make()
    assert (again.chains / "trace.log").read_text() == "sweeps"
    with pytest.raises(InputError, match=r"other settings \(quick\)"):
        again.keep_chains({**facts, "quick": False})
    with pytest.raises(InputError, match="new or empty"):
        StudyFolder(tmp_path / "out", "other-study")
    with pytest.raises(InputError, match="new or empty"):
        StudyFolder(tmp_path / "out")
    (again.chains / "study.json").write_text("{")
    with pytest.raises(InputError, match=r"study\.json"):
        StudyFolder(tmp_path / "out", "some-study")


# --- refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_a_folder_in_use_is_refused_and_left_alone(name, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r"new or empty folder.*another name"):
        reproduce(name, tmp_path, quick=True)
    with pytest.raises(InputError, match="is a file"):
        reproduce(name, tmp_path / "thesis.tex", quick=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is not writable"):
        reproduce(name, tmp_path / "thesis.tex" / "deeper", quick=True)


def test_an_unknown_study_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"'wang-bley'.*wang-blei|wang-blei.*'wang-bley'"):
        reproduce("wang-bley", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", STUDIES)
def test_without_matplotlib_it_says_what_to_install(name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'franchise\[plot\]'"):
        reproduce(name, tmp_path / "out")
    assert not (tmp_path / "out").exists()
