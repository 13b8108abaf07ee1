"""Large corpora with planted topics: exact sizes, the same bits in any shards, their distribution, their files."""

import shutil
import tracemalloc
from collections import namedtuple

import numpy as np
import pytest
from tests.data.without import without

import franchise as fr
from franchise.data.planted import (
    DOCUMENT_CONCENTRATION,
    LENGTH_SPREAD,
    PlantedCorpus,
    Sizes,
    draw_words,
    plan_planted,
    share_out,
)
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlet

SMALL = {"documents": 1500, "vocabulary": 400, "tokens": 250_000, "topics": 6, "seed": 3}  # four blocks
PLANTING = PlantedCorpus(Sizes(1500, 400, 250_000), 6, 3)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return fr.synthetic.write_planted(
        tmp_path_factory.mktemp("large") / "small", **SMALL, shard_tokens=120_000
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- sizes and bits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "topics"),
    [
        (Sizes(1500, 400, 250_000), 6),
        (Sizes(1000, 1, 1000), 3),
        (Sizes(1, 50, 1), 1),
        (Sizes(1, 50, 7919), 300),
        (Sizes(997, 10, 6007), 2),
        (Sizes(100, 10, 2000), 2),
    ],
)
def test_sizes_are_exact(tmp_path, sizes, topics):
    corpus = fr.synthetic.write_planted(tmp_path / "c", **sizes._asdict(), topics=topics)
    assert (corpus.n_documents, corpus.vocabulary_size, corpus.n_tokens) == sizes
    words, offsets = corpus.read()
    assert len(words) == sizes.tokens == offsets[-1]
    assert len(offsets) == sizes.documents + 1
    assert corpus.lengths().min() >= (5 if sizes.tokens >= 20 * sizes.documents else 1)
    assert words.max() < sizes.vocabulary
    assert len(corpus.vocabulary) == sizes.vocabulary


def test_sizes_of_known_corpora():
    known = {"enron": (39_861, 28_102, 6_400_000), "nytimes": (300_000, 102_660, 100_000_000)}
    known["pubmed"] = (8_200_000, 141_043, 730_000_000)
    for name, sizes in known.items():
        plan = plan_planted(name, None, None, None)
        assert plan.sizes == sizes
        assert plan.n_shards == pytest.approx(sizes[2] / 4_000_000, abs=2, rel=0.02)
        assert plan.documents_per_block * sizes[2] / sizes[0] < 2**16
    assert PlantedCorpus(Sizes(*known["enron"])).offsets[-1] == 6_400_000
    half = plan_planted("nytimes", None, None, 50_000_000)
    assert half.sizes == (300_000, 102_660, 50_000_000)
    assert half.shard_name(3) == "nytimes.00003.parquet"


@pytest.mark.parametrize("shard_tokens", [1, 10**9])
def test_the_same_documents_however_they_are_cut(small, tmp_path, shard_tokens):
    other = fr.synthetic.write_planted(tmp_path / "c", **SMALL, shard_tokens=shard_tokens)
    assert len(other.shards) != len(small.shards)
    for mine, others in zip(small.read(), other.read(), strict=True):
        assert np.array_equal(mine, others)
    assert np.array_equal(small.read(300, 900)[0], other.read(300, 900)[0])
    assert contents(small.folder)["truth.safetensors"] == contents(other.folder)["truth.safetensors"]


def test_the_seed_counts(small, tmp_path):
    again = fr.synthetic.write_planted(tmp_path / "again", **SMALL, shard_tokens=120_000)
    assert contents(again.folder) == contents(small.folder)
    other = fr.synthetic.write_planted(tmp_path / "other", **{**SMALL, "seed": 4}, shard_tokens=120_000)
    assert not np.array_equal(other.lengths(), small.lengths())
    assert not np.array_equal(other.read()[0], small.read()[0])


def test_a_part_alone_is_that_of_the_whole(small, tmp_path):
    for number in reversed(range(len(small.shards))):
        plan = PlantedCorpus(Sizes(1500, 400, 250_000), 6, 3, shard_tokens=120_000)
        plan.write_shard(tmp_path, number)
        shard = small.shards[number]
        assert (tmp_path / shard.file).read_bytes() == (small.folder / shard.file).read_bytes()


def test_a_block_alone_is_that_of_the_whole(small):
    for number in (3, 0, 1):
        planting = PlantedCorpus(Sizes(1500, 400, 250_000), 6, 3)
        lengths, words = planting.block(number)
        first = number * planting.documents_per_block
        assert np.array_equal(words, small.read(first, first + len(lengths))[0])


def test_words_rise_within_documents(small):
    words, offsets = small.read()
    falls = np.flatnonzero(np.diff(words.astype(int)) < 0) + 1
    assert set(falls) <= set(offsets)


# --- the law ------------------------------------------------------------------------------------------------


def test_lengths_are_log_normal():
    """Log lengths have sigma 0.7, the mean that goes with the tokens, and no skew or kurtosis: within 5 errors."""
    documents, mean = 40_000, 1000
    logs = np.log(np.diff(PlantedCorpus(Sizes(documents, 10, mean * documents), 1, 8).offsets))
    error = 1 / np.sqrt(documents)
    spread = logs.std()
    assert abs(spread - LENGTH_SPREAD) < 5 * LENGTH_SPREAD * error / np.sqrt(2)
    factor_error = np.sqrt(np.expm1(LENGTH_SPREAD**2))  # the mean of raw lengths, which the factor divides by
    assert (
        abs(logs.mean() - (np.log(mean) - LENGTH_SPREAD**2 / 2)) < 5 * (LENGTH_SPREAD + factor_error) * error
    )
    z = (logs - logs.mean()) / spread
    assert abs(np.mean(z**3)) < 5 * np.sqrt(6) * error
    assert abs(np.mean(z**4) - 3) < 5 * np.sqrt(24) * error


@pytest.mark.parametrize("total", [1000, 5000, 19_999, 20_000, 33_333, 10**6 + 1])
def test_lengths_are_shared_out_exactly(total):
    raw = np.exp(0.7 * np.random.default_rng(2).standard_normal(1000))
    lengths = share_out(raw, total)
    shortest = 5 if total >= 20_000 else 1
    assert lengths.sum() == total
    assert lengths.min() >= shortest
    low, high = 0.0, 10.0 * total
    for _ in range(200):  # the factor by halving
        factor = (low + high) / 2
        low, high = (factor, high) if np.maximum(factor * raw, shortest).sum() < total else (low, factor)
    wanted = np.maximum(factor * raw, shortest)
    assert np.abs(lengths - wanted).max() <= 1 + 1e-6


def test_frequencies_follow_zipf():
    """The exponent, fitted to the mean of many topics, is 1.05 within 5 errors (delta method)."""
    planting = PlantedCorpus(Sizes(10, 50, 100), 2000, 1)
    base = planting.base
    order = np.argsort(-base)
    assert not np.array_equal(order, np.arange(50))
    x = np.log(np.arange(1, 51))
    assert np.allclose(np.diff(np.log(base[order])), -1.05 * np.diff(x))
    y = np.log(planting.word_probabilities.mean(axis=0, dtype=np.float64)[order])
    pull = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    relative_variance = (1 / base[order] - 1) / (201 * 2000)
    assert abs(pull @ y + 1.05) < 5 * np.sqrt(pull**2 @ relative_variance)


def test_topics_have_the_spread_of_their_law():
    """The variance of a word's probability over topics is base (1 - base) / 201."""
    planting = PlantedCorpus(Sizes(10, 50, 100), 2000, 1)
    scaled = (planting.word_probabilities - planting.base) ** 2 / (planting.base * (1 - planting.base) / 201)
    common = scaled[:, planting.base > 0.02]
    assert abs(common.mean() - 1) < 5 * common.mean(axis=1).std() / np.sqrt(2000)


def test_topics_and_words_are_drawn_from_their_weights():
    """Counts of (document, topic) and of (topic, word) have mean n p and variance n p (1 - p), cell by cell."""
    lengths = np.full(300, 5000)
    stream = PLANTING._streams(77)
    shape = np.tile(DOCUMENT_CONCENTRATION * PLANTING.topic_weights, (300, 1))
    weights = draw_dirichlet(stream.generator(), shape)
    generator = stream.generator()  # at its beginning: the same weights are drawn again
    topics = PLANTING._draw_topics(generator, lengths)
    words = draw_words(generator, PLANTING._tables, topics)
    truth = PLANTING.word_probabilities.astype(np.float64)
    for rows, columns, probabilities in [
        (np.repeat(np.arange(300), lengths), topics, weights),
        (topics, words, truth / truth.sum(axis=1, keepdims=True)),
    ]:
        counts = np.zeros(probabilities.shape)
        np.add.at(counts, (rows, columns), 1)
        expected = counts.sum(axis=1, keepdims=True) * probabilities
        assert counts[probabilities == 0].sum() == 0
        kept = expected > 5
        z = (counts - expected)[kept] / np.sqrt((expected * (1 - probabilities))[kept])
        assert abs(np.mean(z**2) - 1) < 5 * np.sqrt(2.5 / kept.sum())
        assert abs(z.mean()) < 5 / np.sqrt(kept.sum())


def test_blocks_are_independent():
    """Documents at the same place of two blocks are no more alike than any: correlations have mean 0."""
    planting = PlantedCorpus(Sizes(256, 400, 512_000), 6, 3)  # eight blocks of long documents
    deviations = []
    for number in range(8):
        lengths, words = planting.block(number)
        cells = np.repeat(np.arange(len(lengths)) * 400, lengths) + words
        deviations.append(np.bincount(cells, minlength=32 * 400).reshape(32, 400) / lengths[:, None])
    deviations = np.array(deviations) - np.mean(deviations, axis=(0, 1))
    deviations /= np.linalg.norm(deviations, axis=2, keepdims=True)
    correlations = (deviations[0::2] * deviations[1::2]).sum(axis=2)
    assert abs(correlations.mean()) < 5 * correlations.std() / np.sqrt(correlations.size)


def test_words_of_the_corpus_have_the_frequencies_of_the_truth(small):
    """Counts of words on disk: mean T mu, variance sum_j len_j (mu - mu^2 - v) + len_j^2 v.

    Here mu = sum_k g_k phi_kw, and v = (sum_k g_k phi_kw^2 - mu^2) / (1 + 5), of document weights ~ Dirichlet(5 g).
    """
    truth = fr.synthetic.read_truth(small)
    assert truth.topics.dtype == np.float32
    topics = truth.topics.astype(np.float64)
    mean = truth.weights @ topics
    variance = (truth.weights @ topics**2 - mean**2) / (1 + DOCUMENT_CONCENTRATION)
    lengths = small.lengths().astype(np.float64)
    counts = np.bincount(small.read()[0], minlength=400)
    error = np.sqrt(lengths.sum() * (mean - mean**2 - variance) + (lengths**2).sum() * variance)
    kept = lengths.sum() * mean > 20
    assert kept.sum() > 100
    assert np.abs((counts - lengths.sum() * mean)[kept] / error[kept]).max() < 5


# --- writing ------------------------------------------------------------------------------------------------


class Stop(KeyboardInterrupt):
    pass


def test_progress_and_interruption(tmp_path):
    seen = []

    def progress(what, done):
        seen.append((what, done))
        if len(seen) == 3:
            raise Stop

    with pytest.raises(Stop):
        fr.synthetic.write_planted(tmp_path / "c", **SMALL, shard_tokens=1, progress=progress)
    assert [what for what, _ in seen] == ["shard 1 of 4", "shard 2 of 4", "shard 3 of 4"]
    assert 0 < seen[0][1] < seen[1][1] < seen[2][1] < 1
    assert not list((tmp_path / "c").glob("*.tmp"))
    with pytest.raises(InputError, match="not a sharded corpus"):
        fr.open_shards(tmp_path / "c")
    with pytest.raises(InputError, match=r"must be new or empty. Use another folder, or remove its files"):
        fr.synthetic.write_planted(tmp_path / "c", **SMALL)


def test_folders_that_are_taken(small, tmp_path):
    with pytest.raises(InputError, match="already contains a sharded corpus"):
        fr.synthetic.write_planted(small.folder, **SMALL)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="must be new or empty"):
        fr.synthetic.write_planted(tmp_path, **SMALL)
    with pytest.raises(InputError, match="is a file"):
        fr.synthetic.write_planted(tmp_path / "letter.txt", **SMALL)
    with pytest.raises(InputError, match="folder must be"):
        fr.synthetic.write_planted(7, **SMALL)
    assert contents(tmp_path) == {"letter.txt": b"dear"}


BAD = {
    "like": ["enrno", 3, ""],
    "documents": [None, 0, -1, 1.5, float("nan"), "many", True, 2**31],
    "vocabulary": [None, 0, -5, float("inf"), 2**31],
    "tokens": [None, 0, 1499, -1, float("nan"), 10**16, 1500 * 1_000_001],
    "topics": [0, -1, 0.5, None, float("nan"), 2**17],
    "seed": [-1, 0.5, None, float("nan")],
    "shard_tokens": [0, -1, None, float("nan")],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in BAD for value in BAD[name]])
def test_bad_arguments(tmp_path, name, value):
    with pytest.raises(InputError, match=f"^{name}"):
        fr.synthetic.write_planted(tmp_path / "c", **{**SMALL, name: value})
    assert not (tmp_path / "c").exists()


def test_too_little_room(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage(1000))
    with pytest.raises(InputError, match=r"takes about .* and the disk has 1000 bytes left"):
        fr.synthetic.write_planted(tmp_path / "c", **SMALL)
    assert not (tmp_path / "c").exists()


def test_too_little_memory_for_the_topics(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.data.planted.available_memory", lambda: 1000)
    with pytest.raises(InputError, match="Use fewer"):
        fr.synthetic.write_planted(tmp_path / "c", **SMALL)


def test_without_pyarrow(tmp_path, monkeypatch):
    without(monkeypatch, "pyarrow")
    with pytest.raises(InputError, match=r'pip install "franchise\[io\]"'):
        fr.synthetic.write_planted(tmp_path / "c", **SMALL)
    assert not (tmp_path / "c").exists()


def test_the_estimate_is_near_the_truth(tmp_path):
    plan = plan_planted(None, *PLANTING.sizes, 6, 3, 120_000)
    corpus = plan.write(tmp_path / "c")
    written = sum(len(content) for content in contents(corpus.folder).values())
    assert plan.estimate.bytes == pytest.approx(written, rel=0.15)
    assert plan.estimate.shards == len(corpus.shards)
    assert plan.estimate.seconds > 0


def test_memory_is_bounded(tmp_path):
    """Twenty blocks take no more memory than four, although all words would take 10 MB."""
    peaks = []
    for blocks in (4, 20):
        plan = PlantedCorpus(Sizes(400 * blocks, 400, 65_000 * blocks), 6, 0, 10**9)
        (tmp_path / str(blocks)).mkdir()
        plan.write_shard(
            tmp_path / str(blocks), 0
        )  # libraries are loaded, and what all blocks share is drawn
        tracemalloc.start()
        plan.write_shard(tmp_path / str(blocks), 0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


# --- what was found of it -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["total-variation", "cosine"])
def test_topics_that_are_found(small, distance):
    truth = fr.synthetic.read_truth(small.folder)
    order = np.array([3, 0, 5, 1, 2, 4])
    match = fr.synthetic.planted_match(1000 * truth.topics[order], small, distance)
    assert np.array_equal(order[match["found"]], np.arange(6))
    assert match["distance"].max() < 1e-6
    assert np.allclose(match["share"], truth.weights)
    assert match.index.name == "planted"


def test_topics_that_are_not_found():
    truth = np.array([[0.5, 0.5, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    match = fr.synthetic.planted_match(np.array([[0, 0, 3, 1], [4, 0, 0, 0]]), truth)
    assert match["found"].tolist() == [1, 0, -1]
    assert np.allclose(match["distance"], [0.5, 0.25, 1.0])
    assert match["share"].isna().all()
    more = fr.synthetic.planted_match(np.eye(4), truth)
    assert more["found"].tolist()[1:] == [2, 3]
    assert np.allclose(more["distance"], [0.5, 0, 0])


def test_the_truth_of_a_corpus_in_memory():
    planted = fr.synthetic.planted_topics(0, documents=100, vocabulary=50, topics=4)
    match = fr.synthetic.planted_match(planted.topics, planted)
    assert match["found"].tolist() == [0, 1, 2, 3]
    assert match["share"].sum() == pytest.approx(1)


def test_the_corpus_finds_its_topics(small):
    """The mean of the law's own corpus: labels are not kept, but counts of words fit the mixture of the truth."""
    truth = fr.synthetic.read_truth(small)
    counts = np.bincount(small.read()[0], minlength=400)[None]
    mixed = fr.synthetic.planted_match(counts, (truth.weights @ truth.topics)[None])
    assert mixed["distance"].iloc[0] < fr.synthetic.planted_match(counts, truth)["distance"].min()


@pytest.mark.parametrize(
    ("found", "truth", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), "found must have 4 columns, one per word"),
        (np.ones(3), np.ones((2, 3)), "found must be numbers"),
        (np.zeros((2, 3)), np.ones((2, 3)), "found must have no negative"),
        (-np.ones((2, 3)), np.ones((2, 3)), "found must have no negative"),
        (
            np.full((2, 3), np.nan),
            np.ones((2, 3)),
            r"found must not be NaN or infinite; got nan .*6 in total",
        ),
        (np.ones((2, 3)), [["a"]], "truth must be numbers"),
        (np.ones((2, 3)), "no-such-folder", "no-such-folder: there is no such file or folder"),
    ],
)
def test_bad_topics(found, truth, message):
    with pytest.raises(InputError, match=message):
        fr.synthetic.planted_match(found, truth)
    with pytest.raises(InputError, match="distance must be one of"):
        fr.synthetic.planted_match(np.eye(2), np.eye(2), "euclid")


def test_a_damaged_truth(tmp_path):
    with pytest.raises(InputError, match="folder must name"):
        fr.synthetic.read_truth(7)
    with pytest.raises(InputError, match=r"truth.safetensors: there is no such file. Use a folder"):
        fr.synthetic.read_truth(tmp_path)
    (tmp_path / "truth.safetensors").write_bytes(b"no tensors")
    with pytest.raises(InputError, match="is damaged"):
        fr.synthetic.read_truth(tmp_path)
