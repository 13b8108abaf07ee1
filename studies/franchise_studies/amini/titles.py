"""Figure 3: titles of papers of three fields; each paper gets the topic most of its words have.

The DBLP titles of the paper: 894 papers of 2017, 189 stemmed words, from the folder `dblp_titles` of the data
folder (docword.txt.gz in the UCI form, labels.txt with one field a line).  Section 3.4 does not give the
concentrations for them; those of the synthetic data are taken, as in the authors' script for 100 papers (their last
script for the whole has gamma_0 = 2), and alpha_w = 1/W.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.readers import read_corpus
from franchise.errors import InputError
from franchise_studies.amini.curves import Curve, score
from franchise_studies.amini.samplers import METHODS, run_method

if TYPE_CHECKING:
    import pandas as pd

FOLDER, COUNTS, LABELS = "dblp_titles", "docword.txt.gz", "labels.txt"
SUBSET = 100  # papers, figure 3 (left)
WINDOW = (90, 110)  # sweeps, "about 100"
QUALITY = (0.35, 0.40)  # NMI that the paper has by then


class Titles(NamedTuple):
    """Papers as bags of words, and the field of each."""

    corpus: Corpus
    fields: np.ndarray  # int (papers,)


@dataclass(frozen=True)
class Task:
    """One chain to be run."""

    papers: int
    number: int  # of the run: another seed, and another choice of papers
    method: str


@dataclass(frozen=True)
class Run:
    """One chain."""

    task: Task
    curve: Curve


def load_titles(data: Path) -> Titles:
    """The titles; an InputError names what is missing or damaged."""
    counts, labels = (data / FOLDER / name for name in (COUNTS, LABELS))
    for path in (counts, labels):
        if not path.is_file():
            raise InputError(
                f"data (or FRANCHISE_DATA): {str(path)!r} is missing; leave data out to do without the titles."
            )
    corpus = read_corpus(counts)
    fields = np.unique(labels.read_text(encoding="utf-8").split(), return_inverse=True)[1]
    if len(fields) != corpus.n_documents:
        raise InputError(
            f"{str(labels)!r} has {len(fields)} labels, but there are {corpus.n_documents} papers."
        )
    return Titles(corpus, fields)


def tasks_of(titles: Titles, runs: int) -> list[Task]:
    """Chains on all papers and on a random choice of SUBSET."""
    papers = titles.corpus.n_documents
    return [
        Task(size, number, method)
        for size in sorted({papers, min(SUBSET, papers)}, reverse=True)
        for number in range(runs)
        for method in METHODS
    ]


def run_chain(task: Task, titles: Titles, sweeps: int) -> Run:
    """One chain, its papers' topics scored against their fields."""
    chosen = choose_papers(titles, task)
    prior = 1.0 / chosen.corpus.vocabulary_size
    labels = run_method(task.method, chosen.corpus, prior, sweeps, task.number)
    offsets = np.asarray(chosen.corpus.offsets)
    return Run(task, score(np.array([vote(row, offsets) for row in labels]), chosen.fields))


def choose_papers(titles: Titles, task: Task) -> Titles:
    """A random choice of this many papers, another for each number; all of them if that is how many there are."""
    rng = np.random.default_rng(task.number)
    papers = np.sort(rng.permutation(titles.corpus.n_documents)[: task.papers])
    offsets, words = np.asarray(titles.corpus.offsets), np.asarray(titles.corpus.observations)
    parts = [words[offsets[paper] : offsets[paper + 1]] for paper in papers]
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    corpus = Corpus(np.concatenate(parts), bounds, titles.corpus.vocabulary)
    return Titles(corpus, titles.fields[papers])


def vote(labels: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The topic that most words of each paper have; of several, the first. Papers without words: topic 0."""
    paper = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    votes = np.zeros((len(offsets) - 1, int(labels.max()) + 1), np.int64)
    np.add.at(votes, (paper, labels), 1)
    return votes.argmax(axis=1)


def choose(runs: list[Run], **wanted: Any) -> list[Run]:
    """The runs whose tasks have these settings."""
    return [run for run in runs if all(getattr(run.task, name) == value for name, value in wanted.items())]


def in_window(curve: Curve) -> float:
    """The mean NMI about sweep 100; NaN if the chain is shorter."""
    return curve.between(*WINDOW) if curve.sweeps[-1] >= WINDOW[0] else np.nan


def table_of_settings(runs: list[Run]) -> pd.DataFrame:
    """One row a number of papers and a method: NMI about the paper's sweep 100, and late."""
    import pandas as pd

    rows = []
    for papers, method in dict.fromkeys((run.task.papers, run.task.method) for run in runs):
        curves = [run.curve for run in choose(runs, papers=papers, method=method)]
        rows.append(
            {
                "papers": papers,
                "sampler": method,
                "runs": len(curves),
                "settled at sweep": float(np.median([curve.settled for curve in curves])),
                f"NMI, sweeps {WINDOW[0]} to {WINDOW[1]}": float(
                    np.mean([in_window(curve) for curve in curves])
                ),
                "NMI, second half": float(np.mean([curve.level for curve in curves])),
                "topics of papers": float(np.mean([curve.last_topics for curve in curves])),
            }
        )
    return pd.DataFrame(rows)
