"""`Groups.from_anndata`, with AnnData objects and files read by scanpy."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import franchise as fr
from franchise.data import annotated
from franchise.errors import InputError

anndata = pytest.importorskip("anndata")

RNG = np.random.default_rng(2)
pytestmark = pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")

X = RNG.normal(size=(6, 3))
COUNTS = RNG.poisson(1.0, (6, 3)).astype(np.float32)
WELLS = ["B1", "A1", "B1", "A1", "C1", "B1"]
DOSES = [2, 1, 2, 1, 0, 2]


@pytest.fixture(autouse=True)
def _strings_are_objects():
    """anndata 0.12 cannot write the strings of pyarrow that pandas 3 makes."""
    with pd.option_context("future.infer_string", False):
        yield


@pytest.fixture
def adata():
    made = anndata.AnnData(
        X.copy(),
        obs=pd.DataFrame(
            {"well": pd.Categorical(WELLS), "dose": DOSES, "batch": list("xxyyxy")},
            index=[f"cell{place}" for place in range(6)],
        ),
        var=pd.DataFrame(index=["CD3", "CD4", "CD8"]),
    )
    made.layers["counts"] = sparse.csr_matrix(COUNTS)
    made.obsm["X_pca"] = X[:, :2] * 2.0
    made.obsm["frame"] = pd.DataFrame(X[:, :1], columns=["first"], index=made.obs_names)
    return made


def test_rows_groups_and_names_are_those_of_the_object(adata):
    groups = fr.Groups.from_anndata(adata, "well")
    np.testing.assert_array_equal(groups.observations, X)
    assert groups.group_names == ["B1", "A1", "C1"]
    assert [groups.group_names[group] for group in groups.group_of_observation] == WELLS
    assert groups.columns == ["CD3", "CD4", "CD8"]
    both = fr.Groups.from_anndata(adata, ["well", "batch"], metadata=["dose"])
    assert both.tree.levels == fr.Groups(X, adata.obs[["well", "batch"]]).tree.levels
    assert both.group_names == fr.Groups(X, adata.obs[["well", "batch"]]).group_names
    assert both.metadata == {"dose": [2, 1, 2, 1, 0]}


def test_matrices_of_all_places(adata):
    chosen = fr.Groups.from_anndata(adata, "well", variables=["CD8", "CD3"])
    np.testing.assert_array_equal(chosen.observations, X[:, [2, 0]])
    assert chosen.columns == ["CD8", "CD3"]
    pca = fr.Groups.from_anndata(adata, "well", obsm="X_pca")
    np.testing.assert_array_equal(pca.observations, X[:, :2] * 2.0)
    assert pca.columns == ["X_pca 0", "X_pca 1"]
    framed = fr.Groups.from_anndata(adata, "well", obsm="frame")
    assert framed.columns == ["first"]
    counts = fr.Groups.from_anndata(adata, "well", layer="counts")
    np.testing.assert_array_equal(counts.observations.toarray(), COUNTS)
    assert counts.observations.dtype == np.int64
    dense = fr.Groups.from_anndata(adata, "well", layer="counts", dense=True)
    np.testing.assert_array_equal(dense.observations, COUNTS)
    some = fr.Groups.from_anndata(adata[2:5], "well", layer="counts", variables=["CD4"], dense=True)
    np.testing.assert_array_equal(some.observations.ravel(), COUNTS[2:5, 1])


def test_a_sparse_layer_fits_the_multinomial_family_and_no_gaussian(adata):
    counts = fr.Groups.from_anndata(adata, "well", layer="counts")
    settings = {"draws": 2, "warmup": 2, "chains": 1, "progress": False}
    assert fr.sample(counts, fr.Multinomial(3), **settings).n_draws == 2
    with pytest.raises(
        InputError, match=r"GaussianDiagonal needs a dense array; got a sparse matrix.*toarray\(\)"
    ):
        fr.sample(counts, fr.GaussianDiagonal(3), **settings)


@pytest.mark.parametrize("reader", ["anndata", "scanpy"])
@pytest.mark.parametrize("backed", [None, "r"])
def test_files_are_read(adata, tmp_path, reader, backed):
    read = pytest.importorskip(reader).read_h5ad
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = read(tmp_path / "cells.h5ad", backed=backed)
    np.testing.assert_array_equal(fr.Groups.from_anndata(again, "well").observations, X)
    counts = fr.Groups.from_anndata(again, "well", layer="counts", dense=True)
    np.testing.assert_array_equal(counts.observations, COUNTS)


def missing_label(adata):
    adata.obs["well"] = pd.Categorical([*WELLS[:3], None, *WELLS[4:]])


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (None, {"groups": "wel"}, r"groups must be one of 'well'.*Did you mean 'well'"),
        (None, {"groups": []}, r"groups must name a column"),
        (None, {"layer": "count"}, r"layer must be one of 'counts'.*Did you mean"),
        (None, {"obsm": "pca"}, r"obsm must be one of"),
        (None, {"obsm": "X_pca", "layer": "counts"}, r"layer and obsm must not both"),
        (None, {"variables": ["CD3", "CD9"]}, r"variables must be one of.*'CD9'"),
        (None, {"variables": "CD3"}, r"variables must be a list of names"),
        (None, {"variables": []}, r"variables must name at least one"),
        (None, {"metadata": ["batch"]}, r"adata.obs\['batch'\].*group 'B1' has 'x' and 'y'"),
        (missing_label, {}, r"adata.obs\['well'\].*row 3 \('cell3'\)"),
        (lambda adata: setattr(adata, "X", None), {}, r"adata.X is empty"),
        (
            lambda adata: adata.X.__setitem__((4, 1), np.nan),
            {},
            r"got NaN at row 4, column 'CD4'. Rows.*\(1 in total\): 4\. Drop these rows",
        ),
    ],
)
def test_bad_input_is_named(adata, change, arguments, message):
    if change is not None:
        change(adata)
    with pytest.raises(InputError, match=message):
        fr.Groups.from_anndata(adata, **{"groups": "well", **arguments})


def test_a_dense_matrix_must_fit_in_memory(adata, monkeypatch):
    monkeypatch.setattr(annotated, "available_memory", lambda: 200)
    with pytest.raises(InputError, match=r"dense=True needs .* GiB"):
        fr.Groups.from_anndata(adata, "well", layer="counts", dense=True)


def test_any_object_with_these_attributes_will_do_and_others_are_refused():
    obs = pd.DataFrame({"well": WELLS})
    made = SimpleNamespace(obs=obs, X=X, layers={}, obsm={}, var_names=["a", "b", "c"], obs_names=obs.index)
    np.testing.assert_array_equal(fr.Groups.from_anndata(made, "well").observations, X)
    with pytest.raises(InputError, match=r"adata must be an AnnData object; got 5, which has no obs"):
        fr.Groups.from_anndata(5, "well")


def test_anndata_is_not_imported():
    code = "import sys, franchise as fr; fr.Groups([1.0], ['a']); sys.exit('anndata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
