"""Fitted estimators on disk: a run directory whose run.json also describes the estimator.

    estimator   class, parameters, and column names

A sampled model is an ordinary run and can be resumed. A hidden topic Markov model fitted by EM has no chains; its
estimates are in the place of a checkpoint. Nothing is pickled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.estimators.base import TopicEstimator
from franchise.estimators.hdp_estimator import HDP
from franchise.estimators.htmm_estimator import HTMM
from franchise.families.base import Family
from franchise.families.registry import family_from_settings, name_of
from franchise.htmm.em import Fit, expectations_for, run_expect
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import Parameters
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.parallel.threads import Threads
from franchise.priors import Gamma
from franchise.sampling import load_posterior
from franchise.storage.atomic import read_errors_named
from franchise.storage.moves import from_plain, to_plain
from franchise.storage.run_directory import BY_EM, RunDirectory
from franchise.validation import PathLike, check_choice

_KINDS: dict[str, Any] = {"HDP": HDP, "HTMM": HTMM}

_OF_THE_CALL = ("workers", "engine", "progress", "run_dir", "time_limit", "checkpoint_interval")
"""Parameters that do not change the result; a loaded model has their default values."""

_ESTIMATES = ("log_topics", "proportions", "objectives", "switches")


def save_model(model: TopicEstimator, path: PathLike) -> None:
    """Write a fitted estimator to a new folder."""
    metadata = {
        "kind": type(model).__name__,
        "parameters": _plain_parameters(model),
        "n_columns": model.n_features_in_,
        "columns": list(getattr(model, "feature_names_in_", [])) or None,
    }
    check_choice("the class of the model", metadata["kind"], _KINDS)
    if hasattr(model, "em_"):
        _save_estimates(model, path, metadata)
    else:
        model.posterior_.save(path, estimator=metadata)


def load_model(folder: RunDirectory) -> Any:
    """Return the estimator that was saved in a folder."""
    with read_errors_named(folder.path / "run.json"):
        metadata = folder.settings["estimator"]
        kind = _KINDS[check_choice("kind", metadata["kind"], _KINDS)]
        model = kind(**{name: _from_plain(value) for name, value in metadata["parameters"].items()})
        model.n_features_in_ = int(metadata["n_columns"])
        if metadata["columns"] is not None:
            model.feature_names_in_ = np.array([str(name) for name in metadata["columns"]], dtype=object)
    if folder.settings["model"] == BY_EM:
        return _load_estimates(model, folder)
    return model._take_draws(load_posterior(folder))


# --- parameters ---------------------------------------------------------------------------------------------


def _plain_parameters(model: TopicEstimator) -> dict[str, Any]:
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in _OF_THE_CALL}
    return {name: _to_plain(name, value) for name, value in given.items()}


def _to_plain(name: str, value: object) -> Any:
    """Return a parameter as a JSON value; anything but a number or a string is tagged with its type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, Gamma):
        return {"gamma": [value.shape, value.rate]}
    if isinstance(value, (list, tuple)):
        return {"several": [_to_plain(name, part) for part in value]}
    if isinstance(value, Family):
        return {"family": name_of(value), "settings": value.settings()}
    if isinstance(value, (Move, Composed)):
        return {"moves": to_plain(value)}
    raise InputError(
        f"the parameter {name} cannot be saved, as it is a {type(value).__name__}. Save model.posterior_ "
        "instead."
    )


def _from_plain(value: object) -> Any:
    """Return the parameter that `_to_plain` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"])
    if "gamma" in value:
        return Gamma(*value["gamma"])
    if "several" in value:
        return tuple(_from_plain(part) for part in value["several"])
    if "family" in value:
        return family_from_settings(value["family"], value["settings"])
    return from_plain(value["moves"])


# --- estimates by EM ----------------------------------------------------------------------------------------


def _save_estimates(model: HTMM, path: PathLike, metadata: dict[str, Any]) -> None:
    found: Fit = model.em_
    arrays = {
        **found.parameters._asdict(),
        "objectives": found.objectives,
        "switches": found.switches,
    }
    numbers = {
        "switch": float(arrays.pop("switch")),
        "log_likelihood": found.log_likelihood,
        "converged": found.converged,
    }

    settings = {"model": BY_EM, "chains": 1, "estimator": metadata}
    with RunDirectory.create("path", path, settings, model.corpus_) as folder:
        folder.chain(0).write_checkpoint(arrays, numbers)


def _load_estimates(model: HTMM, folder: RunDirectory) -> HTMM:
    """Return the model with its estimates; what depends on them is recomputed."""
    corpus, store = folder.data(), folder.chain(0)
    arrays, numbers, _ = store.read_checkpoint()
    with read_errors_named(store.checkpoint_path):
        if not isinstance(corpus, Corpus):
            raise InputError("the data are not a corpus.")
        log_topics, proportions, objectives, switches = (arrays[name] for name in _ESTIMATES)
        _check_shapes(corpus, log_topics, proportions)
        parameters = Parameters(log_topics, proportions, float(numbers["switch"]))
        prepared = Prepared.of(corpus)
        expectations = expectations_for(prepared, log_topics.shape[1])
        run_expect(prepared, parameters, expectations, Threads())
        found = Fit(
            parameters,
            expectations,
            objectives,
            switches,
            float(numbers["log_likelihood"]),
            bool(numbers["converged"]),
        )
    return model._take_fit(found, corpus, prepared)


def _check_shapes(corpus: Corpus, log_topics: np.ndarray, proportions: np.ndarray) -> None:
    wanted = (corpus.vocabulary_size, corpus.n_documents)
    if log_topics.ndim != 2 or proportions.ndim != 2 or log_topics.shape[1] != proportions.shape[1]:
        raise InputError("the estimates are not matrices with the same topics.")
    if (len(log_topics), len(proportions)) != wanted or not np.isfinite(log_topics).all():
        raise InputError("the estimates do not match the words and documents.")
