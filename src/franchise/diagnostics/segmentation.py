"""Agreement of inferred boundaries between segments of a text with true ones: P_k and WindowDiff.

Both slide a window of k gaps along the n sentences of a text and compare what is in it.  With b(i, i + k) the
number of boundaries between sentence i and sentence i + k,

    P_k        = 1 / (n - k)  sum_{i=1}^{n-k}  [ (b_ref(i, i + k) = 0)  differs from  (b_found(i, i + k) = 0) ]
    WindowDiff = 1 / (n - k)  sum_{i=1}^{n-k}  [ b_ref(i, i + k)  differs from  b_found(i, i + k) ]

P_k (Beeferman, Berger & Lafferty, 1999, "Statistical models for text segmentation", Machine Learning 34) is the
probability that two sentences k apart are wrongly said to be, or not to be, in the same segment.  It misses a
boundary too many where the window has one already.  WindowDiff (Pevzner & Hearst, 2002, "A critique and
improvement of an evaluation metric for text segmentation", Computational Linguistics 28) compares the numbers of
boundaries instead; a window that P_k counts as wrong is wrong for it, too, so it is never below P_k.  Near misses
cost less than far ones, in both.

Both are errors: 0 is perfect.  Neither says what is good, as that depends on the lengths of the segments: compare
with boundaries placed evenly, at random, everywhere and nowhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.htmm.best_boundaries import check_boundaries
from franchise.validation import check_integer


def window_diff(reference: ArrayLike, found: ArrayLike, window: int | None = None) -> float:
    """Return WindowDiff, the share of windows in which the numbers of boundaries differ.

    WindowDiff = 1 / (n - k) sum_{i=1}^{n-k} [b_ref(i, i + k) differs from b_found(i, i + k)], with b(i, i + k) the
    number of boundaries between sentences i and i + k (Pevzner & Hearst, 2002).

    Parameters
    ----------
    reference, found : bools (n,)
        The true boundaries and those found in one document: for each of its n sentences whether it begins a new
        segment. The value for the first sentence is ignored.
    window : int, optional
        The constant k, from 1 to n - 1 sentences [default: half the mean length of the reference segments, rounded,
        halves up].

    Returns
    -------
    float
        From 0, no window differs, to 1, all do.

    Raises
    ------
    InputError
        If the two have different lengths, have other values than bools, or the window is out of range.

    Examples
    --------
    >>> from franchise.diagnostics import p_k, window_diff
    >>> reference = [True, False, False, True, False, False]
    >>> window_diff(reference, [True, False, False, True, True, False], window=2)
    0.5
    >>> p_k(reference, [True, False, False, True, True, False], window=2)
    0.25
    """
    true, ours = _boundaries_in_windows(reference, found, window)
    return float(np.mean(true != ours))


def p_k(reference: ArrayLike, found: ArrayLike, window: int | None = None) -> float:
    """Return P_k, the share of windows whose ends are wrongly joined in one segment, or wrongly separated.

    P_k = 1 / (n - k) sum_{i=1}^{n-k} [(b_ref(i, i + k) = 0) differs from (b_found(i, i + k) = 0)], with b(i, i + k)
    the number of boundaries between sentences i and i + k (Beeferman, Berger & Lafferty, 1999).

    Parameters
    ----------
    reference, found : bools (n,)
        The true boundaries and those found in one document: for each of its n sentences whether it begins a new
        segment. The value for the first sentence is ignored.
    window : int, optional
        The constant k, from 1 to n - 1 sentences [default: half the mean length of the reference segments, rounded,
        halves up].

    Returns
    -------
    float
        From 0, no window is wrong, to 1, all are.

    Raises
    ------
    InputError
        If the two have different lengths, have other values than bools, or the window is out of range.

    Examples
    --------
    >>> fr.diagnostics.p_k([True, False, False, True, False, False], [True] + 5 * [False], window=2)
    0.5
    """
    true, ours = _boundaries_in_windows(reference, found, window)
    return float(np.mean((true == 0) != (ours == 0)))


def _boundaries_in_windows(
    reference: ArrayLike, found: ArrayLike, window: object
) -> tuple[np.ndarray, np.ndarray]:
    """b(i, i + k) of both, for all i; ints (n - k,)."""
    true, ours = check_boundaries("reference", reference), check_boundaries("found", found)
    if len(true) != len(ours):
        raise InputError(
            f"reference and found must have one bool for each of the same sentences; got {len(true)} and "
            f"{len(ours)}."
        )
    if len(true) < 2:
        raise InputError(f"reference must have at least 2 sentences; got {len(true)}.")
    segments_before = [np.concatenate([[0], np.cumsum(flags[1:])]) for flags in (true, ours)]
    segments = int(segments_before[0][-1]) + 1
    half = (len(true) + segments) // (2 * segments)  # of the mean length of segments, rounded, halves up
    size = check_integer("window", half if window is None else window, minimum=1, maximum=len(true) - 1)
    first, second = (before[size:] - before[:-size] for before in segments_before)
    return first, second
