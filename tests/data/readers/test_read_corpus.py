"""read_corpus: every format gives the documents that were written, by name, by content and compressed."""

import gzip
import json
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.data.readers import samples
from tests.data.readers.samples import NAMES, TEXTS, YEARS, write

import franchise as fr
from franchise.data.dropped import Dropped, LeftOut
from franchise.data.readers import count_matrix as counts
from franchise.data.readers import source as files

COUNT_FORMATS = ["docword.animals.txt", "counts.ldac", "counts.mtx", "counts.npz"]
TEXT_FORMATS = [name for name in samples.CORPUS_FORMATS if name not in COUNT_FORMATS]


def same_tokens(corpus, other):
    assert corpus.vocabulary == other.vocabulary
    assert corpus.observations.tolist() == other.observations.tolist()
    assert corpus.offsets.tolist() == other.offsets.tolist()


# --- every format -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_texts_round_trip(name, tmp_path):
    path = write(tmp_path, name, samples.CORPUS_FORMATS[name]())
    corpus = fr.read_corpus(path)
    same_tokens(corpus, samples.corpus())
    assert corpus.texts == TEXTS
    assert corpus.group_names == (["0", "1", "2", "3"] if name == "lines.txt" else NAMES)
    if name.startswith("table"):
        assert corpus.metadata == {"year": YEARS}
    if name.endswith("mallet"):
        assert corpus.metadata == {"label": ["animals"] * 4}
    assert corpus.text_options.stop_words == "english"
    assert corpus.dropped == samples.corpus().dropped


@pytest.mark.parametrize("name", COUNT_FORMATS)
@pytest.mark.parametrize("beside", [True, False])
def test_counts_round_trip(name, beside, tmp_path):
    path = write(tmp_path, name, samples.CORPUS_FORMATS[name]())
    expected = fr.Corpus.from_matrix(samples.corpus().to_matrix(), samples.corpus().vocabulary)
    if beside:
        write(tmp_path, "vocab.txt", samples.as_vocabulary())
        corpus = fr.read_corpus(path)
    else:
        words = write(tmp_path / "elsewhere", "words.txt", samples.as_vocabulary())
        corpus = fr.read_corpus(path, vocabulary=words)
        same_tokens(fr.read_corpus(path, vocabulary=expected.vocabulary), expected)
        numbered = fr.read_corpus(path)
        assert numbered.vocabulary == [str(word) for word in range(expected.vocabulary_size)]
        assert numbered.observations.tolist() == expected.observations.tolist()
    same_tokens(corpus, expected)
    assert corpus.group_names == ["0", "1", "2", "3"]
    assert (corpus.texts, corpus.text_options, corpus.dropped) == (None, None, Dropped())


@pytest.mark.parametrize("suffix", samples.COMPRESSORS)
@pytest.mark.parametrize("name", samples.TEXT_FORMATS)
def test_compressed_files(name, suffix, tmp_path):
    content = samples.TEXT_FORMATS[name]()
    plain = fr.read_corpus(write(tmp_path, name, content))
    packed = fr.read_corpus(write(tmp_path, name + suffix, content))
    same_tokens(packed, plain)
    assert (packed.group_names, packed.metadata) == (plain.group_names, plain.metadata)
    shouting = fr.read_corpus((tmp_path / (name + suffix)).rename(tmp_path / (name + suffix.upper())))
    same_tokens(shouting, plain)


@pytest.mark.parametrize("name", samples.TEXT_FORMATS)
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines(name, end, tmp_path):
    content = samples.TEXT_FORMATS[name]().replace("\r\n", "\n")
    plain = fr.read_corpus(write(tmp_path, name, content))
    other = fr.read_corpus(write(tmp_path, name, content.replace("\n", end)))
    same_tokens(other, plain)
    same_tokens(fr.read_corpus(write(tmp_path, name, content.rstrip("\n"))), plain)


@pytest.mark.parametrize("name", samples.TEXT_FORMATS)
def test_a_byte_order_mark_is_left_out(name, tmp_path):
    content = samples.TEXT_FORMATS[name]()
    plain = fr.read_corpus(write(tmp_path, name, content))
    marked = fr.read_corpus(write(tmp_path, name, "\ufeff" + content))
    same_tokens(marked, plain)
    assert (marked.texts, marked.metadata) == (plain.texts, plain.metadata)


@pytest.mark.parametrize("name", samples.TEXT_FORMATS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252"])
def test_other_encodings(name, encoding, tmp_path):
    content = samples.TEXT_FORMATS[name]()
    plain = fr.read_corpus(write(tmp_path, name, content))
    other = fr.read_corpus(write(tmp_path, name, content.encode(encoding)), encoding=encoding)
    same_tokens(other, plain)
    assert other.texts == plain.texts


# --- detection ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("counts.dat", samples.as_ldac),
        ("counts.txt", samples.as_ldac),
        ("counts", samples.as_ldac),
        ("bag.txt", samples.as_docword),
        ("bag", samples.as_docword),
        ("docword.txt", samples.as_docword),
        ("DOCWORD.kos.TXT", samples.as_docword),
        ("matrix.txt", samples.as_mtx),
        ("matrix", samples.as_mtx),
        ("T.CSV", samples.as_csv),
        ("t.tab", lambda: samples.as_csv("\t")),
        ("t.ndjson", samples.as_jsonl),
        ("t.json", samples.as_jsonl),
        ("lines", samples.as_lines),
        ("lines.text", samples.as_lines),
        ("table", samples.as_parquet),
        ("table.pq", samples.as_parquet),
    ],
)
def test_formats_are_known_by_name_or_content(name, make, tmp_path):
    corpus = fr.read_corpus(write(tmp_path, name, make()))
    counted = corpus.texts is None
    expected = samples.corpus().to_matrix().toarray()
    assert (corpus.to_matrix().toarray() == expected).all()
    assert counted == (make in (samples.as_ldac, samples.as_docword, samples.as_mtx))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_in_csv(separator, tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "t.csv", samples.as_csv(separator)))
    assert (corpus.texts, corpus.metadata) == (TEXTS, {"year": YEARS})


def test_a_given_format_wins(tmp_path):
    path = write(tmp_path, "table.csv", samples.as_lines())
    assert fr.read_corpus(path, format="lines").texts == TEXTS
    path = write(tmp_path, "docword.txt", samples.as_jsonl())
    assert fr.read_corpus(path, format="jsonl").texts == TEXTS
    path = write(tmp_path, "lines.txt", samples.as_mallet())
    assert fr.read_corpus(path, format="mallet").group_names == NAMES
    path = write(tmp_path, "notes.md", samples.as_lines())
    assert fr.read_corpus(path, format="lines").texts == TEXTS


@pytest.mark.parametrize(
    ("content", "tokens"),
    [("1 0:5", 5), (f"{20_000} {' '.join(f'{word}:1' for word in range(20_000))}\n", 20_000)],
)
def test_a_single_document_of_counts(content, tokens, tmp_path):
    assert fr.read_corpus(write(tmp_path, "counts.dat", content)).n_tokens == tokens


def test_marks_and_json_by_content(tmp_path):
    assert fr.read_corpus(write(tmp_path, "a", "\ufeff" + samples.as_mtx())).texts is None
    assert fr.read_corpus(write(tmp_path, "b.txt", samples.as_jsonl())).texts == TEXTS
    assert fr.read_corpus(write(tmp_path, "c.txt", "{curly} braces\n")).texts == ["{curly} braces"]


def test_one_odd_character_makes_no_large_text(tmp_path):
    """A `str` has as many bytes for every character as the widest one needs."""
    path = write(tmp_path, "t.txt", "plain words here\n" * 200_000 + "\U0001f600 smile\n")
    tracemalloc.start()
    content = files.open_source(path, "utf-8", None).text()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * len(content)


def test_characters_across_the_borders_of_chunks(tmp_path):
    text = "x" + "é" * 1_200_000
    assert fr.read_corpus(write(tmp_path, "t.txt", text)).texts == [text]
    bad = text.encode() + b"\n\xc3"
    with pytest.raises(fr.InputError, match=r"line 2: is not text in utf-8: byte 0xc3"):
        fr.read_corpus(write(tmp_path, "t.txt", bad))
    with pytest.raises(fr.InputError, match=r"line 1: is not text in utf-8: byte 0xff"):
        fr.read_corpus(write(tmp_path, "t.txt", text.encode()[: (1 << 20) + 1] + b"\xff\n"))


def test_numbers_that_are_no_counts(tmp_path):
    """Lines of numbers are documents unless they have the form of counts."""
    path = write(tmp_path, "years.txt", "1901\n1902\n1903\nan9 bc8\n")
    assert fr.read_corpus(path).texts == ["1901", "1902", "1903", "an9 bc8"]
    path = write(tmp_path, "times.txt", "2 pm 10:30 meeting\n3 12:15 lunch\n")
    assert fr.read_corpus(path).n_documents == 2


# --- folders ------------------------------------------------------------------------------------------------


def speeches(folder):
    for name, text in zip(["b", "a/two", "a/one", "c"], TEXTS, strict=True):
        write(folder, f"{name}.txt", text)
    return folder


def test_a_folder(tmp_path):
    corpus = fr.read_corpus(speeches(tmp_path / "speeches"))
    assert corpus.group_names == ["a/one", "a/two", "b", "c"]
    assert corpus.texts == [TEXTS[2], TEXTS[1], TEXTS[0], TEXTS[3]]
    assert corpus.dropped.files == ()
    same_tokens(corpus, fr.Corpus.from_texts(corpus.texts))


def test_a_folder_with_other_files(tmp_path):
    folder = speeches(tmp_path)
    for name in ["notes.pdf", "a/.hidden.txt", ".git/config.txt", "a/readme", "table.csv"]:
        write(folder, name, "x")
    write(folder, "d.TXT.gz", "packed words")
    write(folder, "e.txt", "")
    (folder / "again").symlink_to(folder)
    corpus = fr.read_corpus(folder)
    assert corpus.group_names == ["a/one", "a/two", "b", "c", "d", "e"]
    assert corpus.texts[4:] == ["packed words", ""]
    left = [".git", "a/.hidden.txt", "a/readme", "again", "notes.pdf", "table.csv"]
    assert corpus.dropped.files == tuple(left)
    assert "6 files and folders not read (.git, a/.hidden.txt, a/readme, ...)" in str(corpus.dropped)
    assert corpus.dropped.empty_documents == 1


def test_names_that_would_be_alike_keep_their_suffixes(tmp_path):
    write(tmp_path, "a.txt", "one cat")
    write(tmp_path, "a.txt.gz", "two cats")
    assert fr.read_corpus(tmp_path).group_names == ["a.txt", "a.txt.gz"]


def test_the_limit_is_for_the_whole_folder(tmp_path):
    speeches(tmp_path)
    size = sum(len(text.encode()) for text in TEXTS)
    assert fr.read_corpus(tmp_path, max_bytes=size).n_documents == 4
    with pytest.raises(fr.InputError, match=r"c\.txt: the uncompressed size exceeds .*increase max_bytes"):
        fr.read_corpus(tmp_path, max_bytes=size - 1)


# --- tables -------------------------------------------------------------------------------------------------


def table(folder, name, columns):
    """The same table in any of the formats."""
    frame = pd.DataFrame(columns)
    path = folder / name
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, index=False, sep="\t")
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".parquet":
            frame.to_parquet(path)
    return path


TABLES = pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])


@TABLES
def test_a_column_that_is_asked_for(name, tmp_path):
    columns = {"body": ["a cat", "a dog"], "abstract": ["ships", "birds"], "key": ["x", "y"]}
    path = table(tmp_path, name, columns)
    corpus = fr.read_corpus(path, text="abstract", name="key")
    assert (corpus.texts, corpus.group_names) == (["ships", "birds"], ["x", "y"])
    assert corpus.metadata == {"body": ["a cat", "a dog"]}


@TABLES
@pytest.mark.parametrize("column", ["text", "Body", "ABSTRACT", "content", "document", "message", "whatever"])
def test_columns_that_are_guessed(name, column, tmp_path):
    others = {} if column == "whatever" else {"length": [5, 6]}
    corpus = fr.read_corpus(table(tmp_path, name, {column: ["a cat", "a dog"], **others}))
    assert corpus.texts == ["a cat", "a dog"]
    assert corpus.metadata == others


@TABLES
@pytest.mark.parametrize(
    ("columns", "names", "left"),
    [
        ({"id": [7, 8]}, ["7", "8"], {}),
        ({"Title": ["x", "y"]}, ["x", "y"], {}),
        ({"id": [7, 7], "title": ["x", "y"]}, ["x", "y"], {"id": [7, 7]}),
        ({"id": [7, 8], "name": ["x", "y"]}, ["x", "y"], {"id": [7, 8]}),
        ({"id": [7, 7]}, ["0", "1"], {"id": [7, 7]}),
        ({"name": ["x", "x"]}, ["0", "1"], {"name_": ["x", "x"]}),
        ({"tokens": [1, 2]}, ["0", "1"], {"tokens_": [1, 2]}),
    ],
)
def test_names_and_reserved_columns(name, columns, names, left, tmp_path):
    corpus = fr.read_corpus(table(tmp_path, name, {"text": ["a cat", "a dog"], **columns}))
    assert (corpus.group_names, corpus.metadata) == (names, left)
    assert len(corpus.documents) == 2


@TABLES
def test_missing_texts_and_facts(name, tmp_path):
    columns = {
        "text": ["a cat", None, "NA", "nan"],
        "year": [1901, None, 1903, 1904],
        "place": ["x", None, "NA", "z"],
    }
    corpus = fr.read_corpus(table(tmp_path, name, columns), stop_words=None)
    assert corpus.texts == ["a cat", "", "NA", "nan"]
    assert corpus.vocabulary == ["cat", "na", "nan"]
    assert corpus.metadata == {"year": [1901, None, 1903, 1904], "place": ["x", None, "NA", "z"]}
    assert corpus.dropped.missing_texts == 1
    assert "1 document is empty (1 missing text)" in str(corpus.dropped)


def test_facts_of_csv_files_are_typed(tmp_path):
    columns = {
        "text": ["cat", "dog", "bird"],
        "whole": ["1", "-2", "NA"],
        "real": ["1.5", "", "2e3"],
        "code": ["007", "008", "009"],
        "mixed": ["1", "x", "NA"],
        "large": ["1234567890123456789", "12", "13"],
        "dot": [".", "1", "2"],
        "none": ["", "", ""],
    }
    corpus = fr.read_corpus(table(tmp_path, "t.csv", columns))
    assert corpus.metadata == {
        "whole": [1, -2, None],
        "real": [1.5, None, 2000.0],
        "code": ["007", "008", "009"],
        "mixed": ["1", "x", "NA"],
        "large": [1234567890123456789, 12, 13],
        "dot": [".", "1", "2"],
        "none": [None, None, None],
    }


def test_values_of_json_keep_their_types(tmp_path):
    record = {
        "text": "cat",
        "year": "1901",
        "tags": ["a", "b"],
        "deep": {"x": [1]},
        "lists": [[1], [2]],
        "ok": True,
    }
    path = write(tmp_path, "t.jsonl", json.dumps(record) + "\n\n" + json.dumps({"text": "dog", "more": 0.5}))
    corpus = fr.read_corpus(path)
    assert corpus.metadata == {
        "year": ["1901", None],
        "tags": [("a", "b"), None],
        "deep": ['{"x": [1]}', None],
        "lists": ["[[1], [2]]", None],
        "ok": [True, None],
        "more": [None, 0.5],
    }
    fr.sample(corpus, draws=1, warmup=0, chains=1, run_dir=tmp_path / "run")  # all of it can be kept
    assert fr.load(tmp_path / "run").data.metadata == corpus.metadata


def test_values_of_parquet_keep_their_types(tmp_path):
    frame = pd.DataFrame(
        {
            "text": pd.Categorical(["cat", "dog"]),
            "day": pd.to_datetime(["2020-01-01", None]),
            "raw": [b"abc", b"\xff"],
            "tags": [["a"], []],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    corpus = fr.read_corpus(tmp_path / "t.parquet")
    assert corpus.texts == ["cat", "dog"]
    assert corpus.metadata["day"] == [pd.Timestamp("2020-01-01"), None]
    assert corpus.metadata["raw"] == ["abc", "\\xff"]
    assert corpus.metadata["tags"] == [("a",), ()]


def test_quotation_marks_line_breaks_and_blank_lines_in_csv(tmp_path):
    content = '\n"name","te xt"\r\n"a","one ""cat"", two\r\ncats"\n\n  \nb,5" dogs\n'
    corpus = fr.read_corpus(write(tmp_path, "t.csv", content), text="te xt")
    assert corpus.texts == ['one "cat", two\r\ncats', '5" dogs']
    assert corpus.group_names == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('text\n""\ncat\n', ["", "cat"]),
        ('text\n\ncat\n""\n\n', ["cat", ""]),
        ("text\r\n\r\ncat\r\n", ["cat"]),
        ("text\n  \ncat\n", ["cat"]),
        ("text\ncat", ["cat"]),
    ],
)
def test_rows_of_a_single_column(content, texts, tmp_path):
    """A blank line is no row; an empty text in quotation marks is one."""
    assert fr.read_corpus(write(tmp_path, "t.csv", content)).texts == texts


def test_a_parquet_file_of_one_long_text_many_times(tmp_path):
    """Stored once, read many times: the limit is met before memory is full."""
    path = table(tmp_path, "t.parquet", {"text": ["word " * 20_000] * 3000})
    assert path.stat().st_size < 200_000
    with pytest.raises(
        fr.InputError, match=r"t\.parquet: the uncompressed size exceeds the limit of 19\.1 MiB"
    ):
        fr.read_corpus(path, max_bytes=20_000_000)


def test_columns_without_names_and_white_space_around_names(tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "t.csv", ", text ,year\n0,a cat,1901\n1,a dog,1902\n"))
    assert corpus.metadata == {"column 1": [0, 1], "year": [1901, 1902]}


def test_many_columns(tmp_path):
    names = ["text", *(f"c{number}" for number in range(10_000))]
    rows = [["a cat", *map(str, range(10_000))], ["a dog", *map(str, range(10_000))]]
    path = write(tmp_path, "wide.csv", "\n".join(",".join(row) for row in [names, *rows]))
    corpus = fr.read_corpus(path)
    assert len(corpus.metadata) == 10_000
    assert corpus.metadata["c9999"] == [9999, 9999]


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    path = table(tmp_path, "t.parquet", {"text": ["a cat"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        fr.InputError, match=r"t\.parquet: Parquet files need pyarrow\. Run pip install \"franchise\[io\]\""
    ):
        fr.read_corpus(path)


# --- counts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ("docword.kos.txt.gz", "vocab.kos.txt"),
        ("docword.kos.txt", "vocab.kos.txt.gz"),
        ("docword.my.own.txt", "vocab.my.own.txt"),
        ("docword.KOS.txt", "vocab.KOS.txt"),
        ("docword.txt", "vocab.txt"),
        ("docword.txt", "vocab.other.txt"),
        ("docword.kos.txt", "vocab.txt"),
    ],
)
def test_words_beside_counts(counts, words, tmp_path):
    path = write(tmp_path, counts, samples.as_docword())
    write(tmp_path, words, samples.as_vocabulary())
    assert fr.read_corpus(path).vocabulary == samples.corpus().vocabulary


@pytest.mark.parametrize("words", ["vocab.ap.txt", "ap.vocab", "ap.vocab.txt", "vocab.txt"])
def test_words_beside_lda_c(words, tmp_path):
    path = write(tmp_path, "ap.dat", samples.as_ldac())
    write(tmp_path, words, samples.as_vocabulary() + "unused\n")
    assert fr.read_corpus(path).vocabulary == [*samples.corpus().vocabulary, "unused"]


def test_empty_documents_of_counts_keep_their_place(tmp_path):
    of_lda_c = fr.read_corpus(write(tmp_path, "c.ldac", "0\n2 1:1 0:2\n0\n"))
    assert of_lda_c.to_matrix().toarray().tolist() == [[0, 0], [2, 1], [0, 0]]
    assert of_lda_c.dropped == Dropped(empty_documents=2)
    of_uci = fr.read_corpus(write(tmp_path, "docword.txt", "3\n2\n2\n\n2 1 2\n2 2 1\n"))
    assert of_uci.to_matrix().toarray().tolist() == [[0, 0], [2, 1], [0, 0]]


@pytest.mark.parametrize(
    "content",
    [
        "%%MatrixMarket matrix coordinate integer general\n% a\n%\n\n2 3 3\n1 1 1\n\n1 3 2\n2 2 5\n",
        "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1.0\n1 3 2e0\n2 2 5\n",
        "%%matrixmarket MATRIX coordinate unsigned-integer GENERAL\r\n2 3 3\r\n1 1 1\r\n1 3 2\r\n2 2 5\r\n",
        "%%MatrixMarket matrix array integer general\n2 3\n1\n0\n0\n5\n2\n0\n",
        "%%MatrixMarket matrix array real general\n2 3\n1.0\n0\n0\n5\n2\n0",
        "%%MatrixMarket matrix coordinate integer general\n2 3 4\n1 1 1\n1 3 1\n2 2 5\n1 3 1\n",
    ],
)
def test_kinds_of_matrix_market(content, tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "c.mtx", content))
    assert corpus.to_matrix().toarray().tolist() == [[1, 0, 2], [0, 5, 0]]


def test_a_pattern_counts_once(tmp_path):
    content = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n"
    assert fr.read_corpus(write(tmp_path, "c.mtx", content)).to_matrix().toarray().tolist() == [
        [0, 1],
        [1, 0],
    ]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, bool])
def test_kinds_of_sparse_matrices(kind, dtype, tmp_path):
    dense = np.array([[1, 0, 2], [0, 5, 0]]).astype(dtype)
    sparse.save_npz(tmp_path / "c.npz", sparse.csr_array(dense).asformat(kind))
    corpus = fr.read_corpus(tmp_path / "c.npz")
    assert (corpus.to_matrix().toarray() == dense.astype(int)).all()


def test_large_counts_are_read_in_bulk(tmp_path, monkeypatch):
    """Two million lines; one by one they would take far longer."""
    monkeypatch.setattr(counts.Rows, "_parse", lambda *_: pytest.fail("read line by line"))
    rng = np.random.default_rng(0)
    entries = np.column_stack([np.sort(rng.integers(1, 5001, 500_000)), rng.integers(1, 3001, 500_000)])
    lines = "".join(f"{document} {word} 1\n" for document, word in entries.tolist())
    path = write(tmp_path, "docword.txt", f"5000\n3000\n2000000\n{lines * 4}")
    corpus = fr.read_corpus(path)
    assert corpus.n_tokens == 2_000_000
    expected = np.bincount(entries[:, 1] - 1, minlength=3000) * 4
    assert (np.bincount(corpus.observations, minlength=3000) == expected).all()


# --- how texts are read -------------------------------------------------------------------------------------


def test_options_are_those_of_from_texts(tmp_path):
    path = write(tmp_path, "t.csv", samples.as_csv())
    options = {
        "stem": "english",
        "ngrams": (1, 2),
        "min_df": 1,
        "max_df": 0.6,
        "stop_words": "en",
        "sentences": "simple",
    }
    corpus = fr.read_corpus(path, **options, keep_texts=False)
    expected = fr.Corpus.from_texts(TEXTS, **options)
    same_tokens(corpus, expected)
    assert corpus.sentences.offsets.tolist() == expected.sentences.offsets.tolist()
    assert (corpus.texts, corpus.text_options) == (None, expected.text_options)


def test_a_vocabulary_for_texts(tmp_path):
    path = write(tmp_path, "t.txt", samples.as_lines())
    write(tmp_path, "words.txt", "dog\ncat\n")
    for vocabulary in (["dog", "cat"], tmp_path / "words.txt", str(tmp_path / "words.txt")):
        corpus = fr.read_corpus(path, vocabulary=vocabulary)
        assert corpus.vocabulary == ["dog", "cat"]
        assert corpus.n_tokens == 3
    assert corpus.dropped.not_in_vocabulary == LeftOut(17, 19)


def test_unknown_keywords(tmp_path):
    path = write(tmp_path, "t.txt", samples.as_lines())
    with pytest.raises(TypeError, match="unexpected keyword argument 'mindf'; did you mean 'min_df'"):
        fr.read_corpus(path, mindf=3)


def test_empty_lines_are_empty_documents(tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "t.txt", "\na cat\n\n\x0b\x0c\u2028a dog\n\n"))
    assert corpus.texts == ["", "a cat", "", "\x0b\x0c\u2028a dog", ""]
    assert corpus.dropped.empty_documents == 3


def test_mallet_names_that_repeat(tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "t.mallet", "X en a cat\n\nX de ein hund\ny fr\n"))
    assert corpus.group_names == ["0", "1", "2"]
    assert corpus.metadata == {"label": ["en", "de", "fr"]}
    assert corpus.texts == ["a cat", "ein hund", ""]


# --- paths and limits ---------------------------------------------------------------------------------------


def test_paths_may_be_relative_or_begin_at_home(tmp_path, monkeypatch):
    write(tmp_path, "t.txt", samples.as_lines())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for path in ("t.txt", "~/t.txt", "./t.txt", tmp_path / "t.txt"):
        assert fr.read_corpus(path).n_documents == 4
    assert fr.read_corpus(".").n_documents == 1


def test_a_link_to_a_file(tmp_path):
    write(tmp_path, "t.txt", samples.as_lines())
    (tmp_path / "link.txt").symlink_to(tmp_path / "t.txt")
    assert fr.read_corpus(tmp_path / "link.txt").n_documents == 4


@pytest.mark.parametrize("name", ["lines.txt", "table.parquet", "counts.npz"])
def test_files_that_may_not_be_read(name, tmp_path, monkeypatch):
    path = write(tmp_path, name, samples.CORPUS_FORMATS[name]())

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setitem(files.COMPRESSED, "", refuse)
    with pytest.raises(fr.InputError, match=rf"{name}: cannot be opened \(Permission denied\)"):
        fr.read_corpus(path)


def test_errors_while_reading(tmp_path, monkeypatch):
    path = write(tmp_path, "t.txt", samples.as_lines())

    class Broken:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self, size):
            raise OSError(5, "Input/output error")

    monkeypatch.setitem(files.COMPRESSED, "", lambda *_: Broken())
    with pytest.raises(fr.InputError, match=r"t\.txt: cannot be read \(Input/output error\)"):
        fr.read_corpus(path)


def test_memory_that_runs_out(tmp_path, monkeypatch):
    path = write(tmp_path, "t.txt", samples.as_lines())

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(fr.Corpus, "from_texts", fail)
    with pytest.raises(fr.InputError, match=r"t\.txt: does not fit into memory"):
        fr.read_corpus(path)


def test_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path, "t.txt.gz", samples.as_lines())
    size = len(samples.as_lines().encode())
    assert fr.read_corpus(path, max_bytes=size).n_documents == 4
    with pytest.raises(
        fr.InputError, match=rf"t\.txt\.gz: the uncompressed size exceeds the limit of {size - 1} bytes"
    ):
        fr.read_corpus(path, max_bytes=size - 1)
    monkeypatch.setattr(files, "available_memory", lambda: 4 * size)
    assert fr.read_corpus(path).n_documents == 4
    monkeypatch.setattr(files, "available_memory", lambda: 4 * size - 4)
    with pytest.raises(fr.InputError, match="the uncompressed size exceeds"):
        fr.read_corpus(path)


def test_members_of_an_archive_are_counted(tmp_path):
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress(b"one cat\n") + gzip.compress(b"two dogs\n"))
    assert fr.read_corpus(path).texts == ["one cat", "two dogs"]


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB"), (1 << 50, "1024.0 TiB")],
)
def test_sizes_in_words(size, text):
    assert files.format_bytes(size) == text


def test_available_memory():
    assert files.available_memory() > 2**20


# --- names that are there before, and what was guessed ------------------------------------------------------


def test_names_that_are_there_before_get_a_number(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("text,key\nx1,a\nx2,b\nx3,a\nx4,\nx5,a (2)\nx6,a\n")
    corpus = fr.read_corpus(path, text="text", name="key")
    assert corpus.group_names == ["a", "b", "a (3)", "document 3", "a (2)", "a (4)"]
    assert corpus.notes == ["3 names in column 'key' were repeated or missing and got a number: 'a (3)'."]
    assert fr.read_corpus(path, text="text").metadata["key"] == ["a", "b", "a", None, "a (2)", "a"]


def test_guessed_columns_are_reported(tmp_path):
    path = tmp_path / "guess.jsonl"
    path.write_text('{"abstract": "A cat", "id": 7}\n{"abstract": "A dog", "id": 8}\n')
    guessed = fr.read_corpus(path)
    assert guessed.notes == ["text='abstract' was guessed.", "name='id' was guessed."]
    assert repr(guessed).endswith("; 2 notes in .notes)")
    assert fr.read_corpus(path, text="abstract", name="id").notes == []


@pytest.mark.parametrize(
    ("table", "advised"),
    [
        ("site,oak,ash\nA,3,4\nB,5,0\n", True),
        ("note,year\nThe cat sat on the mat,1990\nA dog barked,1991\n", False),
    ],
)
def test_a_table_without_texts_is_advised_on_numbers(tmp_path, table, advised):
    path = tmp_path / "table.csv"
    path.write_text(table)
    with pytest.raises(fr.InputError, match="the column with the texts is not clear") as error:
        fr.read_corpus(path)
    assert ("format='counts'" in str(error.value)) == advised
    assert ("read_groups" in str(error.value)) == advised


def test_a_tokenizer_reads_files_and_new_files(tmp_path):
    path = tmp_path / "chinese.txt"
    path.write_text("我们 热爱\n热爱，我们", encoding="utf-8")
    corpus = fr.read_corpus(path, tokenizer=lambda text: [text[:2], text[3:]])
    assert corpus.vocabulary == ["我们", "热爱"]
    new = fr.read_corpus(path, like=corpus, tokenizer=lambda text: [text[3:]])
    assert new.observations.tolist() == [1, 0]
