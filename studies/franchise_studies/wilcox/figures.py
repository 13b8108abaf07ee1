"""Figures 7.1 to 7.14, 7.17 and 7.18, drawn from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise_studies.drawing import FAINT, INK, NEW, OLD, make_panels, set_title
from franchise_studies.wilcox.fits import Outcome
from franchise_studies.wilcox.nips import Fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (NEW, OLD)


def draw_climb(objectives: Any, switches: Any, true: float | None) -> Figure:
    """Figures 7.1 and 7.14: the log posterior and epsilon, step by step of EM."""
    figure, panels = make_panels(1, 2, 9, 2.8)
    for panel, values, title in zip(
        panels[0], (objectives, switches), ("log posterior, up to a constant", "epsilon"), strict=True
    ):
        panel.plot(values, color=NEW, marker=".", markersize=3, linewidth=1)
        panel.set_xlabel("step of EM", fontsize=8)
        set_title(panel, title)
    if true is not None:
        _mark(panels[0, 1], true, horizontal=True)
        panels[0, 1].legend(fontsize=8, frameon=False)
    return figure


def _mark(panel: Axes, value: float, horizontal: bool, colour: str = INK) -> None:
    line = panel.axhline if horizontal else panel.axvline
    line(value, color=colour, linewidth=0.9, linestyle=":", label="true")


def draw_switch(outcome: Outcome) -> Figure:
    """Figures 7.2 and 7.3 (7.8 and 7.9): warm-up, draws and posterior of epsilon, with both sets of priors."""
    figure, panels = make_panels(1, 3, 11, 2.8)
    true = outcome["design"]["switch"]
    for method, colour, name in (("gibbs", NEW, "thesis' priors"), ("fitting", OLD, "priors that fit")):
        if method not in outcome:
            continue
        paths = outcome[method]["paths"]
        panels[0, 0].plot(
            np.arange(1, len(paths["warmup"]) + 1), paths["warmup"], color=colour, linewidth=0.7
        )
        panels[0, 1].plot(paths["switch"], color=colour, linewidth=0.7)
        panels[0, 2].hist(paths["switch"], bins=15, density=True, color=colour, alpha=0.6, label=name)
    for panel, title in zip(
        panels[0], ("epsilon, every sweep of the warm-up", "kept draws", "posterior"), strict=True
    ):
        _mark(panel, true, horizontal=title != "posterior")
        set_title(panel, title)
    panels[0, 2].legend(fontsize=8, frameon=False)
    return figure


def draw_paths(outcome: Outcome, what: str) -> Figure:
    """Sample paths and posteriors of theta of the first document, or of phi of the first word; topics matched."""
    figure, panels = make_panels(1, 2, 9, 2.8)
    paths = outcome["gibbs"]["paths"]
    draws, true = np.array(paths[what]), paths[f"true_{what}"]
    for topic, colour in enumerate(COLOURS[: draws.shape[1]]):
        panels[0, 0].plot(draws[:, topic], color=colour, linewidth=0.7)
        name = f"topic {topic + 1}"
        panels[0, 1].hist(draws[:, topic], bins=15, density=True, color=colour, alpha=0.6, label=name)
        _mark(panels[0, 0], true[topic], horizontal=True, colour=colour)
        panels[0, 1].axvline(true[topic], color=colour, linewidth=0.9, linestyle=":")
    set_title(panels[0, 0], f"{what}: draws (dotted: the truth)")
    set_title(panels[0, 1], "posterior")
    panels[0, 1].legend(fontsize=8, frameon=False)
    return figure


def draw_bias(outcomes: dict[str, list[Outcome]]) -> Figure:
    """Estimates of epsilon beside the printed ones: thesis' priors in both readings, and priors that fit."""
    from franchise_studies.wilcox import printed

    figure, panels = make_panels(1, 1, 9, 3.2)
    panel = panels[0, 0]
    first = next(iter(outcomes.values()))
    places = np.arange(len(first))
    true = np.array([outcome["design"]["switch"] for outcome in first])
    numbers = [outcome["design"]["number"] for outcome in first]
    panel.axhline(1.0, color=INK, linewidth=0.8, linestyle=":")
    rows = [np.array([printed.GIBBS[number].switch for number in numbers])]
    names = ["printed (Table 7.3)"]
    for reading, found in outcomes.items():
        rows.append(np.array([outcome["gibbs"]["switch"] for outcome in found]))
        names.append(f"thesis' priors, {reading}")
    if all("fitting" in outcome for outcome in first):
        rows.append(np.array([outcome["fitting"]["switch"] for outcome in first]))
        names.append("priors that fit, as written")
    for shift, (row, name, colour) in enumerate(zip(rows, names, (INK, NEW, FAINT, OLD), strict=False)):
        panel.plot(places + 0.12 * (shift - 1.5), row / true, "o", color=colour, markersize=5, label=name)
    panel.set_xticks(places, [str(number) for number in numbers])
    panel.set_xlabel("data set", fontsize=8)
    panel.set_ylabel("estimate / truth", fontsize=8)
    panel.legend(fontsize=8, frameon=False)
    return figure


def draw_documents(fits: list[Fitted], documents: list[int]) -> Figure:
    """Figures 7.17 and 7.18: the topic proportions of some documents; topics from the largest."""
    figure, panels = make_panels(len(fits), len(documents), 11, 2.2 * len(fits), sharey="row", sharex=True)
    for row, fit in zip(panels, fits, strict=True):
        for panel, document in zip(row, documents, strict=True):
            panel.bar(
                np.arange(fit.proportions.shape[1]), np.sort(fit.proportions[document])[::-1], color=NEW
            )
            set_title(panel, f"{fit.name}, document {document}")
    for panel in panels[-1]:
        panel.set_xlabel("topics, largest first", fontsize=8)
    return figure
