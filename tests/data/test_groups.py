"""Groups: numbering of labels, the two orders and the way between them, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from franchise.data import Groups
from franchise.errors import InputError


def test_groups_are_numbered_by_first_appearance():
    groups = Groups([3, 5, 2, 8, 1], ["b", "a", "b", "c", "a"])
    assert groups.group_names == ["b", "a", "c"]
    assert groups.group_of_observation.tolist() == [0, 1, 0, 2, 1]
    assert groups.group_of_observation.dtype == np.int32
    assert groups.offsets.tolist() == [0, 2, 4, 5]
    assert groups.offsets.dtype == np.int64
    assert groups.order.tolist() == [0, 2, 1, 4, 3]
    assert groups.order.dtype == np.int64
    assert groups.grouped_observations.tolist() == [3, 2, 5, 1, 8]
    assert groups.observations.tolist() == [3, 5, 2, 8, 1]
    assert groups.group_sizes.tolist() == [2, 2, 1]
    assert (groups.n_observations, groups.n_groups, len(groups)) == (5, 3, 3)


@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y", "x"],
        np.array(["x", "y", "x"]),
        pd.Series(["x", "y", "x"], index=[7, 8, 9]),
        pd.Series(["x", "y", "x"], dtype="category"),
        np.array([5, 2, 5]),
        np.array([5.5, 2.5, 5.5]),
        [("study", 1), ("study", 2), ("study", 1)],
        ["x", 3, "x"],
        [None, "y", None],
        [np.float64(1.5), np.float64(2.5), np.float64(1.5)],
        (label for label in "xyx"),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_may_be_any_hashables(labels):
    groups = Groups([1.0, 2.0, 3.0], labels)
    assert groups.group_of_observation.tolist() == [0, 1, 0]
    assert groups.grouped_observations.tolist() == [1.0, 3.0, 2.0]


def test_grouped_input_is_not_stored_twice():
    groups = Groups([4, 5, 6], ["b", "b", "a"])
    assert groups.order is None
    assert groups.grouped_observations is groups.observations
    assert groups.group_names == ["b", "a"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 50)), min_size=1, max_size=40))
def test_to_input_order_undoes_to_grouped_order(rows):
    labels = [label for label, _ in rows]
    values = np.array([value for _, value in rows])
    groups = Groups(values, labels)
    assert groups.to_grouped_order(values).tolist() == groups.grouped_observations.tolist()
    assert groups.to_input_order(groups.grouped_observations).tolist() == values.tolist()
    stack = np.stack([values, 2 * values + 1])
    assert (groups.to_input_order(groups.to_grouped_order(stack)) == stack).all()
    for number, name in enumerate(groups.group_names):
        part = groups.grouped_observations[groups.offsets[number] : groups.offsets[number + 1]]
        assert part.tolist() == [value for label, value in rows if label == name]


def test_rows_stay_together_in_two_dimensions():
    groups = Groups(pd.DataFrame({"u": [1, 2, 3], "v": [4.5, 5.5, 6.5]}), ["b", "a", "b"])
    assert groups.grouped_observations.tolist() == [[1, 4.5], [3, 6.5], [2, 5.5]]
    assert groups.n_observations == 3


def test_sparse_observations_stay_sparse_with_duplicates_summed():
    counts = sparse.coo_matrix(([1, 2, 3, 4], ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 4))
    groups = Groups(counts, ["b", "a", "b"])
    assert groups.observations.format == "csr"
    assert groups.observations.toarray().tolist() == [[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 4, 0]]
    assert groups.grouped_observations.toarray().tolist() == [[0, 3, 0, 0], [0, 0, 4, 0], [3, 0, 0, 0]]
    assert (groups.n_observations, groups.n_groups) == (3, 2)


@pytest.mark.parametrize(
    ("given_type", "kept"),
    [(bool, np.int64), (np.uint8, np.int64), (np.float32, np.float64), (np.float16, np.float64)],
)
def test_numbers_have_two_types_only(given_type, kept):
    assert Groups(np.array([1, 0, 1], dtype=given_type), [0, 0, 1]).observations.dtype == kept


def test_data_are_copied_and_read_only():
    values = np.array([1.0, 2.0, 3.0])
    groups = Groups(values, [0, 1, 0])
    values[0] = 99.0
    assert groups.observations[0] == 1.0
    for array in (
        groups.observations,
        groups.grouped_observations,
        groups.offsets,
        groups.order,
        groups.group_of_observation,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_repr_counts():
    assert repr(Groups(np.zeros(46), np.arange(46) % 3)) == "Groups(46 observations in 3 groups)"
    assert repr(Groups([1], ["a"])) == "Groups(1 observation in 1 group)"


def test_metadata_are_kept_per_group():
    groups = Groups([1, 2, 3], ["b", "a", "b"], metadata={"place": np.array(["north", "south"])})
    assert groups.metadata == {"place": ["north", "south"]}
    with pytest.raises(InputError, match=r"metadata\['place'\] must have one entry per group \(2\); got 3"):
        Groups([1, 2, 3], ["b", "a", "b"], metadata={"place": [1, 2, 3]})
    with pytest.raises(InputError, match=r"metadata\['place'\] must be a sequence.*got 'north'"):
        Groups([1, 2], ["b", "a"], metadata={"place": "north"})
    with pytest.raises(InputError, match=r"metadata must map names.*got 5"):
        Groups([1, 2], ["b", "a"], metadata=5)


@pytest.mark.parametrize(
    ("observations", "labels", "message"),
    [
        ([], [], r"observations must contain at least one.*\(0,\)"),
        (np.zeros((3, 0)), [0, 0, 1], r"observations must contain at least one.*\(3, 0\)"),
        (
            [1, 2, 3],
            ["a", "b"],
            r"groups must have one label per observation: got 2 labels for 3 observations",
        ),
        (
            [1.0, np.nan],
            [0, 1],
            r"must have no missing or infinite numbers; got NaN at row 1\. Rows.*\(1 in total\): 1\. Drop",
        ),
        ([[1.0, np.inf]], [0], r"observations must have no missing.*got inf at row 0, column 1"),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [1, 0]]), [0, 1], r"a missing value at row 1, column 0"),
        (np.full(9, np.nan), [0] * 9, r"\(9 in total\): 0, 1, 2, 3, 4 and 4 more\. Drop"),
        (np.zeros((2, 2, 2)), [0, 1], r"observations must have shape.*\(2, 2, 2\)"),
        (7, [0], r"observations must have shape.*\(\)"),
        (np.array([1, "a"], dtype=object), [0, 1], r"observations must be numbers.*object"),
        (["cat", "dog"], [0, 1], r"observations must be numbers.*<U3.*from_tokens"),
        ([1 + 2j], [0], r"observations must be numbers.*complex"),
        ([[1, 2], [3]], [0, 1], r"observations must have rows of equal length"),
        ([1, 2], "ab", r"groups must be a sequence of labels.*'ab'"),
        ([1, 2], 5, r"groups must be a sequence of labels.*got 5"),
        ([1, 2], [[1], [2]], r"groups must be hashable.*[Uu]se tuples"),
        ([1, 2], np.zeros((2, 1)), r"groups must be one label per observation.*\(2, 1\)"),
        ([1, 2], np.array([1.0, np.nan]), r"groups must name a group.*nan at position 1"),
        ([1, 2], ["a", float("nan")], r"groups must name a group.*nan at position 1"),
        ([1, 2], ["a", pd.NA], r"groups must name a group.*<NA> at position 1"),
    ],
)
def test_bad_input_is_named(observations, labels, message):
    with pytest.raises(InputError, match=message):
        Groups(observations, labels)


def test_bad_sparse_input_is_named_by_row_and_column():
    rows = sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match=r"got NaN at row 1, column 1\. Rows.*\): 1\. Drop"):
        Groups(rows, [0, 1])
    with pytest.raises(InputError, match=r"row 1, column 'dog'"):
        Groups(rows, [0, 1], columns=["cat", "dog"])


def test_columns_have_the_names_of_a_table_or_given_ones():
    table = pd.DataFrame({"CD3": [1.0, 2.0], "CD4": [0.5, 0.1]})
    assert Groups(table, ["a", "b"]).columns == ["CD3", "CD4"]
    assert Groups(table, ["a", "b"], columns=["x", "y"]).columns == ["x", "y"]
    assert Groups(table.to_numpy(), ["a", "b"]).columns is None
    assert Groups([1, 2], ["a", "b"], columns=["count"]).columns == ["count"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["x"], r"columns must have one name per column \(2\); got 1"),
        (["x", "x"], r"columns must have different names; got 'x' twice"),
        ("xy", r"columns must be a list of names"),
    ],
)
def test_wrong_names_of_columns_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Groups([[1, 2]], ["a"], columns=columns)


@pytest.mark.parametrize("values", [[1, 2], 5, [[1, 2, 3, 4]]])
def test_values_of_another_length_are_refused(values):
    with pytest.raises(InputError, match=r"values must have one entry per observation.*\(3\)"):
        Groups([1, 2, 3], [0, 1, 0]).to_input_order(values)
