"""Parts of texts that are not in their corpus: removed words, empty documents, files not read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from franchise.data.grouped import counted


class LeftOut(NamedTuple):
    """Words removed for one reason."""

    words: int = 0
    """distinct words"""
    tokens: int = 0
    """occurrences of them"""


NONE = LeftOut()


@dataclass(frozen=True)
class Dropped:
    """Parts of texts that were removed in reading; `str` returns them in a sentence.

    Every word is counted for one reason, the first that applies in the order below.
    """

    stop_words: LeftOut = NONE
    below_min_df: LeftOut = NONE
    above_max_df: LeftOut = NONE
    not_in_vocabulary: LeftOut = NONE
    """where a vocabulary was given"""
    empty_documents: int = 0
    """documents without any word; they keep their place"""
    missing_texts: int = 0
    """entries of a table without a text; they are empty documents"""
    files: tuple[str, ...] = ()
    """files and folders of a folder that were not read"""
    duplicates: int = 0
    """documents that `Corpus.drop_duplicates` left out"""

    def __str__(self) -> str:
        reasons = {
            ("stop word", ""): self.stop_words,
            ("word", " below min_df"): self.below_min_df,
            ("word", " above max_df"): self.above_max_df,
            ("word", " not in the vocabulary"): self.not_in_vocabulary,
        }
        left_out = [
            f"{counted(left.words, noun)}{why} ({counted(left.tokens, 'token')})"
            for (noun, why), left in reasons.items()
            if left.words
        ]
        if self.files:
            shown = ", ".join(self.files[:3]) + (", ..." if len(self.files) > 3 else "")
            number = counted(len(self.files), "file or folder", "files and folders")
            left_out.append(f"{number} not read ({shown})")
        if self.duplicates:
            left_out.append(counted(self.duplicates, "duplicate document"))
        sentences = [f"Removed: {'; '.join(left_out)}."] if left_out else []
        if self.empty_documents:
            verb = "is" if self.empty_documents == 1 else "are"
            why = f" ({counted(self.missing_texts, 'missing text')})" if self.missing_texts else ""
            sentences.append(f"{counted(self.empty_documents, 'document')} {verb} empty{why}.")
        return " ".join(sentences) or "Nothing was removed."


def encode_dropped(dropped: Dropped | None) -> dict[str, Any] | None:
    """Return the removed words and documents in a form for JSON."""
    return None if dropped is None else asdict(dropped)


def decode_dropped(stored: dict[str, Any] | None) -> Dropped | None:
    """Undo `encode_dropped`, after JSON has turned tuples into lists."""
    if stored is None:
        return None
    plain: dict[str, Any] = {
        name: LeftOut(*value) if isinstance(getattr(NOTHING, name), LeftOut) else value
        for name, value in stored.items()
    }
    return Dropped(**{**plain, "files": tuple(plain.get("files", ()))})


NOTHING = Dropped()
