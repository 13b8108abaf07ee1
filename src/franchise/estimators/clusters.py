"""The part of `HDP` for observations that have one topic each: labels, and means, as mixtures of scikit-learn have.

Words of documents have no such labels: a document is a row of X, and its words have many topics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.families.base import Family
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.topic_moments import TopicMoments
from franchise.posterior.topic_similarity import NONE


class NoLabels(InputError, AttributeError):
    """Rows of X are documents, which have no label each."""


def _has_labels(model: Any) -> bool:
    """Whether rows of X are observations, so that each has a topic."""
    if hasattr(model, "posterior_"):
        is_of_words = isinstance(model.posterior_.data, Corpus)
    else:
        is_of_words = not isinstance(model.family, Family)
    if is_of_words:
        raise NoLabels(
            "each row of X is a document, whose words have many topics. Use transform, which returns their "
            "proportions, or a family of observations with groups."
        )
    return True


class ObservationClusters:
    """Labels of observations, and parameters of topics with credible intervals.

    A mixin of `HDP`, for families of observations.

    """

    posterior_: HDPPosterior

    @available_if(_has_labels)
    def fit_predict(self, X: object, y: object = None, groups: object = None) -> np.ndarray:
        """Sample the posterior, and return `labels_`.

        Parameters
        ----------
        X : Groups, or matrix
            Observations, one row each.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence, optional
            The group of each row of X, such as a well.

        Returns
        -------
        int64 array (N,)
            The most probable consensus topic of each row; -1 for none.

        Raises
        ------
        InputError
            If the data do not fit the family, or a parameter of the model is out of range.

        Examples
        --------
        >>> model = fr.HDP(fr.Poisson(1.0, 0.1), draws=10, warmup=50, progress=False)
        >>> model.fit_predict([[3], [2], [30], [31]] * 5, groups=["a", "b"] * 10)[:4].tolist()
        [0, 0, 1, 1]
        """
        model: Any = self
        return np.asarray(model.fit(X, groups=groups).labels_)

    @available_if(_has_labels)
    def predict_proba(self, X: object, groups: object = None) -> np.ndarray:
        """Return the probabilities of topics for new observations, given their groups' other observations.

        Parameters
        ----------
        X : Groups, or matrix
            New observations, one row each.
        groups : sequence, optional
            The group of each row. Groups are new ones, whatever their names.

        Returns
        -------
        float64 array (N, n_topics_ + 1)
            p(z_i = k | x_j, topics), mean over ten draws; the last column is for everything in no consensus topic.
            Rows sum to one.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> model = fr.HDP(fr.Poisson(1.0, 0.1), draws=10, warmup=50, progress=False).fit(groups)
        >>> model.predict_proba([[2], [31]], groups=["new", "new"]).round(2)[:, :2].tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return self._probabilities(X, groups)

    @available_if(_has_labels)
    def predict(self, X: object, groups: object = None) -> np.ndarray:
        """Return the most probable topic of new observations.

        Parameters
        ----------
        X : Groups, or matrix
            New observations, one row each.
        groups : sequence, optional
            The group of each row. Groups are new ones, whatever their names.

        Returns
        -------
        int64 array (N,)
            A consensus topic for each row; -1 where none is most probable.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> model = fr.HDP(fr.Poisson(1.0, 0.1), draws=10, warmup=50, progress=False).fit(groups)
        >>> model.predict([[2], [31]], groups=["new", "new"]).tolist()
        [0, 1]
        """
        return _labels(self._probabilities(X, groups))

    @property
    def labels_(self) -> np.ndarray:
        """The most probable consensus topic of each fitted observation, int64 (N,); -1 for none."""
        self._check_observations()
        return _labels(self.posterior_.observation_probabilities())

    @property
    def weights_(self) -> np.ndarray:
        """Share of the observations in each topic, mean over all draws, (n_topics_,); the rest is in no topic."""
        self._check_observations()
        return np.asarray(self.posterior_.consensus_topics.shares.mean(axis=0))

    @property
    def weights_interval_(self) -> np.ndarray:
        """Ends of 95% intervals of `weights_`, (2, n_topics_)."""
        self._check_observations()
        return np.array(self.posterior_.consensus_topics.share_interval())

    @property
    def means_(self) -> np.ndarray:
        """Posterior means of the topics' means, (n_topics_, n_features_in_)."""
        return self._moments().means

    @property
    def means_interval_(self) -> np.ndarray:
        """Ends of 95% credible intervals of `means_`, (2, n_topics_, n_features_in_)."""
        return self._moments().means_interval

    @property
    def covariances_(self) -> np.ndarray:
        """Posterior means of the topics' covariances.

        The shape is (n_topics_, D, D) for a full covariance, (n_topics_, D) for variances, and (n_topics_,) where
        they are all the same.
        """
        return self._covariances()[0]

    @property
    def covariances_interval_(self) -> np.ndarray:
        """Ends of 95% credible intervals of `covariances_`; the first axis has length 2."""
        return self._covariances()[1]

    def _probabilities(self, X: object, groups: object) -> np.ndarray:
        model: Any = self
        model._check_fitted()
        return self.posterior_.observation_probabilities(model._read_new(X, groups))

    def _check_observations(self) -> None:
        model: Any = self
        model._check_fitted()
        _has_labels(self)

    def _moments(self) -> TopicMoments:
        self._check_observations()
        try:
            return self.posterior_.topic_moments()
        except InputError as error:
            raise NoLabels(str(error)) from error

    def _covariances(self) -> tuple[np.ndarray, np.ndarray]:
        moments = self._moments()
        if moments.covariances is None or moments.covariances_interval is None:
            name = type(self.posterior_.family).__name__
            raise NoLabels(
                f"topics of the family {name} have no covariances besides their means. Use means_."
            )
        return moments.covariances, moments.covariances_interval


def _labels(probabilities: np.ndarray) -> np.ndarray:
    best = probabilities.argmax(axis=1)
    return np.where(best == probabilities.shape[1] - 1, NONE, best)
