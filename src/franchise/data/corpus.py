"""Documents of words: a corpus, as flat arrays.

    corpus = Corpus.from_texts(["the cat sat", "the dog barked"])     raw text
    corpus = Corpus.from_tokens([["cat", "sat"], ["dog", "barked"]])  words, or word ids
    corpus = Corpus.from_matrix(counts, vocabulary)                   a document-term matrix

A token is one occurrence of a word.  Tokens are stored as word ids, document after document, so a document is
a slice `offsets[j]:offsets[j + 1]` of one int32 array.  The same word in the same document is one *cell* with
a count; moves that treat equal tokens alike work on `cells`, and cost by cells instead of tokens.

A document without words keeps its place, so that rows of results match rows of input; it has no influence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.grouped import GroupedData, offsets_of_sizes, read_only
from franchise.data.matrices import count_matrix, words_of_counts
from franchise.data.text import WORDS, TextOptions, check_texts, read_texts
from franchise.data.tokens import check_documents, check_vocabulary, ids_of_lists, numbered
from franchise.errors import InputError
from franchise.validation import check_counts, describe

if TYPE_CHECKING:
    from pandas import DataFrame
    from scipy.sparse import csr_array


class Cells(NamedTuple):
    """The distinct words of each document and how often each occurs; words ascend within a document.

    Document j has cells `offsets[j]:offsets[j + 1]`.
    """

    offsets: np.ndarray
    """int64 (n_documents + 1,)"""
    word: np.ndarray
    """int32 (cells,): word id"""
    count: np.ndarray  # type: ignore[assignment]  # a field may well hide tuple.count
    """int32 (cells,): tokens of that word in that document, at least 1"""


class Corpus(GroupedData):
    """Documents of words over one vocabulary.

    Usually made by `from_texts`, `from_tokens` or `from_matrix`; this constructor takes the flat arrays.

    Parameters
    ----------
    words : ints (n_tokens,)
        Word id of each token, document after document.
    offsets : ints (n_documents + 1,)
        Document j is `words[offsets[j]:offsets[j + 1]]`.
    vocabulary : sequence of str
        The word of each id; no word twice.
    names : sequence, optional
        A name for each document; "0", "1", ... if not given.
    metadata : mapping of names to sequences, or DataFrame, optional
        Facts about the documents, one entry a document: author, year, ...
    texts : sequence of str, optional
        The original text of each document.

    Attributes
    ----------
    observations, grouped_observations : int32 array (n_tokens,)
        The word ids; a corpus is grouped already, so both are the same array and `order` is None.
    group_names : list
        The names of the documents.
    vocabulary, metadata, texts
        As given: a list, a dict of lists, and a list or None.

    The remaining attributes are described in `franchise.data.grouped.GroupedData`.

    Examples
    --------
    >>> corpus = Corpus.from_tokens([["cat", "sat", "cat"], [], ["dog"]])
    >>> corpus
    Corpus(3 documents, 4 tokens, vocabulary of 3; 1 document is empty)
    >>> corpus.vocabulary
    ['cat', 'dog', 'sat']
    >>> corpus.cells.count
    array([2, 1, 1], dtype=int32)
    """

    observations: np.ndarray
    grouped_observations: np.ndarray

    _group_noun = "document"
    _reserved_metadata = ("name", "tokens")  # the other columns of `documents`

    def __init__(
        self,
        words: Any,
        offsets: Any,
        vocabulary: Sequence[str],
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        texts: Iterable[str] | None = None,
    ) -> None:
        self.vocabulary = check_vocabulary(vocabulary)
        sizes = np.diff(_check_offsets(offsets, len(words)))
        ids = _check_words(words, len(self.vocabulary))
        n_documents = len(sizes)
        document_of_token = np.repeat(np.arange(n_documents, dtype=np.int32), sizes)
        super().__init__(
            ids,
            document_of_token,
            n_documents,
            group_names=numbered(n_documents) if names is None else names,
            metadata=metadata,
        )
        self.texts = None if texts is None else self._check_entries("texts", texts)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        vocabulary: Sequence[str] | None = None,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
    ) -> Corpus:
        """A corpus from counts: one row per document, one column per word.

        Tokens come in row order, columns ascending, repeats of a word side by side; duplicate entries of a
        sparse matrix are summed.

        Parameters
        ----------
        X : scipy sparse or array-like (n_documents, vocabulary_size), or DataFrame
            Whole numbers, none negative.  A DataFrame gives the vocabulary (columns) and the names (index).
        vocabulary : sequence of str, optional
            The word of each column; "0", "1", ... if not given.
        names, metadata
            As for `Corpus`.
        """
        if hasattr(X, "columns") and hasattr(X, "index"):
            vocabulary = [str(column) for column in X.columns] if vocabulary is None else vocabulary
            names = [str(row) for row in X.index] if names is None else names
        rows = count_matrix(X)
        if vocabulary is None:
            vocabulary = numbered(rows.shape[1])
        vocabulary = check_vocabulary(vocabulary, rows.shape[1])
        words, offsets = words_of_counts(rows)
        return cls(words, offsets, vocabulary, names=names, metadata=metadata)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Any],
        vocabulary: Sequence[str] | None = None,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
    ) -> Corpus:
        """A corpus from documents that are lists of words, or of word ids; the order of tokens is kept.

        Parameters
        ----------
        documents : sequence of sequences of str, or of ints
            The tokens of each document.
        vocabulary : sequence of str, optional
            The word of each id.  Not given: the distinct words, sorted; for ids "0" up to the largest.
        names, metadata
            As for `Corpus`.
        """
        lists = check_documents(documents)
        offsets = offsets_of_sizes(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
        ids, known = ids_of_lists(lists, offsets, vocabulary)
        return cls(ids, offsets, known, names=names, metadata=metadata)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = "english",
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        token_pattern: str = WORDS,
        vocabulary: Sequence[str] | None = None,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        keep_texts: bool = True,
    ) -> Corpus:
        """A corpus from raw texts, cut into words by scikit-learn's CountVectorizer, in text order.

        Parameters
        ----------
        texts : sequence of str
            One text per document.
        lowercase : bool
            Whether to ignore case.
        stop_words : "english", None or words
            Words to leave out: scikit-learn's English list, none, or your own.
        min_df, max_df : int or float
            Leave out words that occur in fewer, or in more, documents than this: a number of documents (int)
            or a share of them (float).
        token_pattern : str
            Regular expression of a word; a letter followed by letters or digits if not given.
        vocabulary : sequence of str, optional
            Keep just these words and ignore all others, `min_df` and `max_df` too: the way to read new
            documents for a model already fitted.
        names, metadata
            As for `Corpus`.
        keep_texts : bool
            Whether to keep the texts beside the tokens, for reports.
        """
        texts = check_texts(texts)
        options = TextOptions(lowercase, stop_words, min_df, max_df, token_pattern, vocabulary)
        words, offsets, known = read_texts(texts, options)
        kept = texts if keep_texts else None
        return cls(words, offsets, known, names=names, metadata=metadata, texts=kept)

    @property
    def n_documents(self) -> int:
        """How many documents there are, empty ones included."""
        return self.n_groups

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all."""
        return self.n_observations

    @property
    def vocabulary_size(self) -> int:
        """How many words the vocabulary has (V), those that never occur included."""
        return len(self.vocabulary)

    @property
    def n_empty_documents(self) -> int:
        """How many documents have no token."""
        return int(np.count_nonzero(self.group_sizes == 0))

    @cached_property
    def cells(self) -> Cells:
        """The distinct words of each document with their counts; computed once, when first asked for."""
        size = self.vocabulary_size
        keys = self.group_of_observation.astype(np.int64) * size + self.observations
        if np.any(keys[1:] < keys[:-1]):
            keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        document, word = np.divmod(keys[first], size)
        cells_per_document = np.bincount(document, minlength=self.n_documents)
        return Cells(
            read_only(offsets_of_sizes(cells_per_document)),
            read_only(word.astype(np.int32)),
            read_only(np.diff(first, append=len(keys)).astype(np.int32)),
        )

    @property
    def documents(self) -> DataFrame:
        """One row per document: its name, its number of tokens and its metadata."""
        from pandas import DataFrame

        return DataFrame({"name": self.group_names, "tokens": self.group_sizes, **self.metadata})

    def to_matrix(self) -> csr_array:
        """The counts as a scipy CSR array (n_documents, vocabulary_size); undoes `from_matrix`."""
        from scipy.sparse import csr_array

        offsets, word, count = self.cells
        return csr_array(
            (count.astype(np.int64), word.copy(), offsets.astype(np.int64)),
            shape=(self.n_documents, self.vocabulary_size),
        )

    def subset(self, documents: Any) -> Corpus:
        """The corpus of some documents, over the same vocabulary, with their names, metadata and texts.

        Parameters
        ----------
        documents : ints, or bools (n_documents,)
            Which documents, in the order wanted; or a flag for each document.
        """
        chosen = _check_choice_of_documents(documents, self.n_documents)
        sizes = self.group_sizes[chosen]
        offsets = offsets_of_sizes(sizes)
        positions = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return Corpus(
            self.observations[positions],
            offsets,
            self.vocabulary,
            names=[self.group_names[document] for document in chosen],
            metadata={
                name: [values[document] for document in chosen] for name, values in self.metadata.items()
            },
            texts=None if self.texts is None else [self.texts[document] for document in chosen],
        )

    def select_tokens(self, keep: np.ndarray) -> Corpus:
        """The corpus of all documents with only the tokens flagged in `keep`, bools (n_tokens,); no texts."""
        flags = self._check_last_axis(keep)
        if flags.dtype != bool or flags.ndim != 1:
            raise InputError(f"keep must be one bool per token; got {describe(flags)}.")
        sizes = np.bincount(self.group_of_observation[flags], minlength=self.n_documents)
        return Corpus(
            self.observations[flags],
            offsets_of_sizes(sizes),
            self.vocabulary,
            names=self.group_names,
            metadata=self.metadata,
        )

    def __repr__(self) -> str:
        documents = f"{self.n_documents} document{'' if self.n_documents == 1 else 's'}"
        text = f"{documents}, {self.n_tokens} tokens, vocabulary of {self.vocabulary_size}"
        empty = self.n_empty_documents
        if empty:
            text += f"; {empty} document{' is' if empty == 1 else 's are'} empty"
        return f"Corpus({text})"


# --- checks -------------------------------------------------------------------------------------------------


def _check_words(words: Any, vocabulary_size: int) -> np.ndarray:
    ids = check_counts("words", words)
    if ids.ndim != 1:
        raise InputError(f"words must be a flat array of word ids; got {describe(ids)}.")
    if ids.size == 0:
        raise InputError(
            "The corpus has no tokens: every document is empty. Check the documents, and whether stop words, "
            "min_df, max_df or the vocabulary leave out everything."
        )
    if ids.max() >= vocabulary_size:
        raise InputError(
            f"words must be ids below the size of the vocabulary; got {ids.max()}, "
            f"the largest allowed is {vocabulary_size - 1}."
        )
    return ids.astype(np.int32)


def _check_offsets(offsets: Any, n_tokens: int) -> np.ndarray:
    checked = check_counts("offsets", offsets)
    if checked.ndim != 1 or checked.size < 2:
        raise InputError("The corpus has no documents; at least one is needed.")
    if checked[0] != 0 or checked[-1] != n_tokens or np.any(np.diff(checked) < 0):
        raise InputError(
            f"offsets must rise from 0 to the number of tokens ({n_tokens}) without ever falling; "
            f"got {describe(checked.tolist())}."
        )
    return checked


def _check_choice_of_documents(documents: Any, n_documents: int) -> np.ndarray:
    chosen = np.asarray(documents)
    if chosen.dtype == bool and chosen.shape == (n_documents,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.size == 0:
        raise InputError(
            f"documents must be document numbers, at least one, or {n_documents} bools; "
            f"got {describe(documents)}."
        )
    outside = (chosen < 0) | (chosen >= n_documents)
    if outside.any():
        raise InputError(f"documents must be from 0 to {n_documents - 1}; got {chosen[outside][0]}.")
    return chosen
