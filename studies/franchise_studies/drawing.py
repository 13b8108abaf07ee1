"""How the figures of all studies look: colours, panels, titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, OLD, NEW = "#22313f", "#9fb3c1", "#c8553d", "#2b6a8c"


def make_panels(
    rows: int, columns: int, width: float, height: float, **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure without pyplot, so that nothing stays open and any thread may draw."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False, **options)
    for panel in panels.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8, colors=INK)
    return figure, panels


def set_title(panel: Axes, text: str) -> None:
    """A small title at the left."""
    panel.set_title(text, loc="left", fontsize=9, color=INK)
