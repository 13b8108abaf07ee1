"""Plots of what is traced: traces, ranks, number of topics, joint path."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

import franchise as fr
from franchise import plots
from franchise.plots.ranks import ranks_of
from franchise.running.chain_run import DrawPlan
from tests.plots import cases


@pytest.fixture(scope="module")
def posterior():
    return cases.mixture([[3, 4, 4, 5], [4, 4, 6, 4]], held_out_score=[[-3.0, -2.9, np.nan, -2.8]] * 2)


# --- data ---------------------------------------------------------------------------------------------------


def test_traces_go_over_warmup_and_draws(posterior):
    (quantity,) = plots.traces_data(posterior, "n_topics")
    assert quantity.sweeps.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert quantity.values.tolist() == [[1, 2, 3, 3, 4, 4, 5], [9, 5, 3, 4, 4, 6, 4]]
    assert quantity.warmup == 3
    assert quantity.draws.tolist() == [[3, 4, 4, 5], [4, 4, 6, 4]]
    assert quantity.words == "number of topics"


def test_draws_are_as_many_sweeps_apart_as_were_asked_for():
    run = SimpleNamespace(plan=DrawPlan(draws=3, warmup=2, thin=4, keep_labels=False))
    drawn = replace(cases.mixture([[3, 3, 3]], [[1, 2]]), run=run)
    assert plots.traces_data(drawn)[0].sweeps.tolist() == [1, 2, 6, 10, 14]


def test_what_never_changes_is_left_out_unless_asked_for(posterior):
    names = [quantity.name for quantity in plots.traces_data(posterior)]
    assert names == ["n_topics", "log_joint", "log_likelihood_per_observation", "gamma"]
    assert plots.traces_data(posterior, ["alpha"])[0].name == "alpha"
    assert plots.traces_data(cases.mixture())[0].name == "log_joint"


def test_what_is_missing_in_the_warmup_is_nan(posterior):
    (quantity,) = plots.traces_data(posterior, "held_out_score")
    assert np.isnan(quantity.values[:, :3]).all()
    assert quantity.values[0, 3] == -3.0


def test_words_or_observations():
    (quantity,) = plots.traces_data(cases.points(), "log_likelihood_per_observation")
    assert quantity.words == "log likelihood\nper observation, nats"


def test_ranks_by_hand():
    assert ranks_of(np.array([[5.0, 1.0], [3.0, 9.0]])).tolist() == [[2.5, 0.5], [1.5, 3.5]]
    tied = ranks_of(np.zeros((2, 500)))
    assert sorted(tied.ravel()) == (np.arange(1000) + 0.5).tolist()
    # ties at random: the mean rank of a chain has standard deviation 1000 / sqrt(12 * 1000) = 9.1 about 500
    assert abs(tied[0].mean() - 500) < 5 * 9.1


def test_ranks_of_chains_apart_lean():
    apart = cases.mixture(gamma=[[1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]])
    (quantity,) = plots.ranks_data(apart, "gamma", bins=2)
    assert quantity.counts.tolist() == [[4, 0], [0, 4]]
    assert quantity.edges.tolist() == [0.0, 0.5, 1.0]
    assert quantity.expected == 2.0


def test_number_of_topics_by_hand(posterior):
    data = plots.n_topics_data(posterior)
    assert data["n_topics"].tolist() == [3, 4, 5, 6]
    assert data["chain 0"].tolist() == [0.25, 0.5, 0.25, 0.0]
    assert data["chain 1"].tolist() == [0.0, 0.75, 0.0, 0.25]
    assert data["probability"].tolist() == [0.125, 0.625, 0.125, 0.125]


def test_joint_path_by_hand(posterior):
    data = plots.joint_path_data(posterior, score="held_out_score")  # in three draws, and not in the warm-up
    assert [row.tolist() for row in data.topics] == [[3, 4, 5], [4, 4, 4]]
    assert [row.tolist() for row in data.scores] == [[-3.0, -2.9, -2.8]] * 2
    assert data.warmup == [0, 0]
    fitted = plots.joint_path_data(posterior)
    assert fitted.topics[1].tolist() == [9, 5, 3, 4, 4, 6, 4]
    assert fitted.warmup == [3, 3]
    assert fitted.words == "log likelihood per word, nats"


def test_joint_path_of_documents_that_were_held_out(posterior):
    held_out = posterior.data.subset([0, 3])
    data = plots.joint_path_data(posterior, held_out)
    assert [row.tolist() for row in data.topics] == [[3, 4, 4, 5], [4, 4, 6, 4]]
    assert np.array(data.scores) == pytest.approx(fr.diagnostics.held_out_trace(posterior, held_out))
    assert data.warmup == [0, 0]
    labels = [
        text.get_text() for text in plots.joint_path(posterior, held_out).axes[0].get_legend().get_texts()
    ]
    assert labels[-2:] == ["first draw", "end"]


def test_joint_path_of_held_out_sentences():
    segmented = cases.segmented()
    data = plots.joint_path_data(segmented, segmented.corpus)
    assert [row.tolist() for row in data.topics] == [[3, 3], [3, 3]]
    assert np.shape(data.scores) == (2, 2)


# --- drawings -----------------------------------------------------------------------------------------------


def test_traces_are_drawn(posterior):
    figure = plots.traces(posterior)
    assert len(figure.axes) == 4
    assert all(len(panel.lines) == 2 for panel in figure.axes)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["chain 0", "chain 1"]
    assert figure.axes[-1].get_xlabel() == "sweep"
    cases.assert_drawn(figure)


def test_the_warmup_is_shaded_where_there_is_one(posterior):
    assert len(plots.traces(posterior, "gamma").axes[0].patches) == 1
    assert len(plots.traces(cases.mixture(warmup=((), ())), "gamma").axes[0].patches) == 0


def test_traces_fit_the_draws_and_the_late_warmup():
    far = cases.mixture([[30, 31]], warmup=[[900, 800, 33, 32]])
    low, high = plots.traces(far, "n_topics").axes[0].get_ylim()
    assert 29 < low < 30
    assert 33 < high < 35


def test_ranks_are_drawn(posterior):
    figure = plots.ranks(posterior, ["n_topics", "gamma"], bins=2)
    assert len(figure.axes) == 4
    assert [len(panel.patches) for panel in figure.axes] == [2] * 4
    heights = [[bar.get_height() for bar in panel.patches] for panel in figure.axes]
    assert [sum(of_panel) for of_panel in heights] == [4] * 4
    cases.assert_drawn(figure)


def test_the_number_of_topics_is_drawn(posterior):
    figure = plots.n_topics(posterior)
    (panel,) = figure.axes
    assert [bar.get_height() for bar in panel.patches] == [0.125, 0.625, 0.125, 0.125]
    assert len(panel.lines) == 2
    cases.assert_drawn(figure)


def test_one_chain_is_drawn_without_lines():
    (panel,) = plots.n_topics(cases.points()).axes
    assert len(panel.lines) == 0
    assert panel.get_legend() is None


def test_the_joint_path_is_drawn(posterior):
    figure = plots.joint_path(posterior)
    (panel,) = figure.axes
    starts = [line for line in panel.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert [line.get_xdata()[0] for line in starts] == [1, 9]
    assert panel.get_xscale() == "linear"
    labels = [text.get_text() for text in panel.get_legend().get_texts()]
    assert labels == ["chain 0", "chain 1", "start", "end"]
    cases.assert_drawn(figure)


def test_many_numbers_of_topics_are_drawn_by_logarithm():
    far = cases.mixture([[30, 31]], warmup=[[900, 800, 33, 32]])
    assert plots.joint_path(far).axes[0].get_xscale() == "log"


def test_drawing_on_axes_of_ones_own(posterior):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.n_topics(posterior, axes=left) is figure
    assert len(left.patches) == 4
    assert len(right.patches) == 0
    assert plots.traces(posterior, ["gamma", "alpha"], axes=[left, right]) is figure
    assert plots.traces(posterior, ["gamma", "alpha"], axes=np.array([left, right])) is figure


# --- bad input ----------------------------------------------------------------------------------------------

ALL = [plots.traces, plots.ranks, plots.n_topics, plots.joint_path]


@pytest.mark.parametrize("draw", ALL)
@pytest.mark.parametrize("wrong", [None, "run", cases.corpus()])
def test_only_posteriors_can_be_drawn(draw, wrong):
    with pytest.raises(fr.InputError, match=r"posterior must be what franchise\.sample returns"):
        draw(wrong)


def test_estimators_are_told_where_their_posterior_is():
    with pytest.raises(fr.InputError, match=r"estimator\.posterior_"):
        plots.traces(fr.HDP())


@pytest.mark.parametrize("draw", ALL)
def test_no_draws(draw):
    with pytest.raises(fr.InputError, match="no draws yet"):
        draw(cases.mixture(np.empty((2, 0), int), labels=[[], []]))


@pytest.mark.parametrize("draw", [plots.traces, plots.ranks])
def test_names_that_are_not_traced(draw, posterior):
    with pytest.raises(fr.InputError, match=r"names must be one of .* Did you mean 'gamma'"):
        draw(posterior, names="gama")
    with pytest.raises(fr.InputError, match="at least one"):
        draw(posterior, names=[])
    with pytest.raises(fr.InputError, match="names must be one of"):
        draw(posterior, names=3)


def test_other_bad_input(posterior):
    with pytest.raises(fr.InputError, match="missing in some draws"):
        plots.ranks(posterior, "held_out_score")
    with pytest.raises(fr.InputError, match="bins must be a whole number, 2 or more"):
        plots.ranks(posterior, bins=1)
    with pytest.raises(fr.InputError, match="score must be one of"):
        plots.joint_path(posterior, score="perplexity")
    with pytest.raises(fr.InputError, match="Remove one"):
        plots.joint_path(posterior, posterior.data, "alpha")
    with pytest.raises(fr.InputError, match="axes must be matplotlib Axes"):
        plots.n_topics(posterior, axes="left")
    with pytest.raises(fr.InputError, match="axes must be 2 Axes"):
        plots.traces(posterior, ["gamma", "alpha"], axes=Figure().subplots())


def test_joint_path_of_chains_that_ended_at_different_draws():
    """The first has gone on to draw 6 and keeps every other one; the second has come to draw 3."""
    posterior = cases.mixture([[3, 4, 5, 6], [4, 4, 4, 4]])
    further = [replace(kept, draw=2 * kept.draw) for kept in posterior.snapshots[0]]
    posterior = replace(posterior, snapshots=[further, posterior.snapshots[1]])
    data = plots.joint_path_data(posterior, posterior.data.subset([0, 3]))
    assert [row.tolist() for row in data.topics] == [[3, 5], [4, 4]]
    assert np.shape(data.scores) == (2, 2)
