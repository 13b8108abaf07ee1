"""Is it any good: convergence of traces, held-out scores; NumPy in, numbers out."""

from franchise.diagnostics.convergence import summarise
from franchise.diagnostics.heldout import Score, document_completion, held_out_words

__all__ = ["Score", "document_completion", "held_out_words", "summarise"]
