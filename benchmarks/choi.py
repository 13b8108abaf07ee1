"""Documents of ten unrelated segments, as in Choi (2000), and the segmenter of Utiyama & Isahara (2001).

Each segment has the first sentences of a post of 20 Newsgroups or of a Reuters article.  The sources of the ten
segments of a document have ten different labels (newsgroup, or first topic code), and no source is used twice.
Quoted lines, attributions and signatures are removed from posts.  Words are stemmed; stop words, words that occur
once, and sentences that have no other words are removed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from corpora import find_file, read_rows
from joined import SECTIONS, Joined
from segment_errors import Errors, place_evenly, show_errors

import franchise as fr
from franchise.data.text_options import LETTERS
from franchise.htmm.best_boundaries import best_boundaries, cheapest_segments
from franchise.htmm.fitting import Sampling
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior.htmm_sampling import sample_segments

LENGTHS = ((3, 5), (6, 8), (9, 11))
"""Shortest and longest segment of each condition, in sentences."""

GIVEN = 50
"""The given number of topics."""

NEWSGROUPS = "20newsgroups/20news_bydate.jsonl.gz"
REUTERS = "reuters21578/reuters21578.jsonl.gz"
LONG_ENOUGH, SHORT_ENOUGH = 600, 20_000  # characters of a source
CANDIDATES = 6  # sources to read for each segment that is needed

_SIGNATURE = re.compile(r"\n-- ?\n.*\Z", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*(?:[>|:}#]|[A-Za-z]{1,3}>|In article|.*(?:writes|wrote) ?:).*$", re.MULTILINE)
_ADDRESS = re.compile(r"\S+@\S+")


@dataclass(frozen=True)
class Source:
    """A text that a segment can begin with."""

    label: str
    text: str


def read_sources(data: str | None) -> list[Source]:
    """Return posts and articles of a fair length from the data folder."""
    posts = (Source(row["group"], clean_post(row["text"])) for row in read_rows(find_file(data, NEWSGROUPS)))
    rows = read_rows(find_file(data, REUTERS))
    articles = (Source(row["topics"][0], row["body"]) for row in rows if row["topics"])
    return [one for one in (*posts, *articles) if LONG_ENOUGH <= len(one.text) <= SHORT_ENOUGH]


def clean_post(text: str) -> str:
    """Return a post without quoted lines, attributions, addresses and signature."""
    return _ADDRESS.sub(" ", _QUOTED.sub("", _SIGNATURE.sub("", text)))


def join_sources(sources: list[Source], lengths: tuple[int, int], documents: int, seed: int) -> Joined:
    """Return documents of ten segments, each of `lengths[0]` to `lengths[1]` sentences."""
    rng = np.random.default_rng([seed, *lengths])
    chosen = rng.permutation(len(sources))[: CANDIDATES * SECTIONS * documents]
    read = fr.Corpus.from_texts(
        [sources[place].text for place in chosen],
        sentences="english",
        stem="english",
        min_df=1,
        token_pattern=LETTERS,
        keep_texts=False,
    )
    waiting = _segments(read, [sources[place].label for place in chosen], lengths, rng)
    texts, begins = [], []
    for _ in range(documents):
        parts: dict[str, list[np.ndarray]] = {}
        passed = []
        while len(parts) < SECTIONS:
            if not waiting:
                raise SystemExit("there are too few sources: ask for fewer documents")
            label, segment = waiting.pop()
            if label in parts:
                passed.append((label, segment))
            else:
                parts[label] = segment
        waiting += passed[::-1]
        texts.append([sentence for segment in parts.values() for sentence in segment])
        begins += [place == 0 for segment in parts.values() for place in range(len(segment))]
    return Joined(without_rare_words(texts, read.vocabulary), np.array(begins))


def _segments(
    read: fr.Corpus, labels: list[str], lengths: tuple[int, int], rng: np.random.Generator
) -> list[tuple[str, list[np.ndarray]]]:
    """The first sentences with words of each text that has enough of them, in random order, with its label."""
    assert read.sentences is not None
    sentences = np.split(read.observations, read.sentences.offsets[1:-1])
    segments = []
    for label, places in zip(
        labels, np.split(np.arange(len(sentences)), read.sentences.documents[1:-1]), strict=True
    ):
        with_words = [sentences[place] for place in places if len(sentences[place]) > 0]
        size = int(rng.integers(lengths[0], lengths[1] + 1))
        if len(with_words) >= size:
            segments.append((label, with_words[:size]))
    return segments


def without_rare_words(texts: list[list[np.ndarray]], vocabulary: list[str]) -> fr.Corpus:
    """Return the corpus of these sentences without words that occur once."""
    counts = np.bincount(
        np.concatenate([words for text in texts for words in text]), minlength=len(vocabulary)
    )
    kept = np.flatnonzero(counts > 1)
    number = np.full(len(vocabulary), -1)
    number[kept] = np.arange(len(kept))
    known = [[number[words][number[words] >= 0] for words in text] for text in texts]
    return fr.Corpus.from_sentences(known, [vocabulary[word] for word in kept])


# --- the segmenter of Utiyama & Isahara -----------------------------------------------------------------------


def segment_costs(sentences: list[np.ndarray]) -> np.ndarray:
    """Costs of all segments of a document, (n + 1, n + 1): [i, j] is that of the sentences i to j - 1.

    The cost is minus the log probability of the words by Laplace's estimate from the segment itself,
    sum_w f_w log((N + V) / (f_w + 1)), with N the words of the segment and V the vocabulary of the document.
    """
    words, ids = np.unique(np.concatenate(sentences), return_inverse=True)
    size = len(sentences)
    counts = np.zeros((size + 1, len(words)), np.int64)
    np.add.at(counts, (np.repeat(np.arange(size), [len(own) for own in sentences]) + 1, ids), 1)
    counts = counts.cumsum(axis=0)
    frequencies = np.arange(int(counts[-1].max(initial=0)) + 1)
    gains = frequencies * np.log(frequencies + 1.0)
    costs = np.full((size + 1, size + 1), np.inf)
    for first in range(size):
        own = counts[first + 1 :] - counts[first]
        total = own.sum(axis=1)
        costs[first, first + 1 :] = total * np.log(total + len(words)) - gains[own].sum(axis=1)
    return costs


def segment_classic(joined: Joined, segments: int | None) -> np.ndarray:
    """Return the boundaries of least cost in all documents, bool (sentences,), by dynamic programming.

    Without a number of `segments`, each costs log N more, with N the words of the document.
    """
    assert joined.corpus.sentences is not None
    sentences = np.split(joined.corpus.observations, joined.corpus.sentences.offsets[1:-1])
    found = []
    for places in joined.by_document(np.arange(len(sentences))):
        own = [sentences[place] for place in places]
        costs = segment_costs(own)
        if segments is None:
            costs += np.log(sum(map(len, own)))
        found.append(cheapest_segments(costs, segments))
    return np.concatenate(found)


# --- hidden topic Markov models ---------------------------------------------------------------------------------

PLAN = Sampling(draws=1, warmup=10, thin=1, chains=8, start="collapsed", starts=1, progress=False)
"""Short chains from different random topics: boundaries that many of them find are better than those of any."""

LEARNED = PLAN._replace(warmup=15, chains=3)
STARTS = (10, 20, 40, 80)
"""Topics that chains start from where their number is learned."""


def draw_given(joined: Joined, topics: int, seed: int) -> np.ndarray:
    """Return draws of the boundaries with a given number of topics, bool (draws, sentences)."""
    prepared, switch_prior = _prepare(joined)
    model = FiniteModel(prepared, topics, *PRIORS, switch_prior)
    return _draw(model, joined, PLAN, seed)


def draw_learned(joined: Joined, seed: int) -> np.ndarray:
    """Return draws of the boundaries where the number of topics is learned, bool (draws, sentences)."""
    prepared, switch_prior = _prepare(joined)
    model = InfiniteModel(prepared, PRIORS[0], *PRIORS, switch_prior)
    return np.concatenate(
        [_draw(model, joined, LEARNED._replace(start=start), 1000 * start + seed) for start in STARTS]
    )


PRIORS = (fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 10.0))
"""Of concentrations, and of the words of topics."""


def _prepare(joined: Joined) -> tuple[Prepared, tuple[float, float]]:
    """Return the arrays of the corpus, and the prior of the switch probability: one switch per document."""
    corpus = joined.corpus
    assert corpus.sentences is not None
    return Prepared.of(corpus), (1e3, 1e3 * int(corpus.sentences.documents[-1]) / corpus.n_groups)


def _draw(model: FiniteModel | InfiniteModel, joined: Joined, plan: Sampling, seed: int) -> np.ndarray:
    """Return draws of the boundaries given the topics of all chains."""
    return sample_segments(model, joined.corpus, plan, seed, fr.engines.Threads(1)).draw_boundaries(seed=seed)


def segment_htmm(joined: Joined, drawn: np.ndarray, segments: int | None) -> np.ndarray:
    """Return the boundaries of least expected P_k over the draws; of any number if none is given."""
    return np.concatenate([best_boundaries(own.T, segments) for own in joined.by_document(drawn.T)])


def find_boundaries(data: str | None, documents: int, seeds: int, shortest: list[int]) -> None:
    """Score all methods for the lengths of segments that begin with these."""
    sources = read_sources(data)
    for lengths in (pair for pair in LENGTHS if pair[0] in shortest):
        errors: dict[str, list[Errors]] = {}
        seconds: dict[str, float] = {}
        for seed in range(seeds):
            joined = join_sources(sources, lengths, documents, seed)
            print(
                f"segments of {lengths[0]} to {lengths[1]} sentences, seed {seed}: {joined.corpus}",
                flush=True,
            )
            for name, found, took in find_all(joined, seed):
                errors.setdefault(name, []).append(Errors.of(joined, found))
                print(f"  {name}: P_k {errors[name][-1].p_k.mean():.3f}, {took:.1f} s", flush=True)
                seconds[name] = seconds.get(name, 0.0) + took
        show_errors(errors, seconds)


def find_all(joined: Joined, seed: int) -> Iterator[tuple[str, np.ndarray, float]]:
    """The boundaries of every method, and the seconds that it took."""
    yield "even", place_evenly(joined), 0.0
    for name, segments in (("number known", SECTIONS), ("number unknown", None)):
        started = time.process_time()
        yield f"classic, {name}", segment_classic(joined, segments), time.process_time() - started
    methods = {
        f"{GIVEN} topics": lambda: draw_given(joined, GIVEN, seed),
        "topics learned": lambda: draw_learned(joined, seed),
    }
    for kind, draw in methods.items():
        started = time.process_time()
        drawn = draw()
        took = time.process_time() - started
        for name, segments in (("number known", SECTIONS), ("number unknown", None)):
            yield f"HTMM, {kind}, {name}", segment_htmm(joined, drawn, segments), took
