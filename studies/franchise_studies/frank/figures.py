"""The paper's figures, drawn from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from franchise.data.datasets import load
from franchise_studies.drawing import FAINT, INK, NEW, OLD, make_panels, set_title
from franchise_studies.frank import ants
from franchise_studies.frank.text import PRINTED_TOPICS, TextRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {ants.DIRECT: NEW, ants.CRF: OLD}


def draw_histogram(runs: list[ants.Run]) -> Figure:
    """How many clusters there are: the paper's bars, and ours beside, by grouping."""
    figure, panels = make_panels(1, len(ants.GROUPINGS), 10, 3.2, sharey=True)
    table = ants.table_of_clusters(runs)
    for panel, grouping in zip(panels[0], ants.GROUPINGS, strict=True):
        bars = {
            "the paper": (table["the paper"], FAINT),
            **{s: (table[f"{s}, {grouping}"], COLOURS[s]) for s in ants.SAMPLERS},
        }
        for place, (name, (heights, colour)) in enumerate(bars.items()):
            panel.bar(table["clusters"] + 0.27 * (place - 1), heights, 0.27, color=colour, label=name)
        set_title(panel, f"groups: {grouping}")
        panel.set_xticks(table["clusters"])
        panel.set_xlabel("clusters", fontsize=8)
    panels[0, 0].set_ylabel("draws in 450", fontsize=8)
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def draw_heat_maps(run: ants.Run) -> Figure:
    """The cluster of every trial in the last sweeps: a panel a condition, a row a trial, a colour a cluster.

    Numbers are dealt out by size, the largest cluster first, so that colours differ most where it matters.
    """
    from matplotlib import colormaps

    conditions = load("ants")
    figure, panels = make_panels(3, 4, 12, 6.2, sharex=True)
    last = run.followed[-ants.SHOWN :]
    sizes = np.bincount(last.ravel())
    rank = np.argsort(np.argsort(-sizes))
    colours = colormaps["tab20"](np.concatenate([np.arange(0, 20, 2), np.arange(1, 20, 2)]))[:, :3]
    for group, panel in enumerate(panels.flat):
        cells = rank[last[:, conditions.group_of_observation == group].T]
        panel.imshow(colours[cells % len(colours)], aspect="auto", interpolation="nearest")
        set_title(panel, conditions.metadata["condition"][group])
        panel.spines[["left", "bottom"]].set_visible(False)
        panel.set_yticks([])
    for row, study in zip(panels, dict.fromkeys(conditions.metadata["study"]), strict=True):
        row[0].set_ylabel(f"{study}\ntrials", fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel(f"last {len(last)} sweeps", fontsize=8)
    return figure


def draw_shares(run: ants.Run) -> Figure:
    """The share of the trials in each cluster, sweep by sweep: a panel for each of the twelve largest."""
    shares = np.array([np.bincount(draw, minlength=run.followed.max() + 1) for draw in run.followed])
    shares = shares / run.followed.shape[1]
    order = np.argsort(-shares.mean(axis=0))[:12]
    figure, panels = make_panels(3, 4, 12, 4.8, sharex=True, sharey=True)
    for place, panel in enumerate(panels.flat):
        if place >= len(order):
            panel.set_visible(False)
            continue
        panel.plot(shares[:, order[place]], color=COLOURS[run.task.sampler], linewidth=0.8)
        set_title(panel, f"cluster {place + 1}")
    for panel in panels[-1]:
        panel.set_xlabel("sweep after warm-up", fontsize=8)
    for panel in panels[:, 0]:
        panel.set_ylabel("share", fontsize=8)
    return figure


def draw_together(runs: list[ants.Run]) -> Figure:
    """The chance that trials of two conditions share a cluster, for both samplers."""
    conditions = load("ants").metadata
    studies = list(dict.fromkeys(conditions["study"]))
    names = [
        f"study {studies.index(study) + 1}: {'both' if ' and ' in condition else condition}"
        for study, condition in zip(conditions["study"], conditions["condition"], strict=True)
    ]
    figure, panels = make_panels(1, len(ants.SAMPLERS), 9.5, 4.6, sharey=True)
    for panel, sampler in zip(panels[0], ants.SAMPLERS, strict=True):
        together = np.mean([run.together for run in ants.choose(runs, sampler)], axis=0)
        image = panel.imshow(together, cmap="Blues", vmin=0.0, vmax=1.0)
        set_title(panel, sampler)
        panel.set_xticks(range(len(names)), names, rotation=90)
        panel.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=panels[0].tolist(), shrink=0.8)
    return figure


def draw_topics(run: TextRun, printed: bool) -> Figure:
    """The number of topics: traces of all chains, and a histogram; with the paper's number if `printed`."""
    figure, panels = make_panels(1, 2, 10, 3.2)
    trace, bars = panels[0]
    for chain in run.hdp.topics:
        trace.plot(np.arange(1, len(chain) + 1), chain, color=NEW, linewidth=0.5, alpha=0.6)
    trace.axvline(run.hdp.warmup, color=INK, linewidth=0.8, linestyle=":")
    trace.set_xlabel("sweep (dotted: end of warm-up)", fontsize=8)
    trace.set_ylabel("topics", fontsize=8)
    set_title(trace, f"{len(run.hdp.topics)} chains")
    numbers, counts = np.unique(run.hdp.after_warmup, return_counts=True)
    bars.bar(numbers, counts / counts.sum(), color=NEW)
    if printed:
        bars.axvline(PRINTED_TOPICS, color=OLD, linewidth=1.5, label="the paper's most common")
        bars.legend(fontsize=8, frameon=False)
    bars.set_xlabel("topics", fontsize=8)
    bars.set_ylabel("share of the draws", fontsize=8)
    set_title(bars, "after warm-up")
    return figure


def draw_lda(runs: list[TextRun]) -> Figure:
    """Perplexity of test documents against LDA's number of topics, and HDP; beside it the variational bound."""
    figure, panels = make_panels(1, 2, 10, 3.2)
    counts = [fit.topics for fit in runs[0].lda]
    completion = np.exp(-np.array([[fit.test for fit in run.lda] for run in runs]))
    bounds = np.array([[fit.bound for fit in run.lda] for run in runs])
    hdp = float(np.mean([np.exp(-run.hdp.test.mean()) for run in runs]))
    panels[0, 0].plot(counts, completion.mean(axis=0), color=OLD, label="LDA")
    panels[0, 0].axhline(hdp, color=NEW, label="HDP")
    set_title(panels[0, 0], "half of each document predicted from the other")
    panels[0, 1].plot(counts, bounds.mean(axis=0), color=OLD, label="LDA, variational bound")
    set_title(panels[0, 1], "by the variational bound, as the paper's")
    for panel in panels[0]:
        panel.set_xlabel("topics of LDA", fontsize=8)
        panel.legend(fontsize=8, frameon=False)
    panels[0, 0].set_ylabel(f"perplexity, mean of {len(runs)} samples", fontsize=8)
    return figure
