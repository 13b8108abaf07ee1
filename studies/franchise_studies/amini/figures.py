"""The paper's figures, drawn from what was measured; the numbers of the figures are the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from franchise_studies.amini import synthetic, titles
from franchise_studies.amini.curves import Curve, mean_curve
from franchise_studies.amini.exactness import Measured
from franchise_studies.amini.samplers import BY_REST, CRF, FROM_25, METHODS, PRINTED, SLICE
from franchise_studies.drawing import FAINT, INK, NEW, OLD, make_panels, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {SLICE: NEW, FROM_25: "#7fb7be", PRINTED: OLD, BY_REST: "#e3a857", CRF: INK}
STYLES = {30: (":", 1.2), 100: ("--", 1.2), 300: ("-", 1.6)}  # by n
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw_figure2(runs: list[synthetic.Run]) -> Figure:
    """Figure 2 for the corrected slice sampler: NMI against sweeps, one panel a size, a line for each n."""
    return _draw_sizes(synthetic.choose(runs, mixture=synthetic.MULTINOMIAL), SLICE)


def draw_gaussian(runs: list[synthetic.Run]) -> Figure:
    """The same of the Gaussian mixture."""
    return _draw_sizes(synthetic.choose(runs, mixture=synthetic.GAUSSIAN), SLICE)


def _draw_sizes(runs: list[synthetic.Run], method: str) -> Figure:
    sizes = sorted({run.task.size for run in runs})
    figure, panels = make_panels(1, len(sizes), 3.0 * len(sizes) + 0.6, 2.9, sharey=True)
    for panel, size in zip(panels[0], sizes, strict=True):
        for length, (style, width) in STYLES.items():
            chosen = synthetic.choose(runs, size=size, length=length, method=method)
            _draw_curves(panel, [run.curve for run in chosen], f"n = {length}", NEW, style, width)
        set_title(panel, f"J = {size}" if runs[0].task.mixture == synthetic.GAUSSIAN else f"J = W = {size}")
    panels[0, 0].set_ylabel("NMI with the true labels", fontsize=8)
    _set_axes(panels, max(run.curve.sweeps[-1] for run in runs))
    panels[0, 0].legend(fontsize=8, frameon=False, loc="upper left")
    return figure


def draw_methods(runs: list[synthetic.Run]) -> Figure:
    """Figure 2 for all samplers: one row an n, one column a size."""
    runs = synthetic.choose(runs, mixture=synthetic.MULTINOMIAL)
    sizes = sorted({run.task.size for run in runs})
    lengths = sorted({run.task.length for run in runs})
    figure, panels = make_panels(
        len(lengths), len(sizes), 3.0 * len(sizes) + 0.6, 2.3 * len(lengths), sharex=True, sharey=True
    )
    for row, length in zip(panels, lengths, strict=True):
        for panel, size in zip(row, sizes, strict=True):
            for method in METHODS:
                chosen = synthetic.choose(runs, size=size, length=length, method=method)
                _draw_curves(panel, [run.curve for run in chosen], method, COLOURS[method])
            set_title(panel, f"J = W = {size}, n = {length}")
        row[0].set_ylabel("NMI", fontsize=8)
    _set_axes(panels, max(run.curve.sweeps[-1] for run in runs))
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(),
        ncols=3,
        fontsize=8,
        frameon=False,
        loc="outside upper left",
    )
    return figure


def draw_figure3(runs: list[titles.Run]) -> Figure:
    """Figure 3: NMI of papers' topics with their fields, a choice of the papers (left) and all (right)."""
    papers = sorted({run.task.papers for run in runs})
    figure, panels = make_panels(1, len(papers), 4.2 * len(papers), 3.1, sharey=True)
    for panel, count in zip(panels[0], papers, strict=True):
        panel.axhspan(*titles.QUALITY, color=FAINT, alpha=0.35, linewidth=0)
        for method in METHODS:
            chosen = titles.choose(runs, papers=count, method=method)
            _draw_curves(panel, [run.curve for run in chosen], method, COLOURS[method])
        set_title(panel, f"{count} papers")
    panels[0, 0].set_ylabel("NMI with the papers' fields", fontsize=8)
    _set_axes(panels, max(run.curve.sweeps[-1] for run in runs))
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def _draw_curves(
    panel: Axes, curves: Sequence[Curve], label: str, colour: str, style: str = "-", width: float = 1.6
) -> None:
    """Every chain faintly, and their mean."""
    for curve in curves:
        panel.plot(curve.sweeps, curve.nmi, color=colour, linewidth=0.4, alpha=0.35, linestyle=style)
    panel.plot(
        curves[0].sweeps, mean_curve(curves), color=colour, linewidth=width, linestyle=style, label=label
    )


def _set_axes(panels: np.ndarray, last: int) -> None:
    """When all is drawn: sweeps along x on a log scale with plain numbers, NMI from 0 up."""
    ticks = [tick for tick in TICKS if tick <= last]
    for panel in panels.flat:
        panel.set_xscale("log")
        panel.set_xticks(ticks, labels=[str(tick) for tick in ticks])
        panel.minorticks_off()
        panel.set_ylim(bottom=0.0)
    for panel in panels[-1]:
        panel.set_xlabel("sweep", fontsize=8)


def draw_distances(measured: list[Measured]) -> Figure:
    """Total variation of every sampler, beside what independent draws of its effective number give."""
    cases = list(dict.fromkeys(one.case for one in measured))
    samplers = list(dict.fromkeys(one.sampler for one in measured))
    figure, panels = make_panels(
        1, len(cases), 3.2 * len(cases) + 1.8, 0.35 * len(samplers) + 1.2, sharey=True, sharex=True
    )
    for panel, case in zip(panels[0], cases, strict=True):
        chosen = [one for one in measured if one.case == case]
        rows = np.array([samplers.index(one.sampler) for one in chosen])
        panel.barh(
            rows, [one.threshold for one in chosen], color=FAINT, height=0.7, label="independent, at most"
        )
        panel.plot(
            [one.independent for one in chosen], rows, "|", color=INK, markersize=11, label="on average"
        )
        for one, row in zip(chosen, rows, strict=True):
            panel.plot(one.distance, row, "o", color=NEW if one.exact else OLD, markersize=6)
        set_title(panel, case)
        panel.set_xlabel("total variation", fontsize=8)
    panels[0, 0].set_yticks(range(len(samplers)), labels=samplers)
    panels[0, 0].invert_yaxis()
    panels[0, -1].legend(fontsize=7, frameon=False, loc="lower right")
    return figure
