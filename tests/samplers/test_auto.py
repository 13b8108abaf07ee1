"""The sampler "auto": what it chooses, that it says so once, and that it is what it says."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.running.progress import say_once
from franchise.samplers.default_starts import random_topics
from franchise.samplers.registry import MANY_WORDS, NOT_MANY, choose
from franchise.sampling import make_model


def model_of(data, family=None):
    return make_model(data, family, 1.0, 1.0)


def words(documents, length, vocabulary=500):
    rng = np.random.default_rng(0)
    return fr.Corpus.from_tokens(rng.integers(0, vocabulary, (documents, length)).tolist())


def replaced(n_observations):
    """A model that claims to have this number of words."""
    model = model_of(words(10, 20))
    model.__dict__["n_observations"] = n_observations
    return model


CHOICES = [
    ("few words", lambda: model_of(words(10, 20)), "direct", "up to 2,000,000 words"),
    ("many words", lambda: replaced(MANY_WORDS + 1), "parallel", "default for large data"),
    (
        "large counts",
        lambda: model_of(fr.Corpus.from_matrix(np.full((5, 6), 200))),
        "parallel",
        "sampled as multinomials",
    ),
    (
        "ants",
        lambda: model_of(fr.datasets.load("ants"), fr.Poisson()),
        "direct",
        "up to 20,000 observations",
    ),
    (
        "many numbers",
        lambda: model_of(fr.Groups(np.arange(NOT_MANY + 1) % 7, np.arange(NOT_MANY + 1) % 5), fr.Poisson()),
        "parallel",
        "starts: 50 to 200 random topics",
    ),
    (
        "not conjugate",
        lambda: model_of(fr.Groups([0.0, 1.0, 2.0], [0, 0, 1]), fr.GaussianIndependent(1)),
        "parallel",
        "not conjugate",
    ),
]


@pytest.mark.parametrize(
    ("make", "sampler", "reason"), [pytest.param(*rest, id=name) for name, *rest in CHOICES]
)
def test_the_sampler_that_is_chosen_and_why(make, sampler, reason):
    choice = choose(make())
    assert choice.sampler.name == sampler
    assert reason in choice.message()


def test_chains_start_differently():
    for name, make, _, _ in CHOICES:
        model = make()
        choice = choose(model)
        starts = [choice.sampler.start(model, chain) for chain in range(3)]
        assert len(set(starts)) == 3 or model.n_observations < 10, name
        assert "start" in choice.message()


def test_numbers_of_topics_are_dispersed():
    model = model_of(words(40, 100))  # 4,000 words: usual are 64
    assert [random_topics(model, chain) for chain in range(5)] == [128, 256, 192, 160, 128]
    poisson = model_of(fr.Groups(np.arange(100) % 7, np.arange(100) % 5), fr.Poisson())
    assert [random_topics(poisson, chain) for chain in range(4)] == [10, 20, 5, 15]
    tiny = model_of(fr.Groups([1, 2], [0, 0]), fr.Poisson())
    assert [random_topics(tiny, chain) for chain in range(4)] == [2, 2, 1, 2]


def test_default_chains_have_their_own_starts():
    posterior = fr.sample(
        words(40, 100),
        sampler=[fr.moves.TopicWeights(), fr.moves.DirectAssignment(share=0.01)],
        alpha=1.0,
        gamma=1.0,
        draws=1,
        warmup=0,
        chains=3,
        progress=False,
    )
    counts = posterior.trace["n_topics"][:, 0]
    assert counts[1] > 1.2 * counts[2] > 1.2 * 1.2 * counts[0]


def test_it_says_once_what_it_chose_and_why(capsys):
    say_once.cache_clear()
    for _ in range(2):
        posterior = fr.sample(fr.datasets.load("ants"), fr.Poisson(), draws=1, warmup=1, chains=1)
    assert posterior.sampler == "direct"
    said = capsys.readouterr().err
    assert said.count("Sampler: direct (auto; default up to 20,000 observations") == 1
    assert said.count("random topics") == 1
    fr.sample(fr.datasets.load("ants"), fr.Poisson(), draws=1, warmup=1, chains=1, start=3)
    assert "random topics" not in capsys.readouterr().err


def test_without_progress_it_is_silent(capsys):
    say_once.cache_clear()
    fr.sample(fr.datasets.load("ants"), fr.Poisson(), draws=1, warmup=1, chains=1, progress=False)
    assert capsys.readouterr().err == ""


def test_the_draws_are_those_of_the_sampler_that_was_chosen():
    asked = {"draws": 3, "warmup": 2, "chains": 1, "progress": False}
    ants = fr.datasets.load("ants")
    chosen = fr.sample(ants, fr.Poisson(), **asked)
    named = fr.sample(ants, fr.Poisson(), sampler="direct", **asked)
    assert chosen.trace["log_joint"].tolist() == named.trace["log_joint"].tolist()
