"""Corpora in shards: what is written is what is read, from few shards and in little memory; damage is named."""

import gzip
import json
import tracemalloc

import numpy as np
import pytest
from tests.data.without import without

import franchise as fr
from franchise.data.readers import source
from franchise.data.sharded import sharded_corpus as shards_module
from franchise.data.sharded.files import write_shard
from franchise.errors import InputError

FORMATS = ["parquet", "docword"]
VOCABULARY = 300


def make_documents(n_documents=90, vocabulary=VOCABULARY, seed=0):
    """Documents with words that rise, some of them empty: the first, the last and one between."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, 30, n_documents)
    lengths[[0, n_documents // 2, -1]] = 0
    return [np.sort(generator.zipf(1.5, length) % vocabulary) for length in lengths]


def write_parts(folder, documents, form, per_part=25, per_call=10, vocabulary=VOCABULARY):
    """Parts whose numbers have no leading zeros, so that 10 must come after 9."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"word{number}\n" for number in range(vocabulary)))
    for number, begin in enumerate(range(0, len(documents), per_part), start=9):
        part = documents[begin : begin + per_part]
        if form == "docword":
            (folder / f"docword.part.{number}.txt.gz").write_bytes(gzip.compress(docword(part, vocabulary)))
            continue
        with write_shard(folder / f"part.{number}.parquet") as write:
            for first in range(0, len(part), per_call):
                some = part[first : first + per_call]
                write(np.array([len(words) for words in some]), np.concatenate([[], *some]).astype(np.int64))
    return folder


def docword(documents, vocabulary):
    """A docword file: sizes, then document, word and count, both from 1."""
    lines = [
        f"{number} {word + 1} {count}"
        for number, words in enumerate(documents, start=1)
        for word, count in zip(*np.unique(words, return_counts=True), strict=True)
    ]
    return "\n".join([f"{len(documents)}", f"{vocabulary}", f"{len(lines)}", *lines, ""]).encode()


@pytest.fixture(params=FORMATS)
def form(request):
    return request.param


@pytest.fixture
def documents():
    return make_documents()


@pytest.fixture
def folder(tmp_path, documents, form):
    return write_parts(tmp_path / "corpus", documents, form)


@pytest.fixture
def indexed(folder):
    fr.index_shards(folder)
    return folder


def parts_of(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".parquet")


def change_index(folder, change):
    path = folder / "shards.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


# --- reading ------------------------------------------------------------------------------------------------


def test_what_was_written_is_read(indexed, documents):
    corpus = fr.open_shards(indexed)
    lengths = [len(words) for words in documents]
    assert (corpus.n_documents, corpus.n_tokens, corpus.vocabulary_size) == (90, sum(lengths), VOCABULARY)
    assert len(corpus) == 90
    assert [shard.first for shard in corpus.shards] == [0, 25, 50, 75]
    assert corpus.lengths().dtype == np.int64
    assert np.array_equal(corpus.lengths(), lengths)
    words, offsets = corpus.read()
    assert words.dtype == corpus.word_type == np.uint16
    assert offsets.dtype == np.int64
    assert np.array_equal(words, np.concatenate(documents))
    assert np.array_equal(offsets, np.cumsum([0, *lengths]))
    assert "90 documents" in repr(corpus)
    assert "4 shards" in repr(corpus)
    corpus.check_parts()


@pytest.mark.parametrize(
    ("first", "last"), [(0, 0), (0, 1), (3, 3), (24, 26), (7, 88), (50, 75), (89, 90), (90, 90)]
)
def test_any_documents_can_be_read(indexed, documents, first, last):
    words, offsets = fr.open_shards(indexed).read(first, last)
    assert np.array_equal(words, np.concatenate([[], *documents[first:last]]))
    assert np.array_equal(offsets, np.cumsum([0, *(len(words) for words in documents[first:last])]))


def test_only_the_shards_needed_are_touched(indexed, documents):
    corpus = fr.open_shards(indexed)
    for number in (0, 1, 3):
        (indexed / corpus.shards[number].file).unlink()
    words, _ = corpus.read(52, 75)
    assert np.array_equal(words, np.concatenate(documents[52:75]))
    with pytest.raises(InputError, match="cannot be read"):
        corpus.read()


def test_only_the_row_groups_needed_are_decoded(tmp_path, documents, monkeypatch):
    import pyarrow.parquet as parquet

    corpus = fr.index_shards(write_parts(tmp_path / "corpus", documents, "parquet", per_part=90, per_call=10))
    asked = []
    original = parquet.ParquetFile.iter_batches

    def watched(file, *arguments, **options):
        asked.append(options["row_groups"])
        return original(file, *arguments, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", watched)
    corpus.read(35, 52)
    assert asked == [[3], [4], [5]]


@pytest.mark.parametrize(
    ("vocabulary", "kind"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.int32)],
)
def test_words_are_as_narrow_as_they_can_be(tmp_path, vocabulary, kind):
    documents = [np.array([0, vocabulary - 1]), np.array([vocabulary // 2])]
    corpus = fr.index_shards(write_parts(tmp_path / "corpus", documents, "docword", vocabulary=vocabulary))
    assert corpus.word_type == kind
    assert corpus.read()[0].tolist() == [0, vocabulary - 1, vocabulary // 2]


def test_words_are_written_flat(indexed, documents, tmp_path):
    corpus = fr.open_shards(indexed)
    path = corpus.write_words(tmp_path / "words.bin", 20, 80)
    assert np.array_equal(np.memmap(path, corpus.word_type, "r"), np.concatenate(documents[20:80]))
    assert corpus.write_words(str(path), 3, 3).stat().st_size == 0


def test_words_are_written_whole_or_not_at_all(indexed, tmp_path):
    corpus = fr.open_shards(indexed)
    target = tmp_path / "words.bin"
    target.write_bytes(b"before")
    parts_of(indexed)[-1].write_bytes(b"")
    with pytest.raises(InputError, match="checksum"):
        corpus.write_words(target)
    assert target.read_bytes() == b"before"
    assert {path.name for path in tmp_path.iterdir()} == {"corpus", "words.bin"}


def test_an_ordinary_corpus(indexed, documents, monkeypatch):
    sharded = fr.open_shards(indexed)
    corpus = sharded.to_corpus()
    assert np.array_equal(corpus.observations, np.concatenate(documents))
    assert corpus.vocabulary == sharded.vocabulary
    assert corpus.vocabulary[7] == "word7"
    monkeypatch.setattr(shards_module, "available_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"takes .* of memory, and 1000 bytes are free"):
        sharded.to_corpus()
    with pytest.raises(InputError, match="fewer documents"):
        sharded.read()


@pytest.mark.parametrize(
    "first_last", [(-1, 3), (0, 91), (5, 4), (0.5, 3), (float("nan"), 3), ("a", 3), (0, True)]
)
def test_bad_documents(indexed, first_last):
    with pytest.raises(InputError, match=r"^(first|last) must be a whole number"):
        fr.open_shards(indexed).read(*first_last)


@pytest.mark.parametrize("path", [None, "", 7])
def test_bad_targets(indexed, path, tmp_path):
    corpus = fr.open_shards(indexed)
    with pytest.raises(InputError, match="path must name the file"):
        corpus.write_words(path)
    with pytest.raises(InputError, match="is a folder"):
        corpus.write_words(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        corpus.write_words(tmp_path / "none" / "words.bin")


def test_memory_is_bounded(tmp_path, form):
    """Writing out 16 parts takes no more than writing out one of them; all words take 0.5 MB."""
    import pyarrow

    generator = np.random.default_rng(1)
    documents = [np.sort(generator.integers(0, 60_000, 1500)) for _ in range(160)]
    folder = write_parts(tmp_path / "corpus", documents, form, per_part=10, per_call=5, vocabulary=60_000)
    corpus = fr.index_shards(folder)
    corpus.check_parts()
    corpus.write_words(tmp_path / "words.bin", 0, 10)  # libraries are loaded
    before = pyarrow.default_memory_pool().max_memory()
    peaks = []
    for last in (10, 160):
        tracemalloc.start()
        corpus.write_words(tmp_path / "words.bin", 0, last)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 50_000
    assert pyarrow.default_memory_pool().max_memory() < before + 200_000


# --- indexing -----------------------------------------------------------------------------------------------


def test_other_columns_and_types_of_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    (tmp_path / "vocab.txt").write_text("a\nb\nc\n")
    table = pa.table({"author": ["x", "y"], "words": pa.array([[2, 0, 2], []], pa.large_list(pa.uint64()))})
    parquet.write_table(table, tmp_path / "texts.parquet")
    corpus = fr.index_shards(tmp_path)
    assert corpus.read()[0].tolist() == [2, 0, 2]
    assert corpus.lengths().tolist() == [3, 0]


def test_plain_docword_with_gaps_and_repeats(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\nc\n")
    (tmp_path / "docword.x.1.txt").write_text("4\n3\n4\n2 3 2\n2 1 1\n3 1 0\n3 2 1\n")
    (tmp_path / "docword.x.2.txt").write_text("2\n3\n0\n")
    corpus = fr.index_shards(tmp_path)
    assert corpus.lengths().tolist() == [0, 3, 1, 0, 0, 0]
    assert corpus.read()[0].tolist() == [2, 2, 0, 1]


def test_docword_files_are_converted_once(tmp_path, documents, monkeypatch):
    """Batches of the file cut documents; the index has Parquet shards only."""
    folder = write_parts(tmp_path / "corpus", documents, "docword")
    monkeypatch.setattr(source, "_CHUNK", 48)
    corpus = fr.index_shards(folder)
    assert [shard.file for shard in corpus.shards] == [f"docword.part.{n}.parquet" for n in (9, 10, 11, 12)]
    for path in folder.glob("*.txt.gz"):
        path.unlink()
    assert np.array_equal(corpus.read()[0], np.concatenate(documents))
    assert np.array_equal(corpus.read(3, 30)[0], np.concatenate(documents[3:30]))


def test_indexing_again(indexed, documents):
    """A part taken away: the old index no longer fits, a new one does."""
    path = parts_of(indexed)[1]
    path.unlink()
    path.with_suffix(".txt.gz").unlink(missing_ok=True)
    with pytest.raises(InputError, match="index_shards"):
        fr.open_shards(indexed)
    assert fr.index_shards(indexed).n_documents < 90


# --- bad folders --------------------------------------------------------------------------------------------


def fails(action, *words):
    with pytest.raises(InputError) as caught:
        action()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_no_folder(tmp_path):
    fails(lambda: fr.open_shards(tmp_path / "none"), "none", "no such file or folder")
    fails(lambda: fr.open_shards(None), "folder must name")
    (tmp_path / "file").write_text("")
    fails(lambda: fr.open_shards(tmp_path / "file"), "must be a folder")
    fails(lambda: fr.open_shards(tmp_path), "shards.json", "index_shards")
    fails(lambda: fr.index_shards(tmp_path), "there are no shards")


def test_no_vocabulary(folder):
    (folder / "vocab.txt").unlink()
    fails(lambda: fr.index_shards(folder), "vocab.txt", "one word per line")
    assert not (folder / "shards.json").exists()


def test_both_kinds_of_parts(folder):
    for name in ("a.parquet", "docword.a.txt"):
        (folder / name).touch()
    fails(lambda: fr.index_shards(folder), "both Parquet and docword")


@pytest.mark.parametrize("name", ["vocab.txt", "lengths.npy", "part"])
def test_a_missing_file(indexed, name):
    path = parts_of(indexed)[2] if name == "part" else indexed / name
    path.unlink()
    fails(lambda: fr.open_shards(indexed), path.name, "Restore the file", "index_shards")


def test_a_part_cut_off(indexed):
    path = parts_of(indexed)[2]
    path.write_bytes(path.read_bytes()[:-7])
    fails(lambda: fr.open_shards(indexed), path.name, "must have", "index_shards")
    if not list(indexed.glob("*.txt.gz")):
        fails(lambda: fr.index_shards(indexed), path.name)
    assert not list(indexed.glob("*.tmp"))


def test_a_part_changed(indexed):
    path = parts_of(indexed)[2]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    corpus = fr.open_shards(indexed)
    fails(corpus.read, path.name, "checksum", "index_shards")
    fails(corpus.check_parts, path.name, "checksum")


@pytest.mark.parametrize("name", ["vocab.txt", "lengths.npy"])
def test_other_files_changed(indexed, name):
    path = indexed / name
    path.write_bytes(path.read_bytes() + b"x")
    fails(lambda: fr.open_shards(indexed), name, "checksum", "index_shards")


LIES = {
    "documents": lambda facts: facts.update(documents=91),
    "tokens": lambda facts: facts.update(tokens=facts["tokens"] - 1),
    "vocabulary": lambda facts: facts.update(vocabulary=299),
    "no vocabulary": lambda facts: facts.update(vocabulary=0),
    "first": lambda facts: facts["shards"][1].update(first=24),
    "bytes": lambda facts: facts["shards"][1].update(bytes=1),
    "order": lambda facts: facts["shards"].reverse(),
    "a shard less": lambda facts: facts["shards"].pop(),
    "tokens moved": lambda facts: (
        facts["shards"][0].update(tokens=facts["shards"][0]["tokens"] + 1),
        facts["shards"][1].update(tokens=facts["shards"][1]["tokens"] - 1),
    ),
    "not a number": lambda facts: facts.update(documents=float("nan")),
    "negative": lambda facts: facts["shards"][0].update(documents=-1),
    "a text": lambda facts: facts.update(tokens="many"),
    "elsewhere": lambda facts: facts["shards"][0].update(file="../vocab.txt"),
    "another format": lambda facts: facts.update(format="other"),
    "unknown parts": lambda facts: facts.update(parts="csv"),
    "parts of an older version": lambda facts: facts.update(parts="docword"),
    "nothing": lambda facts: facts.clear(),
    "checksums": lambda facts: facts.update(sha256=None),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_index_that_lies(indexed, lie):
    change_index(indexed, LIES[lie])
    fails(lambda: fr.open_shards(indexed), str(indexed), "index_shards")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "[" * 100_000])
def test_an_index_that_is_none(indexed, content):
    (indexed / "shards.json").write_text(content)
    fails(lambda: fr.open_shards(indexed), "shards.json", "damaged", "index_shards")


def test_an_index_of_the_future(indexed):
    change_index(indexed, lambda facts: facts.update(version=2))
    fails(lambda: fr.open_shards(indexed), "Upgrade franchise")


def test_words_beyond_the_vocabulary(folder, form):
    words = (folder / "vocab.txt").read_text().splitlines()
    (folder / "vocab.txt").write_text("\n".join(words[:50]))
    fails(lambda: fr.index_shards(folder), "part.", "50", "Use the vocabulary of this corpus")
    assert not (folder / "shards.json").exists()
    assert not list(folder.glob("*.tmp"))


DOCWORDS = {
    "empty": ("", "three lines"),
    "short header": ("2\n3\n", "three lines"),
    "header in words": ("two\n3\n1\n1 1 1\n", "line 1: must contain only the number of documents"),
    "word 0": ("2\n3\n1\n1 0 1\n", "line 4: a word must be from 1 to 3; got `1 0 1`"),
    "word 4": ("2\n3\n1\n1 4 1\n", "line 4: a word must be from 1 to 3; got `1 4 1`"),
    "document 3": ("2\n3\n2\n1 1 1\n3 1 1\n", "line 5: a document must be from 1 to 2; got `3 1 1`"),
    "negative": ("2\n3\n1\n1 1 -1\n", "line 4: a count must be"),
    "huge": ("2\n3\n1\n1 1 99999999999\n", "line 4: a count must be"),
    "order": ("2\n3\n2\n2 1 1\n1 1 1\n", "line 5: entries must be sorted by document"),
    "must have": ("2\n3\n2\n1 1 1\n", "must have 2 entries, as in line 3; got 1"),
    "text": ("2\n3\n1\n1 a 1\n", "line 4"),
    "fraction": ("2\n3\n1\n1 1 1.5\n", "line 4"),
    "fields": ("2\n3\n1\n1 1\n", "line 4"),
    "too many documents": ("2000000000\n3\n1\n1 1 1\n", "for the number of its counts (1); got 2000000000"),
    "not ASCII": ("2\n3\n1\n1 1 ä\n", "line 4"),
    "long document": ("1\n3\n2\n1 1 2000000000\n1 2 2000000000\n", "at most 2147483647 tokens"),
}


@pytest.mark.parametrize("name", DOCWORDS)
@pytest.mark.parametrize("packed", [False, True])
def test_bad_docword_parts(tmp_path, name, packed):
    content, message = DOCWORDS[name]
    (tmp_path / "vocab.txt").write_text("a\nb\nc\n")
    path = tmp_path / f"docword.x.txt{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    fails(lambda: fr.index_shards(tmp_path), path.name, message)
    assert len(list(tmp_path.iterdir())) == 2


def test_bad_columns_of_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    (tmp_path / "vocab.txt").write_text("a\nb\nc\n")
    for columns, message in [
        ({"word": [[1]]}, "no such column"),
        ({"words": [1]}, "the type int64"),
        ({"words": [["a"]]}, "the type list"),
        ({"words": [[1.0]]}, "the type list"),
        ({"words": [[1], None]}, "is missing"),
        ({"words": [[1, None]]}, "is missing"),
        ({"words": [[1], [2, 3]]}, "got 3 in row 2"),
        ({"words": [[-1]]}, "got -1 in row 1"),
    ]:
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        fails(lambda: fr.index_shards(tmp_path), "a.parquet", message)
    (tmp_path / "a.parquet").write_text("no table")
    fails(lambda: fr.index_shards(tmp_path), "a.parquet", "not a valid Parquet file")


def test_without_pyarrow(folder, monkeypatch):
    without(monkeypatch, "pyarrow")
    fails(lambda: fr.index_shards(folder), "need pyarrow", 'pip install "franchise[io]"')


def test_every_start_reads_the_words(folder):
    """A start from given labels leaves the words in shards until the chain gets its place."""
    corpus = fr.index_shards(folder)
    for start in (1, 5, np.zeros(corpus.n_tokens, int)):
        posterior = fr.sample(corpus, sampler="crf", start=start, draws=2, chains=1, progress=False)
        assert posterior.trace["n_topics"].shape == (1, 2)
