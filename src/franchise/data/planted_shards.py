"""Corpora too large for memory, with planted topics, written in shards; and which of the topics were found.

    corpus = fr.synthetic.write_planted("nytimes/", like="nytimes")      100 million tokens
    match = fr.synthetic.planted_match(topics, "nytimes/")               topics (K, V) that a sampler has found

The law is in `planting`, the files are those of `shards`.  Beside them, `truth.safetensors` has the topics (K x V,
float32) and their weights.  While a corpus is written, `unfinished.json` says which one, and which parts are there;
an interrupted call can be given again, and goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.planted import SIZES, Planting, Sizes
from franchise.data.readers.source import check_path, format_bytes
from franchise.data.sharded.files import FORMATS, need_pyarrow, write_part
from franchise.data.sharded.index import (
    INDEX,
    UNFINISHED,
    VOCABULARY,
    Shard,
    checksum_of,
    write_index,
    write_json,
    written_whole,
)
from franchise.data.sharded.sharded_corpus import ShardedCorpus
from franchise.data.tokens import MOST, numbered
from franchise.errors import InputError
from franchise.validation import (
    available_memory,
    check_choice,
    check_finite,
    check_folder,
    check_integer,
    describe,
)

if TYPE_CHECKING:
    import pandas as pd

TRUTH = "truth.safetensors"

_VARIATION = "total-variation"
_LONGEST_MEAN = 1_000_000
_SPARE = 1.05  # room on the disk, to what is thought to be needed

Progress = Callable[[str, float], None]
"""Is told what is being done, and the share that is done."""


def write_planted(
    folder: Any,
    like: str | None = None,
    *,
    documents: int | None = None,
    vocabulary: int | None = None,
    tokens: int | None = None,
    topics: int = 100,
    seed: int = 0,
    shard_tokens: int = 4_000_000,
    format: str = "parquet",
    progress: Progress | None = None,
) -> ShardedCorpus:
    """Write a corpus with planted topics and the word frequencies of real text to disk, in shards.

    The law is that of `planted_topics` (see `franchise.data.planting`), with exactly the given numbers of
    documents, words and tokens.  The documents depend on these, on `topics` and on `seed`, not on the shards.

    Parameters
    ----------
    folder : path
        A new folder; or one in which the same call was interrupted: then it goes on.
    like : "enron", "nytimes" or "pubmed", optional
        Sizes of a known corpus; those given beside it count instead of its.
    documents, vocabulary, tokens : int, optional
        Sizes; all three if `like` is not given.
    topics : int
        Topics to plant (K).
    seed : int
        Seed of all draws.
    shard_tokens : int
        About how many tokens a shard has; at least a block of documents, 2^16 tokens.
    format : "parquet" or "docword"
        How shards are written; Parquet needs pyarrow (`pip install "franchise[io]"`).
    progress : callable, optional
        Is told what is being done and the share that is done, a text and a number up to 1.
    """
    plan = plan_planted(like, documents, vocabulary, tokens, topics, seed, shard_tokens, format)
    return plan.write(folder, progress)


def plan_planted(
    like: str | None,
    documents: int | None,
    vocabulary: int | None,
    tokens: int | None,
    topics: int,
    seed: int,
    shard_tokens: int,
    format: str,
) -> Plan:
    """A corpus that can be written, of arguments that are checked; they are those of `write_planted`."""
    sizes = _check_sizes(like, documents, vocabulary, tokens)
    topics = check_integer("topics", topics, minimum=1, maximum=2**16)
    need, free = 4 * topics * sizes.vocabulary, available_memory()
    if need > free:
        raise InputError(
            f"topics: {topics} of them over {sizes.vocabulary} words take {format_bytes(need)} of memory, and "
            f"{format_bytes(free)} are free. Plant fewer."
        )
    planting = Planting(sizes, topics, check_integer("seed", seed, minimum=0))
    shard_tokens = check_integer("shard_tokens", shard_tokens, minimum=1)
    return Plan(planting, shard_tokens, check_choice("format", format, FORMATS), like or "planted")


def _check_sizes(like: Any, *given: Any) -> Sizes:
    known = SIZES[check_choice("like", like, SIZES)] if like is not None else (None, None, None)
    sizes = []
    for name, size, usual in zip(Sizes._fields, given, known, strict=True):
        if size is None and usual is None:
            raise InputError(f"{name} must be given, or like=, one of {', '.join(map(repr, SIZES))}.")
        most = 10**15 if name == "tokens" else MOST
        sizes.append(check_integer(name, usual if size is None else size, minimum=1, maximum=most))
    documents, _, tokens = sizes
    if tokens < documents:
        raise InputError(f"tokens must be at least as many as documents ({documents}); got {tokens}.")
    if tokens > _LONGEST_MEAN * documents:
        raise InputError(
            f"tokens must be at most {_LONGEST_MEAN} a document, as a document is made in memory; got {tokens} in "
            f"{documents}. Give more documents."
        )
    return Sizes(*sizes)


class Estimate(NamedTuple):
    """What it takes to write a corpus."""

    bytes: int
    seconds: float
    shards: int


@dataclass(frozen=True)
class Plan:
    """A corpus with planted topics and how it is cut into parts."""

    planting: Planting
    shard_tokens: int = 4_000_000
    format: str = "parquet"
    name: str = "planted"

    @property
    def blocks_per_part(self) -> int:
        """How many blocks of documents a part has, the last one perhaps fewer."""
        documents, _, tokens = self.planting.sizes
        return max(1, round(self.shard_tokens * documents / (tokens * self.planting.documents_per_block)))

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return -(-self.planting.n_blocks // self.blocks_per_part)

    def part_name(self, number: int) -> str:
        """The file of a part."""
        if self.format == "docword":
            return f"docword.{self.name}.{number:05}.txt.gz"
        return f"{self.name}.{number:05}.parquet"

    def write_part(self, folder: Path, number: int, progress: Progress | None = None) -> Shard:
        """Write one part, whole or not at all; what the index is to say of it."""
        planting = self.planting
        blocks = range(planting.n_blocks)[number * self.blocks_per_part :][: self.blocks_per_part]
        bounds = planting.bounds_of(blocks[0], blocks[-1] + 1)
        path = folder / self.part_name(number)
        with write_part(path, self.format, planting.sizes.vocabulary, len(bounds) - 1) as write:
            for block in blocks:
                write(*planting.block(block))
                if progress is not None:
                    done = int(planting.bounds_of(block, block + 1)[-1])
                    progress(f"part {number + 1} of {self.n_parts}", done / planting.sizes.tokens)
        first = blocks[0] * planting.documents_per_block
        tokens = int(bounds[-1] - bounds[0])
        return Shard(path.name, first, len(bounds) - 1, tokens, path.stat().st_size, checksum_of(path))

    def estimate(self) -> Estimate:
        """Bytes on disk and seconds for the whole, told from a block in the middle, written apart and removed.

        It is written twice, and the second time counts: the first loads libraries.
        """
        self._check_format()
        planting = self.planting
        sizes = planting.sizes
        planting.prepare()
        with TemporaryDirectory() as folder:
            path = Path(folder) / self.part_name(0)
            lengths, words = planting.block(planting.n_blocks // 2)
            with write_part(path, self.format, sizes.vocabulary, 2 * len(lengths)) as write:
                write(lengths, words)
                begin = time.perf_counter()
                write(*planting.block(planting.n_blocks // 2))
                seconds = time.perf_counter() - begin
            scale = sizes.tokens / len(words)
            beside = planting.word_probabilities.nbytes + 4 * sizes.documents + 8 * sizes.vocabulary
            return Estimate(round(scale * path.stat().st_size / 2) + beside, scale * seconds, self.n_parts)

    def check_new(self, folder: Any) -> Path:
        """A folder that can become the corpus: new, empty, or one in which this very corpus was begun."""
        if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
            raise InputError(f"folder must be the path of a new folder; got {describe(folder)}.")
        place = check_folder("folder", Path(os.fsdecode(folder)).expanduser())
        if (place / INDEX).exists():
            raise InputError(
                f"folder {str(place)!r} holds a sharded corpus already: open it by "
                f"franchise.open_shards({str(place)!r}), or give another folder."
            )
        if place.exists() and any(place.iterdir()) and not (place / UNFINISHED).exists():
            raise InputError(
                f"folder {str(place)!r} must be new or empty; it holds something else. Give another folder."
            )
        if self._begun(place)[0] != self._facts():
            raise InputError(
                f"folder {str(place)!r} holds the beginning of another corpus; {UNFINISHED} says which. Give the "
                "settings of that one to go on with it, or remove the folder."
            )
        return place

    def check_room(self, folder: Path, need: int) -> None:
        """InputError if the disk has too little room for a corpus of so many bytes, of which some may be there."""
        need -= sum(shard.bytes for shard in self._begun(folder)[1])
        place = folder
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
        if need * _SPARE > free:
            raise InputError(
                f"folder {str(folder)!r}: the corpus takes about {format_bytes(max(need, 0))}, and the disk has "
                f"{format_bytes(free)} left. Make room, or give a folder on another disk."
            )

    def write(self, folder: Any, progress: Progress | None = None) -> ShardedCorpus:
        """Write the corpus; parts that an interrupted call has left, and that are sound, are kept."""
        place = self.check_new(folder)
        self.check_room(place, self.estimate().bytes)
        place.mkdir(parents=True, exist_ok=True)
        known = {shard.file: shard for shard in self._begun(place)[1] if _is_sound(place, shard)}
        self._note(place, known)
        for number in range(self.n_parts):
            if self.part_name(number) not in known:
                known[self.part_name(number)] = self.write_part(place, number, progress)
                self._note(place, known)
        self._write_words_and_truth(place)
        shards = [known[self.part_name(number)] for number in range(self.n_parts)]
        sizes = self.planting.sizes
        write_index(place, self.format, shards, np.diff(self.planting.offsets), sizes.vocabulary)
        (place / UNFINISHED).unlink()
        return ShardedCorpus(place)

    def _check_format(self) -> None:
        if self.format == "parquet":
            need_pyarrow('format="parquet"')

    def _write_words_and_truth(self, folder: Path) -> None:
        from safetensors.numpy import save_file

        with written_whole(folder / VOCABULARY) as temporary:
            words = numbered(self.planting.sizes.vocabulary)
            temporary.write_text("\n".join(words) + "\n", encoding="utf-8")
        with written_whole(folder / TRUTH) as temporary:
            arrays = {"topics": self.planting.word_probabilities, "weights": self.planting.topic_weights}
            save_file(arrays, temporary)

    def _facts(self) -> dict[str, Any]:
        planting = self.planting
        facts = {**planting.sizes._asdict(), "topics": planting.topics, "seed": planting.seed}
        return facts | {"shard_tokens": self.shard_tokens, "format": self.format, "name": self.name}

    def _begun(self, folder: Path) -> tuple[dict[str, Any], list[Shard]]:
        """What was begun in a folder, and its parts that are written; this corpus and none if nothing was."""
        path = folder / UNFINISHED
        if not path.exists():
            return self._facts(), []
        try:
            begun = json.loads(path.read_bytes())
            return begun["corpus"], [Shard(**shard) for shard in begun["shards"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is damaged ({error}). Remove the folder, and begin again.") from error

    def _note(self, folder: Path, known: dict[str, Shard]) -> None:
        shards = [shard._asdict() for shard in known.values()]
        write_json(folder / UNFINISHED, {"corpus": self._facts(), "shards": shards})


def _is_sound(folder: Path, shard: Shard) -> bool:
    try:
        return checksum_of(folder / shard.file) == shard.sha256
    except OSError:
        return False


# --- the truth, and what was found of it ------------------------------------------------------------------------


class Truth(NamedTuple):
    """What was planted."""

    topics: np.ndarray
    """float32 (K, V): word probabilities"""
    weights: np.ndarray
    """(K,): the share of tokens that is to be expected of each"""


def read_truth(folder: Any) -> Truth:
    """What was planted in a corpus that `write_planted` has written: its folder, or the `ShardedCorpus`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    place = folder.folder if isinstance(folder, ShardedCorpus) else check_path(folder, "folder")
    path = place / TRUTH
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file. Give a folder that synthetic.write_planted has written."
        )
    try:
        arrays = load_file(path)
        return Truth(arrays["topics"], arrays["weights"])
    except (SafetensorError, KeyError, OSError, ValueError) as error:
        raise InputError(f"{path}: is damaged ({error}). Write the corpus again.") from error


def planted_match(found: Any, truth: Any, distance: str = _VARIATION) -> pd.DataFrame:
    """How well planted topics were found: each with the found topic that is matched to it, one to one.

    The matching has the least sum of distances (Hungarian method, scipy's `linear_sum_assignment`).

        total variation   1/2 sum_w |p_w - q_w|, from 0 (the same) to 1 (no word in common)
        cosine            1 - p.q / (|p| |q|), from 0 to 1

    Parameters
    ----------
    found : array (topics, V)
        Word probabilities of the topics found, or counts of their tokens; rows are scaled to sum to 1.
    truth : folder, ShardedCorpus, Truth, Planted or array (K, V)
        What was planted.
    distance : "total-variation" or "cosine"
        By which topics are compared.

    Returns
    -------
    DataFrame
        A row for each planted topic, by number: `found`, the topic matched to it, or -1 if there are too few;
        `distance`, 1 if none is matched; `share`, the share of tokens that is to be expected of the planted topic
        (NaN if only an array was given).

    Examples
    --------
    >>> import numpy as np
    >>> planted_match(np.array([[0, 0, 6], [2, 2, 0]]), np.array([[0.5, 0.5, 0], [0, 0, 1.0]]))["found"].tolist()
    [1, 0]
    """
    import pandas as pd
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    check_choice("distance", distance, (_VARIATION, "cosine"))
    planted, shares = _topics_and_shares(truth)
    rows = _check_topics("found", found)
    if rows.shape[1] != planted.shape[1]:
        raise InputError(
            f"found must have a column for each of the {planted.shape[1]} words of the truth; got {rows.shape[1]}."
        )
    distances = (
        0.5 * cdist(planted, rows, "cityblock") if distance == _VARIATION else cdist(planted, rows, "cosine")
    )
    matched, partner = linear_sum_assignment(distances)
    table = pd.DataFrame({"found": -1, "distance": 1.0, "share": shares}, index=range(len(planted)))
    table.index.name = "planted"
    table.loc[matched, "found"] = partner
    table.loc[matched, "distance"] = distances[matched, partner].clip(0.0, 1.0)
    return table


def _topics_and_shares(truth: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(truth, (str, os.PathLike, ShardedCorpus)):
        truth = read_truth(truth)
    if isinstance(truth, Truth):
        return _check_topics("truth", truth.topics), truth.weights
    if hasattr(truth, "topics") and hasattr(truth, "labels"):
        counts = np.bincount(truth.labels, minlength=len(truth.topics))
        return _check_topics("truth", truth.topics), counts / counts.sum()
    topics = _check_topics("truth", truth)
    return topics, np.full(len(topics), np.nan)


def _check_topics(name: str, topics: Any) -> np.ndarray:
    """Rows that sum to 1, float64, of rows with something in them."""
    rows = np.asarray(topics)
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or not rows.size:
        raise InputError(f"{name} must be numbers, a row for each topic; got {describe(topics)}.")
    rows = check_finite(name, rows.astype(np.float64))
    sums = rows.sum(axis=1)
    if (rows < 0).any() or not (sums > 0).all():
        raise InputError(
            f"{name} must have no negative numbers, and in each row one above 0. Leave out empty topics."
        )
    return rows / sums[:, None]
