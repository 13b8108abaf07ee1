"""Lists of words, or of word ids, as one flat array of ids and a vocabulary.

Document-term matrices: checked counts, and the tokens they stand for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.grouped import check_sparse_values, is_sparse, offsets_of_sizes
from franchise.errors import InputError
from franchise.validation import describe, missing_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 2**31 - 1  # word ids, cell counts and document numbers are int32


def check_vocabulary(vocabulary: object, expected: int | None = None) -> list[str]:
    """The words of a vocabulary as a list, no word twice; `expected` is how many there must be."""
    if isinstance(vocabulary, (str, Mapping)) or not isinstance(vocabulary, Iterable):
        raise InputError(
            f"vocabulary must be a sequence of words in the order of their ids; got {describe(vocabulary)}. "
            "From a CountVectorizer pass get_feature_names_out()."
        )
    words = [str(word) for word in vocabulary]
    if expected is not None and len(words) != expected:
        raise InputError(
            f"vocabulary must have one word per column of X ({expected}); got {len(words)} words."
        )
    if len(set(words)) < len(words):
        repeated = next(word for word, times in Counter(words).items() if times > 1)
        raise InputError(f"vocabulary must not contain a word twice; got {repeated!r} more than once.")
    return words


def check_documents(documents: object) -> list[Any]:
    """Documents as a list of lists, or arrays, of tokens."""
    if not isinstance(documents, Iterable):
        raise InputError(f"documents must be a list of documents; got {describe(documents)}.")
    checked = []
    for position, document in enumerate(documents):
        if isinstance(document, str):
            raise InputError(
                f"documents must be lists of words; got the text {describe(document)} at position {position}. "
                "Use Corpus.from_texts for texts."
            )
        try:
            checked.append(document if hasattr(document, "__len__") else list(document))
        except TypeError as error:
            raise InputError(
                f"documents must be lists of words; got {describe(document)} at position {position}."
            ) from error
    return checked


def ids_of_lists(
    lists: list[Any], offsets: np.ndarray, vocabulary: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """Return the word ids of concatenated lists of tokens, and the vocabulary.

    `offsets` of the documents serve to name the document in errors.

    """
    known = None if vocabulary is None else check_vocabulary(vocabulary)
    if all(isinstance(tokens, np.ndarray) and tokens.dtype.kind in "iu" for tokens in lists) and lists:
        return _ids_of_numbers(np.concatenate(lists), offsets, known)
    return _ids_of_tokens(list(chain.from_iterable(lists)), offsets, known)


def numbered(size: int) -> list[str]:
    """Return the names "0", "1", ..."""
    return [str(number) for number in range(size)]


def unique_names(names: list[str]) -> list[str]:
    """Add a number to repeated names, as in "a (2)", and name the missing ones "document 3"."""
    taken, seen, uses = set(names), set[str](), Counter(set(names))
    unique = []
    for place, name in enumerate(names):
        own = base = name or f"document {place}"
        while (not name or name in seen) and own in taken:
            uses[base] += 1
            own = f"{base} ({uses[base]})"
        seen.add(name)
        taken.add(own)
        unique.append(own)
    return unique


def _ids_of_tokens(
    tokens: list[Any], offsets: np.ndarray, vocabulary: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    """Word ids and vocabulary of tokens that are all words or all ids."""
    types = set(map(type, tokens))
    if all(issubclass(kind, str) for kind in types):
        return _ids_of_words(tokens, offsets, vocabulary)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in types):
        return _ids_of_numbers(np.array(tokens, dtype=np.int64), offsets, vocabulary)
    wanted = str if isinstance(tokens[0], str) else (int, np.integer)
    odd = next(
        at for at, token in enumerate(tokens) if not isinstance(token, wanted) or isinstance(token, bool)
    )
    raise InputError(
        f"documents must contain only words or only word ids; got {describe(tokens[odd])} "
        f"in document {_document_at(offsets, odd)}."
    )


def _ids_of_words(
    words: list[str], offsets: np.ndarray, vocabulary: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    if vocabulary is None:
        vocabulary = [str(word) for word in sorted(set(words))]
    id_of_word = {word: number for number, word in enumerate(vocabulary)}
    try:
        ids = np.fromiter(map(id_of_word.__getitem__, words), dtype=np.int32, count=len(words))
    except KeyError as error:
        at = next(at for at, word in enumerate(words) if word not in id_of_word)
        raise InputError(
            f"documents must contain only words of the vocabulary; got {words[at]!r} "
            f"in document {_document_at(offsets, at)}. Drop such words first, or extend the vocabulary."
        ) from error
    return ids, vocabulary


def _ids_of_numbers(
    ids: np.ndarray, offsets: np.ndarray, vocabulary: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    largest = MOST - 1 if vocabulary is None else len(vocabulary) - 1
    outside = (ids < 0) | (ids > largest)
    if outside.any():
        at = int(np.argmax(outside))
        raise InputError(
            f"documents must contain word ids from 0 to {largest}; got {ids[at]} "
            f"in document {_document_at(offsets, at)}."
        )
    return ids, numbered(int(ids.max(initial=0)) + 1) if vocabulary is None else vocabulary


def _document_at(offsets: np.ndarray, token: int) -> int:
    return int(np.searchsorted(offsets, token, side="right")) - 1


def count_matrix(X: Any) -> csr_array:
    """Counts as a CSR array with int64 data, rows sorted by column and duplicates summed."""
    from scipy.sparse import csr_array

    if np.ma.is_masked(X):
        raise missing_numbers("X", np.ma.getmaskarray(X))
    table = X if is_sparse(X) else np.asarray(X)
    if table.dtype.kind not in "biuf":
        raise InputError(f"X must contain counts; got values of type {table.dtype}.")
    if len(table.shape) != 2:
        raise InputError(f"X must have shape (documents, words); got shape {table.shape}.")
    if 0 in table.shape:
        raise InputError(f"X must have at least one document and one word; got shape {table.shape}.")
    rows = csr_array(table)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.data.dtype.kind in "iuf":
        good = (rows.data >= 0) & (rows.data <= MOST) & (rows.data == np.floor(rows.data))
        check_sparse_values("X", rows, good, f"counts, whole numbers from 0 to {MOST}")
    return csr_array((rows.data.astype(np.int64), rows.indices, rows.indptr), shape=rows.shape)


def words_of_counts(rows: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The word id of each token, row after row with columns ascending, and the offsets of the rows."""
    tokens_before = offsets_of_sizes(rows.data)  # tokens before each stored entry, in all at the end
    n_tokens = int(tokens_before[-1])
    if n_tokens > MOST:
        raise InputError(
            f"X must contain at most {MOST} tokens in total; its counts sum to {n_tokens}. Scale the counts "
            "down, or use fewer documents."
        )
    return np.repeat(rows.indices, rows.data), tokens_before[rows.indptr]
