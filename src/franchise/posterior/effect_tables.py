"""The regression of topics on metadata, from a formula to its result (docs/theory/effects.md#sec-effects)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from franchise.data.grouped import counted
from franchise.errors import InputError
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.design import Coder, Design, make_coder, read_factors
from franchise.posterior.formula import parse_formula
from franchise.posterior.regression import ERRORS, MEASURES, LeastSquares, regress
from franchise.posterior.topic_effects import TopicEffects
from franchise.validation import check_choice

if TYPE_CHECKING:
    from franchise.posterior.formula import Factor

_RELIABLE = 0.8
"""Below this reliability coverage of the intervals is too low (docs/theory/effects.md#sec-effects-coverage)."""
_SHOWN = 8


class EffectTables(PosteriorContract[DrawT]):
    """The regression of topics on metadata."""

    def effect(self, formula: str, *, measure: str = "observations", errors: str = "robust") -> TopicEffects:
        """Regress the prevalence of every topic on metadata, with the uncertainty of the topics.

        The method of composition, as in `estimateEffect` of the R package stm: for every stored draw the
        prevalence of a topic in documents is regressed on the metadata by least squares, coefficients are drawn
        from their sampling distribution, and draws and chains are pooled.  The model is not fitted again, and its
        prior does not depend on the metadata as that of stm does.  So effects are pulled towards 0 where documents
        are short or topics are similar (docs/theory/effects.md#sec-effects-shrinkage).  Effects are associations.

            effects = posterior.effect("~ party + s(year)")
            effects = posterior.effect("~ party * s(year, df=4) + labels(tags)")

        Parameters
        ----------
        formula : str
            Columns of the metadata: numbers, dates, classes (the first in alphabetical order is the reference) or
            lists of labels; ``s(x)`` and ``s(x, df=5)`` for a natural cubic spline, ``factor(x)`` and
            ``factor(x, reference="a")`` for classes, ``labels(x, separator=";")`` for several labels in a text;
            ``a:b`` for an interaction, ``a * b`` for both columns and their interaction.
        measure : str
            The prevalence of a topic in a document: "observations", the share of its observations in a draw; or
            "proportions", drawn from their distribution given the draw, as in stm.  The latter pulls towards the
            mean of all documents.
        errors : str
            Standard errors: "robust" to variances that differ between documents (HC3), or "classical", as in stm.

        Returns
        -------
        TopicEffects
            With `table`, `predict`, `contrast` and `plot`.

        Raises
        ------
        InputError
            If the formula cannot be read, names an unknown column, or has columns that cannot be separated.

        Examples
        --------
        >>> posterior.effect("~ kind + year")
        TopicEffects('~ kind + year': 2 topics, 24 documents, 4 terms)
          see .table(), .predict(), .contrast(column, a, b), .plot(column)
        """
        parsed = parse_formula(formula)
        check_choice("measure", measure, MEASURES)
        check_choice("errors", errors, ERRORS)
        consensus, data = self.consensus_topics, self.data
        consensus.check_any()
        read = read_factors(parsed, data.metadata)
        complete, empty = np.ones(data.n_groups, np.bool_), data.group_sizes == 0
        for own in read.values():
            complete &= ~own.missing
        groups = np.flatnonzero(complete & ~empty)
        if not len(groups):
            raise InputError("formula: no document has observations and values in all columns.")
        notes = [*dict.fromkeys(own.note for own in read.values()), _left_out(complete, empty)]
        columns = {factor: own.values[groups] for factor, own in read.items()}
        coders: dict[Factor, Coder] = {
            factor: make_coder(factor, own._replace(values=own.values[groups]))
            for factor, own in read.items()
        }
        design = Design(parsed, coders)
        squares = LeastSquares.of(design.matrix(columns, len(groups)), design.names)
        found = regress(consensus, groups, squares, measure, errors)
        notes.append(_unreliable(found.reliability))
        return TopicEffects(
            parsed,
            design,
            found,
            consensus.labels,
            consensus.appears.mean(axis=0),
            columns,
            len(groups),
            measure,
            errors,
            " ".join(filter(None, notes)),
        )


def _left_out(complete: np.ndarray, empty: np.ndarray) -> str:
    """Return a note on documents that are not in the regression; empty if there are none."""
    missing, silent = int((~complete & ~empty).sum()), int(empty.sum())
    parts = [f"{counted(missing, 'document')} without a value"] * bool(missing)
    parts += [f"{counted(silent, 'document')} without observations"] * bool(silent)
    return f"Not regressed: {' and '.join(parts)}, of {len(empty)}." if parts else ""


def _unreliable(reliability: np.ndarray) -> str:
    """Return a note on topics whose effects are much too small; empty if there are none."""
    low = np.flatnonzero(reliability < _RELIABLE)
    if not len(low):
        return ""
    listed = ", ".join(map(str, low[:_SHOWN])) + (
        f" and {len(low) - _SHOWN} more" if len(low) > _SHOWN else ""
    )
    return (
        f"Effects on {'topic' if len(low) == 1 else 'topics'} {listed} are underestimated: reliability below "
        f"{_RELIABLE}, so intervals may not have their level."
    )
