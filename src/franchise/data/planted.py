"""Large corpora with planted topics and the word frequencies of real text, written to disk in shards.

    corpus = fr.synthetic.write_planted("nytimes/", like="nytimes")      100 million tokens

The distribution is that of `synthetic.planted_topics`, with given numbers of documents, words and tokens:

    base            proportional to rank^-1.05, ranks assigned to the words at random
    topic k         ~ Dirichlet(200 base)
    global weights  ~ Dirichlet(1, ..., 1)
    document j      ~ Dirichlet(5 global weights)
    length of j     ~ log-normal, sigma 0.7, scaled and rounded so that all sum to the tokens; at least 5

Documents are made in blocks of about 2^16 tokens, whose bounds depend on the sizes only.  Each topic, block of
documents and block of lengths has its own random stream, so a block is the same however the corpus is cut into
files.  Words are sorted within a document: it is a bag of words.  Beside the shards, `truth.safetensors` has the
topics (K, V) and their weights (`planted_match`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.source import format_bytes, given_path
from franchise.data.sharded.files import need_pyarrow, write_shard
from franchise.data.sharded.index import INDEX, VOCABULARY
from franchise.data.sharded.sharded_corpus import ShardedCorpus, index_shards
from franchise.data.tokens import MOST, numbered
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlet
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.storage.atomic import written_whole
from franchise.validation import PathLike, available_memory, check_choice, check_folder, check_integer

ZIPF_EXPONENT, TOPIC_CONCENTRATION, DOCUMENT_CONCENTRATION, LENGTH_SPREAD = 1.05, 200.0, 5.0, 0.7
_SHORTEST, _LONG_ENOUGH = 5, 20  # tokens of the shortest document if the mean is 20 or more; else 1
_BLOCK_TOKENS = 1 << 16
_BLOCK_WEIGHTS = 1 << 20  # topic weights of the documents of a block, at most
_LENGTHS_AT_A_TIME = 1 << 16

TRUTH = "truth.safetensors"
_LONGEST_MEAN = 1_000_000  # tokens of a document, which is made in memory
_SPARE = 1.05  # free space that is required on the disk, relative to the estimate
Progress = Callable[[str, float], None]  # gets a description of the work and the proportion that is done


class Sizes(NamedTuple):
    """Sizes of a corpus."""

    documents: int
    vocabulary: int
    tokens: int


SIZES = {
    "enron": Sizes(39_861, 28_102, 6_400_000),
    "nytimes": Sizes(300_000, 102_660, 100_000_000),
    "pubmed": Sizes(8_200_000, 141_043, 730_000_000),
}
"""Bags of words in the UCI collection (Newman, 2008); tokens in round numbers, as it gives them."""


class Estimate(NamedTuple):
    """Resources for writing a corpus."""

    bytes: int
    seconds: float
    shards: int


@dataclass(frozen=True)
class PlantedCorpus:
    """A corpus with planted topics that can be written; everything follows from these numbers."""

    sizes: Sizes
    topics: int = 100
    seed: int = 0
    shard_tokens: int = 4_000_000
    name: str = "planted"

    # --- the truth ----------------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> np.ndarray:
        """The mean of topics, (V,): Zipf's law, with ranks assigned to the words at random."""
        rank = 1.0 + self._streams(STREAMS.planted_ranks).generator().permutation(self.sizes.vocabulary)
        weights = rank**-ZIPF_EXPONENT
        return weights / weights.sum()

    @cached_property
    def word_probabilities(self) -> np.ndarray:
        """The topics, float32 (K, V); words are drawn from exactly these numbers."""
        streams = self._streams(STREAMS.planted_topics)
        result = np.empty((self.topics, self.sizes.vocabulary), np.float32)
        for topic in range(self.topics):
            result[topic] = draw_dirichlet(streams.generator(topic), TOPIC_CONCENTRATION * self.base)
        return result

    @cached_property
    def topic_weights(self) -> np.ndarray:
        """The global weights, (K,): the share of tokens of each topic that is to be expected."""
        return draw_dirichlet(self._streams(STREAMS.planted_weights).generator(), np.ones(self.topics))

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each document begins, int64 (documents + 1,)."""
        streams = self._streams(STREAMS.planted_lengths)
        documents = self.sizes.documents
        raw = np.empty(documents)
        for block, begin in enumerate(range(0, documents, _LENGTHS_AT_A_TIME)):
            part = raw[begin : begin + _LENGTHS_AT_A_TIME]
            part[:] = np.exp(LENGTH_SPREAD * streams.generator(block).standard_normal(len(part)))
        return offsets_of_sizes(share_out(raw, self.sizes.tokens))

    # --- documents ----------------------------------------------------------------------------------------------

    @property
    def documents_per_block(self) -> int:
        """Number of documents generated at once; it depends on the sizes, not on the shards."""
        documents, _, tokens = self.sizes
        return max(1, min(_BLOCK_TOKENS * documents // tokens, _BLOCK_WEIGHTS // self.topics))

    @property
    def n_blocks(self) -> int:
        """Number of blocks of documents."""
        return -(-self.sizes.documents // self.documents_per_block)

    def block(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The lengths, int64, and the words, int64, of the documents of a block; words rise within a document."""
        lengths = np.diff(self.bounds_of(number))
        generator = self._streams(STREAMS.planted_documents).generator(number)
        topic_of_token = self._draw_topics(generator, lengths)
        word_of_token = draw_words(generator, self._tables, topic_of_token)
        first_word = np.repeat(np.arange(len(lengths)) * self.sizes.vocabulary, lengths)
        return lengths, np.sort(first_word + word_of_token) - first_word

    def bounds_of(self, block: int) -> np.ndarray:
        """The offsets of the documents of a block."""
        return self.offsets[block * self.documents_per_block :][: self.documents_per_block + 1]

    def _draw_topics(self, generator: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
        """The topic of each token, by a search of all documents' cumulative weights, laid end to end: j + sum."""
        shape = np.tile(DOCUMENT_CONCENTRATION * self.topic_weights, (len(lengths), 1))
        cumulative = np.cumsum(draw_dirichlet(generator, shape), axis=1)
        cumulative /= cumulative[:, -1:]
        document = np.arange(len(lengths), dtype=np.float64)
        cumulative += document[:, None]
        place = np.repeat(document, lengths) + generator.random(int(lengths.sum()))
        found = np.searchsorted(cumulative.ravel(), place, side="right")
        found -= np.repeat(np.arange(len(lengths)) * self.topics, lengths)
        return np.minimum(found, self.topics - 1)  # j + u may have been rounded up to j + 1

    @cached_property
    def _tables(self) -> list[WordTable]:
        return [word_table(row) for row in self.word_probabilities]

    def _streams(self, name: int) -> Streams:
        return Streams(self.seed, 0, 0, name)

    # --- files --------------------------------------------------------------------------------------------------

    @property
    def blocks_per_shard(self) -> int:
        """Number of blocks in a shard; the last one may have fewer."""
        documents, _, tokens = self.sizes
        return max(1, round(self.shard_tokens * documents / (tokens * self.documents_per_block)))

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return -(-self.n_blocks // self.blocks_per_shard)

    def shard_name(self, number: int) -> str:
        """Return the file name of a shard."""
        return f"{self.name}.{number:05}.parquet"

    @cached_property
    def estimate(self) -> Estimate:
        """Bytes and seconds, from a block that is written twice and removed; the first time loads libraries."""
        _ = self.offsets, self.topic_weights, self._tables  # made once, not for every block
        with TemporaryDirectory() as folder:
            path = Path(folder) / self.shard_name(0)
            with write_shard(path) as write:
                write(*self.block(self.n_blocks // 2))
                begin = time.perf_counter()
                lengths, words = self.block(self.n_blocks // 2)
                write(lengths, words)
                seconds = time.perf_counter() - begin
            scale = self.sizes.tokens / len(words)
            others = self.word_probabilities.nbytes + 4 * self.sizes.documents + 8 * self.sizes.vocabulary
            return Estimate(round(scale * path.stat().st_size / 2) + others, scale * seconds, self.n_shards)

    def check_new(self, folder: PathLike) -> Path:
        """Return the path of a folder that can become the corpus; raise InputError unless it is new or empty."""
        place = check_folder("folder", given_path(folder, "folder must be the path of a new folder"))
        if (place / INDEX).exists():
            raise InputError(
                f"folder {str(place)!r} already contains a sharded corpus. Open it with "
                f"franchise.open_shards({str(place)!r}), or use another folder."
            )
        if place.exists() and any(place.iterdir()):
            raise InputError(
                f"folder {str(place)!r} must be new or empty. Use another folder, or remove its files."
            )
        need_pyarrow(place)
        return place

    def write(self, folder: PathLike, progress: Progress | None = None) -> ShardedCorpus:
        """Write the corpus to a new folder."""
        from safetensors.numpy import save_file

        place = self.check_new(folder)
        _check_free_space(place, self.estimate.bytes)
        place.mkdir(parents=True, exist_ok=True)
        with written_whole(place / VOCABULARY) as temporary:
            temporary.write_text("\n".join(numbered(self.sizes.vocabulary)) + "\n", encoding="utf-8")
        with written_whole(place / TRUTH) as temporary:
            save_file({"topics": self.word_probabilities, "weights": self.topic_weights}, temporary)
        for number in range(self.n_shards):
            self.write_shard(place, number, progress)
        return index_shards(place)

    def write_shard(self, folder: Path, number: int, progress: Progress | None = None) -> None:
        """Write one shard."""
        with write_shard(folder / self.shard_name(number)) as write:
            for block in range(self.n_blocks)[number * self.blocks_per_shard :][: self.blocks_per_shard]:
                write(*self.block(block))
                if progress is not None:
                    done = int(self.bounds_of(block)[-1])
                    progress(f"shard {number + 1} of {self.n_shards}", done / self.sizes.tokens)


def write_planted(
    folder: PathLike,
    like: str | None = None,
    *,
    documents: int | None = None,
    vocabulary: int | None = None,
    tokens: int | None = None,
    topics: int = 100,
    seed: int = 0,
    shard_tokens: int = 4_000_000,
    progress: Progress | None = None,
) -> ShardedCorpus:
    """Write a corpus with planted topics and the word frequencies of real text to disk, in shards.

    The distribution is that of `planted_topics` (see `franchise.data.planted`), with exactly the given
    numbers of documents, words and tokens.  The documents depend on these, on `topics` and on `seed`, not on
    the shards.

    Parameters
    ----------
    folder : path
        A new folder.
    like : "enron", "nytimes" or "pubmed", optional
        Sizes of a known corpus, unless given below.
    documents : int, optional
        Number of documents; required without `like`.
    vocabulary : int, optional
        Number of words; required without `like`.
    tokens : int, optional
        Number of tokens; required without `like`.
    topics : int, default 100
        Number of topics (K).
    seed : int, default 0
        Seed of all draws.
    shard_tokens : int, default 4000000
        Approximate number of tokens per shard, at least one block of documents, 2^16 tokens.
    progress : callable, optional
        Called with a description of the work and the proportion that is done.

    Returns
    -------
    ShardedCorpus
        The corpus on disk.

    Raises
    ------
    InputError
        If a size is missing or out of range, the folder has files, or memory or disk are too small.

    Examples
    --------
    >>> fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3).n_tokens
    1000
    """
    return plan_planted(like, documents, vocabulary, tokens, topics, seed, shard_tokens).write(
        folder, progress
    )


def plan_planted(
    like: str | None,
    documents: int | None,
    vocabulary: int | None,
    tokens: int | None,
    topics: int = 100,
    seed: int = 0,
    shard_tokens: int = 4_000_000,
) -> PlantedCorpus:
    """Check the arguments of `write_planted`, and return the corpus that can be written."""
    sizes = _check_sizes(like, documents, vocabulary, tokens)
    topics = check_integer("topics", topics, minimum=1, maximum=2**16)
    need, free = 4 * topics * sizes.vocabulary, available_memory()
    if need > free:
        raise InputError(
            f"topics: {topics} topics over {sizes.vocabulary} words take {format_bytes(need)} of memory, and "
            f"{format_bytes(free)} are free. Use fewer topics or words."
        )
    seed = check_integer("seed", seed, minimum=0)
    shard_tokens = check_integer("shard_tokens", shard_tokens, minimum=1)
    return PlantedCorpus(sizes, topics, seed, shard_tokens, like or "planted")


def _check_sizes(like: str | None, *given: int | None) -> Sizes:
    known = SIZES[check_choice("like", like, SIZES)] if like is not None else (None, None, None)
    sizes = []
    for name, size, default in zip(Sizes._fields, given, known, strict=True):
        if size is None and default is None:
            raise InputError(f"{name} must be given, or like=, one of {', '.join(map(repr, SIZES))}.")
        most = 10**15 if name == "tokens" else MOST
        sizes.append(check_integer(name, default if size is None else size, minimum=1, maximum=most))
    documents, _, tokens = sizes
    if not documents <= tokens <= _LONGEST_MEAN * documents:
        raise InputError(
            f"tokens must be from 1 to {_LONGEST_MEAN} per document ({documents} documents); got {tokens}."
        )
    return Sizes(*sizes)


def _check_free_space(folder: Path, need: int) -> None:
    free = shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free
    if need * _SPARE > free:
        raise InputError(
            f"folder {str(folder)!r}: the corpus takes about {format_bytes(need)}, and the disk has "
            f"{format_bytes(free)} left. Free some space, or use a folder on another disk."
        )


class WordTable(NamedTuple):
    """The words of a topic that have a probability above 0."""

    cumulative: np.ndarray
    """sums of their probabilities, the last of them 1, so that a uniform below 1 never falls beyond it"""
    words: np.ndarray


def word_table(probabilities: np.ndarray) -> WordTable:
    """The words of a topic; most have probability 0 where the base measure is uneven, so tables are small."""
    words = np.flatnonzero(probabilities)
    cumulative = np.cumsum(probabilities[words], dtype=np.float64)
    return WordTable(cumulative / cumulative[-1], words)


def draw_words(
    generator: np.random.Generator, tables: list[WordTable], topic_of_token: np.ndarray
) -> np.ndarray:
    """Draw the word of each token, int64, by a search of its topic's cumulative probabilities."""
    small = topic_of_token.astype(np.min_scalar_type(len(tables) - 1))  # NumPy sorts these by radix
    order = np.argsort(small, kind="stable")
    bounds = offsets_of_sizes(np.bincount(topic_of_token, minlength=len(tables)))
    uniforms = generator.random(len(order))
    result = np.empty(len(order), np.int64)
    for topic, (cumulative, words) in enumerate(tables):
        part = slice(bounds[topic], bounds[topic + 1])
        result[order[part]] = words[np.searchsorted(cumulative, uniforms[part], side="right")]
    return result


def share_out(raw: np.ndarray, total: int) -> np.ndarray:
    """Whole lengths, int64, that sum to `total` and are as raw lengths times a factor, rounded up or down.

        length = shortest + excess,   excess ~ max(factor * raw - shortest, 0)

    Sums of the excess are rounded instead of the excess itself, so that nothing is left over at the end.
    """
    shortest = _SHORTEST if total >= _LONG_ENOUGH * len(raw) else 1
    excess = np.maximum(_factor(raw, total, shortest) * raw - shortest, 0.0)
    sums = np.cumsum(excess)
    left = total - shortest * len(raw)
    scale = left / sums[-1] if sums[-1] > 0 else 0.0
    bounds = np.floor(sums * scale)
    bounds[-1] = left
    return shortest + np.diff(np.minimum(bounds, left), prepend=0.0).astype(np.int64)


def _factor(raw: np.ndarray, total: int, shortest: int) -> float:
    """The factor with sum max(factor * raw, shortest) = total; falls from its first guess until it is right."""
    factor = total / raw.sum()
    while True:
        long = factor * raw > shortest
        if not long.any():
            return factor
        smaller = (total - shortest * (len(raw) - np.count_nonzero(long))) / raw[long].sum()
        if smaller >= factor * (1 - 1e-12):
            return float(factor)
        factor = smaller
