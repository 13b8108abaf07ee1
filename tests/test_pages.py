"""The code on the pages of the documentation runs, at a small size."""

from __future__ import annotations

import re
import runpy
from dataclasses import fields

import pytest

import franchise as fr
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.htmm_posterior import HTMMPosterior
from tests.support.pages import ROOT, enter_folder, run_page

DOCS = ROOT / "docs"
PAGES = [
    *sorted((DOCS / "how-to").glob("*.md")),
    *(DOCS / f"{name}.md" for name in ("index", "install", "command-line")),
]
EVERY = [
    ROOT / "README.md",
    *DOCS.glob("*.md"),
    *(page for folder in ("how-to", "theory", "tutorials") for page in sorted((DOCS / folder).glob("*.md"))),
]
"""All pages that are written by hand."""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page(page, tmp_path, monkeypatch):
    enter_folder(tmp_path, monkeypatch)
    run_page(page)


POSTERIORS = HDPPosterior, HTMMPosterior
NAMES = {name for kind in POSTERIORS for name in [*dir(kind), *(field.name for field in fields(kind))]}
"""The attributes of a posterior of either model."""


def missing_names(text):
    """Yield the names in the code of a page, as `fr.NAME` and `posterior.NAME`, that franchise does not have."""
    for code in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL):
        yield from (name for name in re.findall(r"\bposterior\.(\w+)", code) if name not in NAMES)
        for path in re.findall(r"\bfr((?:\.\w+)+)", code):
            value = fr
            for name in path[1:].split("."):
                if not hasattr(value, name):
                    yield path
                    break
                value = getattr(value, name)


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_exist(page):
    assert list(missing_names(page.read_text(encoding="utf-8"))) == []


def test_a_name_that_is_gone_is_found():
    assert list(missing_names("`fr.samples(x)`, `posterior.topic` and `fr.diagnostics.scores_of`")) == [
        ".samples",
        "topic",
        ".diagnostics.scores_of",
    ]


def test_the_script_of_the_picture_can_be_imported():
    """It takes minutes to run, so a name that is gone would not be noticed."""
    pytest.importorskip("matplotlib")
    assert callable(runpy.run_path(str(DOCS / "topics_over_time.py"))["fit"])


def test_the_page_of_commands_is_that_of_the_help():
    written = runpy.run_path(str(DOCS / "command_line.py"))
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert page == written["page"](), "run `python docs/command_line.py`"
    assert "### franchise segments" in page
    assert "| `--min-chains` | " in page
