"""The code on the pages of the documentation runs, at a small size."""

from __future__ import annotations

import runpy

import pytest

from tests.support.pages import ROOT, enter_folder, run_page

DOCS = ROOT / "docs"
PAGES = [
    *sorted((DOCS / "how-to").glob("*.md")),
    *(DOCS / f"{name}.md" for name in ("index", "install", "command-line")),
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page(page, tmp_path, monkeypatch):
    enter_folder(tmp_path, monkeypatch)
    run_page(page)


def test_the_script_of_the_picture_can_be_imported():
    """It takes minutes to run, so a name that is gone would not be noticed."""
    pytest.importorskip("matplotlib")
    assert callable(runpy.run_path(str(DOCS / "topics_over_time.py"))["fit"])
