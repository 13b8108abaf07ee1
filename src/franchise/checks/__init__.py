"""Public checks of families and moves: they raise with the evidence, or return it as a table."""


class CheckFailed(AssertionError):
    """A check found a broken identity; the message states it, with numbers.

    Examples
    --------
    >>> issubclass(fr.checks.CheckFailed, AssertionError)
    True
    """
