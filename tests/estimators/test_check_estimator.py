"""scikit-learn's own checks of estimators, all of them.

    python -m pytest tests/estimators/test_check_estimator.py -q -rx

prints how many are passed and which are expected to fail, with the reason. Data are whole numbers, as the tags ask.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import franchise as fr


class PoissonRows(fr.HDP):
    """Any family's observations, each row a group by itself: the checks know of no groups."""

    def fit(self, X, y=None):
        return super().fit(X, groups=self._rows(X))

    def transform(self, X):
        self._check_fitted()
        return super().transform(X, groups=self._rows(X))

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def score(self, X, y=None):
        return super().score(X, groups=self._rows(X))

    def _rows(self, X):
        return range(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True  # only whole numbers will do
        return tags


class GaussianRows(fr.HDP):
    """Measurements, fitted as one group for the checks of clusterers; new rows are groups by themselves."""

    def fit(self, X, y=None):
        return super().fit(X, groups=[0] * len(self._rows(X)))

    def fit_predict(self, X, y=None):
        return self.fit(X).labels_

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def score(self, X, y=None):
        return super().score(X, groups=self._rows(X))

    def predict(self, X):
        self._check_fitted()
        return super().predict(X, groups=self._rows(X))

    def predict_proba(self, X):
        self._check_fitted()
        return super().predict_proba(X, groups=self._rows(X))

    def transform(self, X):
        self._check_fitted()
        return super().transform(X, groups=self._rows(X))

    def _rows(self, X):
        return range(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)))


QUICK = {"draws": 3, "warmup": 3, "chains": 1, "workers": 1}
ESTIMATORS = [
    fr.HDP(sampler="direct", start=3, **QUICK),
    fr.HTMM(2, inference="em", starts=1, max_iterations=20, workers=1),
    fr.HTMM(2, inference="gibbs", starts=1, **QUICK),
    PoissonRows(fr.Poisson(), sampler="direct", start=3, **QUICK),
    GaussianRows(fr.GaussianDiagonal(), sampler="direct", start=3, **{**QUICK, "warmup": 20, "draws": 10}),
]

DEFAULTS = (
    "the defaults of alpha and gamma are Gamma priors: immutable, but of a type that the check does not know"
)
FLAT = "with groups a flat array is one number an observation: it is told that there are too few columns"

EXPECTED_TO_FAIL = {
    "HDP": {"check_parameters_default_constructible": DEFAULTS},
    "HTMM": {"check_parameters_default_constructible": DEFAULTS},
    "PoissonRows": {
        "check_parameters_default_constructible": DEFAULTS,
        "check_fit2d_predict1d": FLAT,
        "check_clustering": "standardised data are no counts",
    },
    "GaussianRows": {
        "check_parameters_default_constructible": DEFAULTS,
        "check_fit2d_predict1d": FLAT,
        "check_fit1d": "a flat array is one number per observation",
    },
}


def with_checks(estimators):
    return parametrize_with_checks(
        estimators, expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL[type(estimator).__name__]
    )


@with_checks([ESTIMATORS[0], ESTIMATORS[2]])
def test_checks_of_estimators(estimator, check):
    check(estimator)


@pytest.mark.slow
@with_checks([ESTIMATORS[1], ESTIMATORS[3], ESTIMATORS[4]])
@pytest.mark.filterwarnings("ignore:EM has not converged")
def test_checks_of_other_estimators(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_the_check_that_is_skipped_without_a_variable_of_the_environment():
    """SciPy reads it when it is imported, hence another process."""
    finished = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n0",
            "-q",
            "-m",
            "slow or not slow",
            "-k",
            "check_array_api_input",
            __file__,
        ],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"^5 passed, \d+ deselected", finished.stdout, re.MULTILINE), finished.stdout


# Those that scikit-learn keeps for its own estimators.
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_transformer_get_feature_names_out,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
        estimator_checks.check_set_output_transform,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_global_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
        estimator_checks.check_global_set_output_transform_polars,
        estimator_checks.check_inplace_ensure_writeable,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.parametrize(
    "estimator", [ESTIMATORS[0], pytest.param(ESTIMATORS[1], marks=pytest.mark.slow)], ids=["HDP", "HTMM"]
)
@pytest.mark.filterwarnings("ignore:EM has not converged", "ignore:X (has|does not have valid) feature names")
def test_more_checks(estimator, check):
    check(type(estimator).__name__, estimator)
