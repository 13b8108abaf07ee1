"""Effects of metadata on the prevalence of topics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import franchise as fr
from franchise.posterior.regression import LeastSquares
from tests.posterior.making import posterior_of, segments, tiny

WORDS = 4  # of a topic


def simulated(rng, documents=40, length=30, draws=20, means=((0.7, 0.3), (0.4, 0.6)), noise=0.0, more=None):
    """Two topics with words of their own, two classes with these mean proportions, and draws of noisy labels."""
    classes = np.arange(documents) % 2
    theta = np.array([rng.beta(*(4.0 * np.array(means[own]))) for own in classes])
    labels = (rng.random((documents, length)) >= theta[:, None]).astype(int).ravel()
    tokens = labels * WORDS + rng.integers(WORDS, size=len(labels))
    metadata = {"class": [("a", "b")[own] for own in classes], **(more or {})}
    corpus = fr.Corpus(tokens, np.arange(documents + 1) * length, list("abcdefgh"), metadata=metadata)
    chains = [
        [np.where(rng.random(len(labels)) < noise, 1 - labels, labels) for _ in range(draws // 2)]
        for _ in range(2)
    ]
    return posterior_of(corpus, chains), labels.reshape(documents, length)


def test_without_uncertainty_of_topics_it_is_least_squares():
    """All draws are the same, so intervals are those of the t distribution."""
    posterior, labels = simulated(np.random.default_rng(0))
    shares, classes = 1.0 - labels.mean(axis=1), np.arange(40) % 2
    topic = 0 if posterior.consensus_topics.shares.mean(axis=0)[0] == pytest.approx(shares.mean()) else 1
    effects = posterior.effect("~ class", errors="classical")
    row = effects.table(topic).set_index("term").loc["class[b]"]
    groups = [shares[classes == own] for own in (0, 1)]
    difference = groups[1].mean() - groups[0].mean()
    variance = sum(group.var(ddof=0) * 20 for group in groups) / 38
    error = np.sqrt(variance * (1 / 20 + 1 / 20))
    assert row["estimate"] == pytest.approx(difference)
    half = t.ppf(0.975, 38) * error
    assert [row["low"], row["high"]] == pytest.approx([difference - half, difference + half], abs=0.15 * half)
    assert row["standard_error"] == pytest.approx(error * np.sqrt(38 / 36), rel=0.06)
    assert row["reliability"] == pytest.approx(1.0)


def test_robust_errors_are_hc3():
    rng = np.random.default_rng(1)
    matrix = np.column_stack([np.ones(30), rng.normal(size=30)])
    squares = LeastSquares.of(matrix, ["one", "x"])
    response = rng.normal(size=(30, 2)) * np.abs(matrix[:, 1:])
    residuals = response - matrix @ squares.solver @ response
    inverse = np.linalg.inv(matrix.T @ matrix)
    leverage = np.diag(matrix @ inverse @ matrix.T)
    for topic, found in enumerate(squares.covariance(residuals, "robust")):
        meat = matrix.T @ np.diag((residuals[:, topic] / (1 - leverage)) ** 2) @ matrix
        assert found == pytest.approx(inverse @ meat @ inverse)


def test_uncertain_topics_widen_intervals():
    certain = simulated(np.random.default_rng(2))[0].effect("~ class").contrast("class", "b", "a")
    uncertain = (
        simulated(np.random.default_rng(2), noise=0.2)[0].effect("~ class").contrast("class", "b", "a")
    )
    width = [(table["high"] - table["low"]).mean() for table in (certain, uncertain)]
    size = [table["estimate"].abs().mean() for table in (certain, uncertain)]
    assert width[1] / size[1] > 1.2 * width[0] / size[0]
    assert uncertain["reliability"].max() < certain["reliability"].min()


@pytest.mark.parametrize("measure", ["observations", "proportions"])
def test_coverage_of_intervals(measure):
    """Of 95% intervals for a contrast on simulated prevalence, as many have it as should."""
    covered = 0
    for seed in range(40):
        posterior, _ = simulated(np.random.default_rng(seed), draws=2)
        table = posterior.effect("~ class", measure=measure).contrast("class", "b", "a")
        covered += bool(table["low"].iloc[0] <= 0.3 <= table["high"].iloc[0])
    assert covered >= 33  # 38 minus 3.5 standard errors of 1.4; half the width would cover 27


def test_predictions_and_contrasts_agree():
    more = {"year": np.linspace(1900, 1990, 40).round().tolist()}
    effects = simulated(np.random.default_rng(3), more=more, noise=0.05)[0].effect("~ class * s(year, df=3)")
    table = effects.predict(**{"class": ["a", "b"]}, year=[1920, 1980])
    assert len(table) == 8
    assert table.groupby(["class", "year"])["estimate"].sum().tolist() == pytest.approx([1.0] * 4)
    own = table[(table["year"] == 1980) & (table["topic"] == 0)].set_index("class")["estimate"]
    contrast = effects.contrast("class", "b", "a", year=1980).loc[0]
    assert contrast["estimate"] == pytest.approx(own["b"] - own["a"])
    rows = effects.predict(pd.DataFrame({"class": ["b"], "year": ["1980"]}), topics=0)
    assert rows["estimate"].item() == pytest.approx(own["b"])
    mean = effects.predict(topics=1)
    at_mean = effects.predict(year=np.mean(more["year"]), **{"class": "a"}, topics=1)
    assert mean["estimate"].item() == pytest.approx(at_mean["estimate"].item())


def test_documents_without_values_are_left_out_and_reported():
    posterior = tiny(metadata={"x": [1, 2, 3, 4], "who": ["a", "b", "b", None]})
    posterior.data.metadata["who"] = ["a", "b", "b", "a"]
    posterior.data.metadata["x"] = [0, 1, 5, None]
    with pytest.raises(fr.InputError, match="2 coefficients for 2 documents"):
        posterior.effect("~ x")
    more = {"year": [1900, "c. 1901", None, *range(1903, 1940)]}
    effects = simulated(np.random.default_rng(4), more=more)[0].effect("~ year")
    assert effects.n_documents == 38
    assert effects.table().attrs["note"] == (
        "1 value of 'year' is not a number, and so missing: 'c. 1901'. "
        "Not regressed: 2 documents without a value, of 40."
    )
    assert effects.note in repr(effects)


def test_bad_input():
    more = {"twice": list("uv") * 20, "year": list(range(40))}
    posterior = simulated(np.random.default_rng(5), more=more)[0]
    with pytest.raises(fr.InputError, match=r"column twice\[v\] follows from those before it"):
        posterior.effect("~ class + twice")
    with pytest.raises(fr.InputError, match="more documents than coefficients"):
        posterior.effect("~ factor(year)")
    with pytest.raises(fr.InputError, match="measure must be one of"):
        posterior.effect("~ class", measure="theta")
    effects = posterior.effect("~ class + s(year)")
    with pytest.raises(fr.InputError, match="not a column of the formula"):
        effects.contrast("party", "a", "b")
    with pytest.raises(fr.InputError, match="class must be one of 'a', 'b'; got 'c'"):
        effects.contrast("class", "a", "c")
    with pytest.raises(fr.InputError, match="cannot be extrapolated; got 99"):
        effects.predict(year=99)
    with pytest.raises(fr.InputError, match="year must be a number; got 'x'"):
        effects.predict(year="x")
    with pytest.raises(fr.InputError, match="topics must be"):
        effects.table(topics=[2])
    with pytest.raises(fr.InputError, match="not both"):
        effects.predict({"year": [1]}, year=1)
    with pytest.raises(fr.InputError, match="same length"):
        effects.predict({"year": [1], "class": ["a", "b"]})


def test_the_same_draws_give_the_same_table():
    posterior = simulated(np.random.default_rng(6), noise=0.1)[0]
    tables = [posterior.effect("~ class", measure="proportions").table() for _ in range(2)]
    pd.testing.assert_frame_equal(*tables)


def test_a_topic_that_a_chain_lacks_has_no_effect_there():
    posterior = tiny(metadata={"x": [0.0, 1.0, 2.0, 4.0]})
    row = posterior.effect("~ x").contrast("x", 1, 0).loc[2]  # in the last of four draws only
    assert row["draws"] == 0.25
    assert row["sign"] <= 0.25


def test_sentences_and_labels():
    sentences = [[["a", "b"], ["c", "d"]], [["a", "b"], ["a", "b"]], [["c", "d"], ["c", "c"]]] * 4
    tags = {"tags": [["u"], ["v"], ["u", "v"], [], ["u"], ["v"]] * 2}
    corpus = fr.Corpus.from_sentences(sentences, metadata=tags)
    posterior = segments([[[0, 1, 0, 0, 1, 1] * 4] * 3], corpus, 2)
    for measure in ("observations", "proportions"):
        table = posterior.effect("~ tags", measure=measure).contrast("tags", ["u", "v"], None)
        assert table["estimate"].sum() == pytest.approx(0.0, abs=1e-9)


def test_a_curve_over_dates_can_be_plotted():
    """Points of the curve are years with decimals."""
    dates = [f"{1990 + number}-0{1 + number % 9}-11" for number in range(20)]
    texts = ["ships sail the sea", "bakers bake bread"] * 10
    corpus = fr.Corpus.from_texts(texts, min_df=1, metadata={"date": dates})
    effects = fr.sample(corpus, draws=4, warmup=4, progress=False).effect("~ s(date, df=3)")
    places = fr.plots.effects_data(effects, "date").values
    assert 1990.0 < places[0] < 1990.1
    assert effects.predict(date=[1995.5], topics=[0])["estimate"].between(0.0, 1.0).all()
    with pytest.raises(fr.InputError, match="must be a date, or a year"):
        effects.predict(date=["soon"])
