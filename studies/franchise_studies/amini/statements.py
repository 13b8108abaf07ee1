"""What the paper says, judged by what was measured.

A difference over data sets or runs counts by the t-test of `studies.judging`; with fewer than FEWEST nothing is
decided.  Exact or not is decided by enumeration alone, which needs no repetition: the threshold is what independent
draws hardly ever exceed.
"""

from __future__ import annotations

import numpy as np

from franchise_studies.amini import synthetic, titles
from franchise_studies.amini.curves import SHARE
from franchise_studies.amini.exactness import Measured
from franchise_studies.amini.printed import AS_PRINTED, BY_THE_REST, FIRST_CAP
from franchise_studies.amini.samplers import BY_REST, CRF, METHODS, PRINTED, SLICE
from franchise_studies.amini.synthetic import (
    EARLY,
    GAUSSIAN,
    LENGTHS,
    MULTINOMIAL,
    Capped,
    choose,
    settings_of,
)
from franchise_studies.judging import FEWEST, sign
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, Statement

SOON = 20  # sweeps: the later end of "somewhere between 10 to 20 iterations"
ALIKE = 2.0  # times as many sweeps, or half: still similar
RARELY = 0.05  # of the later iterations: if fewer are done again, "all but a few early updates" are not
SMALL = 0.02  # NMI: less than this is no difference on the titles


def judge(
    runs: list[synthetic.Run],
    capped: list[Capped],
    title_runs: list[titles.Run],
    measured: list[Measured],
) -> list[Statement]:
    """All statements that were tested."""
    return [
        printed_exact(measured),
        right_exact(measured),
        settles(runs, SLICE),
        settles(runs, PRINTED),
        settles(runs, BY_REST),
        mixes_better(runs),
        less_variance(runs),
        gaussian_alike(runs),
        within_caps(capped),
        title_quality(title_runs),
        title_mixing(title_runs),
    ]


def _verdict(held: list[bool]) -> str:
    return AGREES if all(held) else IN_PART if any(held) else DIFFERS


def _fewest(runs: list[synthetic.Run]) -> int:
    """The least number of data sets of a setting."""
    settings = settings_of(runs)
    return min((len(choose(runs, size=size, length=length)) for size, length in settings), default=0)


# --- exactness ----------------------------------------------------------------------------------------------


def _distances(measured: list[Measured], sampler: str) -> list[Measured]:
    return [one for one in measured if one.sampler == sampler]


def _in_words(measured: list[Measured]) -> str:
    return "; ".join(f"{one.case} {one.distance:.3f} ({one.independent:.3f})" for one in measured)


def printed_exact(measured: list[Measured]) -> Statement:
    """Does Algorithm 1, as printed, sample the posterior?"""
    printed, by_rest = (_distances(measured, reading.name) for reading in (AS_PRINTED, BY_THE_REST))
    return Statement(
        "Algorithm 1 is an exact sampler: “the chain is sampling exactly”.",
        "3.2.1, Algorithm 1",
        "Total variation from the enumerated posterior, and in brackets what as many independent draws (by "
        f"effective number) have: {_in_words(printed)}. With supports by remark A.1: {_in_words(by_rest)}.",
        _verdict([one.exact for one in printed]),
    )


def right_exact(measured: list[Measured]) -> Statement:
    """Does the slice sampler, in the right order and with the right supports?"""
    right = _distances(measured, SLICE)
    return Statement(
        "The augmented density (11) gives an exact slice sampler (here: slices drawn after their sticks, supports "
        "as the indicators in (12) have them).",
        "3.2, (7) to (12)",
        f"Total variation: {_in_words(right)}.",
        _verdict([one.exact for one in right]),
    )


# --- figure 2 -----------------------------------------------------------------------------------------------


def _median_settled(runs: list[synthetic.Run]) -> dict[tuple[int, int], float]:
    return {
        (size, length): float(
            np.median([run.curve.settled for run in choose(runs, size=size, length=length)])
        )
        for size, length in settings_of(runs)
    }


def _by_setting(values: dict[tuple[int, int], float], form: str = "g") -> str:
    sizes = sorted({size for size, _ in values})
    return "; ".join(
        f"{size}: " + ", ".join(f"{value:{form}}" for (of, _), value in values.items() if of == size)
        for size in sizes
    )


def settles(runs: list[synthetic.Run], method: str) -> Statement:
    """Do the curves of figure 2 settle within 20 sweeps?  Settings with enough data sets are judged."""
    chosen = choose(runs, mixture=MULTINOMIAL, method=method)
    settled = _median_settled(chosen)
    enough = [s for s in settled if len(choose(chosen, size=s[0], length=s[1])) >= FEWEST]
    levels = {
        setting: float(
            np.mean([run.curve.level for run in choose(chosen, size=setting[0], length=setting[1])])
        )
        for setting in settled
    }
    return Statement(
        f"The plots indicate a fast mixing time, somewhere between 10 to 20 iterations (sampler here: {method}).",
        "3.4, figure 2",
        f"Median sweep at which a chain has {SHARE:.0%} of its own later level, by J = W for n = 30, 100, 300: "
        f"{_by_setting(settled)}. The level, NMI: {_by_setting(levels, '.2f')}.",
        _verdict([settled[setting] <= SOON for setting in enough]) if enough else OPEN,
    )


def mixes_better(runs: list[synthetic.Run]) -> Statement:
    """Does the slice sampler need fewer sweeps than Gibbs in the Chinese restaurant franchise?"""
    chosen = choose(runs, mixture=MULTINOMIAL)
    settings = settings_of(chosen)
    signs, medians = [], {SLICE: {}, CRF: {}}  # type: ignore[var-annotated]
    for size, length in settings:
        new, old = (choose(chosen, size=size, length=length, method=method) for method in (SLICE, CRF))
        times = np.array([_times(a, b) for a, b in zip(new, old, strict=True)])
        signs.append(sign(np.log(times[:, 1]) - np.log(times[:, 0]), len(settings)))
        medians[SLICE][size, length], medians[CRF][size, length] = np.median(times, axis=0)
    ahead, behind = signs.count(1), signs.count(-1)
    verdict = (AGREES if ahead > len(signs) / 2 else IN_PART) if ahead > 0 and behind == 0 else IN_PART
    if ahead == 0:
        verdict = DIFFERS if behind > 0 else OPEN
    return Statement(
        "Gibbs sampling in the Chinese restaurant franchise mixes slowly; the slice sampler mixes fast.",
        "abstract, 1",
        f"Sweeps to {SHARE:.0%} of the higher of both levels of NMI (median; never counts as twice the "
        f"run), by J = W for n = 30, 100, 300. Slice: {_by_setting(medians[SLICE])}. CRF: "
        f"{_by_setting(medians[CRF])}. Slice clearly sooner in {ahead}, clearly later in {behind} of {len(signs)} "
        "settings.",
        OPEN if _fewest(choose(chosen, method=SLICE)) < FEWEST else verdict,
    )


def _times(new: synthetic.Run, old: synthetic.Run) -> tuple[float, float]:
    """When two chains on the same data reach a level that one of them has."""
    level = SHARE * max(new.curve.level, old.curve.level)
    never = 2.0 * new.curve.sweeps[-1]
    first, second = (min(run.curve.reaches(level), never) for run in (new, old))
    return first, second


def less_variance(runs: list[synthetic.Run]) -> Statement:
    """Does the NMI vary less over sweeps with more words a group?  Judged by both exact samplers."""
    words = choose(runs, mixture=MULTINOMIAL)
    spreads = {method: _spreads(choose(words, method=method)) for method in (SLICE, CRF)}
    sizes = sorted({run.task.size for run in words})
    drops = [
        found[size, min(LENGTHS)] - found[size, max(LENGTHS)] for found in spreads.values() for size in sizes
    ]
    said = [
        f"{method}: {_by_setting({setting: float(values.mean()) for setting, values in found.items()}, '.3f')}"
        for method, found in spreads.items()
    ]
    return Statement(
        "The variance of the posterior decreases as n increases.",
        "3.4, figure 2",
        "Standard deviation of the NMI over the second half of the sweeps (where a chain still rises, the rise "
        f"counts too), mean over data sets, by J = W for n = 30, 100, 300. {'. '.join(said)}.",
        OPEN
        if _fewest(choose(words, method=SLICE)) < FEWEST
        else _verdict([sign(drop, len(drops)) > 0 for drop in drops]),
    )


def _spreads(runs: list[synthetic.Run]) -> dict[tuple[int, int], np.ndarray]:
    return {
        (size, length): np.array([run.curve.spread for run in choose(runs, size=size, length=length)])
        for size, length in settings_of(runs)
    }


def gaussian_alike(runs: list[synthetic.Run]) -> Statement:
    """Do Gaussian mixtures behave similarly?"""
    words = _median_settled(choose(runs, mixture=MULTINOMIAL, method=SLICE))
    points = _median_settled(choose(runs, mixture=GAUSSIAN, method=SLICE))
    ratios = [points[setting] / words[setting] for setting in points if setting in words]
    return Statement(
        "Gaussian mixtures behave similarly (their figures are left out for that).",
        "3.4",
        f"Median sweep at which chains settle, by J for n = 30, 100, 300: {_by_setting(points)}; the multinomial "
        f"mixture: {_by_setting({setting: words[setting] for setting in points if setting in words})}.",
        OPEN
        if _fewest(choose(runs, mixture=GAUSSIAN)) < FEWEST
        else _verdict([1.0 / ALIKE <= ratio <= ALIKE for ratio in ratios]),
    )


def within_caps(capped: list[Capped]) -> Statement:
    """Do the caps of Algorithm 1 suffice after a few iterations?"""
    shares = [one.later / (one.iterations - EARLY) for one in capped if one.iterations > EARLY]
    early = "; ".join(f"{one.size}: {one.early}" for one in capped)
    late = "; ".join(f"{one.size}: {one.later}" for one in capped)
    return Statement(
        "After a few steps the chain remains within the caps, and one avoids resampling for all but a few early "
        "updates.",
        "3.2.1",
        f"Algorithm 1 as printed, caps of {FIRST_CAP} at first, n = {min(LENGTHS)}. Iterations done again within "
        f"the first {EARLY}, by J = W: {early}; in the {capped[0].iterations - EARLY} after these: {late}.",
        _verdict([share < RARELY for share in shares]) if shares else OPEN,
    )


# --- figure 3 -----------------------------------------------------------------------------------------------

NO_TITLES = "No data folder was given, so the titles were left out."


def _title_means(runs: list[titles.Run], method: str) -> dict[int, np.ndarray]:
    """By number of papers, the NMI about sweep 100 of every run."""
    return {
        papers: np.array(
            [titles.in_window(run.curve) for run in titles.choose(runs, papers=papers, method=method)]
        )
        for papers in sorted({run.task.papers for run in runs})
    }


def title_quality(runs: list[titles.Run]) -> Statement:
    """Is the NMI between 0.35 and 0.4 after about 100 sweeps?"""
    low, high = titles.QUALITY
    means = {method: _title_means(runs, method) for method in METHODS}
    inside = [
        bool(low - 2.0 * _error(values) <= values.mean() <= high + 2.0 * _error(values))
        for values in means[SLICE].values()
    ]
    said = [
        f"{method}: "
        + ", ".join(f"{values.mean():.3f} ({papers} papers)" for papers, values in found.items())
        for method, found in means.items()
    ]
    few = min((len(values) for values in means[SLICE].values()), default=0) < FEWEST
    return Statement(
        "By about 100 iterations the labels of papers are of pretty good quality, NMI between 0.35 and 0.4.",
        "3.4, figure 3",
        f"Mean NMI of sweeps {titles.WINDOW[0]} to {titles.WINDOW[1]}. {'; '.join(said)}."
        if runs
        else NO_TITLES,
        OPEN if few or not np.isfinite(_all(means[SLICE])).all() else _verdict(inside),
    )


def _title_pairs(runs: list[titles.Run]) -> dict[int, list[tuple[titles.Run, titles.Run]]]:
    """By number of papers, the chains of the slice sampler and of CRF Gibbs on the same papers."""
    return {
        papers: list(
            zip(
                *(titles.choose(runs, papers=papers, method=method) for method in (SLICE, CRF)),
                strict=True,
            )
        )
        for papers in sorted({run.task.papers for run in runs})
    }


def title_mixing(runs: list[titles.Run]) -> Statement:
    """Is the slice sampler there by sweep 100?"""
    pairs = _title_pairs(runs)
    gaps = {
        papers: np.array(
            [titles.in_window(new.curve) - max(new.curve.level, old.curve.level) for new, old in found]
        )
        for papers, found in pairs.items()
    }
    there = [bool(values.mean() > -SMALL) for values in gaps.values()]
    few = min((len(values) for values in gaps.values()), default=0) < FEWEST
    said = ", ".join(f"{values.mean():+.3f} ({papers} papers)" for papers, values in gaps.items())
    return Statement(
        "On the titles, too, the algorithm mixes very fast: by about 100 iterations it is there.",
        "3.4, figure 3",
        f"NMI of sweeps {titles.WINDOW[0]} to {titles.WINDOW[1]} less that of the second half of the run, of this "
        f"sampler or of CRF Gibbs, the higher of the two: {said}."
        if runs
        else NO_TITLES,
        OPEN if few or not np.isfinite(_all(gaps)).all() else _verdict(there),
    )


def _all(by_papers: dict[int, np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0), *by_papers.values()])


def _error(values: np.ndarray) -> float:
    """The standard error of a mean; 0 for a single value, with which nothing is decided anyhow."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
