"""Sentences: how texts are cut, which tokens are in which, and that they stay through all that is done."""

import re
import sys
import time
from subprocess import run

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from franchise.data import Corpus, Sentences, datasets
from franchise.data.sentences import blank_latin, split_english, split_simple
from franchise.data.splits import halve_documents, hold_out_documents, hold_out_words
from franchise.errors import InputError
from franchise.storage.data_files import encode_data, load_data

SPLITS = {"english": split_english, "simple": split_simple}
LETTERS = st.sampled_from(
    [*"aAbB.?!: \n\t\"'-_1éßΣσİ日🙂", "e.g.", "I.E.", "Dr. ", "\n\n", "U.S. ", "...", "\r\n"]
)
TEXTS = st.one_of(st.lists(LETTERS, max_size=40).map("".join), st.text(max_size=40))
PATTERNS = st.sampled_from(
    [r"(?u)\b[^\W\d_]\w+\b", r"\S+", r"\w", r"(?:^|\s)(\w+)", r"\S\s\S", r"[?!.]+", r"\s", ""]
)
NESTED = st.lists(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=4), min_size=1, max_size=5
).filter(lambda documents: any(map(any, documents)))


def pieces(split, text):
    return [text[begin:end] for begin, end in split(text)]


def words_of(corpus):
    """Documents of sentences of words, as the arrays of a corpus have them."""
    offsets, documents, _ = corpus.sentences
    words = [corpus.vocabulary[word] for word in corpus.observations]
    return [
        [words[offsets[s] : offsets[s + 1]] for s in range(documents[j], documents[j + 1])]
        for j in range(corpus.n_documents)
    ]


def cats():
    return Corpus.from_texts(
        ["The cat sat. It is as it was! A dog barked: why?", "", "Birds sing."],
        names=["one", "two", "three"],
        metadata={"year": [1901, 1902, 1903]},
        sentences="simple",
    )


# --- cutting ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("no delimiter", ["no delimiter"]),
        ("One. Two? Three! Four: five", ["One.", "Two?", "Three!", "Four:", "five"]),
        ("  One.\n\n Two  ", ["One.", "Two"]),
        ("What?! Well... yes.", ["What?!", "Well...", "yes."]),
        ("Wait . . . what?", ["Wait .", "what?"]),
        ("...", []),
        ("... and then", ["and then"]),
        ("one\ntwo. three", ["one\ntwo.", "three"]),
        ("Dr. No paid 3.14.", ["Dr.", "No paid 3.", "14."]),
        ("Fruit, e.g. apples, i.e. food. Eat", ["Fruit, e.g. apples, i.e. food.", "Eat"]),
        (
            "Fruit (E.G. apples). I.e. food. I.E. E.g. x",
            ["Fruit (E.G. apples).", "I.e. food.", "I.E. E.g. x"],
        ),
        ("Fruit, e.g.", ["Fruit, e.g."]),
        ("Fruit. e.g.", ["Fruit."]),
        ("An alibi.e. The.g. x", ["An alibi.", "e.", "The.", "g.", "x"]),
        ("Ça va? 日本: été! Straße", ["Ça va?", "日本:", "été!", "Straße"]),
        ('"Go." he said', ['"Go.', '" he said']),
    ],
)
def test_the_simple_rule(text, sentences):
    assert pieces(split_simple, text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("no delimiter", ["no delimiter"]),
        ("Dr. Smith arrived. He sat.", ["Dr. Smith arrived.", "He sat."]),
        ("  It cost $3.14 in the U.S. economy.\nGood!  ", ["It cost $3.14 in the U.S. economy.", "Good!"]),
        (
            "Fruit, e.g. apples, was sold. Really?! Yes.",
            ["Fruit, e.g. apples, was sold.", "Really?!", "Yes."],
        ),
        ("A HEADING\n\nThe text\nbelow. \n \n\n More", ["A HEADING", "The text\nbelow.", "More"]),
        ("A HEADING\r\n\r\nThe text", ["A HEADING", "The text"]),
        ("Zoë went. Ça va.", ["Zoë went.", "Ça va."]),
    ],
)
def test_the_english_rule(text, sentences):
    assert pieces(split_english, text) == sentences


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@given(text=TEXTS)
def test_spans_are_ordered_disjoint_and_trimmed(split, text):
    spans = split(text)
    ends = [place for span in spans for place in span]
    assert ends == sorted(ends)
    assert all(0 <= place <= len(text) for place in ends)
    for piece in pieces(split, text):
        assert piece
        assert piece == piece.strip()


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@given(text=TEXTS)
def test_nothing_but_white_space_and_delimiters_is_outside(split, text):
    outside = list(blank_latin(text) if split is split_simple else text)
    for begin, end in split(text):
        outside[begin:end] = " " * (end - begin)
    allowed = ".?!:" if split is split_simple else ""
    assert "".join(outside).translate(str.maketrans("", "", allowed)).strip() == ""


@given(TEXTS)
def test_delimiters_are_at_the_end_of_a_simple_sentence(text):
    read = blank_latin(text)
    for begin, end in split_simple(text):
        assert re.fullmatch(r"[^.?!:]+[.?!:]*", read[begin:end].rstrip())


@given(TEXTS)
def test_blanks_keep_all_places(text):
    read = blank_latin(text)
    assert len(read) == len(text)
    changed = "".join(old if old != new else " " for old, new in zip(text, read, strict=True))
    assert all(re.fullmatch(r"(e\.g\.|i\.e\.)+", part) for part in changed.lower().split())


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("letters", ["x", "word ", "é", "\n", " "])
def test_a_long_line_without_delimiter_is_cut_at_once(split, letters):
    text = letters * (1_000_000 // len(letters))
    begun = time.perf_counter()
    assert len(split(text)) == (1 if letters.strip() else 0)
    assert time.perf_counter() - begun < 5


def test_a_long_line_is_read_at_once():
    begun = time.perf_counter()
    corpus = Corpus.from_texts(["word " * 200_000], sentences="english")
    assert (corpus.n_tokens, corpus.n_sentences) == (200_000, 1)
    assert time.perf_counter() - begun < 15


def test_without_nupunkt_the_repair_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "nupunkt", None)
    with pytest.raises(InputError, match=r'needs nupunkt. Run pip install "franchise\[text\]"'):
        Corpus.from_texts(["A cat sat."], sentences="english")
    assert Corpus.from_texts(["A cat sat."], sentences="simple").n_sentences == 1


def test_nupunkt_is_not_imported_unless_used():
    code = (
        "import sys\n"
        "from franchise.data import Corpus\n"
        "Corpus.from_texts(['A cat sat. It slept.'], sentences='simple')\n"
        "print('nupunkt' in sys.modules)"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- from texts ---------------------------------------------------------------------------------------------


def test_texts_in_sentences():
    corpus = cats()
    assert words_of(corpus) == [[["cat", "sat"], [], ["dog", "barked"], []], [], [["birds", "sing"]]]
    assert corpus.sentences.offsets.tolist() == [0, 2, 2, 4, 4, 6]
    assert corpus.sentences.documents.tolist() == [0, 4, 4, 5]
    assert corpus.sentences.spans.tolist() == [[0, 12], [13, 29], [30, 43], [44, 48], [0, 11]]
    assert corpus.n_sentences == 5
    assert all(array.dtype == np.int64 for array in corpus.sentences)


def test_no_sentences_unless_asked_for():
    corpus = Corpus.from_texts(["The cat sat. It slept."])
    assert corpus.sentences is None
    assert corpus.n_sentences == 0
    assert repr(corpus) == "Corpus(1 document, 3 tokens, vocabulary of 3)"


def test_the_two_rules_differ():
    text = ["Dr. Smith arrived. He sat: down."]
    of_english = Corpus.from_texts(text, sentences="english", stop_words=None)
    assert words_of(of_english) == [[["dr", "smith", "arrived"], ["he", "sat", "down"]]]
    simple = Corpus.from_texts(text, sentences="simple", stop_words=None)
    assert words_of(simple) == [[["dr"], ["smith", "arrived"], ["he", "sat"], ["down"]]]


def test_latin_abbreviations_are_no_words_of_the_simple_rule():
    texts = ["Eat e.g. apples i.e. E.G. fruit."]
    options = {"stop_words": None, "token_pattern": r"\w+"}
    simple = Corpus.from_texts(texts, sentences="simple", **options)
    assert words_of(simple) == [[["eat", "apples", "fruit"]]]
    assert simple.texts == texts
    assert pieces(split_simple, texts[0]) == texts
    of_english = Corpus.from_texts(texts, sentences="english", **options)
    assert of_english.n_tokens == 9


def test_words_left_out_leave_empty_sentences():
    texts = ["Red red. Blue. Green red. Green.", "Red. Red blue."]
    frequent = Corpus.from_texts(
        texts, min_df=2, sentences="simple"
    )  # green is in two sentences, but one text
    assert words_of(frequent) == [[["red", "red"], ["blue"], ["red"], []], [["red"], ["red", "blue"]]]
    rare = Corpus.from_texts(texts, max_df=1, sentences="simple")
    assert words_of(rare) == [[[], [], ["green"], ["green"]], [[], []]]
    known = Corpus.from_texts(texts, vocabulary=["blue", "black"], sentences="simple")
    assert words_of(known) == [[[], ["blue"], [], []], [[], ["blue"]]]
    assert known.sentences.spans.tolist() == frequent.sentences.spans.tolist()
    stopped = Corpus.from_texts(texts, stop_words=["Red"], sentences="simple")
    assert words_of(stopped) == [[[], ["blue"], ["green"], ["green"]], [[], ["blue"]]]


def test_a_word_belongs_to_the_sentence_in_which_it_begins():
    of_states = Corpus.from_texts(["The U.S. won."], token_pattern=r"u\.s\.|\w+", sentences="simple")
    assert words_of(of_states) == [[["u.s."], [], ["won"]]]  # "The U.", "S.", "won."
    of_groups = Corpus.from_texts(["Ay. Bee"], token_pattern=r"(?:^|\s)(\w+)", sentences="simple")
    assert words_of(of_groups) == [[["ay"], ["bee"]]]
    of_strays = Corpus.from_texts(
        ["... a? ! b", "..."], token_pattern=r"\S+", stop_words=None, sentences="simple"
    )
    assert words_of(of_strays) == [[["...", "a?", "!"], ["b"]], [["..."]]]


def test_letters_with_longer_lower_cases_move_no_word():
    texts = ["İİİİİİİİ one. Two İ. Three"]
    corpus = Corpus.from_texts(texts, token_pattern="[a-z]{3,}", stop_words=None, sentences="simple")
    assert words_of(corpus) == [[["one"], ["two"], ["three"]]]
    assert corpus.sentence_table().text.tolist() == ["İİİİİİİİ one.", "Two İ.", "Three"]


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@pytest.mark.parametrize("rule", SPLITS)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), pattern=PATTERNS, lowercase=st.booleans())
@example(texts=["ΑΣ.Β"], pattern=r"\w", lowercase=True)  # the lower case of Σ depends on what follows
def test_tokens_are_those_without_sentences(rule, texts, pattern, lowercase):
    texts = [*texts, "A b?! Ab. . e known words"]
    options = {"lowercase": lowercase, "stop_words": ["ab", "B"], "token_pattern": pattern}
    corpus = Corpus.from_texts(texts, sentences=rule, **options)
    plain = Corpus.from_texts(map(blank_latin, texts) if rule == "simple" else texts, **options)
    assert corpus.vocabulary == plain.vocabulary
    assert corpus.observations.tolist() == plain.observations.tolist()
    assert corpus.offsets.tolist() == plain.offsets.tolist()
    assert corpus.texts == texts
    joined = [[word for sentence in document for word in sentence] for document in words_of(corpus)]
    assert joined == [
        [plain.vocabulary[word] for word in plain.observations[a:b]]
        for a, b in zip(plain.offsets[:-1], plain.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize("rule", SPLITS)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_each_sentence_has_its_own_words(rule, texts):
    texts = [*texts, "word"]
    corpus = Corpus.from_texts(texts, sentences=rule, stop_words=None, lowercase=False)
    read = blank_latin if rule == "simple" else str
    expected = [
        [re.findall(r"\b[^\W\d_]\w+\b", read(piece)) for piece in pieces(SPLITS[rule], text)]
        for text in texts
    ]
    assert words_of(corpus) == expected


@pytest.mark.parametrize("rule", ["simpel", "", True, 3, ["simple"]])
def test_other_rules_are_refused(rule):
    with pytest.raises(InputError, match=r"sentences must be one of 'english', 'simple'; got"):
        Corpus.from_texts(["a cat"], sentences=rule)


# --- from sentences -----------------------------------------------------------------------------------------


@given(NESTED)
def test_sentences_round_trip(documents):
    corpus = Corpus.from_sentences(documents)
    assert words_of(corpus) == documents
    flat = Corpus.from_tokens(
        [[word for sentence in document for word in sentence] for document in documents]
    )
    assert corpus.observations.tolist() == flat.observations.tolist()
    assert corpus.offsets.tolist() == flat.offsets.tolist()
    assert corpus.vocabulary == flat.vocabulary
    assert corpus.sentences.spans is None


def test_ids_in_sentences():
    plain = Corpus.from_sentences([[[2, 0], []], [], [[1]]])
    assert plain.vocabulary == ["0", "1", "2"]
    assert words_of(plain) == [[["2", "0"], []], [], [["1"]]]
    known = Corpus.from_sentences((iter([np.array([2, 0]), np.array([], dtype=int)]),), ["a", "b", "c"])
    assert words_of(known) == [[["c", "a"], []]]
    of_iterators = Corpus.from_sentences(
        [[iter(["b"]), ("a",)]], ["b", "a"], names=["x"], metadata={"year": [1]}
    )
    assert of_iterators.observations.tolist() == [0, 1]
    assert (of_iterators.group_names, of_iterators.metadata) == (["x"], {"year": [1]})


@pytest.mark.parametrize(
    ("documents", "vocabulary", "message"),
    [
        ([], None, r"no documents"),
        ([[[]], []], None, r"no tokens"),
        (5, None, r"documents must be a list of documents; got 5"),
        ("text", None, r"documents must be a list of documents; got 'text'"),
        ([[["a"]], 3], None, r"documents must be lists of sentences; got 3 at position 1"),
        (["A text."], None, r"lists of sentences; got 'A text.' at position 0.*sentences=\"english\""),
        (
            [[["a"]], [["b"], "A cat."]],
            None,
            r"got 'A cat.' as sentence 1 of document 1.*Corpus.from_sentence_texts",
        ),
        ([[1, 2]], None, r"got 1 as sentence 0 of document 0.*Corpus.from_tokens"),
        ([[["a"]], [["b"], ["zebra"]]], ["a", "b"], r"got 'zebra' in document 1"),
        ([[[0]], [], [[1], [7]]], ["a", "b"], r"word ids from 0 to 1; got 7 in document 2"),
        ([[["a"], [1]]], None, r"only words or only word ids; got 1 in document 0"),
    ],
)
def test_bad_sentences_are_named(documents, vocabulary, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_sentences(documents, vocabulary)


def test_sentences_that_are_texts():
    documents = [["The cat. Sat?", "", "It is"], [], ["Birds sing"]]
    corpus = Corpus.from_sentence_texts(documents, names=list("xyz"), metadata={"year": [1, 2, 3]})
    assert words_of(corpus) == [[["cat", "sat"], [], []], [], [["birds", "sing"]]]
    assert corpus.texts == ["The cat. Sat?  It is", "", "Birds sing"]
    assert corpus.sentences.spans.tolist() == [[0, 13], [14, 14], [15, 20], [0, 10]]
    assert corpus.sentence_table().text.tolist() == ["The cat. Sat?", "", "It is", "Birds sing"]
    assert (corpus.group_names, corpus.metadata) == (list("xyz"), {"year": [1, 2, 3]})
    assert Corpus.from_sentence_texts(documents, keep_texts=False).texts is None


def test_options_of_sentences_that_are_texts():
    documents = [["Red red", "Blue"], ["Green red"]]
    assert Corpus.from_sentence_texts(documents, min_df=2).vocabulary == ["red"]
    assert words_of(Corpus.from_sentence_texts(documents, max_df=1)) == [[[], ["blue"]], [["green"]]]
    assert words_of(Corpus.from_sentence_texts(documents, vocabulary=["blue"])) == [[[], ["blue"]], [[]]]
    assert words_of(Corpus.from_sentence_texts(documents, stop_words=["red"])) == [
        [[], ["blue"]],
        [["green"]],
    ]
    upper = Corpus.from_sentence_texts(documents, lowercase=False, token_pattern=r"[A-Z]\w")
    assert words_of(upper) == [[["Re"], ["Bl"]], [["Gr"]]]


@given(st.lists(st.lists(TEXTS, max_size=4), min_size=1, max_size=3))
def test_tokens_of_sentences_that_are_texts(documents):
    documents = [*documents, ["word"]]
    corpus = Corpus.from_sentence_texts(documents, stop_words=None, lowercase=False)
    assert words_of(corpus) == [
        [re.findall(r"\b[^\W\d_]\w+\b", sentence) for sentence in document] for document in documents
    ]
    assert corpus.sentence_table().text.tolist() == [text for document in documents for text in document]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], r"documents must contain at least one document; got none"),
        ("text", r"documents must be a list of documents; got 'text'"),
        (["A text."], r"documents must be lists of sentences; got 'A text.' at position 0"),
        ([["A cat."], ["a", None]], r"got None as sentence 1 of document 1"),
        ([[["a", "cat"]]], r"got \['a', 'cat'\] as sentence 0 of document 0.*use Corpus.from_sentences"),
        ([["the and"], ["is"]], r"no vocabulary remains"),
    ],
)
def test_bad_sentences_that_are_texts_are_named(documents, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_sentence_texts(documents)


# --- the flat arrays ----------------------------------------------------------------------------------------


def test_sentences_as_arrays():
    first, second = np.array([0, 1, 1, 3]), [0, 2, 2, 3]
    corpus = Corpus([0, 1, 1], [0, 1, 1, 3], ["a", "b"], sentences=(first, second))
    assert words_of(corpus) == [[["a"], []], [], [["b", "b"]]]
    assert corpus.sentences.spans is None
    first[1] = 0  # a copy
    assert corpus.sentences.offsets.tolist() == [0, 1, 1, 3]
    again = Corpus([0, 1, 1], [0, 1, 1, 3], ["a", "b"], sentences=corpus.sentences)
    assert words_of(again) == words_of(corpus)
    first[1] = 0  # not made read-only


def test_sentences_are_read_only():
    for array in cats().sentences:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (5, r"sentences must be a pair \(offsets, documents\) or a Sentences; got 5"),
        ([[0, 3]], r"sentences must be a pair"),
        (
            ([0, 1, 2], [0, 1, 2]),
            r"sentences.offsets must increase from 0 to the number of tokens \(3\).*\[0, 1, 2\]",
        ),
        (([1, 3], [0, 1, 1]), r"sentences.offsets must increase from 0"),
        (([0, 2, 1, 3], [0, 1, 3]), r"sentences.offsets must increase from 0"),
        (([0], [0]), r"sentences.offsets must be a flat array of at least two numbers"),
        (([[0, 3]], [0, 1, 1]), r"sentences.offsets must be a flat array"),
        (([0, 1.5, 3], [0, 1, 2]), r"sentences.offsets must be whole numbers; got 1.5 at position 1"),
        (
            ([0, 2, 3], [0, 1, 1]),
            r"sentences.documents must increase from 0 to the number of sentences \(2\)",
        ),
        (([0, 2, 3], [0, 2]), r"3 numbers, one more than documents; got 2"),
        (([0, 1, 3], [0, 1, 2]), r"document 1 begins at token 2, but its first sentence at token 1"),
        (([0, 3], [0, 1, 1]), r"document 1 begins at token 2, but its first sentence at token 3"),
        (
            Sentences([0, 2, 3], [0, 1, 2], [[0, 1]]),
            r"sentences.spans must have.*shape \(2, 2\); got shape \(1, 2\)",
        ),
        (Sentences([0, 2, 3], [0, 1, 2], [[0, 1], [0, 6]]), r"got \(0, 6\) for sentence 1, in document 1"),
        (Sentences([0, 2, 3], [0, 1, 2], [[3, 1], [0, 1]]), r"got \(3, 1\) for sentence 0"),
        (Sentences([0, 1, 2, 3], [0, 2, 3], [[0, 2], [1, 3], [0, 1]]), r"without overlap; got \(1, 3\)"),
        (Sentences([0, 2, 3], [0, 1, 2], [[-1, 1], [0, 1]]), r"sentences.spans must not be negative"),
    ],
)
def test_bad_sentence_arrays_are_named(sentences, message):
    with pytest.raises(InputError, match=message):
        Corpus([0, 1, 1], [0, 2, 3], ["a", "b"], texts=["a b c", "b b c"], sentences=sentences)


def test_spans_of_texts_that_are_not_kept_may_end_anywhere():
    sentences = Sentences([0, 2, 3], [0, 1, 2], [[0, 700], [20, 90]])
    corpus = Corpus([0, 1, 1], [0, 2, 3], ["a", "b"], sentences=sentences)
    assert corpus.sentences.spans.tolist() == [[0, 700], [20, 90]]
    assert Corpus.from_texts(["A cat."], keep_texts=False, sentences="simple").sentences.spans.tolist() == [
        [0, 6]
    ]


# --- what is shown ------------------------------------------------------------------------------------------


def test_repr_tells_the_number_of_sentences():
    assert repr(cats()) == "Corpus(3 documents, 6 tokens, vocabulary of 6, 5 sentences; 1 document is empty)"
    assert (
        repr(Corpus.from_sentences([[["a"]]])) == "Corpus(1 document, 1 token, vocabulary of 1, 1 sentence)"
    )


def test_documents_table_has_the_number_of_sentences():
    table = cats().documents
    assert table.columns.tolist() == ["name", "tokens", "sentences", "year"]
    assert table.sentences.tolist() == [4, 0, 1]
    with pytest.raises(InputError, match="metadata must not use the name 'sentences'"):
        Corpus.from_tokens([["a"]], metadata={"sentences": [1]})


def test_sentence_table():
    table = cats().sentence_table()
    assert table.columns.tolist() == ["document", "sentence", "tokens", "begin", "end", "text"]
    assert table.document.tolist() == ["one"] * 4 + ["three"]
    assert table.sentence.tolist() == [0, 1, 2, 3, 0]
    assert table.tokens.tolist() == [2, 0, 2, 0, 2]
    assert table.begin.tolist() == [0, 13, 30, 44, 0]
    assert table.end.tolist() == [12, 29, 43, 48, 11]
    assert table.text.tolist() == ["The cat sat.", "It is as it was!", "A dog barked:", "why?", "Birds sing."]


def test_sentence_table_of_what_is_known():
    without_texts = Corpus.from_texts(["A cat. A dog."], keep_texts=False, sentences="simple")
    assert without_texts.sentence_table().columns.tolist() == [
        "document",
        "sentence",
        "tokens",
        "begin",
        "end",
    ]
    of_words = Corpus.from_sentences([[["a"], ["b", "c"]]], names=[("x", 1)])
    assert of_words.sentence_table().columns.tolist() == ["document", "sentence", "tokens"]
    assert of_words.sentence_table().document.tolist() == [("x", 1)] * 2
    with pytest.raises(InputError, match=r"the corpus has no sentences.*sentences=\"english\""):
        Corpus.from_tokens([["a"]]).sentence_table()


# --- parts of a corpus --------------------------------------------------------------------------------------


def test_subset_keeps_sentences():
    part = cats().subset([2, 0, 2, 1])
    assert words_of(part) == [words_of(cats())[j] for j in (2, 0, 2, 1)]
    assert part.sentence_table().text.tolist() == [
        "Birds sing.",
        "The cat sat.",
        "It is as it was!",
        "A dog barked:",
        "why?",
        "Birds sing.",
    ]
    assert words_of(cats().subset([False, True, True])) == [[], [["birds", "sing"]]]


@given(NESTED, st.data())
def test_subsets_of_any_documents(documents, data):
    chosen = data.draw(st.lists(st.integers(0, len(documents) - 1), min_size=1, max_size=6))
    if any(any(documents[j]) for j in chosen):
        assert words_of(Corpus.from_sentences(documents).subset(chosen)) == [documents[j] for j in chosen]


@given(NESTED, st.data())
def test_some_tokens_keep_all_sentences(documents, data):
    corpus = Corpus.from_sentences(documents)
    keep = data.draw(st.lists(st.booleans(), min_size=corpus.n_tokens, max_size=corpus.n_tokens).filter(any))
    left = iter(keep)
    expected = [
        [[word for word in sentence if next(left)] for sentence in document] for document in documents
    ]
    assert words_of(corpus.select_tokens(np.array(keep))) == expected


def test_some_tokens_have_no_places_in_texts():
    part = cats().select_tokens(np.array([True, False, True, True, True, True]))
    assert (part.texts, part.sentences.spans) == (None, None)
    assert part.sentence_table().tokens.tolist() == [1, 0, 2, 0, 2]


def test_splits_keep_sentences():
    rng = np.random.default_rng(1)
    documents = [[rng.integers(0, 9, rng.integers(0, 5)) for _ in range(6)] for _ in range(20)]
    corpus = Corpus.from_sentences(documents, list("abcdefghi"), names=range(20))
    train, held_out = hold_out_documents(corpus, every=4, seed=3)
    whole = words_of(corpus)
    assert words_of(train) == [whole[j] for j in train.group_names]
    assert words_of(held_out) == [whole[j] for j in held_out.group_names]
    sizes = np.diff(corpus.sentences.offsets)
    halves = halve_documents(corpus, seed=3)
    assert (sum(np.diff(half.sentences.offsets) for half in halves) == sizes).all()
    assert (halves[0].sentences.documents == corpus.sentences.documents).all()
    less, words, at = hold_out_words(corpus, seed=3)
    lost = sizes - np.diff(less.sentences.offsets)
    assert np.add.reduceat(lost, np.arange(0, 120, 6)).tolist() == [int(j in at) for j in range(20)]
    assert lost.sum() == len(words)


# --- on disk ------------------------------------------------------------------------------------------------


def stored(corpus, folder):
    for name, content in encode_data(corpus).items():
        (folder / name).write_bytes(content)
    return load_data(folder)


@pytest.mark.parametrize("make", [cats, lambda: Corpus.from_sentences([[["a"], []], [["b"]]])])
def test_storage_keeps_sentences(make, tmp_path):
    corpus = make()
    loaded = stored(corpus, tmp_path)
    assert words_of(loaded) == words_of(corpus)
    assert loaded.sentence_table().equals(corpus.sentence_table())
    assert loaded.sentences.offsets.dtype == np.int64


def test_data_stored_without_sentences(tmp_path):
    from safetensors.numpy import load

    corpus = Corpus.from_tokens([["a", "b"]])
    assert set(load(encode_data(corpus)["data.safetensors"])) == {
        "observations",
        "offsets",
    }  # as it always was
    assert stored(corpus, tmp_path).sentences is None


# --- the data set that ships --------------------------------------------------------------------------------


def test_addresses_in_sentences():
    plain = datasets.load("sotu")
    addresses = datasets.load("sotu", sentences="english")
    assert 72_000 < addresses.n_sentences < 74_000
    assert (addresses.observations == plain.observations).all()
    table = addresses.sentence_table()
    assert table.text[1].startswith("I embrace with great satisfaction the opportunity")
    assert table.text[1].endswith("our public affairs.")
    assert (table.groupby("document", sort=False).tokens.sum() == plain.group_sizes).all()
    assert plain.sentences is None
    with pytest.raises(
        InputError, match="sentences is only for the data set 'sotu'; got 'simple' with 'ants'"
    ):
        datasets.load("ants", sentences="simple")


@pytest.mark.slow
def test_paragraphs_in_sentences():
    paragraphs = datasets.load("sotu", unit="paragraph", sentences="simple")
    assert paragraphs.n_sentences == sum(len(split_simple(text)) for text in paragraphs.texts) > 70_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Sea\nShips sail the sea. Waves rock.", ["The Sea", "Ships sail the sea.", "Waves rock."]),
        (
            "The Sea\n\nShips sail.\n\n\nBread\nOvens bake.",
            ["The Sea", "Ships sail.", "Bread", "Ovens bake."],
        ),
        ("Chapter 1 (of 2)\nShips sail the sea again.", ["Chapter 1 (of 2)", "Ships sail the sea again."]),
        # wrapped lines, and lines that end or go on in the middle of a sentence, are no headings
        ("A story of ships and\nSailors who sail them.", ["A story of ships and\nSailors who sail them."]),
        ("A ship\nsails over the wide sea.", ["A ship\nsails over the wide sea."]),
        ("Ships, boats,\nAnd more that sail on the sea.", ["Ships, boats,\nAnd more that sail on the sea."]),
    ],
)
def test_a_heading_is_a_sentence_of_its_own(text, expected):
    assert [text[begin:end] for begin, end in split_english(text)] == expected
