"""From the options of a command to the library's arguments: data, family, engine and chains."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.cli.options import SAMPLERS
from franchise.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    from franchise.cli.options import Chains, Execution, Model, Rules, Source, Words
    from franchise.data.corpus import Corpus
    from franchise.data.grouped import GroupedData
    from franchise.data.groups import Groups
    from franchise.families.base import Family
    from franchise.posterior.base import Posterior
    from franchise.priors import Gamma

USUAL_PRIOR = "0.1"

_SECONDS = ("time_limit", "checkpoint_interval")
_FROM_ZERO = ("warmup", "seed")
_OF_CATEGORIES = ("categorical", "multinomial", "dirichlet-multinomial")
_OF_ANY_WIDTH = ("poisson", "negative-binomial", "known-topics")


def number_or_gamma(option: str, text: str) -> float | Gamma:
    """A number, or SHAPE,RATE of a Gamma prior."""
    from franchise.priors import Gamma
    from franchise.validation import check_positive

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return check_positive(option, numbers[0])
    if len(numbers) == 2:
        return Gamma(*(check_positive(f"SHAPE and RATE of {option}", number) for number in numbers))
    raise InputError(
        f"{option} must be a number, such as 1.0, or SHAPE,RATE for a Gamma prior, such as 1,1; got {text!r}."
    )


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


def segments_of(model: Model, data: GroupedData) -> Callable[..., Posterior[Any]]:
    """Return a function that samples a hidden topic Markov model of the data."""
    from franchise.estimators.htmm_estimator import HTMM

    word_prior = None if model.prior is None else number_or_gamma("--prior", model.prior)
    return lambda **asked: HTMM(model.n_topics, word_prior=word_prior, **asked).fit(data).posterior_


def run_arguments(execution: Execution) -> dict[str, Any]:
    """Return where and how long chains run, as arguments of `franchise.sample`."""
    from franchise.validation import check_choice

    check_numbers(
        workers=execution.workers,
        actors=execution.actors,
        time_limit=execution.time_limit,
        checkpoint_interval=execution.checkpoint,
    )
    limits = {"time_limit": execution.time_limit, "checkpoint_interval": execution.checkpoint}
    if check_choice("--engine", execution.engine, ["threads", "ray"]) == "threads":
        refuse("is for --engine ray only", address=execution.address, actors=execution.actors)
        return {"workers": execution.workers, **limits}
    from franchise.cluster.ray_engine import Ray

    return {"engine": Ray(execution.address, execution.actors, execution.workers), **limits}


def finite_topics(model: Model, chains: Chains) -> dict[str, Any]:
    """The number of topics of the sampler "finite", as an argument of `franchise.sample`; others infer it."""
    if model.n_topics is None:
        return {}
    if chains.sampler != "finite":
        refuse("is for --model htmm or --sampler finite, others infer it", n_topics=model.n_topics)
    return {"finite_topics": model.n_topics}


def chain_arguments(chains: Chains) -> dict[str, Any]:
    """Return the options of chains as arguments of `franchise.sample`, without the sampler; all are checked."""
    from franchise.validation import check_choice

    check_choice("--sampler", chains.sampler, SAMPLERS)
    arguments = asdict(chains)
    del arguments["sampler"]
    start = arguments.pop("start")
    check_numbers(**arguments)
    return arguments if start is None else {**arguments, "start": _start(start, chains.chains)}


def _start(text: str, chains: int) -> int | str | list[int]:
    """Return the initial state that --start gives: a number of topics for all chains or for each, or a name."""
    numbers = [part.strip() for part in text.split(",")]
    if text == "sequential":
        return text
    if not all(number.isdecimal() and int(number) > 0 for number in numbers):
        raise InputError(
            '--start must be a number of topics, one for each chain such as 5,10,20,40, or "sequential"; '
            f"got {text!r}."
        )
    if len(numbers) not in (1, chains):
        raise InputError(f"--start {text} must be one number, or one for each of the {chains} chains.")
    return int(text) if len(numbers) == 1 else [int(number) for number in numbers]


def check_numbers(**given: float | None) -> None:
    """Raise InputError for the first of some options whose number is not allowed; None is."""
    from franchise.validation import check_integer, check_positive

    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is None:
            continue
        if name in _SECONDS:
            check_positive(option, value)
        else:
            check_integer(option, value, minimum=0 if name in _FROM_ZERO else 1)


def refuse(why: str, **options: object) -> None:
    """Raise InputError for the first of some options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError(f"--{option.replace('_', '-')} {why}. Remove it.")


def family_of(model: Model, data: GroupedData) -> Family:
    """Return the family: Categorical for a corpus; for other data by name, with their number of columns."""
    from franchise.cli.seed_words import known_topics
    from franchise.data.corpus import Corpus
    from franchise.families.registry import FAMILIES, family_from_settings
    from franchise.validation import check_choice

    name, prior = model.family, {"prior": number_or_gamma("--prior", model.prior or USUAL_PRIOR)}
    if isinstance(data, Corpus):
        if name not in (None, "categorical"):
            raise InputError(
                f"--family {name} is for tables of observations; words are categorical. Add --group COLUMN, or "
                f"remove --family."
            )
        if model.seeds is not None:
            return known_topics(model.seeds, data.vocabulary, {**prior, **settings_of(model.setting)})
        settings = {"size": data.vocabulary_size, **prior, **settings_of(model.setting)}
        return family_from_settings("categorical", settings)
    refuse("is for words only", seeds=model.seeds)
    if name is None:
        raise InputError(
            "a table of observations needs a likelihood, such as poisson for counts or gaussian-diagonal for "
            f"measurements. Set --family to one of {', '.join(FAMILIES)}."
        )
    check_choice("--family", name, FAMILIES)
    usual = {**_width(name, data.observations), **(prior if name in _OF_CATEGORIES else {})}
    return family_from_settings(name, {**usual, **settings_of(model.setting)})


def _width(name: str, observations: np.ndarray | csr_array) -> dict[str, int]:
    """Return the setting of a family that follows from the data: the number of categories or columns."""
    if name in _OF_ANY_WIDTH:
        return {}
    if name == "categorical":
        return {"size": int(observations.max()) + 1}
    columns = 1 if observations.ndim == 1 else int(observations.shape[1])
    return {"size" if name in _OF_CATEGORIES else "dimension": columns}


def read_data(source: Source, words: Words) -> Corpus | Groups:
    """Read a path, or load a bundled data set if the path names one and no such file exists."""
    from franchise.data.datasets import names
    from franchise.data.readers import read_corpus, read_groups
    from franchise.data.sharded.index import INDEX

    if source.group is None and source.columns is not None:
        raise InputError("--columns is for tables of observations. Add --group COLUMN, or remove --columns.")
    if source.group is not None:
        refuse("is for documents; --group takes levels, too, such as cohort/patient", levels=source.levels)
    path, name = source.path, str(source.path)
    if name in names() and not path.exists():
        refuse("is for documents that are read from files", metadata=source.metadata)
        return _load_bundled(name, words, source.levels)
    if source.format is None and os.path.isfile(path / INDEX):  # false of names that are too long
        refuse("is not for sharded corpora", metadata=source.metadata)
        return _read_shards(source, words)
    if source.group is None:
        tokenizer = tokenizer_argument(source)
        corpus = read_corpus(path, **_file_arguments(source), **tokenizer, **_word_arguments(words))
        corpus = _with_metadata(corpus, source)
        return corpus.drop_duplicates() if words.drop_duplicates else corpus
    given = {"transposed": source.transposed or None, "metadata": source.metadata}
    refuse("is not for tables of observations", **given)
    columns = None if source.columns is None else split_names(source.columns)
    return read_groups(
        path,
        group=source.group if "/" in source.group else split_names(source.group),
        columns=columns,
        format=source.format,
        encoding=source.encoding,
    )


def _load_bundled(name: str, words: Words, levels: str | None) -> Corpus | Groups:
    """Load a bundled data set, whose words are already chosen."""
    from franchise.data.datasets import load

    given = [option for option in _word_arguments(words) if option != "sentences"]
    given += [] if levels is None else ["levels"]
    if given or words.drop_duplicates:
        option = given[0].replace("_", "-") if given else "drop-duplicates"
        raise InputError(
            f"--{option} cannot be used with the data set {name!r}, which is already read. Remove it, or "
            f"write the texts to a file with `franchise data {name}` and fit that file."
        )
    return load(name, sentences=words.sentences)


def tokenizer_argument(source: Source) -> dict[str, Any]:
    """Return the function that --tokenizer names as an argument of `read_corpus`; nothing without one."""
    if source.tokenizer is None:
        return {}
    module, colon, name = source.tokenizer.partition(":")
    if not (module and colon and name):
        raise InputError(
            f"--tokenizer must be MODULE:FUNCTION, such as jieba:lcut; got {source.tokenizer!r}."
        )
    try:
        return {"tokenizer": attrgetter(name)(import_module(module))}
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"--tokenizer {source.tokenizer} cannot be imported ({error}). Install the package, or write the "
            f"function into a file and set PYTHONPATH to its folder."
        ) from error


def read_more(source: Source, old: GroupedData) -> Corpus | Groups:
    """Read documents to add to those of a run; a .txt file is one document if its documents were files."""
    from franchise.cli.options import Words
    from franchise.data.corpus import Corpus
    from franchise.data.readers.formats import choose_text_format
    from franchise.data.readers.source import open_source

    notes: list[str] = []
    if isinstance(old, Corpus) and source.path.is_file():
        opened = open_source(source.path, source.encoding, None)
        chosen, notes = choose_text_format(opened, source.format, old.text_options)
        source = replace(source, format=chosen)
    data = read_data(source, Words())
    if isinstance(data, Corpus):
        data.notes = [*notes, *data.notes]
    return data


def _read_shards(source: Source, words: Words) -> Corpus:
    """Return a sharded corpus, whose words stay on disk."""
    from franchise.data.sharded.sharded_corpus import open_shards

    if (
        source.group
        or source.levels
        or source.text
        or source.name
        or source.vocabulary
        or _word_arguments(words)
    ):
        raise InputError(
            f"{source.path}: is a sharded corpus, which contains word ids only. Remove the options for texts and "
            f"tables."
        )
    return open_shards(source.path).memory_mapped()


def _file_arguments(source: Source) -> dict[str, Any]:
    """Return the options of a file as arguments of `read_corpus`."""
    options = ("format", "text", "name", "vocabulary", "encoding")
    arguments = {name: getattr(source, name) for name in options}
    return {"groups": source.levels, "transposed": source.transposed or None, **arguments}


def _word_arguments(words: Words) -> dict[str, Any]:
    """Return the options of words as arguments of `read_corpus`."""
    arguments: dict[str, Any] = {"stem": words.stem, "lemma": words.lemma, "sentences": words.sentences}
    if words.stop_words is not None:
        arguments["stop_words"] = [] if words.stop_words == "none" else words.stop_words
    if words.min_df is not None:
        arguments["min_df"] = _number_or_share("--min-df", words.min_df, whole_one=True)
    if words.max_df is not None:
        arguments["max_df"] = _number_or_share("--max-df", words.max_df, whole_one=False)
    if words.ngrams is not None:
        arguments["ngrams"] = (1, words.ngrams)
    if words.phrases:
        arguments["phrases"] = True
    if words.strip is not None:
        arguments["strip"] = words.strip if words.strip == "all" else split_names(words.strip)
    if words.keep_case:
        arguments["lowercase"] = False
    return {name: value for name, value in arguments.items() if value is not None}


def read_like(source: Source, posterior: Posterior[Any]) -> Corpus:
    """Read new documents like the training corpus, and print their size; InputError if the run has no corpus."""
    from franchise.cli.render import make_console, print_size
    from franchise.data.corpus import Corpus
    from franchise.data.readers import read_corpus

    if not isinstance(posterior.data, Corpus):
        raise InputError(
            "this command reads documents, but the run was fitted to a table of observations. Use Python: "
            "franchise.load(run).infer(franchise.read_groups(path, group=...))."
        )
    corpus = read_corpus(
        source.path, **_file_arguments(source), **tokenizer_argument(source), like=posterior.data
    )
    corpus = _with_metadata(corpus, source)
    print_size(make_console(stderr=True), corpus)
    return corpus


def _with_metadata(corpus: Corpus, source: Source) -> Corpus:
    """Return documents with the metadata of the file that --metadata names, if any."""
    return corpus if source.metadata is None else corpus.with_metadata(source.metadata)


def read_run(path: Path, rules: Rules | None = None) -> Posterior[Any]:
    """Return the posterior of a run or saved model, with the rules and groups of topics if given."""
    from franchise.sampling import load_posterior
    from franchise.storage.run_directory import RunDirectory

    if rules is not None:
        check_rules(rules)
    posterior = load_posterior(RunDirectory.open(path))
    return posterior if rules is None else under_rules(posterior, rules)


def check_rules(rules: Rules) -> None:
    """Raise InputError for rules of consensus topics that are out of range."""
    from franchise.posterior.consensus_rules import ConsensusRules

    ConsensusRules(**{name: value for name, value in asdict(rules).items() if name != "groups"}).checked()


def under_rules(posterior: Posterior[Any], rules: Rules) -> Posterior[Any]:
    """Return a posterior with the rules of consensus topics that are given, and with groups of topics."""
    from franchise.validation import check_integer

    given = {name: value for name, value in asdict(rules).items() if value}
    groups = given.pop("groups", None)
    posterior = posterior.with_consensus(**given) if given else posterior
    if groups is None:
        return posterior
    topics = (posterior.consensus_topics.members or posterior.consensus_topics).topic_count
    return posterior.reduce_topics(check_integer("--groups", groups, minimum=1, maximum=topics))


def split_names(text: str) -> list[str]:
    """Return names separated by commas."""
    return [name.strip() for name in text.split(",")]


def _number_or_share(option: str, value: float, whole_one: bool) -> int | float:
    """Return a document frequency as scikit-learn takes it: a whole number or a fraction."""
    if value < 0:
        raise InputError(f"{option} must not be negative; got {value:g}.")
    if value < 1.0 or (value == 1.0 and not whole_one):
        return value
    if value != int(value):
        raise InputError(
            f"{option} must be a fraction up to 1 or a whole number of documents; got {value:g}."
        )
    return int(value)
