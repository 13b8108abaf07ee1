"""Simulation-based calibration (Talts et al., 2018) of `fr.sample`, with its own starts, warm-up and moves.

Concentrations, the prior of the topics, topics and words are drawn from the model, and the words are fitted.  If
the draws are from the posterior, the rank of the true value of any quantity among L independent draws is uniform on
0, ..., L.  Ties are broken at random.

Ranks of many replications are judged by their cumulative distribution: the smallest binomial tail probability at
any rank (Säilynoja et al., 2022), compared with that of uniform ranks.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

import franchise as fr
from franchise.moves.compose import in_turn
from franchise.running.chain import Chain
from tests.support.geweke import JointTest, example_model

ALPHA, GAMMA = fr.Gamma(4.0, 2.0), fr.Gamma(6.0, 2.0)

QUANTITIES = ("alpha", "gamma", "prior", "n_topics", "n_tables", "topic_entropy", "log_joint")

SIMULATED = 100_000
"""Sets of uniform ranks that p-values are computed from."""


@dataclass(frozen=True)
class Calibration:
    """A model to draw data from, and the length of the runs that fit them, in two chains."""

    documents: int
    length: int  # words of a document
    vocabulary: int
    prior: float | fr.Gamma
    warmup: int = 500
    draws: int = 5  # of each of two chains
    thin: int = 100  # by the autocorrelations, draws are then nearly independent

    def ranks(self, replications: int) -> pd.DataFrame:
        """Return the ranks of the true values, one row per replication."""
        return pd.DataFrame([self._ranks_of(number) for number in range(replications)])

    def _ranks_of(self, number: int) -> dict[str, int]:
        rng = np.random.default_rng([7, number])
        family, words = fr.Categorical(self.vocabulary, self.prior), self.documents * self.length
        offsets = list(range(0, words + 1, self.length))
        shape = example_model(family, np.zeros(words, np.int64), offsets, ALPHA, GAMMA)
        model, state = JointTest(shape, in_turn()).draw_forward(rng)
        truth = Chain(model, in_turn(), state, seed=number, number=0, warmup=0).measure()
        posterior = fr.sample(
            fr.Groups(model.data.observations, np.repeat(np.arange(self.documents), self.length)),
            family,
            alpha=ALPHA,
            gamma=GAMMA,
            warmup=self.warmup,
            draws=self.draws,
            thin=self.thin,
            seed=number,
            workers=1,
            progress=False,
        )
        return {
            name: rank_of(truth[name], posterior.trace[name].ravel(), rng)
            for name in QUANTITIES
            if name in truth
        }

    def judge(self, replications: int) -> pd.DataFrame:
        """Return the mean rank from 0 to 1 and the p-value of every quantity."""
        table, most = self.ranks(replications), 2 * self.draws
        rows = {name: (ranks.mean() / most, p_value(ranks, most)) for name, ranks in table.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["mean rank", "p_value"])


def rank_of(truth: float, draws: np.ndarray, rng: np.random.Generator) -> int:
    """Return the number of draws below the truth, with ties broken at random; rounding makes no difference."""
    ties = np.isclose(draws, truth, rtol=1e-12, atol=0.0)
    return int((draws[~ties] < truth).sum() + rng.integers(ties.sum() + 1))


def p_value(ranks: pd.Series, most: int) -> float:
    """Return the probability that uniform ranks on 0, ..., `most` are as far from uniform as these."""
    seen = np.bincount(ranks, minlength=most + 1)[None]
    as_far = np.count_nonzero(_of_uniform_ranks(len(ranks), most) <= _smallest_tails(seen)[0])
    return (1 + as_far) / (1 + SIMULATED)


def _smallest_tails(counts: np.ndarray) -> np.ndarray:
    """The smallest binomial tail probability of the cumulated counts, (rows,), of counts by rank (rows, ranks)."""
    from scipy.stats import binom

    size, ranks = int(counts[0].sum()), counts.shape[1]
    shares, at_most = np.arange(1, ranks) / ranks, np.arange(size + 1)[:, None]
    tails = np.minimum(binom.cdf(at_most, size, shares), binom.sf(at_most - 1, size, shares))
    return tails[np.cumsum(counts, axis=1)[:, :-1], np.arange(ranks - 1)].min(axis=1)


@functools.cache
def _of_uniform_ranks(size: int, most: int) -> np.ndarray:
    """The same of uniform ranks, (SIMULATED,)."""
    uniform = np.random.default_rng(0).multinomial(size, np.full(most + 1, 1.0 / (most + 1)), SIMULATED)
    return _smallest_tails(uniform)
