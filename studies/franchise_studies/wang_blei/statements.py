"""What the paper says, judged by what was measured; when a difference counts, `studies.judging` says."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise_studies.judging import FEWEST, LEVEL, sign
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, Statement
from franchise_studies.wang_blei import synthetic, text
from franchise_studies.wang_blei.synthetic import AS_ONE, GIBBS, PAPER, SPLIT_MERGE, STARTS, WITHIN, Run
from franchise_studies.wang_blei.text import Difference, TextRun

SMALL = 0.01  # nats per word: less than this is "not too different"
CHEAP = 0.1  # of a chain's time: less than this is "negligible"
FASTER = {("ML+IR", 0.2), ("ML+IR", 0.5), ("NIPS", 0.2)}  # where the paper finds split-merge ahead


def judge(
    chains: list[Run],
    runs: list[TextRun],
    tries: list[dict[str, Any]],
    found: list[Difference],
    similarity_prior: float,
) -> list[Statement]:
    """All statements of section 4 that were tested."""
    return [
        trapped(chains),
        finds_five(chains),
        better_mode(chains),
        reverse_moves(chains),
        cheap(chains),
        end_alike(found),
        faster(found),
        held_out(found),
        acceptance(runs, tries),
        similarity(runs, similarity_prior),
    ]


def _chosen(chains: list[Run], start: str, method: str) -> list[Run]:
    return [run for run in chains if (run.start, run.method) == (start, method)]


def _counts(chains: list[Run], method: str) -> dict[str, tuple[int, int]]:
    """For each start: the seeds that have the five topics within WITHIN sweeps, and all seeds."""
    by_start = {start: _chosen(chains, start, method) for start in STARTS}
    return {start: (synthetic.found_within(runs, WITHIN), len(runs)) for start, runs in by_start.items()}


def _counts_in_words(counts: dict[str, tuple[int, int]]) -> str:
    return "; ".join(f"{start}: {found} of {seeds}" for start, (found, seeds) in counts.items())


# --- section 4.1 --------------------------------------------------------------------------------------------


def trapped(chains: list[Run]) -> Statement:
    """Does Gibbs stay with four topics?"""
    counts = _counts(chains, GIBBS)
    runs = _chosen(chains, PAPER, GIBBS)
    topics = float(np.median([run.topics[min(WITHIN, len(run.topics)) - 1] for run in runs]))
    found, seeds = counts[PAPER]
    verdict = AGREES if topics == 4 else IN_PART
    return Statement(
        "Traditional Gibbs sampling is trapped with 4 topics: it cannot tell topics 1 and 2 apart.",
        "4.1, figure 4(b, c)",
        f"Seeds in which Gibbs has the five topics within {WITHIN} sweeps, by start: {_counts_in_words(counts)}. "
        f"From the paper's start it then has {topics:g} topics in the median seed.",
        OPEN if seeds < FEWEST else verdict if found < seeds / 2 else DIFFERS,
    )


def finds_five(chains: list[Run]) -> Statement:
    """Does split-merge find the five topics soon?"""
    counts = _counts(chains, SPLIT_MERGE)
    after = {start: sum(run.by_split for run in _chosen(chains, start, SPLIT_MERGE)) for start in STARTS}
    enough = [found >= 0.9 * seeds for found, seeds in counts.values()]
    return Statement(
        "With split-merge the 5 topics are found after several iterations.",
        "4.1, figure 4(b, d)",
        f"Seeds in which Gibbs+SM has them within {WITHIN} sweeps, by start: {_counts_in_words(counts)}. With a "
        f"split accepted by the time they were found: {', '.join(map(str, after.values()))}.",
        OPEN if counts[PAPER][1] < FEWEST else AGREES if all(enough) else IN_PART if any(enough) else DIFFERS,
    )


def better_mode(chains: list[Run]) -> Statement:
    """Is the best state of Gibbs+SM better?"""
    parts, signs = [], []
    for start in STARTS:
        old, new = _chosen(chains, start, GIBBS), _chosen(chains, start, SPLIT_MERGE)
        sweep = min(WITHIN, len(old[0].best)) - 1
        for name in ("best_joint", "best"):
            pairs = zip(old, new, strict=True)
            gaps = np.array([getattr(b, name)[sweep] - getattr(a, name)[sweep] for a, b in pairs])
            parts.append(f"{start}, {text.NAMES[name]} {text.in_words(*text.mean_and_error(gaps))}")
            if name == "best_joint":
                signs.append(sign(gaps, len(STARTS)))
    verdict = AGREES if min(signs) > 0 else IN_PART if max(signs) > 0 else DIFFERS
    return Statement(
        "Split-merge explores the space to a better mode (the best state so far; its log likelihood is said to be "
        "proportional to the posterior, so the log joint is judged).",
        "4.1, figure 4(a)",
        f"Gibbs+SM less Gibbs at sweep {sweep + 1}, nats per word: {'; '.join(parts)}.",
        OPEN if len(old) < FEWEST else verdict,
    )


def reverse_moves(chains: list[Run]) -> Statement:
    """Are splits undone again?"""
    runs = _chosen(chains, AS_ONE, SPLIT_MERGE)
    splits, merges = (sum(run.accepted[name] for run in runs) for name in ("splits", "merges"))
    return Statement(
        "Reverse moves (a split, then the merge that undoes it) are not seen.",
        "4.1",
        f"From topics 1 and 2 as one, where the way leads by a split: {splits} splits and {merges} merges accepted "
        f"in {len(runs)} chains.",
        OPEN if len(runs) < FEWEST else AGREES if merges <= 0.1 * splits else DIFFERS,
    )


def cheap(chains: list[Run]) -> Statement:
    """Does a try cost little?"""
    old, new = (np.mean([run.seconds for run in chains if run.method == m]) for m in (GIBBS, SPLIT_MERGE))
    more = new / old - 1.0
    return Statement(
        "The additional expense of one try a sweep is negligible on the synthetic data.",
        "4.1",
        f"A chain takes {new:.2f} s with and {old:.2f} s without split-merge: {more:+.0%} (below {CHEAP:.0%} is "
        "taken for negligible).",
        AGREES if more < CHEAP else IN_PART if more < 2.5 * CHEAP else DIFFERS,
    )


# --- section 4.2 --------------------------------------------------------------------------------------------


def _runs_of(found: list[Difference]) -> int:
    return min(len(difference.best) for difference in found)


def end_alike(found: list[Difference]) -> Statement:
    """Do both methods end at the same height?"""
    ends = [difference.best_joint[:, -1] for difference in found]
    apart = [abs(end.mean()) > SMALL and sign(end, len(found)) != 0 for end in ends]
    means = [float(end.mean()) for end in ends]
    verdict = AGREES if max(map(abs, means)) < SMALL else OPEN
    if any(apart):
        verdict = IN_PART if np.mean(apart) < 0.5 else DIFFERS
    return Statement(
        "Towards the end of the runs, Gibbs+SM and Gibbs are not too different.",
        "4.2, figure 6",
        f"Best log joint per word at the end: differences of {min(means):+.4f} to {max(means):+.4f} nats over "
        f"{len(ends)} settings; clearly more than {SMALL} in {sum(apart)}.",
        OPEN if _runs_of(found) < FEWEST else verdict,
    )


def faster(found: list[Difference]) -> Statement:
    """Is Gibbs+SM ahead early where the paper says so, and nowhere behind?"""
    signs = {(d.corpus, d.prior): sign(text.early(d.best_joint), len(found)) for d in found}
    means = {(d.corpus, d.prior): text.mean_and_error(text.early(d.best_joint)) for d in found}

    def said(wanted: int) -> str:
        names = [f"{c} {p} ({text.in_words(*means[c, p])})" for (c, p), s in signs.items() if s == wanted]
        return ", ".join(names) if names else "none"

    ahead = [signs.get(setting, 0) > 0 for setting in FASTER]
    verdict = AGREES if all(ahead) and min(signs.values()) >= 0 else IN_PART if any(ahead) else DIFFERS
    return Statement(
        "Gibbs+SM reaches a better mode faster with eta 0.2 and 0.5 for ML+IR and 0.2 for NIPS; elsewhere it is as "
        "good as Gibbs.",
        "4.2, figure 6",
        f"Best log joint per word over the first half of the log time axis. Clearly ahead: {said(1)}; clearly "
        f"behind: {said(-1)}; neither: {said(0)}.",
        OPEN if not set(signs) >= FASTER or _runs_of(found) < FEWEST else verdict,
    )


def held_out(found: list[Difference]) -> Statement:
    """Does Gibbs+SM predict as well?"""
    signs = [sign(difference.held_out[:, -1], len(found)) for difference in found]
    means = [float(difference.held_out[:, -1].mean()) for difference in found]
    behind = signs.count(-1)
    verdict = AGREES if min(means) > -SMALL else OPEN
    if behind:
        verdict = IN_PART if behind < len(signs) / 2 else DIFFERS
    return Statement(
        "On held-out documents Gibbs+SM is at least as good as Gibbs.",
        "4.2, figure 7",
        f"At the end: clearly better in {signs.count(1)}, clearly worse in {behind} of {len(signs)} settings; "
        f"differences of {min(means):+.4f} to {max(means):+.4f} nats per word.",
        OPEN if _runs_of(found) < FEWEST else verdict,
    )


def acceptance(runs: list[TextRun], tries: list[dict[str, Any]]) -> Statement:
    """Is about one try in thirty accepted?"""
    from scipy.stats import binomtest

    table = text.table_of_acceptance(runs, tries)
    totals = table[table["corpus"] == "all"].to_dict("records")
    parts, near = [], []
    for row in totals:
        tried, accepted = (sum(int(row[name]) for name in names) for names in (text.TRIED, text.ACCEPTED))
        interval = binomtest(accepted, tried).proportion_ci(1.0 - LEVEL / len(totals), method="wilson")
        near.append(interval.low <= 0.04 and interval.high >= 0.02)
        parts.append(f"{row['where']}: {accepted / tried:.2%} of {tried} tries")
    return Statement(
        "On average, split-merge operations are accepted at around 3 %.",
        "4.2",
        "; ".join(parts) + ".",
        AGREES if all(near) else IN_PART if any(near) else DIFFERS,
    )


def similarity(runs: list[TextRun], prior: float) -> Statement:
    """In which corpora are topics most similar?"""
    table = text.table_of_similarity(runs, prior)
    order = table["corpus"].tolist()
    pairs = zip(order, table["90 % quantile"], strict=True)
    values = ", ".join(f"{name} {value:.3f}" for name, value in pairs)
    verdict = OPEN
    if len(order) == 3:
        verdict = (
            AGREES if order == ["ML+IR", "NIPS", "ARXIV"] else IN_PART if order[0] == "ML+IR" else DIFFERS
        )
    return Statement(
        "The ranking of corpora by having similar topics is ML+IR > NIPS > ARXIV.",
        "4.2, figure 8",
        f"90 % quantile of the cosines, eta {prior}: {values or 'too few topics'}.",
        verdict,
    )
