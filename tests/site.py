"""Checks of the documentation site after it is built, for `make docs-test`.

    python -m tests.site docs/_build/html

Links between pages lead to a page and a place on it, nothing is loaded from outside, and every public name has a
page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import franchise as fr

MODULES = ("families", "moves", "diagnostics", "plots", "engines", "datasets")
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
"""Attributes of tags that a browser loads; of a link only some relations are loaded."""

LOADED_LINKS = {"stylesheet", "preload", "icon", "shortcut icon", "modulepreload", "prefetch"}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag has."""
        values = {name: value or "" for name, value in attributes}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in LOADED_LINKS:
            self.loads.append(values.get("href", ""))
        if tag in LOADS and LOADS[tag] in values:
            self.loads.append(values[LOADS[tag]])


def read_pages(folder: Path) -> dict[Path, Page]:
    """Return all pages of the site that readers see."""
    return {path: Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield every link to a file or a place that the site does not have."""
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.name}: {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.name}: {link} has no such place"


def loads_from_outside(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield everything that a browser would load from another server."""
    for path, page in pages.items():
        for link in page.loads:
            if urlsplit(link).netloc or urlsplit(link).scheme in ("http", "https"):
                yield f"{path.name}: loads {link}"


def public_names() -> Iterator[str]:
    """Yield every public name, with its module."""
    yield from (f"franchise.{name}" for name in fr.__all__)
    for module in MODULES:
        yield from (f"franchise.{module}.{name}" for name in getattr(fr, module).__all__)


def undocumented(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield every public name that no page describes, under this name or that of the module it comes from."""
    places = set().union(*(page.places for page in pages.values()))
    for name in public_names():
        short = name.rpartition(".")[2]
        known = {
            f"franchise.{short}",
            name,
            name.replace("franchise.", "franchise.data.", 1),
            f"module-{name}",
        }
        known.add(f"module-franchise.data.{short}")
        if not known & places:
            yield f"{name} has no page"


def main(folder: Path) -> int:
    """Print every fault; exit code 1 if there is one."""
    pages = read_pages(folder.resolve())
    faults = [*broken_links(pages), *loads_from_outside(pages), *undocumented(pages)]
    print(*faults, f"site: {len(pages)} pages, faults: {len(faults)}", sep="\n")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
