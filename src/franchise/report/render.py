"""From the data of a page to the one file that is the page.

Nothing in it comes from elsewhere: styles, script and data are inside.  A Content-Security-Policy lets the browser
run that script only, by its hash, and load nothing at all, so that whatever a text of the corpus holds, it stays
text.  What the template shows is escaped by jinja2; all else is data, JSON in which no tag can begin, and gets into
the page as text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "dom.js",
    "charts.js",
    "topics.js",
    "map.js",
    "documents.js",
    "search.js",
    "tables.js",
    "main.js",
)


def render(texts: dict[str, Any], data: dict[str, Any]) -> str:
    """The page.

    Parameters
    ----------
    texts : dict
        What the template says, plain text.
    data : dict
        What the script shows: plain values.
    """
    environment = _environment()
    style, script = _read("style.css"), _script()
    return str(
        environment.from_string(_read("template.html.j2")).render(
            **texts,
            policy=_policy(style, script),
            style=_trusted(style),
            script=_trusted(script),
            data=_trusted(as_json(data)),
        )
    )


def as_json(data: Any) -> str:
    """Data as JSON in which no tag or comment of HTML can begin or end."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _environment() -> Any:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _trusted(ours: str) -> Any:
    """What goes into the page as it stands: written by us, or escaped for its place already."""
    from markupsafe import Markup

    return Markup(ours)


def _script() -> str:
    """All scripts as one, with names of their own."""
    parts = "\n".join(_read(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _policy(style: str, script: str) -> str:
    """Only this style and this script; no request to anywhere."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (files("franchise.report") / "page" / name).read_text(encoding="utf-8")
