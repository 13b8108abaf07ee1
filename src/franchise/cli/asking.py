"""What options say of the model, turned into what the library takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.families.base import Family
    from franchise.htmm.posterior import SegmentPosterior
    from franchise.posterior import Posterior
    from franchise.priors import Gamma

USUAL_PRIOR = "0.1"
USUAL_PRIOR_OF_SEGMENTS = "0.5"  # of a given number of topics (see `HTMM`)

_OF_CATEGORIES = ("categorical", "multinomial")
_OF_ANY_WIDTH = ("poisson", "known-topics")


def number_or_gamma(option: str, text: str) -> float | Gamma:
    """A number, or SHAPE,RATE of a Gamma prior."""
    from franchise.priors import Gamma

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return Gamma(*numbers)
    raise InputError(
        f"{option} must be a number, such as 1.0, or SHAPE,RATE of a Gamma prior, such as 1,1; got {text!r}."
    )


def start_of(text: str | None) -> int | str | None:
    """A number of topics, or a word that the library knows."""
    if text is None:
        return None
    return int(text) if text.isdecimal() else text


def settings_of(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; values are JSON, or else words."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--set must be NAME=VALUE, such as prior=0.5; got {pair!r}.")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value
    return settings


def mixture_of(
    data: Any, family: str | None, pairs: list[str], prior: str | None
) -> Callable[..., Posterior]:
    """What draws from a hierarchical Dirichlet process mixture of the data."""
    from franchise.sampling import sample

    return partial(
        sample, data, family_of(family, pairs, number_or_gamma("--prior", prior or USUAL_PRIOR), data)
    )


def segments_of(data: Any, n_topics: int | None, prior: str | None) -> Callable[..., SegmentPosterior]:
    """What draws from a hidden topic Markov model of the data."""
    from franchise.htmm.estimator import HTMM

    usual = USUAL_PRIOR if n_topics is None else USUAL_PRIOR_OF_SEGMENTS
    word_prior = number_or_gamma("--prior", prior or usual)

    def draw(**asked: Any) -> SegmentPosterior:
        return HTMM(n_topics, word_prior=word_prior, **asked).fit(data).posterior_

    return draw


def engine_of(name: str, address: str | None, actors: int | None, workers: int | None) -> dict[str, Any]:
    """Where chains run, as arguments of `franchise.sample`."""
    from franchise.validation import check_choice

    if check_choice("--engine", name, ["threads", "ray"]) == "threads":
        refuse("is for --engine ray only", address=address, actors=actors)
        return {"workers": workers}
    from franchise.engines.ray import Ray

    return {"engine": Ray(address, actors, workers)}


def refuse(why: str, **options: Any) -> None:
    """InputError for the first of some options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError(f"--{option.replace('_', '-')} {why}. Leave it out.")


def family_of(name: str | None, pairs: list[str], prior: float | Gamma, data: Any) -> Family:
    """The family that is meant: of words for a corpus; for other data by name, as wide as they are."""
    from franchise.data.corpus import Corpus
    from franchise.families.categorical import Categorical
    from franchise.families.registry import FAMILIES, family_from_settings
    from franchise.validation import check_choice

    if isinstance(data, Corpus):
        if name not in (None, "categorical"):
            raise InputError(
                f"--family {name} is for tables of observations: give --group COLUMN. Words are categorical."
            )
        return Categorical(data.vocabulary_size, **{"prior": prior, **settings_of(pairs)})
    if name is None:
        raise InputError(
            f"a table of observations needs --family, one of {', '.join(FAMILIES)}: how observations of one topic "
            f"are distributed."
        )
    check_choice("--family", name, FAMILIES)
    usual = {**_width(name, data.observations), **({"prior": prior} if name in _OF_CATEGORIES else {})}
    return family_from_settings(name, {**usual, **settings_of(pairs)})


def _width(name: str, observations: Any) -> dict[str, int]:
    """The setting of a family that follows from the data: how many categories or columns there are."""
    if name in _OF_ANY_WIDTH:
        return {}
    if name == "categorical":
        return {"size": int(observations.max()) + 1}
    columns = 1 if observations.ndim == 1 else int(observations.shape[1])
    return {"size" if name in _OF_CATEGORIES else "dimension": columns}
