"""Paths of the chains through numbers of topics and scores (Chang and Fisher, 2014, figure 4a).

Chains from different initial states that end in the same region agree; chains that end in different regions do not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_posterior, traced
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.posterior.draw import kept_by_all
from franchise.posterior.intervals import even_rows
from franchise.validation import check_choice

_FITTED = "log_likelihood_per_observation"


class JointPath(NamedTuple):
    """The paths of all chains."""

    words: str  # name of the score on an axis, with its unit
    topics: list[np.ndarray]  # a chain: numbers of topics, where the score is known
    scores: list[np.ndarray]  # a chain: the score
    warmup: list[int]  # a chain: how many of these are of the warm-up


def joint_path_data(
    posterior: Posterior[Any], held_out: Corpus | None = None, score: str | None = None
) -> JointPath:
    """Return what `joint_path` draws: number of topics and score of every chain, sweep after sweep.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    held_out : Corpus, optional
        Documents that were not sampled: the score is that of `franchise.diagnostics.held_out_trace`, of the stored
        draws. There are none in the warm-up.
    score : str, optional
        Name of the score in ``posterior.trace`` [default: the log likelihood per observation].

    Returns
    -------
    JointPath
        For each chain, the numbers of topics and the scores, warm-up first.

    Raises
    ------
    InputError
        If both `held_out` and `score` are given, or the trace has no such score.

    Examples
    --------
    >>> data = fr.plots.joint_path_data(posterior)
    >>> len(data.topics), data.warmup
    (2, [100, 100])
    """
    posterior = check_posterior(posterior)
    if held_out is not None and score is not None:
        raise InputError(f"held_out and score={score!r} must not both be given. Remove one.")
    return _of_trace(posterior, score or _FITTED) if held_out is None else _of_held_out(posterior, held_out)


def _of_trace(posterior: Posterior[Any], score: str) -> JointPath:
    topics = traced(posterior, "n_topics")
    scores = traced(posterior, check_choice("score", score, posterior.trace))
    known = np.isfinite(scores.values) & np.isfinite(topics.values)
    return JointPath(
        scores.words.replace("\n", " "),
        [row[has] for row, has in zip(topics.values, known, strict=True)],
        [row[has] for row, has in zip(scores.values, known, strict=True)],
        [int(has[: scores.warmup].sum()) for has in known],
    )


def _of_held_out(posterior: Posterior[Any], held_out: Corpus) -> JointPath:
    from franchise.diagnostics.held_out import held_out_trace

    scores = held_out_trace(posterior, held_out)
    first, *_ = kept_by_all(posterior)
    numbers = [kept.draw for kept in even_rows(first, scores.shape[1])]
    topics = list(posterior.trace["n_topics"][:, numbers])
    return JointPath("held-out log probability per word, nats", topics, list(scores), [0] * len(topics))


@style.drawing
def joint_path(
    posterior: Posterior[Any],
    held_out: Corpus | None = None,
    score: str | None = None,
    axes: AxesLike = None,
) -> Figure:
    """Draw the number of topics against a score, one line per chain; start and end are marked, draws are dots.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    held_out : Corpus, optional
        Documents that were not sampled: the score is that of `franchise.diagnostics.held_out_trace`, of the stored
        draws. There are none in the warm-up.
    score : str, optional
        Name of the score in ``posterior.trace`` [default: the log likelihood per observation].
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If both `held_out` and `score` are given, or the trace has no such score.

    Examples
    --------
    >>> figure = fr.plots.joint_path(posterior)
    >>> figure.savefig("path.png")
    """
    data = joint_path_data(posterior, held_out, score)
    figure, (panel,) = style.panels_for(axes, 1, 1, 7.0, 4.4)
    for chain in range(len(data.topics)):
        _draw_path(panel, data, chain)
    everything = np.concatenate(data.topics)
    style.number_topics(panel, float(everything.min()), float(everything.max()))
    first = "start" if any(data.warmup) else "first draw"
    for face, words in (("white", first), (style.INK, "end")):
        panel.plot([], [], "o", color=style.INK, markerfacecolor=face, markersize=7, label=words)
    panel.legend(frameon=False, fontsize=style.SMALL)
    style.label(panel, "Number of topics and score of each chain, by sweep", "number of topics", data.words)
    return figure


def _draw_path(panel: Axes, data: JointPath, chain: int) -> None:
    topics, scores, warmup = data.topics[chain], data.scores[chain], data.warmup[chain]
    colour = style.chain_colour(chain)
    panel.plot(topics, scores, color=colour, linewidth=0.8, alpha=0.7, label=f"chain {chain}")
    panel.plot(topics[warmup:], scores[warmup:], ".", color=colour, markersize=2.5, alpha=0.5)
    edge: dict[str, Any] = {"color": colour, "markersize": 8, "zorder": 5}
    panel.plot(topics[:1], scores[:1], "o", markerfacecolor="white", markeredgewidth=1.8, **edge)
    panel.plot(topics[-1:], scores[-1:], "o", markeredgecolor="white", **edge)
