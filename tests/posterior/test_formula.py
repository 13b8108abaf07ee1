"""Formulas and design matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import franchise as fr
from franchise.posterior.design import Design, Spline, make_coder, read_factors
from franchise.posterior.formula import parse_formula

METADATA = {
    "party": ["b", "a", "c", "a", "b", "c"],
    "year": [1900, 1910, 1920, 1930, 1940, 1950],
    "when": ["1/1/2000", "31/12/2001", "1/1/2003", "1/1/2004", "soon", "2/1/2005"],
    "tags": [["x"], ["x", "y"], [], ["y"], ["z", "x"], ["z"]],
    "keys": ["x", "x; y", "", "y", "z;x", "z"],
    "two words": [1, 2, 1, 2, 1, 2],
    "flag": [True, False, True, True, False, False],
    "same": [1] * 6,
}


def terms(text):
    return [":".join(factor.label for factor in term) for term in parse_formula(text).terms]


def design(text):
    parsed = parse_formula(text)
    read = read_factors(parsed, METADATA)
    complete = np.all([~own.missing for own in read.values()], axis=0)
    kept = {factor: own._replace(values=own.values[complete]) for factor, own in read.items()}
    made = Design(parsed, {factor: make_coder(factor, own) for factor, own in kept.items()})
    return made, made.matrix({factor: own.values for factor, own in kept.items()}, int(complete.sum()))


def test_terms():
    assert terms("~ a + b") == ["a", "b"]
    assert terms("a*b") == ["a", "b", "a:b"]
    assert terms("~ a:b + b + a + a") == ["b", "a", "a:b"]
    assert len(terms("~ a * b * c")) == 7
    assert terms("~ s(x) + s(x, df=5) + `two words`") == ["s(x)", "s(x, df=5)", "two words"]
    assert terms("~ C(x) + labels(t, separator='|')") == ["factor(x)", "labels(t, separator='|')"]
    assert terms("~ 1") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (3, "must be a text such as"),
        ("", "must be a text such as"),
        ("1:3 ~ a", "must begin with ~"),
        ("~ a +", "ends where"),
        ("~ a b", "'b' is where '\\+' should be"),
        ("~ log(a)", "there is no function 'log'"),
        ("~ s(a, knots=3)", "no option 'knots', only df"),
        ("~ s(a, df='x')", "a number should be"),
        ("~ a ^ 2", "cannot be read from"),
        ("~ a:b", r"without a\. Write a \* b"),
    ],
)
def test_bad_formulas(text, message):
    with pytest.raises(fr.InputError, match=message):
        parse_formula(text)


def test_coding():
    made, matrix = design("~ party * year")
    assert made.names == ["(intercept)", "party[b]", "party[c]", "year", "party[b]:year", "party[c]:year"]
    assert matrix[0].tolist() == [1, 1, 0, 1900, 1900, 0]
    assert matrix[1].tolist() == [1, 0, 0, 1910, 0, 0]
    assert design('~ factor(party, reference="c")')[0].names == ["(intercept)"] + [
        f"factor(party, reference='c')[{level}]" for level in "ab"
    ]
    assert design("~ flag")[1][:, 1].tolist() == [1, 0, 1, 1, 0, 0]
    assert design("~ factor(year)")[1].shape == (6, 6)


def test_several_labels():
    made, matrix = design("~ tags")
    assert made.names[1:] == ["tags[x]", "tags[y]", "tags[z]"]
    assert matrix[:, 1:].tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]]
    texts = design("~ labels(keys)")[1]
    assert texts.tolist() == np.delete(matrix, 2, axis=0).tolist()  # an empty text is missing


def test_dates_are_in_years():
    made, matrix = design("~ when")
    assert made.names[1] == "when"
    assert matrix[:, 1] == pytest.approx([2000.0, 2002.0, 2003.0, 2004.0, 2005.0], abs=0.005)


def test_columns_that_cannot_be_used():
    with pytest.raises(
        fr.InputError, match=r"unknown column 'yeer'. The metadata have .* Did you mean 'year'"
    ):
        design("~ yeer")
    with pytest.raises(fr.InputError, match="these data have no metadata"):
        read_factors(parse_formula("~ year"), {})
    with pytest.raises(fr.InputError, match="needs numbers or dates"):
        design("~ s(party)")
    with pytest.raises(fr.InputError, match="'same' has 1 value"):
        design("~ same")
    with pytest.raises(fr.InputError, match="df must be from 1 to 5"):
        design("~ s(year, df=6)")
    with pytest.raises(fr.InputError, match=r"has no such value\. It has 'a', 'b', 'c'"):
        design('~ factor(party, reference="d")')


@pytest.mark.parametrize("df", [1, 2, 4, 7])
def test_the_spline_has_all_natural_splines_with_its_knots(df):
    """The interpolating natural spline of SciPy is in the space of the basis and the constant."""
    values = np.random.default_rng(0).gamma(2.0, 10.0, 200)
    spline = Spline.of(values, df)
    assert spline.df == df
    heights = np.random.default_rng(1).normal(size=df + 1)
    natural = CubicSpline(spline.knots, heights, bc_type="natural")(values) if df > 1 else values
    basis = np.column_stack([np.ones(len(values)), spline.matrix(values)])
    fitted = basis @ np.linalg.lstsq(basis, natural)[0]
    assert fitted == pytest.approx(natural, abs=1e-8)
    assert np.linalg.matrix_rank(basis) == df + 1
