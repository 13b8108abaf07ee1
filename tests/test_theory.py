"""The theory pages: labels are unique, links resolve, and every citation in the code has a label."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
THEORY = ROOT / "docs" / "theory"
CODE = ("src", "tests", "studies", "benchmarks", "examples")
FEWEST = 40
"""At least this many citations of the pages are in the code."""

TARGET = re.compile(r"^\(([a-z0-9-]+)\)=\s*$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CITATION = re.compile(r"docs/theory/([A-Za-z0-9_-]+)\.md(?:#([A-Za-z0-9_-]+))?")
OLD = re.compile(
    r"\balgorithms(?:\.md)?(?:\s+page\b|,?\s+(?:section\s+)?\d+(?:\.\d+)?\b)"
    r"|\barchitecture,\s+section\s+\d",
    re.IGNORECASE,
)
"""Citations of design notes that are not part of the repository; they may be broken over two lines."""


def without_code(text: str) -> str:
    """Return a page without fenced code, inline code and formulas; admonitions keep their text."""
    text = re.sub(r"^```(?!\{admonition\})[a-z{].*?^```\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]+`|\$[^$]+\$", "", text)


def pages() -> dict[str, str]:
    """Return the text of every theory page by its name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(THEORY.glob("*.md"))}


def targets() -> dict[str, list[str]]:
    """Return the labels of every page in order."""
    return {name: TARGET.findall(text) for name, text in pages().items()}


def sources() -> list[tuple[Path, str]]:
    """Return every Python file of the repository that may cite the pages, with its text."""
    paths = [path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]
    return [(path, path.read_text(encoding="utf-8")) for path in paths if path != Path(__file__).resolve()]


def citations() -> list[tuple[str, str, str | None]]:
    """Return file, page and label of every citation in the code."""
    return [
        (str(path.relative_to(ROOT)), f"{page}.md", label or None)
        for path, text in sources()
        for page, label in CITATION.findall(re.sub(r"\n[ \t#]*", " ", text))
    ]


def test_there_are_pages():
    assert "index.md" in pages()


def test_labels_are_unique():
    counts = Counter(label for labels in targets().values() for label in labels)
    assert counts
    assert [label for label, count in counts.items() if count > 1] == []


def test_labels_have_a_known_prefix():
    labels = [label for found in targets().values() for label in found]
    wrong = [label for label in labels if not label.startswith(("eq-", "sec-"))]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(pages()))
def test_every_formula_has_one_label(name):
    """A displayed formula follows its target line, and an ``eq-`` target is followed by a formula."""
    lines = pages()[name].splitlines()
    opening = False
    wrong = []
    for number, line in enumerate(lines):
        label = TARGET.match(line)
        if line.strip() == "$$":
            opening = not opening
            if opening and not (number and lines[number - 1].startswith("(eq-")):
                wrong.append(f"{name}:{number + 1}: formula without a label")
        elif label and label.group(1).startswith("eq-") and lines[number + 1].strip() != "$$":
            wrong.append(f"{name}:{number + 1}: {label.group(1)} is not before a formula")
    assert not opening, f"{name}: a formula is not closed"
    assert wrong == []


@pytest.mark.parametrize("name", sorted(pages()))
def test_no_tag_is_beside_broken_lines(name):
    r"""Sphinx wraps a formula with a double backslash in an environment that has no tags; \cr breaks lines, too."""
    formulas = re.findall(r"\$\$(.*?)\$\$", pages()[name], re.DOTALL)
    assert [formula for formula in formulas if r"\tag" in formula and r"\\" in formula] == []


def test_every_page_is_linked_from_the_index():
    index = pages()["index.md"]
    linked = {link.split("#")[0] for link in LINK.findall(without_code(index))}
    listed = {f"{name}.md" for name in index.rpartition("```{toctree}")[2].split()}
    others = set(pages()) - {"index.md"}
    assert sorted(others - linked) == []
    assert sorted(others - listed) == []


@pytest.mark.parametrize("name", sorted(pages()))
def test_links_between_pages_resolve(name):
    known = targets()
    broken = []
    for link in LINK.findall(without_code(pages()[name])):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, label = link.partition("#")
        page = path or name
        if not (THEORY / page).is_file() or (label and label not in known.get(page, [])):
            broken.append(link)
    assert broken == []


def test_citations_name_a_page_and_a_label():
    """Every citation has a page and a label, and the label is on that page."""
    known = targets()
    broken = [
        f"{file}: docs/theory/{page}#{label}"
        for file, page, label in citations()
        if label not in known.get(page, [])
    ]
    assert broken == []


def test_there_are_enough_citations():
    assert len(citations()) >= FEWEST


def test_no_citation_of_the_old_kind_remains():
    remaining = [
        f"{path.relative_to(ROOT)}: {' '.join(match.group(0).split())}"
        for path, text in sources()
        for match in OLD.finditer(re.sub(r"\n[ \t#]*", " ", text))
    ]
    assert remaining == []
