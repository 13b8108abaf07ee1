"""Is it any good: convergence of traces, held-out scores, boundaries of segments; NumPy in, numbers out."""

from franchise.diagnostics.coherence import coherence
from franchise.diagnostics.compare_chains import compare_chains
from franchise.diagnostics.convergence import summarise, summary
from franchise.diagnostics.held_out import (
    Score,
    document_completion,
    group_completion,
    held_out_trace,
    held_out_words,
    left_to_right,
)
from franchise.diagnostics.segmentation import p_k, window_diff
from franchise.diagnostics.to_arviz import to_arviz
from franchise.diagnostics.to_pyldavis import to_pyldavis
from franchise.diagnostics.verdict import Verdict, verdict, verdict_on
from franchise.htmm.best_boundaries import best_boundaries

__all__ = [
    "Score",
    "Verdict",
    "best_boundaries",
    "coherence",
    "compare_chains",
    "document_completion",
    "group_completion",
    "held_out_trace",
    "held_out_words",
    "left_to_right",
    "p_k",
    "summarise",
    "summary",
    "to_arviz",
    "to_pyldavis",
    "verdict",
    "verdict_on",
    "window_diff",
]
