"""Posteriors as ArviZ has them, and NetCDF there and back."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import xarray

import franchise as fr
from franchise.diagnostics.to_arviz import to_arviz
from franchise.errors import InputError
from franchise.running.chain import SHARES
from tests.running.runs import CORPUS, sample_segments

exchange = sys.modules[
    "franchise.diagnostics.to_arviz"
]  # the module: the package has a function of that name


@pytest.fixture(scope="module")
def posterior():
    return fr.sample(CORPUS, sampler="split-merge", draws=5, warmup=3, chains=2, seed=7, progress=False)


@pytest.fixture(scope="module")
def segments():
    return sample_segments(None, 5)


def test_a_tree_has_what_is_traced(posterior):
    tree = to_arviz(posterior)
    assert isinstance(tree, xarray.DataTree)
    assert set(tree.children) == {"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"}
    for name in ("n_topics", "n_tables", "log_joint", "alpha", "gamma", "topic_entropy", "co_assignment"):
        assert tree["posterior"][name].dims == ("chain", "draw")
        np.testing.assert_array_equal(tree["posterior"][name], posterior.trace[name])
        np.testing.assert_array_equal(tree["warmup_posterior"][name], posterior.warmup_trace[name])
    np.testing.assert_array_equal(tree["sample_stats"]["lp"], posterior.trace["log_joint"])
    np.testing.assert_array_equal(tree["sample_stats"]["seconds"], posterior.trace["seconds"])
    np.testing.assert_array_equal(tree["sample_stats"]["splits"], posterior.trace["splits"])
    shares = tree["posterior"]["share_of_largest"]
    assert shares.dims == ("chain", "draw", "largest")
    np.testing.assert_array_equal(shares.sel(largest=3), posterior.trace["share_of_largest_3"])
    for group in ("posterior", "sample_stats"):
        assert not set(SHARES) & set(tree[group].data_vars)


def test_facts_are_attributes(posterior):
    tree = to_arviz(posterior)
    for attributes in (tree.attrs, tree["posterior"].attrs):
        assert attributes["inference_library"] == "franchise"
        assert attributes["sampler"] == "split-merge"
        assert attributes["seed"] == 7
        assert attributes["n_observations"] == CORPUS.n_tokens


@pytest.mark.parametrize("which", ["posterior", "segments"])
def test_netcdf_there_and_back(which, request, tmp_path):
    tree = to_arviz(request.getfixturevalue(which))
    tree.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    with xarray.open_datatree(tmp_path / "fit.nc", engine="h5netcdf") as again:
        for group, node in tree.children.items():
            xarray.testing.assert_equal(again[group].to_dataset(), node.to_dataset())
        assert again.attrs["seed"] == tree.attrs["seed"]
        assert again["posterior"].attrs["model"] == tree["posterior"].attrs["model"]


def test_of_a_hidden_topic_markov_model(segments):
    tree = to_arviz(segments)
    for name in ("switch_probability", "n_topics", "n_switches", "topic_entropy"):
        np.testing.assert_array_equal(tree["posterior"][name], segments.trace[name])
    assert "share_of_largest" not in tree["posterior"]
    assert tree.attrs["model"].startswith("InfiniteModel(alpha=")


def test_without_warmup_there_is_no_such_group():
    tree = to_arviz(fr.sample(CORPUS, draws=2, warmup=0, chains=1, progress=False))
    assert set(tree.children) == {"posterior", "sample_stats"}


def test_without_arviz(posterior, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(InputError, match=r"pip install 'franchise\[arviz\]'"):
        to_arviz(posterior)


def test_wrong_input():
    with pytest.raises(InputError, match="posterior must be"):
        to_arviz({"n_topics": [[1, 2]]})
