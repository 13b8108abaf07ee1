"""Colours that everybody can tell apart, figures without pyplot, and what is said where matplotlib is missing."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise import plots
from franchise.data.channels import CHANNELS
from franchise.plots import style
from tests.plots import cases

VISIONS = {  # Machado, Oliveira and Fernandes (2009): linear RGB as seen without one kind of cones
    "normal": np.eye(3),
    "without red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "without green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "without blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def cielab(colour, vision):
    """A colour as it is seen, in coordinates where distances are those that people see."""
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(vision @ linear, 0, 1) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("colours", "least"), [(style.TOPIC_COLOURS, 19), (style.CHAIN_COLOURS, 16)])
def test_colours_are_told_apart(vision, colours, least):
    seen = [cielab(colour, np.array(VISIONS[vision])) for colour in colours]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > least


def test_topics_beyond_the_largest_are_grey():
    assert len({style.topic_colour(topic) for topic in range(12)}) == 12
    assert style.topic_colour(12) == style.topic_colour(400) == style.OTHER_TOPIC
    assert style.topic_colour(-1) == style.NO_TOPIC
    assert style.chain_colour(7) == style.chain_colour(0)


def test_figures_are_shown_by_notebooks():
    assert plots.n_topics(cases.mixture())._repr_png_().startswith(b"\x89PNG")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in plots.__all__:
        if not name.endswith("_data"):
            with pytest.raises(fr.InputError, match=r'pip install "franchise\[plot\]"'):
                getattr(plots, name)(None)


def test_data_need_no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    planted = fr.synthetic.bars(documents=4, words=20, size=2)
    drawn = cases.mixture([[4]], [[4]], data=planted.data, labels=[[planted.labels.astype(np.uint8)]])
    drawn.data.metadata["year"] = [1, 2, 3, 4]
    for name in plots.__all__:
        if name.endswith("_data"):
            given = {
                "segments_data": cases.segmented,
                "effects_data": lambda: drawn.effect("~ year"),
                "signature_data": lambda: pd.DataFrame({"flat": 1 / 96}, index=list(CHANNELS["SBS96"])),
            }
            more = ["year"] if name in ("over_time_data", "effects_data") else []
            assert getattr(plots, name)(given.get(name, lambda: drawn)(), *more) is not None


def test_every_plot_has_its_data():
    drawn = [name for name in plots.__all__ if not name.endswith("_data")]
    assert sorted(plots.__all__) == sorted([*drawn, *(f"{name}_data" for name in drawn)])


def test_letters_and_lines_have_contrast():
    assert style.ink_on("#332288") == "#ffffff"
    assert style.ink_on("#99DDFF") == style.INK
    assert style.darker("#99DDFF") == "#6693aa"


def test_long_texts_are_cut():
    assert style.shorten("war peace army", 10) == "war peace…"
    assert style.shorten("war", 10) == "war"
