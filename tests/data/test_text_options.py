"""How texts are read: stop words by language, n-grams, stems; what the corpus keeps of it, and what it tells."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from franchise.data import Corpus
from franchise.data.dropped import Dropped, LeftOut
from franchise.data.languages import CONTRACTIONS, NAME_OF_CODE, stemmer_of, stop_words_of
from franchise.data.text_options import WORDS, TextOptions, TextSettings
from franchise.errors import InputError, NoWords
from franchise.storage.data_files import encode_data, load_data

WORD = st.sampled_from(["cat", "cats", "dog", "the", "economy", "economies", "sat", "run", "running", "Über"])
TEXT = st.lists(st.one_of(WORD, st.sampled_from([". ", "; "])), max_size=12).map(" ".join)


def words_of(corpus):
    """The words of each document, in order."""
    words = [corpus.vocabulary[word] for word in corpus.observations]
    return [words[a:b] for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]


def same_words(corpus, other):
    assert corpus.vocabulary == other.vocabulary
    assert corpus.observations.tolist() == other.observations.tolist()
    assert corpus.offsets.tolist() == other.offsets.tolist()


# --- stop words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["german", "de", "German", "DE"])
def test_stop_words_of_a_language(language):
    corpus = Corpus.from_texts(["Der Hund und die Katze", "ohne den Hund"], stop_words=language)
    assert words_of(corpus) == [["hund", "katze"], ["hund"]]
    assert corpus.text_options.stop_words == "german"


@pytest.mark.parametrize("language", ["english", "en"])
def test_english_stop_words_are_those_of_scikit_learn_and_contractions(language):
    assert stop_words_of(language) == frozenset(ENGLISH_STOP_WORDS) | CONTRACTIONS


def test_every_language_has_a_name():
    stopwordsiso = pytest.importorskip("stopwordsiso")
    assert set(stopwordsiso.langs()) <= set(NAME_OF_CODE)
    for code in stopwordsiso.langs():
        assert len(stop_words_of(code)) > 10
        assert stop_words_of(code) == stop_words_of(NAME_OF_CODE[code])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"stop_words": "germn"},
            r"stop_words must be a language.*got 'germn'. Did you mean 'german'\?.*zulu",
        ),
        ({"stop_words": "qq"}, r"stop_words must be a language, by name or ISO code; got 'qq'.*afrikaans"),
        ({"stop_words": 5}, r"stop_words must be a language such as \"english\".*got 5"),
        ({"stop_words": {"the": 1}}, r"stop_words must be a language.*got \{'the': 1\}"),
        ({"stop_words": ["the", 5]}, r"stop_words must be words; got 5 among them"),
        ({"stem": "klingon"}, r"stem must be a language.*got 'klingon'.*english.*turkish"),
        ({"stem": True}, r"stem must be a language such as \"english\", or None; got True"),
        ({"ngrams": 2}, r"ngrams must be a pair.*got 2"),
        ({"ngrams": (2, 1)}, r"ngrams must be a pair.*got \(2, 1\)"),
        ({"ngrams": (0, 1)}, r"ngrams must be a pair.*from 1 to 10"),
        ({"ngrams": (1, 11)}, r"ngrams must be a pair.*got \(1, 11\)"),
        ({"ngrams": (1.0, 2)}, r"ngrams must be a pair.*got \(1.0, 2\)"),
        ({"ngrams": "12"}, r"ngrams must be a pair.*got '12'"),
        ({"min_df": 0}, r"min_df must be a number of documents \(1 or more\) or a fraction.*got 0"),
        ({"min_df": 1.5}, r"min_df must be.*or 'auto'; got 1.5"),
        ({"max_df": "auto"}, r"max_df must be.*to 1.0\); got 'auto'"),
        ({"lemma": 5}, r"lemma must be a language such as \"english\", or None; got 5"),
        ({"lemma": "en", "stem": "en"}, r"stem and lemma must not both be given"),
        ({"phrases": 1}, r"phrases must be True, a least count of 2 or more.*got 1"),
        ({"phrases": (5, 2.0)}, r"phrases must be.*from -1 to 1.*got \(5, 2.0\)"),
        ({"phrases": "many"}, r"phrases must be.*got 'many'"),
        ({"phrases": True, "ngrams": (1, 2)}, r"phrases and ngrams must not both be given"),
        ({"strip": "htm"}, r"strip must be one of 'uuencode'.*Did you mean 'html'\?"),
        ({"strip": 5}, r"strip must be \"all\", or some of uuencode, base64, html.*got 5"),
        ({"tokenizer": "jieba"}, r"tokenizer must be a function.*such as jieba.lcut; got 'jieba'"),
        ({"tokenizer": str.split, "token_pattern": "a"}, r"tokenizer and token_pattern must not both"),
        ({"max_df": -0.1}, r"max_df must be.*got -0.1"),
        ({"max_df": True}, r"max_df must be.*got True"),
        ({"min_df": float("nan")}, r"min_df must be.*got nan"),
        ({"min_df": "5"}, r"min_df must be.*got '5'"),
        ({"lowercase": "no"}, r"lowercase must be True or False; got 'no'"),
        ({"token_pattern": None}, r"token_pattern must be a regular expression.*got None"),
        ({"token_pattern": "(a)(b)"}, r"at most one group; got '\(a\)\(b\)', which has 2"),
        ({"token_pattern": "a{2,1}"}, r"token_pattern must be a regular expression.*got .a\{2,1\}"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_texts(["a cat"], **options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (Corpus.from_texts, {"min_fd": 3}, r"unexpected keyword argument 'min_fd'; did you mean 'min_df'\?"),
        (
            Corpus.from_texts,
            {"colour": 3},
            r"unexpected keyword argument 'colour'; the options are lowercase, stop_",
        ),
        (Corpus.from_sentence_texts, {"sentences": "simple"}, r"unexpected keyword argument 'sentences'"),
    ],
)
def test_unknown_keywords_are_named(make, options, message):
    with pytest.raises(TypeError, match=message):
        make([["a cat"]], **options)


def test_settings_and_options_have_the_same_names():
    assert {*TextSettings.__annotations__, "sentences", "files"} == set(TextOptions._fields)


@pytest.mark.parametrize(
    ("package", "options"),
    [("stopwordsiso", {"stop_words": "german"}), ("snowballstemmer", {"stem": "german"})],
)
def test_what_is_not_installed_is_named(package, options, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        InputError, match=rf"='german' needs {package}\. Run pip install \"franchise\[text\]\""
    ):
        Corpus.from_texts(["a cat"], **options)
    assert Corpus.from_texts(["a cat"]).vocabulary == ["cat"]


# --- n-grams ------------------------------------------------------------------------------------------------


def test_pairs_of_words():
    corpus = Corpus.from_texts(["The state of the union is strong"], ngrams=(1, 2))
    assert words_of(corpus) == [["state", "union", "strong", "state union", "union strong"]]
    assert Corpus.from_texts(["new york city"], ngrams=(2, 3)).vocabulary == [
        "new york",
        "new york city",
        "york city",
    ]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(TEXT, min_size=1, max_size=4), st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_counts_are_those_of_scikit_learn(texts, ngrams):
    texts = [*texts, "two known words"]
    corpus = Corpus.from_texts(texts, ngrams=ngrams)
    vectoriser = CountVectorizer(stop_words="english", token_pattern=WORDS, ngram_range=ngrams)
    counts = vectoriser.fit_transform(texts).toarray()
    assert corpus.vocabulary == vectoriser.get_feature_names_out().tolist()
    assert (corpus.to_matrix().toarray() == counts).all()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(TEXT, min_size=2, max_size=5), st.integers(1, 3), st.sampled_from([0.4, 0.8, 1.0, 2]))
def test_limits_are_those_of_scikit_learn(texts, min_df, max_df):
    vectoriser = CountVectorizer(stop_words="english", token_pattern=WORDS, min_df=min_df, max_df=max_df)
    try:
        expected = vectoriser.fit(texts).get_feature_names_out().tolist()
    except ValueError:
        with pytest.raises(NoWords, match="no vocabulary remains"):
            Corpus.from_texts(texts, min_df=min_df, max_df=max_df)
    else:
        assert Corpus.from_texts(texts, min_df=min_df, max_df=max_df).vocabulary == expected


def test_pairs_stay_within_a_sentence():
    text = "Dogs barked loudly. Cats slept"
    whole = Corpus.from_texts([text], ngrams=(2, 2))
    assert whole.vocabulary == ["barked loudly", "cats slept", "dogs barked", "loudly cats"]
    cut = Corpus.from_texts([text], ngrams=(1, 2), sentences="simple")
    assert "loudly cats" not in cut.vocabulary
    offsets = cut.sentences.offsets.tolist()
    assert offsets == [0, 5, 8]
    assert words_of(cut)[0][5:] == ["cats", "slept", "cats slept"]
    given_cut = Corpus.from_sentence_texts([["Dogs barked loudly.", "Cats slept"]], ngrams=(1, 2))
    same_words(given_cut, cut)
    assert given_cut.sentences.offsets.tolist() == offsets


# --- stems --------------------------------------------------------------------------------------------------


def test_stems_are_shown_as_the_most_frequent_word():
    corpus = Corpus.from_texts(["economies economy economy", "cats run", "cat running runs"], stem="english")
    assert corpus.vocabulary == ["cat", "economy", "run"]  # of several the first in the alphabet
    assert words_of(corpus) == [["economy"] * 3, ["cat", "run"], ["cat", "run", "run"]]


def test_frequencies_are_those_of_stems():
    texts = ["cat sat", "cats sat", "dog"]
    assert Corpus.from_texts(texts, stem="en", min_df=2).vocabulary == ["cat", "sat"]
    assert Corpus.from_texts(texts, min_df=2).vocabulary == ["sat"]


def test_stop_words_are_left_out_before_stemming():
    corpus = Corpus.from_texts(["being beings"], stem="english", stop_words=["being"])
    assert corpus.vocabulary == ["beings"]
    assert Corpus.from_texts(["was cats"], stem="english", stop_words=["wa"]).vocabulary == ["cats", "was"]


def test_words_of_pairs_are_stemmed_one_by_one():
    corpus = Corpus.from_texts(["cats running", "cat runs", "cats running"], stem="english", ngrams=(2, 2))
    assert corpus.vocabulary == ["cats running"]
    assert corpus.n_tokens == 3
    assert stemmer_of("english")("cats running") == "cat run"


def test_two_words_of_one_stem_in_a_vocabulary():
    with pytest.raises(
        InputError, match=r"one word per stem; got 'cat' and 'cats', which have the stem 'cat'"
    ):
        Corpus.from_texts(["a cat"], stem="english", vocabulary=["cat", "cats"])


def test_words_of_one_stem_find_the_word_of_a_vocabulary():
    corpus = Corpus.from_texts(["Economies grow", "A cat"], stem="english", vocabulary=["cats", "economy"])
    assert words_of(corpus) == [["economy"], ["cats"]]


# --- new texts ----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(TEXT, min_size=1, max_size=4),
    st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.booleans(),
            "stop_words": st.sampled_from(["english", "de", None, ["cat", "Sat"]]),
            "ngrams": st.sampled_from([(1, 2), (2, 2)]),
            "stem": st.sampled_from(["english", "german"]),
            "sentences": st.just("simple"),
            "token_pattern": st.just(r"\w+"),
        },
    ),
)
def test_texts_read_again_are_the_same(texts, options):
    """Read anew in the way of the corpus, its own texts give its own words, whatever the options."""
    corpus = Corpus.from_texts([*texts, "two known words"], **options)
    again = corpus.read_new_texts(corpus.texts)
    same_words(again, corpus)
    assert again.text_options == corpus.text_options
    if corpus.sentences is not None:
        assert again.sentences.offsets.tolist() == corpus.sentences.offsets.tolist()


def test_new_texts_over_an_old_vocabulary():
    corpus = Corpus.from_texts(["The cats sat", "Cats! A zebra?"], stem="english", min_df=2, max_df=1.0)
    new = corpus.read_new_texts(["THE CAT", "a zebra"], names=["x", "y"], metadata={"year": [1, 2]})
    assert new.vocabulary == ["cats"]
    assert words_of(new) == [["cats"], []]
    assert (new.group_names, new.metadata) == (["x", "y"], {"year": [1, 2]})
    assert new.dropped == Dropped(
        stop_words=LeftOut(1, 1), not_in_vocabulary=LeftOut(1, 1), empty_documents=1
    )
    assert corpus.read_new_texts(["cat"], keep_texts=False).texts is None
    with pytest.raises(NoWords, match="no tokens"):
        corpus.read_new_texts(["nothing known"])


def test_new_texts_are_cut_as_the_old_ones():
    simple = Corpus.from_texts(["Dr. Cat sat."], sentences="simple")
    assert simple.read_new_texts(["Dr. Cat sat."]).n_sentences == 2
    assert simple.read_new_texts(["Dr. Cat sat."], sentences="english").n_sentences == 1
    assert Corpus.from_texts(["Dr. Cat sat."]).read_new_texts(["The cat."]).sentences is None
    of_sentences = Corpus.from_sentence_texts([["The cat sat", "It slept"]])
    assert of_sentences.text_options.sentences == "given"
    assert of_sentences.read_new_texts([["A cat", "the dog", "sat"]]).n_sentences == 3
    assert of_sentences.read_new_texts(["A cat. The dog. Sat."], sentences="simple").n_sentences == 3
    with pytest.raises(InputError, match="documents must be lists of sentences"):
        of_sentences.read_new_texts(["A cat. The dog."])
    with pytest.raises(InputError, match="sentences must be one of 'english', 'simple'"):
        simple.read_new_texts(["A cat."], sentences="given ")


def test_new_texts_for_a_corpus_that_was_not_made_from_texts():
    lower = Corpus.from_tokens([["the", "ship"]])
    assert lower.text_options is None
    assert words_of(lower.read_new_texts(["The SHIP sank"])) == [["the", "ship"]]
    mixed = Corpus.from_tokens([["The", "ship"]])
    assert words_of(mixed.read_new_texts(["The SHIP, the ship"])) == [["The", "ship"]]


# --- what is kept -------------------------------------------------------------------------------------------


def test_the_default_of_min_df_grows_with_the_corpus():
    for documents, least in ((99, 1), (100, 2), (999, 2), (1_000, 3), (10_000, 5), (100_000, 10)):
        assert TextOptions().for_documents(documents).min_df == least
    texts = [f"cat rare{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(100)]
    corpus = Corpus.from_texts(texts)
    assert (corpus.vocabulary, corpus.text_options.min_df) == (["cat"], 2)
    assert "min_df=2: words in fewer documents were removed." in corpus.notes
    assert corpus.read_new_texts(["a cat"]).text_options.min_df == 2
    assert Corpus.from_texts(texts, min_df=1).vocabulary_size == 101
    assert Corpus.from_texts(texts[:99]).vocabulary_size == 100


def test_a_vocabulary_is_kept_whole_in_a_large_corpus():
    corpus = Corpus.from_texts(["cat"] * 150 + ["dog"], vocabulary=["cat", "dog"])
    assert corpus.n_tokens == 151
    assert corpus.notes == []


# --- contractions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["'", "’"])
def test_contractions_leave_no_pieces(mark):
    text = "Don't we've can't I'll cat's dogs they're it'd won't; really llama very".replace("'", mark)
    assert words_of(Corpus.from_texts([text])) == [["cat", "dogs", "really", "llama"]]
    everything = Corpus.from_texts([text], stop_words=None)
    assert words_of(everything) == [
        ["don't", "we", "can't", "cat", "dogs", "they", "it", "won't", "really", "llama", "very"]
    ]
    assert Corpus.from_texts([text.upper()], stop_words=None, lowercase=False).vocabulary[:2] == [
        "CAN'T",
        "CAT",
    ]


def test_other_languages_are_cut_at_the_apostrophe():
    text = "l'amour d'une dell'arte rock'n'roll"
    assert words_of(Corpus.from_texts([text], stop_words=None)) == [
        ["amour", "une", "dell", "arte", "rock", "roll"]
    ]


def test_a_vocabulary_without_apostrophes_is_read_as_it_was_made():
    corpus = Corpus.from_tokens([["don", "ll", "ship"]])
    assert words_of(corpus.read_new_texts(["Don't! The ship'll sink"])) == [["don", "ship", "ll"]]
    assert words_of(Corpus.from_tokens([["don't"]]).read_new_texts(["Don’t"])) == [["don't"]]


# --- lemmas -------------------------------------------------------------------------------------------------


def test_lemmas_are_shown_and_found_again():
    pytest.importorskip("simplemma")
    corpus = Corpus.from_texts(["The mice ran home", "a mouse runs, houses"], lemma="en")
    assert corpus.vocabulary == ["home", "house", "mouse", "run"]
    assert words_of(corpus) == [["mouse", "run", "home"], ["mouse", "run", "house"]]
    same_words(corpus.read_new_texts(corpus.texts), corpus)
    assert corpus.text_options.lemma == "english"
    assert Corpus.from_texts(["Die Häuser"], lemma="de", stop_words="de").vocabulary == ["haus"]
    known = Corpus.from_texts(["mice and a mouse", "cats"], lemma="en", vocabulary=["mice", "cat"])
    assert words_of(known) == [["mice", "mice"], ["cat"]]
    with pytest.raises(InputError, match=r"lemma must be a language.*got 'klingon'.*english"):
        Corpus.from_texts(["a cat"], lemma="klingon")


def test_lemmas_need_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(
        InputError, match=r"lemma='english' needs simplemma. Run pip install \"franchise\[lemma\]\""
    ):
        Corpus.from_texts(["a cat"], lemma="english")


# --- tokenizers ---------------------------------------------------------------------------------------------


def pairs_of_letters(text):
    return [text[place : place + 2] for place in range(0, len(text), 2)]


def test_a_tokenizer_cuts_texts(tmp_path):
    texts = ["我们热爱北京。", "Cats ! Dogs"]
    corpus = Corpus.from_texts(texts, tokenizer=lambda text: [*pairs_of_letters(text[:6]), " ", "!"])
    assert words_of(corpus) == [["我们", "热爱", "北京"], ["ca", "ts"]]
    assert Corpus.from_texts(texts, tokenizer=str.split, lowercase=False, stop_words=["Cats"]).vocabulary == [
        "Dogs",
        "我们热爱北京。",
    ]
    cut = Corpus.from_texts(["A cat. The dog."], tokenizer=str.split, sentences="simple")
    assert words_of(cut) == [["cat.", "dog."]]
    assert cut.sentences.offsets.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"tokenizer must return words, as str; got 1, a int.*spaCy"):
        Corpus.from_texts(texts, tokenizer=lambda text: [1])


def test_a_tokenizer_is_given_again_after_loading(tmp_path):
    corpus = Corpus.from_texts(["我们热爱北京"], tokenizer=pairs_of_letters)
    same_words(corpus.read_new_texts(corpus.texts), corpus)
    for name, content in encode_data(corpus).items():
        (tmp_path / name).write_bytes(content)
    loaded = load_data(tmp_path)
    assert loaded.text_options.tokenizer == "pairs_of_letters"
    with pytest.raises(
        InputError, match=r"by the tokenizer 'pairs_of_letters', which is not stored.*tokenizer="
    ):
        loaded.read_new_texts(["北京"])
    same_words(loaded.read_new_texts(corpus.texts, tokenizer=pairs_of_letters), corpus)


def full():
    return Corpus.from_texts(
        ["Cats run. Dogs bark.", "A cat", ""],
        lowercase=True,
        stop_words=["a", "The"],
        max_df=0.9,
        token_pattern=r"\w+",
        ngrams=(1, 2),
        stem="en",
        sentences="simple",
    )


def test_options_are_kept_by_parts():
    corpus = full()
    assert corpus.text_options == TextOptions(True, ("The", "a"), 1, 0.9, r"\w+", (1, 2), "english", "simple")
    keep = np.ones(corpus.n_tokens, dtype=bool)
    for part in (corpus.subset([1]), corpus.select_tokens(keep)):
        assert part.text_options == corpus.text_options
        assert part.dropped is None


@pytest.mark.parametrize(
    "make",
    [
        full,
        lambda: Corpus.from_texts(["a cat"], stop_words=None, min_df=np.int64(1), max_df=np.float64(1.0)),
        lambda: Corpus.from_sentence_texts([["a cat"]], stop_words="german"),
        lambda: Corpus.from_tokens([["a"]]),
    ],
)
def test_storage_keeps_options(make, tmp_path):
    corpus = make()
    for name, content in encode_data(corpus).items():
        (tmp_path / name).write_bytes(content)
    loaded = load_data(tmp_path)
    assert loaded.text_options == corpus.text_options
    assert loaded.dropped == corpus.dropped
    assert loaded.notes == corpus.notes
    if corpus.text_options is not None and corpus.text_options.sentences != "given":
        same_words(loaded.read_new_texts(corpus.texts), corpus)


def test_data_stored_without_options(tmp_path):
    for name, content in encode_data(full()).items():
        (tmp_path / name).write_bytes(content)
    words = json.loads((tmp_path / "data.json").read_text())
    for name in ("text_options", "dropped", "notes"):
        del words[name]
    (tmp_path / "data.json").write_text(json.dumps(words))
    loaded = load_data(tmp_path)
    assert (loaded.text_options, loaded.dropped, loaded.notes) == (None, None, [])


# --- what is left out ---------------------------------------------------------------------------------------


def test_what_was_left_out():
    texts = ["the cat sat; the cat slept", "the cat barked", "cat and dog", "", "the the"]
    corpus = Corpus.from_texts([*texts, "dog"], min_df=2, max_df=2)
    assert corpus.vocabulary == ["dog"]
    assert corpus.dropped == Dropped(
        stop_words=LeftOut(2, 6),
        below_min_df=LeftOut(3, 3),
        above_max_df=LeftOut(1, 4),
        empty_documents=4,
    )
    assert str(corpus.dropped) == (
        "Removed: 2 stop words (6 tokens); 3 words below min_df (3 tokens); 1 word above max_df (4 tokens). "
        "4 documents are empty."
    )


@pytest.mark.parametrize("sentences", [None, "simple"])
@pytest.mark.parametrize("vocabulary", [None, ["cat", "run"]])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(texts=st.lists(TEXT, min_size=1, max_size=4), stem=st.sampled_from([None, "english"]))
def test_every_token_is_accounted_for(sentences, vocabulary, texts, stem):
    texts = [*texts, "cat cat run the", "cat"]
    options = {"sentences": sentences, "stem": stem}
    limits = {} if vocabulary else {"min_df": 2, "max_df": 0.9}
    everything = Corpus.from_texts(texts, stop_words=None, **options)
    try:
        corpus = Corpus.from_texts(texts, vocabulary=vocabulary, **limits, **options)
    except NoWords:
        return
    left = corpus.dropped
    reasons = (left.stop_words, left.below_min_df, left.above_max_df, left.not_in_vocabulary)
    assert corpus.n_tokens + sum(reason.tokens for reason in reasons) == everything.n_tokens
    assert left.empty_documents == corpus.n_empty_documents
    if vocabulary is None and stem is None:
        assert corpus.vocabulary_size + sum(reason.words for reason in reasons) == everything.vocabulary_size


@pytest.mark.parametrize(
    ("dropped", "text"),
    [
        (Dropped(), "Nothing was removed."),
        (Dropped(stop_words=LeftOut(1, 1)), "Removed: 1 stop word (1 token)."),
        (
            Dropped(not_in_vocabulary=LeftOut(1200, 34567)),
            "Removed: 1,200 words not in the vocabulary (34,567 tokens).",
        ),
        (Dropped(empty_documents=1), "1 document is empty."),
        (Dropped(empty_documents=3, missing_texts=2), "3 documents are empty (2 missing texts)."),
        (Dropped(files=("a.pdf",)), "Removed: 1 file or folder not read (a.pdf)."),
        (
            Dropped(files=("a", "b", "c", "d")),
            "Removed: 4 files and folders not read (a, b, c, ...).",
        ),
    ],
)
def test_left_out_in_words(dropped, text):
    assert str(dropped) == text


def test_nothing_is_known_of_other_corpora():
    assert Corpus.from_tokens([["a"]]).dropped is None
    assert Corpus.from_matrix([[1]]).dropped is None
