"""The page of the study: what was done, in words; tables and figures in the order of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from franchise.parallel.threads import Threads
from franchise_studies.chang_fisher import bars, bias, figures, ratios, statements, text
from franchise_studies.chang_fisher.following import ALPHA, GAMMA, STOPS, Followed
from franchise_studies.chang_fisher.results import Results
from franchise_studies.chang_fisher.samplers import (
    BALANCED,
    DIRECT,
    FINITE,
    GLOBAL,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    SUBCLUSTER,
)
from franchise_studies.chang_fisher.size import Size
from franchise_studies.output import StudyFolder
from franchise_studies.sources import NamedCorpus

TITLE = "Chang & Fisher's sub-cluster splits, done again"


def introduction(size: Size, quick: bool, data: Path | None) -> list[str]:
    """What the page is about, and how it was measured."""
    words = [
        "Jason Chang and John Fisher III sample hierarchical Dirichlet processes by blocked sweeps over the topics "
        "there are, and split topics by two sub-topics that each of them learns throughout. This page repeats the "
        "experiments of their section 6 with franchise, measures how far the published sampler is from the "
        "posterior, and sets what the paper says beside what was found.",
        f"alpha = {ALPHA:g} and gamma = {GAMMA:g} are fixed: the paper fixes its hyper-parameters and does not say "
        f"at what (for the bars alpha = {bars.MIXED:g}, as they were made). eta is {text.PRIOR} (for '{PARALLEL}' "
        f"also {text.SMALL_PRIOR}). HOW is the mean log probability "
        "of one word held out from each document, given a single state, topics and weights at their posterior "
        f"means; it is taken at up to {STOPS} times, evenly in log time. Times are seconds of one core's time, "
        f"sweeps only, {Threads().workers} chains at a time, one on each core; the paper used 16 cores for most "
        "chains.",
        f"'{SUBCLUSTER}' is the published sampler with local and global moves; '{LOCAL}' has the local ones only; "
        f"'{BALANCED}' is the global move with the density that equation (24) leaves out. '{PARALLEL}' and "
        f"'{DIRECT}' are exact for the HDP, '{FINITE}' (the paper's FSD) for the finite model of its order. "
        f"'{PARALLEL}' warms up for {size.warmup} sweeps ({size.large_warmup} on the large corpora): first with "
        "even weights, which is not exact, then with splits tried in every sweep; its chains that start from "
        "another sampler's state do not.",
    ]
    if data is None:
        words.append("No data folder was given, so bundled text stands in for AP and NIPS.")
    if quick:
        words.append("This is the quick form: it shows what comes out, but is too small to decide much.")
    return words


def write_parts(folder: StudyFolder, size: Size, corpora: list[NamedCorpus], results: Results) -> None:
    """All tables and figures, in the order of the paper; last, why the published sampler agrees with itself."""
    _write_bias(folder, size, results)
    _write_bars(folder, size, results)
    _write_ap(folder, size, corpora, results)
    _write_switches(folder, size, results)
    _write_large(folder, size, results)
    _write_why(folder, results)


def _write_bias(folder: StudyFolder, size: Size, results: Results) -> None:
    folder.heading("Sections 4 and 5: how far from the posterior, by enumeration")
    folder.text(
        f"Five or six words in two groups have 52 or 203 partitions, so the posterior is known exactly. "
        f"{size.visits} draws of each sampler are held against it; independent draws of the same number, and of "
        "the same effective number, say how much of the distance is chance. The restricted sweep empties topics "
        "and never opens one, so alone it ends with a single topic; every set of published moves adds errors of "
        "its own: stand-ins for the reverse proposal, merges before splits, one naming of the sides out of two."
    )
    folder.table(
        "bias",
        bias.table_of_bias(results.bias),
        "Total variation between visits and the posterior, and mean numbers of topics.",
    )
    folder.figure("bias", figures.draw_bias(results.bias), "The same, drawn.")


def _write_bars(folder: StudyFolder, size: Size, results: Results) -> None:
    folder.heading("Section 6.1: bars")
    folder.text(
        f"{size.bars_documents} documents of 100 words from ten bars on a 5 x 5 grid, eta {bars.PRIOR}. Chains of "
        f"(b) and (d) start from one topic, {size.seeds} seeds each (the paper: 10 sample paths)."
    )
    folder.figure(
        "figure3a",
        figures.draw_picture(results.picture),
        f"Figure 3(a): topics, and their left and right sub-topics, {size.picture_sweeps} sweeps after a start "
        f"from {bars.PICTURED} topics, without splits and merges.",
    )
    folder.table(
        "bars_moves",
        bars.table_of_moves(results.moves),
        f"Figure 3(b) in numbers: chains that reach {bars.TOPICS} topics, and moves accepted of those tried.",
    )
    folder.figure(
        "figure3b", figures.draw_moves(results.moves), "Figure 3(b): topics against time, by set of moves."
    )
    folder.table(
        "threads",
        bars.table_of_threads(results.timings),
        "Figure 3(c) in numbers: the same sweeps on one and two threads; the draws are the same.",
    )
    folder.figure(
        "figure3c", figures.draw_threads(results.timings), "Figure 3(c): topics against time, by threads."
    )
    folder.table(
        "bars_algorithms",
        bars.table_of_algorithms(results.algorithms),
        f"Figure 3(d) in numbers. HOW has settled when it stays within {bars.HELD_OUT_TOLERANCE} nats, the number "
        f"of topics when it stays within {bars.TOPIC_TOLERANCE:g}, of its mean over the last half of the time.",
    )
    folder.figure(
        "figure3d",
        figures.draw_algorithms(results.algorithms),
        "Figure 3(d): algorithms from a single topic.",
    )


def _write_ap(folder: StudyFolder, size: Size, corpora: list[NamedCorpus], results: Results) -> None:
    import pandas as pd

    folder.heading("Section 6.2: AP from different numbers of topics")
    folder.table(
        "corpora",
        pd.DataFrame([named.facts() for named in corpora]),
        "The corpora, beside the paper's documents, terms and words.",
    )
    starts = ", ".join(map(str, size.starts))
    folder.table(
        "starts",
        text.table_of_starts(results.ap),
        f"Chains from {starts} topics (each word in one of them at random): means over the last quarter of the "
        "time; R-hat over the starts in the second half.",
    )
    folder.figure(
        "figure4a",
        figures.draw_starts(results.ap),
        f"Figure 4(a): HOW and topics against time, and the path in their joint space, from {starts} topics.",
    )
    folder.table("ap_runs", text.table_of_runs(results.ap), "Every chain on AP.", on_page=False)
    folder.table(
        "confusion",
        text.table_of_confusion(results.confusions),
        "Figure 5(a) in numbers: how far the nearest other topic is from a topic, in nats (C_rr less the largest "
        "other C_rc).",
    )
    start = str(size.starts[len(size.starts) // 2])
    folder.figure(
        "figure5a",
        figures.draw_confusions(results.confusions, start),
        f"Figure 5(a): confusion matrices, chains from {start} topics.",
    )


def _write_switches(folder: StudyFolder, size: Size, results: Results) -> None:
    folder.heading("Section 6.2: switching samplers")
    folder.text(
        f"The last state of a chain on AP becomes the start of a chain of another sampler, for "
        f"{size.switch_seconds:g} seconds. A chain that has converged should not change, if both samplers have the "
        "same posterior for their target."
    )
    folder.table(
        "switches",
        text.table_of_switches(results.switches),
        "Before and after: means over the last quarter of either chain's time; HOW at its end.",
    )
    folder.figure(
        "figure4b",
        figures.draw_switches(results.switches),
        "Figure 4(b): HOW and topics; the grey line is the switch.",
    )


def _write_large(folder: StudyFolder, size: Size, results: Results) -> None:
    folder.heading("Section 6.2: large corpora")
    folder.text(
        "NIPS papers and a synthetic corpus as large as the paper's Enron mails stand in for Enron and the "
        f"New York Times; {size.large_seconds:g} seconds a chain (the paper: 28 hours), FSD of order "
        f"{size.large_order}."
    )
    folder.table("large_runs", text.table_of_runs(results.large), "Every chain.")
    folder.figure(
        "figure6",
        figures.draw_starts(results.large),
        f"Figure 6: chains from {' and '.join(map(str, size.large_starts))} topics.",
    )


# --- why the published sampler agrees with itself -------------------------------------------------------------


def _write_why(folder: StudyFolder, results: Results) -> None:
    folder.heading("Why the published sampler agrees with itself, and on what")
    for words in explanation(results):
        folder.text(words)
    runs = [*results.ap, *results.probes]
    folder.table(
        "acceptance",
        text.table_of_acceptance(runs),
        "Splits and merges accepted on AP, of those tried, by set of moves and start.",
    )
    folder.table(
        "ratios",
        ratios.table_of_ratios(results.ratios),
        "Global moves proposed from states of the published sampler's chains, their log ratios taken apart; "
        "medians of those that are finite, nats.",
    )
    folder.figure("ratios", figures.draw_ratios(results.ratios), "The same against the number of topics.")


def explanation(results: Results) -> list[str]:
    """What the numbers say, in plain words."""
    splits, merges = ([row for row in results.ratios if row["move"] == kind] for kind in ("split", "merge"))
    published, balanced = (
        _sums([run for run in [*results.ap, *results.probes] if run.task.sampler in names])
        for names in ((SUBCLUSTER, GLOBAL), (LOCAL_BALANCED, BALANCED))
    )
    words = [
        "The printed ratio (24) of a global split has the density q(phi~_a | .) of the merged topic's parameter as "
        "a factor, and no density of a parameter to hold against it. Over a vocabulary of thousands a density is a "
        f"number of enormous size: its log is {_median(splits, 'density'):+,.0f} nats in the median split weighed "
        f"here, and has the opposite sign in a merge ({_median(merges, 'density'):+,.0f}). As printed, the ratio "
        f"was above one in {_above(splits, 'printed')} global splits and in {_above(merges, 'printed')} global "
        f"merges that were weighed; with the missing density put in ('{BALANCED}'), in "
        f"{_above(splits, 'balanced')} and {_above(merges, 'balanced')}.",
        _crossing_in_words(results),
        f"In the chains themselves, global moves as printed: {published['global split']} splits and "
        f"{published['global merge']} merges accepted; balanced: {balanced['global split']} and "
        f"{balanced['global merge']}. Local moves in the same chains, as printed: {published['split']} splits and "
        f"{published['merge']} merges accepted.",
        _balance_in_words(results),
    ]
    return [*words, f"Topics before and after a switch, by start: {_switches_in_words(results.switches)}."]


def _crossing_in_words(results: Results) -> str:
    """Up to how many topics the density outweighs the rest of the ratio."""
    splits = [row for row in results.ratios if row["move"] == "split"]
    finite = [row for row in splits if np.isfinite(row["rest"])]
    by_topics = {
        topics: _median([row for row in finite if row["topics"] == topics], "rest")
        for topics in sorted({row["topics"] for row in finite})
    }
    rest = ", ".join(f"{value:+,.0f} with {topics}" for topics, value in by_topics.items())
    printed, balanced = (
        ratios.most_topics_above_zero(results.ratios, name) for name in ("printed", "balanced")
    )
    return (
        "The other terms of a split's ratio depend on how many topics there are, since all words are drawn again "
        f"and the way back must draw them as they were; medians by number of topics: {rest or 'not known'}. In "
        f"{ratios.count_impossible(splits)} of {len(splits)} splits the way back has probability 0 in double "
        "precision, because a document's weight in a topic underflows, and the split is refused whatever the "
        f"other terms are. Of the rest, most have a printed ratio above one with up to {printed} topics, and a "
        f"balanced one with up to {balanced} (0: with none)."
    )


def _switches_in_words(switches: list[text.Switch]) -> str:
    pairs = dict.fromkeys((before.task.sampler, after.task.sampler) for before, after in switches)
    return "; ".join(
        f"{old} to {new} "
        + ", ".join(
            f"{before.late('n_topics'):.0f} to {after.late('n_topics'):.0f}"
            for before, after in switches
            if (before.task.sampler, after.task.sampler) == (old, new)
        )
        for old, new in pairs
    )


def _balance_in_words(results: Results) -> str:
    """Whether topics come by one kind of move and go by another, from the counts."""
    runs = [run for run in results.ap if run.task.sampler == SUBCLUSTER]
    split, merge, opened, closed = (
        text.total_acceptance(runs, kind)[0] for kind in ("split", "merge", "global split", "global merge")
    )
    if not opened:
        return f'No global split of "{SUBCLUSTER}" was accepted here: nothing can be said of how they are undone.'
    if closed < statements.SELDOM * opened:
        more = merge - split
        away = (
            f"topics go by local merges ({more} more of these were accepted than local splits), whose ratio has "
            "the stand-in (20) for the probability of the way back, and by being emptied in the restricted sweep"
            if more > 0
            else "topics go by being emptied in the restricted sweep, which opens none"
        )
        return (
            f'So in "{SUBCLUSTER}" topics come by global splits, hardly ever undone by global merges, and {away}. '
            "Where its number of topics settles is where these two errors balance, whatever the posterior says."
        )
    return (
        f'Here global merges of "{SUBCLUSTER}" undo its global splits ({closed} against {opened} accepted), so '
        "that one-sided acceptance is not what decides its number of topics."
    )


def _sums(runs: list[Followed]) -> dict[str, str]:
    counts = {
        kind: text.total_acceptance(runs, kind) for kind in ("split", "merge", "global split", "global merge")
    }
    return {kind: f"{accepted} of {tried}" for kind, (accepted, tried) in counts.items()}


def _median(rows: list[dict[str, float]], name: str) -> float:
    return float(np.median([row[name] for row in rows])) if rows else float("nan")


def _above(rows: list[dict[str, float]], name: str) -> str:
    return f"{sum(row[name] > 0 for row in rows)} of {len(rows)}"
