"""What the paper says, judged by what was measured.

Rules, the same at every size: bars need FEWEST seeds, chains on text LONG_ENOUGH seconds, enumeration ENOUGH
effective draws, else nothing is decided.  Chains from different starts agree on a quantity if its R-hat over them
is below AGREEING, in the second half of their time.
"""

from __future__ import annotations

import numpy as np

from franchise.diagnostics.convergence import USABLE
from franchise_studies.chang_fisher import bars, bias, text
from franchise_studies.chang_fisher.following import Followed
from franchise_studies.chang_fisher.results import Results
from franchise_studies.chang_fisher.samplers import (
    BALANCED,
    DETERMINISTIC,
    DIRECT,
    EXACT,
    FINITE,
    GLOBAL,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    PUBLISHED,
    SUBCLUSTER,
)
from franchise_studies.chang_fisher.size import Size
from franchise_studies.chang_fisher.text import Setting, listed
from franchise_studies.judging import FEWEST
from franchise_studies.output import AGREES, DIFFERS, IN_PART, OPEN, Statement

LONG_ENOUGH = 60.0  # seconds of a chain on text
ENOUGH = 500.0  # effective draws, to call a total variation no more than chance
AGREEING = USABLE  # R-hat
NEAR = 0.05  # nats per word: HOW so close counts as the same
CLEARER = 0.05  # in the cosine with a bar
ABOUT_TWENTY = (15.0, 25.0)
LINEAR, SOME = 1.8, 1.3  # times as fast on two threads
SELDOM = 0.1  # of the accepted splits: fewer merges are no reverse of them


def judge(results: Results, size: Size) -> list[Statement]:
    """All statements of sections 4 to 6 that were tested."""
    settings = text.by_label(results.ap)
    short = min(size.long_seconds, size.short_seconds) < LONG_ENOUGH
    on_text = [
        not_converged(settings),
        held_out_of_finite(settings),
        held_out_misleads(settings),
        local_only(settings),
        twenty_topics(settings),
        global_moves(results),
        switching_to(results.switches),
        switching_from_subcluster(results.switches),
        confusion(results.confusions),
    ]
    on_large = [large_finite(results.large, size.large_order), large_unfinished(results.large)]
    return [
        guaranteed(results.bias),
        sub_topics(results.picture),
        deterministic(results.moves),
        global_not_needed(results.moves),
        speedup(results.timings),
        finite_settles_late(results.algorithms),
        finite_creates_all(results.algorithms),
        *(_open_if(short, statement) for statement in on_text),
        *(_open_if(size.large_seconds < LONG_ENOUGH, statement) for statement in on_large),
    ]


def _open_if(undecided: bool, statement: Statement) -> Statement:
    if not undecided:
        return statement
    return Statement(statement.paper, statement.where, statement.measured, OPEN)


def _verdict(checks: list[bool]) -> str:
    return AGREES if all(checks) else IN_PART if any(checks) else DIFFERS


# --- sections 4 and 5: is it right? ---------------------------------------------------------------------------


def guaranteed(rows: list[dict[str, object]]) -> Statement:
    """Does it converge to the HDP?"""
    published = [row for row in rows if row["sampler"] in PUBLISHED[1:]]
    exact = [row for row in rows if row["sampler"] in EXACT]
    wrong = [bias.is_biased(row) for row in published]
    balanced = [row for row in rows if row["sampler"] in (BALANCED, LOCAL_BALANCED)]
    few = [float(str(row["effective_size"])) < ENOUGH for row in published]
    undecided = any(short and not bad for short, bad in zip(few, wrong, strict=True))
    verdict = DIFFERS if all(wrong) else OPEN if undecided else IN_PART if any(wrong) else AGREES
    return Statement(
        "The restricted sampler is guaranteed to converge to the true HDP model when combined with any split move "
        "(section 6.2 admits that approximations of the ratios complicate the analysis).",
        "4, 5",
        f"By enumeration, total variation from the posterior: published moves {_distances(published)}; global "
        f"moves balanced {_distances(balanced)}; {', '.join(EXACT)} {_distances(exact)} (independent draws "
        f"{_range([float(str(row['expected'])) for row in exact])}). Beyond chance in {sum(wrong)} of "
        f"{len(published)} runs of published moves and {sum(map(bias.is_biased, exact))} of {len(exact)} of the "
        "exact samplers.",
        verdict,
    )


def _distances(rows: list[dict[str, object]]) -> str:
    return _range([float(str(row["distance"])) for row in rows])


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def global_moves(results: Results) -> Statement:
    """Are global splits and merges each other's reverse?"""
    counts = {
        name: [text.total_acceptance(runs, f"global {kind}") for kind in ("split", "merge")]
        for name, runs in _with_global_moves(results).items()
    }
    words = "; ".join(
        f"{name}: {splits[0]} of {splits[1]} global splits, {merges[0]} of {merges[1]} global merges"
        for name, (splits, merges) in counts.items()
    )
    density = [abs(row["density"]) for row in results.ratios if row["move"] == "split"]
    (splits, _), (merges, _) = counts[SUBCLUSTER]
    verdict = DIFFERS if splits and merges < SELDOM * splits else AGREES if splits else OPEN
    return Statement(
        "Global splits and merges are proposals of one Metropolis-Hastings pair; they drastically improve "
        "convergence.",
        "5.1.3, (24); abstract",
        f"Accepted on AP: {words}. The density q(phi~_a | .) that (24) has without a partner is e to the power of "
        f"{np.median(density) if density else float('nan'):,.0f} in the median split (see the last section).",
        verdict,
    )


def _with_global_moves(results: Results) -> dict[str, list[Followed]]:
    runs = [*results.ap, *results.probes]
    return {
        name: [run for run in runs if run.task.sampler == name]
        for name in (SUBCLUSTER, GLOBAL, LOCAL_BALANCED, BALANCED)
    }


# --- section 6.1: bars ----------------------------------------------------------------------------------------


def sub_topics(picture: bars.Picture) -> Statement:
    """Do sub-topics find the bars in a blend of them?"""
    topics = float(bars.likeness_to_bars(picture.topics).mean())
    halves = float(bars.likeness_to_bars(picture.sub_topics).mean())
    return Statement(
        "Sub-topics capture likely splits.",
        "6.1, figure 3(a)",
        f"Cosine with the most similar bar, mean over {len(picture.topics)} topics: {topics:.2f} for topics, "
        f"{halves:.2f} for sub-topics.",
        AGREES if halves > topics + CLEARER else IN_PART if halves > topics + CLEARER / 5 else DIFFERS,
    )


def _of(runs: list[Followed], sampler: str) -> list[Followed]:
    return [run for run in runs if run.task.sampler == sampler]


def _mean_topics(runs: list[Followed]) -> float:
    return float(np.mean([run.late("n_topics") for run in runs]))


def _acceptance(runs: list[Followed], kind: str) -> float:
    accepted, tried = text.total_acceptance(runs, kind)
    return accepted / tried if tried else float("nan")


def deterministic(runs: list[Followed]) -> Statement:
    """Are deterministic splits mostly refused, and slower?"""
    certain, drawn = _of(runs, DETERMINISTIC), _of(runs, LOCAL)
    rejected = [1.0 - _acceptance(group, "split") for group in (certain, drawn)]
    times = [float(np.median([bars.first_time(run) for run in group])) for group in (certain, drawn)]
    return Statement(
        "Deterministic moves are often rejected, resulting in slow convergence.",
        "6.1, figure 3(b)",
        f"Splits rejected: {rejected[0]:.1%} deterministic, {rejected[1]:.1%} local. Median seconds to "
        f"{bars.TOPICS} topics: {_seconds(times[0])} and {_seconds(times[1])}; topics at the end: "
        f"{_mean_topics(certain):.1f} and {_mean_topics(drawn):.1f}.",
        OPEN if len(certain) < FEWEST else _verdict([rejected[0] > 0.5, times[0] > 1.5 * times[1]]),
    )


def _seconds(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "never"


def global_not_needed(runs: list[Followed]) -> Statement:
    """Does the local form find as many bars as the combined one?"""
    topics = {name: _mean_topics(_of(runs, name)) for name in (LOCAL, GLOBAL, SUBCLUSTER)}
    return Statement(
        "Global moves are not needed in such a well-separated data set.",
        "6.1, figure 3(b)",
        "Topics at the end: " + ", ".join(f"{name} {count:.1f}" for name, count in topics.items()) + ".",
        OPEN
        if len(_of(runs, LOCAL)) < FEWEST
        else AGREES
        if abs(topics[LOCAL] - topics[SUBCLUSTER]) <= 1.0
        else DIFFERS,
    )


def speedup(timings: list[dict[str, object]]) -> Statement:
    """Are two threads twice as fast?"""
    table = bars.table_of_threads(timings)
    two = table[table["threads"] == 2]
    gains = two["times as fast as one"].tolist()
    words = ", ".join(f"{gain:.2f} times on {name}" for name, gain in zip(two["corpus"], gains, strict=True))
    long = float(table["seconds"].min()) >= 1.0 and int(table["cores"].min()) >= 2
    verdict = AGREES if min(gains) >= LINEAR else IN_PART if max(gains) >= SOME else DIFFERS
    return Statement(
        "A linear speed-up in the number of processors.",
        "6.1, figure 3(c)",
        f"Two threads against one, the same chain: {words}. (Work is cut into blocks of whole documents; the bars "
        "have few.)",
        verdict if long else OPEN,
    )


def finite_settles_late(runs: list[Followed]) -> Statement:
    """Does HOW of the finite model settle before its number of topics?"""
    settled = np.array([bars.times_to_settle(run) for run in _of(runs, FINITE)])
    held_out, topics = np.median(settled, axis=0)
    return Statement(
        "While the HOW likelihood for FSD converges at 1 second, its number of topics converges at 100 seconds.",
        "6.1, figure 3(d)",
        f"FSD of order {bars.ORDER}, median over {len(settled)} seeds: HOW settles at {held_out:.2f} s, the number "
        f"of topics at {topics:.2f} s.",
        OPEN
        if len(settled) < FEWEST
        else AGREES
        if topics > 10 * held_out
        else IN_PART
        if topics > 2 * held_out
        else DIFFERS,
    )


def finite_creates_all(runs: list[Followed]) -> Statement:
    """Does the finite model first use all its topics?"""
    chosen = _of(runs, FINITE)
    most = float(np.mean([run.trace["n_topics"].max() for run in chosen]))
    end = _mean_topics(chosen)
    return Statement(
        "FSD tends to first create all L topics and slowly remove them.",
        "6.1",
        f"Of {bars.ORDER} topics it has at most {most:.1f}, and {end:.1f} towards the end (means over seeds).",
        OPEN if len(chosen) < FEWEST else _verdict([most >= 0.9 * bars.ORDER, end < 0.75 * most]),
    )


# --- section 6.2: AP ------------------------------------------------------------------------------------------


def not_converged(settings: dict[str, Setting]) -> Statement:
    """Are the chains of direct assignment and of the finite model still apart?"""
    hats = {name: settings[name].r_hat("n_topics") for name in (DIRECT, FINITE)}
    words = "; ".join(
        f"{name}: {listed(settings[name].topics, 0)} topics by start, R-hat {hat:.2f}"
        for name, hat in hats.items()
    )
    return Statement(
        "The number of topics indicates that no DA or FSD sample paths have converged.",
        "6.2, figure 4(a)",
        f"{words}.",
        _verdict([_apart(hat) for hat in hats.values()]),
    )


def _apart(r_hat: float) -> bool:
    """Whether chains disagree. Of chains that all stay at one value R-hat is NaN: they agree."""
    return bool(r_hat > AGREEING)


def held_out_of_finite(settings: dict[str, Setting]) -> Statement:
    """From how many starts does the finite model reach its best HOW?"""
    scores = settings[FINITE].held_out
    near = sum(score > max(scores) - NEAR for score in scores)
    return Statement(
        "HOW likelihood converges for 3/4 FSD initializations.",
        "6.2, figure 4(a)",
        f"HOW by start: {listed(scores, 3)}; {near} of {len(scores)} within {NEAR} of the best.",
        AGREES if near >= 0.75 * len(scores) else IN_PART if near >= 0.5 * len(scores) else DIFFERS,
    )


def held_out_misleads(settings: dict[str, Setting]) -> Statement:
    """Are there samplers whose HOW agrees over starts while their topics do not?"""
    found = {
        name: (float(np.ptp(setting.held_out)), setting.r_hat("n_topics"))
        for name, setting in settings.items()
    }
    cases = [name for name, (spread, hat) in found.items() if spread < NEAR and _apart(hat)]
    words = "; ".join(
        f"{name}: HOW spread {spread:.3f}, R-hat of topics {hat:.2f}" for name, (spread, hat) in found.items()
    )
    return Statement(
        "Cross-validation metrics in isolation can lead to the erroneous conclusion that a sampler has converged.",
        "6.1, 7",
        f"{words}. HOW similar from all starts and topics not: {', '.join(cases) or 'none'}.",
        AGREES if cases else DIFFERS,
    )


def local_only(settings: dict[str, Setting]) -> Statement:
    """Are local moves alone not enough?"""
    local, both = settings[LOCAL], settings[SUBCLUSTER]
    apart = _apart(local.r_hat("n_topics"))
    worse = float(np.mean(local.held_out)) < float(np.mean(both.held_out)) - NEAR
    return Statement(
        "Sub-Clusters with local splits and merges only does not converge to a good solution.",
        "6.2, figure 4(a)",
        f"Local only: topics by start {listed(local.topics, 0)} (R-hat {local.r_hat('n_topics'):.2f}), HOW "
        f"{listed(local.held_out, 3)}; with global moves {listed(both.held_out, 3)}.",
        _verdict([apart, worse]),
    )


def twenty_topics(settings: dict[str, Setting]) -> Statement:
    """Do all starts of the published sampler end near twenty topics, with the best HOW?"""
    chosen = settings[SUBCLUSTER]
    best = max(float(np.mean(setting.held_out)) for setting in settings.values())
    hat = chosen.r_hat("n_topics")
    low, high = ABOUT_TWENTY
    agree = not _apart(hat) or np.ptp(chosen.topics) <= 0.2 * np.mean(chosen.topics)
    checks = [
        bool(agree),
        all(low <= topics <= high for topics in chosen.topics),
        float(np.mean(chosen.held_out)) > best - NEAR,
    ]
    exact = settings[PARALLEL]
    return Statement(
        "All initializations of the Sub-Clusters method have converged to a high HOW likelihood with only "
        "approximately 20 topics.",
        "6.2, figure 4(a)",
        f"Topics by start {listed(chosen.topics, 0)} (R-hat {hat:.2f}), HOW {listed(chosen.held_out, 3)}; log "
        f'joint, thousands: {_joints(chosen)}. The exact "parallel": topics {listed(exact.topics, 0)}, HOW '
        f"{listed(exact.held_out, 3)}, log joint {_joints(exact)}.",
        _verdict(checks),
    )


def _joints(setting: Setting) -> str:
    return listed([run.late("log_joint") / 1000 for run in setting.runs], 1)


# --- section 6.2: switching, confusion, large corpora ---------------------------------------------------------


def _changes(switches: list[text.Switch]) -> str:
    return ", ".join(
        f"{switch.before.late('n_topics'):.0f} to {switch.after.late('n_topics'):.0f}" for switch in switches
    )


def _between(switches: list[text.Switch], old: str, new: str) -> list[text.Switch]:
    return [s for s in switches if (s.before.task.sampler, s.after.task.sampler) == (old, new)]


def switching_to(switches: list[text.Switch]) -> Statement:
    """Does the published sampler change what the others have?"""
    groups = {old: _between(switches, old, SUBCLUSTER) for old in (DIRECT, FINITE, LOCAL)}
    words = "; ".join(f"{old}: {_changes(group)}" for old, group in groups.items())
    return Statement(
        "Switching from DA, FSD, or the local version of Sub-Clusters immediately changes the number of topics.",
        "6.2, figure 4(b)",
        f"Topics before and after, by start: {words}.",
        _verdict([not switch.stays for group in groups.values() for switch in group]),
    )


def switching_from_subcluster(switches: list[text.Switch]) -> Statement:
    """Do exact samplers and the finite model leave what the published one has?"""
    groups = {new: _between(switches, SUBCLUSTER, new) for new in (FINITE, DIRECT, PARALLEL)}
    words = "; ".join(
        f"to {new}: {_changes(group)}, log joint {', '.join(f'{_gain(switch):+.1f}' for switch in group)} thousand"
        for new, group in groups.items()
    )
    return Statement(
        "Switching Sub-Clusters to FSD has no effect on the number of topics: it has converged.",
        "6.2, figure 4(b)",
        f"Topics before and after, by start: {words}.",
        _verdict([switch.stays for switch in groups[FINITE]]),
    )


def _gain(switch: text.Switch) -> float:
    return (switch.after.late("log_joint") - switch.before.late("log_joint")) / 1000


def confusion(confusions: list[text.Confusion]) -> Statement:
    """Are the topics of the published sampler fewer and further apart?"""
    found = {name: text.mean_gap(confusions, name) for name in text.CONFUSED}
    topics, gap = found[SUBCLUSTER]
    others = [found[name] for name in (DIRECT, FINITE)]
    words = "; ".join(
        f"{name}: {count:.0f} topics, {apart:.2f} nats" for name, (count, apart) in found.items()
    )
    return Statement(
        "DA and FSD both converge to many topics that are easily confused, Sub-Clusters to a smaller set of more "
        "distinguishable topics.",
        "6.2, figure 5(a)",
        f"Topics, and divergence of the nearest other topic, means over starts: {words}.",
        _verdict([topics < min(count for count, _ in others), gap > max(apart for _, apart in others)]),
    )


def large_finite(runs: list[Followed], order: int) -> Statement:
    """Has the finite model still nearly all of its topics?"""
    chosen = _of(runs, FINITE)
    shares = [run.late("n_topics") / order for run in chosen]
    words = "; ".join(
        f"{run.task.problem} from {run.task.start}: {run.late('n_topics'):.0f}" for run in chosen
    )
    return Statement(
        "On large corpora FSD has yet to prune topics.",
        "6.2, figure 6",
        f"Topics of {order}: {words}.",
        _verdict([share >= 0.75 for share in shares]),
    )


def large_unfinished(runs: list[Followed]) -> Statement:
    """Do no chains agree, and does direct assignment predict worse than the published sampler?"""
    checks, parts = [], []
    for corpus in dict.fromkeys(run.task.problem for run in runs):
        settings = text.by_label([run for run in runs if run.task.problem == corpus])
        hats = {name: setting.r_hat("n_topics") for name, setting in settings.items()}
        scores = {name: float(np.mean(setting.held_out)) for name, setting in settings.items()}
        checks += [all(_apart(hat) for hat in hats.values()), scores[DIRECT] < scores[SUBCLUSTER] - NEAR]
        parts.append(
            f"{corpus}: "
            + ", ".join(
                f"{name} {listed(setting.topics, 0)} topics, HOW {scores[name]:.3f}"
                for name, setting in settings.items()
            )
        )
    return Statement(
        "No algorithm has converged on the large corpora; Sub-Clusters seems to be approaching a solution, while "
        "DA has yet to achieve a good cross-validation score.",
        "6.2, figure 6",
        "; ".join(parts) + ".",
        _verdict(checks),
    )
