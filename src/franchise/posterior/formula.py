"""Formulas of effects, as in R: which columns of the metadata the prevalence of topics is regressed on.

~ party + year                  a class and a number
~ party * s(year)               the same as party + s(year) + party:s(year)
~ s(year, df=5)                 a natural cubic spline
~ factor(year)                  numbers as classes;  factor(party, reference="Whig")
~ labels(tags, separator=";")   an indicator for every label of a document
~ `date of birth`               a column whose name is not one word
~ 1                             the mean prevalence alone
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any, NamedTuple

from franchise.errors import InputError
from franchise.validation import describe

OPTIONS: dict[str, dict[str, type]] = {
    "s": {"df": int},
    "factor": {"reference": str},
    "labels": {"separator": str},
}
"""The functions of a column, and their options."""

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[^\W\d][\w.]*)|(?P<quoted>`[^`]+`)|(?P<text>\"[^\"]*\"|'[^']*')|(?P<number>\d+)|(?P<sign>[~+*:(),=]))"
)
_WANTED = 'formula must be a text such as "~ party + s(year)"'
EXAMPLE = (
    'Allowed are columns, s(), factor(), labels(), and +, : and * between them, such as "~ party * s(year)".'
)


class Factor(NamedTuple):
    """A column of the metadata and its coding."""

    column: str
    function: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """The text of the factor in a formula."""
        listed = "".join(f", {name}={value!r}" for name, value in self.options)
        return f"{self.function}({self.column}{listed})" if self.function else self.column


Term = tuple[Factor, ...]
"""The product of some factors."""


class Formula(NamedTuple):
    """The terms besides the intercept, main effects before interactions."""

    text: str
    terms: tuple[Term, ...]

    @property
    def columns(self) -> list[str]:
        """The columns of the metadata, each once."""
        return list(dict.fromkeys(factor.column for term in self.terms for factor in term))


def parse_formula(text: object) -> Formula:
    """Return the terms of a formula; InputError if it is invalid."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{_WANTED}; got {describe(text)}.")
    return _Parser(text).parse()


class _Parser:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.place = text, _tokens(text), 0

    def parse(self) -> Formula:
        """Return the whole formula."""
        if self.next_is("~"):
            self.take()
        elif any(value == "~" for _, value in self.tokens):
            raise InputError(
                f"formula must begin with ~; got {describe(self.text)}. All topics are on its left: choose some by "
                f".table(topics=[0, 3])."
            )
        terms: list[Term] = []
        while True:
            terms += self.product()
            if self.done:
                break
            self.take("+")
        distinct: dict[frozenset[Factor], Term] = {}
        for term in terms:
            distinct.setdefault(frozenset(term), term)
        ordered = sorted(distinct.values(), key=len)
        _check_margins(ordered)
        return Formula(self.text.strip(), tuple(ordered))

    def product(self) -> list[Term]:
        """Return the terms of a * b * ..., each of which may be a:b."""
        if self.next_is("1"):
            self.take()
            return []
        parts = [self.interaction()]
        while self.next_is("*"):
            self.take()
            parts.append(self.interaction())
        chosen = [some for size in range(1, len(parts) + 1) for some in combinations(parts, size)]
        return [tuple(dict.fromkeys(factor for part in some for factor in part)) for some in chosen]

    def interaction(self) -> Term:
        """Return a:b:..."""
        factors = [self.factor()]
        while self.next_is(":"):
            self.take()
            factors.append(self.factor())
        return tuple(dict.fromkeys(factors))

    def factor(self) -> Factor:
        """Return a column, or a function of one."""
        kind, name = self.take(kinds=("name", "quoted"))
        if kind == "quoted" or not self.next_is("("):
            return Factor(name)
        function = "factor" if name == "C" else name
        if function not in OPTIONS:
            raise self.error(f"there is no function {name!r}")
        self.take("(")
        column = self.take(kinds=("name", "quoted"))[1]
        options = []
        while self.next_is(","):
            self.take()
            options.append(self.option(function))
        self.take(")")
        return Factor(column, function, tuple(options))

    def option(self, function: str) -> tuple[str, Any]:
        """Return the name and the value of an option."""
        name = self.take(kinds=("name",))[1]
        if name not in OPTIONS[function]:
            raise self.error(f"{function}() has no option {name!r}, only {', '.join(OPTIONS[function])}")
        self.take("=")
        wanted = OPTIONS[function][name]
        value = self.take(kinds=("number",) if wanted is int else ("text",))[1]
        return name, wanted(value)

    # -- tokens --------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self.place == len(self.tokens)

    def next_is(self, value: str) -> bool:
        return not self.done and self.tokens[self.place][1] == value and self.tokens[self.place][0] != "text"

    def take(self, value: str | None = None, kinds: tuple[str, ...] = ()) -> tuple[str, str]:
        """Return the next token; InputError if it is another one."""
        wanted = (
            repr(value)
            if value
            else " or ".join({"name": "a column", "quoted": "`a column`"}.get(k, f"a {k}") for k in kinds)
        )
        if self.done:
            raise self.error(f"it ends where {wanted} should be")
        kind, found = self.tokens[self.place]
        if (value is not None and found != value) or (kinds and kind not in kinds):
            raise self.error(f"{found!r} is where {wanted} should be")
        self.place += 1
        return kind, found

    def error(self, what: str) -> InputError:
        return InputError(f"formula cannot be read: {what}, in {describe(self.text)}. {EXAMPLE}")


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return the words and signs of a formula, each with its kind."""
    found, place = [], 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(
                f"formula cannot be read from {text[place:].strip()[:20]!r} on, in {describe(text)}. {EXAMPLE}"
            )
        kind = str(match.lastgroup)
        value = match[kind]
        found.append((kind, value[1:-1] if kind in ("quoted", "text") else value))
        place = match.end()
    return found


def _check_margins(terms: list[Term]) -> None:
    """InputError for an interaction without its main effects: its coding would not be clear."""
    there = {frozenset(term) for term in terms}
    for term in terms:
        for size in range(1, len(term)):
            for part in combinations(term, size):
                if frozenset(part) not in there:
                    named = ":".join(factor.label for factor in term)
                    raise InputError(
                        f"formula has the interaction {named} without {':'.join(f.label for f in part)}. Write "
                        f"{' * '.join(factor.label for factor in term)}, which has both."
                    )
