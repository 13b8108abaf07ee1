"""What the site needs beyond Sphinx: formulas in docstrings, and links to labels.

Indented blocks in docstrings are formulas or code, and are shown as they stand.
Theory pages link to labels as `page.md#label`, which also works on code hosts; MyST wants `#label`.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

INCLUDED = re.compile(r"\]\(([A-Z_]+\.md)\)")
LABEL = re.compile(r"\]\((?:[\w./-]+\.md)?#((?:eq|sec)-[\w-]+)\)")


def mark_blocks(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Make every indented block after an empty line a literal block; sections of numpydoc are not indented so."""
    marked: list[str] = []
    before, literal = 0, False  # indentation of the last paragraph; whether a block is open
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        after_gap = number > 0 and not lines[number - 1].strip()
        if line.strip():
            if not literal and after_gap and indent >= before + 4 and not _is_literal(marked):
                marked += [" " * before + ".. code-block:: text", ""]
                literal = True
            elif literal and indent <= before:
                literal = False
            if not literal:
                before, line = indent, _escaped(line)
        marked.append(line)
    lines[:] = marked


def _escaped(line: str) -> str:
    """Return a line in which an underscore at the end of a word, or a bar, is no markup: n_topics_ or |W|."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"(?<=\w)(_)(?!\w)|(\|)", r"\\\g<0>", part) for part in parts[::2]]
    return "`".join(parts)


def _is_literal(lines: list[str]) -> bool:
    """Whether the last paragraph announces a block by itself."""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last.endswith("::") or last.startswith((">>>", "..."))


def link_labels(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Shorten links to labels."""
    source[0] = LABEL.sub(r"](#\1)", source[0])


def link_included(_app: Sphinx, _path: Path, _docname: str, source: list[str]) -> None:
    """Let links of files in the repository's root lead to pages that include such files, or to docs."""
    source[0] = INCLUDED.sub(lambda match: match.group(0).lower().replace("_", "-"), source[0])
    source[0] = source[0].replace("](docs/", "](")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx; before numpydoc, which reads docstrings at priority 500."""
    app.connect("autodoc-process-docstring", mark_blocks, priority=400)
    app.connect("source-read", link_labels)
    app.connect("include-read", link_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
