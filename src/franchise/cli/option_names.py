"""Messages of the library in the words of the command line: `--min-chains 2` where it has `min_chains=2`."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache

from franchise.cli import options

_CLASSES = (
    options.Source,
    options.Words,
    options.Model,
    options.Chains,
    options.Execution,
    options.Rules,
    options.Edits,
)
_OTHER_NAMES = {
    "checkpoint_interval": "checkpoint-interval",
    "finite_topics": "n-topics",
    "level": "level",
    "words": "words",
    "documents": "documents",
}
_VALUE = r"""(?:'[^']*'|"[^"]*"|\[[^\]]*\]|[\w./-]*\w)"""
_CALL = re.compile(r"(\b[\w.]+\((?:[^()]|\([^()]*\))*\))")  # of Python, which stays as it is


@cache
def _names() -> dict[str, str]:
    """The option of each argument."""
    own = {entry.name: entry.name.replace("_", "-") for kind in _CLASSES for entry in fields(kind)}
    return {**own, **_OTHER_NAMES}


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    names = "|".join(sorted(_names(), key=len, reverse=True))
    long = "|".join(name for name in _names() if "_" in name)
    alone = r"(?<![\w.'\"-])"
    return (
        re.compile(rf"{alone}({names})=({_VALUE})?"),
        re.compile(rf"^({names})(?= must\b)"),
        re.compile(rf"{alone}({long})(?![\w(=])"),
    )


def in_options(message: str) -> str:
    """Return a message in which arguments of Python are options."""
    parts = _CALL.split(message.replace(" topics() ", " `franchise topics` "))
    return "".join(part if place % 2 else _translated(part) for place, part in enumerate(parts))


def _translated(text: str) -> str:
    for pattern in _patterns():
        text = pattern.sub(lambda found: _option(*found.groups()), text)
    return text


def _option(name: str, value: str | None = None) -> str:
    if value is None:
        return f"--{_names()[name]}"
    plain = value.strip("'\"[]").replace(", ", ",")
    return f"--{_names()[name]} {plain}"
