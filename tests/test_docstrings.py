"""Examples in the docstrings of public names run and print what they promise (`python -m tests.docstrings`)."""

from __future__ import annotations

import doctest
import inspect
import re
import textwrap

import pytest

from tests.support.public_names import PAGES, public_names

NAMES = public_names()
WITH_EXAMPLES = [public for public in NAMES if ">>>" in (inspect.getdoc(public.value) or "")]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.fixture(scope="module")
def given():
    """The names that examples use, made by the lines on the first page of the API."""
    page = (PAGES / "index.rst").read_text(encoding="utf-8")
    block = re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page)
    names: dict[str, object] = {}
    exec(textwrap.dedent(block[1]), names)
    return names


@pytest.mark.parametrize("public", WITH_EXAMPLES, ids=lambda public: public.name.removeprefix("franchise."))
def test_examples_print_what_they_promise(public, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(public.value)
    example = doctest.DocTestParser().get_doctest(text, dict(given), public.name, None, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(example, out=report.append)
    assert not report, "".join(report)
