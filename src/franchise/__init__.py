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
    from franchise import diagnostics, families, moves, plots
    from franchise import parallel as engines
    from franchise.checks.check_family import check_family
    from franchise.checks.check_move import check_move
    from franchise.data import datasets, synthetic
    from franchise.data.corpus import Corpus
    from franchise.data.groups import Groups
    from franchise.data.readers.read import read_corpus, read_groups
    from franchise.data.sharded.sharded_corpus import ShardedCorpus, index_shards, open_shards
    from franchise.errors import InputError, InternalError
    from franchise.estimators.hdp_estimator import HDP
    from franchise.estimators.htmm_estimator import HTMM
    from franchise.families import (
        Ability,
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
    from franchise.posterior.base import Posterior
    from franchise.posterior.freeze import known_from, known_shares, named_topics
    from franchise.posterior.match_fits import match_fits
    from franchise.priors import Gamma
    from franchise.samplers.registry import sampler_table
    from franchise.sampling import load, resume, sample

__version__ = "0.1.0"

_HOME = {
    "Ability": "franchise.families",
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
    "HDP": "franchise.estimators.hdp_estimator",
    "HTMM": "franchise.estimators.htmm_estimator",
    "InputError": "franchise.errors",
    "InternalError": "franchise.errors",
    "KnownTopics": "franchise.families",
    "Multinomial": "franchise.families",
    "Poisson": "franchise.families",
    "Posterior": "franchise.posterior.base",
    "ShardedCorpus": "franchise.data.sharded.sharded_corpus",
    "check_family": "franchise.checks.check_family",
    "check_move": "franchise.checks.check_move",
    "index_shards": "franchise.data.sharded.sharded_corpus",
    "known_from": "franchise.posterior.freeze",
    "known_shares": "franchise.posterior.freeze",
    "load": "franchise.sampling",
    "match_fits": "franchise.posterior.match_fits",
    "named_topics": "franchise.posterior.freeze",
    "open_shards": "franchise.data.sharded.sharded_corpus",
    "read_corpus": "franchise.data.readers.read",
    "read_groups": "franchise.data.readers.read",
    "resume": "franchise.sampling",
    "sample": "franchise.sampling",
    "sampler_table": "franchise.samplers.registry",
}
_MODULES = {
    "datasets": "franchise.data.datasets",
    "diagnostics": "franchise.diagnostics",
    "engines": "franchise.parallel",
    "families": "franchise.families",
    "moves": "franchise.moves",
    "plots": "franchise.plots",
    "synthetic": "franchise.data.synthetic",
}

__all__ = [
    "HDP",
    "HTMM",
    "Ability",
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
