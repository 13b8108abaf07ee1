"""Random streams: a name is its numbers, whatever ran before."""

from __future__ import annotations

import ast
import itertools
import zlib
from pathlib import Path

import numpy as np
import pytest

import franchise
from franchise.kernels.random.streams import STREAMS, Streams


def numbers(streams: Streams, block: int = 0, size: int = 5) -> list[float]:
    return streams.generator(block).random(size).tolist()


def test_the_same_name_is_the_same_numbers():
    assert numbers(Streams(1, 2, 3, 4), 5) == numbers(Streams(1, 2, 3, 4), 5)


def test_different_names_are_different_numbers():
    """Every part of the name counts, and no two parts are confused."""
    parts = (0, 1, 2)
    names = list(
        itertools.product(
            parts, parts, parts, [*parts, STREAMS.start, STREAMS.conversion, STREAMS.measurement], parts
        )
    )
    first = {tuple(numbers(Streams(*name[:4]), name[4], 2)) for name in names}
    assert len(first) == len(names)


def test_large_parts_are_not_confused():
    names = [(0, 0, 0, 1, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0), (0, 0, 0, 0, 1), (0, 0, 0, 0, 2**32 - 1)]
    names += [
        (0, 0, 2**40, 0, 0),
        (0, 2**40, 0, 0, 0),
        (0, 0, 0, STREAMS.measurement, 2**31),
        (2**100, 0, 0, 0, 0),
    ]
    assert len({tuple(numbers(Streams(*name[:4]), name[4])) for name in names}) == len(names)


def test_neighbouring_streams_do_not_overlap():
    """A long run of one stream contains nothing of the next."""
    one = Streams(0, 0, 1, 1).generator().integers(0, 2**63, 20_000)
    two = Streams(0, 0, 2, 1).generator().integers(0, 2**63, 20_000)
    assert len(np.intersect1d(one, two)) == 0


def test_asking_again_begins_anew():
    streams = Streams(0, 0, 1, 1)
    assert numbers(streams) == numbers(streams)
    assert numbers(streams, 1) != numbers(streams, 0)


@pytest.mark.parametrize("used", [0, 1, 2, 3, 4, 7])
def test_a_reset_generator_is_like_a_fresh_one(used):
    """Whatever was drawn before: doubles, 32-bit halves, normals."""
    pool: dict = {}
    before = Streams(0, 0, 1, 1, pool).generator(3)
    before.random(used)
    before.integers(0, 100, used, dtype=np.uint32)
    before.standard_normal(used)
    again = Streams(9, 1, 2, 1, pool).generator(3)
    assert again is before
    fresh = Streams(9, 1, 2, 1).generator(3)
    for draw in (
        lambda rng: rng.integers(0, 1000, 7, dtype=np.uint32),
        lambda rng: rng.random(11),
        lambda rng: rng.standard_gamma(0.3, 5),
    ):
        np.testing.assert_array_equal(draw(again), draw(fresh))


def test_moves_and_blocks_have_generators_of_their_own():
    pool: dict = {}
    one, two = Streams(0, 0, 1, 1, pool).generator(0), Streams(0, 0, 1, 2, pool).generator(0)
    three = Streams(0, 0, 1, 1, pool).generator(1)
    assert len({id(one), id(two), id(three)}) == 3


def test_the_first_number_of_a_stream_is_its_generators():
    for sweep in range(1, 50):
        streams = Streams(3, 1, sweep, 4)
        assert streams.uniform() == streams.generator().random()


IN_PLACE_OF_A_MOVE = STREAMS._fields[: STREAMS._fields.index("topics")]

USED_TOGETHER = [
    IN_PLACE_OF_A_MOVE,
    ("topics", "sides", "parameters", "sub_parameters", "sticks"),
    ("redrawn", "global_merge", "global_split", "proposed"),
    ("seats", "parameters", "sticks"),
    ("cell_topics", "parameters", "sticks"),
    ("parameters", "finite_weights", "finite_empty"),
    ("htmm_numbers", "htmm_documents", "htmm_topics", "htmm_tables"),
]


@pytest.mark.parametrize("names", USED_TOGETHER, ids=" ".join)
def test_streams_used_together_have_distinct_numbers(names):
    assert len({getattr(STREAMS, name) for name in names}) == len(names)


def test_numbers_in_place_of_a_move_are_beyond_those_of_moves():
    assert min(getattr(STREAMS, name) for name in IN_PLACE_OF_A_MOVE) >= 2**31


def test_stream_numbers_never_change():
    """Other numbers are other draws, and stored runs could not be continued."""
    text = ",".join(f"{name}={number}" for name, number in sorted(STREAMS._asdict().items()))
    assert zlib.crc32(text.encode()) == 0xCBAEDF8C


PACKAGE = Path(franchise.__file__).parent
MODULES = [path for path in PACKAGE.rglob("*.py") if "random.streams import" in path.read_text()]
ASKING = {"Streams", "generator", "rng_state", "rng_states", "_streams", "draw_parameters"}


def is_own_number(node: ast.AST) -> bool:
    """A constant of the module, or a power."""
    is_constant = isinstance(node, ast.Name) and node.id.lstrip("_").isupper() and node.id != "STREAMS"
    return is_constant or isinstance(node, ast.Pow)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_stream_numbers_are_only_in_the_table(path):
    """So that nobody takes a number that is taken."""
    tree = ast.parse(path.read_text())
    powers = [
        ast.unparse(statement)
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for node in ast.walk(statement)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.literal_eval(node.right) >= 16
    ]
    calls = [
        ast.unparse(call)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in ASKING
        for argument in call.args
        if any(map(is_own_number, ast.walk(argument)))
    ]
    assert not powers + calls
