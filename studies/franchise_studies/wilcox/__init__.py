"""Wilcox, "Hidden topic Markov models" (2017): the experiments of chapter 7 done again.

`simulation` makes the twelve data sets, `fits` fits and measures each, `decoding` is the thesis' Viterbi recursion
as printed, `nips` the comparison with LDA; `printed` has the thesis' numbers, `size` says how much is run, `tables`
and `figures` show, `statements` judges, `page` writes.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from franchise_studies.output import StudyFolder
from franchise_studies.running import Tell, versions
from franchise_studies.wilcox import nips, page, statements
from franchise_studies.wilcox.fits import (
    CROSSED,
    SINGLE,
    Effort,
    Outcome,
    cross_priors,
    measure_kept,
    single_starts,
)
from franchise_studies.wilcox.simulation import Design, designs
from franchise_studies.wilcox.size import FULL, QUICK, Size

_SHARE_OF_SIMULATED = 0.75


def run(
    folder: StudyFolder, quick: bool, data: Path | None, on_progress: Tell, size: Size | None = None
) -> Path:
    """Do the study and write its page; go on with it if it was interrupted in this folder.

    What was measured of each data set is kept in the folder; tables, figures and the page are written when all is.
    """
    size = size or (QUICK if quick else FULL)
    papers = None if data is None else nips.load_papers(data, size)
    facts = {"quick": quick, "size": asdict(size), "papers": None if papers is None else _facts(papers)}
    folder.keep_chains(facts)
    outcomes = _measure_simulated(folder, size, on_progress)
    single = single_starts(_design(size, SINGLE), folder.chains / "single-starts.json")
    effort = Effort(size.starts, size.small, fitting=False)
    crossed = cross_priors(_design(size, CROSSED), effort, folder.chains / "crossed-priors.json")
    fits = [] if papers is None else _fit_papers(folder, papers, size, on_progress)
    folder.make()
    page.write_simulated(folder, size, outcomes, crossed)
    senses: dict[str, list[str]] = {}
    if papers is not None:
        page.write_papers(folder, papers, fits, size)
        table = nips.table_of_senses(fits, papers.train.vocabulary)
        senses = {fit.name: table["words"][table["model"] == fit.name].tolist() for fit in fits}
    folder.facts({"study": "wilcox", **facts, "versions": versions()})
    on_progress("page", 1.0)
    return folder.page(
        page.TITLE, page.introduction(size, quick, data), statements.judge(outcomes, single, fits, senses)
    )


def _facts(papers: nips.Papers) -> dict[str, int]:
    return {
        "documents": papers.train.n_documents,
        "test documents": papers.test.n_documents,
        "terms": papers.train.vocabulary_size,
        "words": papers.train.n_tokens,
    }


def _design(size: Size, number: int) -> Design:
    return designs(size.documents, size.trained)[number - 1]


def _measure_simulated(folder: StudyFolder, size: Size, on_progress: Tell) -> dict[str, list[Outcome]]:
    outcomes: dict[str, list[Outcome]] = {}
    tasks = size.tasks()
    for place, (reading, design, effort) in enumerate(tasks):
        on_progress(f"data set {design.number}, {reading}", _SHARE_OF_SIMULATED * place / len(tasks))
        name = f"{reading.replace(' ', '-')}-{design.number}.json"
        outcomes.setdefault(reading, []).append(measure_kept(design, effort, folder.chains / name))
    return outcomes


def _fit_papers(folder: StudyFolder, papers: nips.Papers, size: Size, on_progress: Tell) -> list[nips.Fitted]:
    fits = []
    for name, share in ((nips.HTMM_NAME, _SHARE_OF_SIMULATED), (nips.LDA_NAME, 0.85)):
        on_progress(f"NIPS papers, {name}", share)
        fits.append(nips.fit_kept(name, papers, size, folder.chains / f"papers-{name.lower()}.npz"))
    return fits
