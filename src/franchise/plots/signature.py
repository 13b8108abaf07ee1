"""Mutational signatures as bars over their channels, in the field's order and colours, with credible intervals.

The kind follows from the names of the channels: 96 single-base substitutions, 78 doublets, or 83 insertions and
deletions (`franchise.data.channels`).  Bars are in blocks: by substitution, by
doublet, or by kind and size of the change.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from narwhals.dependencies import is_into_dataframe

from franchise.data.channels import CHANNELS, Recognised, recognise
from franchise.data.reference_table import read_references
from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_posterior, check_topics, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.consensus import Consensus
from franchise.posterior.intervals import beta_mixture_quantiles, ends_of
from franchise.posterior.topic_means import word_weights
from franchise.validation import check_integer

_MOST_SIGNATURES = 12
_WIDTH, _HEIGHT, _MARGIN = 11.0, 1.35, 1.1
"""Inches: of a figure, of each signature, and of what is above and below all of them."""
_TINY = 5.5
"""Size of the names of channels, points."""
_ROOM = 1.3
"""Height of a panel relative to its highest interval."""

_OF_SINGLE_BASES = ("#03bdef", "#222222", "#e42926", "#bdbcbc", "#8fc155", "#ecbdbb")
_OF_DOUBLETS = (
    "#03bdef",
    "#0366cc",
    "#a2cf63",
    "#016601",
    "#ff9999",
    "#e42926",
    "#ffb266",
    "#ff8001",
    "#cc99ff",
    "#4c0199",
)
_OF_INDELS = {
    "1:Del": ("#fdbe6f", "#ff8002"),
    "1:Ins": ("#b0dd8b", "#36a12e"),
    "Del:R": ("#fdcab5", "#fc8a6a", "#f14432", "#bc191a"),
    "Ins:R": ("#d0e1f2", "#94c4df", "#4a98c9", "#1764ab"),
    "Del:M": ("#e1e1ef", "#b6b6d8", "#8683bd", "#62409b"),
}
_TITLES = {
    "1:Del": "1 bp deleted",
    "1:Ins": "1 bp inserted",
    "Del:R": "more deleted, at repeats",
    "Ins:R": "more inserted, at repeats",
    "Del:M": "microhomology",
}


class Signature(NamedTuple):
    """A signature over the channels of its kind, in the usual order."""

    name: str
    kind: str
    """SBS96, DBS78 or ID83"""
    channels: list[str]
    probability: np.ndarray
    """float64 (channels,): the posterior mean, or the entry of a table"""
    low: np.ndarray
    """float64 (channels,): ends of the credible interval; NaN for a table"""
    high: np.ndarray


class Block(NamedTuple):
    """Channels next to one another with the same colour."""

    begin: int
    end: int
    label: str
    colour: str
    title: str
    """above several blocks; empty if there is none"""


def signature_data(signatures: Any, topics: object = None, level: float = 0.95) -> list[Signature]:
    """Return what `signature` draws: the probabilities of all channels in the usual order, with intervals.

    Parameters
    ----------
    signatures : Posterior, DataFrame or path
        Draws from a Corpus whose words are channels of mutations, or a table of signatures.
    topics : int, list of ints, str or list of str, optional
        Of a posterior, how many of the largest topics, or which; of a table, the names of signatures [default: the
        first twelve].
    level : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    list of Signature
        For each its name, kind, channels, probabilities and intervals.

    Raises
    ------
    InputError
        If the words are no channels of a known kind, or there are no such topics.

    Examples
    --------
    >>> import pandas as pd
    >>> from franchise.data.channels import CHANNELS
    >>> table = pd.DataFrame({"flat": [1 / 78] * 78}, index=CHANNELS["DBS78"])
    >>> [(found.name, found.kind, found.channels[0]) for found in fr.plots.signature_data(table)]
    [('flat', 'DBS78', 'AC>CA')]
    """
    if isinstance(signatures, (str, os.PathLike)) or is_into_dataframe(signatures):
        return _of_table(signatures, topics)
    posterior = check_posterior(signatures)
    consensus = posterior.consensus_topics
    if not consensus.has_words:
        raise InputError(
            "signatures must have channels of mutations; topics of this posterior have no words."
        )
    found, names = _checked_channels(consensus.corpus.vocabulary), names_of(posterior)
    chosen = check_topics(consensus, topics, _MOST_SIGNATURES)
    return [_of_topic(consensus, topic, names[topic], found, ends_of(level)) for topic in chosen]


def _of_table(table: Any, topics: object) -> list[Signature]:
    references = read_references(table)
    if topics is None or isinstance(topics, (int, np.integer)):
        most = check_integer("topics", _MOST_SIGNATURES if topics is None else topics, minimum=1)
        chosen = references.chosen(references.names[:most])
    elif isinstance(topics, Iterable):
        chosen = references.chosen([topics] if isinstance(topics, str) else list(topics))
    else:
        raise InputError("topics must be a number of signatures, or a list of their names.")
    kind, gaps = _checked_channels(chosen.channels).kind, np.full(len(chosen.channels), np.nan)
    rows = zip(chosen.names, chosen.probabilities, strict=True)
    return [Signature(name, kind, chosen.channels, row, gaps, gaps) for name, row in rows]


def _checked_channels(vocabulary: list[str]) -> Recognised:
    found = recognise(vocabulary)
    if found is None or None in found.usual:
        odd = vocabulary[0] if found is None else vocabulary[found.usual.index(None)]
        raise InputError(
            f"signatures must have channels of {', '.join(CHANNELS)}; got the word {odd!r}. For other words, use "
            "plots.topic_words."
        )
    return found


def _of_topic(consensus: Consensus, topic: int, name: str, found: Recognised, ends: list[float]) -> Signature:
    """Return a topic; channels that the data do not have are 0."""
    if consensus.whole is not None and not consensus.appears[:, topic].any():
        consensus = consensus.whole  # a topic that this chain does not have
    channels = list(CHANNELS[found.kind])
    order = [channels.index(usual) for usual in found.usual if usual is not None]
    weights = word_weights(consensus, {topic: np.arange(len(order))})
    own, sums = weights.words[topic], weights.sums[topic][:, None]
    values = np.zeros((3, len(channels)))
    values[0, order] = consensus.word_probabilities()[topic]
    values[1:, order] = [beta_mixture_quantiles(own, sums - own, end) for end in ends]
    return Signature(name, found.kind, channels, *values)


# --- blocks -------------------------------------------------------------------------------------------------


def blocks_of(kind: str) -> list[Block]:
    """Return the blocks of the channels of a kind."""
    channels = CHANNELS[kind]
    blocks: list[Block] = []
    for label, colour, title, members in _grouped(kind, channels):
        begin = blocks[-1].end if blocks else 0
        blocks.append(Block(begin, begin + members, label, colour, title))
    return blocks


def _grouped(kind: str, channels: tuple[str, ...]) -> Iterable[tuple[str, str, str, int]]:
    """Yield label, colour, title and number of channels of each block."""
    if kind == "ID83":
        for (size, change, what), members in groupby(channels, lambda name: tuple(name.split(":")[:3])):
            group = f"{size}:{change}" if size == "1" else f"{change}:{what}"
            place = "CT".index(what) if size == "1" else int(size) - 2
            label = what if size == "1" else _at_most(size, "5")
            yield label, _OF_INDELS[group][place], _TITLES[group], len(list(members))
        return
    single = kind == "SBS96"
    colours = iter(_OF_SINGLE_BASES if single else _OF_DOUBLETS)
    for key, members in groupby(channels, lambda name: name[2:5] if single else name[:2]):
        yield key if single else f"{key}>NN", next(colours), "", len(list(members))


def _at_most(number: str, most: str) -> str:
    return f"{number}+" if number == most else number


def short_name(kind: str, channel: str) -> str:
    """Return what is written below a bar: the context, the doublet that it becomes, or the number of repeats."""
    if kind == "SBS96":
        return channel[0] + channel[2] + channel[6]
    if kind == "DBS78":
        return channel[3:]
    _, change, what, count = channel.split(":")
    if change == "Del" and what != "M":  # the deleted one counts, too
        return _at_most(str(int(count) + 1), "6")
    return _at_most(count, "5")


# --- drawing ------------------------------------------------------------------------------------------------


@style.drawing
def signature(signatures: Any, topics: object = None, level: float = 0.95, axes: AxesLike = None) -> Figure:
    """Draw mutational signatures below each other: a bar per channel, in the usual order and colours.

    Lines are credible intervals.  The kind, SBS96, DBS78 or ID83, follows from the names of the channels.

    Parameters
    ----------
    signatures : Posterior, DataFrame or path
        Draws from a Corpus whose words are channels of mutations, or a table of signatures.
    topics : int, list of ints, str or list of str, optional
        Of a posterior, how many of the largest topics, or which; of a table, the names of signatures [default: the
        first twelve].
    level : float, default 0.95
        Probability of the intervals.
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one per signature [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the words are no channels of a known kind, or there are no such topics.

    Examples
    --------
    >>> import pandas as pd
    >>> from franchise.data.channels import CHANNELS
    >>> table = pd.DataFrame({"flat": [1 / 96] * 96}, index=CHANNELS["SBS96"])
    >>> figure = fr.plots.signature(table)
    >>> figure.savefig("signature.png")
    """
    data = signature_data(signatures, topics, level)
    figure, panels = style.panels_for(axes, len(data), 1, _WIDTH, _HEIGHT * len(data) + _MARGIN)
    blocks = blocks_of(data[0].kind)
    for place, (panel, each) in enumerate(zip(panels, data, strict=True)):
        _draw(panel, each, blocks, labelled=place == 0)
        panel.set_xticks([])
    lowest = panels[-1]
    written = [short_name(data[-1].kind, channel) for channel in data[-1].channels]
    turned = data[-1].kind != "ID83"
    lowest.set_xticks(np.arange(len(written)), written, fontsize=_TINY, rotation=90 if turned else 0)
    lowest.tick_params(axis="x", length=0, pad=1)
    return figure


def _draw(panel: Axes, data: Signature, blocks: list[Block], labelled: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    places = np.arange(len(data.channels))
    colours = [block.colour for block in blocks for _ in range(block.begin, block.end)]
    panel.bar(places, data.probability, 0.72, color=colours)
    panel.vlines(places, data.low, data.high, color=style.INK, linewidth=0.7)
    highest = float(np.nanmax([data.probability, data.high]))
    panel.set_ylim(0.0, _ROOM * highest)
    panel.set_xlim(-0.7, len(places) - 0.3)
    panel.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.text(
        0.995,
        0.93,
        style.shorten(data.name, 60),
        transform=panel.transAxes,
        ha="right",
        va="top",
        fontsize=style.MEDIUM,
        color=style.INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
        **style.PLAIN,
    )
    _draw_blocks(panel, blocks, labelled)


def _draw_blocks(panel: Axes, blocks: list[Block], labelled: bool) -> None:
    """A strip of the blocks' colours above a panel; over the first one with their labels."""
    from matplotlib.patches import Rectangle

    across = panel.get_xaxis_transform()
    height = 0.13 if labelled else 0.04
    for block in blocks:
        corner, width = (block.begin - 0.5, 1.02), block.end - block.begin - 0.1
        panel.add_patch(
            Rectangle(corner, width, height, transform=across, clip_on=False, color=block.colour, linewidth=0)
        )
        if labelled:
            panel.text(
                (block.begin + block.end - 1) / 2,
                1.02 + height / 2,
                block.label,
                transform=across,
                ha="center",
                va="center",
                fontsize=style.SMALL,
                color=style.ink_on(block.colour),
            )
    for title, group in groupby(blocks if labelled else [], lambda block: block.title):
        own = list(group)
        panel.text(
            (own[0].begin + own[-1].end - 1) / 2,
            1.04 + height,
            title,
            transform=across,
            ha="center",
            va="bottom",
            fontsize=style.SMALL,
            color=style.INK,
        )
