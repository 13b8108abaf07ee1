"""Can a fit be trusted: what the traces say, in plain words.

Judged is what means the same in every draw, whatever its topics' numbers: how many topics there are, how
evenly they share the observations, how often two fixed observations are together, the log joint, alpha and gamma.

    converged        R-hat of everything is at most 1.02 and everything is worth 100 independent draws
    not converged    it is not; how many more draws would help is said
    stuck apart      chains stay where they are, each somewhere else: more draws will not bring them together
    too short        too little to tell: few draws, a single chain, or identical draws

Vehtari et al. (2021), "Rank-normalization, folding, and localization", ask for an R-hat of at most 1.01 and for 400
independent draws, of one quantity.  Here some ten are judged at once, of which the worst counts, and chance alone
brings that to 1.02 where draws are worth a few hundred.  With 100 independent draws a mean is known to a tenth of
the posterior's spread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.diagnostics.convergence import in_words, stuck_apart, summarise_with_notes

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.base import Posterior

CONVERGED, NOT_CONVERGED, STUCK_APART, TOO_SHORT = "converged", "not converged", "stuck apart", "too short"

AGREEMENT = 1.02
"""R-hat up to which chains are said to agree."""

ENOUGH = 100
"""Independent draws that everything should be worth."""

FEWEST = 10
"""Draws of a chain below which nothing is said."""

_TOO_FAR = 20.0
"""If it would take this many times the draws there are, other advice is better."""

NAMES = {
    "n_topics": "the number of topics",
    "log_joint": "the log joint",
    "log_likelihood_per_observation": "the log likelihood",
    "topic_entropy": "the entropy of the topics",
    "co_assignment": "the co-assignment of pairs",
    "n_tables": "the number of tables",
    "n_switches": "the number of switches",
    "switch_probability": "the switch probability",
    "alpha": "alpha",
    "gamma": "gamma",
    "document_prior": "the prior of the documents",
    "word_prior": "the prior of the words",
    "prior": "the prior of the topics",
}
"""What is judged, and what it is called in a sentence."""


class Verdict(NamedTuple):
    """Whether to trust a fit, and why."""

    level: str  # "converged", "not converged", "stuck apart" or "too short"
    sentence: str  # the verdict, and what to do about it
    details: list[str]  # further sentences, on single quantities
    table: pd.DataFrame  # what is judged: a row a quantity, as `franchise.diagnostics.summary` has it


def verdict(posterior: Posterior[Any]) -> Verdict:
    """Judge the chains of a posterior, of either model, by what they trace."""
    return verdict_on(posterior.trace)


def verdict_on(trace: Mapping[str, Any]) -> Verdict:
    """Judge chains by their traces.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        Such as ``posterior.trace``; only what `NAMES` has is judged.

    Examples
    --------
    >>> import numpy as np
    >>> from franchise.diagnostics import verdict_on
    >>> verdict_on({"n_topics": np.repeat([[4], [5]], 50, axis=1)}).level
    'stuck apart'
    """
    known = {name: np.asarray(trace[name], np.float64) for name in NAMES if name in trace}
    table = summarise_with_notes(known)
    judged = {  # what every draw has, and not all have the same
        name: draws
        for name, draws in known.items()
        if np.isfinite(draws).all() and (draws != draws[0, 0]).any()
    }
    chains, draws = next((values.shape for values in known.values()), (0, 0))
    level, sentence = _judge(judged, table, chains, draws)
    return Verdict(level, sentence, _details(known, table), table)


def _judge(judged: dict[str, np.ndarray], table: pd.DataFrame, chains: int, draws: int) -> tuple[str, str]:
    """The level and the sentence."""
    if draws < FEWEST:
        return TOO_SHORT, (
            f"There are too few draws to say whether the chains have converged: {_counted(draws, 'draw')} of each "
            f"chain. Take a hundred or more."
        )
    if not judged:
        return TOO_SHORT, (
            "Nothing changes from draw to draw, so there is nothing to tell by whether the chains have converged."
        )
    apart = [name for name, values in judged.items() if stuck_apart(values)]
    if apart:
        return STUCK_APART, _sentence_on_apart(judged, apart)
    if chains * draws < ENOUGH:
        return TOO_SHORT, (
            f"There are too few draws to say whether the chains have converged: {_counted(chains, 'chain')} of "
            f"{draws} draws cannot be worth the {ENOUGH} independent ones that it takes."
        )
    worst = _worst(table.loc[list(judged)])
    if worst.r_hat > AGREEMENT or worst.ess < ENOUGH:
        return NOT_CONVERGED, _sentence_on_disagreement(worst, chains, draws)
    if chains == 1:
        return TOO_SHORT, (
            f"One chain cannot tell whether it has converged: its halves agree ({worst.figures}), but another "
            f"chain might have found something else. Run several chains."
        )
    return CONVERGED, f"The chains agree, as far as one can tell: {worst.figures}."


class _Worst(NamedTuple):
    """The quantity that the chains agree least on, and the one that draws are worth least for."""

    r_hat: float
    r_hat_of: str
    ess: float
    ess_of: str

    @property
    def figures(self) -> str:
        return (
            f"R-hat is at most {self.r_hat:.2f} ({self.r_hat_of}), and the draws are worth "
            f"{self.ess:,.0f} independent ones or more ({self.ess_of})"
        )


def _worst(table: pd.DataFrame) -> _Worst:
    r_hat, ess = table["r_hat"], table[["ess_bulk", "ess_tail"]].min(axis=1)
    return _Worst(float(r_hat.max()), NAMES[str(r_hat.idxmax())], float(ess.min()), NAMES[str(ess.idxmin())])


def _sentence_on_disagreement(worst: _Worst, chains: int, draws: int) -> str:
    who = "The chain has" if chains == 1 else "The chains have"
    reasons = []
    if worst.r_hat > AGREEMENT:
        reasons.append(f"R-hat is {worst.r_hat:.2f} for {worst.r_hat_of} and should be at most {AGREEMENT}")
    if worst.ess < ENOUGH:
        reasons.append(
            f"for {worst.ess_of} the draws are worth {worst.ess:,.0f} independent ones where {ENOUGH} are enough"
        )
    return (
        f"{who} not converged: {'; '.join(reasons)}. {_advice(worst, draws)} Until then take the topics as one "
        f"good reading of the data, and their number as a first guess."
    )


def _advice(worst: _Worst, draws: int) -> str:
    """How many draws more; R-hat - 1 and the inverse of the effective size go down as 1 / draws."""
    longer = max((worst.r_hat - 1.0) / (AGREEMENT - 1.0), ENOUGH / worst.ess)
    if not longer < _TOO_FAR:
        return f"At this pace {_TOO_FAR:.0f} times the draws will not do: try a longer warm-up or another sampler."
    return f"About {_rounded_up(draws * (longer - 1.0)):,} more draws of each chain should do."


def _rounded_up(number: float) -> int:
    """The next number with one digit and zeros, or with a five."""
    unit = 10 ** max(0, math.floor(math.log10(max(number, 1.0))))
    return math.ceil(2 * number / unit) * unit // 2 if unit > 1 else max(1, math.ceil(number))


def _sentence_on_apart(judged: dict[str, np.ndarray], apart: list[str]) -> str:
    where = f"{NAMES[apart[0]]} is {in_words(judged[apart[0]].mean(axis=1))}"
    best = ""
    if "log_joint" in judged:
        best = f" (the log joint is highest in chain {int(judged['log_joint'].mean(axis=1).argmax())})"
    return (
        f"The chains are stuck apart: each is steady, but {where}. More draws will hardly bring them together. "
        f"Take each chain as one reading of the data{best}, and trust the topics that several chains share."
    )


def _details(known: Mapping[str, np.ndarray], table: pd.DataFrame) -> list[str]:
    """A sentence for every quantity of which there is something to say."""
    said = [f"{NAMES[str(name)]}: {note}." for name, note in table["note"].items() if note]
    for name in ("log_joint", "n_topics"):
        if name in known and np.isfinite(known[name]).all():
            said += _drift(name, known[name])
    return [sentence[:1].upper() + sentence[1:] for sentence in said]


def _drift(name: str, draws: np.ndarray) -> list[str]:
    """Whether all chains still go the same way: from one half to the other by more than the spread of a half."""
    half = draws.shape[1] // 2
    if half < FEWEST // 2:
        return []
    first, second = draws[:, :half], draws[:, -half:]
    gains = second.mean(axis=1) - first.mean(axis=1)
    spread = math.sqrt((first.var(axis=1).mean() + second.var(axis=1).mean()) / 2.0)
    if not (np.abs(gains) > spread).all() or abs(np.sign(gains).sum()) < len(gains):
        return []
    goes = "rising" if gains[0] > 0.0 else "falling"
    return [f"{NAMES[name]} is still {goes} in every chain: a longer warm-up is needed."]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
