"""Likelihood families, one file each; `base.py` is the contract."""

from franchise.families.base import Example, Family
from franchise.families.categorical import Categorical

__all__ = ["Categorical", "Example", "Family"]
