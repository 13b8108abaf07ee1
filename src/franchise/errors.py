"""Two errors: the user's mistake and ours.

`InputError` is for what a user can repair: it names the argument, what came, what is allowed and, where we
know it, the repair.  `InternalError` is for a broken invariant: it is our fault and should be reported.
"""

from __future__ import annotations


class InputError(ValueError):
    """Something handed in cannot be used; the message says what, why and how to repair it."""


class NoWords(InputError):
    """A corpus would have no words at all."""


class InternalError(RuntimeError):
    """An invariant of franchise itself is broken; the message names it. Please report it."""
