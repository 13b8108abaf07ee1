"""The boundaries between segments with the smallest expected error, given draws of them.

docs/theory/htmm-collapsed.md#sec-htmm-segments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.validation import check_integer, describe


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
    flags = np.array([check_boundaries("draws", draw) for draw in np.atleast_2d(np.asarray(draws))])
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


def check_boundaries(name: str, values: object) -> np.ndarray:
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
