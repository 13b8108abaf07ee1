"""The hidden topic Markov model: how fast it is, and what it finds.

    python benchmarks/htmm.py [--part speed segments choi starts] [--rounds 7] [--documents 200] [--seeds 5]
                              [--data DIR] [--shortest 3 6 9] [--sweeps 200]

  speed     words a second of an EM step and of a Gibbs sweep, everything included, at 10, 50 and 100 topics on one
            and two threads; the State of the Union addresses
  segments  boundaries in text with known segments, by WindowDiff and P_k, beside latent Dirichlet allocation
            (scikit-learn), which knows no order of sentences, and placement without looking
  choi      the same in documents of ten unrelated segments from 20 Newsgroups and Reuters, beside a classic
            segmenter (`choi.py`); needs --data or FRANCHISE_DATA
  starts    chains that learn the number of topics, from one topic and from 200, with and without table moves over
            runs: topics, R-hat and processor time of a sweep (`htmm_starts.py`)

Segments: documents are joined from ten sections of 5 to 15 consecutive sentences each, from State of the Union
addresses of ten different presidents (`joined.py`).  All is unsupervised: every model is fitted to the joined
documents, which do not say where they were joined, and then asked for the boundaries.  Unless said otherwise a
method places as many in each document as there are, nine: where the posterior probability of a switch is highest,
or where the mean topics (or the words) of the sentences before and after differ most, by cosine.  Each seed joins
other documents and starts other fits.

The priors of both models were tried with the scores in sight, on documents of other draws.  Latent Dirichlet
allocation is shown with scikit-learn's own and with those of the lowest errors, of five pairs for documents and
words.  For the hidden topic Markov model with 30 topics, 0.5 for the words had the highest log joint probability of
0.2, 0.5, 1 and a learned one, and is used; by the errors 1 was better, and 0.2 and the learned one were worse than
words alone: chains of this length stay at 0.18, in topics less probable, with more switches.  For EM it is 1.5,
which has its mode where 0.5 has its mean.  Where the number of topics is learned, so is the prior.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from choi import find_boundaries
from htmm_starts import compare_starts
from joined import SECTIONS, Joined, join_sections
from scipy.sparse import csr_array
from segment_errors import Errors, place_evenly, show_errors, standard_error

import franchise as fr
from franchise.htmm.em import Maximiser, Priors
from franchise.htmm.gibbs_finite import start_at_random
from franchise.htmm.htmm_chain import HTMMChain
from franchise.htmm.model import FiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import Parameters
from franchise.kernels.random.streams import Streams

TOPICS = 30
WINDOWS = (1, 3, 5, 8)  # sentences before and after a gap
LDA_PRIORS = {"its priors": (None, None), "best priors": (1.0, 0.1)}  # of documents and words; at most 1

Found = tuple[str, np.ndarray]  # a method, and its boundaries: bool (sentences,)


def find_segments(documents: int, seeds: int) -> None:
    """Score all methods on documents of several seeds."""
    paragraphs = fr.datasets.load("sotu", unit="paragraph", sentences="english")
    errors: dict[str, list[Errors]] = {}
    seconds: dict[str, float] = {}
    for seed in range(seeds):
        joined = join_sections(paragraphs, documents, seed)
        print(f"seed {seed}: {joined.corpus}", flush=True)
        for method in (place_blindly, ask_words, ask_lda, ask_htmm):
            started = time.process_time()
            for name, found in method(joined, seed):
                errors.setdefault(name, []).append(Errors.of(joined, found))
                seconds[name] = seconds.get(name, 0.0) + time.process_time() - started
                started = time.process_time()
    show_errors(errors, seconds)
    compare(errors)


def compare(errors: dict[str, list[Errors]]) -> None:
    """What HTMM has less than others in the same documents; of LDA and of words what has the least error of all."""
    print("\nHTMM less another, in the same documents (needed: below zero for LDA and even):")
    for measure in ("window_diff", "p_k"):
        values = {
            name: np.concatenate([getattr(run, measure) for run in runs]) for name, runs in errors.items()
        }
        others = [
            min((name for name in values if name.startswith(kind)), key=lambda name: values[name].mean())
            for kind in ("LDA", "words", "even")
        ]
        for name in values:
            if name.startswith("HTMM") and name.count(",") <= 2:
                against = (f"{other} {difference(values[name], values[other])}" for other in others)
                print(f"  {measure:13}{name:29}{'; '.join(against)}")


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """A mean of differences, with its standard error."""
    return f"{(ours - theirs).mean():+.3f} ± {standard_error(ours - theirs):.3f}"


# --- ways to place boundaries -------------------------------------------------------------------------------


def place_blindly(joined: Joined, seed: int) -> Iterator[Found]:
    """Boundaries of sections of equal lengths, and random ones."""
    yield "even", place_evenly(joined)
    yield "random", highest(joined, np.random.default_rng([seed, 1]).random(len(joined.begins)), seed)


def ask_words(joined: Joined, seed: int) -> Iterator[Found]:
    """Boundaries where the words before and after differ most, without any model."""
    words = sentence_matrix(joined.corpus)
    for window in WINDOWS[1:]:
        yield f"words, windows of {window}", highest(joined, contrasts(joined, words, window), seed)


def ask_lda(joined: Joined, seed: int) -> Iterator[Found]:
    """Boundaries where the topics before and after differ most, by LDA of the same documents."""
    from sklearn.decomposition import LatentDirichletAllocation

    for priors, (document_prior, word_prior) in LDA_PRIORS.items():
        model = LatentDirichletAllocation(
            TOPICS,
            doc_topic_prior=document_prior,
            topic_word_prior=word_prior,
            max_iter=50,
            random_state=seed,
        ).fit(joined.corpus.to_matrix())
        topics = model.transform(sentence_matrix(joined.corpus))
        for window in WINDOWS:
            yield (
                f"LDA, {priors}, windows of {window}",
                highest(joined, contrasts(joined, topics, window), seed),
            )


def ask_htmm(joined: Joined, seed: int) -> Iterator[Found]:
    """Boundaries where switches are most probable; or above a half, without knowing how many there are."""
    learned = fr.Gamma(1.0, 1.0)
    sampled: dict[str, Any] = {"warmup": 200, "draws": 100, "chains": 2, "progress": False}
    models = {
        f"HTMM, EM, {TOPICS} topics": fr.HTMM(TOPICS, inference="em", word_prior=1.5, starts=5, seed=seed),
        f"HTMM, Gibbs, {TOPICS} topics": fr.HTMM(
            TOPICS, document_prior=learned, word_prior=0.5, seed=seed, **sampled
        ),
        "HTMM, Gibbs, topics learned": fr.HTMM(None, word_prior=learned, seed=seed, **sampled),
    }
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            switches = model.fit(joined.corpus).sentence_topics()["switch"].to_numpy()
        yield name, highest(joined, switches, seed)
        yield f"{name}, above 0.5", switches > 0.5
        if model.inference == "gibbs":
            draws = [draw for chain in model.posterior_.draws for draw in chain]
            changes = np.mean([np.diff(draw.topics, prepend=-1) != 0 for draw in draws], axis=0)
            yield f"{name}, other topic", highest(joined, changes, seed)
            yield f"{name}, other topic, above 0.5", changes > 0.5


def highest(joined: Joined, values: np.ndarray, seed: int) -> np.ndarray:
    """As many boundaries in each document as there are, where values are highest; ties at random."""
    ties = np.random.default_rng([seed, 2]).random(len(values))
    found = []
    for own, tied in zip(joined.by_document(values), joined.by_document(ties), strict=True):
        order = np.lexsort((tied[1:], -own[1:])) + 1
        flags = np.zeros(len(own), bool)
        flags[order[: SECTIONS - 1]] = True
        found.append(flags)
    return np.concatenate(found)


def contrasts(joined: Joined, rows: np.ndarray | csr_array, window: int) -> np.ndarray:
    """1 - cosine of the sums of rows over the sentences before and after the gap ahead of each sentence."""
    values = []
    for sentences in joined.by_document(np.arange(len(joined.begins))):
        some = rows[sentences]
        own = some if isinstance(some, np.ndarray) else some.toarray()
        sums = np.concatenate([np.zeros((1, own.shape[1])), np.cumsum(own, axis=0)])
        places = np.arange(len(own))
        before = sums[places] - sums[np.maximum(places - window, 0)]
        after = sums[np.minimum(places + window, len(own))] - sums[places]
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        values.append(1.0 - (before * after).sum(axis=1) / np.maximum(lengths, 1e-12))
    return np.concatenate(values)


def sentence_matrix(corpus: fr.Corpus) -> csr_array:
    """Return counts of words, one row per sentence."""
    assert corpus.sentences is not None
    offsets = corpus.sentences.offsets.astype(np.int64)
    ones, shape = np.ones(corpus.n_tokens), (corpus.n_sentences, corpus.vocabulary_size)
    matrix = csr_array((ones, corpus.observations.copy(), offsets), shape=shape)
    matrix.sum_duplicates()
    return matrix


def measure_speed(rounds: int) -> None:
    """Words a second of an EM step and of a Gibbs sweep, everything included, for some numbers of topics."""
    corpus = fr.datasets.load("sotu", sentences="english")
    prepared = Prepared.of(corpus)
    print(f"{corpus}\nmillion words per second, median (lowest to highest) of {rounds} rounds")
    for topics in (10, 50, 100):
        for what, begin in (("EM step", begin_em), ("Gibbs sweep", begin_gibbs)):
            one, two = (
                words_a_second(begin(prepared, topics, workers), prepared, rounds) for workers in (1, 2)
            )
            print(
                f"  {topics:4} topics, {what:11}  one thread {in_millions(one)}, two {in_millions(two)}, "
                f"ratio {np.median(two) / np.median(one):.2f}"
            )


def begin_em(prepared: Prepared, topics: int, workers: int) -> Callable[[], Any]:
    """A fit by EM on its way."""
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet(np.ones(prepared.vocabulary_size), topics).T + 1e-12)
    even = np.full((prepared.n_documents, topics), 1.0 / topics)
    priors = Priors(1.5, 1.01, (1.0, 1.0))
    climb = Maximiser(prepared, priors, fr.engines.Threads(workers), Parameters(logs, even, 0.5))
    return climb.step


def begin_gibbs(prepared: Prepared, topics: int, workers: int) -> Callable[[], Any]:
    """A chain on its way."""
    engine = fr.engines.Threads(workers)
    model = FiniteModel(prepared, topics, 1.5, 0.1, (1.0, 1.0))
    state = start_at_random(model, Streams(0, 0, 0, 0), engine)
    return HTMMChain(model, state, 0, 0, 0, engine).sweep


def words_a_second(step: Callable[[], Any], prepared: Prepared, rounds: int) -> np.ndarray:
    """Of several rounds, each of as many steps as take half a second; some steps go before."""
    started = time.perf_counter()
    for _ in range(4):
        step()
        started, once = time.perf_counter(), time.perf_counter() - started
    steps = max(1, round(0.5 / once))
    speeds = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(steps):
            step()
        speeds.append(steps * prepared.n_words / (time.perf_counter() - started))
    return np.array(speeds)


def in_millions(speeds: np.ndarray) -> str:
    """Median, lowest and highest."""
    low, middle, high = np.quantile(speeds, [0.0, 0.5, 1.0]) / 1e6
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "speed": lambda given: measure_speed(given.rounds),
        "segments": lambda given: find_segments(given.documents, given.seeds),
        "choi": lambda given: find_boundaries(given.data, given.documents, given.seeds, given.shortest),
        "starts": lambda given: compare_starts(given.sweeps),
    }
    usual = ["speed", "segments"]
    parser.add_argument("--part", nargs="+", choices=parts, default=usual, help="which parts to run")
    parser.add_argument("--data", help="choi: folder with 20newsgroups and reuters21578; or FRANCHISE_DATA")
    parser.add_argument(
        "--sweeps", type=int, default=200, help="starts: sweeps of each chain on simulated data"
    )
    parser.add_argument("--rounds", type=int, default=7, help="speed: rounds of half a second")
    parser.add_argument(
        "--documents", type=int, default=200, help="segments, choi: documents to join, of each seed"
    )
    parser.add_argument(
        "--shortest",
        type=int,
        nargs="+",
        choices=(3, 6, 9),
        default=[3, 6, 9],
        help="choi: shortest segments, in sentences",
    )
    parser.add_argument("--seeds", type=int, default=5, help="segments, choi: how many seeds")
    arguments = parser.parse_args()
    for part in arguments.part:
        parts[part](arguments)


if __name__ == "__main__":
    main()
