"""Runs to interrupt, and what it means that two of them are the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import franchise as fr
from franchise.posterior.htmm_posterior import HTMMPosterior

_RNG = np.random.default_rng(0)
CORPUS = fr.Corpus.from_matrix(_RNG.poisson(0.8, (8, 7)))
_CENTRES = _RNG.normal(0.0, 4.0, (3, 2))
POINTS = fr.Groups(
    _CENTRES[_RNG.integers(0, 3, 40)] + _RNG.normal(0.0, 1.0, (40, 2)), _RNG.choice(list("wxyz"), 40).tolist()
)
COUNTS = fr.Groups(_RNG.poisson([1.0, 6.0, 20.0], (14, 3)).ravel(), _RNG.choice(list("wxyz"), 42).tolist())
CASES: dict[str, tuple[Any, fr.Family]] = {
    "categorical": (CORPUS, fr.Categorical(7, fr.Gamma(1.0, 2.0))),
    "poisson": (COUNTS, fr.Poisson(1.0, 0.2)),
    "gaussian-full": (POINTS, fr.GaussianFull(2)),
}
SETTINGS: dict[str, Any] = {"chains": 2, "seed": 4, "keep_labels": True, "warmup": 6, "thin": 2, "workers": 1}


def sample(case: str, sampler: Any, draws: int, **settings: Any) -> fr.Posterior:
    """A short run."""
    data, family = CASES[case]
    return fr.sample(data, family, sampler=sampler, draws=draws, **{**SETTINGS, **settings})


def assert_same_traces(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> None:
    """Bit for bit, but for the seconds."""
    assert list(one) == list(two)
    for name in one:
        assert one[name].dtype == two[name].dtype
        assert one[name].shape == two[name].shape
        if name != "seconds":
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)


def assert_same(one: fr.Posterior, two: fr.Posterior) -> None:
    """Traces, labels and snapshots, bit for bit."""
    assert_same_traces(one.trace, two.trace)
    assert_same_traces(one.warmup_trace, two.warmup_trace)
    assert (one.labels is None) == (two.labels is None)
    if one.labels is not None:
        np.testing.assert_array_equal(one.labels, two.labels)
    assert len(one.snapshots) == len(two.snapshots)
    for ours, theirs in zip(one.snapshots, two.snapshots, strict=True):
        assert [snapshot.draw for snapshot in ours] == [snapshot.draw for snapshot in theirs]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
            assert a.labels.dtype == b.labels.dtype
            np.testing.assert_array_equal(a.tables_per_topic, b.tables_per_topic)
            np.testing.assert_array_equal([a.alpha, a.gamma, a.prior], [b.alpha, b.gamma, b.prior])
    for ours, theirs in zip(one.states, two.states, strict=True):
        np.testing.assert_array_equal(ours.labels(one.model.data), theirs.labels(two.model.data))


# --- of any model -------------------------------------------------------------------------------------------


def sentences_of(rng: np.random.Generator, documents: int, length: int = 6) -> fr.Corpus:
    """Documents of up to `length` sentences, each of up to five words."""
    nested = [
        [rng.integers(0, 12, rng.integers(1, 6)).tolist() for _ in range(rng.integers(1, length + 1))]
        for _ in range(documents)
    ]
    return fr.Corpus.from_sentences(nested, [f"word{number}" for number in range(12)])


SENTENCES = sentences_of(np.random.default_rng(1), documents=9)


def sample_segments(n_topics: int | None, draws: int, **settings: Any) -> HTMMPosterior:
    """A short run of the hidden topic Markov model, with a given or a learned number of topics."""
    options = {"chains": 2, "warmup": 4, "thin": 2, "seed": 3, "workers": 1, "start": "random"}
    prior: Any = 0.5 if n_topics is None else fr.Gamma(1.0, 2.0)
    model = fr.HTMM(n_topics, draws=draws, word_prior=prior, **{**options, **settings})
    return model.fit(SENTENCES).posterior_


def bits_of(posterior: Any) -> list[Any]:
    """All that there is of a posterior's chains, but for the seconds."""
    of_chains = []
    for chain in posterior.run.chains:
        arrays, metadata, _ = chain.checkpoint()
        rows = [{name: value for name, value in row.items() if name != "seconds"} for row in chain.rows()]
        labels = [row.tolist() for row in chain.earlier_labels()]
        plain = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}
        of_chains.append((plain, json.dumps({**metadata, "seconds": None}), json.dumps(rows), labels))
    return of_chains


def assert_same_bits(one: Any, two: Any) -> None:
    """Traces, labels, draws in full and last states, for any model."""
    assert type(one) is type(two)
    assert_same_traces(one.trace, two.trace)
    assert_same_traces(one.warmup_trace, two.warmup_trace)
    for ours, theirs in zip(bits_of(one), bits_of(two), strict=True):
        assert ours == theirs
