"""More documents for a corpus, and more observations for groups, with what is known of the old ones kept in place.

    extended = extend_texts(corpus, texts)          raw texts, read as those of the corpus
    extended = extend_corpus(corpus, new_corpus)    a corpus, which may have words of its own
    extended = extend_groups(groups, new_groups)    groups with the same label are one

Old documents come first.  Old words keep their numbers and new ones follow, so topics stay comparable.

Texts are read as if old and new ones had come together, but no old word is lost: a word is new if it satisfies
`min_df` and `max_df` among all documents.  It then counts in old documents, too, if these have their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.group_tree import joined_tree
from franchise.data.grouped import GroupedData, counted, is_sparse
from franchise.data.groups import Groups
from franchise.data.sentences import Sentences
from franchise.data.text_options import GIVEN, TextOptions, Tokenizer, check_tokenizer, form_of
from franchise.data.tokens import numbered, unique_names
from franchise.errors import InputError, NoWords
from franchise.validation import describe

NEW = -1
"""The source of an observation that is new."""


class Extended(NamedTuple):
    """Old and new data together."""

    data: GroupedData
    source: np.ndarray
    """int64 (N,): for every observation in grouped order the old one that it is, in grouped order, or NEW"""
    n_groups: int
    """number of old groups, which come first"""


def extend_texts(
    old: Corpus,
    texts: Iterable[Any],
    *,
    names: Iterable[Any] | None = None,
    metadata: Mapping[str, Iterable[Any]] | None = None,
    tokenizer: Tokenizer | None = None,
    new_words: bool = True,
) -> Extended:
    """Return a corpus with more texts, read with its options; `new_words` is whether words may be new."""
    if old.tree is not None:
        raise InputError(
            f"data must have the levels {', '.join(old.tree.levels)}, like the training data; got texts. Use "
            "corpus.read_new_texts(texts, groups=...)."
        )
    options = old.text_options
    if not new_words or options is None or isinstance(texts, str) or not isinstance(texts, Iterable):
        new = old.read_new_texts(texts, names=names, metadata=metadata, tokenizer=tokenizer)
        return extend_corpus(old, new)
    texts = list(texts)
    if tokenizer is not None:
        options = options._replace(tokenizer=check_tokenizer(tokenizer))
    if old.texts is not None and options.sentences != GIVEN and texts:
        together = _read_together(old, texts, options, _Facts.together(old, names, metadata, len(texts)))
        if together is not None:
            return together
    vocabulary = old.vocabulary + _new_words(old.vocabulary, texts, options)
    new = Corpus._read(texts, options, vocabulary, True, names=names, metadata=metadata)
    return extend_corpus(old, new)


def extend_corpus(old: Corpus, new: object, new_words: bool = True) -> Extended:
    """Return two corpora as one; words that the old one does not have are added, or removed from the new one.

    New documents without names are numbered on.
    """
    if not isinstance(new, Corpus):
        raise InputError(f"data must be texts or a Corpus, like the training data; got {describe(new)}.")
    if new.sentences is None and old.sentences is not None:
        raise InputError(
            "data must have sentences, like the training corpus. Create it with corpus.read_new_texts(texts)."
        )
    number = {word: place for place, word in enumerate(old.vocabulary)}
    added = [word for word in new.vocabulary if word not in number] if new_words else []
    number |= {word: place for place, word in enumerate(added, len(number))}
    numbers = np.array([number.get(word, NEW) for word in new.vocabulary], np.int32)[new.observations]
    if not new_words and (numbers == NEW).any():
        new, numbers = new.select_tokens(numbers != NEW), numbers[numbers != NEW]
    names = None if new.group_names == numbered(new.n_documents) else new.group_names
    facts = _Facts.together(old, names, new.metadata, new.n_documents)
    above = [] if new.tree is None else [path[:-1] for path in new.tree.paths()]
    own = unique_names([str(name) for name in facts.names])[old.n_documents :]
    paths = [(*path, name) for path, name in zip(above, own, strict=False)]
    both = Corpus(
        np.concatenate([old.observations, numbers]),
        np.concatenate([old.offsets, old.offsets[-1] + new.offsets[1:]]),
        old.vocabulary + added,
        names=facts.names,
        metadata=facts.metadata,
        texts=None if old.texts is None or new.texts is None else [*old.texts, *new.texts],
        sentences=None if old.sentences is None or new.sentences is None else _joined(old, new),
        text_options=old.text_options,
        groups=joined_tree(old.tree, new.tree, paths),
    )
    both.notes = facts.notes
    source = np.concatenate([np.arange(old.n_tokens), np.full(new.n_tokens, NEW)])
    return Extended(both, source, old.n_documents)


def extend_groups(old: Groups, new: object) -> Extended:
    """Return the observations of both; a group in both has those of both, and its metadata in the old one."""
    if not isinstance(new, Groups):
        raise InputError(f"data must be Groups, like the training data; got {describe(new)}.")
    ours, theirs = old.observations, new.observations
    if ours.shape[1:] != theirs.shape[1:] or is_sparse(ours) != is_sparse(theirs):
        raise InputError(
            f"data must have observations of shape {ours.shape[1:]}, like the training data; got "
            f"{theirs.shape[1:]}. Use the same columns."
        )
    if None not in (old.columns, new.columns) and old.columns != new.columns:
        raise InputError(
            f"data must have the columns of the training data, {old.columns}; got {new.columns}. Select them in "
            "this order."
        )
    if is_sparse(ours):
        from scipy.sparse import vstack

        rows: Any = vstack([ours, theirs], format="csr")
    else:
        rows = np.concatenate([ours, theirs])
    labels = [each.group_names[group] for each in (old, new) for group in each.group_of_observation.tolist()]
    known = set(old.group_names)
    fresh = [place for place, name in enumerate(new.group_names) if name not in known]
    own = {name: [values[place] for place in fresh] for name, values in new.metadata.items()}
    metadata = _joined_metadata(old.metadata, old.n_groups, own, len(fresh))
    data = Groups(rows, labels, metadata=metadata, columns=old.columns)
    places = old.to_input_order(np.arange(old.n_observations))
    paths = [] if new.tree is None else new.tree.paths()
    data.tree = joined_tree(old.tree, new.tree, [paths[place] for place in fresh if paths])
    source = data.to_grouped_order(np.concatenate([places, np.full(new.n_observations, NEW)]))
    return Extended(data, source, old.n_groups)


# --- names and metadata ---------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    """Names and metadata of old and new documents."""

    names: list[Any]
    metadata: dict[str, list[Any]]
    notes: list[str]

    @classmethod
    def together(
        cls,
        old: Corpus,
        names: Iterable[Any] | None,
        metadata: Mapping[str, Iterable[Any]] | None,
        count: int,
    ) -> _Facts:
        """Return those of old and `count` new documents; new ones without names are numbered on."""
        offsets = np.minimum(np.arange(count + 1), 1)
        new = Corpus([0], offsets, ["word"], names=names, metadata=metadata)  # it checks names and metadata
        own = new.group_names if names is not None else numbered(old.n_documents + count)[old.n_documents :]
        every, notes = [*old.group_names, *own], list[str]()
        if all(isinstance(name, str) for name in every):
            unique = [*old.group_names, *unique_names(every)[old.n_documents :]]
            changed = sum(one != other for one, other in zip(every, unique, strict=True))
            if changed:
                notes = [f"{counted(changed, 'new document')} got a number, as the names were taken."]
            every = unique
        return cls(every, _joined_metadata(old.metadata, old.n_documents, new.metadata, count), notes)


def _joined_metadata(
    old: dict[str, list[Any]], old_count: int, new: dict[str, list[Any]], new_count: int
) -> dict[str, list[Any]]:
    """Return the columns of both; None where one of them has none."""
    return {
        name: [*old.get(name, [None] * old_count), *new.get(name, [None] * new_count)]
        for name in dict.fromkeys([*old, *new])
    }


# --- words and sentences --------------------------------------------------------------------------------------


def _read_together(old: Corpus, texts: list[Any], options: TextOptions, facts: _Facts) -> Extended | None:
    """Return the corpus of old and new texts; None if old texts are cut into other sentences than before."""
    assert old.texts is not None
    documents = [*old.texts, *texts]
    vocabulary = old.vocabulary + _new_words(old.vocabulary, documents, options)
    known = {"names": facts.names, "metadata": facts.metadata}
    both = Corpus._read(documents, options, vocabulary, True, **known)
    both.notes = facts.notes
    if old.sentences is not None and both.sentences is not None:
        before, after = old.sentences.documents, both.sentences.documents
        if not np.array_equal(before, after[: len(before)]):
            return None
    return Extended(both, _source_of(old, both), old.n_documents)


def _new_words(vocabulary: list[str], documents: list[Any], options: TextOptions) -> list[str]:
    """Return the words that documents add to a vocabulary; no two have the same stem or lemma."""
    try:
        read = Corpus._read(documents, options, None, False)
    except NoWords:
        return []
    key = form_of(options).key
    known = {*vocabulary, *map(key, vocabulary)}
    return [word for word in read.vocabulary if word not in known and key(word) not in known]


def _source_of(old: Corpus, both: Corpus) -> np.ndarray:
    """Return the old token that each token is, or NEW: the n-th use of a word in a document is the same in both."""
    size, end = both.vocabulary_size, int(both.offsets[old.n_documents])
    uses = [_numbered_uses(old, old.n_tokens, size), _numbered_uses(both, end, size)]
    most = 1 + max(int(number.max(initial=0)) for _, number in uses)
    before, after = (keys * most + number for keys, number in uses)
    _, ours, theirs = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    source = np.full(both.n_tokens, NEW)
    source[theirs] = ours
    return source


def _numbered_uses(corpus: Corpus, end: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the document and word of each of the first tokens as a key, and how many of the same come before."""
    keys = corpus.group_of_observation[:end].astype(np.int64) * size + corpus.observations[:end]
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    number = np.empty(end, np.int64)
    number[order] = np.arange(end) - np.repeat(first, np.diff(first, append=end))
    return keys, number


def _joined(old: Corpus, new: Corpus) -> Sentences:
    """Return the sentences of both."""
    ours, theirs = old.sentences, new.sentences
    assert ours is not None
    assert theirs is not None
    spans = None if ours.spans is None or theirs.spans is None else np.concatenate([ours.spans, theirs.spans])
    return Sentences(
        np.concatenate([ours.offsets, ours.offsets[-1] + theirs.offsets[1:]]),
        np.concatenate([ours.documents, ours.documents[-1] + theirs.documents[1:]]),
        spans,
    )
