"""Signatures: the order of the channels, their blocks and colours, intervals, and tables beside posteriors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import franchise as fr
from franchise import plots
from franchise.data.channels import CHANNELS
from franchise.plots.signature import blocks_of, short_name
from tests.plots import cases

SBS = list(CHANNELS["SBS96"])


@pytest.fixture(scope="module")
def posterior():
    """Two topics that are the same in all draws: even channels and odd ones; the data lack the last channel."""
    shuffled = np.random.default_rng(1).permutation(95)
    spelled = [SBS[place][0] + SBS[place][2] + SBS[place][6] + SBS[place][4] for place in shuffled]
    counts = np.array([1 + shuffled % 7 * (shuffled % 2 == part) for part in (0, 1)])
    data = fr.Corpus.from_matrix(pd.DataFrame(counts, columns=spelled))
    labels = np.repeat([0, 1], data.group_sizes).astype(np.uint8)
    return cases.mixture(((2, 2), (2, 2)), ((2,), (2,)), data, [[labels] * 2] * 2)


def test_channels_are_in_the_usual_order(posterior):
    for found in plots.signature_data(posterior):
        assert (found.kind, found.channels) == ("SBS96", SBS)
        assert (found.low[:-1] < found.probability[:-1]).all()
        assert (found.probability[:-1] < found.high[:-1]).all()
        assert found.probability[-1] == found.high[-1] == 0.0
        assert found.probability.sum() == pytest.approx(1.0)


def test_intervals_are_those_of_the_dirichlet_distribution(posterior):
    found = plots.signature_data(posterior, topics=[1], level=0.9)[0]
    data = posterior.data
    size = int(data.group_sizes.min())
    group = int(data.group_sizes.argmin())
    word = 3
    count = data.to_matrix().toarray()[group, word] + 0.1
    rest = size + 95 * 0.1 - count
    channel = plots.signature_data(posterior, topics=[1])[0].channels.index(
        next(usual for usual in SBS if usual[0] + usual[2] + usual[6] + usual[4] == data.vocabulary[word])
    )
    assert found.probability[channel] == pytest.approx(count / (count + rest))
    assert found.low[channel] == pytest.approx(beta.ppf(0.05, count, rest), rel=1e-6)
    assert found.high[channel] == pytest.approx(beta.ppf(0.95, count, rest), rel=1e-6)


def test_signatures_are_drawn_below_each_other(posterior):
    figure = plots.signature(posterior)
    assert len(figure.axes) == 2
    upper, lower = figure.axes
    assert upper.get_position().y0 > lower.get_position().y0
    heights = [patch.get_height() for patch in upper.patches[:96]]
    np.testing.assert_allclose(heights, plots.signature_data(posterior)[0].probability)
    assert len({patch.get_facecolor() for patch in upper.patches[:96]}) == 6
    assert [text.get_text() for text in lower.get_xticklabels()][:2] == ["ACA", "ACC"]
    assert list(upper.get_xticks()) == []
    cases.assert_drawn(figure)


@pytest.mark.parametrize(
    ("kind", "blocks", "first", "last"),
    [
        ("SBS96", [16] * 6, "C>A", "T>G"),
        ("DBS78", [9, 6, 9, 6, 9, 6, 6, 9, 9, 9], "AC>NN", "TT>NN"),
        ("ID83", [6] * 12 + [1, 2, 3, 5], "C", "5+"),
    ],
)
def test_blocks(kind, blocks, first, last):
    found = blocks_of(kind)
    assert [block.end - block.begin for block in found] == blocks
    assert (found[0].begin, found[-1].end) == (0, len(CHANNELS[kind]))
    assert (found[0].label, found[-1].label) == (first, last)
    assert len({block.colour for block in found}) == len(blocks)


def test_short_names():
    assert short_name("SBS96", "A[C>A]T") == "ACT"
    assert short_name("DBS78", "AC>CA") == "CA"
    names = ["1:Del:C:0", "1:Del:C:5", "2:Ins:R:0", "2:Ins:R:5", "5:Del:M:1", "5:Del:M:5"]
    assert [short_name("ID83", name) for name in names] == ["1", "6+", "0", "5+", "1", "5+"]


@pytest.mark.parametrize("kind", CHANNELS)
def test_tables(kind, tmp_path):
    channels = CHANNELS[kind]
    rows = np.random.default_rng(1).dirichlet(np.ones(len(channels)), 3)
    table = pd.DataFrame(rows.T, index=channels, columns=["one", "two", "three"])
    table.to_csv(tmp_path / "table.txt", sep="\t")
    for given in (table.sample(frac=1.0, random_state=1), tmp_path / "table.txt"):
        found = plots.signature_data(given, topics=["three", "one"])
        assert [each.name for each in found] == ["three", "one"]
        np.testing.assert_allclose(found[0].probability, rows[2])
        assert np.isnan(found[0].low).all()
    assert len(plots.signature_data(table, topics=2)) == 2
    cases.assert_drawn(plots.signature(table))


def test_words_that_are_no_channels_are_refused():
    with pytest.raises(
        fr.InputError, match="signatures must have channels of SBS96, DBS78, ID83; got the word"
    ):
        plots.signature_data(cases.mixture())
    with pytest.raises(fr.InputError, match="topics of this posterior have no words"):
        plots.signature(cases.points())
    with pytest.raises(fr.InputError, match="topics must be a number of signatures"):
        plots.signature_data(pd.DataFrame({"a": np.full(96, 1 / 96)}, index=SBS), topics=0.5)
