"""The interface of scikit-learn for `HDP` and `HTMM`: how X is read, and the form of the output.

Scikit-learn checks matrices, with its messages, so that pipelines and its estimator checks work as usual.  Every
error is also an `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_non_negative, validate_data

from franchise.data.corpus import Corpus
from franchise.data.grouped import is_sparse
from franchise.data.observations import check_none_missing_sparse
from franchise.data.tokens import count_matrix, numbered
from franchise.errors import InputError
from franchise.parallel.engine import Engine
from franchise.posterior.document_tables import OTHER
from franchise.priors import ALPHA, GAMMA, Gamma
from franchise.validation import PathLike, check_none_missing, describe, missing_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class NotFitted(InputError, NotFittedError):
    """The model is not fitted, but the call needs a fitted one."""


@dataclass(eq=False, repr=False, kw_only=True)
class TopicEstimator(TransformerMixin, BaseEstimator):
    """Base class of the estimators, which transforms new documents to rows of topic weights.

    Parameters are fields of dataclasses, whose constructor follows the conventions of scikit-learn.

    """

    alpha: Any = ALPHA
    gamma: float | Gamma = GAMMA
    thin: int = 1
    chains: int = 4
    workers: int | None = None
    engine: Engine | str | None = None
    progress: bool | None = None
    run_dir: PathLike | None = None
    time_limit: float | None = None
    checkpoint_interval: float = 60.0

    _made_by_fit: ClassVar[str]
    """An attribute that a fitted model has."""

    def fit_transform(self, X: object, y: object = None, groups: object = None) -> Any:
        """Fit the model, then `transform` the same documents, as if they were new.

        `document_topics` returns the topics of these documents under the fit itself.

        Parameters
        ----------
        X : object
            Documents, in one of the forms that `fit` takes.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence, optional
            The group of each row of X, where rows are observations.

        Returns
        -------
        array (documents, n_topics_ + 1), or DataFrame
            The result of `transform`.

        Raises
        ------
        InputError
            If the data do not fit the model, or a parameter of the model is out of range.

        Examples
        --------
        >>> fr.HDP(draws=4, warmup=20, progress=False).fit_transform(corpus).shape[0]
        24
        """
        return self.fit(X, groups=groups).transform(X, groups=groups)

    def save(self, path: PathLike) -> None:
        """Write the fitted model to a new folder, without pickle; `franchise.load` gives it back.

        Parameters
        ----------
        path : path
            A folder that is new or empty. It is a run directory, too: `franchise.resume` draws more from there.

        Raises
        ------
        InputError
            If the model is not fitted, or the folder has files.

        Examples
        --------
        >>> htmm.save("model")
        >>> fr.load("model").n_topics_
        2
        """
        from franchise.estimators.persist import save_model

        self._check_fitted()
        save_model(self, path)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns of `transform`, which are the topics.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns of the data, which are only checked.

        Returns
        -------
        array of str
            One name per topic, and "other".

        Raises
        ------
        InputError
            If the model is not fitted, or was fitted to other columns.

        Examples
        --------
        >>> htmm.get_feature_names_out().tolist()
        ['topic0', 'topic1', 'other']
        """
        self._check_fitted()
        try:
            _check_feature_names_in(self, input_features, generate_names=False)
        except ValueError as error:
            raise InputError(str(error)) from error
        return np.array([*(f"topic{topic}" for topic in range(self.n_topics_)), OTHER], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Return counts of words, dense or sparse: whole numbers, none negative.

        Words are categories, and by that tag scikit-learn's checks know that only whole numbers will do. Tags are
        about matrices; that texts are taken too is not in them.
        """
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, self._made_by_fit):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet. Call fit first.")


# --- reading X ----------------------------------------------------------------------------------------------


def settled(X: object) -> Any:
    """Return X, as a list if it can be iterated only once."""
    return list(X) if isinstance(X, Iterator) else X


def is_list(X: object) -> bool:
    """Whether this is a list, a Series or a flat array, whatever is in it; not a matrix or a frame."""
    if isinstance(X, (str, bytes, Mapping)) or hasattr(X, "columns") or is_sparse(X):
        return False
    return isinstance(X, Iterable) and not (isinstance(X, np.ndarray) and X.ndim != 1)


def are_texts(X: object) -> bool:
    """Whether this is a list, a Series or a flat array with a text in it."""
    return isinstance(X, Iterable) and is_list(X) and any(isinstance(entry, str) for entry in X)


def read_new_texts(corpus: Corpus, texts: Iterable[str], sentences: str | None = None) -> Corpus:
    """Return texts read as the texts of the corpus, over its vocabulary; InputError if its words have no names."""
    if corpus.vocabulary == numbered(corpus.vocabulary_size):
        raise InputError(
            "X must be a matrix of counts, as the model was fitted to a matrix without column names. Fit the "
            "model to texts, or put a CountVectorizer before it in a Pipeline."
        )
    return corpus.read_new_texts(texts, sentences=sentences)


def read_counts(estimator: BaseEstimator, X: object, allowed: str, *, reset: bool) -> csr_array:
    """Return a checked document-term matrix; with `reset`, the estimator stores its columns.

    `allowed` describes the other types of X for error messages.

    """
    table = read_numbers(estimator, X, allowed, reset=reset)
    try:
        return count_matrix(table)
    except InputError as error:
        raise InputError(
            f"{error} Instead of weights such as TF-IDF, use counts (CountVectorizer)."
        ) from error


def read_numbers(estimator: BaseEstimator, X: object, allowed: str, *, reset: bool) -> Any:
    """Return a matrix of finite numbers, one row per document or observation, dense or CSR, as the tags allow."""
    _check_matrix_like(X, allowed)
    tags = get_tags(estimator).input_tags
    try:
        table = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if tags.sparse else False,
            ensure_all_finite=False,
        )
        _check_none_missing(estimator, X, table)
        if tags.positive_only:
            check_non_negative(table, type(estimator).__name__)
    except ValueError as error:
        raise InputError(str(error)) from error
    return table


def _check_none_missing(estimator: Any, X: Any, table: Any) -> None:
    """Raise an error that names rows and columns if a number is missing or infinite."""
    names = getattr(estimator, "feature_names_in_", None)
    if np.ma.is_masked(X):
        raise missing_numbers("X", np.ma.getmaskarray(X), names)
    if is_sparse(table):
        check_none_missing_sparse("X", table, names)
    else:
        check_none_missing("X", table, names)


def forget_columns(estimator: Any, n_features: int) -> None:
    """Remember the number of columns; they have no names."""
    estimator.n_features_in_ = n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def words_of_columns(estimator: Any) -> list[str]:
    """Return the names of the columns that it was fitted to; "0", "1", ... where they have none."""
    if hasattr(estimator, "feature_names_in_"):
        return [str(name) for name in estimator.feature_names_in_]
    return numbered(estimator.n_features_in_)


def names_of_rows(X: object) -> list[str] | None:
    """Return the index of a DataFrame of pandas, as text; None for all else."""
    return [str(row) for row in X.index] if hasattr(X, "columns") and hasattr(X, "index") else None


def count_rows(X: np.ndarray | csr_array | Sized) -> int:
    """Return the number of documents in X."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _check_matrix_like(X: Any, allowed: str) -> None:
    is_array = isinstance(X, Iterable) or hasattr(X, "__array__") or is_sparse(X)
    if isinstance(X, (str, bytes, Mapping)) or not is_array:
        raise InputError(f"X must be {allowed}; got {describe(X)}.")
    if hasattr(X, "columns") and any(isinstance(value, str) for value in np.asarray(X[:1]).ravel()):
        raise InputError(
            f"X must be {allowed}; got a DataFrame with texts. Use its column of texts as a Series, or only "
            "its columns of numbers."
        )


# --- what comes out -----------------------------------------------------------------------------------------


def name_groups(estimator: BaseEstimator, rows: np.ndarray, names: list[Any]) -> Any:
    """Return rows per group instead of rows of X, with names if pandas output is requested (`set_output`)."""
    if _get_output_config("transform", estimator)["dense"] != "pandas":
        return rows
    import pandas as pd

    return pd.DataFrame(rows, index=pd.Index(names, name="group", tupleize_cols=False))
