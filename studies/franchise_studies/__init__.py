"""The papers' experiments, done again: one folder a paper, one command each (``franchise reproduce NAME``).

A study runs at one of a few sizes, gathers its results in tables, draws the paper's figures from them, and ends
with a page that sets what the paper says beside what was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from franchise.errors import InputError
from franchise.validation import check_choice
from franchise_studies.output import StudyFolder

STUDIES = {
    "amini": "franchise_studies.amini",
    "chang-fisher": "franchise_studies.chang_fisher",
    "frank": "franchise_studies.frank",
    "wang-blei": "franchise_studies.wang_blei",
    "wilcox": "franchise_studies.wilcox",
}
"""By name, the module whose `run(folder, quick, data, tell)` does the study."""


def reproduce(
    name: str,
    out: Path,
    quick: bool = False,
    data: Path | None = None,
    on_progress: Callable[[str, float], None] = lambda what, share: None,
) -> Path:
    """Do a paper's experiments again; everything is written to the folder `out`. Returns the page.

    Parameters
    ----------
    name : str
        Which study.
    out : path
        A new or empty folder; or, for a study that keeps its chains, the one it was interrupted in.
    quick : bool
        A small form that takes a minute or two, to see what comes out; its numbers prove little.
    data : path, optional
        Folder with the real corpora; without it, bundled texts are used.
    on_progress : callable
        Called now and then with what is being done and the share that is done.
    """
    module = import_module(STUDIES[check_choice("study", name, list(STUDIES))])
    _check_drawing()
    if data is not None and not Path(data).is_dir():
        raise InputError(
            f"data (or FRANCHISE_DATA) must be the folder with the corpora; {str(data)!r} is not a folder."
        )
    return module.run(StudyFolder(Path(out), name), quick, None if data is None else Path(data), on_progress)


def _check_drawing() -> None:
    try:
        import_module("matplotlib")
    except ImportError:
        raise InputError(
            "a study draws figures and needs matplotlib: pip install 'franchise[plot]'."
        ) from None
