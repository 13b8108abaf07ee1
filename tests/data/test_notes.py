"""What a corpus says of its texts: scripts without spaces, language, markup, encoded files, duplicates."""

import base64
import binascii

import numpy as np
import pytest

from franchise.data import Corpus
from franchise.data.duplicates import find_duplicates
from franchise.data.languages import guess_language
from franchise.data.markup import KINDS, blank, find_markup
from franchise.errors import InputError

BYTES = np.random.default_rng(0).integers(0, 256, 450, dtype=np.uint8).tobytes()
UUENCODED = "\n".join(
    [
        "begin 644 cat.gif",
        *(binascii.b2a_uu(BYTES[at : at + 45]).decode().rstrip("\n") for at in range(0, 450, 45)),
        "`",
        "end",
    ]
)
BASE64 = base64.encodebytes(BYTES).decode()
GERMAN = (
    "Der Hund und die Katze sind nicht auf dem Dach, und das ist gut für den Hund und die Nachbarn. " * 10
)
PROSE = "The cat sat on the mat, and it wasn't <b sad; R&D costs $5 or $6 (see [1]) at C:\\temp #1 of 2. " * 5
ENCODED = {
    "uuencode": UUENCODED,
    "base64": BASE64,
    "html": "<p>The cat</p> sat &amp; slept<br/>",
    "latex": r"We prove \textbf{the cat} for $\alpha_1 = 2$ in \cite{cat1990}.",
    "markdown": "# Heading\n\nThe [cat](http://example.org/cat) sat.",
}


# --- scripts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("我爱北京天安门，天安门上太阳升起来了。今天天气很好，我们去公园玩。", "Chinese or Japanese"),
        ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", "Chinese or Japanese"),
        ("แมวนั่งอยู่บนเสื่อและมองดูนกที่อยู่นอกหน้าต่างด้วยความสนใจ", "Thai"),
    ],
)
def test_scripts_without_spaces_are_refused(text, name):
    for texts in ([text], [text, "a cat", text]):
        with pytest.raises(InputError, match=rf"seem to be {name}.*tokenizer=.*--tokenizer jieba:lcut"):
            Corpus.from_texts(texts)
    assert Corpus.from_texts([text], tokenizer=list).n_tokens > 20
    assert Corpus.from_texts([text], token_pattern=r"\w").n_tokens > 20


@pytest.mark.parametrize(
    "text",
    ["我们 热爱 北京 天安门", "The word 天安门上太阳升起来了 is in an English text", "Кошка сидит на крыше"],
)
def test_texts_with_words_are_read(text):
    assert Corpus.from_texts([text], stop_words=None).n_tokens >= 3


# --- language -----------------------------------------------------------------------------------------------


def test_another_language_than_that_of_the_stop_words_is_reported():
    corpus = Corpus.from_texts([GERMAN])
    assert corpus.notes == [
        "The texts seem to be German (guessed from common words), but the stop words are English: "
        "stop_words='german' removes German stop words."
    ]
    assert repr(corpus).endswith("; 1 note in .notes)")
    assert Corpus.from_texts([GERMAN], stop_words="de").notes == []
    assert Corpus.from_texts([GERMAN], stop_words=None).notes == []
    assert Corpus.from_texts([GERMAN[:60]]).notes == []  # too short to tell


def test_the_language_of_common_words():
    assert guess_language(PROSE.lower().split()) == "english"
    assert guess_language(GERMAN.lower().split()) == "german"
    assert guess_language(["xyzzy"] * 500) is None


# --- markup and encoded files -------------------------------------------------------------------------------


def test_markup_and_encoded_files_are_found_and_nothing_else():
    texts = ["", PROSE, *ENCODED.values(), PROSE.upper()]
    assert find_markup(texts) == {name: [place + 2] for place, name in enumerate(ENCODED)}
    assert list(KINDS) == list(ENCODED)
    assert find_markup(["MEETINGS ARE HELD AT NOON, IN ROOM NUMBER TWELVE, ALL DAY LON\n" * 1]) == {}
    assert find_markup([f"{'=' * 80}\n" * 3, f"{'A' * 130}", "http://" + "a.b/" * 40]) == {}


@pytest.mark.parametrize("name", ENCODED)
def test_what_is_stripped_keeps_the_places_of_all_else(name):
    text = f"Before the cat.\n{ENCODED[name]}\nAfter the dog."
    left = blank(text, (name,))
    assert len(left) == len(text)
    assert left.count("\n") == text.count("\n")
    assert all(new in (old, " ") for new, old in zip(left, text, strict=True))
    assert left.startswith("Before the cat.")
    assert left.endswith("After the dog.")
    assert blank(PROSE, tuple(KINDS)) == PROSE


def test_words_that_are_left_of_markup():
    texts = [ENCODED["html"], ENCODED["latex"], ENCODED["markdown"], UUENCODED, BASE64, "a dog"]
    corpus = Corpus.from_texts(texts, strip="all", min_df=1)
    assert corpus.vocabulary == ["cat", "dog", "heading", "prove", "sat", "slept"]
    assert corpus.texts == texts
    assert corpus.notes[0] == "1 document has blocks encoded by uuencode, first document 3: ignored."
    assert corpus.read_new_texts(["<cat>dog</cat>"]).n_tokens == 1
    as_it_is = Corpus.from_texts(texts)
    assert "amp" in as_it_is.vocabulary
    assert (
        "1 document has HTML or XML tags, first document 0: read as words; strip='html' ignores it."
        in as_it_is.notes
    )


def test_sentences_keep_their_places_in_stripped_texts():
    corpus = Corpus.from_texts(
        ["<p>A cat sat.</p> <p>The dog barked.</p>"], strip=["html"], sentences="simple"
    )
    assert corpus.sentence_table()["text"].tolist() == ["A cat sat.", "The dog barked."]


# --- duplicates ---------------------------------------------------------------------------------------------


def documents_with_copies():
    """100 documents of 60 words: 3 copies, 2 with 4 words changed in a row (similar by 52 / 64), others apart."""
    rng = np.random.default_rng(1)
    documents = [rng.integers(0, 500, 60) for _ in range(100)]
    for copy, of in ((10, 2), (50, 2), (99, 98)):
        documents[copy] = documents[of].copy()
    for near, of in ((20, 5), (70, 20)):
        documents[near] = documents[of].copy()
        documents[near][30 + near // 20 : 34 + near // 20] = [501, 502, 503, 504]
    documents += [np.array([7, 8]), np.array([], dtype=int), np.array([7, 8]), np.array([], dtype=int)]
    return documents


def test_copies_and_near_copies_are_found():
    documents = documents_with_copies()
    corpus = Corpus.from_tokens(documents, names=[f"d{number}" for number in range(104)])
    table = corpus.duplicates()
    assert table["first"].to_dict() == {10: 2, 20: 5, 50: 2, 70: 5, 99: 98, 102: 100}
    assert table.loc[10].tolist() == ["d10", 2, "d2", 1.0]
    assert table["similarity"].loc[[20, 70]].between(0.8, 0.9).all()
    assert corpus.duplicates(1.0)["first"].to_dict() == {10: 2, 50: 2, 99: 98, 102: 100}
    for threshold in (0.5, 1.5, "high"):
        with pytest.raises(InputError, match="threshold must be"):
            corpus.duplicates(threshold)


def test_the_similarity_is_that_of_sets_of_three_words():
    rng = np.random.default_rng(3)
    one = rng.permutation(1000)[:200]
    other = np.concatenate([one[:190], [2001, 2002, 2003]])
    words = np.concatenate([one, other]).astype(np.int32)
    found = find_duplicates(words, np.array([0, 200, 393]))
    rows = [{tuple(text[place : place + 3]) for place in range(len(text) - 2)} for text in (one, other)]
    assert found.similarity.tolist() == [len(rows[0] & rows[1]) / len(rows[0] | rows[1])]


def test_most_pairs_at_the_threshold_are_found():
    """A pair of similarity s is found with probability 1 - (1 - s^3)^8: 0.997 for 0.8, so of 300 nearly all."""
    rng = np.random.default_rng(4)
    documents = []
    for pair in range(300):
        one = rng.integers(0, 5000, 120) + 5000 * pair
        other = one.copy()
        other[60:71] = 5000 * 300 + np.arange(11) + 20 * pair  # 105 rows of 131 in both: 0.8015
        documents += [one, other]
    offsets = np.cumsum([0, *map(len, documents)])
    found = find_duplicates(np.concatenate(documents).astype(np.int32), offsets)
    assert len(found.document) >= 293  # mean 299.1, standard deviation 0.95
    assert (found.first == found.document - 1).all()


def test_duplicates_are_reported_and_dropped():
    texts = ["The cat sat", "Cat, sat!", "dogs bark", "", ""]
    corpus = Corpus.from_texts(texts)
    assert corpus.notes == [
        "1 document with the words of an earlier one: kept; corpus.duplicates() lists them, "
        "corpus.drop_duplicates() (--drop-duplicates) removes them."
    ]
    single = corpus.drop_duplicates()
    assert single.group_names == ["0", "2", "3", "4"]
    assert single.texts == [texts[0], *texts[2:]]
    assert single.notes == []
    assert str(single.dropped).startswith("Removed: 1 stop word (1 token); 1 duplicate document.")
    assert corpus.read_new_texts(["cat", "cat"]).notes == []


@pytest.mark.parametrize("apostrophe", ["&#x27;", "&#39;", "&apos;", "&rsquo;", "&#8217;"])
def test_apostrophes_of_html_are_read_as_apostrophes(apostrophe):
    """Else parts of contractions become words: "don", "ve"."""
    texts = [f"I don{apostrophe}t know what they{apostrophe}ve eaten", "soup"]
    assert sorted(Corpus.from_texts(texts, strip="html", min_df=1).vocabulary) == ["eaten", "know", "soup"]
    assert blank(texts[0], ("html",)).split() == ["I", "don't", "know", "what", "they've", "eaten"]
    assert len(blank(texts[0], ("html",))) == len(texts[0])
