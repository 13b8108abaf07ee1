"""`posterior.to_anndata`: what is written, stored as h5ad, and read by scanpy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import franchise as fr

anndata = pytest.importorskip("anndata")

pytestmark = pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")

SETTINGS = {
    "sampler": "direct",
    "chains": 2,
    "alpha": 1.0,
    "gamma": 1.0,
    "draws": 10,
    "warmup": 40,
    "progress": False,
}

rng = np.random.default_rng(2)
TYPES = rng.integers(0, 2, 60)
CELLS = rng.normal(size=(60, 3)) + 8.0 * TYPES[:, None]


@pytest.fixture(autouse=True)
def _strings_are_objects():
    """anndata 0.12 cannot write the strings of pyarrow that pandas 3 makes."""
    with pd.option_context("future.infer_string", False):
        yield


def cells():
    obs = pd.DataFrame({"well": ["b", "a", "c"] * 20}, index=[f"cell{place}" for place in range(60)])
    var = pd.DataFrame(index=["CD3", "CD4", "CD8"])
    made = anndata.AnnData(CELLS.copy(), obs=obs, var=var)
    made.obsm["X_pca"] = CELLS[:, :2]
    return made


@pytest.fixture(scope="module")
def posterior():
    wells = fr.Groups.from_anndata(cells(), groups="well", variables=["CD8", "CD3"])
    return fr.sample(wells, fr.GaussianFull(), **SETTINGS)


def test_labels_and_probabilities_are_in_the_order_of_rows(posterior):
    adata = cells()
    assert posterior.to_anndata(adata, key="cluster") is None
    shown = adata.obs["cluster"]
    assert shown.cat.categories.tolist() == [*posterior.consensus_topics.labels, "other"]
    assert pd.crosstab(shown, TYPES).gt(0).sum(axis=1).max() == 1  # each cluster is of one type
    probabilities = posterior.observation_probabilities()
    np.testing.assert_array_equal(adata.obsm["cluster_probabilities"], probabilities)
    np.testing.assert_array_equal(adata.obs["cluster_probability"], probabilities.max(axis=1))


def test_means_are_beside_the_variables_that_were_used(posterior):
    adata = cells()
    posterior.to_anndata(adata)
    moments = posterior.topic_moments()
    np.testing.assert_array_equal(adata.varm["hdp_means"][[2, 0]], moments.means.T)
    np.testing.assert_array_equal(adata.varm["hdp_means_low"][[2, 0]], moments.means_interval[0].T)
    assert np.isnan(adata.varm["hdp_means"][1]).all()
    assert adata.uns["hdp"]["columns"].tolist() == ["CD8", "CD3"]
    np.testing.assert_array_equal(adata.uns["hdp"]["covariances"], moments.covariances)


def test_principal_components_are_no_variables():
    adata = cells()
    wells = fr.Groups.from_anndata(adata, groups="well", obsm="X_pca")
    fr.sample(wells, fr.GaussianDiagonal(), **SETTINGS).to_anndata(adata)
    assert "hdp_means" not in adata.varm
    assert adata.uns["hdp"]["means"].shape[1] == 2


@pytest.mark.parametrize("reader", ["anndata", "scanpy"])
def test_round_trip(posterior, tmp_path, reader):
    read = pytest.importorskip(reader).read_h5ad
    adata = cells()
    posterior.to_anndata(adata)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = read(tmp_path / "cells.h5ad")
    assert again.obs["hdp"].astype(str).tolist() == adata.obs["hdp"].astype(str).tolist()
    for place in ("obsm", "varm"):
        for name, values in getattr(adata, place).items():
            np.testing.assert_array_equal(getattr(again, place)[name], values)
    for name, value in adata.uns["hdp"].items():
        stored = again.uns["hdp"][name]
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(stored, value)
        else:
            assert stored == value
    assert again.uns["hdp"]["groups"].tolist() == ["b", "a", "c"]
    wells = fr.Groups.from_anndata(again, groups="well", variables=["CD8", "CD3"])
    np.testing.assert_array_equal(wells.observations, posterior.data.observations)


def test_a_family_without_means(tmp_path):
    adata = cells()
    adata.X = rng.poisson(3.0, (60, 3)).astype(float)
    counts = fr.Groups.from_anndata(adata, groups="well")
    fr.sample(counts, fr.Multinomial(3), **SETTINGS).to_anndata(adata)
    assert "means" not in adata.uns["hdp"]
    adata.write_h5ad(tmp_path / "cells.h5ad")


def test_wrong_objects_are_refused(posterior):
    with pytest.raises(fr.InputError, match=r"rows of the fitted data \(60\).*got 10 rows"):
        posterior.to_anndata(cells()[:10].copy())
    with pytest.raises(fr.InputError, match=r"adata must be an AnnData object"):
        posterior.to_anndata(CELLS)
    with pytest.raises(fr.InputError, match=r"key must be a name"):
        posterior.to_anndata(cells(), key="")
    words = fr.sample(fr.Corpus.from_texts(["a cat sat", "a dog ran"]), draws=2, warmup=2, progress=False)
    with pytest.raises(fr.InputError, match=r"needs a posterior of Groups; this one is of Corpus"):
        words.to_anndata(cells())
