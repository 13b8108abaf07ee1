"""The checks of the documentation site find what they look for, and API pages list every public name."""

from __future__ import annotations

import re

import franchise as fr
from tests.site import MODULES, broken_links, loads_from_outside, read_pages, undocumented
from tests.support.pages import ROOT


def pages_of(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text)
    return read_pages(folder)


def test_links(tmp_path):
    pages = pages_of(
        tmp_path,
        one='<a href="two.html#here">a</a><a href="https://example.org">b</a>',
        two='<p id="here"><a href="three.html">c</a><a href="one.html#there">d</a>',
    )
    assert list(broken_links(pages)) == [
        "two.html: three.html leads nowhere",
        "two.html: one.html#there has no such place",
    ]


def test_what_is_loaded(tmp_path):
    pages = pages_of(
        tmp_path,
        one='<script src="https://cdn.example.org/a.js"></script><link rel="stylesheet" href="a.css">',
        two='<link rel="stylesheet" href="//cdn.example.org/a.css"><a href="https://example.org">b</a>',
    )
    assert list(loads_from_outside(pages)) == [
        "one.html: loads https://cdn.example.org/a.js",
        "two.html: loads //cdn.example.org/a.css",
    ]


def test_names_without_a_page(tmp_path):
    pages = pages_of(tmp_path, one='<dt id="franchise.sample"><dt id="franchise.moves.CrfGibbs">')
    missing = set(undocumented(pages))
    assert "franchise.load has no page" in missing
    assert not {"franchise.sample has no page", "franchise.moves.CrfGibbs has no page"} & missing


def test_api_pages_list_every_name():
    """Without building the site: every name is in a list of some page."""
    listed = "".join(path.read_text() for path in (ROOT / "docs" / "api").glob("*.rst"))
    words = set(re.findall(r"\w+", listed))
    assert set(fr.__all__) <= words
    for module in MODULES:
        assert set(getattr(fr, module).__all__) <= words, module
