"""What a study leaves behind: one folder with tables (CSV and Markdown), figures (PNG and SVG) and a page."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError
from franchise.storage.atomic import read_errors_named, write_atomically
from franchise.validation import check_folder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

AGREES, IN_PART, DIFFERS, OPEN = "agrees", "agrees in part", "differs", "not decided"


@dataclass(frozen=True)
class Statement:
    """Something the paper says, and what was measured."""

    paper: str
    where: str  # section or figure of the paper
    measured: str
    verdict: str  # AGREES, IN_PART, DIFFERS or OPEN


@dataclass
class StudyFolder:
    """The folder of a study, and the page as it grows.

    The folder must be new or empty; or hold the chains of the same study (`keep_chains`), which then goes on
    where it was interrupted.
    """

    path: Path
    study: str = ""
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_folder("out", self.path)
        if not self.path.exists() or not any(self.path.iterdir()):
            return
        if self._kept().get("study") != self.study:
            raise InputError(
                f"out must be a new or empty folder; {str(self.path)!r} holds something. Give another name."
            )

    @property
    def chains(self) -> Path:
        """Where a study keeps its chains while it runs."""
        return self.path / "chains"

    def keep_chains(self, facts: dict[str, Any]) -> None:
        """Make the folder for chains, or find it as an earlier call with the same facts has left it.

        InputError if the chains there are those of the study at another size or with other data.
        """
        facts = {"study": self.study, **json.loads(json.dumps(facts))}
        kept = self._kept()
        if kept and kept != facts:
            other = ", ".join(name for name in facts if facts[name] != kept.get(name))
            raise InputError(
                f"out: {str(self.path)!r} holds chains of this study with other settings ({other}). "
                f"Give another name, or the settings they were started with."
            )
        try:
            self.chains.mkdir(parents=True, exist_ok=True)
            write_atomically(self._marker, json.dumps(facts, indent=1).encode())
        except OSError as error:
            raise InputError(f"out: {str(self.path)!r} cannot be made ({error.strerror}).") from error

    @property
    def _marker(self) -> Path:
        return self.chains / "study.json"

    def _kept(self) -> dict[str, Any]:
        """The facts of the study whose chains are in the folder; nothing if there are none."""
        if not self._marker.is_file():
            return {}
        with read_errors_named(self._marker):
            return dict(json.loads(self._marker.read_text(encoding="utf-8")))

    def make(self) -> None:
        """Make the folder; tables and figures of a study that goes on are written again."""
        try:
            for name in ("tables", "figures"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"out: {str(self.path)!r} cannot be made ({error.strerror}).") from error

    def heading(self, text: str) -> None:
        """Begin a section of the page."""
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """A paragraph of the page."""
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def table(self, name: str, frame: pd.DataFrame, caption: str, on_page: bool = True) -> None:
        """Write a table as CSV and Markdown; show it on the page too, unless it is long."""
        frame.to_csv(self.path / "tables" / f"{name}.csv", index=False)
        (self.path / "tables" / f"{name}.md").write_text(
            f"{caption}\n\n{markdown_table(frame)}", encoding="utf-8"
        )
        links = f'<a href="tables/{name}.csv">CSV</a>, <a href="tables/{name}.md">Markdown</a>'
        if on_page:
            self.parts.append(_html_table(frame))
        self.parts.append(f'<p class="caption">{html.escape(caption)} ({links})</p>')

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """Write a figure as PNG and SVG, and show it on the page."""
        for kind in ("png", "svg"):
            figure.savefig(self.path / "figures" / f"{name}.{kind}", dpi=130, bbox_inches="tight")
        figure.clear()
        self.parts.append(
            f'<figure><img src="figures/{name}.png" alt="{html.escape(caption)}">'
            f'<figcaption>{html.escape(caption)} (<a href="figures/{name}.svg">SVG</a>)</figcaption></figure>'
        )

    def facts(self, facts: dict[str, Any]) -> None:
        """Write what the study was run with."""
        (self.path / "study.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")

    def page(self, title: str, introduction: list[str], statements: list[Statement]) -> Path:
        """Write the page: first the paper's statements beside what was measured, then all the rest."""
        import pandas as pd

        frame = pd.DataFrame([vars(statement) for statement in statements])
        frame = frame[["paper", "where", "measured", "verdict"]]
        frame.columns = pd.Index(["The paper says", "Where", "Measured here", "Verdict"])
        frame.to_csv(self.path / "tables" / "statements.csv", index=False)
        (self.path / "tables" / "statements.md").write_text(markdown_table(frame), encoding="utf-8")
        lead = "".join(f"<p>{html.escape(text)}</p>" for text in introduction)
        body = f"<h1>{html.escape(title)}</h1>{lead}{_html_table(frame)}{''.join(self.parts)}"
        page = self.path / "index.html"
        page.write_text(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f"<style>{_STYLE}</style></head><body>{body}</body></html>\n",
            encoding="utf-8",
        )
        return page


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22313f; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem; line-height: 1.25 } h2 { margin-top: 2.5rem; font-size: 1.25rem }
table { border-collapse: collapse; font-size: .88rem; margin: 1rem 0; display: block; overflow-x: auto }
th { text-align: left; border-bottom: 2px solid #3b7ea1 }
td { border-bottom: 1px solid #d5dde3; vertical-align: top }
th, td { padding: .3rem .7rem .3rem 0 } td.number { text-align: right; font-variant-numeric: tabular-nums }
figure { margin: 1.5rem 0 } img { max-width: 100% } figcaption, .caption { font-size: .88rem; color: #54656f }
a { color: #2b6a8c }
"""


def markdown_table(frame: pd.DataFrame) -> str:
    """A table in Markdown."""
    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    rows += [[_in_words(value).replace("|", "\\|") for value in row] for row in frame.itertuples(index=False)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _html_table(frame: pd.DataFrame) -> str:
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame.columns)
    body = ""
    for row in frame.itertuples(index=False):
        cells = (
            f'<td class="{"words" if isinstance(value, str) else "number"}">{html.escape(_in_words(value))}</td>'
            for value in row
        )
        body += f"<tr>{''.join(cells)}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _in_words(value: Any) -> str:
    """A cell as people read it: few digits, and a dash where there is nothing."""
    import pandas as pd

    if pd.isna(value):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
