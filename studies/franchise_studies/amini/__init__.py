"""Amini et al. (2019), "Exact slice sampler for hierarchical Dirichlet processes": section 3.4 done again.

`synthetic` is figure 2, `titles` figure 3, `curves` what both plot; `printed` is their Algorithm 1 as it stands,
`exactness` measures it and the corrected slice sampler by enumeration; `samplers` runs them all, `figures` draws,
`statements` judges.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from franchise.parallel.threads import Threads
from franchise_studies.amini import exactness, figures, statements, synthetic, titles
from franchise_studies.amini.curves import SHARE
from franchise_studies.amini.samplers import ALPHA, CAP, GAMMA, READING_OF
from franchise_studies.output import StudyFolder
from franchise_studies.running import Tell, side_by_side, versions


@dataclass(frozen=True)
class Size:
    """How much is run."""

    sizes: tuple[int, ...]  # J = W of figure 2
    gaussian_sizes: tuple[int, ...]
    repetitions: int  # data sets of each setting
    of_large: int  # of the largest size, for Algorithm 1
    sweeps: int  # of the exact samplers
    printed_sweeps: int  # of Algorithm 1
    title_runs: int
    cases: int  # tiny data sets that are enumerated
    tiny_sweeps: int

    def sweeps_of(self, method: str) -> int:
        """How long a chain is."""
        return self.printed_sweeps if method in READING_OF else self.sweeps


FULL = Size(
    sizes=synthetic.SIZES,
    gaussian_sizes=(10, 20, 50),
    repetitions=5,
    of_large=2,
    sweeps=1000,
    printed_sweeps=200,
    title_runs=5,
    cases=3,
    tiny_sweeps=30_000,
)
QUICK = Size(
    sizes=(10, 20),
    gaussian_sizes=(10,),
    repetitions=1,
    of_large=1,
    sweeps=300,
    printed_sweeps=110,
    title_runs=1,
    cases=1,
    tiny_sweeps=4_000,
)

TITLE = "Amini et al.'s slice sampler for the hierarchical Dirichlet process, done again"


def run(
    folder: StudyFolder, quick: bool, data: Path | None, on_progress: Tell, size: Size | None = None
) -> Path:
    """Do the study and write its page; nothing is written before all is measured."""
    size = size or (QUICK if quick else FULL)
    papers = None if data is None else titles.load_titles(data)
    _compile()
    runs = _run_synthetic(size, on_progress)
    capped = [synthetic.count_capped(of, size.printed_sweeps) for of in size.sizes]
    title_runs = [] if papers is None else _run_titles(size, papers, on_progress)
    measured = _run_exactness(size, on_progress)
    folder.make()
    _write_exactness(folder, measured)
    _write_synthetic(folder, runs)
    _write_titles(folder, title_runs)
    folder.facts(
        {
            "study": "amini",
            "quick": quick,
            "size": asdict(size),
            "alpha": ALPHA,
            "gamma": GAMMA,
            "titles": papers is not None,
            "cores": Threads().workers,
            "versions": versions(),
        }
    )
    return folder.page(
        TITLE, _introduction(size, quick), statements.judge(runs, capped, title_runs, measured)
    )


def _compile() -> None:
    """Run each kernel once, so that no two threads compile the same one."""
    tiny = synthetic.tasks_of((2,), repetitions=1, of_large=1) + synthetic.gaussian_tasks_of((2,), 1)
    for task in tiny:
        if task.length == min(synthetic.LENGTHS):
            synthetic.run_chain(task, 1)


def _run_synthetic(size: Size, on_progress: Tell) -> list[synthetic.Run]:
    tasks = synthetic.tasks_of(size.sizes, size.repetitions, size.of_large)
    tasks += synthetic.gaussian_tasks_of(size.gaussian_sizes, size.repetitions)
    return side_by_side(
        lambda task, _: synthetic.run_chain(task, size.sweeps_of(task.method)),
        tasks,
        lambda share: on_progress("figure 2, synthetic data", 0.6 * share),
    )


def _run_titles(size: Size, papers: titles.Titles, on_progress: Tell) -> list[titles.Run]:
    return side_by_side(
        lambda task, _: titles.run_chain(task, papers, size.sweeps_of(task.method)),
        titles.tasks_of(papers, size.title_runs),
        lambda share: on_progress("figure 3, titles", 0.6 + 0.1 * share),
    )


def _run_exactness(size: Size, on_progress: Tell) -> list[exactness.Measured]:
    return side_by_side(
        lambda task, _: exactness.measure(task, size.tiny_sweeps),
        exactness.tasks_of(exactness.CASES[: size.cases]),
        lambda share: on_progress("enumeration", 0.7 + 0.3 * share),
    )


# --- what is written ----------------------------------------------------------------------------------------


def _introduction(size: Size, quick: bool) -> list[str]:
    words = [
        "Arash Amini, Marina Paez, Lizhen Lin and Zahra Razaee break the tables of each group, and the topics, off "
        "sticks and sample both by slices, so that only finitely many are ever looked at. This page measures "
        "whether their Algorithm 1 is exact, and repeats the experiments of their section 3.4.",
        "Corrected, the slice sampler draws slices after the sticks they belong to and admits what equation "
        "(12) admits. Beside it: Algorithm 1 as printed; a second reading of it, in which tables and topics are "
        "admitted as long as what is left of the stick reaches the slice (their remark A.1, and what their "
        "released program does, github.com/aaamini/hdpslicer); and Gibbs sampling in the Chinese restaurant "
        "franchise (CRF), which is exact. All start with one topic, as line 2 of Algorithm 1 does, and the "
        "the corrected slice sampler also with every word in one of 25 topics at random.",
        f"Synthetic data: {size.repetitions} data sets of each setting (the paper: a single one), {size.sweeps} "
        f"sweeps of the exact samplers and {size.printed_sweeps} of Algorithm 1, whose caps begin with {CAP} as in "
        f"the authors' program; it has only {size.of_large} data sets with J = W = {synthetic.LARGE}, since it is "
        "slow there. NMI is divided by the geometric mean of the entropies. The figures are pictures without "
        "numbers, so what the text says of them is judged.",
    ]
    if quick:
        words.append("This is the quick form: it shows what comes out, but is too small to decide much.")
    return words


def _write_exactness(folder: StudyFolder, measured: list[exactness.Measured]) -> None:
    folder.heading("Is it exact?")
    folder.text(
        "Tiny data sets of two groups, whose posterior over all 52 or 203 set partitions is enumerated; visit "
        "frequencies of long runs are held against it. The last three rows of each put the print right in part: "
        "slices drawn again as soon as their sticks are (lines 8 and 13 use old ones), and only what has at least "
        "the weight of the slice admitted (lines 18 and 20 admit all places up to the last such one); with both "
        "only the caps are left of the print's ways."
    )
    folder.table(
        "exactness",
        exactness.table_of_measured(measured),
        "Total variation from the exact posterior; what independent draws of the run's effective number have on "
        "average, and hardly ever exceed; and the number of topics.",
    )
    folder.figure(
        "exactness",
        figures.draw_distances(measured),
        "Total variation (dots; red: not exact) beside that of independent draws of the same effective number.",
    )


def _write_synthetic(folder: StudyFolder, runs: list[synthetic.Run]) -> None:
    folder.heading("Figure 2: data from the model itself")
    folder.text(
        f"J groups of n words, W = J words, alpha_0 = {ALPHA:g}, gamma_0 = {GAMMA:g}, topics ~ Dirichlet(1/W); the "
        "smaller n are the first words of the same groups. A chain has settled when its NMI first has "
        f"{SHARE:.0%} of its own mean over the second half of the sweeps. That says how soon it stops "
        "rising, not that it is where it should be: CRF Gibbs, which is exact as well, is drawn beside it for that."
    )
    folder.table(
        "synthetic",
        synthetic.table_of_settings(runs),
        "By setting and sampler: the median sweep at which chains settle; NMI, its standard deviation over sweeps "
        "and the number of topics over the second half, means over data sets.",
    )
    folder.table("synthetic_points", synthetic.table_of_points(runs), "Every point.", on_page=False)
    folder.figure(
        "figure2",
        figures.draw_figure2(runs),
        "Figure 2: the corrected slice sampler. Faint: single data sets.",
    )
    folder.figure("figure2_samplers", figures.draw_methods(runs), "Figure 2 for all samplers.")
    folder.figure(
        "figure2_gaussian",
        figures.draw_gaussian(runs),
        "The same for Gaussian mixtures in two dimensions, which the paper leaves out. Corrected slice sampler.",
    )


def _write_titles(folder: StudyFolder, runs: list[titles.Run]) -> None:
    folder.heading("Figure 3: titles of papers")
    if not runs:
        folder.text(
            "Left out: the titles do not come with the package. Give a data folder that holds "
            f"{titles.FOLDER}/{titles.COUNTS} and {titles.FOLDER}/{titles.LABELS} (--data FOLDER)."
        )
        return
    folder.text(
        "DBLP titles of 2017 in three fields, stemmed; a paper gets the topic that most of its words have. "
        f"alpha_0 = {ALPHA:g}, gamma_0 = {GAMMA:g}, alpha_w = 1/W: section 3.4 does not give them for the titles."
    )
    folder.table(
        "titles",
        titles.table_of_settings(runs),
        "NMI of the papers' topics with their fields, means over runs.",
    )
    folder.figure(
        "figure3",
        figures.draw_figure3(runs),
        "Figure 3: a random choice of papers and all of them; the band is what the paper has by about 100 sweeps.",
    )
