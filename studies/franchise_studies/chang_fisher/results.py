"""All that the study measures, in the order of the paper; what was measured in an earlier call is read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from franchise.data.synthetic import planted_topics
from franchise.sampling import sample
from franchise_studies.chang_fisher import bars, bias, ratios, text
from franchise_studies.chang_fisher.corpora import AP
from franchise_studies.chang_fisher.following import ALPHA, GAMMA, Followed, Problem, Task, follow
from franchise_studies.chang_fisher.samplers import SAMPLERS, SUBCLUSTER
from franchise_studies.chang_fisher.size import Size
from franchise_studies.running import Tell, side_by_side
from franchise_studies.sources import NamedCorpus

_SHARES = {"enumeration": 0.05, "bars": 0.1, "AP": 0.45, "switching": 0.15, "large corpora": 0.25}


@dataclass(frozen=True)
class Results:
    """What was measured."""

    bias: list[dict[str, Any]]
    picture: bars.Picture  # figure 3(a)
    moves: list[Followed]  # figure 3(b)
    timings: list[dict[str, Any]]  # figure 3(c)
    algorithms: list[Followed]  # figure 3(d)
    ap: list[Followed]  # figure 4(a)
    probes: list[Followed]  # sets of moves of which only acceptance is wanted
    switches: list[text.Switch]  # figure 4(b)
    confusions: list[text.Confusion]  # figure 5(a)
    ratios: list[dict[str, Any]]
    large: list[Followed]  # figure 6


def measure(size: Size, corpora: list[NamedCorpus], chains: Path, on_progress: Tell) -> Results:
    """Run whatever has not been run yet."""
    compile_kernels(size)
    problems = {named.name: Problem.of(named.name, named.corpus) for named in corpora}
    problems[bars.BARS] = bars.bars_problem(size.bars_documents)

    def followed(what: str, tasks: list[Task]) -> list[Followed]:
        return side_by_side(
            lambda task, stopped: follow(task, problems[task.problem], chains, stopped),
            tasks,
            _telling(on_progress, what),
        )

    biases = side_by_side(
        lambda task, _: bias.measure(task, size.visits, chains),
        bias.tasks(),
        _telling(on_progress, "enumeration"),
    )
    picture = bars.draw_picture(size.bars_documents, size.picture_sweeps)
    timings = [
        row
        for name, start in ((bars.BARS, 1), (AP, size.starts[-1]))
        for row in bars.time_threads(problems[name], start, size.timed_sweeps, chains)
    ]
    of_moves = bars.tasks_of_moves(size.seeds, size.moves_seconds)
    on_bars = followed(
        "bars", of_moves + bars.tasks_of_algorithms(size.seeds, size.algorithms_seconds, size.warmup)
    )
    on_ap = followed("AP", text.tasks_on_ap(size))
    ap = [run for run in on_ap if run.task.sampler not in text.PROBES]
    switched = followed("switching", text.tasks_of_switches(size))
    names = [named.name for named in corpora if named.name != AP]
    return Results(
        bias=biases,
        picture=picture,
        moves=on_bars[: len(of_moves)],
        timings=timings,
        algorithms=on_bars[len(of_moves) :],
        ap=ap,
        probes=[run for run in on_ap if run.task.sampler in text.PROBES],
        switches=text.switches_of(ap, switched),
        confusions=_confusions(ap, problems[AP], chains),
        ratios=_ratios(ap, problems[AP], size.tries, size.probe_seconds, chains),
        large=followed("large corpora", text.tasks_on_large(size, names)),
    )


def _confusions(ap: list[Followed], problem: Problem, chains: Path) -> list[text.Confusion]:
    tasks = [run.task for run in ap if run.task.sampler in text.CONFUSED and run.task.prior == text.PRIOR]
    return [text.confusion_of(task, problem, chains) for task in tasks]


def _ratios(
    ap: list[Followed], problem: Problem, tries: int, seconds: float, chains: Path
) -> list[dict[str, Any]]:
    """Of moves proposed by the published sampler: on the way from the first start, and at the end from all."""
    tasks = [run.task for run in ap if run.task.sampler == SUBCLUSTER]
    on_the_way = ratios.weigh_on_the_way(replace(tasks[0], seconds=seconds), problem, tries, chains)
    at_the_end = [row for task in tasks for row in ratios.weigh_at_the_end(task, problem, tries, chains)]
    return on_the_way + at_the_end


def _telling(on_progress: Tell, what: str) -> Callable[[float], None]:
    """Tells the share of the whole study, given that of a part."""
    before = sum(share for name, share in list(_SHARES.items())[: list(_SHARES).index(what)])
    return lambda share: on_progress(what, before + _SHARES[what] * share)


def compile_kernels(size: Size) -> None:
    """Run every sampler once, so that no chain's clock counts compilation."""
    corpus = planted_topics(documents=20, vocabulary=3000, topics=3).data
    for sampler in SAMPLERS.values():
        sample(
            corpus,
            sampler=sampler,
            alpha=ALPHA,
            gamma=GAMMA,
            draws=4,
            warmup=8,
            start=3,
            finite_topics=size.order,
            chains=1,
            progress=False,
        )
