"""Plots of effects show the numbers of the tables."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise import plots
from tests.plots import cases


@pytest.fixture(scope="module")
def effects():
    metadata = {"year": cases.YEARS, "party": list("abbab"), "tags": [["u"], ["v"], ["u"], [], ["u", "v"]]}
    posterior = cases.mixture(data=cases.corpus(metadata))
    return {text: posterior.effect(text) for text in ("~ year", "~ party", "~ tags")}


def test_lines_are_predictions(effects):
    found = effects["~ year"]
    data = plots.effects_data(found, "year", topics=2, level=0.5)
    assert data.values[[0, -1]].tolist() == [1900.0, 1904.0]
    table = found.predict(year=[1900, 1904], topics=[0, 1], level=0.5)
    assert data.mean[:, [0, -1]].ravel() == pytest.approx(table["estimate"].to_numpy())
    assert data.low[:, [0, -1]].ravel() == pytest.approx(table["low"].to_numpy())
    figure = found.plot("year")
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx(100 * data.mean[0])
    cases.assert_drawn(figure)


def test_classes_and_labels_are_points(effects):
    data = plots.effects_data(effects["~ party"], "party")
    assert data.names == ["a", "b"]
    cases.assert_drawn(effects["~ party"].plot("party"))
    assert plots.effects_data(effects["~ tags"], "tags").names == ["(none)", "u", "v"]
    cases.assert_drawn(effects["~ tags"].plot("tags"))


def test_differences_are_contrasts(effects):
    data = plots.effects_data(effects["~ party"], "party", difference=("b", "a"))
    table = effects["~ party"].contrast("party", "b", "a")
    assert data.topics == table.index.tolist()
    assert data.high == pytest.approx(table["high"].to_numpy())
    assert np.all(np.diff(data.mean) <= 0.0)
    cases.assert_drawn(effects["~ party"].plot("party", difference=("b", "a")))


def test_bad_input(effects):
    with pytest.raises(fr.InputError, match=r"what posterior\.effect returns"):
        plots.effects("~ year", "year")
    with pytest.raises(fr.InputError, match="not a column of the formula"):
        effects["~ year"].plot("party")
    with pytest.raises(fr.InputError, match="difference must be two values"):
        effects["~ party"].plot("party", difference="b")
