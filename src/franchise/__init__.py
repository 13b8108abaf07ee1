"""franchise: shared structure in grouped data, and how sure we are of it.

    import franchise as fr

    corpus = fr.datasets.load("sotu")
    posterior = fr.sample(corpus)
    print(posterior.topics())

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franchise import diagnostics, engines, families, moves, plots
    from franchise.checks.family import check_family
    from franchise.checks.move import check_move
    from franchise.data import datasets, synthetic
    from franchise.data.corpus import Corpus
    from franchise.data.groups import Groups
    from franchise.data.readers.read import read_corpus, read_groups
    from franchise.data.shards import ShardedCorpus, index_shards, open_shards
    from franchise.errors import InputError, InternalError
    from franchise.estimators import HDP
    from franchise.families import (
        Bernoulli,
        Categorical,
        Family,
        GaussianDiagonal,
        GaussianFull,
        GaussianIndependent,
        GaussianKnownPrecision,
        KnownTopics,
        Multinomial,
        Poisson,
    )
    from franchise.found.fits import match_fits
    from franchise.freezing import known_from, known_shares, named_topics
    from franchise.htmm.estimator import HTMM
    from franchise.posterior import Posterior
    from franchise.priors import Gamma
    from franchise.recipes import sampler_table
    from franchise.sampling import load, resume, sample

__version__ = "0.1.0"

_HOME = {
    "Bernoulli": "franchise.families",
    "Categorical": "franchise.families",
    "Corpus": "franchise.data.corpus",
    "Family": "franchise.families",
    "Gamma": "franchise.priors",
    "GaussianDiagonal": "franchise.families",
    "GaussianFull": "franchise.families",
    "GaussianIndependent": "franchise.families",
    "GaussianKnownPrecision": "franchise.families",
    "Groups": "franchise.data.groups",
    "HDP": "franchise.estimators",
    "HTMM": "franchise.htmm.estimator",
    "InputError": "franchise.errors",
    "InternalError": "franchise.errors",
    "KnownTopics": "franchise.families",
    "Multinomial": "franchise.families",
    "Poisson": "franchise.families",
    "Posterior": "franchise.posterior",
    "ShardedCorpus": "franchise.data.shards",
    "check_family": "franchise.checks.family",
    "check_move": "franchise.checks.move",
    "index_shards": "franchise.data.shards",
    "known_from": "franchise.freezing",
    "known_shares": "franchise.freezing",
    "load": "franchise.sampling",
    "match_fits": "franchise.found.fits",
    "named_topics": "franchise.freezing",
    "open_shards": "franchise.data.shards",
    "read_corpus": "franchise.data.readers.read",
    "read_groups": "franchise.data.readers.read",
    "resume": "franchise.sampling",
    "sample": "franchise.sampling",
    "sampler_table": "franchise.recipes",
}
_MODULES = {
    "datasets": "franchise.data.datasets",
    "diagnostics": "franchise.diagnostics",
    "engines": "franchise.engines",
    "families": "franchise.families",
    "moves": "franchise.moves",
    "plots": "franchise.plots",
    "synthetic": "franchise.data.synthetic",
}

__all__ = [
    "HDP",
    "HTMM",
    "Bernoulli",
    "Categorical",
    "Corpus",
    "Family",
    "Gamma",
    "GaussianDiagonal",
    "GaussianFull",
    "GaussianIndependent",
    "GaussianKnownPrecision",
    "Groups",
    "InputError",
    "InternalError",
    "KnownTopics",
    "Multinomial",
    "Poisson",
    "Posterior",
    "ShardedCorpus",
    "check_family",
    "check_move",
    "datasets",
    "diagnostics",
    "engines",
    "families",
    "index_shards",
    "known_from",
    "known_shares",
    "load",
    "match_fits",
    "moves",
    "named_topics",
    "open_shards",
    "plots",
    "read_corpus",
    "read_groups",
    "resume",
    "sample",
    "sampler_table",
    "synthetic",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'franchise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted([*__all__, "__version__"])
