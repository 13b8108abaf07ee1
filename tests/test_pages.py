"""The code on the pages of the documentation runs, at a small size."""

from __future__ import annotations

import pytest

import franchise as fr
from tests.support.pages import ROOT, make_small, run_page

HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages read, and small defaults."""
    speeches = fr.datasets.table("sotu").iloc[::12].reset_index(drop=True)
    speeches["text"] = [text[:1500] for text in speeches["text"]]
    (tmp_path / "speeches").mkdir()
    for name, text in zip(speeches["date"], speeches["text"], strict=True):
        (tmp_path / "speeches" / f"{name}.txt").write_text(text, encoding="utf-8")
    speeches.to_csv(tmp_path / "speeches.csv", index=False)
    new = [" ".join(text.split()) for text in speeches["text"][:3]]
    (tmp_path / "new.txt").write_text("\n".join(new), encoding="utf-8")
    fr.datasets.table("ants")[["study", "count"]].to_csv(tmp_path / "counts.csv", index=False)
    make_small(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to(page, folder):
    run_page(page)
