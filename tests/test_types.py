"""Arguments of type `Any` are counted, and their number may only fall.

Counted is every parameter of every function in the package whose annotation is `Any`, `Any | None` or
`Optional[Any]`; `*args` and `**kwargs` count, and so do private functions. Not counted are return types, fields,
variables, and types made with `Any`, such as `dict[str, Any]` or `Callable[[int], Any]`.

    python -m tests.test_types            # counts per folder
    python -m tests.test_types --list     # every place
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import franchise

PACKAGE = Path(franchise.__file__).parent
LIMIT = 100
"""Lower it whenever the count falls; never raise it.

What stays: keyword arguments that are passed on as they came (`**options`); `X` of the estimators and other input
whose form is found by trying; objects of libraries without types (Ray, pyarrow, pandas and polars alike); the
messages of a cluster; and `state` of `Move.step` and `SweepContext`, which every move narrows to its views.
"""


class Place(NamedTuple):
    """An argument of type `Any`."""

    file: str
    line: int
    function: str
    argument: str


def is_any(annotation: ast.expr | None) -> bool:
    """Whether an annotation says nothing but `Any`, or that and None."""
    if annotation is None:
        return False
    text = ast.unparse(annotation).strip("'\"").replace("typing.", "")
    parts = {part.strip() for part in text.removeprefix("Optional[").removesuffix("]").split("|")}
    return parts in ({"Any"}, {"Any", "None"})


def untyped_arguments(source: str, file: str) -> Iterator[Place]:
    """The arguments of type `Any` in the source of a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            for argument in arguments:
                if argument is not None and is_any(argument.annotation):
                    yield Place(file, argument.lineno, node.name, argument.arg)


def places() -> list[Place]:
    """All of the package."""
    return [
        place
        for path in sorted(PACKAGE.rglob("*.py"))
        for place in untyped_arguments(path.read_text(), str(path.relative_to(PACKAGE)))
    ]


def test_arguments_of_type_any_grow_no_more():
    found = places()
    assert len(found) <= LIMIT, "\n".join(f"{each.file}:{each.line} {each.argument}" for each in found)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("def f(a: Any, b: Any | None, *c: Any, d: 'Any', **e: Any) -> int: ...", "abcde"),
        ("def f(a: typing.Any, b: Optional[Any] = None): ...", "ab"),
        ("def f(a: dict[str, Any], b: Callable[[Any], Any], c, *d: int) -> Any: ...", ""),
        ("class C:\n    x: Any\n    async def f(self, a: Any) -> None: ...", "a"),
    ],
)
def test_what_is_counted(header, names):
    assert sorted(place.argument for place in untyped_arguments(header, "")) == list(names)


if __name__ == "__main__":
    all_places = places()
    for place in all_places if "--list" in sys.argv else ():
        print(f"{place.file}:{place.line} {place.function}({place.argument})")
    for folder, count in sorted(Counter(place.file.split("/")[0] for place in all_places).items()):
        print(f"{count:4d} {folder}")
    print(f"{len(all_places):4d} in all")
