"""Tables and columns of pandas and polars: one meaning for both, and what is missing is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from franchise.data import Corpus, Groups
from franchise.errors import InputError

TABLE = {"cat": [1, 0], "dog": [True, False], "bird": [2.0, 1.0]}
FRAMES = {
    "pandas": pd.DataFrame(TABLE),
    "polars": pl.DataFrame(TABLE),
    "nullable": pd.DataFrame(TABLE).convert_dtypes(),
    "arrow": pd.DataFrame(TABLE).convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_tables_as_counts(frame):
    corpus = Corpus.from_matrix(frame)
    assert corpus.vocabulary == ["cat", "dog", "bird"]
    assert corpus.to_matrix().toarray().tolist() == [[1, 1, 2], [0, 0, 1]]
    assert corpus.group_names == ["0", "1"]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_tables_as_observations(frame):
    groups = Groups(frame, ["a", "b"])
    assert groups.observations.tolist() == [[1, 1, 2], [0, 0, 1]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_whole_numbers_stay_whole(frame):
    assert Groups(frame({"u": [1, 2], "v": [True, False]}), [0, 1]).observations.dtype == np.int64
    assert Groups(frame({"u": [1, 2], "v": [0.5, 1.5]}), [0, 1]).observations.dtype == np.float64


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_columns_as_texts_observations_labels_names_and_metadata(series):
    assert Corpus.from_texts(series(["a cat", "a dog"])).vocabulary == ["cat", "dog"]
    groups = Groups(series([3, 5, 2]), series(["a", "b", "a"]))
    assert groups.group_names == ["a", "b"]
    assert groups.observations.tolist() == [3, 5, 2]
    corpus = Corpus.from_texts(["cat", "dog"], names=series(["x", "y"]), metadata={"year": series([1, 2])})
    assert (corpus.group_names, corpus.metadata) == (["x", "y"], {"year": [1, 2]})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_as_metadata(frame):
    corpus = Corpus.from_texts(["cat", "dog"], metadata=frame({"year": [1, 2], "place": ["u", "v"]}))
    assert corpus.metadata == {"year": [1, 2], "place": ["u", "v"]}


MISSING = {
    "polars int": pl.DataFrame({"cat": [1, 2], "dog": [3, None]}),
    "polars bool": pl.DataFrame({"cat": [1, 2], "dog": [True, None]}),
    "polars float": pl.DataFrame({"cat": [1, 2], "dog": [1.0, float("nan")]}),
    "pandas float": pd.DataFrame({"cat": [1, 2], "dog": [3.0, np.nan]}),
    "pandas nullable": pd.DataFrame({"cat": [1, 2], "dog": pd.array([3, None], "Int64")}),
    "pandas bool": pd.DataFrame({"cat": [1, 2], "dog": pd.array([True, None], "boolean")}),
    "pandas object": pd.DataFrame({"cat": [1, 2], "dog": [True, None]}),
}


@pytest.mark.parametrize("frame", MISSING.values(), ids=MISSING)
def test_missing_numbers_are_named(frame):
    message = r"must have no missing or infinite numbers; got a missing value at row 1, column 'dog'"
    with pytest.raises(InputError, match=f"X {message}"):
        Corpus.from_matrix(frame)
    with pytest.raises(InputError, match=f"observations {message}"):
        Groups(frame, ["a", "b"])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"cat": [1], "dog": ["x"]}),
        pl.DataFrame({"cat": [1], "dog": ["x"]}),
        pl.DataFrame({"cat": [1], "dog": [[1, 2]]}),
        pd.DataFrame({"cat": [1], "dog": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"cat": [1], "dog": [1 + 2j]}),
    ],
)
def test_other_columns_are_named(frame):
    with pytest.raises(InputError, match=r"must contain numbers; got values of type .*, column 'dog'"):
        Corpus.from_matrix(frame)
    with pytest.raises(InputError, match=r"must contain numbers; got values of type .*, column 'dog'"):
        Groups(frame, ["a"])


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_missing_entries_of_columns_are_named(series):
    with pytest.raises(InputError, match=r"observations must have no missing.*at row 1"):
        Groups(series([1, None]), ["a", "b"])
    with pytest.raises(InputError, match=r"groups must name a group.*at position 1"):
        Groups([1, 2], series(["a", None]))
    with pytest.raises(InputError, match=r"texts must all be str; got .* at position 1"):
        Corpus.from_texts(series(["cat", None]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_is_no_list(frame):
    with pytest.raises(InputError, match=r"texts must be a list of texts.*got a table.*Use its column"):
        Corpus.from_texts(frame({"text": ["a cat"]}))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_empty_tables(frame):
    with pytest.raises(InputError, match=r"X must have at least one document"):
        Corpus.from_matrix(frame())
    with pytest.raises(InputError, match=r"observations must contain at least one"):
        Groups(frame({"u": []}), [])


def test_numbers_beyond_64_bits_are_refused():
    large = np.array([1, 2**63], dtype=np.uint64)
    with pytest.raises(InputError, match=r"observations must be at most 9223372036854775807.*got 92233720"):
        Groups(large, [0, 1])
