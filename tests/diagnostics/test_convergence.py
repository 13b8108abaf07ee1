"""The table of convergence: ArviZ's numbers, and quiet sense in the corners."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from franchise.diagnostics.convergence import COLUMNS, summarise
from franchise.errors import InputError


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def normal_draws(chains, draws, seed=0):
    return np.random.default_rng(seed).normal(size=(chains, draws))


def test_independent_chains_look_converged():
    draws = normal_draws(4, 500)
    row = summarise({"x": draws}).loc["x"]
    assert list(row.index) == COLUMNS
    assert row["mean"] == pytest.approx(draws.mean())
    assert row["sd"] == pytest.approx(draws.std(ddof=1))
    assert row["5%"] == pytest.approx(np.quantile(draws, 0.05))
    assert row["r_hat"] == pytest.approx(1.0, abs=0.01)
    assert 1500 < row["ess_bulk"] < 2600
    assert 1200 < row["ess_tail"] < 2600
    assert row["mcse_mean"] == pytest.approx(row["sd"] / np.sqrt(row["ess_bulk"]), rel=0.1)


def test_the_statistics_are_those_of_arviz():
    from arviz_stats.base import array_stats

    draws = np.cumsum(normal_draws(3, 80), axis=1)
    row = summarise({"x": draws}).loc["x"]
    assert row["r_hat"] == array_stats.rhat(draws, method="rank")
    assert row["ess_bulk"] == array_stats.ess(draws, method="bulk")
    assert row["ess_tail"] == array_stats.ess(draws, method="tail", prob=(0.05, 0.95))
    assert row["mcse_mean"] == array_stats.mcse(draws, method="mean")


def test_chains_that_disagree_are_seen():
    draws = normal_draws(2, 200) + np.array([[0.0], [3.0]])
    row = summarise({"x": draws}).loc["x"]
    assert row["r_hat"] > 1.5
    assert row["ess_bulk"] < 20


def test_one_chain_is_compared_with_itself():
    steady, drifting = normal_draws(1, 400), np.linspace(0, 5, 400)[None] + normal_draws(1, 400)
    table = summarise({"steady": steady, "drifting": drifting})
    assert table.loc["steady", "r_hat"] < 1.05
    assert table.loc["drifting", "r_hat"] > 1.3
    assert summarise({"x": normal_draws(1, 9)}).loc["x", "r_hat"] > 0


def test_what_never_changes_has_no_r_hat():
    row = summarise({"alpha": np.full((2, 50), 1.5)}).loc["alpha"]
    assert row["mean"] == 1.5
    assert row["sd"] == 0.0
    assert row[["r_hat", "ess_bulk", "ess_tail"]].isna().all()
    assert row["mcse_mean"] == 0.0


def test_chains_stuck_at_different_values_have_infinite_r_hat():
    row = summarise({"n_topics": np.repeat([[4], [5]], 50, axis=1)}).loc["n_topics"]
    assert row["r_hat"] == np.inf


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_very_few_draws_give_nan_and_no_noise(draws):
    row = summarise({"x": normal_draws(2, draws)}).loc["x"]
    assert np.isfinite(row[["mean", "sd", "5%", "95%"]]).all()
    assert row[["r_hat", "ess_bulk", "ess_tail", "mcse_mean"]].isna().all()


def test_a_single_number_has_no_spread():
    row = summarise({"x": np.array([[2.0]])}).loc["x"]
    assert row["mean"] == 2.0
    assert np.isnan(row["sd"])


def test_missing_draws_are_left_out_of_the_mean():
    draws = np.array([[np.nan, 1.0] * 10, [np.nan, 3.0] * 10])
    row = summarise({"accepted": draws, "never": np.full((2, 20), np.nan)})
    assert row.loc["accepted", "mean"] == 2.0
    assert np.isnan(row.loc["accepted", "r_hat"])
    assert row.loc["never"].isna().all()


def test_an_empty_trace_is_an_empty_table():
    table = summarise({})
    assert list(table.columns) == COLUMNS
    assert len(table) == 0


@pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros((2, 0)), np.array([["a", "b"]])])
def test_wrong_shapes_are_refused(wrong):
    with pytest.raises(InputError, match=r"trace\['x'\] must be numbers of shape \(chains, draws\)"):
        summarise({"x": wrong})
