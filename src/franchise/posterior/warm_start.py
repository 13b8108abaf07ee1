"""Where chains start when a fitted model gets more data.

Old observations keep their topics of the last state.  New ones draw theirs given these topics and the proportions
of their group, which are estimated with the topics fixed (`predictive`); the topic of a word that the model did not
know depends on its group only.  The start may be anything: the sweeps that follow are exact.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.extend import NEW, Extended
from franchise.data.grouped import GroupedData, offsets_of_sizes, take_slices
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.families.known_topics import KnownTopics
from franchise.model.hdp_model import Model
from franchise.posterior import predictive
from franchise.posterior.topic_similarity import cross_table
from franchise.running.kept_draws import HDPDraw

MOST_CELLS = 2**22
"""Observations times topics that are worked on together."""


def family_for(family: Family, extended: Extended) -> Family:
    """Return the family for old and new data, which may have more words; InputError if it cannot."""
    data = extended.data
    if not isinstance(data, Corpus) or Ability.IS_CATEGORICAL not in family.abilities:
        return family
    size = data.vocabulary_size
    known: int = getattr(family, "size", size)
    if known >= size:
        return family
    if isinstance(family, KnownTopics):
        return family.for_vocabulary(data.vocabulary)
    if type(family) is not Categorical:
        raise InputError(
            f"the family {type(family).__name__} cannot have new words. Use update(..., new_words=False)."
        )
    prior = family.prior
    if isinstance(prior, np.ndarray):  # new words are as probable as the others on average
        prior = np.append(prior, np.full(size - known, prior.mean()))
    return Categorical(size, prior)


def labels_for(
    model: Model, draw: HDPDraw, extended: Extended, rng: np.random.Generator, seed: int
) -> np.ndarray:
    """Return a topic for every observation in grouped order: that of the draw, or one drawn given its topics.

    `model` is that of the draw.
    """
    offsets, source = extended.data.offsets, extended.source
    labels = np.where(source == NEW, NEW, draw.labels.astype(np.int32)[source])
    rest = np.flatnonzero(source == NEW)
    groups = np.searchsorted(offsets, rest, side="right") - 1
    step = max(1, MOST_CELLS // (draw.n_topics + 1))
    bounds = np.unique(np.append(np.searchsorted(groups, groups[::step]), len(groups)))  # between groups
    for begin, end in itertools.pairwise(bounds):
        own = rest[begin:end]
        chosen, group = np.unique(groups[begin:end], return_inverse=True)
        known = _counted(labels, *take_slices(offsets, chosen), draw.n_topics)
        labels[own] = _Rest(extended.data, own, group, known).draw_topics(model, draw, rng, seed)
    return labels


def _counted(labels: np.ndarray, offsets: np.ndarray, places: np.ndarray, topics: int) -> np.ndarray:
    """Return the observations of each topic in some groups, float64 (groups, topics); NEW ones do not count."""
    own = labels[places]
    groups = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[own != NEW]
    return cross_table(groups, own[own != NEW], (len(offsets) - 1, topics)).astype(np.float64)


class _Rest(NamedTuple):
    """Observations without a topic, of some groups."""

    data: GroupedData
    places: np.ndarray  # int64 (n,): of the observations, ascending
    groups: np.ndarray  # int64 (n,): the group of each, numbered among these
    known: np.ndarray  # float64 (groups, K): the other observations, by topic

    def draw_topics(self, model: Model, draw: HDPDraw, rng: np.random.Generator, seed: int) -> np.ndarray:
        """Draw the topic of each observation, given the topics of a draw and the proportions of its group."""
        observed = self._occurrences(model.family)
        topics = predictive.drawn_topics(model, draw, observed.observations, seed)
        weights = self.known + topics.prior[:-1]
        is_new = self.known.sum(axis=1) == 0.0
        weights[is_new] = predictive.fitted_weights(topics, observed)[is_new, :-1]
        densities = np.ones((len(self.places), draw.n_topics))
        densities[self._has_density(model.family)] = topics.densities[observed.rows, :-1]
        cumulative = np.cumsum(weights[self.groups] * densities, axis=1)
        drawn = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
        chosen: np.ndarray = (cumulative <= drawn).sum(axis=1)
        return np.minimum(chosen, draw.n_topics - 1)

    def _has_density(self, family: Family) -> np.ndarray:
        """Whether the draw has a density of each observation: not of words that are new."""
        if not isinstance(self.data, Corpus):
            return np.ones(len(self.places), np.bool_)
        return np.asarray(self.data.observations[self.places] < family.size)

    def _occurrences(self, family: Family) -> predictive.Occurrences:
        """Return the observations with a density, by group."""
        has = self._has_density(family)
        places, offsets = (
            self.places[has],
            offsets_of_sizes(np.bincount(self.groups[has], minlength=len(self.known))),
        )
        rows, observations = np.arange(len(places)), self.data.grouped_observations[places]
        if isinstance(self.data, Corpus):
            observations, rows = np.unique(observations, return_inverse=True)
        ones = np.ones(len(places), np.int64)
        return predictive.Occurrences(offsets, rows, ones, predictive.prepare(family, observations))
