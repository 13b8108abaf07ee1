"""The paper's figures, drawn from what was measured; the numbers of the figures are the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise_studies.chang_fisher import bars, text
from franchise_studies.chang_fisher.bars import Picture
from franchise_studies.chang_fisher.following import Followed
from franchise_studies.chang_fisher.samplers import (
    DETERMINISTIC,
    DIRECT,
    FINITE,
    GLOBAL,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    REPAIRED,
    SPLIT_MERGE,
    SUBCLUSTER,
)
from franchise_studies.drawing import FAINT, INK, make_panels, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    SUBCLUSTER: "#c8553d",
    PARALLEL: "#2b6a8c",
    DIRECT: "#5b8c5a",
    FINITE: "#8d6a9f",
    LOCAL: "#e0a030",
    SPLIT_MERGE: "#22313f",
    GLOBAL: "#d98aa0",
    DETERMINISTIC: "#9fb3c1",
    LOCAL_BALANCED: "#7a4b2a",
    REPAIRED: "#3aa6a0",
}
_HELD_OUT, _TOPICS = "HOW, nats per word", "topics"


def colour_of(label: str) -> str:
    """The colour of a sampler, with or without its prior in the name."""
    return COLOURS[label.split(",")[0]]


# --- bars -----------------------------------------------------------------------------------------------------


def draw_picture(picture: Picture) -> Figure:
    """Figure 3(a): topics above, their sub-topics below, as pictures of 5 x 5 words."""
    count = len(picture.topics)
    figure, panels = make_panels(3, count, 1.3 * count + 0.6, 4.0)
    rows = [picture.topics, picture.sub_topics[:, 0], picture.sub_topics[:, 1]]
    brightest = max(float(row.max()) for row in rows)
    for line, row, name in zip(panels, rows, ("topic", "left", "right"), strict=True):
        for panel, words in zip(line, row, strict=True):
            panel.imshow(words.reshape(bars.SIZE, bars.SIZE), cmap="Greys", vmin=0.0, vmax=brightest)
            panel.set_xticks([])
            panel.set_yticks([])
        line[0].set_ylabel(name, fontsize=8, color=INK)
    return figure


def draw_moves(runs: list[Followed]) -> Figure:
    """Figure 3(b): number of topics against time, mean over seeds, for each set of moves."""
    figure, panels = make_panels(1, 1, 7, 3.4)
    for sampler in bars.MOVE_SETS:
        chosen = [run for run in runs if run.task.sampler == sampler]
        _draw_mean(panels[0, 0], chosen, "n_topics", sampler)
    _finish(panels[0, 0], _TOPICS, legend=True)
    panels[0, 0].axhline(bars.TOPICS, color=FAINT, linewidth=0.8, linestyle=":")
    return figure


def draw_threads(timings: list[dict[str, Any]]) -> Figure:
    """Figure 3(c): the same chain on one and on two threads, for each corpus."""
    names = list(dict.fromkeys(timing["problem"] for timing in timings))
    figure, panels = make_panels(1, len(names), 4.2 * len(names), 3.0)
    for panel, name in zip(panels[0], names, strict=True):
        for timing in timings:
            if timing["problem"] == name:
                colour = COLOURS[DIRECT if timing["threads"] == 1 else SUBCLUSTER]
                words = f"{timing['threads']} thread" + "s" * (timing["threads"] > 1)
                panel.plot(timing["seconds"], timing["topics"], color=colour, label=words)
        set_title(panel, name)
        _finish(panel, _TOPICS, legend=True)
    return figure


def draw_algorithms(runs: list[Followed]) -> Figure:
    """Figure 3(d): HOW and the number of topics against time, from one topic; thin: seeds, thick: their mean."""
    figure, panels = make_panels(1, 2, 10, 3.4)
    for sampler in bars.ALGORITHMS:
        chosen = [run for run in runs if run.task.sampler == sampler]
        for run in chosen:
            panels[0, 0].plot(run.scored_at, run.held_out, color=COLOURS[sampler], linewidth=0.7)
        panels[0, 0].plot([], [], color=COLOURS[sampler], label=sampler)
        _draw_mean(panels[0, 1], chosen, "n_topics", sampler)
    _finish(panels[0, 0], _HELD_OUT, legend=True)
    _finish(panels[0, 1], _TOPICS)
    return figure


def _draw_mean(panel: Axes, runs: list[Followed], name: str, label: str) -> None:
    begin = max(run.seconds[0] for run in runs)
    end = min(run.seconds[-1] for run in runs)
    times = np.geomspace(begin, max(end, 1.01 * begin), 200)
    values = np.array([run.at(name, times) for run in runs])
    for row in values if len(values) > 1 else []:
        panel.plot(times, row, color=COLOURS[label], linewidth=0.4, alpha=0.6)
    panel.plot(times, values.mean(axis=0), color=COLOURS[label], linewidth=1.6, label=label)


def _finish(panel: Axes, what: str, legend: bool = False) -> None:
    """Log time along x, and what is along y."""
    _log_axis(panel, "x")
    panel.set_xlabel("seconds", fontsize=8)
    panel.set_ylabel(what, fontsize=8)
    if legend:
        panel.legend(fontsize=7, frameon=False)


def _log_axis(panel: Axes, which: str) -> None:
    """Logarithms, with a few plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator, NullLocator

    getattr(panel, f"set_{which}scale")("log")
    axis = getattr(panel, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


# --- text -----------------------------------------------------------------------------------------------------


def draw_starts(runs: list[Followed]) -> Figure:
    """Figures 4(a), 6: HOW and topics against time, and the path in their joint space; a row a corpus.

    A line a start; the dot is the end. Dashed: the smaller prior.
    """
    corpora = list(dict.fromkeys(run.task.problem for run in runs))
    figure, panels = make_panels(len(corpora), 3, 13, 3.6 * len(corpora))
    for line, corpus in zip(panels, corpora, strict=True):
        labelled: set[str] = set()
        for setting in text.settings_of([run for run in runs if run.task.problem == corpus]):
            for run in setting.runs:
                label = None if setting.label in labelled else setting.label
                labelled.add(setting.label)
                _draw_run(line, run, label, dashed=setting.prior != text.PRIOR)
        for panel, what in zip(line[:2], (_HELD_OUT, _TOPICS), strict=True):
            _finish(panel, what)
        _log_axis(line[1], "y")
        _log_axis(line[2], "x")
        line[2].set_xlabel(_TOPICS, fontsize=8)
        line[2].set_ylabel(_HELD_OUT, fontsize=8)
        line[0].legend(fontsize=7, frameon=False)
        set_title(line[0], corpus)
    return figure


def _draw_run(line: np.ndarray, run: Followed, label: str | None, dashed: bool) -> None:
    style: dict[str, Any] = {
        "color": COLOURS[run.task.sampler],
        "linewidth": 0.9,
        "linestyle": "--" if dashed else "-",
    }
    topics = run.at("n_topics", run.scored_at)
    line[0].plot(run.scored_at, run.held_out, label=label, **style)
    line[1].plot(run.seconds, run.trace["n_topics"], **style)
    line[2].plot(topics, run.held_out, **style)
    line[2].plot(topics[-1:], run.held_out[-1:], "o", color=style["color"], markersize=4)


def draw_switches(switches: list[text.Switch]) -> Figure:
    """Figure 4(b): HOW and topics before and after the sampler is switched, a column a pair of samplers."""
    pairs = list(dict.fromkeys((old.task.sampler, new.task.sampler) for old, new in switches))
    figure, panels = make_panels(2, len(pairs), 2.4 * len(pairs), 4.8, sharey="row")
    for (old, new), column in zip(pairs, panels.T, strict=True):
        for switch in switches:
            if (switch.before.task.sampler, switch.after.task.sampler) == (old, new):
                _draw_switch(column, switch)
        set_title(column[0], f"{old}\nto {new}")
        column[1].set_xlabel("seconds", fontsize=8)
        _log_axis(column[1], "y")
    panels[0, 0].set_ylabel(_HELD_OUT, fontsize=8)
    panels[1, 0].set_ylabel(_TOPICS, fontsize=8)
    return figure


def _draw_switch(column: np.ndarray, switch: text.Switch) -> None:
    ends = switch.before.seconds[-1]
    for run, begin in ((switch.before, 0.0), (switch.after, ends)):
        colour = COLOURS[run.task.sampler]
        column[0].plot(begin + run.scored_at, run.held_out, color=colour, linewidth=0.9)
        column[1].plot(begin + run.seconds, run.trace["n_topics"], color=colour, linewidth=0.9)
    for panel in column:
        panel.axvline(ends, color=FAINT, linewidth=0.8)


def draw_confusions(confusions: list[text.Confusion], start: str) -> Figure:
    """Figure 5(a): the matrices of the samplers' chains from one start, topics from the largest to the smallest."""
    chosen = [confusion for confusion in confusions if confusion.start == start]
    figure, panels = make_panels(1, len(chosen), 3.0 * len(chosen) + 0.6, 3.2)
    values = np.concatenate([confusion.matrix.ravel() for confusion in chosen])
    low, high = float(values.min()), float(values.max())
    most = max(len(confusion.matrix) for confusion in chosen)
    for panel, confusion in zip(panels[0], chosen, strict=True):
        image = panel.imshow(confusion.matrix, cmap="viridis", vmin=low, vmax=high)
        panel.set_xlim(-0.5, most - 0.5)
        panel.set_ylim(most - 0.5, -0.5)
        set_title(panel, f"{confusion.sampler}: {len(confusion.matrix)} topics")
    figure.colorbar(image, ax=list(panels[0]), shrink=0.8, label="nats")
    return figure


# --- bias and ratios ------------------------------------------------------------------------------------------


def draw_bias(rows: list[dict[str, Any]]) -> Figure:
    """Total variation and mean number of topics of every sampler on each tiny data set."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, panels = make_panels(2, len(names), 5.2 * len(names), 5.4, sharey=True)
    for column, name in zip(panels.T, names, strict=True):
        chosen = [row for row in rows if row["data"] == name]
        _draw_dots(column[0], chosen, lambda row: row["distance"], lambda row: row["threshold"])
        _draw_dots(column[1], chosen, lambda row: row["topics"], lambda row: row["exact_topics"])
        set_title(column[0], name)
        column[0].set_xlabel("total variation; bar: what chance hardly ever exceeds", fontsize=8)
        column[1].set_xlabel("mean number of topics; bar: of the posterior", fontsize=8)
    return figure


def _draw_dots(
    panel: Axes,
    rows: list[dict[str, Any]],
    value: Callable[[dict[str, Any]], float],
    mark: Callable[[dict[str, Any]], float],
) -> None:
    places = np.arange(len(rows))[::-1]
    panel.plot([value(row) for row in rows], places, "o", color=COLOURS[SUBCLUSTER], markersize=5)
    panel.plot([mark(row) for row in rows], places, "|", color=INK, markersize=9)
    panel.set_yticks(places, [row["sampler"] for row in rows])
    panel.set_xlim(left=0.0)


def draw_ratios(rows: list[dict[str, Any]]) -> Figure:
    """Log ratios of global moves against the number of topics: as printed, balanced, the density; a dot a try."""
    figure, panels = make_panels(1, 2, 11, 3.6)
    names = {
        "rest": "without the density",
        "density": "the density",
        "printed": "as printed",
        "balanced": "balanced",
    }
    colours = (INK, FAINT, COLOURS[SUBCLUSTER], COLOURS[PARALLEL])
    for panel, move in zip(panels[0], ("split", "merge"), strict=True):
        chosen = [row for row in rows if row["move"] == move and np.isfinite(row["rest"])]
        for shift, ((name, words), colour) in enumerate(zip(names.items(), colours, strict=True)):
            topics = [row["topics"] * 1.03**shift for row in chosen]
            thousands = [row[name] / 1000 for row in chosen]
            panel.plot(topics, thousands, ".", color=colour, markersize=5, label=words)
        panel.axhline(0.0, color=INK, linewidth=0.8)
        if chosen:
            _log_axis(panel, "x")
        set_title(panel, f"global {move}s")
        panel.set_xlabel(_TOPICS, fontsize=8)
        panel.set_ylabel("log ratio, thousands of nats", fontsize=8)
    panels[0, 0].legend(fontsize=7, frameon=False)
    return figure
