"""The flat arrays of a corpus: word ids, where documents and sentences begin, and counts of words (`Corpus`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.dropped import Dropped
from franchise.data.duplicates import LEAST_SIMILAR, SIMILAR, find_duplicates
from franchise.data.group_tree import said_of
from franchise.data.grouped import GroupedData, counted, offsets_of_sizes, read_only
from franchise.data.nested_labels import tree_above_documents
from franchise.data.sentences import Sentences, check_rise, check_sentences, sentence_table
from franchise.data.text_options import TextOptions
from franchise.data.tokens import check_vocabulary, numbered
from franchise.errors import InputError, NoWords
from franchise.validation import check_counts, check_share, describe

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
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


class CorpusArrays(GroupedData):
    """Documents of words over one vocabulary, as arrays; the base of `Corpus`, which describes the parameters."""

    observations: np.ndarray
    grouped_observations: np.ndarray

    _group_noun = "document"
    _reserved_metadata = ("name", "tokens", "sentences")  # the other columns of `documents`

    def __init__(
        self,
        words: Sequence[int] | np.ndarray,
        offsets: ArrayLike,
        vocabulary: Sequence[str],
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        texts: Iterable[str] | None = None,
        sentences: Sentences | tuple[ArrayLike, ArrayLike] | None = None,
        text_options: TextOptions | None = None,
        groups: object = None,
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
        self.sentences = None if sentences is None else check_sentences(sentences, self)
        self.text_options = text_options
        self.tree = tree_above_documents(groups, self.group_names, self.metadata)
        self.dropped: Dropped | None = None
        self.notes: list[str] = []

    @property
    def n_documents(self) -> int:
        """Number of documents, including empty ones."""
        return self.n_groups

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return self.n_observations

    @property
    def n_sentences(self) -> int:
        """Number of sentences, including empty ones; 0 if unknown."""
        return 0 if self.sentences is None else len(self.sentences.offsets) - 1

    @property
    def vocabulary_size(self) -> int:
        """Number of words in the vocabulary (V), including words that never occur."""
        return len(self.vocabulary)

    @property
    def n_empty_documents(self) -> int:
        """Number of documents without tokens."""
        return int(np.count_nonzero(self.group_sizes == 0))

    @cached_property
    def cells(self) -> Cells:
        """The distinct words of each document with their counts, computed at the first access."""
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
        """One row per document: its name, its numbers of tokens and (if known) sentences, and its metadata."""
        from pandas import DataFrame

        columns = {"name": self.group_names, "tokens": self.group_sizes}
        if self.sentences is not None:
            columns["sentences"] = np.diff(self.sentences.documents)
        return DataFrame({**columns, **self.metadata})

    def sentence_table(self) -> DataFrame:
        """Return one row per sentence: its document, place, number of tokens and text.

        Returns
        -------
        DataFrame
            `document` (name), `sentence` (numbered from 0 within the document), `tokens` (how many are left of
            it), `begin` and `end` in the text of the document if known, and `text` if texts are kept.

        Raises
        ------
        InputError
            If the corpus has no sentences.

        Examples
        --------
        >>> corpus.sentence_table().loc[0, "text"]
        'Ships sail the sea.'
        """
        return sentence_table(self)

    def duplicates(self, threshold: float = SIMILAR) -> DataFrame:
        """Return the documents that have the same or nearly the same words as an earlier one.

        The similarity of two documents of 20 words or more is the Jaccard index of their sets of three words in
        a row: the number in both, divided by the number in at least one.  Most pairs at the threshold are found,
        and nearly all above 0.8: `franchise.data.duplicates` has the numbers.

        Parameters
        ----------
        threshold : float, default 0.8
            The smallest similarity, from 0.7 to 1.0.  With 1.0, documents with the same words in the same order,
            and documents of 20 words or more with the same sets of three.

        Returns
        -------
        DataFrame
            One row per duplicate, indexed by the number of the document: `name`, `first` (number of the first
            document that it resembles, directly or by others), `name_of_first` and `similarity` (the largest to
            one of these documents).

        Raises
        ------
        InputError
            If the threshold is out of range.

        Examples
        --------
        >>> similar = fr.Corpus.from_texts(["A cat sat.", "The dog barked.", "Cat, sat!"])
        >>> similar.duplicates()["first"].to_dict()
        {2: 0}
        """
        from pandas import DataFrame, Index

        if check_share("threshold", threshold) < LEAST_SIMILAR:
            raise InputError(f"threshold must be from {LEAST_SIMILAR} to 1; got {threshold}.")
        found = find_duplicates(self.observations, self.offsets, threshold)
        names = self.group_names
        columns = {
            "name": [names[document] for document in found.document],
            "first": found.first,
            "name_of_first": [names[document] for document in found.first],
            "similarity": found.similarity,
        }
        return DataFrame(columns, index=Index(found.document, name="document"))

    def to_matrix(self) -> csr_array:
        """Return the counts as a sparse matrix; the inverse of `from_matrix`.

        Returns
        -------
        scipy CSR array (n_documents, vocabulary_size)
            Integer counts.

        Examples
        --------
        >>> corpus.to_matrix().shape
        (24, 17)
        """
        from scipy.sparse import csr_array

        offsets, word, count = self.cells
        return csr_array(
            (count.astype(np.int64), word.copy(), offsets.astype(np.int64)),
            shape=(self.n_documents, self.vocabulary_size),
        )

    def __repr__(self) -> str:
        sizes = f"{counted(self.n_documents, 'document')}, {counted(self.n_tokens, 'token')}"
        text = f"{sizes}, vocabulary of {self.vocabulary_size:,}"
        if self.sentences is not None:
            text += f", {counted(self.n_sentences, 'sentence')}"
        empty = self.n_empty_documents
        if empty:
            text += f"; {empty} document{' is' if empty == 1 else 's are'} empty"
        if self.notes:
            text += f"; {counted(len(self.notes), 'note')} in .notes"
        return f"Corpus({text}{said_of(self.tree)})"


# --- checks -------------------------------------------------------------------------------------------------


def _check_words(words: Sequence[int] | np.ndarray, vocabulary_size: int) -> np.ndarray:
    ids = check_counts("words", words)
    if ids.ndim != 1:
        raise InputError(f"words must be a flat array of word ids; got {describe(ids)}.")
    if ids.size == 0:
        raise NoWords(
            "the corpus has no tokens: every document is empty. Check the documents, stop words, min_df, "
            "max_df and the vocabulary."
        )
    if ids.max() >= vocabulary_size:
        raise InputError(
            f"words must be ids from 0 to {vocabulary_size - 1}, the size of the vocabulary minus one; got "
            f"{ids.max()}."
        )
    return ids.astype(np.int32)


def _check_offsets(offsets: ArrayLike, n_tokens: int) -> np.ndarray:
    checked = check_counts("offsets", offsets)
    if checked.ndim != 1 or checked.size < 2:
        raise InputError("the corpus has no documents. Use at least one.")
    return check_rise("offsets", checked, n_tokens, "tokens")


def check_choice_of_documents(documents: ArrayLike, n_documents: int) -> np.ndarray:
    """Numbers of documents, given as such or by a flag for each; at least one."""
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
