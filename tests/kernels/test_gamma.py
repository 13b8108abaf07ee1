"""Uniforms and gammas made inside kernels: against the distributions they claim."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels.random.gamma import (
    NEGLIGIBLE,
    TAIL,
    draw_rows,
    next_below,
    next_normal,
    read_quantiles,
)
from franchise.kernels.random.streams import Streams
from franchise.kernels.random.xoshiro import next_gap, next_uniform, next_word
from franchise.kernels.runtime.blocks import first_turns
from franchise.moves.document import topic_gammas, word_sweep
from franchise.moves.document.topic_gammas import small_gammas, table_of
from franchise.parallel import Threads
from franchise.parallel.communicator import SINGLE_PROCESS


def words(seed: int) -> np.ndarray:
    return Streams(seed, 0, 1, 0).rng_state()[0]


def test_words_are_those_of_the_published_generator():
    """The first outputs of the authors' program from the state 1, 2, 3, 4."""
    state = np.array([1, 2, 3, 4], np.uint64)
    take = numba.njit(lambda words: next_word(words))
    assert [int(take(state)) for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_uniforms_are_uniform():
    @numba.njit
    def fill(state, out):
        for index in range(len(out)):
            out[index] = next_uniform(state)

    for out in (np.empty(100_001), np.empty(100_001, np.float32)):
        fill(words(1), out)
        assert stats.kstest(out, "uniform").pvalue > SMALLEST_P
        assert abs(np.corrcoef(out[1:], out[:-1])[0, 1]) < 4.0 / np.sqrt(len(out))


def test_words_are_the_first_of_the_streams():
    streams = Streams(11, 3, 2**40, 5)
    for block in (0, 7, 2**31):
        expected = streams.generator(block).bit_generator.random_raw(12).reshape(3, 4)
        np.testing.assert_array_equal(streams.rng_state(block, 3), expected)
    np.testing.assert_array_equal(streams.rng_states(6, 2, 3)[1], streams.rng_state(7, 3))


def test_streams_of_blocks_differ_and_come_again():
    streams = Streams(0, 0, 1, 0)
    first, second = streams.rng_state(0, 2), streams.rng_state(1, 2)
    assert len(np.unique(np.concatenate([first, second]))) == 16
    np.testing.assert_array_equal(first, streams.rng_state(0, 2))


def test_gaps_are_geometric():
    @numba.njit
    def fill(state, log_rest, out):
        for index in range(len(out)):
            out[index] = next_gap(state, log_rest)

    gaps = np.empty(20_000, np.int64)
    fill(words(3), np.log(0.8), gaps)
    observed = np.bincount(np.minimum(gaps, 12), minlength=13)
    expected = len(gaps) * np.append(0.2 * 0.8 ** np.arange(12), 0.8**12)
    assert stats.chisquare(observed, expected).pvalue > SMALLEST_P
    fill(words(3), 0.0, gaps[:1])
    assert gaps[0] > 2**60


@pytest.mark.parametrize("by_table", [True, False], ids=["table", "word by word"])
@pytest.mark.parametrize("prior", [0.003, 0.1, 0.6, 1.0, 2.3])
@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_gammas_have_their_distribution(monkeypatch, by_table, prior, count):
    class Statistics:
        counts = np.full((300, 101), count, np.int32)
        prior_of_words = np.full(300, prior)

    Statistics.prior = Statistics.prior_of_words
    topics = np.arange(100)
    if by_table and table_of(Statistics.prior, np.inf) is None:
        assert prior == 1.0  # nothing small is left to be drawn by a table
        return
    if not by_table:
        monkeypatch.setattr(word_sweep, "table_of", lambda *arguments: None)
    model = SimpleNamespace(family=SimpleNamespace(learned_prior=None))
    context = SimpleNamespace(
        model=model, executor=Threads(1), comm=SINGLE_PROCESS, streams=Streams(4, 0, 1, 0)
    )
    gammas = word_sweep.Gammas(context, Statistics, topics, 0)
    out, totals = gammas.rows, gammas.totals
    np.testing.assert_allclose(totals[:100], out[:, :100].sum(axis=0), rtol=1e-5)
    assert (out[:, 100] == 0.0).all()
    drawn = out[:, :100].ravel().astype(float)
    quantiles = stats.gamma.cdf(drawn, prior + count)
    least = stats.gamma.cdf(NEGLIGIBLE, prior + count)
    if least > 0.0:
        assert stats.binomtest(int((drawn < NEGLIGIBLE).sum()), len(drawn), least).pvalue > SMALLEST_P
        quantiles = (quantiles[drawn >= NEGLIGIBLE] - least) / (1.0 - least)
    assert stats.kstest(quantiles, "uniform").pvalue > SMALLEST_P


def test_normals_are_normal_even_in_the_tails():
    @numba.njit
    def fill(state, out):
        for place in range(len(out)):
            out[place] = next_normal(state)

    out = np.empty(400_000)
    fill(words(6), out)
    assert stats.kstest(out, "norm").pvalue > SMALLEST_P
    for bound in (TAIL - 0.4, TAIL, 4.2):
        for beyond in (out > bound, out < -bound):
            expected = stats.norm.sf(bound)
            assert stats.binomtest(int(beyond.sum()), len(out), expected).pvalue > SMALLEST_P
    far = np.abs(out[np.abs(out) > TAIL - 0.4])
    law = stats.truncnorm(TAIL - 0.4, np.inf)
    assert stats.kstest(far, law.cdf).pvalue > SMALLEST_P


def test_words_with_priors_of_their_own():
    prior = np.array([0.2, 1.7, 3.0, 0.01, 0.0005, 0.93])
    counts = np.zeros((6, 40_000), np.int32)
    counts[:, ::2] = np.arange(6)[:, None]
    out = np.zeros((6, 40_000), np.float32)
    totals = np.zeros((1, 40_000))
    turns = first_turns(np.array([0, 6]))
    draw_rows(turns, counts, np.arange(40_000), prior, words(5).reshape(1, 4), out, totals)
    np.testing.assert_allclose(totals[0], out.sum(axis=0), rtol=1e-5)
    for row, shape in enumerate(prior):
        for count, drawn in ((row, out[row, ::2]), (0, out[row, 1::2])):
            law = stats.gamma(shape + count)
            told, below = drawn[drawn > 0.0], law.cdf(NEGLIGIBLE)
            assert stats.binomtest(len(told), len(drawn), 1.0 - below).pvalue > SMALLEST_P
            conditional = stats.kstest(
                told, lambda x, law=law, below=below: (law.cdf(x) - below) / (1.0 - below)
            )
            assert conditional.pvalue > SMALLEST_P
            assert told.min() > 0.99 * NEGLIGIBLE


def test_tables_are_not_used_where_they_would_be_coarse_or_words_differ():
    assert table_of(np.full(3, 1e-4), np.inf) is None
    assert table_of(np.array([0.1, 0.1, 0.2]), np.inf) is None
    assert table_of(np.full(3, 0.1), np.inf) is not None


@pytest.mark.parametrize("prior", [0.1, fr.Gamma(1, 1)])
def test_no_table_is_made_for_every_value_of_a_learned_prior(prior, monkeypatch):
    made = []
    small = topic_gammas.small_gammas
    monkeypatch.setattr(topic_gammas, "small_gammas", lambda shape: made.append(shape) or small(shape))
    corpus = fr.Corpus.from_tokens([[f"{word}" for word in range(begin, begin + 40)] for begin in range(260)])
    family = fr.Categorical(corpus.vocabulary_size, prior)
    fr.sample(corpus, family, sampler="parallel", draws=3, warmup=0, chains=1, progress=False)
    assert set(made) == ({0.1} if prior == 0.1 else set())


@pytest.mark.parametrize("shape", [0.001, 0.01, 0.1, 0.5, 0.99])
def test_draws_are_the_quantiles_of_their_bits(shape):
    from scipy.special import gammaincinv

    small = small_gammas(shape)
    bits = np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32)
    out = np.empty(len(bits), np.float32)
    numba.njit(lambda quantiles, bits, out: read_quantiles(quantiles, bits, out))(small.quantiles, bits, out)
    exact = gammaincinv(shape, bits / 2.0**32)
    told = (exact > max(1e-12, small.below)) & (exact < small.beyond)
    assert told.sum() > 300
    np.testing.assert_allclose(out[told], exact[told], rtol=1e-4 if shape < 0.01 else 2e-5)
    assert (out[exact > 1.01 * small.beyond] >= small.beyond).all()


@pytest.mark.parametrize("shape", [0.3, 0.6, 0.95])
def test_the_smallest_draws(shape):
    @numba.njit
    def fill(state, shape, share, out):
        for place in range(len(out)):
            out[place] = next_below(state, shape, share)

    small, out = small_gammas(shape), np.empty(20_000)
    fill(words(7), shape, small.share_below, out)
    assert stats.kstest(stats.gamma.cdf(out, shape) / small.share_below, "uniform").pvalue > SMALLEST_P
    assert out.max() <= 1.001 * small.below
