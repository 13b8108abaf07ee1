"""`fr.HDP` on measurements: labels, predictions and parameters, as mixtures of scikit-learn have them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_clusterer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import franchise as fr

QUICK = {
    "sampler": "direct",
    "chains": 2,
    "draws": 12,
    "warmup": 40,
    "start": 5,
    "workers": 1,
    "alpha": 1.0,
    "gamma": 1.0,
}

rng = np.random.default_rng(3)
CENTRES = np.array([[0.0, 0.0], [9.0, 2.0], [-4.0, 8.0]])
TYPES = rng.integers(0, 3, 120)
CELLS = pd.DataFrame(CENTRES[TYPES] + rng.normal(size=(120, 2)), columns=["CD3", "CD4"])
WELLS = rng.permutation(["A1", "A2", "B1", "B2"] * 30)


@pytest.fixture(scope="module")
def model():
    return fr.HDP(fr.GaussianFull(), **QUICK).fit(CELLS, groups=WELLS)


def test_labels_are_in_the_order_of_rows(model):
    labels = model.labels_
    assert labels.dtype == np.int64
    assert adjusted_rand_score(TYPES, labels) > 0.95
    np.testing.assert_array_equal(clone(model).fit_predict(CELLS, groups=WELLS), labels)
    best = model.posterior_.consensus_topics.most_probable_topic().topic
    np.testing.assert_array_equal(labels, model.posterior_.data.to_input_order(best))


def test_new_wells_are_predicted(model):
    types = np.array([2, 0, 1, 1, 0])
    new = pd.DataFrame(CENTRES[types], columns=CELLS.columns)
    probabilities = model.predict_proba(new, groups=["x", "y", "x", "y", "x"])
    assert probabilities.shape == (5, model.n_topics_ + 1)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    found = model.predict(new, groups=["x", "y", "x", "y", "x"])
    np.testing.assert_array_equal(found, probabilities.argmax(axis=1))
    np.testing.assert_allclose(model.means_[found], CENTRES[types], atol=1.0)
    as_groups = fr.Groups(new, ["x", "y", "x", "y", "x"])
    np.testing.assert_array_equal(model.predict_proba(as_groups), probabilities)


def test_what_no_topic_explains_is_labelled_minus_one(model):
    far = pd.DataFrame([[200.0, -300.0]], columns=CELLS.columns)
    assert model.predict(far, groups=["x"]).tolist() == [-1]


def test_parameters_have_the_shapes_of_mixtures_and_intervals(model):
    topics = model.n_topics_
    large = np.argsort(-model.weights_)[:3]
    order = [np.abs(CENTRES - model.means_[topic]).sum(axis=1).argmin() for topic in large]
    assert sorted(order) == [0, 1, 2]
    assert model.weights_.sum() <= 1.0 + 1e-12
    for name, shape in {
        "weights": (topics,),
        "means": (topics, 2),
        "covariances": (topics, 2, 2),
    }.items():
        value, (low, high) = getattr(model, f"{name}_"), getattr(model, f"{name}_interval_")
        assert value.shape == low.shape == high.shape == shape
        assert (low[large] <= value[large] + 1e-12).all()
        assert (value[large] <= high[large] + 1e-12).all()
    for topic, number in zip(large, order, strict=True):
        own = CELLS[TYPES == number]
        np.testing.assert_allclose(model.means_[topic], own.mean(), atol=0.3)
        np.testing.assert_allclose(model.covariances_[topic], own.cov(), atol=0.5)


def test_tables_have_the_names_of_columns(model):
    assert {"mean CD3", "mean CD4"} <= set(model.topics().columns)


def test_words_have_no_labels():
    words = fr.HDP(draws=2, warmup=2, progress=False)
    for fitted in (words, clone(words).fit(["cats purr", "ships sail"])):
        for name in ("predict", "predict_proba", "fit_predict", "labels_", "means_", "weights_"):
            assert not hasattr(fitted, name)
        assert not is_clusterer(fitted)
    with pytest.raises(AttributeError):
        words.predict(["cats"])
    with pytest.raises(fr.InputError, match=r"each row of X is a document.*Use transform"):
        clone(words).fit(["cats purr", "ships sail"]).labels_  # noqa: B018


def test_counts_have_means_but_no_covariances():
    counts = rng.poisson(np.where(TYPES == 0, 2.0, 40.0))
    model = fr.HDP(fr.Poisson(1.0, 0.1), **QUICK).fit(counts, groups=WELLS)
    assert is_clusterer(model)
    assert sorted(model.means_[np.argsort(-model.weights_)[:2]].round().ravel()) == pytest.approx(
        [2, 40], abs=2
    )
    assert not hasattr(model, "covariances_")
    with pytest.raises(fr.InputError, match=r"family Poisson have no covariances"):
        model.covariances_  # noqa: B018
    profiles = fr.HDP(fr.Multinomial(2), **QUICK).fit(rng.poisson(5.0, (120, 2)), groups=WELLS)
    assert not hasattr(profiles, "means_")
    assert profiles.labels_.shape == (120,)
    assert profiles.components_.shape[1] == 2


def test_nothing_before_fit():
    for name in ("labels_", "means_", "covariances_", "weights_", "means_interval_"):
        assert not hasattr(fr.HDP(fr.GaussianFull()), name)
    with pytest.raises(fr.InputError, match="not fitted"):
        fr.HDP(fr.GaussianFull()).predict(CELLS, groups=WELLS)


def test_units_do_not_matter():
    """A change of units by powers of two changes no label; predictions have another Monte Carlo error."""
    model = fr.HDP(fr.GaussianFull(), **QUICK).fit(CELLS, groups=WELLS)
    other = clone(model).fit(CELLS * [1024.0, 0.125], groups=WELLS)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(other.means_, model.means_ * [1024.0, 0.125], rtol=1e-6)
    found = other.predict_proba(CELLS * [1024.0, 0.125], groups=WELLS)
    np.testing.assert_allclose(found, model.predict_proba(CELLS, groups=WELLS), atol=0.02)
    few = np.arange(4)  # up to eight observations are exact
    found = other.predict_proba(CELLS.iloc[few] * [1024.0, 0.125], groups=WELLS[few])
    np.testing.assert_allclose(found, model.predict_proba(CELLS.iloc[few], groups=WELLS[few]), atol=1e-9)


def test_grid_search_with_routed_groups():
    """Whole wells are held out: the splitter gets the groups, and so do fit and score."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = fr.HDP(fr.GaussianFull(), **{**QUICK, "draws": 4, "warmup": 10, "chains": 1})
        model.set_fit_request(groups=True).set_score_request(groups=True)
        grid = {"family": [fr.GaussianFull(), fr.GaussianFull(scale=1e4)]}
        search = GridSearchCV(model, grid, cv=GroupKFold(2)).fit(CELLS, groups=WELLS)
        assert search.best_params_["family"].scale is None
        new = CELLS.iloc[:4]
        found = search.predict(fr.Groups(new, WELLS[:4]))  # scikit-learn routes nothing to its predict
        np.testing.assert_array_equal(found, search.best_estimator_.predict(new, groups=WELLS[:4]))


def test_groups_are_routed_through_a_pipeline():
    with sklearn.config_context(enable_metadata_routing=True):
        model = fr.HDP(fr.GaussianDiagonal(), **{**QUICK, "draws": 4, "warmup": 10, "chains": 1})
        model.set_fit_request(groups=True).set_predict_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(CELLS, groups=WELLS)
        found = pipeline.predict(CELLS, groups=WELLS)
    assert adjusted_rand_score(TYPES, found) > 0.8


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    again = fr.load(tmp_path / "model")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.means_interval_, model.means_interval_)
    found = again.predict_proba(CELLS, groups=WELLS)
    np.testing.assert_array_equal(found, model.predict_proba(CELLS, groups=WELLS))
    assert repr(again.family) == repr(model.family)
    assert again.posterior_.family.settings() == model.posterior_.family.settings()
