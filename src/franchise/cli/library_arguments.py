"""What options say of the model, turned into what the library takes.

From the options of a command to data: a corpus or a grouped table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    from franchise.data.corpus import Corpus
    from franchise.data.grouped import GroupedData
    from franchise.data.groups import Groups
    from franchise.families.base import Family
    from franchise.posterior.base import Posterior
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
    data: GroupedData, family: str | None, pairs: list[str], prior: str | None
) -> Callable[..., Posterior]:
    """What draws from a hierarchical Dirichlet process mixture of the data."""
    from franchise.sampling import sample

    return partial(
        sample, data, family_of(family, pairs, number_or_gamma("--prior", prior or USUAL_PRIOR), data)
    )


def segments_of(data: GroupedData, n_topics: int | None, prior: str | None) -> Callable[..., Posterior[Any]]:
    """What draws from a hidden topic Markov model of the data."""
    from franchise.estimators.htmm_estimator import HTMM

    usual = USUAL_PRIOR if n_topics is None else USUAL_PRIOR_OF_SEGMENTS
    word_prior = number_or_gamma("--prior", prior or usual)

    def draw(**asked: Any) -> Posterior[Any]:
        return HTMM(n_topics, word_prior=word_prior, **asked).fit(data).posterior_

    return draw


def engine_of(name: str, address: str | None, actors: int | None, workers: int | None) -> dict[str, Any]:
    """Where chains run, as arguments of `franchise.sample`."""
    from franchise.validation import check_choice

    if check_choice("--engine", name, ["threads", "ray"]) == "threads":
        refuse("is for --engine ray only", address=address, actors=actors)
        return {"workers": workers}
    from franchise.cluster.ray_engine import Ray

    return {"engine": Ray(address, actors, workers)}


def refuse(why: str, **options: object) -> None:
    """InputError for the first of some options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError(f"--{option.replace('_', '-')} {why}. Leave it out.")


def family_of(name: str | None, pairs: list[str], prior: float | Gamma, data: GroupedData) -> Family:
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


def _width(name: str, observations: np.ndarray | csr_array) -> dict[str, int]:
    """The setting of a family that follows from the data: how many categories or columns there are."""
    if name in _OF_ANY_WIDTH:
        return {}
    if name == "categorical":
        return {"size": int(observations.max()) + 1}
    columns = 1 if observations.ndim == 1 else int(observations.shape[1])
    return {"size" if name in _OF_CATEGORIES else "dimension": columns}


@dataclass(frozen=True)
class File:
    """A path, and how what is there is written."""

    path: Path
    format: str | None = None
    text: str | None = None
    name: str | None = None
    vocabulary: Path | None = None
    encoding: str = "utf-8"

    def options(self) -> dict[str, Any]:
        """As `read_corpus` takes them."""
        return {
            "format": self.format,
            "text": self.text,
            "name": self.name,
            "vocabulary": self.vocabulary,
            "encoding": self.encoding,
        }


@dataclass(frozen=True)
class Words:
    """Which words of texts are kept; what is not said is left to the library."""

    stop_words: str | None = None
    min_df: float | None = None
    max_df: float | None = None
    ngrams: int | None = None
    stem: str | None = None
    keep_case: bool = False
    sentences: str | None = None

    def options(self) -> dict[str, Any]:
        """As `read_corpus` takes them."""
        said: dict[str, Any] = {"stem": self.stem, "sentences": self.sentences}
        if self.stop_words is not None:
            said["stop_words"] = [] if self.stop_words == "none" else self.stop_words
        if self.min_df is not None:
            said["min_df"] = _number_or_share("--min-df", self.min_df, whole_one=True)
        if self.max_df is not None:
            said["max_df"] = _number_or_share("--max-df", self.max_df, whole_one=False)
        if self.ngrams is not None:
            said["ngrams"] = (1, self.ngrams)
        if self.keep_case:
            said["lowercase"] = False
        return {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True)
class Rows:
    """Which columns of a table of observations are which."""

    group: str
    columns: str | None = None

    def options(self) -> dict[str, Any]:
        """As `read_groups` takes them."""
        return {
            "group": _names(self.group),
            "columns": None if self.columns is None else _names(self.columns),
        }


def rows_of_table(group: str | None, columns: str | None) -> Rows | None:
    """What was said of a table of observations; None if it is one of texts."""
    if group is None and columns is not None:
        raise InputError("--columns needs --group COLUMN: it is for tables of observations in groups.")
    return None if group is None else Rows(group, columns)


def read_data(file: File, words: Words, rows: Rows | None) -> Corpus | Groups:
    """What a path stands for: a bundled data set if it is the name of one, and of no file; else what is read."""
    from franchise.data.datasets import load, names
    from franchise.data.sharded.index import INDEX

    name = str(file.path)
    if name in names() and not file.path.exists():
        return load(name, sentences=words.sentences)
    if file.format is None and os.path.isfile(file.path / INDEX):  # false of names that are too long
        return read_shards(file, words, rows)
    return read_words(file, words) if rows is None else read_rows(file, rows)


def read_shards(file: File, words: Words, rows: Rows | None) -> Corpus:
    """A corpus in shards, whose words stay on disk."""
    from franchise.data.sharded.sharded_corpus import open_shards

    if rows is not None or words.options() or file.text or file.name or file.vocabulary:
        raise InputError(
            f"{file.path}: is a corpus in shards, which has word ids only: give no options for texts or tables."
        )
    return open_shards(file.path).memory_mapped()


def read_words(file: File, words: Words) -> Corpus:
    """A corpus."""
    from franchise.data.readers import read_corpus

    return read_corpus(file.path, **file.options(), **words.options())


def read_rows(file: File, rows: Rows) -> Groups:
    """A table of observations in groups."""
    from franchise.data.readers import read_groups

    return read_groups(file.path, format=file.format, encoding=file.encoding, **rows.options())


def read_like(file: File, corpus: Corpus) -> Corpus:
    """New documents, read as those of the corpus were, over its vocabulary."""
    from franchise.data.readers import read_corpus

    return read_corpus(file.path, **file.options(), like=corpus)


def read_run(path: Path) -> Posterior[Any]:
    """The posterior in the folder of a run, or of a saved model."""
    from franchise.sampling import load_posterior
    from franchise.storage.run_store import RunDirectory

    return load_posterior(RunDirectory.open(path))


def _names(text: str) -> list[str]:
    """Names that are parted by commas."""
    return [name.strip() for name in text.split(",")]


def corpus_of(posterior: Posterior[Any]) -> Corpus:
    """The corpus that was sampled; InputError if it was something else."""
    from franchise.data.corpus import Corpus

    if not isinstance(posterior.data, Corpus):
        raise InputError(
            "the run is not of texts or counts of words, and only new documents can be read by this command. In "
            "Python: franchise.load(run).infer(franchise.read_groups(path, group=...))."
        )
    return posterior.data


def _number_or_share(option: str, value: float, whole_one: bool) -> int | float:
    """Document frequencies as scikit-learn wants them: a whole number, or a share."""
    if value < 0:
        raise InputError(f"{option} must not be negative; got {value:g}.")
    if value < 1.0 or (value == 1.0 and not whole_one):
        return value
    if value != int(value):
        raise InputError(f"{option} must be a share up to 1 or a whole number of documents; got {value:g}.")
    return int(value)
