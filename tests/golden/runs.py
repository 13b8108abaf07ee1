"""Short runs of every sampler, whose draws must never change, and the hashes of what they draw."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np

import franchise as fr

SAMPLERS = ("crf", "direct", "split-merge", "slice", "parallel", "subcluster", "finite")
MODES = ("1 thread", "2 threads", "resumed", "2 actors")
SETTINGS: dict[str, Any] = {"chains": 2, "seed": 11, "warmup": 4, "progress": False}
DRAWS = 6
DRAWS_BEFORE_RESUMING = 2

_RNG = np.random.default_rng(20)
_CENTRES = _RNG.normal(0.0, 5.0, (4, 2))
_GROUPS = _RNG.choice(list("vwxyz"), 120).tolist()


def _text() -> fr.Corpus:
    """About 40,000 words: three blocks, so that threads and actors have something to split."""
    return fr.synthetic.planted_topics(2, 400, 900, 8, median_length=90, topic_concentration=40.0).data


def _sentences() -> fr.Corpus:
    rng = np.random.default_rng(6)
    nested = [
        [[f"w{word}" for word in rng.integers(30 * topic, 30 * topic + 50, size=5)] for topic in order]
        for order in rng.integers(4, size=(900, 5))
    ]
    return fr.Corpus.from_sentences(nested)


def _points() -> fr.Groups:
    return fr.Groups(_CENTRES[_RNG.integers(0, 4, 120)] + _RNG.normal(0.0, 1.0, (120, 2)), _GROUPS)


def _counts() -> fr.Groups:
    return fr.Groups(_RNG.poisson(_RNG.choice([1.0, 9.0, 30.0], 120)), _GROUPS)


def _binary() -> fr.Groups:
    chances = _RNG.choice([0.1, 0.9], (3, 5))[_RNG.integers(0, 3, 120)]
    return fr.Groups((_RNG.random((120, 5)) < chances).astype(int), _GROUPS)


def _profiles() -> fr.Groups:
    return fr.Groups(_RNG.poisson(3.0, (120, 6)), _GROUPS)


def _large_counts() -> fr.Corpus:
    return fr.Corpus.from_matrix(_RNG.poisson(90.0, (6, 9)))


TEXT, POINTS, COUNTS, BINARY, PROFILES, LARGE = (
    _text(),
    _points(),
    _counts(),
    _binary(),
    _profiles(),
    _large_counts(),
)
SENTENCES = _sentences()
_WORDS = fr.Categorical(TEXT.vocabulary_size, 0.1)
_SEEDS = {"first": TEXT.vocabulary[:3], "second": TEXT.vocabulary[40:43]}
_KNOWN = fr.KnownTopics.from_words(_SEEDS, TEXT.vocabulary)
_LEARNED = fr.Categorical(TEXT.vocabulary_size, fr.Gamma(1.0, 2.0))


def _hdp(data: Any, family: fr.Family, sampler: str, **more: Any) -> Callable[..., Any]:
    def run(**settings: Any) -> Any:
        options = {**SETTINGS, "keep_labels": True, **more, **settings}
        return fr.sample(data, family, sampler=sampler, **options)

    return run


def _htmm(n_topics: int | None, start: Any) -> Callable[..., Any]:
    prior: Any = 0.5 if n_topics is None else fr.Gamma(1.0, 2.0)

    def run(**settings: Any) -> Any:
        return (
            fr.HTMM(n_topics, word_prior=prior, start=start, **{**SETTINGS, **settings})
            .fit(SENTENCES)
            .posterior_
        )

    return run


CASES: dict[str, Callable[..., Any]] = {
    **{f"text, {sampler}": _hdp(TEXT, _WORDS, sampler, start=12) for sampler in SAMPLERS},
    "text, learned prior, parallel": _hdp(TEXT, _LEARNED, "parallel", start=12),
    "text, learned prior, crf": _hdp(TEXT, _LEARNED, "crf", start=12),
    "text, sequential start, split-merge": _hdp(TEXT, _WORDS, "split-merge", start="sequential"),
    "text, fixed concentrations, direct": _hdp(TEXT, _WORDS, "direct", start=12, alpha=0.7, gamma=2.0),
    "text, known topics, direct": _hdp(TEXT, _KNOWN, "direct", start=12),
    "large counts, parallel": _hdp(LARGE, fr.Categorical(9, 0.5), "parallel", start=3),
    "points, full, direct": _hdp(POINTS, fr.GaussianFull(2), "direct"),
    "points, diagonal, parallel": _hdp(POINTS, fr.GaussianDiagonal(2), "parallel"),
    "points, known precision, slice": _hdp(POINTS, fr.GaussianKnownPrecision(2), "slice"),
    "points, independent, parallel": _hdp(POINTS, fr.GaussianIndependent(2), "parallel"),
    "counts, Poisson, split-merge": _hdp(COUNTS, fr.Poisson(1.0, 0.1), "split-merge"),
    "counts, Poisson, parallel": _hdp(COUNTS, fr.Poisson(1.0, 0.1), "parallel"),
    "counts, negative binomial, direct": _hdp(COUNTS, fr.NegativeBinomial(1.0, 0.1), "direct"),
    "counts, negative binomial, parallel": _hdp(
        COUNTS, fr.NegativeBinomial(1.0, 0.1, dispersion=0.2), "parallel"
    ),
    "binary, Bernoulli, crf": _hdp(BINARY, fr.Bernoulli(5), "crf"),
    "profiles, Dirichlet-multinomial, parallel": _hdp(PROFILES, fr.DirichletMultinomial(6), "parallel"),
    "profiles, multinomial, subcluster": _hdp(PROFILES, fr.Multinomial(6), "subcluster"),
    "sentences, 4 topics": _htmm(4, "random"),
    "sentences, learned number": _htmm(None, 6),
}


def hashes(posterior: Any) -> tuple[str, str]:
    """Hash what was drawn: whole numbers only, and every bit.

    Whole numbers (labels, numbers of topics and tables) are the same on every processor that rounds as IEEE 754
    asks, unless a probability falls within the last bits of a uniform; floating-point traces may differ in their
    last bits where a compiler uses other instructions.
    """
    whole, every = hashlib.sha256(), hashlib.sha256()
    for kind, trace in (("warm-up", posterior.warmup_trace), ("draws", posterior.trace)):
        for name in sorted(set(trace) - {"seconds"}):
            values = np.ascontiguousarray(trace[name])
            every.update(f"{kind} {name} {values.dtype.str} {values.shape}".encode() + values.tobytes())
            if name in ("n_topics", "n_tables"):
                whole.update(f"{kind} {name}".encode() + values.astype(np.int64).tobytes())
    labels = getattr(posterior, "labels", None)
    if isinstance(labels, np.ndarray):
        for digest in (whole, every):
            digest.update(labels.tobytes())
    return whole.hexdigest()[:16], every.hexdigest()[:16]


def run_in_mode(case: Callable[..., Any], mode: str, folder: Path) -> Any:
    """Run a case on one thread, on two, with an interruption, or on two actors."""
    if mode == "1 thread":
        return case(draws=DRAWS, workers=1)
    if mode == "2 threads":
        return case(draws=DRAWS, workers=2)
    if mode == "2 actors":
        return case(draws=DRAWS, engine=fr.engines.Ray(actors=2))
    case(draws=DRAWS_BEFORE_RESUMING, workers=1, run_dir=folder / "run")
    return fr.resume(folder / "run", DRAWS, workers=2, progress=False)


def machine() -> str:
    """Name what decides on the last bits: the processor, and the versions of what compiles for it."""
    cpu = llvmlite.binding.get_host_cpu_name()
    return f"{platform.machine()} {cpu}, numpy {np.__version__}, numba {numba.__version__}"


@contextmanager
def two_nodes() -> Iterator[None]:
    """Start a Ray cluster of two nodes on loopback."""
    import ray
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 2, "node_ip_address": "127.0.0.2"}
    nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    nodes.add_node(**node)
    nodes.wait_for_nodes()
    quiet = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    ray.init(address=nodes.address, _node_ip_address="127.0.0.2", **quiet)
    try:
        yield
    finally:
        ray.shutdown()
        nodes.shutdown()
