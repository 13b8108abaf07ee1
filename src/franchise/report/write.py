"""Write a report: gather its data from a posterior, and render them as one HTML file.

The file is self-contained: it includes styles, script and data.  A Content-Security-Policy allows the browser to
run only this script, identified by its hash, and to load nothing, so that texts of the corpus cannot become code.
Jinja2 escapes what the template shows; all other data are JSON without tags, and the script adds them as text
nodes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from franchise.diagnostics.verdict import Verdict
from franchise.diagnostics.verdict import verdict as judge
from franchise.errors import InputError
from franchise.plots.checks import check_posterior
from franchise.posterior.base import Posterior
from franchise.posterior.consensus import Consensus
from franchise.posterior.document_tables import excerpt, typical_documents, words_that_tell
from franchise.report.chains import convergence_table, topic_counts, traces
from franchise.report.document_rows import Labelled, choose_documents, document_rows
from franchise.report.level_rows import level_rows
from franchise.report.prose import texts_of
from franchise.report.topic_rows import classes_of, topic_rows, topics_of_words, trend_of
from franchise.report.tree_rows import tree_rows
from franchise.storage.atomic import write_atomically
from franchise.validation import PathLike, check_folder, check_integer, describe

OnProgress = Callable[[str, float], None]
"""Function that is called with the current step and the fraction completed."""

SCRIPTS = ("dom", "charts", "topics", "tree", "map", "levels", "documents", "search", "tables", "main")


def render(texts: dict[str, Any], data: dict[str, Any]) -> str:
    """The page.

    Parameters
    ----------
    texts : dict
        What the template says, plain text.
    data : dict
        What the script shows: plain values.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{parts}}})();\n'  # one script, with names of its own
    ours = {"style": _read("style.css"), "script": script, "data": as_json(data)}
    policy = (  # only this style and this script; no request to anywhere
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(ours['style'])}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = environment.from_string(_read("template.html.j2"))
    trusted = {name: Markup(part) for name, part in ours.items()}  # written by us, or escaped already
    return str(template.render(**texts, **trusted, policy=policy))


def as_json(data: object) -> str:
    """Return data as JSON in which no tag or comment of HTML can begin or end."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (files("franchise.report") / "page" / name).read_text(encoding="utf-8")


DOCUMENTS = 3000
TYPICAL = 5  # documents shown with a topic


def write_report(
    posterior: Posterior[Any],
    path: PathLike,
    *,
    title: str | None = None,
    documents: int = DOCUMENTS,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Path:
    """Write what was found, and whether to trust it, as one HTML file that opens offline in any browser.

        posterior = fr.sample(fr.read_corpus("speeches/"))
        write_report(posterior, "report.html", title="Speeches")

    It has the verdict on convergence in plain words, the posterior of the number of topics, all consensus
    topics with words and intervals, a map of them, texts in the colours of their topics, and tables to save
    as CSV.  Texts of the corpus are in the file: whoever gets it can read them.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    path : path
        The file to write, such as "report.html"; an existing file is replaced.
    title : str, optional
        Report title [default: the number of documents].
    documents : int, default 3000
        The largest number of documents on the page with their texts: the most typical ones of each topic, and
        others at random. Fewer if they are long.
    seed : int, default 0
        Seed of the choice of documents. The same posterior and seed give the same file, byte for byte.
    progress : callable, optional
        Called with a description of the work and the proportion that is done.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    InputError
        If `path` is a folder or the file cannot be written there, or an argument is out of range.

    Examples
    --------
    >>> from franchise.report import write_report
    >>> write_report(posterior, "report.html", title="Sea and bread").name
    'report.html'
    """
    target = _check_target(path)
    documents = check_integer("documents", documents, minimum=1)
    seed = check_integer("seed", seed, minimum=0)
    if title is not None and not isinstance(title, str):
        raise InputError(f"title must be text; got {describe(title)}.")
    posterior = check_posterior(posterior)
    on_progress = progress or (lambda what, share: None)
    on_progress("comparing chains", 0.0)
    verdict = judge(posterior, compare=True)
    data = _data_of(posterior, verdict, documents, seed, on_progress)
    on_progress("writing the report", 0.95)
    page = render(texts_of(posterior, posterior.consensus_topics, verdict, title, data), data)
    on_progress("writing the report", 1.0)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, page.encode("utf-8", "replace"))
    return target


def _data_of(
    posterior: Posterior[Any], verdict: Verdict, documents: int, seed: int, on_progress: OnProgress
) -> dict[str, Any]:
    """Return the data of the page's script, as plain values."""
    on_progress("matching topics across draws", 0.1)
    consensus = posterior.consensus_topics
    on_progress("computing topics over time", 0.5)
    trend, classes = trend_of(posterior), classes_of(posterior)
    on_progress("computing words of topics", 0.6)
    rows = topic_rows(posterior, trend, classes)
    on_progress("colouring documents", 0.75)
    return {
        "unit": posterior.unit,
        "group": "document" if consensus.has_words else "group",
        "chains": posterior.n_chains,
        "counts": topic_counts(posterior),
        "topics": rows,
        "tree": tree_rows(posterior),
        "levels": level_rows(posterior),
        "trend": None if trend is None else {"by": trend.by, "names": trend.names},
        "classes": None if classes is None else {"by": classes.by, "names": classes.names},
        "words": topics_of_words(consensus),
        "documents": _documents(posterior, rows, documents, seed),
        "traces": traces(posterior, verdict),
        "convergence": convergence_table(verdict),
    }


def _documents(posterior: Posterior[Any], rows: list[dict[str, Any]], most: int, seed: int) -> dict[str, Any]:
    """Return the documents of the page, and add the typical ones to the rows of topics."""
    consensus = posterior.consensus_topics
    typical = [typical_documents(consensus, topic, TYPICAL) for topic in range(consensus.topic_count)]
    chosen = choose_documents(posterior.data, typical, most, seed)
    place = {document: number for number, document in enumerate(chosen)}
    for topic, (row, own) in enumerate(zip(rows, typical, strict=True)):
        shown = [document for document in own if document in place]
        row["documents"] = [place[document] for document in shown]
        row["excerpts"] = _excerpts(consensus, topic, shown)
    return {
        "total": posterior.data.n_groups,
        "fields": list(posterior.data.metadata),
        "list": document_rows(Labelled.of(consensus, chosen, posterior.unit == "sentence")),
    }


def _excerpts(consensus: Consensus, topic: int, documents: list[int]) -> list[str]:
    """Return the passage of each document that is most relevant to a topic; empty if there are no texts."""
    if not consensus.has_words or consensus.corpus.texts is None:
        return []
    weights = words_that_tell(consensus, topic)
    return [excerpt(consensus.corpus.texts[document], weights) for document in documents]


def _check_target(path: PathLike) -> Path:
    if not isinstance(path, (str, Path)):
        raise InputError(f'path must be the name of a file, such as "report.html"; got {describe(path)}.')
    target = Path(path)
    if target.is_dir():
        raise InputError(
            f"path must be a file; {str(target)!r} is a folder. Use {str(target / 'report.html')!r}."
        )
    check_folder("path", target.parent)
    return target
