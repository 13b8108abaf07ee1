"""`fr.HDP`: what goes in, what comes out, and that it is what the draws say."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline

import franchise as fr
from franchise.diagnostics import document_completion, group_completion
from franchise.posterior.intervals import even_rows
from tests.diagnostics.naive_held_out import NaiveDraw
from tests.support.predictions import completion_probabilities

SEA = ["the ship sailed the sea", "waves hit the ship at sea", "a captain sailed on the waves"]
LAND = ["farmers plough the field", "wheat grows in the field", "cows eat wheat and farmers plough"]
TEXTS = (SEA + LAND) * 4
QUICK = {"sampler": "direct", "draws": 6, "warmup": 10, "start": 5, "chains": 2, "workers": 1}

CORPUS = fr.Corpus.from_texts(TEXTS)
COUNTS = CORPUS.to_matrix().toarray()
WORDS = CORPUS.vocabulary

rng = np.random.default_rng(3)
LABELS = np.array(["b", "a", "d", "c", "b", "e"] * 8)
ANTS = rng.poisson(np.where(rng.random((48, 1)) < 0.5, [[1.0, 9.0]], [[8.0, 0.5]]))


@pytest.fixture(scope="module")
def words():
    return fr.HDP(**QUICK).fit(CORPUS)


@pytest.fixture(scope="module")
def ants():
    return fr.HDP(fr.Poisson(), **QUICK).fit(ANTS, groups=LABELS)


def naive_draws(model):
    """The draws that are matched, with dictionaries and loops, and the consensus topic of each of their topics."""
    consensus = model.posterior_.consensus_topics
    for draw, match in zip(consensus.draws, consensus.matches, strict=True):
        parts = [
            np.split(each, CORPUS.offsets[1:-1]) for each in (CORPUS.observations, draw.labels.astype(int))
        ]
        documents, labels = ([part.tolist() for part in each] for each in parts)
        kept = draw.kept
        tables, prior = kept.tables_per_topic.tolist(), [0.1] * len(WORDS)
        naive = NaiveDraw(documents, labels, tables, kept.alpha, kept.gamma, prior)
        yield naive, {**dict(enumerate(match.tolist())), "unseen": -1}


def by_consensus(weights, match, topics):
    """Weights of a draw's topics, a dictionary, added up by consensus topic; the last is for all others."""
    row = np.zeros(topics + 1)
    for topic, weight in weights.items():
        row[match[topic]] += weight
    return row


# --- consensus topics ---------------------------------------------------------------------------------------


def test_tables_are_those_of_the_posterior(words):
    posterior = words.posterior_
    assert words.topics(words=3).equals(posterior.topics(words=3))
    assert words.document_topics().equals(posterior.document_topics())
    assert words.n_topics_ == len(posterior.topics()) > 1
    assert len(words.topics(words=3)["words"].iloc[0].split()) == 3
    assert "r_hat" in words.summary().columns


def test_components_and_shares_equal_loops(words):
    topics = words.n_topics_
    total, seen = np.zeros((topics, len(WORDS))), np.zeros(topics)
    shares = []
    for draw, match in naive_draws(words):
        for topic, number in match.items():
            if topic != "unseen" and number >= 0:
                total[number] += [draw.phi(topic, word) for word in range(len(WORDS))]
                seen[number] += 1
        rows = map(draw.weights_of_training_document, range(len(TEXTS)))
        shares.append([by_consensus(weights, match, topics) for weights in rows])
    np.testing.assert_allclose(words.components_, total / seen[:, None], rtol=1e-12)
    np.testing.assert_allclose(words.document_topics().to_numpy(), np.mean(shares, axis=0), rtol=1e-12)


def test_transform_equals_loops(words):
    draws = even_rows(list(naive_draws(words)), 10)
    found = words.transform(["ship ship wheat", "cows and captain farmers", "sea"])
    for row, text in zip(found, ["ship ship wheat", "cows captain farmers", "sea"], strict=True):
        ids = [WORDS.index(word) for word in text.split()]
        expected = [by_consensus(draw.exact_weights(ids), match, words.n_topics_) for draw, match in draws]
        np.testing.assert_allclose(row, np.mean(expected, axis=0), rtol=1e-9)


def test_transform_has_the_weights_that_scores_are_made_of(words):
    """Of a single draw: sum_k E[pi_k] phi_kw is what document completion has for every word."""
    reference = words.posterior_.draw().stored
    alone = replace(
        words.posterior_,
        snapshots=[[replace(reference.kept, draw=0)]],
        trace={name: values[:1, :1] for name, values in words.posterior_.trace.items()},
        run=None,
    )
    first = CORPUS.subset([0, 4])
    documents, all_words = (grid.ravel() for grid in np.indices((2, len(WORDS))))
    found = completion_probabilities(alone, first, documents, all_words).reshape(2, -1)
    model = clone(words)._take_draws(alone)
    topics = np.vstack([model.components_, np.full(len(WORDS), 1 / len(WORDS))])
    np.testing.assert_allclose(model.transform(first) @ topics, found, rtol=1e-12)


def test_documents_without_known_words_have_the_weights_of_topics(words):
    expected = []
    for draw, match in even_rows(
        list(
            zip(
                words.posterior_.consensus_topics.draws,
                words.posterior_.consensus_topics.matches,
                strict=True,
            )
        ),
        10,
    ):
        kept = draw.kept
        prior = np.append(kept.tables_per_topic, kept.gamma) / (kept.tables_per_topic.sum() + kept.gamma)
        expected.append(by_consensus(dict(enumerate(prior)), np.append(match, -1), words.n_topics_))
    prior = np.mean(expected, axis=0)
    for unknown in (
        ["quark"],
        iter(["quark"]),
        np.zeros((1, len(WORDS)), int),
        csr_array((1, len(WORDS)), dtype=int),
    ):
        np.testing.assert_allclose(words.transform(unknown), [prior], rtol=1e-12)
    np.testing.assert_allclose(words.transform(["ship", "quark gluon"])[1], prior, rtol=1e-12)


def test_columns_of_words_that_are_learned():
    model = fr.HDP(prior=fr.Gamma(1, 1), **QUICK).fit(CORPUS)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    assert model.posterior_.trace["prior"].std() > 0
    uneven = fr.HDP(prior=np.linspace(0.1, 1.0, len(WORDS)), **QUICK).fit(CORPUS)
    assert uneven.posterior_.family.prior[-1] == 1.0


def test_missing_numbers_are_refused_by_row_and_column():
    frame = pd.DataFrame(ANTS * 1.0, columns=["red", "black"])
    frame.loc[[3, 7], "black"] = [np.nan, np.inf]
    message = r"X must have no missing.*got NaN at row 3, column 'black'\. Rows.*\(2 in total\): 3, 7\. Drop"
    with pytest.raises(fr.InputError, match=message):
        fr.HDP(fr.GaussianDiagonal(2), **QUICK).fit(frame, groups=LABELS)
    masked = np.ma.array(ANTS, mask=np.arange(96).reshape(48, 2) == 9)
    with pytest.raises(fr.InputError, match=r"a missing value at row 4, column 1"):
        fr.HDP(fr.Poisson(), **QUICK).fit(masked, groups=LABELS)
    counts = csr_array(COUNTS * 1.0)
    counts.data[-1] = np.nan
    with pytest.raises(fr.InputError, match=r"got NaN at row 23"):
        fr.HDP(**QUICK).fit(counts)


# --- scores -------------------------------------------------------------------------------------------------


def test_score_is_document_completion(words):
    held_out = CORPUS.subset(range(5))
    expected = document_completion(words.posterior_, held_out)
    assert words.score(held_out) == expected.log_probability_per_word
    assert words.perplexity(held_out) == pytest.approx(expected.perplexity, rel=1e-12)
    from_counts = fr.Corpus.from_matrix(COUNTS[:5], WORDS)
    expected = document_completion(words.posterior_, from_counts).log_probability_per_word
    assert words.score(COUNTS[:5]) == words.score(csr_array(COUNTS[:5])) == expected


def test_score_of_observations_is_group_completion(ants):
    held_out = fr.Groups(ANTS[:20], LABELS[:20])
    assert ants.score(ANTS[:20], groups=LABELS[:20]) == group_completion(ants.posterior_, held_out)
    assert ants.score(held_out) == ants.score(ANTS[:20], groups=LABELS[:20])
    assert ants.score(ANTS, groups=LABELS) > ants.score(ANTS[:, ::-1] + 5, groups=LABELS)


# --- what goes in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        COUNTS.astype(np.float32),
        COUNTS.tolist(),
        csr_array(COUNTS),
        pd.DataFrame(COUNTS, columns=WORDS),
        pl.DataFrame(COUNTS, schema=WORDS),
    ],
    ids=["dense", "floats", "lists", "sparse", "pandas", "polars"],
)
def test_matrices_of_all_kinds_are_the_same(counts):
    same = fr.HDP(**QUICK).fit(fr.Corpus.from_matrix(COUNTS, WORDS))
    model = fr.HDP(**QUICK).fit(counts, y=np.arange(len(TEXTS)))
    np.testing.assert_array_equal(model.posterior_.trace["log_joint"], same.posterior_.trace["log_joint"])
    np.testing.assert_array_equal(model.transform(counts), same.transform(COUNTS))
    assert model.n_features_in_ == same.n_features_in_ == len(WORDS)
    if hasattr(counts, "columns"):
        assert model.feature_names_in_.tolist() == WORDS
        assert model.topics().equals(same.topics())
        assert np.allclose(model.transform(["ship"]), same.transform(["ship"]))
    else:
        assert not hasattr(model, "feature_names_in_")
        assert model.topics(vocabulary=WORDS).equals(same.topics())


@pytest.mark.parametrize(
    "texts",
    [TEXTS, pd.Series(TEXTS, index=range(100, 124)), pl.Series(TEXTS), np.array(TEXTS), iter(TEXTS)],
    ids=["list", "pandas", "polars", "array", "iterator"],
)
def test_texts_of_all_kinds_are_the_same(texts, words):
    model = fr.HDP(**QUICK).fit(texts)
    np.testing.assert_array_equal(model.posterior_.trace["log_joint"], words.posterior_.trace["log_joint"])
    np.testing.assert_array_equal(model.transform(TEXTS), words.transform(COUNTS))
    assert model.n_features_in_ == len(WORDS)


@pytest.mark.parametrize(
    ("observations", "labels"),
    [
        (ANTS.astype(float), LABELS.tolist()),
        (pd.DataFrame(ANTS, columns=["x", "y"]), pd.Series(LABELS)),
        (pl.DataFrame(ANTS, schema=["x", "y"]), pl.Series(LABELS)),
    ],
    ids=["floats", "pandas", "polars"],
)
def test_observations_of_all_kinds_are_the_same(observations, labels, ants):
    model = fr.HDP(fr.Poisson(), **QUICK).fit(observations, groups=labels)
    np.testing.assert_array_equal(model.posterior_.trace["log_joint"], ants.posterior_.trace["log_joint"])
    weights = model.transform(observations, groups=labels)
    np.testing.assert_array_equal(weights, ants.transform(fr.Groups(ANTS, LABELS)))
    assert weights.shape == (5, model.n_topics_ + 1)
    assert model.n_features_in_ == 2


def test_one_number_an_observation():
    model = fr.HDP(fr.Categorical(3), **QUICK).fit(ANTS[:, 0] % 3, groups=LABELS)
    assert model.n_features_in_ == 1
    found = model.transform(pd.Series([0, 1, 2]), groups=["x", "y", "x"])
    assert found.shape == (2, model.n_topics_ + 1)
    np.testing.assert_array_equal(found, model.transform([[0], [1], [2]], groups=["x", "y", "x"]))
    assert model.components_.shape == (model.n_topics_, 3)


def test_rows_of_counts_that_share_a_topic():
    model = fr.HDP(fr.Multinomial(2, 0.5), **QUICK).fit(csr_array(ANTS), groups=LABELS)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    assert model.transform(ANTS, groups=LABELS).shape == (5, model.n_topics_ + 1)


def test_a_family_of_categories_takes_words_too():
    model = fr.HDP(fr.Categorical.by_frequency(CORPUS), **QUICK).fit(COUNTS)
    assert model.transform(COUNTS[:3]).shape == (3, model.n_topics_ + 1)


def test_a_family_that_is_not_conjugate():
    settings = {**QUICK, "sampler": "parallel", "draws": 2, "warmup": 2}
    model = fr.HDP(fr.GaussianIndependent(2), **settings).fit(ANTS * 1.0, groups=LABELS)
    weights = model.transform(ANTS, groups=LABELS)
    assert np.allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_array_equal(weights, model.transform(ANTS, groups=LABELS))
    assert np.isfinite(model.score(ANTS, groups=LABELS))


# --- frames that come out -----------------------------------------------------------------------------------


def test_frames_of_documents(words):
    model = clone(words).set_output(transform="pandas").fit(COUNTS)
    frame = pd.DataFrame(COUNTS[:3], index=["x", "y", "z"])
    found = model.transform(frame)
    assert found.index.tolist() == ["x", "y", "z"]
    assert found.columns.tolist() == model.get_feature_names_out().tolist()
    assert found.columns.tolist() == [*(f"topic{k}" for k in range(model.n_topics_)), "other"]
    assert isinstance(model.fit_transform(COUNTS), pd.DataFrame)
    assert model.transform(fr.Corpus.from_matrix(COUNTS[:2], names=["one", "two"])).index.tolist() == [
        "one",
        "two",
    ]
    as_polars = model.set_output(transform="polars").transform(frame)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == found.columns.tolist()
    np.testing.assert_array_equal(as_polars.to_numpy(), found.to_numpy())


def test_frames_of_groups(ants):
    model = pickle.loads(pickle.dumps(ants)).set_output(transform="pandas")
    frame = pd.DataFrame(ANTS)
    found = model.transform(frame, groups=LABELS)
    assert found.index.tolist() == ["b", "a", "d", "c", "e"]
    assert found.index.name == "group"
    np.testing.assert_array_equal(found.to_numpy(), ants.transform(ANTS, groups=LABELS))
    assert model.fit_transform(frame, groups=LABELS).equals(found)
    assert len(model.set_output(transform="polars").transform(frame, groups=LABELS)) == 5


# --- an estimator -------------------------------------------------------------------------------------------


def test_fit_transform_is_fit_then_transform(words):
    model = clone(words)
    np.testing.assert_array_equal(model.fit_transform(TEXTS), words.transform(CORPUS))


def test_clone_parameters_and_repr():
    model = fr.HDP(fr.Poisson(), prior=0.3, alpha=2.0, gamma=fr.Gamma(2, 1), engine=fr.engines.Threads(2))
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert repr(copy) == repr(model)
    assert "gamma=Gamma(shape=2.0, rate=1.0)" in repr(model)
    assert copy.engine.workers == 2
    assert copy.engine is not model.engine
    assert fr.HDP().set_params(prior=0.7).prior == 0.7
    assert repr(fr.HDP()) == "HDP()"


@pytest.mark.parametrize("sampler", ["direct", "crf", "parallel"])
def test_pickle(sampler, ants):
    model = fr.HDP(**{**QUICK, "sampler": sampler, "draws": 2, "warmup": 2}).fit(CORPUS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    assert again.score(TEXTS) == model.score(TEXTS)
    assert repr(pickle.loads(pickle.dumps(fr.HDP(prior=0.2)))) == "HDP(prior=0.2)"
    assert pickle.loads(pickle.dumps(ants)).score(ANTS, groups=LABELS) == ants.score(ANTS, groups=LABELS)


def test_a_second_fit_forgets_the_first():
    model = fr.HDP(**QUICK).fit(pd.DataFrame(COUNTS, columns=WORDS))
    model.fit(["cats purr", "dogs bark"])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4


def test_arguments_reach_the_sampler(tmp_path):
    model = fr.HDP(
        sampler="crf",
        alpha=0.5,
        gamma=2.0,
        draws=3,
        warmup=4,
        thin=2,
        chains=3,
        seed=5,
        keep_labels=True,
        run_dir=tmp_path / "run",
        progress=False,
        start=3,
    ).fit(CORPUS)
    posterior = model.posterior_
    assert posterior.labels.shape == (3, 3, CORPUS.n_tokens)
    assert posterior.warmup_trace["n_topics"].shape == (3, 4)
    assert (posterior.trace["alpha"] == 0.5).all()
    assert (posterior.trace["gamma"] == 2.0).all()
    assert (posterior.sampler, posterior.seed) == ("crf", 5)
    assert fr.load(tmp_path / "run").n_draws == 3
    finite = fr.HDP(sampler="finite", finite_topics=3, draws=2, warmup=2, chains=2).fit(CORPUS)
    assert finite.posterior_.trace["n_topics"].max() <= 3


# --- in the company of scikit-learn -------------------------------------------------------------------------


def test_in_a_pipeline():
    pipeline = Pipeline([("count", CountVectorizer()), ("topics", fr.HDP(**QUICK))])
    scores = cross_val_score(pipeline, TEXTS, cv=3)
    assert np.isfinite(scores).all()
    search = GridSearchCV(pipeline, {"topics__prior": [0.1, 50.0]}, cv=2).fit(TEXTS)
    assert search.best_params_ == {"topics__prior": 0.1}  # topics that are all alike predict worse
    assert search.transform(["ship"]).shape[1] == search.best_estimator_[-1].n_topics_ + 1
    pipeline[1].set_output(transform="pandas")
    table = pipeline.fit_transform(pd.Series(TEXTS))
    assert table.columns[-1] == pipeline.get_feature_names_out()[-1] == "other"
    vocabulary = pipeline[0].get_feature_names_out()
    assert set(" ".join(pipeline[1].topics(vocabulary=vocabulary)["words"]).split()) <= set(vocabulary)


def test_in_other_processes():
    model = fr.HDP(**QUICK)
    alone = cross_val_score(model, COUNTS, cv=2)
    np.testing.assert_array_equal(cross_val_score(model, COUNTS, cv=2, n_jobs=2), alone)


def test_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = fr.HDP(fr.Poisson(), **QUICK).set_fit_request(groups=True).set_score_request(groups=True)
        scores = cross_val_score(model, ANTS, cv=GroupKFold(2), params={"groups": LABELS})
    folds = GroupKFold(2).split(ANTS, groups=LABELS)
    for score, (train, test) in zip(scores, folds, strict=True):
        fitted = clone(model).fit(ANTS[train], groups=LABELS[train])
        assert fitted.score(ANTS[test], groups=LABELS[test]) == score


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (fr.HDP(), {"X": [[0.5, 1.0]]}, "counts, whole numbers .* got 0.5 at row 0, column 0.*use counts"),
        (fr.HDP(), {"X": [[1, -2]]}, "Negative values in data passed to HDP"),
        (fr.HDP(), {"X": [[1, np.nan]]}, "NaN"),
        (fr.HDP(), {"X": [1, 2, 3]}, "Expected 2D array"),
        (fr.HDP(), {"X": "a text"}, "X must be a Corpus, texts, or a document-term matrix; got 'a text'"),
        (fr.HDP(), {"X": None}, "X must be a Corpus"),
        (fr.HDP(), {"X": {"a": [1]}}, "X must be a Corpus"),
        (fr.HDP(), {"X": pd.DataFrame({"text": TEXTS})}, "column of texts"),
        (fr.HDP(), {"X": pl.DataFrame({"text": TEXTS})}, "column of texts"),
        (fr.HDP(), {"X": ["a text", None]}, "position 1"),
        (fr.HDP(), {"X": np.zeros((2, 3), int)}, "no tokens"),
        (fr.HDP(), {"X": COUNTS, "groups": [0] * 24}, "groups must be None for words"),
        (fr.HDP(), {"X": CORPUS, "groups": [0] * 24}, "groups must be None if X is a Corpus"),
        (fr.HDP(), {"X": fr.Groups([1], [0])}, "family must be given for Groups"),
        (fr.HDP("poisson"), {"X": COUNTS}, "family must be a family"),
        (fr.HDP(fr.Poisson()), {"X": ANTS}, r"groups must name .* family Poisson: fit\(X, groups=labels\)"),
        (fr.HDP(fr.Poisson()), {"X": ANTS, "groups": LABELS[:3]}, "3 labels for 48 observations"),
        (fr.HDP(fr.Poisson()), {"X": "ants", "groups": LABELS}, "X must be Groups, or observations"),
        (fr.HDP(fr.Poisson()), {"X": [[1], [2, 3]], "groups": [0, 1]}, "inhomogeneous"),
        (fr.HDP(fr.GaussianFull(3)), {"X": ANTS, "groups": LABELS}, "3 column"),
        (fr.HDP(draws=0), {"X": COUNTS}, "draws"),
        (fr.HDP(prior=-1.0), {"X": COUNTS}, "prior must be a positive"),
    ],
)
def test_what_cannot_be_fitted(model, arguments, message):
    with pytest.raises(fr.InputError, match=message):
        model.fit(**arguments)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (COUNTS[:, :3], f"X has 3 features, but HDP is expecting {len(WORDS)} features as input"),
        (fr.Corpus.from_texts(["cats purr"]), "vocabulary of the training corpus"),
        (fr.Groups([1, 2], [0, 1]), "X must be Corpus"),
    ],
)
def test_new_data_must_be_like_the_old(X, message, words):
    for call in (words.transform, words.score, words.perplexity):
        with pytest.raises(fr.InputError, match=message):
            call(X)


def test_what_a_model_does_not_have(words, ants):
    nameless = fr.HDP(**QUICK).fit(COUNTS)
    with pytest.raises(fr.InputError, match="without column names"):
        nameless.transform(["ship"])
    with pytest.raises(fr.InputError, match="vocabulary must have one word per column"):
        nameless.topics(vocabulary=["ship"])
    with pytest.raises(AttributeError, match="family Poisson do not have"):
        ants.components_  # noqa: B018
    with pytest.raises(fr.InputError, match="groups must name"):
        ants.transform(ANTS)
    with pytest.raises(fr.InputError, match="X must be Groups"):
        ants.transform(CORPUS)
    with pytest.raises(fr.InputError, match="X has 3 features, but HDP is expecting 2"):
        ants.transform(np.ones((48, 3)), groups=LABELS)
    with pytest.raises(fr.InputError, match=r"at least two tokens|no tokens"):
        words.score(["quark"])


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.transform(COUNTS),
        lambda model: model.score(COUNTS),
        lambda model: model.topics(),
        lambda model: model.document_topics(),
        lambda model: model.summary(),
        lambda model: model.get_feature_names_out(),
        lambda model: model.components_,
    ],
)
def test_not_fitted(ask):
    with pytest.raises(NotFittedError, match=r"this HDP is not fitted yet\. Call fit first") as caught:
        ask(fr.HDP())
    assert isinstance(caught.value, fr.InputError)
