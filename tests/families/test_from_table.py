"""Known topics from tables of signatures: aligned by name, positive, and found by a sampler."""

import math

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.data.channels import CHANNELS

SBS = list(CHANNELS["SBS96"])


def made_up():
    probabilities = np.random.default_rng(1).dirichlet(np.full(96, 0.1), 3)
    probabilities[probabilities < 1e-3] = 0.0
    probabilities *= 0.9994 / probabilities.sum(axis=1, keepdims=True)
    return pd.DataFrame(probabilities.T, index=SBS, columns=["SBS1", "SBS5", "SBS40"])


TABLE = made_up()


def test_zeros_and_sums_are_accepted():
    known = fr.KnownTopics.from_table(TABLE)
    assert known.vocabulary == SBS
    expected = 0.99 * TABLE.to_numpy().T / 0.9994 + 0.01 / 96
    np.testing.assert_allclose(known.topics, expected, rtol=1e-9)
    assert (TABLE.to_numpy() == 0.0).sum() > 100


def test_arguments_reach_the_family():
    names = ["SBS40", "SBS1"]
    known = fr.KnownTopics.from_table(
        TABLE, topics=names, strength=[math.inf, 50.0], weight=0.2, prior=0.5, smoothing=0.1
    )
    assert known.names == names
    assert known.frozen.tolist() == [True, False]
    assert known.weights.tolist() == [0.1, 0.1]
    assert known.prior_vector()[0] == 0.5
    np.testing.assert_allclose(known.topics, 0.9 * TABLE[names].to_numpy().T / 0.9994 + 0.1 / 96)


@pytest.mark.parametrize("smoothing", [0.0, 1.0, -0.1])
def test_smoothing_is_a_proportion(smoothing):
    with pytest.raises(fr.InputError, match="smoothing"):
        fr.KnownTopics.from_table(TABLE, smoothing=smoothing)


def test_other_channels_are_named():
    with pytest.raises(fr.InputError, match=r"the data have no channel 'T\[T>G\]T'"):
        fr.KnownTopics.from_table(TABLE, SBS[:-1])


@pytest.mark.parametrize("strength", [200.0, math.inf])
def test_a_known_signature_is_found(strength):
    """Channels of the data are in another order and spelling than those of the table."""
    rng = np.random.default_rng(2)
    new = rng.dirichlet(np.full(96, 0.1))
    profiles = np.vstack([TABLE["SBS5"] / TABLE["SBS5"].sum(), new])
    counts = [rng.multinomial(300, mix @ profiles) for mix in rng.dirichlet(np.ones(2), 12)]
    spelled = [name[0] + name[2] + name[6] + name[4] for name in SBS]
    corpus = fr.Corpus.from_matrix(pd.DataFrame(counts, columns=spelled).iloc[:, ::-1])
    known = fr.KnownTopics.from_table(TABLE, corpus.vocabulary, strength=strength)
    posterior = fr.sample(corpus, known, chains=1, draws=20, warmup=40, seed=1, progress=False)
    shares = posterior.known_shares()["share"]
    assert shares["SBS5"] > 0.3
    assert shares["SBS1"] + shares["SBS40"] < 0.02
    table = posterior.match_known(TABLE)
    (topic,) = table.index[table["reference"] == "SBS5"]
    assert table.loc[topic, "cosine"] > 0.95
    assert (table["best_low"] <= table["best_high"]).all()
    drawn = fr.plots.signature_data(posterior, topics=[topic])[0]
    np.testing.assert_allclose(drawn.probability, posterior.component_probabilities()[topic][::-1])
