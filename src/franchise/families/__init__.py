"""Likelihood families, one file each; `base.py` is the contract, `registry.py` lists them by name."""

from franchise.families.abilities import Ability
from franchise.families.base import Example, Family
from franchise.families.bernoulli import Bernoulli
from franchise.families.categorical import Categorical
from franchise.families.dirichlet_multinomial import DirichletMultinomial
from franchise.families.gaussian_diagonal import GaussianDiagonal
from franchise.families.gaussian_full import GaussianFull
from franchise.families.gaussian_independent import GaussianIndependent
from franchise.families.gaussian_known_precision import GaussianKnownPrecision
from franchise.families.known_topics import KnownTopics
from franchise.families.multinomial import Multinomial
from franchise.families.negative_binomial import NegativeBinomial
from franchise.families.poisson import Poisson
from franchise.families.registry import FAMILIES, family_from_settings, name_of

__all__ = [
    "FAMILIES",
    "Ability",
    "Bernoulli",
    "Categorical",
    "DirichletMultinomial",
    "Example",
    "Family",
    "GaussianDiagonal",
    "GaussianFull",
    "GaussianIndependent",
    "GaussianKnownPrecision",
    "KnownTopics",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "family_from_settings",
    "name_of",
]
