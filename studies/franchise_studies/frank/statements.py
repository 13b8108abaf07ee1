"""What the paper says, judged by what was measured; when a difference counts, `studies.judging` says.

A number of the paper's is met if ours is within a tenth of it.  Words such as "usually" and "for the most part"
are taken for clearly more than half.  The paper's chain was one of direct assignment, so that sampler is judged;
CRF is shown beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from franchise.diagnostics.convergence import USABLE
from franchise_studies.frank import ants, speed, text
from franchise_studies.frank.corpora import REUTERS
from franchise_studies.frank.script import ScriptScore
from franchise_studies.judging import FEWEST, sign
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, Statement

CLOSE = 0.1  # of the paper's number
MOST = 9  # clusters, the bound the paper expects
SOON = 100  # sweeps
CONVERGED = USABLE  # R-hat below
FASTER = 1.2  # times as fast at least, to be called faster


def judge(
    chains: list[ants.Run],
    timings: list[speed.Timing],
    name: str,
    runs: list[text.TextRun],
    scores: list[ScriptScore],
) -> list[Statement]:
    """All statements that were tested; `name` is the collection of texts."""
    return [
        four_to_seven(chains),
        histogram(chains),
        at_most_nine(chains),
        lasting(chains),
        two_colours(chains),
        one_dominates(chains),
        linked(chains),
        like_controls(chains),
        direct_is_faster(timings),
        categorical_is_faster(timings),
        nematodes(),
        topics_of_reuters(name, runs),
        converges(name, runs),
        perplexities(name, runs, scores),
        predicts(name, runs),
        twice_the_documents(runs),
        order_of_times(runs),
        better_than_lda(runs),
    ]


def is_close(ours: float, printed: float) -> bool:
    """Whether a number of the paper's is met."""
    return abs(ours - printed) <= CLOSE * printed


def _of_direct(chains: list[ants.Run], verdict: str) -> str:
    """The verdict, if there are chains enough."""
    return verdict if len(ants.choose(chains, ants.DIRECT)) >= FEWEST else OPEN


def _pooled(chains: list[ants.Run], sampler: str) -> np.ndarray:
    return np.concatenate([run.clusters for run in ants.choose(chains, sampler)])


# --- simulated data -----------------------------------------------------------------------------------------

_SIMULATED = "Simulated data sets"


def four_to_seven(chains: list[ants.Run]) -> Statement:
    """Are there mostly 4 to 7 clusters?"""
    shares = {}
    for sampler in ants.SAMPLERS:
        numbers = _pooled(chains, sampler)
        shares[sampler] = float(np.mean((numbers >= 4) & (numbers <= 7)))
    inside = [share > 0.5 for share in shares.values()]
    return Statement(
        "Most of the time the ants are in 4 to 7 clusters (in 419 of 450 sweeps, 93 %).",
        f"{_SIMULATED}, table",
        "; ".join(f"{name}: {share:.0%} of the draws" for name, share in shares.items()) + ".",
        _of_direct(chains, AGREES if all(inside) else IN_PART if any(inside) else DIFFERS),
    )


def histogram(chains: list[ants.Run]) -> Statement:
    """Is the number of clusters distributed as printed?"""
    numbers = np.repeat(list(ants.REPORTED), list(ants.REPORTED.values()))
    modes = {sampler: int(np.bincount(_pooled(chains, sampler)).argmax()) for sampler in ants.SAMPLERS}
    parts, ranges = [], {}
    for sampler in ants.SAMPLERS:
        means = [float(run.clusters.mean()) for run in ants.choose(chains, sampler)]
        ranges[sampler] = np.quantile(means, [0.025, 0.975])
        parts.append(
            f"{sampler}: {modes[sampler]} is the most common, mean {np.mean(means):.2f}, that of single "
            f"chains from {ranges[sampler][0]:.2f} to {ranges[sampler][1]:.2f}, R-hat "
            f"{ants.r_hat(ants.choose(chains, sampler)):.2f}"
        )
    low, high = ranges[ants.DIRECT]
    met = modes[ants.DIRECT] == 5
    inside = low <= numbers.mean() <= high
    return Statement(
        f"5 clusters are the most common, then 6 (mean {numbers.mean():.2f}).",
        f"{_SIMULATED}, table",
        "; ".join(parts) + ". (Of single chains the middle 95 %; where R-hat is well above 1, chains "
        "of this length have not forgotten their start.)",
        _of_direct(chains, AGREES if met and inside else IN_PART if met or inside else DIFFERS),
    )


def at_most_nine(chains: list[ants.Run]) -> Statement:
    """Are there never more than nine?"""
    parts = []
    for sampler in ants.SAMPLERS:
        runs = ants.choose(chains, sampler)
        never = sum(int(run.clusters.max()) <= MOST for run in runs)
        parts.append(
            f"{sampler}: never more in {never} of {len(runs)} chains; more in "
            f"{np.mean(_pooled(chains, sampler) > MOST):.1%} of all draws"
        )
    clean = [int(run.clusters.max()) <= MOST for run in ants.choose(chains, ants.DIRECT)]
    rare = float(np.mean(_pooled(chains, ants.DIRECT) > MOST)) < 0.05
    return Statement(
        "The clusters never exceed the expected bound of 9.",
        _SIMULATED,
        "; ".join(parts) + ".",
        _of_direct(chains, AGREES if all(clean) else IN_PART if rare else DIFFERS),
    )


def lasting(chains: list[ants.Run]) -> Statement:
    """Do some clusters last?"""
    counts = {s: [ants.lasting_clusters(run) for run in ants.choose(chains, s)] for s in ants.SAMPLERS}
    ours = float(np.median(counts[ants.DIRECT]))
    verdict = AGREES if abs(ours - 4) <= 1 else IN_PART if ours > 0 else DIFFERS
    return Statement(
        "Over time 4 of the clusters remain intact; the others switch labels or are used now and then.",
        f"{_SIMULATED}, trace plots",
        "Clusters that are there in at least nine sweeps of ten, median of the chains: "
        + ", ".join(f"{name} {np.median(values):g}" for name, values in counts.items())
        + " (followed from sweep to sweep by the trials they hold; within one of 4 is taken for agreement).",
        _of_direct(chains, verdict),
    )


def two_colours(chains: list[ants.Run]) -> Statement:
    """Has a trial at most two clusters?"""
    few = _of_chains(chains, lambda run: float(np.mean(ants.colours_per_trial(run) <= 2)))
    two = _of_chains(chains, ants.share_of_two)
    in_part = float(two[ants.DIRECT].mean()) > 0.9
    verdict = AGREES if _mostly(few[ants.DIRECT]) else IN_PART if in_part else DIFFERS
    return Statement(
        "For the most part a trial has at most 2 colours in the last 50 sweeps.",
        f"{_SIMULATED}, heat maps",
        f"Trials with at most two clusters: {_percent(few)}; the two that a trial visits most have of its "
        f"sweeps: {_percent(two)} (above 90 % is taken for agreement in part). Means of the chains.",
        _of_direct(chains, verdict),
    )


def one_dominates(chains: list[ants.Run]) -> Statement:
    """Does one cluster dominate a condition?"""
    shares = _of_chains(chains, lambda run: float(np.mean(ants.share_of_commonest(run) > 0.5)))
    return Statement(
        "Within each of the 12 plots there is usually one colour dominating.",
        f"{_SIMULATED}, heat maps",
        "Conditions whose commonest cluster has more than half of the last 50 sweeps, mean of the chains: "
        f"{_percent(shares)}.",
        _of_direct(chains, AGREES if _mostly(shares[ants.DIRECT]) else DIFFERS),
    )


def _of_chains(chains: list[ants.Run], share: Callable[[ants.Run], float]) -> dict[str, np.ndarray]:
    """A share of each chain, by sampler."""
    return {s: np.array([share(run) for run in ants.choose(chains, s)]) for s in ants.SAMPLERS}


def _mostly(shares: np.ndarray) -> bool:
    """Whether the shares of some chains are clearly more than half: every one of them, or by the t-test."""
    return bool(shares.min() > 0.5) or sign(shares - 0.5) > 0


def _percent(shares: dict[str, np.ndarray]) -> str:
    return ", ".join(f"{name} {values.mean():.0%}" for name, values in shares.items())


def linked(chains: list[ants.Run]) -> Statement:
    """Are conditions made with one rate joined across studies?"""
    by_sampler = {s: ants.linked_chances(ants.choose(chains, s)) for s in ants.SAMPLERS}
    ours = by_sampler[ants.DIRECT]
    above = [ours[name] > ours["others"] for name in ants.SAME]
    parts = [
        f"{sampler}: " + ", ".join(f"{name} {chance:.2f}" for name, chance in chances.items())
        for sampler, chances in by_sampler.items()
    ]
    return Statement(
        "Groups expected to be linked overlap: the 3 controls, and the 2 groups of changed temperature.",
        f"{_SIMULATED}, heat maps",
        f"Chance that trials of two such groups share a cluster, beside all other pairs: {'; '.join(parts)}.",
        _of_direct(chains, AGREES if all(above) else IN_PART if any(above) else DIFFERS),
    )


def like_controls(chains: list[ants.Run]) -> Statement:
    """Which changes tell a group from the controls?"""
    by_sampler = {s: ants.chances_with_controls(ants.choose(chains, s)) for s in ants.SAMPLERS}
    ours = by_sampler[ants.DIRECT]
    apart = all(ours[name] < ours["control"] / 2 for name in ("altitude", "quality of dirt"))
    similar = ours["sunlight"] > ours["control"] / 2
    parts = [
        f"{sampler}: " + ", ".join(f"{name} {chance:.2f}" for name, chance in chances.items())
        for sampler, chances in by_sampler.items()
    ]
    return Statement(
        "Dirt and altitude differ greatly from the controls; sunlight varies as the controls do among "
        "themselves.",
        f"{_SIMULATED}, heat maps",
        f"Chance to share a cluster with a control (of another study): {'; '.join(parts)}. Less than half of "
        "that of two controls is taken for differing greatly.",
        _of_direct(chains, AGREES if apart and similar else IN_PART if apart or similar else DIFFERS),
    )


# --- run times ----------------------------------------------------------------------------------------------


def direct_is_faster(timings: list[speed.Timing]) -> Statement:
    """Is direct assignment more than five times as fast as CRF?"""
    ratios = {
        shape: speed.crf_by_direct(speed.middles(timings, shape), speed.MULTINOMIAL) for shape in speed.SHAPES
    }
    printed = speed.crf_by_direct(speed.PRINTED, speed.MULTINOMIAL)
    values = list(ratios.values())
    verdict = AGREES if min(values) > 5.0 else IN_PART if max(values) > FASTER else DIFFERS
    return Statement(
        f"Direct assignment is more than 5 times as fast per sweep as CRF ({printed:.1f} times as printed).",
        "Comparison between sampling schemes",
        "Multinomial, CRF by direct: "
        + ", ".join(f"{ratio:.1f} times at N = {shape.observations}" for shape, ratio in ratios.items())
        + ". CRF draws an observation's topic before its table here, so a new table costs no second pass "
        "over the topics.",
        verdict,
    )


def categorical_is_faster(timings: list[speed.Timing]) -> Statement:
    """Is the categorical model faster, and less so for CRF?"""
    parts, all_ratios, less = [], [], []
    for shape in speed.SHAPES:
        seconds = speed.middles(timings, shape)
        ratios = {s: speed.multinomial_by_categorical(seconds, s) for s in speed.SAMPLERS}
        all_ratios += list(ratios.values())
        less.append(ratios[speed.CRF] < ratios[speed.DIRECT])
        parts.append(
            f"N = {shape.observations}: CRF {ratios[speed.CRF]:.1f}, direct {ratios[speed.DIRECT]:.1f}"
        )
    printed = {s: speed.multinomial_by_categorical(speed.PRINTED, s) for s in speed.SAMPLERS}
    faster = [ratio > FASTER for ratio in all_ratios]
    verdict = AGREES if all(faster) and all(less) else IN_PART if any(faster) else DIFFERS
    return Statement(
        "The categorical model is faster than the multinomial for both samplers, less dramatically for CRF "
        f"(printed: {printed[speed.CRF]:.2f} and {printed[speed.DIRECT]:.1f} times).",
        "Comparison between multinomial and categorical models",
        f"Multinomial by categorical, {'; '.join(parts)}. The multinomial visits only categories that occur, "
        "where the paper's goes through all 50.",
        verdict,
    )


# --- text ---------------------------------------------------------------------------------------------------

_REAL = "Real data sets"
_COMPARED = "Competing algorithms"


def nematodes() -> Statement:
    """The corpus that is not to be had."""
    return Statement(
        "Nematode abstracts: 24 to 34 topics, 29 the most common; perplexity 103.7 (train) and 78.1 (test).",
        _REAL,
        "Not run: the abstracts are not among the data this study reads.",
        OPEN,
    )


def _of_reuters(name: str, run: text.TextRun, verdict: str) -> str:
    """A verdict on a printed number: on Reuters only, and with chains enough."""
    return verdict if name == REUTERS and len(run.hdp.topics) >= FEWEST else OPEN


def topics_of_reuters(name: str, runs: list[text.TextRun]) -> Statement:
    """Are 20 topics the most common?"""
    run = runs[0]
    commonest = run.hdp.commonest
    low, high = np.quantile(run.hdp.after_warmup, [0.05, 0.95])
    others = [float(np.median(other.hdp.commonest)) for other in runs[1:]]
    more = (
        f" In the other samples of as many documents: {min(others):g} to {max(others):g}." if others else ""
    )
    verdict = (
        AGREES
        if is_close(float(np.median(commonest)), text.PRINTED_TOPICS)
        else IN_PART
        if low <= text.PRINTED_TOPICS <= high
        else DIFFERS
    )
    return Statement(
        f"Reuters: {text.PRINTED_TOPICS} topics are the most common.",
        f"{_REAL}, histogram",
        f"{name}: the most common number is {np.median(commonest):g} (median of {len(commonest)} chains; "
        f"{commonest.min()} to {commonest.max()}); nine draws of ten have {low:g} to {high:g}.{more}",
        _of_reuters(name, run, verdict),
    )


def converges(name: str, runs: list[text.TextRun]) -> Statement:
    """Does the number of topics converge quickly?"""
    hdp = runs[0].hdp
    soon, same = hdp.arrival <= SOON, hdp.r_hat < CONVERGED
    verdict = AGREES if soon and same else IN_PART if soon or same else DIFFERS
    return Statement(
        "The number of topics converges quickly.",
        f"{_REAL}, trace plots",
        f"{name}: after {hdp.arrival:g} sweeps (median) a chain is among its later numbers of topics (up to "
        f"{SOON} is taken for quickly); R-hat over the chains is {hdp.r_hat:.2f} (below {CONVERGED} they "
        "agree).",
        OPEN if len(hdp.topics) < FEWEST else verdict,
    )


def perplexities(name: str, runs: list[text.TextRun], scores: list[ScriptScore]) -> Statement:
    """Are the perplexities those printed?"""
    hdp = runs[0].hdp
    ours = {"train": float(np.exp(-hdp.train.mean())), "test": float(np.exp(-hdp.test.mean()))}
    met = [is_close(ours[which], text.PRINTED[which]) for which in ours]
    by_script = " or ".join(f"{s.train:.1f} and {s.test:.1f} (topics numbered {s.numbering})" for s in scores)
    return Statement(
        f"Reuters: perplexity {text.PRINTED['train']:.1f} of training and {text.PRINTED['test']:.1f} of "
        "test documents.",
        f"{_REAL}, table",
        f"{name}: {ours['train']:.1f} and {ours['test']:.1f}. The script in the paper's repository counts "
        "topic labels in the place of words and adds up a word's probabilities over all training documents, "
        f"so what it prints is no perplexity; of one chain of ours it would print {by_script}.",
        _of_reuters(name, runs[0], AGREES if all(met) else IN_PART if any(met) else DIFFERS),
    )


def predicts(name: str, runs: list[text.TextRun]) -> Statement:
    """Are test documents harder than training documents, but predicted well?"""
    hdp = runs[0].hdp
    train, test = float(np.exp(-hdp.train.mean())), float(np.exp(-hdp.test.mean()))
    parts = [test > train, test < hdp.unigram]
    return Statement(
        "Reuters: test perplexity is above that of training, but the model still performs well on the test "
        "set.",
        _REAL,
        f"{name}: {test:.1f} against {train:.1f} in training; word frequencies alone, without topics, have "
        f"{hdp.unigram:.1f} on the same words.",
        _of_reuters(name, runs[0], AGREES if all(parts) else IN_PART if any(parts) else DIFFERS),
    )


def twice_the_documents(runs: list[text.TextRun]) -> Statement:
    """Do twice the documents take far more than twice the time?"""
    ratios = np.array([run.hdp.seconds_of_both / run.hdp.seconds for run in runs])
    words = float(np.mean([run.facts["words"] / run.facts["words trained on"] for run in runs]))
    printed = text.PRINTED_MINUTES[200] / text.PRINTED_MINUTES[100]
    ratio = float(np.median(ratios))
    return Statement(
        f"Time grows faster than the data: 200 documents take {printed:.1f} times as long as 100, since a "
        "matrix of words by vocabulary is stored.",
        _REAL,
        f"{ratio:.1f} times (median of {len(runs)} samples) for {words:.1f} times the words. No such matrix "
        "is stored: a sweep costs by the word, and by the topics it has to choose from.",
        AGREES if ratio > 4.0 else IN_PART if ratio > 1.5 * words else DIFFERS,
    )


def order_of_times(runs: list[text.TextRun]) -> Statement:
    """Is LSA the fastest and the HDP the slowest?"""
    seconds = {name: float(np.median([run.seconds[name] for run in runs])) for name in text.PRINTED_SECONDS}
    fastest, slowest = min(seconds, key=seconds.__getitem__), max(seconds, key=seconds.__getitem__)
    parts = [fastest == "LSA", slowest == "HDP"]
    sweeps, models = runs[0].hdp.topics.shape[1], len(runs[0].lda)
    as_printed = sweeps >= 2000 and models == len(text.COUNTS)
    return Statement(
        "LSA is the fastest of the three and the HDP the slowest (printed: "
        + ", ".join(f"{name} {value:g} s" for name, value in text.PRINTED_SECONDS.items())
        + ").",
        _COMPARED,
        ", ".join(f"{name} {value:.2g} s" for name, value in seconds.items())
        + f" (median of {len(runs)} samples): one chain of {sweeps} sweeps, and {models} numbers of topics "
        "of LDA and LSA. The sampler is compiled here, and the HDP is run once, not for every number of "
        "topics.",
        (AGREES if all(parts) else IN_PART if any(parts) else DIFFERS) if as_printed else OPEN,
    )


def better_than_lda(runs: list[text.TextRun]) -> Statement:
    """Does the HDP predict better than LDA, whatever the number of topics?"""
    gains = np.array([run.gains for run in runs])  # samples, numbers of topics
    signs = [sign(gains[:, place], gains.shape[1]) for place in range(gains.shape[1])]
    ahead, behind = signs.count(1), signs.count(-1)
    best = int(np.argmin(gains.mean(axis=0)))
    first, last = runs[0].lda[0], runs[0].lda[-1]
    verdict = AGREES if ahead == len(signs) else IN_PART if ahead > behind else DIFFERS
    return Statement(
        "HDP offers an increase in performance over LDA without having to specify the number of topics "
        "(expected, not shown: gensim's log_perplexity is said to have bugs).",
        _COMPARED,
        f"Log probability per held-out word, HDP less LDA: clearly above zero with {ahead} and clearly below "
        f"with {behind} of {len(signs)} numbers of topics; with LDA's best, {runs[0].lda[best].topics}, "
        f"{gains[:, best].mean():+.3f} nats ({len(runs)} samples). From {first.topics} to "
        f"{last.topics} topics LDA's perplexity goes from {np.exp(-first.test):.0f} to "
        f"{np.exp(-last.test):.0f} by these predictions, and from {first.bound:.0f} to {last.bound:.0f} by "
        "the variational bound, which is what log_perplexity is made of (sample 0).",
        OPEN if len(runs) < FEWEST else verdict,
    )
