"""Is it any good: convergence of traces, held-out scores, boundaries of segments; NumPy in, numbers out."""

from franchise.diagnostics.convergence import summarise
from franchise.diagnostics.heldout import Score, document_completion, group_completion, held_out_words
from franchise.diagnostics.segmentation import p_k, window_diff

__all__ = [
    "Score",
    "document_completion",
    "group_completion",
    "held_out_words",
    "p_k",
    "summarise",
    "window_diff",
]
