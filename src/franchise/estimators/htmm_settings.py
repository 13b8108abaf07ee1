"""The parameters of `HTMM`, checked: of EM, of the model, and of the chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franchise.errors import InputError
from franchise.htmm.em import Priors
from franchise.htmm.fitting import EmSettings, Sampling
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.priors import Gamma, check_number_or_gamma
from franchise.validation import check_choice, check_integer, check_positive, describe

if TYPE_CHECKING:
    from franchise.estimators.htmm_estimator import HTMM


OF_EM, OF_GIVEN, OF_INFERRED = 1.01, 0.5, 0.1
"""Priors of words by default: for EM, and with Gibbs sampling for a given and for an inferred number of topics."""


def em_settings(model: HTMM, prepared: Prepared) -> EmSettings:
    """Return the checked settings of a fit by EM."""
    if model.n_topics is None:
        raise InputError(
            'n_topics must be a number for EM, such as HTMM(20, inference="em"). To infer the number of topics, '
            'use inference="gibbs".'
        )
    if model.base_measure != "uniform":
        raise InputError(
            'base_measure="corpus" needs inference="gibbs", as EM has one prior for all words. Use "uniform".'
        )
    if model.run_dir is not None:
        raise InputError(
            'run_dir is for inference="gibbs": EM runs cannot be resumed. Keep the fitted model by '
            "model.save(path)."
        )
    priors = Priors(
        _at_least_one("document_prior", model.document_prior),
        _at_least_one("word_prior", OF_EM if model.word_prior is None else model.word_prior),
        _two("switch_prior", model.switch_prior, _at_least_one),
    )
    return EmSettings(
        prepared,
        check_integer("n_topics", model.n_topics, minimum=1),
        priors,
        check_integer("starts", model.starts, minimum=1),
        check_positive("tolerance", model.tolerance),
        check_integer("max_iterations", model.max_iterations, minimum=1),
        model.progress,
    )


def gibbs_model(model: HTMM, prepared: Prepared) -> FiniteModel | InfiniteModel:
    """Return the model that Gibbs sampling draws from."""
    usual = OF_INFERRED if model.n_topics is None else OF_GIVEN
    word_prior = check_number_or_gamma("word_prior", usual if model.word_prior is None else model.word_prior)
    switch_prior = _two("switch_prior", model.switch_prior, check_positive)
    if model.n_topics is None:
        alpha, gamma = (check_number_or_gamma(name, getattr(model, name)) for name in ("alpha", "gamma"))
        return InfiniteModel(prepared, alpha, gamma, word_prior, switch_prior)
    n_topics = check_integer("n_topics", model.n_topics, minimum=1)
    document_prior = check_number_or_gamma("document_prior", model.document_prior)
    return FiniteModel(prepared, n_topics, document_prior, word_prior, switch_prior)


def gibbs_plan(model: HTMM) -> Sampling:
    """Return the checked settings of the chains."""
    start = model.start
    if isinstance(start, str):
        check_choice("start", start, ("collapsed", "em", "random"))
    elif model.n_topics is not None:
        raise InputError(
            'start must be "collapsed", "em" or "random" where the number of topics is given; got '
            f"{describe(start)}. Use a number of topics only with n_topics=None."
        )
    else:
        start = check_integer("start", start, minimum=1)
    least = {"draws": 1, "warmup": 0, "thin": 1, "chains": 1, "starts": 1}
    numbers = {name: check_integer(name, getattr(model, name), minimum=least[name]) for name in least}
    given = {name: getattr(model, name) for name in Sampling._fields}
    return Sampling(**{**given, **numbers, "start": start})


def _at_least_one(name: str, value: object) -> float:
    """Return a prior that has a mode for every count."""
    if isinstance(value, Gamma):
        raise InputError(f'{name} must be a number for EM. To use a Gamma prior, set inference="gibbs".')
    checked = check_positive(name, value)
    if checked < 1.0:
        raise InputError(
            f"{name} must be at least 1 for EM, or the posterior has no maximum; got {value}. Use 1 or more, or "
            f'use inference="gibbs".'
        )
    return checked


def _two(name: str, values: Any, check: Any) -> tuple[float, float]:
    """Return a pair of numbers."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise InputError(f"{name} must be the two numbers of a Beta prior; got {describe(values)}.") from None
    return check(f"{name}[0]", first), check(f"{name}[1]", second)
