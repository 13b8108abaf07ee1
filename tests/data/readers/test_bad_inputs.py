"""Every bad input ends in an InputError that names file and line: soon, and in little memory."""

from __future__ import annotations

import gzip
import json
import signal
import tracemalloc
from collections import Counter

import pytest
from tests.data.readers.bad_inputs import CASES, Case

import franchise as fr
from franchise.errors import InputError

SECONDS = 60


@pytest.fixture(autouse=True)
def no_hang():
    """Whatever waits for ever is interrupted."""

    def interrupt(*_):
        raise TimeoutError(f"still reading after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_bad_inputs(case: Case, tmp_path):
    path, options = case.write(tmp_path)
    with pytest.raises(InputError) as caught:
        getattr(fr, case.reader)(path, **options)
    message = str(caught.value)
    for word in case.words:
        assert word in message, f"{word!r} is not in: {message}"
    if case.file_name is not None:
        assert case.file_name in message, f"{case.file_name!r} is not in: {message}"
    assert len(message) < 6000


def test_there_are_many_cases_and_each_has_a_name():
    assert len(CASES) >= 200
    names = Counter((case.reader, case.name) for case in CASES)
    assert names.most_common(1)[0][1] == 1


# --- memory -------------------------------------------------------------------------------------------------


def peak_of(call):
    """The most memory, in bytes, that Python had at once during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_takes_little_more_than_the_limit(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(b"a cat sat on a mat\n" * 500_000) * 1000)  # 9.5 GB in 24 MB
    limit = 20_000_000

    def read():
        with pytest.raises(
            InputError, match=r"bomb\.txt\.gz: the uncompressed size exceeds the limit of 19\.1 MiB"
        ):
            fr.read_corpus(path, max_bytes=limit)

    assert peak_of(read) < 3 * limit


MILLION = "word " * 200_000
LONG_LINES = {
    "x.txt": f"{MILLION}\na cat\n",
    "x.mallet": f"a b {MILLION}\n",
    "x.csv": f"name,text\na,{MILLION}\n",
    "x.tsv": f"name\ttext\na\t{MILLION}\n",
    "x.jsonl": json.dumps({"text": MILLION}),
    "x.ldac": f"100000 {' '.join(f'{word}:1' for word in range(100_000))}\n",
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_line_of_a_million_characters(name, tmp_path):
    path = tmp_path / name
    path.write_text(LONG_LINES[name])
    fr.read_corpus(path)  # so that what is loaded for the first time does not count
    assert peak_of(lambda: fr.read_corpus(path)) < 100_000_000
    assert fr.read_corpus(path).n_tokens >= 100_000


def test_a_word_of_a_million_characters(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("x" * 1_000_000)
    corpus = fr.read_corpus(path)
    assert corpus.vocabulary == ["x" * 1_000_000]


def test_claims_cost_nothing(tmp_path):
    path = tmp_path / "docword.txt"
    path.write_text("999999999999\n3\n1\n1 1 1\n")

    def read():
        with pytest.raises(InputError, match="for the number of its counts"):
            fr.read_corpus(path)

    read()
    assert peak_of(read) < 10_000_000
