"""The code on the pages of the documentation runs, at a small size."""

from __future__ import annotations

import pytest

from tests.support.pages import ROOT, enter_folder, run_page

HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to(page, tmp_path, monkeypatch):
    enter_folder(tmp_path, monkeypatch)
    run_page(page)
