"""Every wrong input is refused in a sentence that names the argument and what came; nothing is written."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from tests.kernels.foreign import Stubborn

NAN = float("nan")
CORPUS = fr.Corpus.from_matrix([[1, 2, 0], [0, 1, 1]])
COUNTS = fr.Groups([1, 0, 5, 2], ["a", "a", "b", "b"])
POISSON = fr.Poisson()


@pytest.fixture
def run_dir(tmp_path):
    """A folder that must not come into being."""
    folder = tmp_path / "run"
    yield folder
    assert not folder.exists()


def refused(words, call):
    with pytest.raises(fr.InputError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"


# --- the data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda: fr.Groups([], []), ["observations", "at least one"], id="no observations"),
        pytest.param(lambda: fr.Groups(np.zeros((0, 3)), []), ["observations", "(0, 3)"], id="no rows"),
        pytest.param(
            lambda: fr.Groups(np.zeros((3, 0)), [1, 2, 3]), ["observations", "(3, 0)"], id="no columns"
        ),
        pytest.param(
            lambda: fr.Corpus.from_matrix(np.zeros((3, 4), int)), ["no"], id="a corpus without words"
        ),
        pytest.param(
            lambda: fr.Corpus.from_matrix(np.zeros((0, 4), int)), ["X", "(0, 4)"], id="no documents"
        ),
        pytest.param(lambda: fr.Corpus.from_texts([]), ["texts", "at least one"], id="no texts"),
        pytest.param(lambda: fr.Corpus.from_tokens([]), ["no documents"], id="no lists of words"),
        pytest.param(lambda: fr.Corpus.from_matrix([[1, -2]]), ["-2"], id="negative counts"),
        pytest.param(lambda: fr.Corpus.from_matrix([[1, 0.5]]), ["0.5"], id="fractions"),
        pytest.param(lambda: fr.Corpus.from_matrix([[1, NAN]]), ["nan"], id="NaN in a matrix"),
        pytest.param(lambda: fr.Groups([1.0, NAN], [0, 0]), ["observations", "NaN", "1"], id="NaN"),
        pytest.param(lambda: fr.Groups([1.0, np.inf], [0, 0]), ["observations", "infinite"], id="infinite"),
        pytest.param(
            lambda: fr.Corpus.from_tokens([[0, 7]], vocabulary=["a", "b"]), ["7"], id="a word id too large"
        ),
        pytest.param(
            lambda: fr.Corpus([0, 5], [0, 2], ["a", "b"]), ["5"], id="a word id beyond the vocabulary"
        ),
        pytest.param(lambda: fr.Corpus([0, -1], [0, 2], ["a", "b"]), ["-1"], id="a negative word id"),
        pytest.param(
            lambda: fr.Groups([1, 2, 3], [0, 0]),
            ["groups", "2 labels", "3 observations"],
            id="groups of another length",
        ),
        pytest.param(lambda: fr.Groups([1, 2], "ab"), ["groups", "'ab'"], id="groups as a string"),
        pytest.param(lambda: fr.Groups([1, 2], [0, NAN]), ["groups", "nan"], id="a missing group"),
        pytest.param(
            lambda: fr.Groups(["x", "y"], [0, 1]), ["observations", "numbers"], id="words as observations"
        ),
        pytest.param(
            lambda: fr.Groups([[1], [2, 3]], [0, 1]), ["observations", "equal length"], id="ragged rows"
        ),
    ],
)
def test_wrong_data(make, words):
    refused(words, make)


@pytest.mark.parametrize(
    "data",
    [["some", "documents"], "text", np.array([[1, 2]]), None, 5, {"a": [1]}, fr.Corpus],
    ids=["strings", "string", "array", "nothing", "number", "mapping", "class"],
)
def test_data_of_a_wrong_type(data, run_dir):
    refused(["data", "Corpus", "Groups"], lambda: fr.sample(data, POISSON, run_dir=run_dir))


# --- the family and the data --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "family", "words"),
    [
        pytest.param(COUNTS, None, ["family", "Groups"], id="none for groups"),
        pytest.param(fr.Groups([1, -2], [0, 0]), POISSON, ["negative", "-2"], id="Poisson, negative"),
        pytest.param(fr.Groups([1, 2.5], [0, 0]), POISSON, ["whole numbers", "2.5"], id="Poisson, fractions"),
        pytest.param(fr.Groups([[0, 2]], [0]), fr.Bernoulli(2), ["zeros and ones", "2"], id="Bernoulli, two"),
        pytest.param(COUNTS, fr.Bernoulli(1), ["zeros and ones", "5"], id="Bernoulli, counts"),
        pytest.param(COUNTS, fr.Categorical(5), ["Categorical(size=5)", "5"], id="Categorical, too large"),
        pytest.param(
            CORPUS, fr.Categorical(2), ["Categorical(size=2)", "2"], id="Categorical, small vocabulary"
        ),
        pytest.param(
            fr.Groups([0, -1], [0, 0]), fr.Categorical(5), ["Categorical", "-1"], id="Categorical, negative"
        ),
        pytest.param(COUNTS, fr.GaussianFull(2), ["dimension", "2"], id="wrong dimension, one"),
        pytest.param(
            fr.Groups(np.zeros((3, 4)), [0] * 3), fr.GaussianDiagonal(3), ["3", "4"], id="wrong dimension"
        ),
        pytest.param(
            fr.Groups(np.ones((3, 4), int), [0] * 3), fr.Multinomial(5), ["5", "4"], id="Multinomial, columns"
        ),
        pytest.param(COUNTS, "poisson", ["family", "'poisson'"], id="a name"),
        pytest.param(COUNTS, fr.Poisson, ["family", "Poisson"], id="a class"),
        pytest.param(COUNTS, 3, ["family", "3"], id="a number"),
    ],
)
@pytest.mark.parametrize(
    "sampler", ["auto", "crf", "direct", "split-merge", "slice", "parallel", "subcluster"]
)
def test_a_family_that_does_not_fit(data, family, words, sampler, run_dir):
    refused(words, lambda: fr.sample(data, family, sampler=sampler, draws=1, warmup=0, run_dir=run_dir))


@pytest.mark.parametrize("sampler", ["crf", "direct", "split-merge"])
def test_a_family_that_is_not_conjugate(sampler, run_dir):
    settings = {"sampler": sampler, "draws": 1, "warmup": 0, "run_dir": run_dir}
    refused(["conjugate", "Stubborn"], lambda: fr.sample(COUNTS, Stubborn(), **settings))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fr.Gamma(0.0, 1.0), ["shape", "0.0"]),
        (lambda: fr.Gamma(1.0, -1.0), ["rate", "-1.0"]),
        (lambda: fr.Gamma(NAN, 1.0), ["shape", "nan"]),
        (lambda: fr.Gamma("1", 1.0), ["shape", "'1'"]),
        (lambda: fr.Categorical(3, 0.0), ["prior", "0.0"]),
        (lambda: fr.Categorical(3, -0.1), ["prior", "-0.1"]),
        (lambda: fr.Categorical(3, [0.1, 0.2]), ["prior", "3"]),
        (lambda: fr.Categorical(3, [0.1, 0.2, -1.0]), ["prior", "-1.0", "position 2"]),
        (lambda: fr.Categorical(3, "flat"), ["prior", "'flat'"]),
        (lambda: fr.Categorical(0), ["size", "0"]),
        (lambda: fr.Poisson(0.0), ["shape", "0.0"]),
        (lambda: fr.Poisson(1.0, -2.0), ["rate", "-2.0"]),
        (lambda: fr.Bernoulli(2, a=-1.0), ["a must", "-1.0"]),
        (lambda: fr.GaussianKnownPrecision(2, precision=0.0), ["precision", "0.0"]),
        (lambda: fr.GaussianDiagonal(2, rate=0.0), ["rate", "0.0"]),
        (lambda: fr.GaussianFull(2, mean_count=-1.0), ["mean_count", "-1.0"]),
    ],
)
def test_priors_that_are_not_positive(make, words):
    refused(words, make)


# --- the arguments of sample --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"draws": 0}, ["draws", "1 or more", "got 0"]),
        ({"draws": -5}, ["draws", "-5"]),
        ({"draws": 2.5}, ["draws", "2.5"]),
        ({"draws": "10"}, ["draws", "'10'"]),
        ({"draws": None}, ["draws", "None"]),
        ({"draws": True}, ["draws", "True"]),
        ({"warmup": -1}, ["warmup", "0 or more", "-1"]),
        ({"warmup": NAN}, ["warmup", "nan"]),
        ({"thin": 0}, ["thin", "1 or more", "0"]),
        ({"chains": 0}, ["chains", "1 or more", "0"]),
        ({"chains": [1]}, ["chains", "[1]"]),
        ({"seed": -1}, ["seed", "0 or more", "-1"]),
        ({"seed": "today"}, ["seed", "'today'"]),
        ({"finite_topics": 0}, ["finite_topics", "0"]),
        ({"alpha": 0.0}, ["alpha", "positive", "0.0"]),
        ({"alpha": -1}, ["alpha", "-1"]),
        ({"alpha": NAN}, ["alpha", "nan"]),
        ({"alpha": np.inf}, ["alpha", "inf"]),
        ({"alpha": "1"}, ["alpha", "'1'", "Gamma"]),
        ({"alpha": None}, ["alpha", "None", "Gamma"]),
        ({"alpha": (1.0, 1.0)}, ["alpha", "(1.0, 1.0)", "Gamma"]),
        ({"gamma": 0}, ["gamma", "0"]),
        ({"gamma": -2.0}, ["gamma", "-2.0"]),
        ({"gamma": fr.Gamma}, ["gamma", "Gamma"]),
        ({"time_limit": 0}, ["time_limit", "0"]),
        ({"time_limit": -3.0}, ["time_limit", "-3.0"]),
        ({"time_limit": "1h"}, ["time_limit", "'1h'"]),
        ({"workers": 0}, ["workers", "1 or more", "0"]),
        ({"workers": 1.5}, ["workers", "1.5"]),
        ({"engine": fr.engines.Threads(1), "workers": 2}, ["engine", "workers", "not both"]),
        ({"engine": "steam"}, ["engine", "'steam'", "Threads", "Ray"]),
        ({"engine": 4}, ["engine", "4"]),
        ({"sampler": "gibbs"}, ["sampler", "'gibbs'", "'auto'", "'crf'", "'direct'"]),
        ({"sampler": "driect"}, ["sampler", "'driect'", "Did you mean 'direct'?"]),
        ({"sampler": "cfr"}, ["sampler", "'cfr'", "Did you mean 'crf'?"]),
        ({"sampler": None}, ["sampler", "None", "'crf'"]),
        ({"sampler": []}, ["sampler", "[]"]),
        ({"sampler": 3}, ["sampler", "3"]),
        ({"sampler": ["crf"]}, ["moves", "'crf'"]),
        ({"sampler": [fr.moves.CrfGibbs]}, ["moves", "CrfGibbs"]),
        ({"sampler": [fr.moves.DirectAssignment(), fr.moves.TopicPrior()]}, ["TopicPrior", "fixed"]),
        ({"start": "random"}, ["start", "'random'"]),
        ({"start": 0}, ["start", "0"]),
        ({"start": [0, 1], "chains": 2}, ["start", "0"]),
        ({"start": np.array([0, 1, 2])}, ["start", "3 labels", "5 labels"]),
        ({"start": [None, None, None]}, ["start", "4 chains", "3"]),
        pytest.param({"run_dir": 5}, ["run_dir", "5"]),
    ],
    ids=str,
)
def test_wrong_arguments(settings, words, run_dir):
    refused(words, lambda: fr.sample(CORPUS, **{"run_dir": run_dir, **settings}))


def test_wrong_arguments_are_found_before_anything_runs(monkeypatch, run_dir):
    """Not even a start is made: a wrong argument costs no time."""
    monkeypatch.setattr(
        "franchise.posterior.hdp_sampling.make_start", lambda *_: pytest.fail("a start was made")
    )
    refused(["draws"], lambda: fr.sample(CORPUS, draws=0, run_dir=run_dir))
    refused(["workers"], lambda: fr.sample(CORPUS, workers=0, run_dir=run_dir))
    refused(["sampler"], lambda: fr.sample(CORPUS, sampler="none", run_dir=run_dir))


def test_positional_arguments_beyond_the_family_are_refused():
    with pytest.raises(TypeError, match="positional"):
        fr.sample(CORPUS, None, "crf")


@pytest.mark.parametrize(
    "settings",
    [
        {"draws": 3.0},
        {"draws": np.int64(3)},
        {"alpha": 2},
        {"alpha": np.float32(0.5)},
        {"seed": 2**80},
        {"chains": np.uint8(2)},
    ],
    ids=str,
)
def test_other_spellings_are_taken(settings):
    posterior = fr.sample(CORPUS, **{"draws": 2, "warmup": 0, **settings})
    assert posterior.n_draws in (2, 3)
