"""Documents of words: a corpus, as flat arrays.

    corpus = Corpus.from_texts(["the cat sat", "the dog barked"])         raw text
    corpus = Corpus.from_tokens([["cat", "sat"], ["dog", "barked"]])      words, or word ids
    corpus = Corpus.from_sentences([[["cat", "sat"], ["cat", "slept"]]])  words, or word ids, in sentences
    corpus = Corpus.from_sentence_texts([["A cat sat.", "It slept."]])    raw text, cut into sentences already
    corpus = Corpus.from_matrix(counts, vocabulary)                       a document-term matrix
    corpus = franchise.read_corpus("speeches/")                           files (`franchise.data.readers`)

A token is one occurrence of a word.  Tokens are stored as word ids, document after document, so a document is
a slice `offsets[j]:offsets[j + 1]` of one int32 array.  The same word in the same document is one *cell* with
a count; moves that need not distinguish equal tokens work on `cells`, which are fewer than tokens.

A document without words keeps its place, so that rows of results match rows of input; it has no influence.

`sentences.Sentences` has the tokens of each sentence, if texts were cut into sentences.  A corpus made of texts
keeps their options (`text_options`), so that new texts are read in the same way, and reports what was removed
(`dropped`).
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from narwhals.dependencies import is_into_dataframe

from franchise.data.corpus_arrays import Cells, CorpusArrays, check_choice_of_documents
from franchise.data.dataframes import columns_of_frame, numbers_of_frame
from franchise.data.dropped import Dropped
from franchise.data.duplicates import SIMILAR
from franchise.data.grouped import offsets_of_sizes, take_slices
from franchise.data.join_metadata import join_metadata
from franchise.data.notes import DUPLICATES
from franchise.data.sentences import check_sentence_lists
from franchise.data.text import read_documents
from franchise.data.text_options import (
    GIVEN,
    TextOptions,
    TextSettings,
    Tokenizer,
    check_options,
    check_tokenizer,
    options_for_vocabulary,
)
from franchise.data.tokens import (
    check_documents,
    check_vocabulary,
    count_matrix,
    ids_of_lists,
    numbered,
    words_of_counts,
)
from franchise.errors import InputError
from franchise.validation import describe

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix

__all__ = ["Cells", "Corpus"]


class Corpus(CorpusArrays):
    r"""Documents of words over one vocabulary.

    Usually made by `from_texts`, `from_tokens`, `from_sentences` or `from_matrix`; this constructor takes the
    flat arrays.

    Parameters
    ----------
    words : ints (n_tokens,)
        Word id of each token, document after document.
    offsets : ints (n_documents + 1,)
        Document j is `words[offsets[j]:offsets[j + 1]]`.
    vocabulary : sequence of str
        The word of each id; no word twice.
    names : sequence, optional
        A name for each document [default: "0", "1", ...].
    metadata : mapping of names to sequences, or DataFrame, optional
        Facts about the documents, one entry per document: author, year, ...
    texts : sequence of str, optional
        The original text of each document.
    sentences : pair of ints (n_sentences + 1,) and (n_documents + 1,), or Sentences, optional
        Sentence s is `words[first[s]:first[s + 1]]` by the first of the pair, and document j has the sentences
        `second[j]:second[j + 1]` by the second.  A document begins with a sentence; sentences may be empty.
    text_options : TextOptions, optional
        How the words were made from texts.
    groups : DataFrame, sequence of labels, or names of metadata, optional
        The levels above the documents, from coarse to fine: a table with one row per document, such as
        ``frame[["party", "speaker"]]``, one label per document, or names of metadata, such as ``"speaker"`` or
        ``["party", "speaker"]``.  A missing value means that the document is at the node above.

    Attributes
    ----------
    observations, grouped_observations : int32 array (n_tokens,)
        The word ids; a corpus is grouped already, so both are the same array and `order` is None.
    group_names : list
        The names of the documents.
    vocabulary, metadata, texts
        As given: a list, a dict of lists, and a list or None.
    sentences : Sentences or None
        Which tokens are in which sentence, and where sentences are in the texts; None if not known.
    text_options : TextOptions or None
        How the texts were read; None for a corpus that was not made from texts.  Kept by subsets and on disk.
    dropped : Dropped or None
        What was left out when the texts were read: `print(corpus.dropped)`.  None where that is not known: for
        other corpora, and for parts of a corpus.
    notes : list of str
        What was guessed when the texts were read, and what in them may surprise: markup, encoded files, duplicates,
        another language than that of the stop words.  `print(*corpus.notes, sep="\n")`.

    The remaining attributes are described in `franchise.data.grouped.GroupedData`.

    Examples
    --------
    >>> animals = fr.Corpus.from_tokens([["cat", "sat", "cat"], [], ["dog"]])
    >>> animals
    Corpus(3 documents, 4 tokens, vocabulary of 3; 1 document is empty)
    >>> animals.vocabulary
    ['cat', 'dog', 'sat']
    >>> animals.cells.count
    array([2, 1, 1], dtype=int32)
    """

    @classmethod
    def from_matrix(
        cls,
        X: ArrayLike | sparray | spmatrix | IntoDataFrame,
        vocabulary: Sequence[str] | None = None,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
    ) -> Corpus:
        """Make a corpus from counts: one row per document, one column per word.

        Tokens come in row order, columns ascending, repeats of a word together; duplicate entries of a
        sparse matrix are summed.

        Parameters
        ----------
        X : scipy sparse or array-like (n_documents, vocabulary_size), or DataFrame
            Whole numbers, none negative.  A DataFrame, of pandas or polars, gives the vocabulary (columns) and,
            where it has one, the names (index).
        vocabulary : sequence of str, optional
            The word of each column [default: "0", "1", ...].
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.

        Returns
        -------
        Corpus
            One document per row.

        Raises
        ------
        InputError
            If an entry is no count, or names do not fit the rows or columns.

        Examples
        --------
        >>> fr.Corpus.from_matrix([[2, 0, 1], [0, 3, 0]], ["cat", "dog", "fish"])
        Corpus(2 documents, 6 tokens, vocabulary of 3)
        """
        if is_into_dataframe(X):
            columns = columns_of_frame("X", X)
            vocabulary = [str(column.name) for column in columns] if vocabulary is None else vocabulary
            if hasattr(X, "index"):
                names = [str(row) for row in X.index] if names is None else names
            X = numbers_of_frame("X", X)
        rows = count_matrix(X)
        words, offsets = words_of_counts(rows)
        known = check_vocabulary(numbered(rows.shape[1]) if vocabulary is None else vocabulary, rows.shape[1])
        return cls(words, offsets, known, names=names, metadata=metadata, groups=groups)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Any],
        vocabulary: Sequence[str] | None = None,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
    ) -> Corpus:
        """Make a corpus from documents that are lists of words, or of word ids; the order of tokens is kept.

        Parameters
        ----------
        documents : sequence of sequences of str, or of ints
            The tokens of each document.
        vocabulary : sequence of str, optional
            The word of each id [default: the distinct words, sorted; for ids "0" up to the largest].
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.

        Returns
        -------
        Corpus
            One document per list.

        Raises
        ------
        InputError
            If there are no tokens, words and ids are mixed, or a token is not in the vocabulary.

        Examples
        --------
        >>> fr.Corpus.from_tokens([["cat", "sat", "cat"], ["dog"]]).vocabulary
        ['cat', 'dog', 'sat']
        """
        lists = check_documents(documents)
        offsets = offsets_of_sizes(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
        ids, known = ids_of_lists(lists, offsets, vocabulary)
        return cls(ids, offsets, known, names=names, metadata=metadata, groups=groups)

    @classmethod
    def from_sentences(
        cls,
        documents: Iterable[Any],
        vocabulary: Sequence[str] | None = None,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
    ) -> Corpus:
        """Make a corpus from documents that are lists of sentences, each a list of words or of word ids.

        Documents without sentences and sentences without words keep their places.

        Parameters
        ----------
        documents : sequence of sequences of sequences of str, or of ints
            The tokens of each sentence of each document.
        vocabulary : sequence of str, optional
            The word of each id [default: the distinct words, sorted; for ids "0" up to the largest].
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.

        Returns
        -------
        Corpus
            One document per list, with sentences.

        Raises
        ------
        InputError
            If there are no tokens, words and ids are mixed, or a token is not in the vocabulary.

        Examples
        --------
        >>> fr.Corpus.from_sentences([[["cat", "sat"], ["dog", "ran"]], [["dog"]]]).n_sentences
        3
        """
        nested = check_sentence_lists(documents)
        lists = list(chain.from_iterable(nested))
        firsts = offsets_of_sizes(np.array([len(sentences) for sentences in nested], dtype=np.int64))
        bounds = offsets_of_sizes(np.array([len(tokens) for tokens in lists], dtype=np.int64))
        offsets = bounds[firsts]
        ids, known = ids_of_lists(lists, offsets, vocabulary)
        return cls(
            ids, offsets, known, names=names, metadata=metadata, groups=groups, sentences=(bounds, firsts)
        )

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        vocabulary: Sequence[str] | None = None,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
        keep_texts: bool = True,
        sentences: str | None = None,
        **settings: Unpack[TextSettings],
    ) -> Corpus:
        """Make a corpus from raw texts, cut into words by scikit-learn's CountVectorizer, in text order.

        Parameters
        ----------
        texts : sequence of str
            One text per document: a list, or a Series of pandas or polars.
        vocabulary : sequence of str, optional
            Keep only these words and ignore all others, `min_df` and `max_df` too.  To read new documents for a
            fitted model, `read_new_texts` is simpler [default: all words that the options keep].
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.
        keep_texts : bool, default True
            Whether to keep the texts beside the tokens, for reports.
        sentences : "english", "simple" or None, default None
            How to cut the texts into sentences: by nupunkt, which recognises abbreviations (`pip install
            "franchise[text]"`); at every `.`, `?`, `!` and `:`, except in "e.g." and "i.e."; or not at all.
            A word belongs to the sentence in which it begins.  A sentence all of whose words are removed
            stays, without tokens.
        **settings : TextSettings
            How texts become words:

            - `lowercase` (bool, default True): whether to ignore case.
            - `stop_words` (str, words or None, default "english"): words to remove: those of a language, by
              name or ISO code, your own, or none.  "english" has scikit-learn's list; other languages, such
              as "german" or "de", have those of stopwordsiso (`pip install "franchise[text]"`).
            - `min_df`, `max_df` (int or float, default "auto" and 1.0): remove words that occur in fewer, or
              in more, documents than this: a number of documents (int) or a proportion of them (float).
              "auto" is 1 below 100 documents, 2 below 1,000, 3 below 10,000, 5 below 100,000, and 10.
            - `token_pattern` (str): regular expression of a word [default: a letter followed by letters or
              digits; "don't" is one word, and "we've" and "cat's" are "we" and "cat"].
            - `ngrams` (two ints, default (1, 1)): shortest and longest sequence of words to count as one
              word.  (1, 2) counts words and pairs of words, which are made after stop words are removed, and
              within a sentence where there are sentences.
            - `stem` (str or None, default None): count words with the same stem as one, by the Snowball
              stemmer of a language, such as "english" (`pip install "franchise[text]"`).  Stop words are
              removed first; frequencies are those of stems; the vocabulary shows the most frequent word of
              each stem.
            - `lemma` (str or None, default None): the same by lemmas (dictionary forms), which the vocabulary
              shows: "went" counts as "go".  A language of simplemma, such as "english" (`pip install
              "franchise[lemma]"`).
            - `phrases` (bool, int or (int, float), default False): whether to join two words that follow one
              another far more often than by chance, as in "new_york"; or the smallest count; or the smallest
              count and the smallest NPMI (normalised pointwise mutual information, 1 for words that occur only
              together).  True is (10, 0.5).  Applied after stop words and stems.
            - `strip` (str or list of str, default none): parts of texts to ignore: "html", "latex" and
              "markdown" (markup), "uuencode" and "base64" (encoded files), or "all".  `notes` reports where
              there are some.
            - `tokenizer` (callable, default None): split texts into words by this function, from a text to its
              words, instead of `token_pattern`, for example ``jieba.lcut``.  It gets the text unchanged, or
              each sentence.  Words without letters and digits are ignored.  It is not stored on disk: pass it
              again to `read_new_texts`.

        Returns
        -------
        Corpus
            One document per text. ``dropped`` reports what was removed, and ``notes`` what was guessed.

        Raises
        ------
        InputError
            If no words are left, an option is out of range, or a package that it needs is not installed.

        Examples
        --------
        >>> texts = ["The cats sat.", "A cat sits; the dog barks."]
        >>> animals = fr.Corpus.from_texts(texts, stem="english", min_df=2)
        >>> animals.vocabulary
        ['cat']
        >>> print(animals.dropped)
        Removed: 1 stop word (2 tokens); 4 words below min_df (4 tokens).
        """
        options = check_options(settings, sentences)
        return cls._read(
            texts, options, vocabulary, keep_texts, names=names, metadata=metadata, groups=groups
        )

    @classmethod
    def from_sentence_texts(
        cls,
        documents: Iterable[Iterable[str]],
        *,
        vocabulary: Sequence[str] | None = None,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
        keep_texts: bool = True,
        **settings: Unpack[TextSettings],
    ) -> Corpus:
        """Make a corpus from raw texts that are cut into sentences already; the way for other languages.

        The text of a document is its sentences, joined by a space.

        Parameters
        ----------
        documents : sequence of sequences of str
            The sentences of each document; documents without sentences and sentences without words keep their
            places.
        vocabulary : sequence of str, optional
            Keep only these words and ignore all others [default: all words that the options keep].
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.
        keep_texts : bool, default True
            Whether to keep the texts beside the tokens, for reports.
        **settings : TextSettings
            How texts become words: all other options of `from_texts`, such as `stop_words`.

        Returns
        -------
        Corpus
            One document per list of sentences.

        Raises
        ------
        InputError
            If no words are left, an option is out of range, or a package that it needs is not installed.

        Examples
        --------
        >>> fr.Corpus.from_sentence_texts([["Cats sit.", "Dogs bark."], ["Cats purr."]]).n_sentences
        3
        """
        options = check_options(settings, GIVEN)
        return cls._read(
            documents, options, vocabulary, keep_texts, names=names, metadata=metadata, groups=groups
        )

    def read_new_texts(
        self,
        texts: Iterable[Any],
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        groups: object = None,
        keep_texts: bool = True,
        sentences: str | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> Corpus:
        """Read new texts with the options and the vocabulary of this corpus; other words are removed.

        A corpus that was not made from texts does not store how its words were read.  Then any word of the
        vocabulary counts, in lower case if the vocabulary is.

        Parameters
        ----------
        texts : sequence of str, or of sequences of str
            One text per document, or the sentences of each document if this corpus was made of such.
        names : sequence, optional
            A name for each document [default: "0", "1", ...].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about the documents, one entry per document: author, year, ...
        groups : DataFrame, sequence of labels, or names of metadata, optional
            The levels above the documents, from coarse to fine, as in `Corpus`.
        keep_texts : bool, default True
            Whether to keep the texts beside the tokens, for reports.
        sentences : "english", "simple" or None, default None
            How to cut the texts into sentences [default: as this corpus was].
        tokenizer : callable, optional
            The tokenizer of this corpus; needed if it has one and was loaded from disk.

        Returns
        -------
        Corpus
            The new documents over the vocabulary of this corpus.

        Raises
        ------
        InputError
            If no text has a word of the vocabulary.

        Examples
        --------
        >>> corpus.read_new_texts(["Ships of the sea.", "More bread!"])
        Corpus(2 documents, 3 tokens, vocabulary of 17, 2 sentences)
        """
        options = self.text_options or options_for_vocabulary(self.vocabulary)
        if sentences is not None:
            options = options._replace(sentences=sentences)
        if tokenizer is not None:
            options = options._replace(tokenizer=check_tokenizer(tokenizer))
        return self._read(
            texts, options, self.vocabulary, keep_texts, names=names, metadata=metadata, groups=groups
        )

    @classmethod
    def _read(
        cls,
        documents: Iterable[Any],
        options: TextOptions,
        vocabulary: Sequence[str] | None,
        keep_texts: bool,
        **facts: Any,
    ) -> Corpus:
        """The corpus of some texts; `facts` are their names, metadata and levels above."""
        texts, reading, options, notes = read_documents(documents, options, vocabulary)
        facts |= {
            "texts": texts if keep_texts else None,
            "sentences": reading.sentences,
            "text_options": options,
        }
        corpus = cls(reading.words, reading.offsets, reading.vocabulary, **facts)
        corpus.dropped, corpus.notes = reading.dropped, notes
        return corpus

    def subset(self, documents: ArrayLike) -> Corpus:
        """Return the corpus of some documents, over the same vocabulary, with their names, metadata and texts.

        Parameters
        ----------
        documents : ints, or bools (n_documents,)
            Which documents, in the order wanted; or a flag for each document.

        Returns
        -------
        Corpus
            These documents.

        Raises
        ------
        InputError
            If there is no such document, or none is chosen.

        Examples
        --------
        >>> corpus.subset([2, 0]).group_names
        ['2', '0']
        """
        chosen = check_choice_of_documents(documents, self.n_documents)
        offsets, positions = take_slices(self.offsets, chosen)
        return Corpus(
            self.observations[positions],
            offsets,
            self.vocabulary,
            names=[self.group_names[document] for document in chosen],
            metadata={
                name: [values[document] for document in chosen] for name, values in self.metadata.items()
            },
            texts=None if self.texts is None else [self.texts[document] for document in chosen],
            sentences=None if self.sentences is None else self.sentences.of_documents(chosen),
            text_options=self.text_options,
            groups=None if self.tree is None else self.tree.of_groups(chosen),
        )

    def drop_duplicates(self, threshold: float = SIMILAR) -> Corpus:
        """Return the corpus without the documents that `duplicates` lists; the first of each kind stays.

        Parameters
        ----------
        threshold : float, default 0.8
            The smallest similarity, as for `duplicates`.

        Returns
        -------
        Corpus
            The remaining documents; ``dropped.duplicates`` is the number of those removed.

        Raises
        ------
        InputError
            If the threshold is out of range.

        Examples
        --------
        >>> unique = fr.Corpus.from_texts(["A cat sat.", "The dog barked.", "Cat, sat!"]).drop_duplicates()
        >>> unique.group_names, unique.dropped.duplicates
        (['0', '1'], 1)
        """
        found = self.duplicates(threshold).index.to_numpy()
        corpus = self.subset(np.setdiff1d(np.arange(self.n_documents), found))
        corpus.dropped = replace(self.dropped or Dropped(), duplicates=len(found))
        corpus.notes = [note for note in self.notes if DUPLICATES not in note]
        return corpus

    def with_metadata(self, table: IntoDataFrame | os.PathLike[str] | str, name: str | None = None) -> Corpus:
        """Return the corpus with metadata from a table that has one row per document, matched by name.

        Names may be with or without the ending of a file, such as ".txt". What does not match is reported in
        `notes`: documents without a row have missing values. Rows of other documents are ignored, and so are
        columns "name", "tokens" and "sentences", which a corpus has itself.

        Parameters
        ----------
        table : DataFrame, or path of a CSV or TSV file
            The metadata. Columns that the corpus already has are replaced.
        name : str, optional
            The column with the names of the documents [default: the one that has most of them].

        Returns
        -------
        Corpus
            The same documents with these metadata. This corpus does not change.

        Raises
        ------
        InputError
            If no row is of a document, two are of the same, or the table cannot be read.

        Examples
        --------
        >>> import pandas as pd
        >>> texts = fr.Corpus.from_texts(["A cat sat.", "The dog barked."], names=["a.txt", "b.txt"])
        >>> table = pd.DataFrame({"file": ["b", "a"], "year": [2001, 2002]})
        >>> texts.with_metadata(table).metadata
        {'year': [2002, 2001]}
        """
        columns, notes = join_metadata(self.group_names, table, name, self._reserved_metadata)
        corpus = copy.copy(self)
        corpus.metadata = corpus._check_metadata({**self.metadata, **columns})
        corpus.notes = [*self.notes, *notes]
        return corpus

    def select_tokens(self, keep: np.ndarray) -> Corpus:
        """Return the corpus of all documents and sentences with only some of the tokens.

        It has no texts, and no places of its sentences in them.

        Parameters
        ----------
        keep : bool array (n_tokens,)
            Whether to keep each token.

        Returns
        -------
        Corpus
            The same documents, some of them shorter.

        Raises
        ------
        InputError
            If `keep` is not one bool per token.

        Examples
        --------
        >>> corpus.select_tokens(np.arange(corpus.n_tokens) < 12).group_sizes[:2]
        array([12,  0])
        """
        flags = self._check_last_axis(keep)
        if flags.dtype != bool or flags.ndim != 1:
            raise InputError(f"keep must be one bool per token; got {describe(flags)}.")
        return Corpus(
            self.observations[flags],
            offsets_of_sizes(flags)[self.offsets],
            self.vocabulary,
            names=self.group_names,
            metadata=self.metadata,
            sentences=None if self.sentences is None else self.sentences.of_tokens(flags),
            text_options=self.text_options,
            groups=self.tree,
        )
