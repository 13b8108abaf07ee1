"""The verdict on convergence, in plain words, from the traces and the initial states of the chains.

The verdict uses quantities that do not depend on the numbering of topics: the number of topics, their entropy, how
often fixed pairs of observations share a topic, the log joint, alpha, gamma and others (`NAMES`).  The first level
that applies counts:

    too short        fewer than 10 draws per chain, or nothing that varies
    not converged    a chain still trends in some quantity
    chains disagree  the draws of two chains do not overlap in some quantity
    too short        some effective sample size (ESS) is below 100
    not converged    some R-hat is above 1.05
    weak evidence    all of this is in order, but it proves little: there is one chain, all chains started from the
                     same number of topics or an unknown one, the sampler is approximate, or some quantity is not a
                     number in some draws
    usable           R-hat is at most 1.05 for every quantity
    converged        R-hat is at most 1.01 for every quantity

Vehtari et al. (2021), "Rank-normalization, folding, and localization", recommend an R-hat of at most 1.01.  The
verdict takes the worst of about ten quantities, which exceeds 1.01 by chance alone at an ESS of a few hundred.
Values up to 1.05 are therefore called usable.  With an ESS of 100 a mean is known to a tenth of the posterior's
standard deviation.  The log joint never ranks chains: with different numbers of topics it prefers the wrong ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.grouped import counted
from franchise.diagnostics.convergence import (
    GOOD,
    USABLE,
    describe_trend,
    fewest_within,
    in_words,
    never_meet,
    summarise_with_notes,
)
from franchise.errors import InputError
from franchise.model.inner_nodes import is_of_level

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.base import Posterior

CONVERGED, USABLE_DRAWS, WEAK = "converged", "usable", "weak evidence"
NOT_CONVERGED, DISAGREE, TOO_SHORT = "not converged", "chains disagree", "too short"

ENOUGH = 100
"""The least effective sample size."""

FEWEST = 10
"""Smallest number of draws per chain for a verdict."""

LEAST_WARMUP = 500
"""No shorter warm-up is advised; it is the default of `franchise.sample`."""

_APART = 2.0
"""Initial numbers of topics differ enough if the largest is this many times the smallest."""

_ENOUGH_WITHIN = 10.0
"""ESS within every chain from which chains that disagree do not just move slowly.

Of 750 simulated sets of four slow stationary chains, 149 seemed to disagree; in each of these some chain had an ESS
of at most 8.2 (`tests/diagnostics/test_verdict.py` repeats a part of it).
"""

_FAR = 1.2
"""R-hat above which no number of further draws is estimated."""

_MOST_TIMES = 20.0
"""Number of times the draws above which the advice is not to draw more."""

UNKNOWN_STARTS = "it is not known from how many topics each chain started"

NAMES = {
    "n_topics": "the number of topics",
    "n_large_topics": "the number of topics with at least 0.2% of the observations",
    "log_joint": "the log joint",
    "log_likelihood_per_observation": "the log likelihood",
    "topic_entropy": "the entropy of the topics",
    "co_assignment": "the co-assignment of pairs",
    "n_tables": "the number of tables",
    "n_switches": "the number of switches",
    "switch_probability": "the switch probability",
    "alpha": "alpha",
    "gamma": "gamma",
    "document_prior": "the document-topic prior",
    "word_prior": "the topic-word prior",
    "prior": "the prior of the topics",
}
"""Quantities of the verdict, with their names in a sentence."""


class Verdict(NamedTuple):
    """Whether the chains have converged, and why.

    Parameters
    ----------
    level : str
        "converged", "usable", "weak evidence", "not converged", "chains disagree" or "too short".
    sentence : str
        The verdict, and what to do about it.
    details : list of str
        Further sentences, on single quantities.
    table : DataFrame
        One row per quantity, as `franchise.diagnostics.summary` returns it.
    more_draws : int, optional
        Draws per chain to add with `posterior.extend` [default: more draws are no remedy, or none are needed].
    longer_warmup : int, optional
        Sweeps of warm-up for another fit [default: more warm-up is not needed].

    Examples
    --------
    >>> verdict = posterior.verdict()
    >>> "n_topics" in verdict.table.index
    True
    """

    level: str  # "converged", "usable", "weak evidence", "not converged", "chains disagree" or "too short"
    sentence: str  # the verdict, and what to do about it
    details: list[str]  # further sentences, on single quantities
    table: pd.DataFrame  # one row per quantity, as `franchise.diagnostics.summary` has it
    more_draws: int | None = None  # draws per chain to add to those of the run, if this should be enough
    longer_warmup: int | None = (
        None  # sweeps of warm-up of a new fit, if the draws are not of the posterior yet
    )


def verdict(posterior: Posterior[Any], compare: bool = False) -> Verdict:
    """Judge the chains of a posterior, of either model.

    Parameters
    ----------
    posterior : Posterior
        Draws of either model.
    compare : bool, default False
        Whether to add, if the chains disagree or have not converged, what they agree on and, to the details, which
        of them predict better (`franchise.diagnostics.compare_chains`). This matches topics and scores
        observations, which takes seconds.

    Returns
    -------
    Verdict
        A level such as "converged", one sentence, details, and the table of `summary`.

    Examples
    --------
    >>> fr.diagnostics.verdict(posterior).level == "converged"  # 10 draws per chain are too few
    False
    """
    sweeps = 0 if posterior.run is None else posterior.run.plan.warmup
    found = verdict_on(posterior.trace, caveats_on(posterior), posterior.approximation, warmup=sweeps)
    in_doubt = found.level in (NOT_CONVERGED, DISAGREE) or (
        found.level == TOO_SHORT and found.table["r_hat"].max() > USABLE
    )
    if posterior.n_chains == 1 or not in_doubt:
        return found
    if not compare:
        hint = " posterior.verdict(compare=True) compares their topics and predictions."
        return found._replace(sentence=found.sentence + hint)
    from franchise.diagnostics.compare_chains import agreement_sentence, prediction_sentence

    found = found._replace(sentence=f"{found.sentence} {agreement_sentence(posterior.consensus_topics)}")
    with suppress(InputError):  # not all chains can be compared by their predictions
        return found._replace(details=[prediction_sentence(posterior.stacking_weights()), *found.details])
    return found


def caveats_on(posterior: Posterior[Any]) -> list[str]:
    """Return the reasons why agreement between the chains of a posterior would prove little."""
    starts = posterior.start_topics
    if posterior.n_chains == 1 or posterior.given_topics is not None:
        return []
    if starts is None:
        return [UNKNOWN_STARTS]
    if max(starts) >= _APART * min(starts):
        return []
    numbers = f"{min(starts)}" if min(starts) == max(starts) else f"{min(starts)} to {max(starts)}"
    few = max(1, min(starts) // 4)
    spread = [few, 2 * few, 4 * few, 2 * max(4 * few, *starts)]
    return [
        f"all chains started from {numbers} topics; agreement of four chains from different numbers, such as "
        f"start={spread}, would be better evidence"
    ]


def verdict_on(
    trace: Mapping[str, Any],
    caveats: Sequence[str] = (UNKNOWN_STARTS,),
    approximation: str = "",
    *,
    warmup: int = 0,
) -> Verdict:
    """Judge chains by their traces.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        Such as ``posterior.trace``; only the quantities in `NAMES` and concentrations of levels are judged.
    caveats : sequence of str
        Reasons why agreement would prove little, as clauses; empty if the chains started from different numbers of
        topics [default: the initial states are not known].
    approximation : str, default ""
        In what sense the sampler is approximate, as a sentence; empty if it is exact.
    warmup : int, default 0
        Sweeps of warm-up of the chains.

    Returns
    -------
    Verdict
        A level such as "converged", one sentence, details, and a table with one row per quantity.

    Examples
    --------
    >>> import numpy as np
    >>> from franchise.diagnostics import verdict_on
    >>> verdict_on({"n_topics": np.repeat([[4], [5]], 50, axis=1)}).level
    'chains disagree'
    """
    quantities = [*NAMES, *filter(is_of_level, trace)]
    known = {name: np.asarray(trace[name], np.float64) for name in quantities if name in trace}
    table = summarise_with_notes(known)
    missing = [name for name, draws in known.items() if not np.isfinite(draws).all()]
    judged = {  # what every draw has, and not all have the same
        name: draws for name, draws in known.items() if name not in missing and (draws != draws[0, 0]).any()
    }
    chains, draws = next((values.shape for values in known.values()), (0, 0))
    again = max(LEAST_WARMUP, _rounded_up(2 * (warmup + draws)))
    worst = table.loc[list(judged)]
    level, sentence, more, longer = _first_fault(judged, draws, worst, again) or _judge(
        _worst(worst), chains, draws, again
    )
    if level in (CONVERGED, USABLE_DRAWS):
        if chains == 1:
            caveats = ["there is only one chain, and others may differ; run several, such as chains=4"]
        reasons = [
            *caveats,
            *(["the sampler is approximate"] if approximation else []),
            *(f"{NAMES.get(name, name)} is {table['note'][name]}" for name in missing),
        ]
        if reasons:
            level, sentence = WEAK, f"{sentence} But this is weak evidence: {'; '.join(reasons)}."
    if approximation:
        sentence = f"{sentence} {approximation}"
    return Verdict(level, sentence, _details(known, table), table, more, longer)


_Judgement = tuple[str, str, int | None, int | None]
"""A level, a sentence, more draws per chain, and the warm-up of another fit."""


def _first_fault(
    judged: Mapping[str, np.ndarray], draws: int, table: pd.DataFrame, again: int
) -> _Judgement | None:
    """Return the judgement if single quantities show a fault, regardless of R-hat."""
    if draws < FEWEST:
        said = (
            f"Too few draws to assess convergence: {counted(draws, 'draw')} per chain. Use at least {ENOUGH}."
        )
        return TOO_SHORT, said, ENOUGH, None
    if not judged:
        said = "No quantity is finite and varies between draws, so convergence cannot be assessed."
        return TOO_SHORT, said, None, None
    trends = {
        name: f"{NAMES.get(name, name)} is {trend}, with R-hat {r_hat_in_words(table['r_hat'][name])}"
        for name, values in judged.items()
        if (trend := describe_trend(values))
    }
    apart = {
        name: f"{NAMES.get(name, name)} is {in_words(values.mean(axis=1))} on average, and the draws do not overlap"
        for name, values in judged.items()
        if never_meet(values)
    }
    disagreement = next(iter(apart.values()), "")
    if trends:
        also = f" The chains also disagree: {disagreement}." if apart else ""
        first = next(iter(trends))
        shown = "; ".join(trends[name] for name in dict.fromkeys([first, "log_joint"]) if name in trends)
        chains = len(next(iter(judged.values())))
        said = f"{_who(chains)} not converged: {shown}. {_again(again)}{also}"
        return NOT_CONVERGED, said, None, again
    if apart:
        advice = _advice_on_modes(fewest_within(judged[next(iter(apart))]))
        said = f"The chains disagree: {disagreement}. {advice} Rely only on results that all chains share."
        return DISAGREE, said, None, None
    return None


def _advice_on_modes(ess: float) -> str:
    """Return whether more draws may help chains that disagree, given the smallest ESS within a chain."""
    if ess >= _ENOUGH_WITHIN:
        return "More draws are unlikely to help."
    return f"They also move slowly, with an ESS of {ess:.0f} within one chain, so a much longer run may help."


def _again(sweeps: int) -> str:
    return f"Fit again with a longer warm-up, about {sweeps:,} sweeps."


class _Worst(NamedTuple):
    """The largest R-hat and the smallest effective sample size, with the names of their quantities."""

    r_hat: float
    r_hat_of: str
    ess: float
    ess_of: str


def _worst(table: pd.DataFrame) -> _Worst:
    r_hat, ess = table["r_hat"], table[["ess_bulk", "ess_tail"]].min(axis=1)
    largest, least = (NAMES.get(name, name) for name in (str(r_hat.idxmax()), str(ess.idxmin())))
    return _Worst(float(r_hat.max()), largest, float(ess.min()), least)


def _judge(worst: _Worst, chains: int, draws: int, again: int) -> _Judgement:
    """Return the judgement from R-hat and effective sample size; `again` is the warm-up of another fit."""
    r_hat = f"{r_hat_in_words(worst.r_hat)} for {worst.r_hat_of}"
    more = _more_draws(worst, draws)
    if more is None:
        advice = f"{_again(again)} If that does not help, use another sampler."
    else:
        advice = f"About {more:,} more draws per chain should be enough."
    remedies = more, again if more is None else None
    if not worst.ess >= ENOUGH:
        return (
            TOO_SHORT,
            (
                f"{_who(chains, 'is', 'are')} too short: the effective sample size (ESS) is {worst.ess:,.0f} for "
                f"{worst.ess_of}; it should be at least {ENOUGH}. The largest R-hat is {r_hat}. {advice}"
            ),
            *remedies,
        )
    if not worst.r_hat <= USABLE:
        return (
            NOT_CONVERGED,
            (
                f"{_who(chains)} not converged: R-hat is {r_hat}; up to {GOOD} is good, up to {USABLE} is usable. "
                f"{advice}"
            ),
            *remedies,
        )
    figures = (
        f"the largest R-hat is {r_hat}, and the smallest effective sample size is {worst.ess:,.0f} for "
        f"{worst.ess_of}"
    )
    agree = "The two halves of the chain agree" if chains == 1 else "The chains agree"
    if worst.r_hat <= GOOD:
        return CONVERGED, f"{agree}: {figures}.", None, None
    return USABLE_DRAWS, f"{agree} well enough for most uses: {figures}.", None, None


def r_hat_in_words(r_hat: float) -> str:
    """Return R-hat with its assessment, such as "1.03 (usable)"; "> 10" is the largest."""
    if not math.isfinite(r_hat):
        return "> 10"
    word = "good" if r_hat <= GOOD else "usable" if r_hat <= USABLE else "too large"
    return f"{max(r_hat, 1.0):.2f} ({word})"


def _more_draws(worst: _Worst, draws: int) -> int | None:
    """Return how many more draws to take, if that may help; R-hat - 1 and 1 / ESS fall as 1 / draws."""
    times = max((worst.r_hat - 1.0) / (USABLE - 1.0), ENOUGH / worst.ess)
    if not (worst.r_hat <= _FAR and times < _MOST_TIMES):
        return None
    return _rounded_up(draws * (times - 1.0))


def _rounded_up(number: float) -> int:
    """Return the next number of the form 1, 1.5, 2, 2.5, ... times a power of ten."""
    unit = 10 ** max(0, math.floor(math.log10(max(number, 1.0))))
    return math.ceil(2 * number / unit) * unit // 2 if unit > 1 else max(1, math.ceil(number))


def _details(known: Mapping[str, np.ndarray], table: pd.DataFrame) -> list[str]:
    """Return a sentence on the number of topics, and one for every quantity with a note."""
    sentences = [f"{NAMES.get(str(name), name)}: {note}." for name, note in table["note"].items() if note]
    if {"n_topics", "n_large_topics"} <= set(known):
        every, large = (topics_in_words(table, name) for name in ("n_topics", "n_large_topics"))
        sentences.insert(
            0,
            f"The number of topics is {every}. The number with at least 0.2% of the observations is {large}.",
        )
    return [sentence[:1].upper() + sentence[1:] for sentence in sentences]


def topics_in_words(table: pd.DataFrame, name: str) -> str:
    """Return a mean and a 90% interval, such as "12 (90% interval 10 to 14)"."""
    mean, low, high = (f"{float(table[column][name]):.0f}" for column in ("mean", "5%", "95%"))
    return mean if low == high else f"{mean} (90% interval {low} to {high})"


def _who(chains: int, one: str = "has", several: str = "have") -> str:
    return f"The chain {one}" if chains == 1 else f"The chains {several}"
