"""Chang & Fisher, "Parallel sampling of HDPs using sub-cluster splits": section 6 done again, its bias measured.

`bias` enumerates, `bars` is section 6.1, `text` section 6.2, `ratios` takes the global moves apart; `following`
runs chains that can be interrupted, `corpora` gets the texts, `results` runs it all, `figures` draws, `statements`
judges, `page` writes.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from franchise.parallel.threads import Threads
from franchise_studies.chang_fisher import page, results, size, statements
from franchise_studies.chang_fisher.corpora import load_corpora
from franchise_studies.chang_fisher.following import ALPHA, GAMMA
from franchise_studies.chang_fisher.size import Size
from franchise_studies.output import StudyFolder
from franchise_studies.running import Tell, versions


def run(
    folder: StudyFolder, quick: bool, data: Path | None, on_progress: Tell, scale: Size | None = None
) -> Path:
    """Do the study and write its page; go on with it if it was interrupted in this folder.

    Chains are kept in the folder as they run; tables, figures and the page are written when all is measured.
    """
    scale = scale or (size.QUICK if quick else size.FULL)
    corpora = load_corpora(data, scale.documents, scale.enron)
    facts = {"quick": quick, "size": asdict(scale), "corpora": [named.facts() for named in corpora]}
    folder.keep_chains(facts)
    measured = results.measure(scale, corpora, folder.chains, on_progress)
    folder.make()
    page.write_parts(folder, scale, corpora, measured)
    folder.facts(
        {
            "study": "chang-fisher",
            **facts,
            "alpha": ALPHA,
            "gamma": GAMMA,
            "cores": Threads().workers,
            "versions": versions(),
        }
    )
    return folder.page(page.TITLE, page.introduction(scale, quick, data), statements.judge(measured, scale))
