"""Wang & Blei, "A split-merge MCMC algorithm for the hierarchical Dirichlet process": section 4 done again.

`synthetic` is section 4.1 (two topics nearly identical), `text` section 4.2 (three corpora against time); `corpora`
gets the texts, `figures` draws, `statements` judges.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from franchise.data.corpus import Corpus
from franchise.moves import Concentrations, CrfGibbs, SplitMerge
from franchise.parallel.threads import Threads
from franchise.sampling import sample
from franchise_studies.judging import FEWEST
from franchise_studies.output import StudyFolder
from franchise_studies.running import Tell, side_by_side, versions
from franchise_studies.sources import NamedCorpus
from franchise_studies.wang_blei import figures, statements, synthetic, text
from franchise_studies.wang_blei.corpora import load_corpora


@dataclass(frozen=True)
class Size:
    """How much is run."""

    seeds: int  # of the synthetic study
    sweeps: int
    runs: int  # of each corpus and prior
    text_sweeps: int
    priors: tuple[float, ...]
    documents: int | None  # at most this many of each corpus


FULL = Size(seeds=20, sweeps=1000, runs=5, text_sweeps=500, priors=text.PRIORS, documents=None)
QUICK = Size(seeds=4, sweeps=250, runs=2, text_sweeps=60, priors=(0.2, 0.5), documents=300)

TITLE = "Wang & Blei's split-merge experiments, done again"


def run(
    folder: StudyFolder, quick: bool, data: Path | None, on_progress: Tell, size: Size | None = None
) -> Path:
    """Do the study and write its page; nothing is written before all is measured."""
    size = size or (QUICK if quick else FULL)
    corpora = load_corpora(data, size.documents)
    _compile()
    chains = _run_synthetic(size, on_progress)
    runs = _run_text(size, corpora, on_progress)
    tries = _run_tries(size, corpora, on_progress)
    found = text.differences(runs)
    folder.make()
    _write_synthetic(folder, chains)
    _write_text(folder, corpora, runs, tries, found)
    _draw_text(folder, size, runs, found)
    _write_similarities(folder, max(size.priors), runs)
    folder.facts(
        {
            "study": "wang-blei",
            "quick": quick,
            "size": asdict(size),
            "corpora": [named.facts() for named in corpora],
            "tries": text.TRIES,
            "picks": text.PICKS,
            "cores": Threads().workers,
            "versions": versions(),
        }
    )
    return folder.page(
        TITLE,
        _introduction(size, quick, data),
        statements.judge(chains, runs, tries, found, max(size.priors)),
    )


def _compile() -> None:
    """Run every kernel once, so that no chain's clock counts compilation."""
    corpus = Corpus.from_tokens([["a", "b", "a"], ["b", "c"], ["c", "a"]])
    moves = [CrfGibbs(sparse=False), CrfGibbs(sparse=True), SplitMerge(), Concentrations()]
    sample(corpus, sampler=moves, draws=2, warmup=0, chains=1, progress=False)


def _run_synthetic(size: Size, on_progress: Tell) -> list[synthetic.Run]:
    tasks = [
        (seed, start, method)
        for seed in range(size.seeds)
        for start in synthetic.STARTS
        for method in synthetic.METHODS
    ]
    return side_by_side(
        lambda task, _: synthetic.run_chain(task, size.sweeps),
        tasks,
        lambda share: on_progress("section 4.1, synthetic data", 0.1 * share),
    )


def _run_text(size: Size, corpora: list[NamedCorpus], on_progress: Tell) -> list[text.TextRun]:
    by_name = {named.name: named.corpus for named in corpora}
    tasks = [
        text.Task(name, prior, number, method)
        for number in range(size.runs)
        for name in by_name
        for prior in size.priors
        for method in text.METHODS
    ]
    return side_by_side(
        lambda task, stopped: text.run_chain(task, by_name[task.corpus], size.text_sweeps, stopped),
        tasks,
        lambda share: on_progress("section 4.2, text", 0.1 + 0.8 * share),
    )


def _run_tries(size: Size, corpora: list[NamedCorpus], on_progress: Tell) -> list[dict[str, Any]]:
    by_name = {named.name: named.corpus for named in corpora}
    tasks = [
        text.TriesTask(name, prior, picks, scans)
        for picks, scans in text.VARIANTS
        for name in by_name
        for prior in size.priors
    ]
    sweeps = min(size.text_sweeps, text.SPLIT_MERGE_SWEEPS)
    return side_by_side(
        lambda task, _: text.count_tries(task, by_name[task.corpus], sweeps),
        tasks,
        lambda share: on_progress("section 4.2, acceptance", 0.9 + 0.1 * share),
    )


# --- what is written ----------------------------------------------------------------------------------------


def _introduction(size: Size, quick: bool, data: Path | None) -> list[str]:
    words = [
        "Chong Wang and David Blei split and merge topics of the hierarchical Dirichlet process by sequentially "
        "allocated tables, beside Gibbs sampling in the Chinese restaurant franchise. This page repeats the "
        "experiments of their section 4 with franchise and sets what they say beside what was measured.",
        f"Synthetic data: {size.seeds} seeds, {size.sweeps} sweeps. Text: {size.runs} runs of {size.text_sweeps} "
        f"sweeps for each corpus and eta (the paper: 20); split-merge in the first {text.SPLIT_MERGE_SWEEPS} "
        f"sweeps, {text.TRIES} tries a sweep, tables picked by size, as in the authors' released program "
        "(github.com/blei-lab/hdp); for text the paper does not say.",
        "Best states are compared by the log joint per word, log p(x, z, m), since the paper says "
        "that what it plots "
        "is proportional to the posterior (and the authors' program plots the joint); the log likelihood "
        "log p(x | z), which too many topics make high, is shown beside it. A difference over runs "
        "counts if a t-test "
        "says so at 5 % in all, shared out over the settings; with fewer than "
        f"{FEWEST} runs or seeds nothing is decided.",
    ]
    if data is None:
        words.append("No data folder was given, so bundled text stands in for the paper's three corpora.")
    if quick:
        words.append("This is the quick form: it shows what comes out, but is too small to decide much.")
    return words


def _write_synthetic(folder: StudyFolder, chains: list[synthetic.Run]) -> None:
    folder.heading("Section 4.1: five topics, two of them nearly identical")
    folder.text(
        "100 documents of 50 words, five topics over twelve words, topics 1 and 2 nearly identical; eta 0.5, "
        "Gamma(0.1, 1) priors of alpha and gamma, one try a sweep. The paper shows the topics only as dots; the "
        "probabilities here are ours, and a document never mixes topics 1 and 2 (see five_topics in "
        "franchise.synthetic). A chain has found the topics when just five have at least 3 % of the "
        "words each, and "
        "each of these holds most words of another true topic. Three starts: sequential with alpha = gamma = 0.1, "
        "the means of their priors, as the authors' program does; sequential with 10, as this "
        "package does (a number chosen by the first 12 of these seeds); and with topics 1 and 2 together, the trap "
        "the paper describes."
    )
    folder.table(
        "synthetic",
        synthetic.table_of_methods(chains),
        "How many seeds find the five topics, and when; and in how many a split had been accepted by then.",
    )
    folder.table("synthetic_runs", synthetic.table_of_runs(chains), "Every chain.", on_page=False)
    folder.figure(
        "figure4a",
        figures.draw_difference_of_modes(chains),
        "Figure 4(a): difference of the best log joint (above) and log likelihood (below) per word so far; above "
        "zero Gibbs+SM is ahead. Grey: single seeds.",
    )
    pair = figures.slowest_pair(chains)
    folder.figure(
        "figure4b",
        figures.draw_shares(pair),
        "Figure 4(b): shares of the words in the largest topic, the two largest, ..., for the seed in which Gibbs "
        "took longest from topics 1 and 2 as one; dotted: the true shares.",
    )
    folder.figure(
        "figure4cd",
        figures.draw_topics(pair),
        "Figures 3, 4(c) and 4(d): the true topics, and those of each method at the best of its first "
        f"{synthetic.EARLY} sweeps, same seed; the size of a dot is the probability of the word.",
    )


def _write_text(
    folder: StudyFolder,
    corpora: list[NamedCorpus],
    runs: list[text.TextRun],
    tries: list[dict[str, Any]],
    found: list[text.Difference],
) -> None:
    import pandas as pd

    folder.heading("Section 4.2: text")
    folder.text(
        "80 % of the documents are trained on, 20 % held out (document completion: half of each held-out document "
        "is predicted from the other half). Gamma(1, 1) priors. Both methods start sequentially from the same "
        "state, seated with alpha = gamma = 1. Times are seconds of sampling, scoring left out, "
        f"{Threads().workers} chains at a time, one on each core."
    )
    folder.table(
        "corpora",
        pd.DataFrame([named.facts() for named in corpora]),
        "The corpora: stand-ins of the kinds the paper names, beside the paper's documents, terms and words.",
    )
    folder.table(
        "differences",
        text.table_of_differences(found),
        "Gibbs+SM less Gibbs, nats per word, with standard errors over runs: early (mean over the first half of "
        "the log time axis) and at the end.",
    )
    folder.table(
        "acceptance",
        text.table_of_acceptance(runs, tries),
        f"Proposals, and the share accepted: in the runs above, and in the first {text.SPLIT_MERGE_SWEEPS} sweeps "
        "with other ways to propose: tables picked uniformly or by size, with and without restricted scans.",
    )
    folder.table("text_runs", text.table_of_runs(runs), "Every chain.", on_page=False)


def _draw_text(
    folder: StudyFolder, size: Size, runs: list[text.TextRun], found: list[text.Difference]
) -> None:
    middle = size.priors[len(size.priors) // 2]
    folder.figure(
        "figure5",
        figures.draw_likelihoods(runs, middle),
        "Figure 5: the log joint and the log likelihood themselves.",
    )
    folder.figure(
        "figure6",
        figures.draw_differences(found, "best_joint"),
        "Figure 6: difference of the best log joint per word so far; grey: one standard error.",
    )
    folder.figure(
        "figure6b",
        figures.draw_differences(found, "best"),
        "Figure 6 again, of the best training log likelihood per word so far.",
    )
    folder.figure(
        "figure7",
        figures.draw_differences(found, "held_out"),
        "Figure 7: difference of the held-out log likelihood per word; grey: one standard error.",
    )


def _write_similarities(folder: StudyFolder, largest: float, runs: list[text.TextRun]) -> None:
    folder.table(
        "similarity",
        text.table_of_similarity(runs, largest),
        "How similar the topics of a corpus are: cosines between pairs of topics with at least 0.5 % "
        "of the words, in the last states of all runs of both methods.",
    )
    folder.figure("figure8", figures.draw_similarities(runs, largest), "Figure 8: similarities of topics.")
