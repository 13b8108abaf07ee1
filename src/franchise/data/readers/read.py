"""`read_corpus` and `read_groups`: from a path to data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from franchise.data.corpus import Corpus
from franchise.data.dropped import Dropped
from franchise.data.groups import Groups
from franchise.data.readers.columns import groups_of_table, levels_of, listed, shown, texts_of_table
from franchise.data.readers.count_matrix import corpus_of_counts, over_vocabulary
from franchise.data.readers.count_table import corpus_of_count_table, read_count_table
from franchise.data.readers.formats import (
    COUNT_TABLE,
    COUNTS,
    OF_FILES,
    TABLES,
    TEXTS,
    choose_format,
    choose_text_format,
)
from franchise.data.readers.plain_text import Texts
from franchise.data.readers.source import FileError, Source, open_source
from franchise.data.readers.vocabulary import GivenWords, words_given
from franchise.data.text_options import TextSettings, check_options
from franchise.errors import InputError
from franchise.validation import describe

_FOR_TEXTS = (
    "{argument}={value!r} is for texts, but the format is '{chosen}', which contains counts of words. Remove "
    "{argument}."
)
_FOR_COUNT_TABLES = "{argument}={value!r} is for format 'counts'. Remove {argument}, or set format='counts'."


def read_corpus(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text: str | None = None,
    name: str | None = None,
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
    like: Corpus | None = None,
    keep_texts: bool = True,
    sentences: str | None = None,
    groups: str | Sequence[str] | None = None,
    transposed: bool | None = None,
    **settings: Unpack[TextSettings],
) -> Corpus:
    r"""Read documents from a file or a folder.

    The format follows from the name of the file, or else from its first bytes:

        "folder"    a folder with one .txt file per document, also in folders of it
        "file"      .txt: one document; only with `format`, or with `like` if its documents were files
        "lines"     .txt: one document per line
        "csv"       .csv: a table with a column of texts; columns may be separated by `;`, `|` or tabs instead
        "tsv"       .tsv: the same, separated by tabs
        "jsonl"     .jsonl: one JSON object per line, with a text in it
        "parquet"   .parquet: a table (`pip install "franchise[io]"`)
        "mallet"    .mallet: name, label and text per line
        "docword"   docword*.txt: counts as in the UCI collection
        "ldac"      .ldac: counts of LDA-C, `n word:count word:count ...`
        "mtx"       .mtx: counts as a MatrixMarket file, documents by words
        "npz"       .npz: counts as a sparse matrix of scipy, documents by words
        "counts"    a table of counts with names in the first row and column, such as mutations by channel and
                    sample in the .all files of SigProfilerMatrixGenerator; detected by channels of mutations

    All but "parquet" and "npz" may be compressed: `speeches.csv.gz`, .bz2 or .xz.

    `print(corpus.dropped)` reports everything that was removed, and `corpus.notes` what was guessed.  A row
    without text, or an empty line, is an empty document, so that documents are numbered as rows are.  An
    `InputError` names the file and line that cannot be read.

    Parameters
    ----------
    path : str or path
        The file or folder.
    format : str, optional
        One of the names above [default: detected].
    text : str, optional
        The column that has the texts, for tables [default: the only column, or the one with a usual name
        ("text", "body", "abstract", "content", "document" or "message")].  All other columns become metadata;
        where one is called "name", "tokens" or "sentences" an underscore is added.
    name : str, optional
        The column that has the names of the documents, for tables; repeated names get a number, as in "a (2)"
        [default: the column "name", "id" or "title" if no two of its entries are the same; else documents are
        numbered].
    vocabulary : path or sequence of str, optional
        For counts: the words, or a file with one word per line [default: a file in the same folder named like
        `vocab.kos.txt`, for `docword.kos.txt`, or `vocab.txt`; else words are numbers].  For texts: the only
        words to keep.
    encoding : str, default "utf-8"
        The encoding of the text; "latin-1", "cp1252" and "utf-16" are others.
    max_bytes : int, optional
        The most that is read, in bytes after uncompressing, so that a small file cannot fill the memory
        [default: a quarter of the free memory, as a corpus takes up to four times the space of its texts].
    like : Corpus, optional
        Read new documents for a model of this corpus: texts in the way in which its own were read, and all
        over its vocabulary; other words are removed.  A .txt file is one document if those of this corpus were
        files.
    keep_texts : bool, default True
        Whether to keep the texts beside the tokens, for reports.
    sentences : "english", "simple" or None, default None
        How to cut texts into sentences, as in `Corpus.from_texts`; not for counts, and not with `like`.
    groups : str or sequence of str, optional
        The columns with the levels above the documents, for tables: "party/speaker", or a list from coarse to fine
        [default: none; with `like`, its levels].
    transposed : bool, optional
        For format "counts": whether columns are documents and rows are words [default: True if the names of rows
        are channels of mutations, else False; ``corpus.notes`` reports it].
    **settings : TextSettings
        How texts become words: all other options of `Corpus.from_texts`, such as `stop_words`, `min_df` or
        `stem`; not for counts, and with `like` only `tokenizer`.

    Returns
    -------
    Corpus
        The documents.

    Raises
    ------
    InputError
        If the file cannot be read, or an option does not fit its format.

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("papers.csv").write_text("title,abstract,year\nOne,Ships sail.,1990\nTwo,Bakers bake.,1991\n")
    >>> papers = fr.read_corpus("papers.csv", text="abstract")
    >>> papers.group_names, papers.metadata["year"]
    (['One', 'Two'], [1990, 1991])
    """
    if like is not None:
        _check_like(like, {**settings, "sentences": sentences})
    check_options(settings, sentences)
    source = open_source(path, encoding, max_bytes)
    chosen, notes = choose_text_format(source, format, None if like is None else like.text_options)
    with _file_named(source):
        if chosen != COUNT_TABLE:
            _refuse(_FOR_COUNT_TABLES, transposed=transposed)
        if chosen in COUNTS or chosen == COUNT_TABLE:
            message = _FOR_TEXTS.replace("{chosen}", chosen)
            _refuse(message, text=text, name=name, sentences=sentences, groups=groups, **settings)
            return _counts(source, chosen, vocabulary, transposed, like)
        found = _texts_in(source, chosen, text=text, name=name, groups=groups)
        known: dict[str, Any] = {"names": found.names, "metadata": found.metadata, "keep_texts": keep_texts}
        known["groups"] = _levels_above(groups, found.metadata, like)
        if like is not None:
            corpus = like.read_new_texts(found.texts, tokenizer=settings.get("tokenizer"), **known)
        else:
            words = words_given(source, vocabulary)
            corpus = Corpus.from_texts(
                found.texts, vocabulary=words, sentences=sentences, **known, **settings
            )
    corpus.dropped = replace(corpus.dropped or Dropped(), missing_texts=found.missing, files=found.not_read)
    corpus.notes = [*notes, *found.notes, *corpus.notes]
    if chosen in OF_FILES and corpus.text_options is not None:
        corpus.text_options = corpus.text_options._replace(files=True)
    return corpus


def _counts(
    source: Source, chosen: str, vocabulary: GivenWords, transposed: bool | None, like: Corpus | None
) -> Corpus:
    """Return a corpus of counts, over the vocabulary of another one if given."""
    if chosen == COUNT_TABLE:
        _refuse("{argument} is not for tables, which name their words. Remove it.", vocabulary=vocabulary)
        return corpus_of_count_table(read_count_table(source), transposed, like)
    corpus = corpus_of_counts(COUNTS[chosen](source), vocabulary)
    return corpus if like is None else over_vocabulary(corpus, like.vocabulary)


def read_groups(
    path: str | os.PathLike[str],
    *,
    group: str | Sequence[str],
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> Groups:
    r"""Read observations in groups from a table with one row per observation.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, JSON Lines or Parquet file; all but Parquet may be compressed (.gz, .bz2, .xz).
    group : str or sequence of str
        The column that has the group of each observation; of several columns, groups are all combinations
        present.  "cohort/patient/sample" names the columns of a tree, from coarse to fine: see `Groups`.
    columns : str or sequence of str, optional
        The columns of numbers that make up an observation, in this order [default: all but `group`].  A single
        one gives observations of shape (N,), several (N, D).  Numbers must be there in every row, and finite.
    format : "csv", "tsv", "jsonl" or "parquet", optional
        The format [default: by the name of the file].
    encoding : str, default "utf-8"
        The encoding of the text.
    max_bytes : int, optional
        The most that is read, in bytes after uncompressing [default: a quarter of the free memory].

    Returns
    -------
    Groups
        The observations in their groups.

    Raises
    ------
    InputError
        If the file cannot be read, a column does not exist, or an entry is no finite number.

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("birds.csv").write_text("island,bill,flipper\nBiscoe,38,190\nDream,39,181\nDream,37,178\n")
    >>> fr.read_groups("birds.csv", group="island", columns=["bill", "flipper"])
    Groups(3 observations in 2 groups)
    """
    source = open_source(path, encoding, max_bytes)
    chosen = choose_format(source, format, list(TABLES))
    with _file_named(source):
        return groups_of_table(TABLES[chosen](source, _columns_of(group)), group, columns)


def _check_like(like: object, settings: dict[str, Any]) -> None:
    """Raise InputError if this is no corpus, or there are settings that it has itself."""
    if not isinstance(like, Corpus):
        raise InputError(f"like must be a Corpus; got {describe(like)}.")
    message = "{argument} must not be used with like=, whose options apply to new texts. Remove it."
    _refuse(message, **{option: value for option, value in settings.items() if option != "tokenizer"})


def _texts_in(source: Source, chosen: str, **columns: Any) -> Texts:
    """Return the texts in a file; `columns` are those that were requested."""
    if chosen in TABLES:
        return texts_of_table(TABLES[chosen](source, None), columns["text"], columns["name"])
    message = (
        f"{{argument}}={{value!r}} is for a column of a table, but the format is {chosen!r}, which has none. "
        "Remove {argument}, or set format=."
    )
    _refuse(message, **columns)
    return TEXTS[chosen](source)


def _levels_above(groups: object, columns: Mapping[str, Any] | None, like: Corpus | None) -> list[str] | None:
    """Return the columns of the levels above documents, by default those of a corpus that is like them."""
    columns = columns or {}
    if groups is not None:
        named = levels_of(groups, columns) or listed(groups)
        for name in named:
            if name not in columns:
                raise InputError(
                    f"groups must be columns of the table, and not of texts or names; got {name!r}. Use some of "
                    f"{shown(list(columns))}."
                )
        return named
    levels = [] if like is None or like.tree is None else list(like.tree.levels[:-1])
    return levels if levels and all(level in columns for level in levels) else None


def _columns_of(group: object) -> list[Any]:
    """Return the columns that `group` may name."""
    return [*listed(group), *levels_of(group, ())]


def _refuse(message: str, /, **given: object) -> None:
    """Raise InputError, with this message, for the first argument that is given."""
    for argument, value in given.items():
        if value is not None:
            raise InputError(message.format(argument=argument, value=value))


@contextmanager
def _file_named(source: Source) -> Iterator[None]:
    """Name the file in errors about its data, and if memory runs out."""
    try:
        yield
    except MemoryError as error:
        raise source.error("does not fit into memory. Read part of it, or fewer columns.") from error
    except FileError:
        raise
    except InputError as error:
        raise type(error)(f"{source.path}: {error}") from error
