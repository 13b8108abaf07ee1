"""Two errors: what a user can repair, and our fault.

`InputError` is for what a user can repair: it names the argument, what came, what is allowed and, where we
know it, the repair.  `InternalError` is for a broken invariant: it is our fault and should be reported.
"""

from __future__ import annotations


class InputError(ValueError):
    """Something handed in cannot be used; the message says what, why and how to repair it."""


class NoWords(InputError):
    """A corpus would have no words at all."""


class StorageError(InputError):
    """A file of a run cannot be written, or not be read; the message names it, and says what is left."""


class InternalError(RuntimeError):
    """An invariant of franchise itself is broken; the message names it. Please report it."""
