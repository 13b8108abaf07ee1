"""What a page says in plain words: what was found, whether to trust it, how to read what is shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise import __version__
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.diagnostics.verdict import (
    CONVERGED,
    DISAGREE,
    NOT_CONVERGED,
    TOO_SHORT,
    USABLE_DRAWS,
    WEAK,
    Verdict,
    topics_in_words,
)
from franchise.posterior.base import Posterior
from franchise.posterior.consensus import Consensus
from franchise.posterior.consensus_rules import left_over_in_words
from franchise.report.chains import title_of
from franchise.report.json import counted, percent

_QUESTIONS = {
    CONVERGED: "The chains agree",
    USABLE_DRAWS: "The chains agree well enough for most uses",
    WEAK: "Read it with care: weak evidence of convergence",
    NOT_CONVERGED: "Read it with care: the chains have not converged",
    DISAGREE: "Read it with care: the chains disagree",
    TOO_SHORT: "Read it with care: the chains are too short",
}
NEARLY_NONE = 0.0005  # a share that is not worth a word
_NAMED = 3  # topics that are named at the beginning


def texts_of(
    posterior: Posterior[Any], consensus: Consensus, verdict: Verdict, title: str | None, data: dict[str, Any]
) -> dict[str, Any]:
    """All that the template says."""
    return {
        "version": __version__,
        "title": title or f"Topics of {_amounts(posterior.data)[0]}",
        "groups": f"{data['group']}s",
        "lead": f"{_number_in_words(posterior)} in {' of '.join(_amounts(posterior.data))} in all.",
        "story": [_largest(consensus), _certainty(consensus)],
        "verdict": verdict,
        "trusted": verdict.level in (CONVERGED, USABLE_DRAWS),
        "question": _QUESTIONS[verdict.level],
        "number_note": _number_note(posterior, verdict),
        "priors": _priors(posterior),
        "topics_note": _topics_note(consensus, data),
        "map_note": _map_note(consensus),
        "documents_note": _documents_note(data),
        "reading": _reading(data),
        "made": _made(posterior),
        "has_map": bool(data["topics"]),
        "has_trend": data["trend"] is not None,
    }


def _amounts(data: GroupedData) -> tuple[str, str]:
    """How many groups and how many observations there are."""
    group, observation = ("document", "word") if isinstance(data, Corpus) else ("group", "observation")
    return counted(data.n_groups, group), counted(data.n_observations, observation)


def _number_in_words(posterior: Posterior[Any]) -> str:
    low, high = _range(posterior)
    given = posterior.given_topics
    if given is not None:
        return f"{counted(given, 'topic')} (a given number)"
    if low != high:
        return f"Between {low:,} and {high:,} topics"
    always = bool(np.ptp(posterior.trace["n_topics"]) == 0)
    return f"{'' if always else 'About '}{counted(low, 'topic')}"


def _range(posterior: Posterior[Any]) -> tuple[int, int]:
    """The middle 90\u00a0% of draws of the number of topics."""
    low, high = np.quantile(posterior.trace["n_topics"], [0.05, 0.95])
    return round(float(low)), round(float(high))


def _number_note(posterior: Posterior[Any], verdict: Verdict) -> str:
    topics, given = posterior.trace["n_topics"], posterior.given_topics
    low, high = _range(posterior)
    if given is not None:
        used = "all of them" if low == given else f"{low:,}" if low == high else f"from {low:,} to {high:,}"
        note = f"The number of topics was given: {given:,}. 90\u00a0% of draws use {used}."
    elif (topics == topics.flat[0]).all():
        note = f"All draws have {counted(int(topics.flat[0]), 'topic')}."
    else:
        note = (
            f"The number is inferred, and it is uncertain: 90\u00a0% of draws have from {low:,} to {high:,}."
        )
        if posterior.n_chains > 1:
            note += " Each bar is split by chain; where chains have bars of their own, they disagree."
    if "n_large_topics" in verdict.table.index:
        large = topics_in_words(verdict.table, "n_large_topics")
        note += f" With at least 0.2% of the observations: {large}."
    return note


def _priors(posterior: Posterior[Any]) -> list[str]:
    """The prior beside the posterior, for every learned number above the topics."""
    sentences = []
    for name, prior in posterior.priors.items():
        before, after = prior.interval(0.9), np.quantile(posterior.trace[name], [0.05, 0.95])
        ranges = [f"90\u00a0% from {low:.3g} to {high:.3g}" for low, high in (before, after)]
        sentences.append(
            f"{title_of(name)}: prior Gamma({prior.shape:g}, {prior.rate:g}), {ranges[0]}; posterior {ranges[1]}."
        )
    return sentences


def _largest(consensus: Consensus) -> str:
    """The largest topics by name."""
    shares = consensus.shares.mean(axis=0)
    named = [f"“{label}” ({percent(share)})" for label, share in zip(consensus.labels, shares, strict=True)]
    if not named:
        return "No topic is in enough of the draws to be shown; longer chains may tell more."
    if len(named) == 1:
        return f"The one that draws agree on is {named[0]}."
    shown = named[:_NAMED]
    return f"The largest are {', '.join(shown[:-1])} and {shown[-1]}."


def _certainty(consensus: Consensus) -> str:
    """How many topics are seen in all chains, and how much is in none."""
    chains = len(consensus.in_chain)
    everywhere = int(consensus.in_all_chains.sum())
    none = float(consensus.left_over_table()["share"]["unmatched"])
    seen = f"{counted(consensus.topic_count, 'topic')} can be followed from draw to draw"
    if chains == 1 or not consensus.topic_count:
        everywhere = consensus.topic_count
    else:
        seen += ", all of them" if everywhere == consensus.topic_count else f", {everywhere:,} of them"
        seen += " in both chains" if chains == 2 else f" in all {chains} chains"
    if everywhere < consensus.topic_count / 2:
        seen += ", the others in some chains only: what the chains have in common is the surest"
    what = "words" if consensus.has_words else "observations"
    if none >= NEARLY_NONE:
        seen += f"; {percent(none)} of the {what} are in topics that come and go and are not shown"
    return f"{seen}. {left_over_in_words(consensus.left_over, what)}".strip()


def _topics_note(consensus: Consensus, data: dict[str, Any]) -> str:
    what = "words" if consensus.has_words else "observations"
    trend = "" if data["trend"] is None else f" The curve is its share over {data['trend']['by']}."
    return (
        f"Sizes are shares of all {what}; the line over a bar is where the share is with a probability of "
        f"95\u00a0%.{trend} A topic that is in few draws or chains may be gone in the next run."
    )


def _map_note(consensus: Consensus) -> str:
    closeness = (
        "similar are their words"
        if consensus.has_words
        else "often observations go from the one to the other"
    )
    return (
        f"The nearer two topics are, the more {closeness}; the larger a circle, the larger the topic. Only "
        f"nearness means something, not up or down. Choose a circle to read about its topic."
    )


def _documents_note(data: dict[str, Any]) -> str:
    total, shown = data["documents"]["total"], len(data["documents"]["list"])
    noun = data["group"]
    if shown == total:
        which = f"All {counted(total, noun)}."
    else:
        which = (
            f"{shown:,} of {counted(total, noun)} are in this page: those most typical of each topic, and others "
            f"drawn at random."
        )
    if data["unit"] == "observation":
        return which
    return (
        f"{which} Each {data['unit']} has the colour of its most probable topic, the stronger the surer; point "
        f"at it, or go through them with the arrow keys, to see which and how probable. Press a topic to see only "
        f"its own."
    )


def _reading(data: dict[str, Any]) -> list[str]:
    said = [
        "A draw is one full explanation of the data. What is shown are averages over many draws of several chains, "
        "with topics matched from draw to draw; so every result comes with its uncertainty.",
        "“In 80\u00a0% of draws” tells how often a topic is found at all; its size counts as zero where it is not.",
        "Intervals hold the true value with a probability of 95\u00a0%, if the model fits and the chains have "
        "converged.",
    ]
    if data["unit"] != "observation":
        said.append(
            "Bars beside words are probabilities of the word in the topic. Topics are named by words that are more "
            "frequent in them than elsewhere."
        )
    return said


def _made(posterior: Posterior[Any]) -> str:
    return (
        f"Made by franchise {__version__}: sampler {posterior.sampler}, {counted(posterior.n_chains, 'chain')} of "
        f"{counted(posterior.n_draws, 'draw')}, seed {posterior.seed}, {posterior.seconds:,.0f} seconds. This file "
        f"needs no network, and sends nothing anywhere."
    )
