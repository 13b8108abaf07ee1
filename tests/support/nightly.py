"""Parameters that only `make test-nightly` runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def nightly(values: Iterable[Any], but: Iterable[Any] = ()) -> list[Any]:
    """Return the parameters of a test, all marked slow but those that `make test` runs too.

    A tuple holds the values of several arguments.
    """
    kept = list(but)
    return [
        value
        if value in kept
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for value in values
    ]
