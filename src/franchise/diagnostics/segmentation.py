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
from franchise.validation import check_integer, describe


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


def best_boundaries(draws: ArrayLike, segments: int | None = None, window: int | None = None) -> np.ndarray:
    """Return the boundaries of one document with the smallest posterior expectation of P_k.

    Windows whose ends are in one segment are wrong with the probability that the ends are separated, and the
    others with the probability that they are not.  So the expected P_k is a sum over segments, and dynamic
    programming finds the minimum.

    Parameters
    ----------
    draws : bools (draws, n)
        Draws from the posterior of the boundaries: whether each of n sentences begins a new segment.
    segments : int, optional
        Number of segments, from 1 to n [default: any number].
    window : int, optional
        The constant k, from 1 to n - 1 sentences [default: half the mean length of segments, of `segments` or of
        the draws].

    Returns
    -------
    bool array (n,)
        Whether each sentence begins a new segment.

    Raises
    ------
    InputError
        If `draws` has other values than bools, or a number is out of range.

    Examples
    --------
    >>> from franchise.diagnostics import best_boundaries
    >>> best_boundaries([[True, False, True, False], [True, False, True, True]]).tolist()
    [True, False, True, False]
    """
    flags = np.array([_check_boundaries("draws", draw) for draw in np.atleast_2d(np.asarray(draws))])
    size = flags.shape[1]
    if size < 2:
        return np.ones(size, bool)
    before = np.cumsum(flags[:, 1:], axis=1)
    before = np.hstack([np.zeros((len(flags), 1), before.dtype), before])
    if segments is not None:
        segments = check_integer("segments", segments, minimum=1, maximum=size)
    mean_segments = float(before[:, -1].mean()) + 1.0 if segments is None else segments
    half = min(max(1, int(size / (2.0 * mean_segments) + 0.5)), size - 1)
    k = check_integer("window", half if window is None else window, minimum=1, maximum=size - 1)
    together = np.mean(before[:, k:] == before[:, :-k], axis=0)
    sums = np.append(0.0, np.cumsum(1.0 - 2.0 * together))
    first, last = np.arange(size + 1)[:, None], np.arange(size + 1)[None, :]
    windows = np.maximum(last - k, first)  # one behind the last that is within the segment
    costs = np.where(
        last > first, sums[np.minimum(windows, size - k)] - sums[np.minimum(first, size - k)], np.inf
    )
    return cheapest_segments(costs + 1e-9, segments)  # of equal ones those with fewer segments


def cheapest_segments(costs: np.ndarray, segments: int | None = None) -> np.ndarray:
    """Return where the segments of least total cost begin, bools (n,), by dynamic programming.

    ``costs[i, j]`` is the cost of a segment of the sentences i to j - 1, infinite unless i < j.
    """
    size = len(costs) - 1
    best, back = np.append(0.0, np.full(size, np.inf)), []
    if segments is None:
        back.append(np.zeros(size + 1, np.int64))
        for end in range(1, size + 1):
            totals = best[:end] + costs[:end, end]
            back[0][end] = totals.argmin()
            best[end] = totals.min()
    else:
        for _ in range(segments):
            totals = best[:, None] + costs
            back.insert(0, totals.argmin(axis=0))
            best = totals.min(axis=0)
    begins, place, step = np.zeros(size, bool), size, 0
    while place > 0:
        place = int(back[step][place])
        begins[place] = True
        step += segments is not None
    return begins


def _boundaries_in_windows(
    reference: ArrayLike, found: ArrayLike, window: object
) -> tuple[np.ndarray, np.ndarray]:
    """b(i, i + k) of both, for all i; ints (n - k,)."""
    true, ours = _check_boundaries("reference", reference), _check_boundaries("found", found)
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


def _check_boundaries(name: str, values: object) -> np.ndarray:
    """Return one bool per sentence; zeros and ones are allowed."""
    try:
        flags = np.asarray(values)
    except ValueError:  # lists of different lengths
        flags = np.empty((0, 0))
    if flags.ndim != 1:
        raise InputError(f"{name} must be a flat array with one bool per sentence; got {describe(values)}.")
    if flags.dtype == bool:
        return flags
    if len(flags) == 0 or (flags.dtype.kind in "iu" and np.isin(flags, (0, 1)).all()):
        return flags.astype(bool)
    raise InputError(
        f"{name} must have one bool per sentence, True if the sentence begins a new segment; got "
        f"{describe(values)}. Apply a threshold to probabilities, and convert positions of boundaries to "
        "bools."
    )
