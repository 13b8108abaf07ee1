"""Docstrings of public names have every section of numpydoc, checked by `make lint`.

    python -m tests.docstrings

Public names are those on the pages of `docs/api`, which list all of `franchise.__all__`, and the methods and properties
of public classes.  There is no list of exceptions by name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

from franchise.families.base import Family
from franchise.moves.base import Move
from tests.support.public_names import Public, public_names

EXCLUDED = {"ES01", "SA01"}
"""Checks of numpydoc that are not made.  One sentence can be enough (ES01), and the pages of `docs/api` put related names
together (SA01)."""

SECTIONS = {"PR01", "RT01", "YD01", "EX01"}
"""Sections that an override leaves to the method of the base class, which is checked: it documents what differs."""

CONTRACTS = (Family, Move)
"""Samplers call the methods of these classes, and users do not: the class has an example, its methods need none."""

RAISES = "RS01"
"""A check of our own: what calls for an `InputError` has a section "Raises"."""


class PublicValidator(Validator):
    """The validator of numpydoc, for an object instead of a name."""

    source_file_name = source_file_def_line = None  # no comments in the source switch checks off

    def __init__(self, obj_name: Public) -> None:
        value = obj_name.value
        super().__init__(get_doc_object(value if obj_name.is_property else getattr(value, "__func__", value)))


def checks_to_ignore(public: Public) -> set[str]:
    """Return the checks that a name need not pass, by what it is."""
    ignored = set(EXCLUDED)
    if inspect.ismodule(public.value) or public.is_property:
        ignored.add("EX01")  # a module has its names' examples, a property that of its class
    if public.owner is not None and issubclass(public.owner, CONTRACTS):
        ignored.add("EX01")
    if getattr(public.function, "__isabstractmethod__", False):
        ignored.add("EX01")  # there is nothing to run
    if public.is_override:
        ignored |= SECTIONS
    return ignored


def failures(public: Public) -> Iterator[tuple[str, str]]:
    """Yield the checks that a docstring fails, with what is wrong."""
    ignored = checks_to_ignore(public)
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
