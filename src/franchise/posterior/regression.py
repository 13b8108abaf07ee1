"""Regression of the prevalence of topics on metadata, draw by draw (docs/theory/effects.md#sec-effects).

For every stored draw the prevalence of a consensus topic in each document is regressed on the design matrix by
least squares.  Coefficients are drawn from their sampling distribution; all draws and chains are pooled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.posterior.draw import count_documents
from franchise.posterior.topic_similarity import NONE

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus
    from franchise.running.kept_draws import KeptDraw

MEASURES = ("observations", "proportions")
ERRORS = ("robust", "classical")

LEAST_DRAWS = 4000
"""Smallest total number of drawn coefficients."""

_BLOCK = 2048  # documents whose products of columns are in memory at a time
_DEPENDENT = 1e-9  # of a column that the others explain, the share of its length that may be left
_ALONE = 1e-8  # one minus the leverage of a document that determines a coefficient by itself


class Coefficients(NamedTuple):
    """Least squares estimates of T topics and p columns, and draws of the coefficients."""

    mean: np.ndarray  # float64 (T, p): mean over stored draws
    draws: np.ndarray  # float64 (draws, T, p)
    reliability: np.ndarray  # float64 (T,): docs/theory/effects.md#eq-effects-reliability


class LeastSquares(NamedTuple):
    """The parts of least squares that depend only on the design matrix."""

    solver: np.ndarray  # float64 (p, n): coefficients are solver @ y
    matrix: np.ndarray  # float64 (n, p)
    leverage: np.ndarray  # float64 (n,)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the residuals."""
        return len(self.matrix) - self.matrix.shape[1]

    @classmethod
    def of(cls, matrix: np.ndarray, names: list[str]) -> LeastSquares:
        """Check that the columns are independent, and fewer than the rows; InputError names a fault."""
        rows, columns = matrix.shape
        if rows <= columns:
            raise InputError(
                f"formula has {columns} coefficients for {rows} documents with all values. There must be more "
                f"documents than coefficients. Use fewer columns, fewer classes or s(x, df=2)."
            )
        lengths = np.linalg.norm(matrix, axis=0)
        orthogonal, triangle = np.linalg.qr(matrix / np.where(lengths > 0.0, lengths, 1.0))
        dependent = np.abs(np.diag(triangle)) < _DEPENDENT
        if dependent.any():
            raise InputError(
                f"formula: the column {names[int(dependent.argmax())]} follows from those before it, so its effect "
                f"cannot be separated from theirs. Remove it from the formula."
            )
        solver = np.linalg.solve(triangle, orthogonal.T) / lengths[:, None]
        return cls(solver, matrix, np.square(orthogonal).sum(axis=1))

    def covariance(self, residuals: np.ndarray, errors: str) -> np.ndarray:
        """Return the covariance of the coefficients of every topic, float64 (T, p, p), from residuals (n, T).

        docs/theory/effects.md#eq-effects-robust or docs/theory/effects.md#eq-effects-classical.  A document that is
        the only one of its class has no residual: there the classical variance is used.
        """
        columns = self.matrix.shape[1]
        variances = np.square(residuals).sum(axis=0) / self.freedom
        if errors == "classical":
            return variances[:, None, None] * (self.solver @ self.solver.T)
        left = 1.0 - self.leverage
        alone = left < _ALONE
        squares = np.square(residuals / np.where(alone, 1.0, left)[:, None])
        squares[alone] = variances
        total = np.zeros((residuals.shape[1], columns * columns))
        for begin in range(0, len(squares), _BLOCK):
            part = self.solver[:, begin : begin + _BLOCK]
            total += (
                squares[begin : begin + _BLOCK].T @ (part[:, None] * part[None]).reshape(columns**2, -1).T
            )
        return total.reshape(-1, columns, columns)


def regress(
    consensus: Consensus, groups: np.ndarray, squares: LeastSquares, measure: str, errors: str
) -> Coefficients:
    """Return the coefficients of all topics; rows of the design matrix are these groups."""
    repeats = -(-LEAST_DRAWS // len(consensus.draws))
    streams = Streams(consensus.posterior.seed, 0, 0, STREAMS.effects)
    shape = consensus.topic_count, squares.matrix.shape[1]
    draws, means = np.empty((len(consensus.draws), repeats, *shape)), np.zeros(shape)
    rng, reliability = streams.generator(1), Reliability.empty(len(groups), shape[0])
    for own, prevalence in zip(draws, prevalences(consensus, measure, streams.generator(0)), strict=True):
        observed = prevalence[groups]
        reliability.add(observed)
        estimate = squares.solver @ observed
        covariance = squares.covariance(observed - squares.matrix @ estimate, errors)
        own[:] = estimate.T + _draw_errors(covariance, squares.freedom, repeats, rng)
        means += estimate.T / len(draws)
    return Coefficients(means, draws.reshape(-1, *shape), reliability.value())


class Reliability(NamedTuple):
    """Return the variance between documents of the mean prevalence, divided by the mean variance of its draws.

    This is about the factor by which effects are pulled towards 0 (docs/theory/effects.md#eq-effects-reliability).
    """

    total: np.ndarray  # float64 (n, T): the sum over draws of deviations from the mean of documents
    variance: np.ndarray  # float64 (T,): the sum over draws of their variance
    draws: np.ndarray  # float64 (T,): draws that have the topic

    @classmethod
    def empty(cls, documents: int, topics: int) -> Reliability:
        """Start without draws."""
        return cls(np.zeros((documents, topics)), np.zeros(topics), np.zeros(topics))

    def add(self, prevalence: np.ndarray) -> None:
        """Add a draw, (n, T)."""
        deviations = prevalence - prevalence.mean(axis=0)
        self.total[:] += deviations
        self.variance[:] += deviations.var(axis=0)
        self.draws[:] += prevalence.any(axis=0)

    def value(self) -> np.ndarray:
        """Return the reliability of every topic; NaN where the prevalence is the same in all documents."""
        with np.errstate(invalid="ignore"):
            between = np.square(self.total / self.draws).mean(axis=0)
            return between / (self.variance / self.draws)


def _draw_errors(covariance: np.ndarray, freedom: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from Student's t with these covariances (T, p, p) as scales, float64 (count, T, p)."""
    values, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    normal = rng.standard_normal((count, *values.shape))
    scale = np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1, 1)))
    return np.asarray(np.einsum("tij,ctj->cti", roots, normal) * scale)


def prevalences(consensus: Consensus, measure: str, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the prevalence of every topic in every group, float64 (J, T), draw after draw.

    The share of the group's observations, or proportions drawn from their Dirichlet distribution given the draw.
    """
    data, topics = consensus.data, consensus.topic_count
    sizes = np.maximum(data.group_sizes, 1)[:, None]
    for draw, match in consensus.matched_draws:
        if measure == "observations":
            labels = np.where(match == NONE, topics, match)[draw.labels]
            yield count_documents(data, labels, topics + 1)[:, :-1] / sizes
        else:
            yield _drawn_proportions(consensus, draw.kept, match, rng)


def _drawn_proportions(
    consensus: Consensus, kept: KeptDraw, match: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    weights = consensus.posterior.proportion_weights(kept)
    total = np.zeros((len(weights), consensus.topic_count + 1))
    consensus.add_columns(total, match, np.exp(draw_dirichlets(weights, rng)))
    return total[:, :-1]
