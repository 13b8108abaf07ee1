"""The sentences of a report: the main results, convergence, and notes on how to read it."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise import __version__
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData, counted
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
from franchise.report.json import percent

_QUESTIONS = {
    CONVERGED: "The chains agree",
    USABLE_DRAWS: "The chains agree well enough for most uses",
    WEAK: "Interpret with caution: weak evidence of convergence",
    NOT_CONVERGED: "Interpret with caution: the chains have not converged",
    DISAGREE: "Interpret with caution: the chains disagree",
    TOO_SHORT: "Not enough draws to assess convergence",
}
NEARLY_NONE = 0.0005  # smaller shares are not mentioned
LEVELS_NOTE = (
    "The exposure of a node to a topic is the share of the observations at and below the node that have the topic, "
    "mean over draws. Choose a part of a bar to see the topic. The rest of a bar is in smaller topics, or in no "
    "consensus topic."
)
_NAMED = 5  # topics that the first paragraph lists


def texts_of(
    posterior: Posterior[Any], consensus: Consensus, verdict: Verdict, title: str | None, data: dict[str, Any]
) -> dict[str, Any]:
    """Return all texts of the template."""
    return {
        "version": __version__,
        "title": title or f"Topics of {_amounts(posterior.data)[0]}",
        "groups": f"{data['group']}s",
        "lead": f"{_number_in_words(posterior)} in {' with '.join(_amounts(posterior.data))}.",
        "story": [*_groups(consensus), _largest(consensus), _certainty(posterior, consensus)],
        "verdict": verdict,
        "trusted": verdict.level in (CONVERGED, USABLE_DRAWS),
        "question": _QUESTIONS[verdict.level],
        "number_note": _number_note(posterior, verdict),
        "priors": _priors(posterior),
        "topics_note": _topics_note(consensus, data),
        "map_note": _map_note(consensus),
        "tree_note": _tree_note(consensus),
        "has_tree": bool(data["tree"]),
        "levels_note": LEVELS_NOTE,
        "has_levels": bool(data["levels"]),
        "documents_note": _documents_note(data),
        "reading": _reading(data),
        "chains": counted(posterior.n_chains, "chain"),
        "made": _made(posterior),
        "has_map": bool(data["topics"]),
        "has_trend": data["trend"] is not None,
    }


def _amounts(data: GroupedData) -> tuple[str, str]:
    """Return the numbers of groups and of observations."""
    group, observation = ("document", "word") if isinstance(data, Corpus) else ("group", "observation")
    return counted(data.n_groups, group), counted(data.n_observations, observation)


def _number_in_words(posterior: Posterior[Any]) -> str:
    given = posterior.given_topics
    if given is not None:
        return f"{counted(given, 'topic')} (a given number)"
    topics = posterior.trace["n_topics"]
    always = bool(np.ptp(topics) == 0)
    return f"{'' if always else 'About '}{counted(round(float(topics.mean())), 'topic')}"


def _range(posterior: Posterior[Any]) -> tuple[int, int]:
    """Return the 90% interval of the number of topics."""
    low, high = np.quantile(posterior.trace["n_topics"], [0.05, 0.95])
    return round(float(low)), round(float(high))


def _number_note(posterior: Posterior[Any], verdict: Verdict) -> str:
    topics, given = posterior.trace["n_topics"], posterior.given_topics
    low, high = _range(posterior)
    if given is not None:
        used = "all of them" if low == given else f"{low:,}" if low == high else f"from {low:,} to {high:,}"
        note = f"The number of topics was given: {given:,}. Topics used by 90% of draws: {used}."
    elif (topics == topics.flat[0]).all():
        note = f"All draws have {counted(int(topics.flat[0]), 'topic')}."
    else:
        note = f"Posterior distribution of the number of topics of a draw, with 90% interval {low:,} to {high:,}."
        if low == high:
            note = f"Posterior distribution of the number of topics of a draw; most draws have {low:,}."
        if posterior.n_chains > 1:
            note += " Bars are stacked by chain; chains that fill different bars disagree."
    if "n_large_topics" in verdict.table.index:
        large = topics_in_words(verdict.table, "n_large_topics")
        note += f" Of these, topics with at least 0.2% of the observations: {large}."
    return note


def _priors(posterior: Posterior[Any]) -> list[str]:
    """Return a sentence with prior and posterior interval for each sampled hyperparameter."""
    sentences = []
    for name, prior in posterior.priors.items():
        before, after = prior.interval(0.9), np.quantile(posterior.trace[name], [0.05, 0.95])
        ranges = [f"90% interval {low:.3g} to {high:.3g}" for low, high in (before, after)]
        sentences.append(
            f"{title_of(name)}: prior Gamma({prior.shape:g}, {prior.rate:g}), {ranges[0]}; posterior {ranges[1]}."
        )
    return sentences


def _groups(consensus: Consensus) -> list[str]:
    """Return a sentence on topics that are groups; none if they are not."""
    if consensus.members is None:
        return []
    topics = counted(consensus.members.topic_count, "topic")
    return [
        f"Here they are shown as {counted(consensus.topic_count, 'group')} of {topics} that recur across draws; "
        "each group counts as a topic on this page."
    ]


def _largest(consensus: Consensus) -> str:
    """Return a sentence with the labels of the largest topics."""
    shares = consensus.shares.mean(axis=0)
    named = [f"“{label}” ({percent(share)})" for label, share in zip(consensus.labels, shares, strict=True)]
    if not named:
        return "There are no consensus topics: no topic recurs in enough draws. Run longer chains."
    if len(named) == 1:
        return f"The only consensus topic is {named[0]}."
    shown = named[:_NAMED]
    return f"The largest topics are {', '.join(shown[:-1])} and {shown[-1]}."


def _certainty(posterior: Posterior[Any], consensus: Consensus) -> str:
    """Return how many topics draws have, how many recur and all chains share, and the share in none of them."""
    chains = len(consensus.in_chain)
    everywhere = int(consensus.in_all_chains.sum())
    none = float(consensus.left_over_table()["share"]["unmatched"])
    recur = "recurs" if consensus.topic_count == 1 else "recur"
    sentences = f"{counted(consensus.topic_count, 'topic')} {recur} across draws"
    if chains == 1 or not consensus.topic_count:
        everywhere = consensus.topic_count
    else:
        sentences += ", all of them" if everywhere == consensus.topic_count else f", {everywhere:,} of them"
        sentences += " in both chains" if chains == 2 else f" in all {chains} chains"
    if everywhere < consensus.topic_count / 2:
        sentences += " and the rest in only some chains. Topics found in all chains are the most reliable"
    what = "words" if consensus.has_words else "observations"
    if none >= NEARLY_NONE:
        sentences += f". {percent(none)} of the {what} belong to topics that do not recur and are not shown"
    return f"{_per_draw(posterior)}{sentences}. {left_over_in_words(consensus.left_over, what)}".strip()


def _per_draw(posterior: Posterior[Any]) -> str:
    """Return a sentence on the number of topics of single draws; empty if all have the same number."""
    topics = posterior.trace["n_topics"]
    if np.ptp(topics) == 0:
        return ""
    low, high = _range(posterior)
    if low == high:
        return f"Most draws have {counted(low, 'topic')}. "
    return f"Single draws have {low:,} to {high:,} topics (90% interval). "


def _topics_note(consensus: Consensus, data: dict[str, Any]) -> str:
    what = "words" if consensus.has_words else "observations"
    trend = "" if data["trend"] is None else f" The curve is the topic's share by {data['trend']['by']}."
    return (
        f"Sizes are shares of all {what}; the line on each bar is the 95% credible interval.{trend} "
        f"Topics found in few draws or chains may not reappear in another run."
    )


def _tree_note(consensus: Consensus) -> str:
    shared = (
        "have similar words and are in the same documents"
        if consensus.has_words
        else "are in the same groups"
    )
    support = (
        "Support is how well trees of single draws reproduce a group: 100% if all have exactly its topics."
    )
    if consensus.members is not None:
        support = "Support is the share of draws in which a topic is in one group with the others."
    return f"Topics are in one group if they {shared}. Open a group to see its topics. {support}"


def _map_note(consensus: Consensus) -> str:
    nearby = "have similar words" if consensus.has_words else "often exchange observations"
    return (
        f"Topics that are close to each other {nearby}; larger circles are larger topics. The axes have no "
        f"meaning. Click a circle for details."
    )


def _documents_note(data: dict[str, Any]) -> str:
    total, shown = data["documents"]["total"], len(data["documents"]["list"])
    noun = data["group"]
    if shown == total:
        which = f"All {counted(total, noun)} are in this page."
    else:
        which = (
            f"{shown:,} of {counted(total, noun)} are in this page: the most typical of each topic, and a random "
            f"sample of the others."
        )
    if data["unit"] == "observation":
        return which
    return (
        f"{which} Each {data['unit']} is coloured by its most probable topic; a stronger colour means a higher "
        f"probability. Point at one, or use the arrow keys, to see its topic and probability. Click a topic to "
        f"highlight only its {data['unit']}s."
    )


def _reading(data: dict[str, Any]) -> list[str]:
    sentences = [
        "A draw is one sample from the posterior. Results are averages over many draws of all chains, with topics "
        "matched across draws.",
        "“In 80% of draws” means that the topic was found in 80% of the draws. Its size is zero in the others.",
        "Intervals are 95% credible intervals. They are valid only if the model fits and the chains have "
        "converged.",
    ]
    if data["unit"] != "observation":
        sentences.append(
            "Bars beside words are probabilities of the words in the topic. Labels of topics are words that are "
            "more frequent in the topic than elsewhere."
        )
    return sentences


def _made(posterior: Posterior[Any]) -> str:
    return (
        f"Made with franchise {__version__}: sampler {posterior.sampler}, {counted(posterior.n_chains, 'chain')} "
        f"of {counted(posterior.n_draws, 'draw')}, seed {posterior.seed}, "
        f"{posterior.seconds:,.0f} seconds per chain. This file works offline and sends no data."
    )
