"""Refuse a release whose tag, version, changelog, citation and address do not agree (see workflows/release.yml)."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """Return the version in `franchise/__init__.py`."""
    source = (ROOT / "src/franchise/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)[1]


def problems(tag: str, address: str) -> list[str]:
    """Return what must be fixed before the release of a tag from the repository at an address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    studies = (ROOT / "studies/pyproject.toml").read_text(encoding="utf-8")
    new = version()
    checks = {
        f"the tag must be v{new}; it is {tag}": tag == f"v{new}",
        f"CHANGELOG.md must have the heading ## [{new}] with a date": re.search(
            rf"^## \[{re.escape(new)}\] - \d{{4}}-\d\d-\d\d$", _text("CHANGELOG.md"), re.MULTILINE
        ),
        f"CITATION.cff must have the version {new}": f"\nversion: {new}\n" in _text("CITATION.cff"),
        f"studies/pyproject.toml must need franchise {new}": f'"franchise[plot]=={new}"' in studies,
        f"Source in pyproject.toml must be {address}": project["urls"]["Source"] == address,
    }
    return [problem for problem, passed in checks.items() if not passed]


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    found = problems(
        os.environ["GITHUB_REF_NAME"], f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
    )
    sys.exit("\n".join(found) if found else 0)
