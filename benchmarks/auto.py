"""What `sampler="auto"` rests on: samplers on data of many kinds, for the same time (docs/theory/auto.md#sec-auto).

    python benchmarks/auto.py [--data FOLDER] [--parts NAME ...] [--samplers NAME ...] [--seconds S]
                              [--documents N] [--workers N] [--seed S] [--rows FILE.csv] [--markdown]

Each sampler runs four chains from its own default starts. Pilot runs find how many sweeps fit into the time; half
of them are warm-up. Times are processor seconds of one chain, initial states included, so other work on the machine
does not count; observations other than words and counts get half of the time. "auto" draws what the sampler
that it chooses draws, so that sampler's row is marked with a star instead.

R-hat    of the number of topics, of the log joint and of the entropy of topic shares, over the four chains (n/a if
         nothing changes)
held out log density of an observation, in nats, given half of its group: a tenth of the groups, mean over chains,
         each scored by itself, with the standard error over chains; higher is better
shared   share of the observations in consensus topics that all chains have (both from eight draws of each chain)

Each row is printed when it is known. With --rows, rows are added to a file, and those that are there are not run
again. FOLDER (or FRANCHISE_DATA) has the corpora ap, 20newsgroups, nips_uci and dblp_titles; what is missing is
named and skipped.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from choi import NEWSGROUPS, clean_post
from corpora import find_file, random_texts
from mixing import JUDGED, in_all_chains, planted_counts, sample

import franchise as fr
from franchise.data.splits import hold_out_documents
from franchise.data.text_options import LETTERS
from franchise.diagnostics.convergence import summarise
from franchise.model.hdp_model import Model
from franchise.priors import ALPHA, GAMMA
from franchise.samplers.registry import SAMPLERS as NAMED_SAMPLERS
from franchise.samplers.registry import choose
from franchise.sampling import make_model

SAMPLERS = ("direct", "parallel", "slice", "split-merge")
MOST_SWEEPS = 20_000
SCORED_DRAWS = 8
SEED = 3


class Problem(NamedTuple):
    """Groups to sample, and groups to predict."""

    data: Any
    held_out: Any
    family: Any = None

    @property
    def model(self) -> Model:
        """The model with the default concentrations."""
        return make_model(self.data, self.family, ALPHA, GAMMA)

    @property
    def size(self) -> str:
        """The size of the data that are sampled."""
        unit = "words" if isinstance(self.data, fr.Corpus) else "observations"
        return f"{self.data.n_groups:,} groups, {self.data.n_observations:,} {unit}"


class Asked(NamedTuple):
    """Where corpora are, and the most documents to take of one."""

    data: str | None
    documents: int


def text(corpus: fr.Corpus) -> Problem:
    return Problem(*hold_out_documents(corpus))


def counts(table: np.ndarray) -> Problem:
    return text(fr.Corpus.from_matrix(table))


def planted(family: fr.Family, draw: Callable[..., np.ndarray], groups: int, size: int) -> Problem:
    """Groups that mix ten planted topics; `draw` makes the observations of a list of topics."""
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.full(10, 0.5), groups)
    topics = np.concatenate([rng.choice(10, size, p=row) for row in weights])
    observations, numbers = draw(rng, topics), np.repeat(np.arange(groups), size)
    held = numbers % 10 == 9
    train, held_out = (fr.Groups(observations[chosen], numbers[chosen]) for chosen in (~held, held))
    return Problem(train, held_out, family)


def presidents() -> fr.Corpus:
    """The addresses of each president as one document: the length of a book."""
    addresses = fr.datasets.load("sotu")
    books: dict[str, list[int]] = {}
    for number, president in enumerate(addresses.metadata["president"]):
        tokens = addresses.observations[addresses.offsets[number] : addresses.offsets[number + 1]]
        books.setdefault(president, []).extend(tokens.tolist())
    return fr.Corpus.from_tokens(books.values(), addresses.vocabulary)


def titles(asked: Asked) -> fr.Corpus:
    rows = random_texts(find_file(asked.data, "dblp_titles/all_titles.jsonl.gz"), "title", asked.documents)
    return fr.Corpus.from_texts(rows, min_df=3, token_pattern=LETTERS)


def newsgroups(asked: Asked) -> fr.Corpus:
    rows = random_texts(find_file(asked.data, NEWSGROUPS), "text", asked.documents)
    return fr.Corpus.from_texts(
        [clean_post(row) for row in rows], min_df=5, max_df=0.2, token_pattern=LETTERS
    )


def papers(asked: Asked) -> fr.Corpus:
    corpus = fr.read_corpus(find_file(asked.data, "nips_uci/docword.nips.txt.gz"))
    return corpus.subset(np.arange(corpus.n_documents) < asked.documents)


def mutations() -> np.ndarray:
    """Counts in the thousands: 100 groups, 96 categories, 10 planted topics."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(96, 0.1), 10)
    weights = rng.dirichlet(np.full(10, 0.5), 100)
    return np.array([rng.multinomial(5000, row @ topics) for row in weights])


def markers(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return (rng.random((len(topics), 20)) < rng.beta(0.5, 0.5, (10, 20))[topics]).astype(int)


def numbers(rng: np.random.Generator, topics: np.ndarray) -> np.ndarray:
    return rng.poisson(rng.gamma(2.0, 10.0, 10)[topics])


def points(unit: float) -> Callable[..., np.ndarray]:
    """Return a function that draws points around ten centres, as measured in some unit."""
    return lambda rng, topics: (
        unit * (rng.normal(0.0, 4.0, (10, 2))[topics] + rng.normal(0.0, 1.0, (len(topics), 2)))
    )


PARTS: dict[str, Callable[[Asked], Problem]] = {
    "addresses": lambda _: text(fr.datasets.load("sotu")),
    "paragraphs": lambda _: text(fr.datasets.load("sotu", unit="paragraph")),
    "ap": lambda asked: text(fr.read_corpus(find_file(asked.data, "ap/ap.dat.gz"))),
    "newsgroups": lambda asked: text(newsgroups(asked)),
    "nips": lambda asked: text(papers(asked)),
    "titles": lambda asked: text(titles(asked)),
    "books": lambda _: text(presidents()),
    "counts-apart": lambda _: counts(planted_counts(0.1, SEED)[0]),
    "counts-overlap": lambda _: counts(planted_counts(0.5, SEED)[0]),
    "counts-large": lambda _: counts(mutations()),
    "poisson": lambda _: planted(fr.Poisson(), numbers, 50, 100),
    "poisson-many": lambda _: planted(fr.Poisson(), numbers, 400, 100),
    "bernoulli": lambda _: planted(fr.Bernoulli(20), markers, 20, 50),
    "gaussian": lambda _: planted(fr.GaussianFull(2), points(1.0), 50, 100),
    "gaussian-0.1": lambda _: planted(fr.GaussianFull(2), points(0.1), 50, 100),
    "gaussian-100": lambda _: planted(fr.GaussianFull(2), points(100.0), 50, 100),
    "gaussian-free": lambda _: planted(fr.GaussianIndependent(2), points(1.0), 50, 100),
}


# --- one row ------------------------------------------------------------------------------------------------


def sweeps_within(seconds: float, run: Callable[[int], float]) -> int:
    """Return how many sweeps a chain does in this time; `run` does some of them and returns the seconds it took.

    The last two pilot runs tell how long a sweep takes. Sweeps get faster as topics disperse: the last run is long.
    """
    run(2)  # compiles
    few = 4
    before = run(few)
    while True:
        many = few * int(np.clip(0.6 * seconds / before, 2, 8))
        spent = run(many)
        if spent >= 0.4 * seconds or many >= MOST_SWEEPS:
            sweep = max((spent - before) / (many - few), 0.25 * spent / many)
            return min(MOST_SWEEPS, max(8, many + int((seconds - spent) / sweep)))
        few, before = many, spent


def score(posterior: fr.Posterior, held_out: Any) -> tuple[float, float]:
    """Return the mean over chains of the held-out score, and its standard error."""
    scores = [
        fr.diagnostics.group_completion(replace(posterior, snapshots=[kept]), held_out)
        for kept in posterior.snapshots
    ]
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / math.sqrt(len(scores)))


def measure(problem: Problem, sampler: str, seconds: float, asked: argparse.Namespace) -> dict[str, Any]:
    """Run the chains of one sampler; return its row of the table."""

    def run(sweeps: int, chains: int = 4) -> tuple[fr.Posterior, float]:
        warmup = sweeps // 2
        settings = {
            "family": problem.family,
            "sampler": sampler,
            "workers": asked.workers,
            "seed": asked.seed,
        }
        return sample(problem.data, chains=chains, warmup=warmup, draws=sweeps - warmup, **settings)

    sweeps = sweeps_within(seconds, lambda sweeps: run(sweeps, chains=2)[1])
    posterior, spent = run(sweeps)
    r_hat = summarise({name: np.asarray(posterior.trace[name], float) for name in JUDGED})["r_hat"]
    kept = [draws[:: math.ceil(len(draws) / SCORED_DRAWS)] for draws in posterior.snapshots]
    posterior = replace(posterior, snapshots=kept)
    held_out, error = score(posterior, problem.held_out)
    return {
        "sweeps": sweeps,
        "topics": float(np.mean(posterior.trace["n_topics"])),
        **{f"R-hat {name}": float(r_hat[name]) for name in JUDGED},
        "held out": held_out,
        "error": error,
        "shared": in_all_chains(posterior),
        "seconds": spent,
    }


# --- the table ----------------------------------------------------------------------------------------------

HEADER = [
    *("data", "size", "sampler", "sweeps", "topics", "R-hat topics", "log joint", "entropy"),
    *("held out", "shared", "seconds"),
]
WIDTHS = (16, 32, 15, 7, 7, 13, 10, 8, 18, 7, 8)


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row as it is shown; rows from a file are all text."""
    values = {name: float(row[name]) for name in ("topics", "held out", "error", "shared", "seconds")}
    r_hats = [float(row[f"R-hat {name}"]) for name in JUDGED]
    return [
        row["data"],
        row["size"],
        row["sampler"] + (" *" if row["auto"] else ""),
        str(row["sweeps"]),
        f"{values['topics']:.1f}",
        *("n/a" if math.isnan(r) else "> 10" if r > 10 else f"{r:.2f}" for r in r_hats),
        f"{values['held out']:.4f} ± {values['error']:.4f}",
        f"{values['shared']:.0%}",
        f"{values['seconds']:.1f}",
    ]


def in_columns(row: list[str]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(row, WIDTHS, strict=True)).rstrip()


def in_markdown(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [HEADER, ["---"] * len(HEADER), *rows])


class Rows:
    """The rows so far, those of a file included; every new one is added to it."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        if path is not None and path.is_file():
            with path.open(newline="") as file:
                self.rows = list(csv.DictReader(file))

    def find(self, **known: Any) -> dict[str, Any] | None:
        """Return the first row with these values, if there is one."""
        same = (row for row in self.rows if all(str(row[name]) == str(known[name]) for name in known))
        return next(same, None)

    def add(self, row: dict[str, Any]) -> None:
        """Add a row."""
        self.rows.append(row)
        if self.path is not None:
            new = not self.path.is_file()
            with self.path.open("a", newline="") as file:
                writer = csv.DictWriter(file, list(row))
                if new:
                    writer.writeheader()
                writer.writerow(row)


def rows_of(part: str, asked: argparse.Namespace, rows: Rows) -> Iterator[dict[str, Any]]:
    """Yield a row for each sampler that applies to the data: from the file, or measured now."""
    problem = PARTS[part](Asked(asked.data, asked.documents))
    model = problem.model
    seconds = asked.seconds if isinstance(problem.data, fr.Corpus) else asked.seconds / 2
    for sampler in asked.samplers:
        conjugate = fr.Ability.CONJUGATE in model.family.abilities
        if not conjugate and "non_conjugate" not in NAMED_SAMPLERS[sampler].properties:
            continue
        known = {
            "data": part,
            "size": problem.size,
            "sampler": sampler,
            "budget": seconds,
            "seed": asked.seed,
        }
        row = rows.find(**known)
        if row is None:
            row = known | measure(problem, sampler, seconds, asked)
            rows.add(row)
        yield row | {"auto": choose(model).sampler.name == sampler}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with ap, 20newsgroups, nips_uci and dblp_titles")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--samplers", nargs="+", choices=NAMED_SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--seconds", type=float, default=15.0, help="per chain; half of it for Groups")
    parser.add_argument("--documents", type=int, default=5000, help="at most, of newsgroups, nips and titles")
    parser.add_argument("--workers", type=int, help="threads [default: all cores]")
    parser.add_argument("--seed", type=int, default=SEED, help="of the chains; the data stay the same")
    parser.add_argument("--rows", type=Path, help="CSV file of rows, to resume from")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table at the end")
    asked = parser.parse_args()
    rows, shown = Rows(asked.rows), []
    print(in_columns(HEADER), flush=True)
    for part in asked.parts:
        try:
            for row in rows_of(part, asked, rows):
                shown.append(cells(row))
                print(in_columns(shown[-1]), flush=True)
        except SystemExit as missing:
            print(f"{part}: skipped; {missing}", flush=True)
    if asked.markdown:
        print(f"\n{in_markdown(shown)}")


if __name__ == "__main__":
    main()
