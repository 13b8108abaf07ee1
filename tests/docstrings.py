"""Docstrings of public names have every section of numpydoc, checked by `make lint`.

    python -m tests.docstrings

Public names are those on the pages of `docs/api`, which list all of `franchise.__all__`, and the methods and
properties of public classes.  There is no list of exceptions by name.  One check is our own, RS01: what raises an
`InputError`, or calls a function named `check...`, has a section "Raises".
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

from franchise.engines import Ray, Threads
from franchise.families.base import Family
from franchise.kernels import family_ops
from franchise.moves.base import Move
from tests.support.public_names import Public, public_names

EXCLUDED = {"ES01", "SA01"}
"""Checks that no docstring needs to pass.  ES01: one sentence can be enough.  SA01: the pages of `docs/api` put
related names together."""

OF_BASE = {"PR01", "RT01", "YD01", "EX01"}
"""Sections that an override may leave to the public method of the base class, which has them."""

CALLED_BY_US = (Family, Move, Threads, Ray)
"""Samplers call the methods of these classes, and users do not: the class has an example, the methods need none."""

OPERATIONS = {name for name, value in vars(family_ops).items() if inspect.isfunction(value)}
"""Compiled operations of families: `kernels/family_ops.py` and the docstring of `Family` describe them."""


class PublicValidator(Validator):
    """The validator of numpydoc, for an object instead of a name."""

    source_file_name = source_file_def_line = None  # no comments in the source switch checks off

    def __init__(self, obj_name: Public) -> None:
        super().__init__(get_doc_object(obj_name.documented))


def checks_to_ignore(public: Public) -> set[str]:
    """Return the checks that a name need not pass, by what it is."""
    ignored = set(EXCLUDED)
    if inspect.ismodule(public.value) or public.is_property:
        ignored.add("EX01")  # the names in a module have examples, and the class of a property
    if inspect.isclass(public.value) and issubclass(public.value, Enum):
        ignored.add("PR01")  # members have docstrings, and nobody makes another
    if public.owner is None:
        return ignored
    if issubclass(public.owner, CALLED_BY_US) or getattr(public.function, "__isabstractmethod__", False):
        ignored.add("EX01")
    if public.is_override or (issubclass(public.owner, Family) and public.short_name in OPERATIONS):
        ignored |= OF_BASE
    return ignored


def raises_errors(public: Public) -> bool:
    """Whether the code of a function, or of the constructor of a class, raises an `InputError` or calls a check."""
    code: list[ast.AST] = [*ast.parse(textwrap.dedent(inspect.getsource(public.function))).body]
    if inspect.isclass(public.value):
        code = [part for part in code[0].body if getattr(part, "name", "") in ("__init__", "__post_init__")]
    for node in (node for part in code for node in ast.walk(part)):
        if isinstance(node, ast.Raise) and "InputError" in ast.unparse(node):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called.lstrip("_").startswith("check"):
                return True
    return False


def lacks_errors(public: Public) -> bool:
    """Whether a docstring does not describe the errors that there are."""
    if inspect.ismodule(public.value) or public.is_property or public.is_override:
        return False
    return not get_doc_object(public.documented)["Raises"] and raises_errors(public)


def failures(public: Public) -> Iterator[tuple[str, str]]:
    """Yield the checks that a docstring fails, with what is wrong."""
    ignored = checks_to_ignore(public)
    if lacks_errors(public):
        yield "RS01", "No Raises section found"
    for code, message in validate(public, PublicValidator)["errors"]:
        if code not in ignored:
            yield code, message


def main() -> int:
    """Print every failure; exit code 1 if there is one."""
    names = public_names()
    found = [(public.name, code, message) for public in names for code, message in failures(public)]
    for name, code, message in found:
        print(f"{name}: {code} {message}")
    print(f"docstrings: {len(names)} public names, {len(found)} failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
