"""A figure that notebooks show as the value of a cell, without pyplot; imported only when a plot is drawn."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A matplotlib figure with a picture for IPython; everything else is matplotlib's."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
