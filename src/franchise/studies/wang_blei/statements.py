"""What the paper says, judged by what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.studies.output import AGREES, DIFFERS, IN_PART, OPEN, Statement
from franchise.studies.wang_blei import synthetic, text
from franchise.studies.wang_blei.synthetic import AS_ONE, GIBBS, SEQUENTIAL, SPLIT_MERGE, WITHIN, Run
from franchise.studies.wang_blei.text import Difference, TextRun

MANY_ERRORS = 2.0  # standard errors beyond which a difference counts
SMALL = 0.01  # nats per word: less than this is "not too different"


def judge(
    chains: list[Run],
    runs: list[TextRun],
    tries: list[dict[str, Any]],
    found: list[Difference],
    similarity_prior: float,
) -> list[Statement]:
    """All statements of section 4 that were tested."""
    return [
        _trapped(chains),
        _finds_five(chains),
        _better_mode(chains),
        _reverse_moves(chains),
        _cheap(chains),
        _end_alike(found),
        _faster(found),
        _held_out(found),
        _acceptance(runs, tries),
        _similarity(runs, similarity_prior),
    ]


def _chosen(chains: list[Run], start: str, method: str) -> list[Run]:
    return [run for run in chains if (run.start, run.method) == (start, method)]


def _trapped(chains: list[Run]) -> Statement:
    sequential, as_one = (_chosen(chains, start, GIBBS) for start in (SEQUENTIAL, AS_ONE))
    free, late = synthetic.found_within(sequential, WITHIN), synthetic.found_within(as_one, WITHIN)
    trapped = free < len(sequential) / 2
    return Statement(
        "Traditional Gibbs sampling is trapped with 4 topics: it cannot tell topics 1 and 2 apart.",
        "4.1, figure 4(b, c)",
        f"From a sequential start Gibbs has the five topics within {WITHIN} sweeps in {free} of {len(sequential)} "
        f"seeds. From topics 1 and 2 as one: in {late} of {len(as_one)}, at sweep "
        f"{synthetic.median_sweep(as_one):g} in the median seed.",
        AGREES if trapped else IN_PART if late < len(as_one) else DIFFERS,
    )


def _finds_five(chains: list[Run]) -> Statement:
    both = [_chosen(chains, start, SPLIT_MERGE) for start in (SEQUENTIAL, AS_ONE)]
    counts = [synthetic.found_within(chosen, WITHIN) for chosen in both]
    medians = [synthetic.median_sweep(chosen) for chosen in both]
    enough = [count >= 0.9 * len(chosen) for count, chosen in zip(counts, both, strict=True)]
    return Statement(
        "With split-merge the 5 topics are found after several iterations.",
        "4.1, figure 4(b, d)",
        f"Within {WITHIN} sweeps in {counts[0]} of {len(both[0])} seeds from a sequential start (median sweep "
        f"{medians[0]:g}) and in {counts[1]} of {len(both[1])} from topics 1 and 2 as one (median {medians[1]:g}).",
        AGREES if all(enough) else IN_PART if any(enough) else DIFFERS,
    )


def _better_mode(chains: list[Run]) -> Statement:
    parts, ahead = [], []
    for start in (SEQUENTIAL, AS_ONE):
        old, new = _chosen(chains, start, GIBBS), _chosen(chains, start, SPLIT_MERGE)
        sweep = min(WITHIN, len(old[0].best)) - 1
        for when in (sweep, len(old[0].best) - 1):
            gaps = np.array([b.best[when] - a.best[when] for a, b in zip(old, new, strict=True)])
            mean, error = text.mean_and_error(gaps)
            ahead.append(mean > MANY_ERRORS * error)
            parts.append(f"{start}, sweep {when + 1}: {mean:+.4f} ± {error:.4f}")
    return Statement(
        "Split-merge explores the space to a better mode (best log likelihood per word so far).",
        "4.1, figure 4(a)",
        "Gibbs+SM less Gibbs, nats per word: " + "; ".join(dict.fromkeys(parts)) + ".",
        AGREES if all(ahead) else IN_PART if any(ahead) else DIFFERS,
    )


def _reverse_moves(chains: list[Run]) -> Statement:
    chosen = [run for run in chains if run.method == SPLIT_MERGE]
    splits, merges = (sum(run.accepted[name] for run in chosen) for name in ("splits", "merges"))
    tries = sum(run.accepted[name] for run in chosen for name in ("split_tries", "merge_tries"))
    return Statement(
        "Reverse moves (a split, then the merge that undoes it) are not seen.",
        "4.1",
        f"{splits} splits and {merges} merges accepted in {tries} tries; {splits / len(chosen):.1f} and "
        f"{merges / len(chosen):.1f} a chain.",
        AGREES if merges < 0.1 * splits else DIFFERS,
    )


def _cheap(chains: list[Run]) -> Statement:
    old, new = (np.mean([run.seconds for run in chains if run.method == m]) for m in (GIBBS, SPLIT_MERGE))
    return Statement(
        "The additional expense of one try a sweep is negligible on the synthetic data.",
        "4.1",
        f"A chain takes {new:.2f} s with and {old:.2f} s without split-merge: {new / old - 1:+.0%}.",
        AGREES if new < 1.25 * old else DIFFERS,
    )


def _end_alike(found: list[Difference]) -> Statement:
    ends = [text.mean_and_error(difference.best[:, -1])[0] for difference in found]
    alike = [abs(end) < SMALL for end in ends]
    return Statement(
        "Towards the end of the runs, Gibbs+SM and Gibbs are not too different.",
        "4.2, figure 6",
        f"Best training log likelihood per word at the end: differences of {min(ends):+.4f} to {max(ends):+.4f} "
        f"nats over {len(ends)} settings; {sum(alike)} of them below {SMALL}.",
        AGREES if all(alike) else IN_PART if np.mean(alike) > 0.5 else DIFFERS,
    )


def _faster(found: list[Difference]) -> Statement:
    ahead: list[str] = []
    behind: list[str] = []
    unclear: list[str] = []
    for difference in found:
        early = difference.best[:, : difference.best.shape[1] // 2].mean(axis=1)
        mean, error = text.mean_and_error(early)
        name = f"{difference.corpus} {difference.prior} ({mean:+.4f} ± {error:.4f})"
        place = ahead if mean > MANY_ERRORS * error else behind if mean < -MANY_ERRORS * error else unclear
        place.append(name)
    said = [
        f"{what}: {', '.join(names) if names else 'none'}"
        for what, names in (
            ("ahead early", ahead),
            ("behind early", behind),
            ("no clear difference", unclear),
        )
    ]
    return Statement(
        "Gibbs+SM reaches a better mode faster with eta 0.2 and 0.5 for ML+IR and 0.2 for NIPS; elsewhere it is as "
        "good as Gibbs.",
        "4.2, figure 6",
        f"First half of the log time axis, best training log likelihood per word. {'; '.join(said)}.",
        DIFFERS if behind else IN_PART if ahead else OPEN,
    )


def _held_out(found: list[Difference]) -> Statement:
    ends = [text.mean_and_error(difference.held_out[:, -1]) for difference in found]
    worse = sum(mean < -MANY_ERRORS * error for mean, error in ends)
    better = sum(mean > MANY_ERRORS * error for mean, error in ends)
    return Statement(
        "On held-out documents Gibbs+SM is at least as good as Gibbs.",
        "4.2, figure 7",
        f"At the end: better beyond two standard errors in {better}, worse in {worse}, neither in "
        f"{len(ends) - better - worse} of {len(ends)} settings; differences of {min(m for m, _ in ends):+.4f} to "
        f"{max(m for m, _ in ends):+.4f} nats per word.",
        AGREES if worse == 0 else IN_PART,
    )


def _acceptance(runs: list[TextRun], tries: list[dict[str, Any]]) -> Statement:
    table = text.table_of_acceptance(runs, tries)
    totals = table[table["corpus"] == "all"]
    shares = totals["accepted"].to_numpy()
    parts = [
        f"{row['where']}: {row['accepted']:.2%} ({row['splits']} splits of {row['split_tries']}, {row['merges']} "
        f"merges of {row['merge_tries']})"
        for row in totals.to_dict("records")
    ]
    near = (shares >= 0.015) & (shares <= 0.06)
    return Statement(
        "On average, split-merge operations are accepted at around 3 %.",
        "4.2",
        "; ".join(parts) + ".",
        AGREES if near.all() else IN_PART if near.any() else DIFFERS,
    )


def _similarity(runs: list[TextRun], prior: float) -> Statement:
    table = text.table_of_similarity(runs, prior)
    order = table["corpus"].tolist()
    values = ", ".join(
        f"{name} {value:.3f}" for name, value in zip(order, table["90 % quantile"], strict=True)
    )
    said = "The ranking of corpora by having similar topics is ML+IR > NIPS > ARXIV."
    verdict = OPEN
    if len(order) == 3:
        verdict = (
            AGREES if order == ["ML+IR", "NIPS", "ARXIV"] else IN_PART if order[0] == "ML+IR" else DIFFERS
        )
    return Statement(
        said,
        "4.2, figure 8",
        f"90 % quantile of the cosines, eta {prior}: {values or 'too few topics'}.",
        verdict,
    )
