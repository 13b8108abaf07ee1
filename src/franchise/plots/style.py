"""Style of all plots: colours, sizes, and figures that notebooks show without pyplot.

Figures are made without pyplot, so that they need no display, need not be closed, and any thread may draw;
notebooks still show them.  Colours can be distinguished with any kind of colour vision: those of chains are
Okabe and Ito's (2008); those of topics were chosen such that any two are at least 19 apart in CIELAB, for people
with normal vision and without red, green or blue cones.  There are no more than twelve such colours, so beyond
the twelve largest topics all are grey, and a topic's number or label stands beside its colour where there is room.
Only pictures of documents have more colours, which are less distinct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from colorsys import hls_to_rgb
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from franchise.errors import InputError
from franchise.validation import describe

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import numpy as np

Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"
AxesLike: TypeAlias = "Axes | Sequence[Axes] | np.ndarray | None"
"""Panels to draw on, as a user gives them; None: new ones."""


INK, FAINT, SHADE = "#22313f", "#9fb3c1", "#eef2f5"
CHAIN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
TOPIC_COLOURS = (
    "#332288",
    "#F28E2B",
    "#009E73",
    "#CC3311",
    "#99DDFF",
    "#882255",
    "#DDCC77",
    "#7570B3",
    "#FFAABB",
    "#5A3A1A",
    "#8400CD",
    "#B07AA1",
)
GOLDEN = 0.381966
"""The golden angle, in turns."""
OTHER_TOPIC, NO_TOPIC = "#a9b4bb", "#dbe1e5"
SEQUENTIAL = "cividis"
"""The colour map of heat maps and pictures; made for all kinds of colour vision (Nuñez et al., 2018)."""

SMALL, MEDIUM, LARGE = 8.5, 10, 12  # points
PLAIN: dict[str, Any] = {"parse_math": False}
"""For texts with words of a corpus, in which a $ is a $."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def chain_colour(chain: int) -> str:
    """The colour of a chain; they repeat after seven."""
    return CHAIN_COLOURS[chain % len(CHAIN_COLOURS)]


def topic_colour(topic: int) -> str:
    """Return the colour of a topic, numbered by size: a separate one for the twelve largest, greys for others."""
    if topic < 0:
        return NO_TOPIC
    return TOPIC_COLOURS[topic] if topic < len(TOPIC_COLOURS) else OTHER_TOPIC


def darker(colour: str) -> str:
    """The same colour with a third of black, for lines, which need more contrast than areas."""
    return "#" + "".join(f"{2 * part // 3:02x}" for part in bytes.fromhex(colour[1:]))


def ink_on(colour: str) -> str:
    """The colour of letters on a colour: dark on light ones, white on dark ones."""
    red, green, blue = bytes.fromhex(colour[1:])
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else "#ffffff"


def colour_in_text(topic: int) -> str:
    """Return the colour of a topic in pictures of documents, where small topics need one, too.

    It depends on the topic's number only, so a consensus topic looks the same in all documents, draws and chains.
    Beyond the twelve largest, hues are a golden angle apart, light, medium and dark in turn; some are similar.
    """
    if topic < len(TOPIC_COLOURS):
        return topic_colour(topic)
    hue, lightness = (topic * GOLDEN) % 1.0, (0.42, 0.62, 0.78)[topic % 3]
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, lightness, 0.55))


def drawing(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Raise InputError before any computation if matplotlib is missing."""

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            import_module("matplotlib")
        except ImportError:
            raise InputError('plots need matplotlib. Run pip install "franchise[plot]".') from None
        return function(*args, **kwargs)

    return checked


def panels_for(
    axes: object,
    rows: int,
    columns: int,
    width: float,
    height: float,
    count: int | None = None,
    headline: str | None = None,
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """Panels to draw on, row after row, with their figure: those given, or new ones.

    Parameters
    ----------
    axes : Axes, sequence of Axes, or None
        What the user gave.
    rows, columns, width, height
        Of a new figure; inches.
    count : int, optional
        How many panels are needed; [default: rows x columns]. The others of a new figure are left out.
    headline : str, optional
        What stands above all panels of a new figure.
    options
        For `Figure.subplots`.
    """
    count = rows * columns if count is None else count
    if axes is not None:
        given = _check_axes(axes, count)
        return given[0].figure, given  # type: ignore[return-value]  # a SubFigure does as well

    from franchise.plots.figure import ShownFigure

    figure = ShownFigure(figsize=(width, height), layout="constrained", facecolor="white")
    panels = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for panel in panels[count:]:
        panel.remove()
    for panel in panels[:count]:  # no box, small numbers
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(FAINT)
        panel.tick_params(labelsize=SMALL, colors=INK, length=3, color=FAINT)
    if headline is not None:
        figure.suptitle(headline, x=0.01, ha="left", fontsize=LARGE, color=INK, **PLAIN)
    return figure, panels[:count]


def grid_for(
    axes: object, count: int, columns: int, panel: tuple[float, float], least: float, **options: Any
) -> tuple[Figure, list[Axes], list[Axes]]:
    """Return a figure, `count` panels in rows of at most `columns`, and those panels with none below them.

    `panel` is the width and height of one, inches; a new figure is at least so wide, and a little higher than its
    rows, for what is written above and below. `axes` and `options` as for `panels_for`.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    width, height = max(least, columns * panel[0]), rows * panel[1] + 0.5
    figure, panels = panels_for(axes, rows, columns, width, height, count=count, **options)
    return figure, panels, panels[-columns:]


def _check_axes(axes: object, count: int) -> list[Axes]:
    """The axes that were given, if they are axes, and as many as there are panels."""
    from matplotlib.axes import Axes as RealAxes

    given = axes.ravel().tolist() if hasattr(axes, "ravel") else axes
    given = list(given) if isinstance(given, Sequence) else [given]
    if not all(isinstance(one, RealAxes) for one in given):
        raise InputError(f"axes must be matplotlib Axes, such as figure.subplots(); got {describe(axes)}.")
    if len(given) < count:
        raise InputError(f"axes must be {count} Axes, one per panel of this plot; got {len(given)}.")
    return given[:count]


def label(
    panel: Axes,
    title: str | None = None,
    across: str | None = None,
    up: str | None = None,
    size: float = MEDIUM,
) -> None:
    """Write a title, at the left, and what is along the axes, with units; in all a $ is a $."""
    letters: dict[str, Any] = {"color": INK, **PLAIN}
    if title is not None:
        panel.set_title(title, loc="left", fontsize=size, **letters)
    if across is not None:
        panel.set_xlabel(across, fontsize=MEDIUM, **letters)
    if up is not None:
        panel.set_ylabel(up, fontsize=MEDIUM, **letters)


def label_lowest(panels: list[Axes], across: str) -> None:
    """Label shared x axes once per column, below."""
    for panel in panels:
        label(panel, across=across)
        panel.xaxis.set_tick_params(labelbottom=True)


def number_topics(panel: Axes, lowest: float, highest: float) -> None:
    """Numbers of topics along x, whole ones; by logarithm if they go over more than a factor of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    if lowest > 0 and highest > 10 * lowest:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter("{x:g}")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))


def name_topics(panel: Axes, handles: list[Any], names: Iterable[str]) -> None:
    """A legend of topics beside a panel, without a box, in which a $ is a $."""
    labels = [shorten(name, 26) for name in names]
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    legend = panel.legend(handles, labels, frameon=False, fontsize=SMALL, labelcolor=INK, **beside)
    for text in legend.get_texts():
        text.set_parse_math(False)


def shorten(text: str, most: int = 32) -> str:
    """A text of at most `length` characters, cut with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
