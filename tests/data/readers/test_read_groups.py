"""read_groups: tables of numbers in groups, from every format of tables."""

import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from tests.data.readers import samples
from tests.data.readers.samples import write

import franchise as fr


@pytest.fixture(params=["csv", "csv.gz", "tsv", "tsv.xz", "jsonl", "jsonl.bz2", "parquet"])
def path(request, tmp_path):
    """The same table in every format."""
    name = f"groups.{request.param}"
    if request.param == "parquet":
        frame = pd.DataFrame({"group": ["a", "b", "a"], "height": [1.5, -2.0, 0.25], "count": [3, 0, 7]})
        frame.to_parquet(tmp_path / name)
        return tmp_path / name
    plain = f"groups.{request.param.split('.')[0]}"
    return write(tmp_path, name, samples.GROUP_FORMATS[plain]())


def test_all_columns(path):
    groups = fr.read_groups(path, group="group")
    assert groups.group_names == ["a", "b"]
    assert groups.observations.tolist() == [[1.5, 3], [-2, 0], [0.25, 7]]
    assert groups.group_of_observation.tolist() == [0, 1, 0]


def test_some_columns(path):
    both = fr.read_groups(path, group="group", columns=["count", "height"])
    assert both.observations.tolist() == [[3, 1.5], [0, -2], [7, 0.25]]
    for columns in ("count", ["count"], ("count",), np.array(["count"])):
        one = fr.read_groups(path, group="group", columns=columns)
        assert one.observations.tolist() == [3, 0, 7]
        assert one.observations.dtype == np.int64


def test_groups_may_be_numbers(path):
    groups = fr.read_groups(path, group="count", columns="height")
    assert groups.group_names == [3, 0, 7]


def test_the_same_as_from_arrays(tmp_path):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(200, 3))
    labels = rng.integers(0, 5, 200)
    frame = pd.DataFrame(values, columns=["u", "v", "w"]).assign(study=labels)
    expected = fr.Groups(values, labels)
    frame.to_csv(tmp_path / "t.csv", index=False)
    rows = (json.dumps(row) for row in frame.to_dict("records"))
    write(tmp_path, "t.jsonl", "\n".join(rows))
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        groups = fr.read_groups(tmp_path / name, group="study")
        assert groups.group_names == expected.group_names
        assert (groups.grouped_observations == expected.grouped_observations).all()


def test_booleans_are_zeros_and_ones(tmp_path):
    csv = write(tmp_path, "t.csv", "g,x,y\na,True,1\nb,False,0\n")
    assert fr.read_groups(csv, group="g").observations.tolist() == [[1, 1], [0, 0]]
    lines = "".join(json.dumps({"g": "a", "x": x}) + "\n" for x in (True, False))
    assert fr.read_groups(write(tmp_path, "t.jsonl", lines), group="g").observations.tolist() == [1, 0]


def test_labels_are_texts_where_they_are_not_all_numbers(tmp_path):
    groups = fr.read_groups(write(tmp_path, "t.csv", "g,x\nNA,1\n007,2\n1,3\n"), group="g")
    assert groups.group_names == ["NA", "007", "1"]


def test_numbers_are_read_exactly(tmp_path):
    numbers = [0.1, 1 / 3, math.pi * 1e-300, 1.7976931348623157e308, -5e-324, 123456789.123456789]
    path = write(tmp_path, "t.csv", "g,x\n" + "".join(f"a,{number!r}\n" for number in numbers))
    assert fr.read_groups(path, group="g").observations.tolist() == numbers


def test_other_columns_do_not_matter(tmp_path):
    path = write(tmp_path, "t.csv", "g,x,species\na,1,Adelie\nb,2,\n")
    assert fr.read_groups(path, group="g", columns=["x"]).observations.tolist() == [1, 2]


def test_a_mixture_is_sampled_from_what_was_read(path):
    groups = fr.read_groups(path, group="group", columns="count")
    assert fr.sample(groups, fr.Poisson(), draws=2, warmup=1, chains=1).n_draws == 2


def test_decimals_of_parquet(tmp_path):
    frame = pd.DataFrame({"g": ["a", "b"], "x": [Decimal("1.25"), Decimal(2)]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert fr.read_groups(tmp_path / "t.parquet", group="g").observations.tolist() == [1.25, 2.0]
