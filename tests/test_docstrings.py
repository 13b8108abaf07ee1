"""Examples in the docstrings of public names run and print what they promise (`python -m tests.docstrings`)."""

from __future__ import annotations

import doctest
import inspect
import re
import textwrap

import pytest

import franchise as fr
from tests.support.public_names import PAGES, Public, public_names

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


def test_every_listed_name_is_found():
    names = {public.name for public in NAMES}
    assert {f"franchise.{name}" for name in ("sample", "HDP", "moves.CrfGibbs", "plots.traces")} <= names
    assert "franchise.posterior.base.Posterior.set_labels" in names
    assert "franchise.posterior.htmm_posterior.HTMMPosterior.interval" in names
    assert "franchise.moves.split_merge.SplitMerge.kernel" not in names


class Documented(fr.moves.Move):
    """A move that is documented badly."""

    def step(self, model, state, streams, executor):
        """Leave the parameters to the base class."""

    def shares(self, level):
        """returns something"""
        if level > 1.0:
            raise fr.InputError("level must be at most 1.")
        return level


def test_what_a_docstring_lacks():
    """What is required depends on what a name is: a method of its own, or one that the base class documents."""
    failures = pytest.importorskip("tests.docstrings").failures
    own = Public("Documented.shares", Documented.shares, Documented)
    assert {code for code, _ in failures(own)} == {"PR01", "RS01", "RT01", "SS02", "SS03", "SS05"}
    assert not list(failures(Public("Documented.step", Documented.step, Documented)))
    assert {code for code, _ in failures(Public("shares", Documented.shares))} >= {"EX01"}
