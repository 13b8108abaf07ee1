"""Bars of the topics of nodes."""

import numpy as np
import pytest

import franchise as fr
from franchise import plots
from tests.plots import cases
from tests.posterior.test_level_tables import POSTERIOR


def test_bars_are_the_exposures_of_a_level():
    data = plots.exposures_data(POSTERIOR, "patient")
    table = POSTERIOR.exposures("patient")["mean"].unstack(sort=False)
    assert data.names == table.index.tolist()
    assert data.shares == pytest.approx(table[data.topics].to_numpy())
    assert data.sizes.tolist() == POSTERIOR.nodes()["observations"][data.names].tolist()
    assert (data.level, data.omitted) == ("patient", 0)


def test_small_nodes_and_topics_are_left_out():
    data = plots.exposures_data(POSTERIOR, "patient", topics=1, nodes=1)
    assert data.names == ["A/1"]
    assert data.topics == [1]  # the largest of the patients, although topic 0 is larger in all data
    assert data.omitted == 2
    figure = plots.exposures(POSTERIOR, "patient", topics=1, nodes=1)
    panel = figure.axes[0]
    assert "2 smaller nodes not shown" in panel.get_title(loc="left")
    widths = [bar.get_width() for bar in panel.patches]
    assert widths == pytest.approx([data.shares[0, 0], 1 - data.shares[0, 0]])


def test_bars_end_at_one_and_are_empty_without_observations():
    corpus = cases.corpus()
    with_empty = fr.Corpus(corpus.observations, [*corpus.offsets, corpus.n_tokens], corpus.vocabulary)
    panel = plots.exposures(cases.mixture(data=with_empty)).axes[0]
    ends = np.zeros(6)
    for bar in panel.patches:
        place = round(bar.get_y() + bar.get_height() / 2)
        ends[place] += bar.get_width()
    assert ends == pytest.approx([1, 1, 1, 1, 1, 0])


def test_wrong_arguments():
    with pytest.raises(fr.InputError, match="level must be one of"):
        plots.exposures(POSTERIOR, "town")
    with pytest.raises(fr.InputError, match="nodes must be a whole number"):
        plots.exposures(POSTERIOR, nodes=0)
