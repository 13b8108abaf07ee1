"""Errors of boundaries between segments, and their table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joined import SECTIONS, Joined

from franchise.diagnostics import p_k, window_diff


@dataclass(frozen=True)
class Errors:
    """WindowDiff and P_k of one method in each document, and how many boundaries it placed."""

    window_diff: np.ndarray
    p_k: np.ndarray
    boundaries: np.ndarray

    @classmethod
    def of(cls, joined: Joined, found: np.ndarray) -> Errors:
        """Score all documents."""
        pairs = list(zip(joined.by_document(joined.begins), joined.by_document(found), strict=True))
        return cls(
            np.array([window_diff(true, ours) for true, ours in pairs]),
            np.array([p_k(true, ours) for true, ours in pairs]),
            np.array([np.count_nonzero(ours[1:]) for _, ours in pairs]),
        )


def place_evenly(joined: Joined) -> np.ndarray:
    """Boundaries of sections of equal lengths."""
    sizes = [len(flags) for flags in joined.by_document(joined.begins)]
    places = [np.rint(np.arange(SECTIONS) * size / SECTIONS) for size in sizes]
    return np.concatenate([np.isin(np.arange(n), at) for n, at in zip(sizes, places, strict=True)])


def show_errors(errors: dict[str, list[Errors]], seconds: dict[str, float]) -> None:
    """One line a method: means and standard errors over all documents, and the mean of each seed."""
    print("\nmean error and its standard error over documents (of each seed); 0 is perfect:")
    print(f"  {'':54}{'WindowDiff':36}{'P_k':36}boundaries  processor seconds per seed")
    for name, runs in errors.items():
        placed = np.mean([run.boundaries.mean() for run in runs])
        columns = (in_words([run.window_diff for run in runs]), in_words([run.p_k for run in runs]))
        print(f"  {name:54}{columns[0]:36}{columns[1]:36}{placed:10.1f}{seconds[name] / len(runs):10.1f}")


def in_words(runs: list[np.ndarray]) -> str:
    """A mean with its standard error, and the means by seed."""
    every = np.concatenate(runs)
    by_seed = " ".join(f"{run.mean():.3f}" for run in runs)
    return f"{every.mean():.3f} ± {standard_error(every):.3f} ({by_seed})"


def standard_error(values: np.ndarray) -> float:
    """Of a mean, over documents."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
