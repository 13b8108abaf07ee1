"""Files of every format, damaged at random: read to sound data, or refused in a sentence that names the file."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.data.readers import samples

import franchise as fr
from franchise.errors import InputError

BOUNDED = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SOUND = {name: make() for name, make in samples.CORPUS_FORMATS.items()}
SOUND["mutations.SBS96.all"] = samples.as_mutations().encode()
SOUND |= {f"lines.txt{suffix}": pack(SOUND["lines.txt"]) for suffix, pack in samples.COMPRESSORS.items()}
SOUND["docword.txt.gz"] = samples.COMPRESSORS[".gz"](SOUND["docword.animals.txt"])
SOUND["no-suffix"] = SOUND["counts.ldac"]
SOUND_GROUPS = {name: make() for name, make in samples.GROUP_FORMATS.items()}
SOUND_GROUPS["groups.csv.gz"] = samples.COMPRESSORS[".gz"](SOUND_GROUPS["groups.csv"])
NUMBERS = [
    b"0",
    b"-1",
    b"1.5",
    b"999999999",
    b"99999999999999999999",
    b"nan",
    b"inf",
    b"1e5",
    b"",
    b"x",
    b" ",
    b"1 1",
]
PLACE = st.integers(0, 2**20)


def cut(content, place):
    return content[: place % (len(content) + 1)]


def cut_in_front(content, place):
    return content[place % (len(content) + 1) :]


def flip(content, place):
    at, bit = place % len(content), place // len(content) % 8
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def put_in(content, place, more):
    at = place % (len(content) + 1)
    return content[:at] + more + content[at:]


def overwrite(content, place, more):
    at = place % (len(content) + 1)
    return content[:at] + more + content[at + len(more) :]


def swap_lines(content, place):
    lines = content.split(b"\n")
    one, other = place % len(lines), place // len(lines) % len(lines)
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def drop_line(content, place):
    lines = content.split(b"\n")
    del lines[place % len(lines)]
    return b"\n".join(lines)


def repeat_line(content, place):
    lines = content.split(b"\n")
    lines.insert(place % len(lines), lines[place // 7 % len(lines)])
    return b"\n".join(lines)


def change_number(content, place, number):
    found = list(re.finditer(rb"\d+", content))
    if not found:
        return content
    chosen = found[place % len(found)]
    return content[: chosen.start()] + number + content[chosen.end() :]


DAMAGE = st.one_of(
    *(
        st.tuples(st.just(change), PLACE)
        for change in (cut, cut_in_front, flip, swap_lines, drop_line, repeat_line)
    ),
    st.tuples(st.just(put_in), PLACE, st.binary(min_size=1, max_size=6)),
    st.tuples(st.just(overwrite), PLACE, st.binary(min_size=1, max_size=40)),
    st.tuples(
        st.just(put_in),
        PLACE,
        st.sampled_from([b"\0", b'"', b",", b"\n", b"\r", b"\xef\xbb\xbf", b"{", b":", b"\t"]),
    ),
    st.tuples(st.just(change_number), PLACE, st.sampled_from(NUMBERS)),
    st.tuples(st.just(change_number), PLACE, st.sampled_from(NUMBERS)),
)


def damaged(content, damages):
    for change, *arguments in damages:
        if content:
            content = change(content, *arguments)
    return content


def read_or_refuse(read, name, content, **options):
    """What is read of a file, or None if it is refused as it ought to be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return read(path, max_bytes=50_000_000, **options)
        except InputError as error:
            message = str(error)
    assert name in message
    return None


def check_corpus(corpus):
    """A corpus whose parts agree."""
    assert corpus.n_tokens == corpus.to_matrix().sum() > 0
    assert corpus.observations.min() >= 0
    assert corpus.observations.max() < corpus.vocabulary_size == len(set(corpus.vocabulary))
    assert len(corpus.group_names) == corpus.n_documents == len(corpus.documents)
    assert all(isinstance(name, str) for name in corpus.group_names)
    assert all(len(values) == corpus.n_documents for values in corpus.metadata.values())
    if corpus.texts is not None:
        again = corpus.read_new_texts(corpus.texts)
        assert again.observations.tolist() == corpus.observations.tolist()
    assert str(corpus.dropped)


@pytest.mark.parametrize("name", SOUND)
@BOUNDED
@given(damages=st.lists(DAMAGE, min_size=1, max_size=3))
@example(damages=[])
def test_damaged_corpora(name, damages):
    corpus = read_or_refuse(fr.read_corpus, name, damaged(SOUND[name], damages))
    if corpus is not None:
        check_corpus(corpus)
    assert corpus is not None or damages


@pytest.mark.parametrize("name", SOUND_GROUPS)
@BOUNDED
@given(damages=st.lists(DAMAGE, min_size=1, max_size=3))
@example(damages=[])
def test_damaged_groups(name, damages):
    groups = read_or_refuse(fr.read_groups, name, damaged(SOUND_GROUPS[name], damages), group="group")
    if groups is not None:
        assert np.isfinite(groups.observations).all()
        assert len(groups.observations) == groups.n_observations == groups.group_sizes.sum() > 0
    assert groups is not None or damages


@pytest.mark.parametrize(
    "name", [*samples.CORPUS_FORMATS, "x", "x.dat", "x.txt.gz", "x.csv.bz2", "x.jsonl.xz"]
)
@BOUNDED
@given(content=st.binary(max_size=200))
def test_random_bytes(name, content):
    corpus = read_or_refuse(fr.read_corpus, name, content)
    if corpus is not None:
        check_corpus(corpus)


@pytest.mark.parametrize("name", samples.TEXT_FORMATS)
@BOUNDED
@given(content=st.text(st.sampled_from(' \n\r\t",:{}[]%0129-.xyé\u2028\x0b'), max_size=60))
def test_random_text(name, content):
    corpus = read_or_refuse(fr.read_corpus, name, content.encode())
    if corpus is not None:
        check_corpus(corpus)


@BOUNDED
@given(damages=st.lists(DAMAGE, min_size=1, max_size=3))
def test_damaged_vocabularies(damages):
    words = damaged(samples.as_vocabulary().encode(), damages)
    with tempfile.TemporaryDirectory() as folder:
        samples.write(Path(folder), "docword.txt", samples.as_docword())
        (Path(folder) / "vocab.txt").write_bytes(words)
        try:
            check_corpus(fr.read_corpus(Path(folder) / "docword.txt"))
            message = "vocab.txt was read"
        except InputError as error:
            message = str(error)
    assert "vocab.txt" in message
