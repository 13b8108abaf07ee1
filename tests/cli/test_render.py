"""What commands print of a posterior, with words that look like markup of the console."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from franchise.cli.render import make_console, print_topics
from franchise.cli.report import show_written

WORDS = "[/bold] [red] cat"


def test_words_are_shown_as_they_are(capsys):
    topics = pd.DataFrame({"share": [0.5], "words": [WORDS]}, index=pd.RangeIndex(1, name="topic"))
    print_topics(make_console(), topics, 1)
    assert WORDS in capsys.readouterr().out


def test_a_path_is_shown_as_it_is(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path("[red] page.html")
    page.write_text("")
    show_written(make_console(), page)
    assert str(page) in capsys.readouterr().out
