"""`fr.HTMM`: from texts to tables; bad input; the same bits for any number of workers."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import franchise as fr
from franchise.htmm.fitting import Sampling, start_state
from franchise.htmm.htmm_chain import HTMMChain, HTMMDraw, state_from_arrays
from franchise.kernels.random.streams import Streams
from franchise.posterior.htmm_posterior import mode_of
from franchise.posterior.topic_similarity import NONE, match_topics
from franchise.report.document_rows import Labelled
from franchise.running.chain import BEST
from tests.htmm.cases import matched_share, simulate
from tests.plots import cases
from tests.posterior.making import posterior_of

SEA = [
    "The ship sailed the sea.",
    "Sailors fear a storm at sea.",
    "The captain left the ship.",
    "Waves hit the ship.",
]
LAND = ["Farmers plough the field.", "The field gave wheat.", "Wheat feeds cows.", "A cow eats in the field."]
TEXTS = [
    " ".join(SEA + LAND),
    " ".join(LAND + SEA),
    " ".join(SEA),
    " ".join(LAND + LAND),
    " ".join(SEA[:2] + LAND),
] * 4
QUICK = {"draws": 20, "warmup": 20, "chains": 2}


def corpus_of(flat):
    """A corpus with the words of flat arrays."""
    data = flat.data
    ends = zip(data.documents[:-1], data.documents[1:], strict=True)
    nested = [
        [data.words[data.tokens[place] : data.tokens[place + 1]].tolist() for place in range(begin, end)]
        for begin, end in ends
    ]
    return fr.Corpus.from_sentences(nested, [str(word) for word in range(flat.vocabulary_size)])


@pytest.fixture(scope="module")
def planted():
    flat, truth = simulate(np.random.default_rng(5), documents=80, sentences=15, topics=4, epsilon=0.3)
    return corpus_of(flat), truth


@pytest.fixture(scope="module")
def gibbs(planted):
    return fr.HTMM(4, word_prior=0.1, document_prior=0.8, **QUICK, progress=False).fit(planted[0])


@pytest.fixture(scope="module")
def em(planted):
    return fr.HTMM(4, inference="em").fit(planted[0])


@pytest.fixture(scope="module")
def learned(planted):
    return fr.HTMM(None, word_prior=0.1, draws=30, warmup=40, progress=False, chains=2).fit(planted[0])


@pytest.fixture(params=["gibbs", "em", "learned"])
def fitted(request):
    return request.getfixturevalue(request.param)


def test_planted_topics_are_found(fitted, planted):
    table = fitted.sentence_topics()
    assert fitted.n_topics_ == pytest.approx(4, abs=1)
    assert matched_share(table["topic"].to_numpy(), planted[1].topics) > 0.97
    assert fitted.switch_probability_ == pytest.approx(0.3, abs=0.08)


def test_the_number_of_topics_is_learned(learned):
    topics = learned.posterior_.trace["n_topics"]
    assert np.median(topics) == pytest.approx(4, abs=1)
    assert {"alpha", "gamma", "n_tables", "launch_splits"} <= set(learned.posterior_.trace)


def test_from_one_topic_and_from_many_the_same_number_is_found(planted):
    found = [
        np.median(
            fr.HTMM(None, word_prior=0.1, start=start, draws=20, warmup=60, chains=1)
            .fit(planted[0])
            .posterior_.trace["n_topics"]
        )
        for start in (1, 25)
    ]
    assert found[0] == pytest.approx(found[1], abs=1)


def test_tables(fitted, planted):
    corpus, _ = planted
    topics = fitted.topics(words=3)
    assert len(topics) == fitted.n_topics_
    assert topics["share"].is_monotonic_decreasing
    assert topics["share"].sum() == pytest.approx(1.0, abs=0.02)
    assert (topics["words"].str.split().map(len) == 3).all()
    shares = fitted.document_topics()
    assert shares.columns.tolist() == [*range(fitted.n_topics_), "other"]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares["other"].mean() < 0.05
    sentences = fitted.sentence_topics()
    assert len(sentences) == corpus.n_sentences
    assert sentences["probability"].between(0.0, 1.0).all()
    firsts = sentences.groupby("document", sort=False).head(1)
    assert np.allclose(firsts["switch"], 1.0)
    assert fitted.topic_words_.shape == (fitted.n_topics_, corpus.vocabulary_size)
    assert np.allclose(fitted.topic_words_.sum(axis=1), 1.0)


def test_probabilities_say_how_often_sentences_are_right(gibbs, planted):
    table = gibbs.sentence_topics()
    match = match_topics(planted[1].topics, table["topic"].to_numpy(), np.ones(len(table)), 4, 4)
    right = match[table["topic"]] == planted[1].topics
    assert right.mean() == pytest.approx(table["probability"].mean(), abs=0.03)


def test_intervals_cover_the_truth(gibbs, planted):
    truth = planted[1]
    table = gibbs.document_topics(level=0.9)
    match = match_topics(
        truth.topics, gibbs.sentence_topics()["topic"].to_numpy(), np.ones(len(truth.topics)), 4, 4
    )
    covered = []
    for topic in range(4):
        low, high = table[topic]["low"], table[topic]["high"]
        assert (low <= table[topic]["mean"]).all()
        covered.append((low <= truth.thetas[:, match[topic]]) & (truth.thetas[:, match[topic]] <= high))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.08)
    low, high = gibbs.posterior_.interval("switch_probability", 0.999)
    assert low < 0.3 < high


def test_summary_has_the_usual_columns(gibbs):
    summary = gibbs.summary()
    assert {"mean", "r_hat", "ess_bulk"} <= set(summary.columns)
    assert "switch_probability" in summary.index


@pytest.mark.parametrize("options", [{"inference": "em"}, {}, {"n_topics": None, "word_prior": 0.1}], ids=str)
def test_the_same_bits_for_any_number_of_workers(planted, options):
    settings = {"n_topics": 4, "draws": 5, "warmup": 3, "chains": 2, "max_iterations": 20, **options}
    one, two, three = (fr.HTMM(**settings, workers=workers).fit(planted[0]) for workers in (1, 2, 3))
    for other in (two, three):
        assert np.array_equal(one.topic_words_, other.topic_words_)
        assert one.sentence_topics().equals(other.sentence_topics())
    new = [[[1, 2, 3], [5]], [[7]]]
    assert np.array_equal(one.transform(corpus_like(planted, new)), two.transform(corpus_like(planted, new)))


def corpus_like(planted, documents):
    return fr.Corpus.from_sentences(documents, planted[0].vocabulary)


def test_another_seed_gives_other_draws(planted):
    one, other = (fr.HTMM(4, **QUICK, seed=seed).fit(planted[0]) for seed in (0, 1))
    assert not np.array_equal(one.posterior_.trace["log_joint"], other.posterior_.trace["log_joint"])


def test_texts_are_cut_into_sentences():
    model = fr.HTMM(2, inference="em", starts=20).fit(TEXTS)
    table = model.sentence_topics()
    assert table["text"].iloc[0] == SEA[0]
    is_sea = table["text"].isin(SEA)
    assert matched_share(table["topic"].to_numpy(), is_sea.to_numpy().astype(int)) > 0.95
    new = model.sentence_topics("Sailors left the ship. The sea gave waves. The cow eats wheat.")
    assert new["topic"].iloc[0] == new["topic"].iloc[1] != new["topic"].iloc[2]
    assert new["text"].iloc[2] == "The cow eats wheat."


@pytest.mark.parametrize("options", [{"inference": "em"}, {**QUICK, "word_prior": 0.1}], ids=["em", "gibbs"])
def test_new_text_is_segmented_and_transformed(options):
    model = fr.HTMM(2, **options).fit(TEXTS)
    table = model.sentence_topics(
        "The ship sailed the sea. Unheard things occurred. Farmers plough the field."
    )
    assert len(table) == 3
    assert table["tokens"].iloc[1] == 0
    assert table["probability"].between(0.0, 1.0).all()
    shares = model.transform([" ".join(SEA), " ".join(LAND), ""])
    assert shares.shape == (3, 3)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert shares[0].argmax() != shares[1].argmax()
    assert list(model.get_feature_names_out()) == ["topic0", "topic1", "other"]


@pytest.mark.parametrize("options", [{"inference": "em"}, {**QUICK, "word_prior": 0.1}], ids=["em", "gibbs"])
def test_segments_have_texts_and_probabilities(options):
    model = fr.HTMM(2, **options).fit(TEXTS)
    text = "The ship sailed the sea. Sailors saw the waves.  Farmers plough the field."
    table, sentences = model.segment([text, "The sea."]), model.sentence_topics([text, "The sea."])
    columns = [
        "document",
        "segment",
        "first_sentence",
        "last_sentence",
        "topic",
        "name",
        "probability",
        "tokens",
    ]
    assert table.columns.tolist() == [*columns, "text"]
    assert table["document"].tolist() == ["0", "0", "1"]
    assert table["segment"].tolist() == [0, 1, 0]
    assert table["first_sentence"].tolist() == [0, 2, 0]
    assert table["last_sentence"].tolist() == [1, 2, 0]
    assert table["text"].tolist() == [text.split("  ")[0], "Farmers plough the field.", "The sea."]
    assert table["name"].tolist() == [model.topics()["label"][topic] for topic in table["topic"]]
    expected = np.average(sentences["probability"][:2], weights=sentences["tokens"][:2])
    assert table["probability"][0] == pytest.approx(expected)
    assert table["tokens"].sum() == sentences["tokens"].sum()


def test_segments_of_the_fitted_documents(gibbs):
    table, sentences = gibbs.segment(), gibbs.sentence_topics()
    lengths = table["last_sentence"] - table["first_sentence"] + 1
    assert lengths.sum() == len(sentences)
    assert np.repeat(table["topic"], lengths).tolist() == sentences["topic"].tolist()
    beside = (table["document"] == table["document"].shift()) & (table["topic"] == table["topic"].shift())
    assert not beside.any()
    assert "text" not in table  # made of word ids


def test_segments_without_words():
    model = fr.HTMM(2, inference="em").fit(TEXTS)
    table = model.segment("Unheard things occurred. Quarks spin. The ship sailed the sea.")
    assert table["probability"].between(0.0, 1.0).all()
    assert table["last_sentence"].iloc[-1] == 2


def test_the_number_of_topics_is_inferred_by_default():
    model = fr.HTMM(**QUICK)
    assert model.n_topics is None
    fitted = model.fit(TEXTS)
    assert fitted.posterior_.given_topics is None
    assert fitted.posterior_.model.word_prior == 0.1
    assert fr.HTMM(3, **QUICK).fit(TEXTS).posterior_.model.word_prior == 0.5
    with pytest.raises(fr.InputError, match="n_topics must be a number for EM"):
        fr.HTMM(inference="em").fit(TEXTS)


def test_perplexity_of_new_documents_is_below_that_of_no_topics(em, planted):
    flat, _ = simulate(np.random.default_rng(6), documents=30, sentences=15, topics=4, epsilon=0.3)
    other = em.perplexity(corpus_of(flat))  # of other topics
    assert em.perplexity(planted[0].subset(range(40))) < 0.7 * other
    fitted = em.perplexity(planted[0].subset(range(40)), completed=False)
    assert fitted < em.perplexity(planted[0].subset(range(40)))


def test_one_topic():
    for options in ({"inference": "em"}, QUICK):
        model = fr.HTMM(1, **options).fit(TEXTS)
        assert (model.sentence_topics()["topic"] == 0).all()


def test_a_document_with_one_sentence_and_empty_ones():
    documents = [[["cat"]], [], [["dog", "cat"], [], ["dog"]], [[]]]
    for options in ({"inference": "em"}, QUICK, {**QUICK, "n_topics": None}):
        model = fr.HTMM(**{"n_topics": 2, **options}).fit(documents)
        assert len(model.sentence_topics()) == 5
        assert np.isfinite(model.document_topics().to_numpy()).all()


def test_learned_priors_are_traced(planted):
    model = fr.HTMM(4, document_prior=fr.Gamma(1, 1), word_prior=fr.Gamma(1, 1), **QUICK).fit(planted[0])
    trace = model.posterior_.trace
    assert trace["document_prior"].std() > 0.0
    assert trace["word_prior"].mean() == pytest.approx(0.1, abs=0.05)


# --- in the company of scikit-learn -------------------------------------------------------------------------

SENTENCES = [sentence for text in TEXTS for sentence in text.split(". ")]
PAGES = np.repeat(
    [f"page {number}" for number in range(len(TEXTS))], [text.count(". ") + 1 for text in TEXTS]
)
EM = {"inference": "em", "starts": 3}
GIBBS = {**QUICK, "word_prior": 0.1}
BOTH = pytest.mark.parametrize("options", [EM, GIBBS], ids=["em", "gibbs"])
KINDS = ["sparse", "dense", "pandas", "polars"]


def test_scikit_learn_can_clone_it():
    model = fr.HTMM(3, word_prior=0.2)
    assert clone(model).get_params() == model.get_params()
    assert clone(fr.HTMM(engine=fr.engines.Threads(2))).engine.workers == 2


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        *((EM, kind) for kind in KINDS),
        (GIBBS, "sparse"),
        *(pytest.param(GIBBS, kind, marks=pytest.mark.slow) for kind in KINDS[1:]),
    ],
    ids=lambda value: value if isinstance(value, str) else ("em" if value is EM else "gibbs"),
)
def test_rows_are_sentences_of_the_documents_that_groups_name(options, kind):
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(SENTENCES)
    vocabulary = vectorizer.get_feature_names_out()
    analyse = vectorizer.build_analyzer()
    nested = [[sorted(analyse(sentence)) for sentence in text.split(". ")] for text in TEXTS]
    same = fr.HTMM(2, **options).fit(nested)
    dense = counts.toarray()
    rows = {
        "sparse": counts,
        "dense": dense,
        "pandas": pd.DataFrame(dense, columns=vocabulary),
        "polars": pl.DataFrame(dense, schema=list(vocabulary)),
    }[kind]
    model = fr.HTMM(2, **options).fit(rows, groups=PAGES)
    np.testing.assert_array_equal(model.topic_words_, same.topic_words_)
    np.testing.assert_array_equal(model.transform(rows, groups=PAGES), same.transform(nested))
    assert model.score(rows, groups=PAGES) == same.score(nested) == -math.log(same.perplexity(nested))
    assert model.document_topics().index.tolist() == list(dict.fromkeys(PAGES))
    assert model.sentence_topics(rows, groups=PAGES)["topic"].equals(same.sentence_topics(nested)["topic"])
    assert model.n_features_in_ == len(vocabulary)
    assert hasattr(model, "feature_names_in_") == (kind in ("pandas", "polars"))


def test_scattered_rows_are_gathered():
    counts = CountVectorizer().fit_transform(SENTENCES)
    order = np.argsort([number % 7 for number in range(len(SENTENCES))], kind="stable")
    labels = PAGES[order]
    gathered = np.concatenate([np.flatnonzero(labels == label) for label in dict.fromkeys(labels)])
    one = fr.HTMM(2, **EM).fit(counts[order], groups=labels)
    other = fr.HTMM(2, **EM).fit(counts[order][gathered], groups=labels[gathered])
    np.testing.assert_array_equal(one.topic_words_, other.topic_words_)
    np.testing.assert_array_equal(one.corpus_.sentences.documents, other.corpus_.sentences.documents)


def test_rows_without_groups_are_documents_of_one_sentence():
    counts = CountVectorizer().fit_transform(SENTENCES)
    model = fr.HTMM(2, **EM).fit(counts)
    assert model.corpus_.n_documents == model.corpus_.n_sentences == len(SENTENCES)
    assert model.transform(counts).shape == (len(SENTENCES), 3)
    word = np.eye(1, counts.shape[1], 3, dtype=int)
    assert model.score(word) == pytest.approx(
        math.log(model.topic_words_[:, 3].mean())
    )  # topics in even shares
    with pytest.raises(fr.InputError, match="X has 3 features, but HTMM is expecting"):
        model.transform(counts[:, :3])
    with pytest.raises(fr.InputError, match="without column names"):
        model.transform(TEXTS)


@BOTH
def test_what_is_said_of_a_document_does_not_depend_on_others(options):
    model = fr.HTMM(2, **options).fit(TEXTS)
    new = [*TEXTS[:5], "Quarks spin. Gluons bind.", "Ships."]
    together = model.transform(new)
    np.testing.assert_allclose(model.transform(new[::-1])[::-1], together, rtol=1e-12)
    for row, text in zip(together, new, strict=True):
        np.testing.assert_allclose(
            model.transform([text])[0], row, rtol=1e-12, atol=0.05 * ("Quarks" in text)
        )


def test_documents_without_known_words_have_even_proportions():
    model = fr.HTMM(2, **EM).fit(TEXTS)
    np.testing.assert_allclose(model.transform(["Quarks spin."]), [[0.5, 0.5, 0.0]])
    np.testing.assert_allclose(model.transform(iter(["Quarks spin."])), [[0.5, 0.5, 0.0]])
    rows = np.zeros((4, model.n_features_in_), int)
    np.testing.assert_allclose(model.transform(rows, groups=[0, 1, 0, 2]), [[0.5, 0.5, 0.0]] * 3)


@BOTH
def test_frames_pickles_and_refits(options):
    model = fr.HTMM(2, **options).set_output(transform="pandas").fit(TEXTS)
    found = model.transform(pd.Series(TEXTS[:2], index=["x", "y"]))
    assert found.index.tolist() == ["x", "y"]
    assert found.columns.tolist() == ["topic0", "topic1", "other"]
    again = pickle.loads(pickle.dumps(model))
    assert again.transform(TEXTS).equals(model.transform(TEXTS))
    assert clone(model).fit_transform(TEXTS).equals(model.transform(TEXTS))
    counts = CountVectorizer().fit_transform(SENTENCES)
    named = model.fit_transform(pd.DataFrame(counts.toarray()), groups=PAGES)
    assert named.index.tolist() == list(dict.fromkeys(PAGES))
    assert isinstance(model.set_output(transform="polars").transform(counts, groups=PAGES), pl.DataFrame)


def test_in_a_pipeline_behind_a_vectorizer_of_sentences():
    with sklearn.config_context(enable_metadata_routing=True):
        model = fr.HTMM(2, **EM).set_fit_request(groups=True).set_transform_request(groups=True)
        pipeline = make_pipeline(CountVectorizer(), model).fit(SENTENCES, groups=PAGES)
        shares = pipeline.transform(SENTENCES, groups=PAGES)
    assert shares.shape == (len(TEXTS), 3)
    by_step = make_pipeline(CountVectorizer(), fr.HTMM(2, **EM)).fit(SENTENCES, htmm__groups=PAGES)
    np.testing.assert_array_equal(by_step[-1].topic_words_, model.topic_words_)
    counts = by_step[0].transform(SENTENCES)
    np.testing.assert_array_equal(by_step[-1].transform(counts, groups=PAGES), shares)


def test_cross_validation():
    counts = CountVectorizer().fit_transform(SENTENCES)
    with sklearn.config_context(enable_metadata_routing=True):
        model = fr.HTMM(2, **EM).set_fit_request(groups=True).set_score_request(groups=True)
        scores = cross_val_score(model, counts, cv=GroupKFold(2), params={"groups": PAGES})
    folds = GroupKFold(2).split(counts, groups=PAGES)
    for score, (train, test) in zip(scores, folds, strict=True):
        fitted = fr.HTMM(2, **EM).fit(counts[train], groups=PAGES[train])
        assert fitted.score(counts[test], groups=PAGES[test]) == score
    assert np.isfinite(cross_val_score(fr.HTMM(2, **EM), TEXTS, cv=2)).all()


def test_groups_are_for_matrices():
    with pytest.raises(fr.InputError, match="groups must be None if X is a corpus"):
        fr.HTMM(2).fit(TEXTS, groups=[0] * len(TEXTS))
    model = fr.HTMM(2, **EM).fit(TEXTS)
    with pytest.raises(fr.InputError, match="groups must be None"):
        model.transform(TEXTS, groups=[0] * len(TEXTS))


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_topics": 0}, "n_topics must be a whole number, 1 or more; got 0"),
        ({"n_topics": 2.5}, "n_topics"),
        ({"inference": "vb"}, "inference must be one of 'gibbs', 'em'; got 'vb'"),
        ({"inference": "em", "document_prior": 0.5}, "document_prior must be at least 1 for EM"),
        ({"inference": "em", "word_prior": 0.99}, "word_prior must be at least 1 for EM"),
        ({"inference": "em", "switch_prior": (0.5, 1.0)}, "switch_prior.0. must be at least 1 for EM"),
        ({"inference": "em", "word_prior": fr.Gamma(1, 1)}, "must be a number for EM"),
        ({"inference": "em", "n_topics": None}, "n_topics must be a number for EM"),
        ({"document_prior": -1.0}, "document_prior must be a positive"),
        ({"word_prior": "small"}, "word_prior must be a positive number"),
        ({"switch_prior": 1.0}, "switch_prior must be the two numbers"),
        ({"switch_prior": (0.0, 1.0)}, "switch_prior.0. must be a positive"),
        ({"chains": 0}, "chains"),
        ({"draws": 0}, "draws"),
        ({"start": "somewhere"}, "start must be one of"),
        ({"start": 5}, "start must be .collapsed., .em. or .random. where"),
        ({"n_topics": None, "start": 0}, "start must be a whole number"),
        ({"decoding": "best"}, "decoding must be one of"),
        ({"inference": "em", "tolerance": 0.0}, "tolerance"),
        ({"inference": "em", "starts": 0}, "starts"),
        ({"seed": -1}, "seed"),
        ({"sentences": "german"}, "sentences must be one of"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(fr.InputError, match=message):
        fr.HTMM(**{"n_topics": 2, **settings}).fit(TEXTS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (fr.Corpus.from_tokens([["cat", "dog"]]), "needs sentences"),
        ("a text", "X must be a Corpus with sentences, a list of texts"),
        (5, "X must be a Corpus"),
        ([], "no documents|at least one"),
        ([""], "vocabulary"),
        ([[], []], "no tokens"),
        (pd.DataFrame({"text": ["A cat."]}), "column of texts"),
        ({"text": "A cat."}, "X must be a Corpus"),
        (
            csr_matrix([[0.5, 1.0]]),
            "counts, whole numbers .* got 0.5 at row 0, column 0.*use counts",
        ),
        ([[1, -1]], "Negative values in data passed to HTMM"),
        ([1, 2], "Expected 2D array"),
        (None, "X must be a Corpus"),
        (["A cat.", None], "position 1"),
    ],
)
def test_bad_data(data, message):
    with pytest.raises(fr.InputError, match=message):
        fr.HTMM(2).fit(data)


def test_not_fitted_and_what_needs_draws():
    for ask in ("topics", "document_topics", "sentence_topics", "summary", "get_feature_names_out"):
        with pytest.raises(NotFittedError, match=r"this HTMM is not fitted yet\. Call fit first") as caught:
            getattr(fr.HTMM(2), ask)()
        assert isinstance(caught.value, fr.InputError)
    for ask in ("transform", "segment", "score", "perplexity"):
        with pytest.raises(NotFittedError, match="Call fit first"):
            getattr(fr.HTMM(2), ask)(TEXTS)
    model = fr.HTMM(2, inference="em").fit(TEXTS)
    with pytest.raises(fr.InputError, match="need draws"):
        model.document_topics(level=0.95)
    with pytest.raises(fr.InputError, match="level"):
        fr.HTMM(2, **QUICK).fit(TEXTS).document_topics(level=1.5)


def test_new_words_only():
    model = fr.HTMM(2, inference="em").fit(TEXTS)
    with pytest.raises(fr.InputError, match="have no words"):
        model.segment("Quarks spin. Gluons bind.")
    with pytest.raises(fr.InputError, match="have no words"):
        model.score([[["quark"]]])
    assert len(model.sentence_topics([[["quark", "ship"], ["gluon"]]])) == 2
    with pytest.raises(fr.InputError, match="vocabulary that the model was fitted to"):
        model.transform(fr.Corpus.from_sentences([[["cat"]]]))


# --- matching -----------------------------------------------------------------------------------------------


def test_topics_that_change_their_names_are_matched():
    reference = np.array([0, 0, 1, 1, 2, 2])
    labels = np.array([2, 2, 0, 0, 1, 0])
    match = match_topics(reference, labels, np.ones(6), 3, 3)
    assert match.tolist() == [1, 2, 0]
    more = match_topics(reference, np.array([3, 3, 0, 0, 1, 2]), np.array([1, 1, 1, 1, 5, 1]), 3, 4)
    assert more.tolist() == [1, 2, NONE, 0]


def test_modes_of_matched_labels():
    shares = np.array([[2, 1, 0, 0], [0, 1, 2, 0], [0, 0, 0, 3]]) / 3.0  # the last column: no topic
    best, share = mode_of(shares)
    assert best.tolist() == [0, 2, NONE]
    assert share.tolist() == pytest.approx([2 / 3, 2 / 3, 0.0])
    assert mode_of(np.ones((2, 1)))[0].tolist() == [NONE, NONE]


def test_modes_do_not_alternate_between_topics_of_chains_that_disagree():
    """Two chains: the one has topics 0 and 1, the other 0 and 2 for the same sentences."""
    shares = np.array(
        [[0.0, 0.5, 0.5, 0.0], [0.1, 0.4, 0.5, 0.0], [0.0, 0.5, 0.45, 0.05], [0.0, 0.0, 0.5, 0.5]]
    )
    topics, share = mode_of(shares, np.array([True, True, False]))
    assert topics.tolist() == [1, 1, 1, 2]  # the last has none of the chain's topics
    assert share.tolist() == [0.5, 0.4, 0.5, 0.5]


def test_texts_are_shown_in_the_topics_of_one_chain():
    """Tables, pictures and reports: the second sentence has fruit in three draws of four, metal in one."""
    posterior = cases.segmented()
    consensus = posterior.consensus_topics
    fruit, metal = (int(posterior.find_topics(word).index[0]) for word in ("plum", "tin"))
    assert consensus.in_leading_chain.all()
    assert posterior.sentence_topics()["topic"][1] == fruit
    posterior = cases.segmented()
    leading = np.ones(3, bool)
    leading[fruit] = False
    vars(posterior.consensus_topics)["in_leading_chain"] = leading
    table = posterior.sentence_topics()
    assert table["topic"][:3].tolist() == [fruit, metal, metal]  # the first has nothing but fruit
    assert table["probability"][1] == 0.25
    assert posterior.pieces(0).topics[:3].tolist() == [fruit, metal, metal]
    rows = Labelled.of(posterior.consensus_topics, [0, 1], by_sentence=True)
    assert rows.topic[:6].tolist() == [fruit] * 2 + [metal] * 3 + [metal]


def test_the_leading_chain_has_the_topics_with_the_largest_share():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    other = np.where(
        labels == 0, 0, 1 + np.arange(100) % 7
    )  # the first topic is the same, the others are not
    corpus = fr.Corpus.from_tokens([[str(word)] for word in range(100)])
    consensus = posterior_of(corpus, [[labels] * 3, [other] * 3]).consensus_topics
    assert consensus.in_chain.sum() > len(consensus.in_leading_chain)  # the first topic counts twice
    covered = consensus.in_chain @ consensus.shares.mean(axis=0)
    assert consensus.in_leading_chain.tolist() == consensus.in_chain[covered.argmax()].tolist()
    assert not consensus.in_leading_chain.all()


def test_draws_whose_topics_have_changed_names_say_the_same(gibbs):
    """Every other draw with its topics exchanged: all that is found stays as it is."""
    posterior = gibbs.posterior_
    order = np.array([2, 0, 3, 1])
    exchanged = [
        [
            replace(draw, topics=order[draw.topics].astype(draw.topics.dtype)) if draw.draw % 2 else draw
            for draw in chain
        ]
        for chain in posterior.draws
    ]
    other = replace(posterior, draws=exchanged)
    assert np.array_equal(other.findings.sentence_topic, posterior.findings.sentence_topic)
    assert np.allclose(other.findings.topic_words, posterior.findings.topic_words)
    assert np.allclose(other.findings.proportions, posterior.findings.proportions)


# --- what is kept, and what is made of it -------------------------------------------------------------------


def test_a_second_fit_forgets_the_first(planted):
    model = fr.HTMM(2, **QUICK).fit(planted[0])
    model.set_params(inference="em").fit(planted[0].subset(range(30)))
    assert not hasattr(model, "posterior_")
    with pytest.raises(fr.InputError, match="intervals need draws"):
        model.document_topics(level=0.9)
    model.set_params(inference="gibbs", n_topics=3).fit(planted[0])
    assert not hasattr(model, "em_")
    assert model.summary().loc["n_topics", "mean"] <= 3


def test_new_text_goes_by_the_fit_not_by_later_settings():
    model = fr.HTMM(2, inference="em").fit(TEXTS)
    before = model.transform(TEXTS)
    model.set_params(inference="gibbs", seed=-1, decoding="none", document_prior="x")
    assert np.array_equal(model.transform(TEXTS), before)


def test_words_are_read_as_the_vocabulary_has_them():
    """Stop words and capitals that the model knows are not left out of new text."""
    documents = [[["The", "Ship"], ["The", "sea"]], [["The", "Cow"], ["grass"]]] * 5
    model = fr.HTMM(2, inference="em").fit(documents)
    assert model.sentence_topics("The Ship. The grass.")["tokens"].tolist() == [2, 2]


def test_new_text_is_read_as_the_corpus_was():
    """Stems, stop words, pairs of words and the rule of sentences are those of the corpus."""
    texts = ["Ships sailed: storms rose. The ship sails.", "Cows eat grass. A cow ate."] * 5
    corpus = fr.Corpus.from_texts(texts, stem="english", ngrams=(1, 2), stop_words=["a"], sentences="simple")
    model = fr.HTMM(2, inference="em").fit(corpus)
    table = model.sentence_topics("A cow: ships sailing. Cow eats a grass.")
    assert table["tokens"].tolist() == [1, 3, 5]  # "ship sail" and "cow eat", "eat grass" are known pairs


def test_em_with_flat_priors_and_more_words_than_the_race_sees():
    flat, truth = simulate(np.random.default_rng(8), documents=250, sentences=12, topics=3, epsilon=0.3)
    plain = corpus_of(flat)
    words = plain.observations.copy()
    words[:: plain.n_tokens // 100] = np.arange(
        200, 200 + len(words[:: plain.n_tokens // 100])
    )  # each only once
    vocabulary = [str(word) for word in range(words.max() + 1)]
    corpus = fr.Corpus(words, plain.offsets, vocabulary, sentences=plain.sentences)
    model = fr.HTMM(3, inference="em", word_prior=1.0, document_prior=1.0).fit(corpus)
    assert np.isfinite(model.em_.objectives).all()
    assert matched_share(model.sentence_topics()["topic"].to_numpy(), truth.topics) > 0.95


def test_nothing_to_score():
    model = fr.HTMM(2, inference="em").fit(TEXTS)
    with pytest.raises(fr.InputError, match="no words to score"):
        model.perplexity(["The ship sailed the sea. Quarks spin."])
    assert model.perplexity(["The ship sailed the sea. Quarks spin."], completed=False) > 1.0


@pytest.mark.parametrize("options", [{"document_prior": 0.001}, {"n_topics": None, "alpha": 1e-5}], ids=str)
def test_intervals_with_tiny_priors_and_empty_documents(options):
    model = fr.HTMM(**{"n_topics": 2, "word_prior": 0.1, **QUICK, **options}).fit([*TEXTS, ""])
    assert np.isfinite(model.document_topics(level=0.9).to_numpy()).all()


def test_a_tiny_prior_of_switches():
    for switch_prior in ((1.0, 1e-16), (1e-300, 1e-300)):
        assert 0.0 <= fr.HTMM(2, **QUICK, switch_prior=switch_prior).fit(TEXTS).switch_probability_ <= 1.0


def test_intervals_end_where_they_should(gibbs):
    """Those of the proportions of a document are quantiles of draws of them."""
    posterior = gibbs.posterior_
    draws = posterior.proportion_draws(np.arange(80), np.random.default_rng(0))
    assert np.allclose(draws.sum(axis=2), 1.0)
    error = draws.std(axis=0) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - gibbs.document_topics().to_numpy()) <= 6 * error).all()
    for level in (0.5, 0.95):
        table = gibbs.document_topics(level=level)
        inside = [
            (draws[:, :, topic] >= table[topic]["low"].to_numpy())
            & (draws[:, :, topic] <= table[topic]["high"].to_numpy())
            for topic in range(4)
        ]
        assert np.mean(inside) == pytest.approx(level, abs=0.05)


def test_draws_of_words(gibbs):
    posterior = gibbs.posterior_
    draws = posterior.word_draws(np.array([3, 7]), np.random.default_rng(0))
    expected = gibbs.topic_words_[:, [3, 7]]
    error = draws.std(axis=0) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - expected) < 6 * error + 1e-6).all()


def test_intervals_of_what_is_traced(gibbs):
    with pytest.raises(fr.InputError, match="name must be one of"):
        gibbs.posterior_.interval("nothing")
    with pytest.raises(fr.InputError, match="level"):
        gibbs.posterior_.interval("switch_probability", 3)


def test_a_prior_of_documents_counts(planted):
    """A strong one makes the proportions of new documents even."""
    new = planted[0].subset(range(10))
    spread = [
        fr.HTMM(4, inference="em", document_prior=prior).fit(planted[0]).transform(new).std()
        for prior in (1.0, 50.0)
    ]
    assert spread[1] < 0.5 * spread[0]


def test_weights_of_topics_and_unseen_ones(learned):
    posterior = learned.posterior_
    draw = posterior.draws[0][0]
    prior = posterior.topic_prior(draw)
    assert prior.sum() == pytest.approx(draw.concentration)
    assert prior[:-1] / prior[:-1].sum() == pytest.approx(draw.tables_per_topic / draw.tables_per_topic.sum())
    counts = posterior.switch_counts(draw)
    assert counts.sum() == draw.switches.sum()
    assert (counts[:, -1] == 0).all()
    drawn = [posterior.topic_prior(draw, np.random.default_rng(seed)) for seed in range(500)]
    assert np.allclose(np.mean(drawn, axis=0), prior, atol=0.02 * draw.concentration)


def test_a_chain_goes_on_from_its_arrays(planted, learned, gibbs):
    """As a checkpoint does it: the same draws."""
    for posterior in (gibbs.posterior_, learned.posterior_):
        model, engine = posterior.model, fr.engines.Threads(1)
        asked = Sampling(draws=1, warmup=0, thin=1, chains=1, start="random", starts=1, progress=False)
        state = start_state(model, asked, Streams(1, 0, 0, 2**31), engine)
        chain = HTMMChain(model, state, 1, 0, 0, engine)
        for _ in range(3):
            chain.sweep()
        arrays = {name: array.copy() for name, array in chain.to_arrays().items()}
        kept = chain.snapshot(0, chain.labels())
        again = HTMMChain(model, state_from_arrays(model, arrays, engine), 1, 0, 0, engine, sweeps=3)
        for _ in range(2):
            assert chain.sweep().items() >= {**again.sweep(), BEST: chain.best}.items()
        restored = HTMMDraw.restored(kept.scalars(), kept.to_arrays(), len(kept.topics))
        assert restored.scalars() == kept.scalars() or math.isnan(kept.top_concentration)
        assert np.array_equal(restored.topics, kept.topics)
