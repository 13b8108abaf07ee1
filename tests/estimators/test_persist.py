"""Fitted estimators on disk, without pickle."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.errors import InputError
from franchise.estimators.persist import _OF_THE_CALL

TEXTS = [
    "Cats purr and cats sleep. A dog barks.",
    "Ships sail the sea. The sea is wide.",
    "A cat sleeps. Ships sink.",
    "The ship sails. Dogs bark.",
] * 4
SHORT = {"draws": 4, "warmup": 3, "chains": 2, "progress": False}
MODELS = {
    "hdp": lambda: fr.HDP(**SHORT),
    "a learned prior, and moves": lambda: fr.HDP(
        prior=fr.Gamma(1.0, 10.0),
        sampler=[fr.moves.CrfGibbs(), fr.moves.Concentrations(), fr.moves.TopicPrior()],
        start=3,
        **SHORT,
    ),
    "htmm by EM": lambda: fr.HTMM(2, inference="em", starts=2),
    "htmm": lambda: fr.HTMM(2, word_prior=0.5, **SHORT),
    "htmm, topics learned": lambda: fr.HTMM(None, word_prior=0.1, alpha=1.0, **SHORT),
}


def kept_parameters(model):
    """Those that say what was fitted; several values as a list."""
    parameters = {name: value for name, value in model.get_params().items() if name not in _OF_THE_CALL}
    return {
        name: list(value) if isinstance(value, (list, tuple)) else value for name, value in parameters.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_as_it_was(name, tmp_path):
    model = MODELS[name]().fit(TEXTS)
    model.save(tmp_path / "model")
    again = fr.load(tmp_path / "model")
    assert type(again) is type(model)
    assert repr(kept_parameters(again)) == repr(kept_parameters(model))
    assert again.n_topics_ == model.n_topics_
    assert again.n_features_in_ == model.n_features_in_
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    assert again.score(TEXTS) == model.score(TEXTS)
    pd.testing.assert_frame_equal(again.topics(), model.topics())
    pd.testing.assert_frame_equal(again.document_topics(), model.document_topics())


def test_other_families_and_named_columns(tmp_path):
    rows = pd.DataFrame({"a": [1, 3, 0, 2], "b": [2, 0, 4, 2]})
    model = fr.HDP(fr.Poisson(2.0, 0.5), **SHORT).fit(rows, groups=["x", "x", "y", "y"])
    model.save(tmp_path / "model")
    again = fr.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert (again.family.shape, again.family.rate) == (2.0, 0.5)
    groups = ["z"] * 4
    np.testing.assert_array_equal(again.transform(rows, groups=groups), model.transform(rows, groups=groups))


def test_a_saved_model_can_be_drawn_on_from(tmp_path):
    fr.HDP(**SHORT).fit(TEXTS).save(tmp_path / "model")
    assert fr.resume(tmp_path / "model", draws=7, progress=False).n_draws == 7
    longer = fr.HDP(**{**SHORT, "draws": 7}).fit(TEXTS)
    again = fr.load(tmp_path / "model")
    assert again.posterior_.trace["log_joint"].tolist() == longer.posterior_.trace["log_joint"].tolist()


def test_a_fit_by_em_is_no_run(tmp_path):
    with pytest.raises(InputError, match=r"run_dir is for inference=\"gibbs\".*model\.save"):
        fr.HTMM(2, inference="em", run_dir=tmp_path / "run").fit(TEXTS)
    assert not (tmp_path / "run").exists()


def test_estimates_cannot_be_drawn_on_from(tmp_path):
    fr.HTMM(2, inference="em", starts=1).fit(TEXTS).save(tmp_path / "model")
    with pytest.raises(InputError, match=r"fitted by EM.*franchise\.load"):
        fr.resume(tmp_path / "model")


def test_what_cannot_be_saved_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="not fitted"):
        fr.HDP().save(tmp_path / "model")
    model = fr.HDP(**SHORT).fit(TEXTS)
    model.start = model.posterior_.states[0]
    with pytest.raises(InputError, match="parameter start cannot be saved"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    model.start = None
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="already contains a run"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda metadata: metadata.pop("kind"),
        lambda metadata: metadata.update(kind="os.system"),
        lambda metadata: metadata.update(parameters={"family": {"family": "nobody", "settings": {}}}),
        lambda metadata: metadata.update(parameters={"evil": 1}),
        lambda metadata: metadata.update(parameters=[1]),
        lambda metadata: metadata.update(n_columns="many"),
        lambda metadata: metadata.update(parameters={"sampler": {"moves": {"move": "sampling"}}}),
    ],
)
def test_a_spoiled_model_is_an_input_error(tmp_path, spoil):
    from franchise.storage.atomic import checksum_of

    fr.HDP(**SHORT).fit(TEXTS).save(tmp_path / "model")
    path = tmp_path / "model" / "run.json"
    settings = json.loads(path.read_text())
    del settings["checksum"]
    spoil(settings["estimator"])
    path.write_text(json.dumps({**settings, "checksum": checksum_of(settings)}))
    with pytest.raises(InputError, match=r"run\.json"):
        fr.load(tmp_path / "model")
