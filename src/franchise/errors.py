"""Errors, and warnings about old names.

`InputError` is for mistakes in the input: it names the argument, what was given, what is allowed and the fix.
`InternalError` is for a broken invariant, a bug of franchise that should be reported.  Old names of functions and
arguments work for one more release and warn at the caller's line (`renamed_arguments`, `warn_renamed`).
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class InputError(ValueError):
    """The error for an argument or file that cannot be used; the message names it, what is allowed, and the fix.

    Examples
    --------
    >>> try:
    ...     fr.sample(corpus, draws=0)
    ... except fr.InputError as error:
    ...     print(error)
    draws must be ...
    """


class NoWords(InputError):
    """A corpus would have no words."""


class StorageError(InputError):
    """A file of a run cannot be written or read; the message names it and the last valid checkpoint."""


class InternalError(RuntimeError):
    """The error for a broken invariant of franchise itself; the message names it. Please report it.

    Examples
    --------
    >>> issubclass(fr.InternalError, RuntimeError)
    True
    """


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the first line outside this package (and `abc`, which makes its classes)."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("franchise", "abc"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_renamed(old: str, new: str) -> None:
    """Issue a DeprecationWarning that names the new spelling."""
    warn_caller(
        f"{old} is deprecated and will be removed in the next release. Use {new}.", DeprecationWarning
    )


def renamed_arguments(**names: str) -> Callable[[F], F]:
    """Decorate a function or class so that it also accepts old keyword arguments, ``old="new"``.

    A decorated class has the table as its attribute `renamed_arguments`.
    """

    def decorate(target: F) -> F:
        called: Callable[..., Any] = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]

        @functools.wraps(called)
        def wrapper(*args: object, **arguments: object) -> Any:
            if not names.keys().isdisjoint(arguments):
                for old in names.keys() & arguments.keys():
                    if names[old] in arguments:
                        raise TypeError(f"{target.__name__}() got both {names[old]} and its old name {old}.")
                    warn_renamed(f"{target.__name__}({old}=...)", f"{names[old]}=...")
                arguments = with_new_names(arguments, names)
            return called(*args, **arguments)

        if not isinstance(target, type):
            return wrapper  # type: ignore[return-value]
        target.__init__ = wrapper  # type: ignore[misc]
        target.renamed_arguments = names  # type: ignore[attr-defined]
        return target

    return decorate


def with_new_names(arguments: Mapping[str, T], names: Mapping[str, str]) -> dict[str, T]:
    """Return the arguments under their new names."""
    return {names.get(name, name): value for name, value in arguments.items()}
