"""What one try of split-merge costs, beside a sweep of CRF Gibbs, on one core, in one run.

    python benchmarks/split_merge.py [--data FOLDER]

The chain starts from 100 topics and makes 20 sweeps first (with prior 0.3 it then has about 100); rounds of sweeps
and of tries alternate, and the medians are reported.
"""

from __future__ import annotations

import argparse
import statistics
import warnings

from corpora import load_corpus

import franchise as fr
from franchise.moves import Concentrations, CrfGibbs, SplitMerge

ROUNDS, SWEEPS, TRIES = 5, 6, 100


class Run:
    """A chain that is run on, one list of moves after another."""

    def __init__(self, corpus: fr.Corpus, prior: float, topics: int) -> None:
        self.corpus, self.family = corpus, fr.Categorical(corpus.vocabulary_size, prior)
        self.state: object = topics
        self.seconds([CrfGibbs(), Concentrations()], 20)

    def seconds(self, moves: list[fr.moves.Move], sweeps: int) -> float:
        """Seconds of a sweep of these moves."""
        options = {"chains": 1, "workers": 1, "progress": False, "warmup": 0, "alpha": 1.0, "gamma": 1.0}
        self.posterior = fr.sample(
            self.corpus, self.family, sampler=moves, start=self.state, draws=sweeps, **options
        )
        self.state = self.posterior.states[0]
        seconds = self.posterior.trace["seconds"][0]
        return float((seconds[-1] - seconds[0]) / (sweeps - 1))


def main() -> None:
    warnings.filterwarnings("ignore", message="no move in the sampler draws")  # tries are timed by themselves
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", help="folder with the AP corpus in ap/ (or set FRANCHISE_DATA)")
    name, corpus = load_corpus(parser.parse_args().data)
    print(f"{name}: {corpus}")
    for prior, scans, needed in ((0.3, 0, " (needed: 5%)"), (0.1, 0, ""), (0.5, 0, ""), (0.3, 3, "")):
        run = Run(corpus, prior, topics=100)
        sweeps, tries = [], []
        for _ in range(ROUNDS):
            sweeps.append(run.seconds([CrfGibbs()], SWEEPS))
            tries.append(run.seconds([SplitMerge(TRIES, scans)], 3) / TRIES)
        sweep, one_try = statistics.median(sweeps), statistics.median(tries)
        trace = run.posterior.trace
        topics, tables = trace["n_topics"][0, -1], trace["n_tables"][0, -1]
        print(
            f"  prior {prior}, scans {scans}: {topics} topics, {tables} tables; "
            f"a sweep {sweep * 1e3:.0f} ms, a try {one_try * 1e3:.2f} ms = {one_try / sweep:.1%} of it{needed}; "
            f"{trace['split_merge_tables'].mean() / TRIES:.0f} tables and "
            f"{trace['split_merge_observations'].mean() / TRIES:.0f} words a try"
        )


if __name__ == "__main__":
    main()
