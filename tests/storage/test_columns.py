"""The names of columns are stored with a run."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import franchise as fr


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("columns", [None, ["red", "black"]])
def test_columns_are_stored(tmp_path, form, columns):
    counts = form(np.random.default_rng(0).poisson(2.0, (6, 2)))
    data = fr.Groups(counts, [0, 1] * 3, columns=columns)
    settings = {"draws": 1, "warmup": 1, "chains": 1, "progress": False}
    fr.sample(data, fr.Multinomial(2), run_dir=tmp_path / "run", **settings)
    assert fr.load(tmp_path / "run").data.columns == columns
