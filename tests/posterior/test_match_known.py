"""Topics beside references: the best sum of two, the matching against truth, and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls

import franchise as fr
from franchise.data.channels import CHANNELS
from franchise.posterior.match_known import pair_fit
from tests.cli.commands import run

SBS = list(CHANNELS["SBS96"])


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_sum_is_that_of_non_negative_least_squares(seed):
    """The direction of the nearest sum is the direction with the largest cosine."""
    rng = np.random.default_rng(seed)
    one, other, topic = rng.dirichlet(np.full(5, 0.4), 3)
    weights, _ = nnls(np.column_stack([one, other]), topic)
    nearest = weights[0] * one + weights[1] * other
    p, q, between = unit(topic) @ unit(one), unit(topic) @ unit(other), unit(one) @ unit(other)
    lengths = np.linalg.norm(one) / np.linalg.norm(other)
    cosine, weight = pair_fit(*map(np.array, (p, q, between, lengths)))
    assert cosine == pytest.approx(unit(topic) @ unit(nearest), abs=1e-12)
    assert weight == pytest.approx(weights[0] / weights.sum(), abs=1e-9)


def test_the_same_reference_twice_has_no_sum():
    cosine, weight = pair_fit(np.array(0.7), np.array(0.7), np.array(1.0), np.array(1.0))
    assert (cosine, weight) == (0.7, 1.0)


RNG = np.random.default_rng(0)
PROFILES = RNG.dirichlet(np.full(96, 0.15), 6)
TRUE = np.vstack([PROFILES[:3], 0.6 * PROFILES[3] + 0.4 * PROFILES[4]])
REFERENCES = pd.DataFrame(PROFILES.T, index=SBS, columns=[f"SBS{number}" for number in range(6)])


@pytest.fixture(scope="module")
def posterior(tmp_path_factory):
    mixes = RNG.dirichlet(np.full(4, 0.5), 40)
    counts = pd.DataFrame([RNG.multinomial(400, mix @ TRUE) for mix in mixes], columns=SBS)
    corpus = fr.Corpus.from_matrix(counts)
    folder = tmp_path_factory.mktemp("signatures") / "run"
    return fr.sample(corpus, chains=2, draws=30, warmup=60, seed=1, progress=False, run_dir=folder)


def test_planted_signatures_and_a_sum_are_found(posterior):
    chosen = posterior.with_consensus(merge_cosine=0.9, min_share=0.01)
    table = chosen.match_known(REFERENCES)
    assert len(table) == 4
    assert set(table["reference"]) == {"SBS0", "SBS1", "SBS2", "SBS3"}
    single = table[table["reference"] != "SBS3"]
    assert (single["cosine"] > 0.98).all()
    assert single["pair"].isna().all()
    mixed = table[table["reference"] == "SBS3"].iloc[0]
    assert mixed["pair"] == "SBS3 + SBS4"
    assert mixed["weight_low"] < mixed["weight"] < mixed["weight_high"]
    assert mixed["weight"] == pytest.approx(0.6, abs=mixed["weight_high"] - mixed["weight_low"])
    assert mixed["pair_cosine"] > 0.98 > mixed["cosine"]
    assert mixed["pair_low"] <= mixed["pair_high"]


def test_cosines_are_those_of_the_posterior_means(posterior):
    table = posterior.match_known(REFERENCES)
    cosines = unit(posterior.component_probabilities()) @ unit(PROFILES).T
    np.testing.assert_allclose(table["best_cosine"], cosines.max(axis=1), rtol=1e-6)
    assert table["best"].tolist() == [f"SBS{number}" for number in cosines.argmax(axis=1)]


def test_order_orientation_and_spelling_do_not_matter(posterior):
    expected = posterior.match_known(REFERENCES)
    other = REFERENCES[::-1].rename(index=lambda name: name[0] + name[2] + name[6] + name[4]).T
    pd.testing.assert_frame_equal(posterior.match_known(other), expected)


def test_intervals_are_wider_at_a_higher_level(posterior):
    narrow, wide = (posterior.match_known(REFERENCES, level=level) for level in (0.5, 0.99))
    assert (wide["best_low"] < narrow["best_low"]).all()
    assert (wide["best_high"] > narrow["best_high"]).all()


def test_a_reference_is_matched_once(posterior):
    table = posterior.match_known(REFERENCES[["SBS0"]], min_cosine=0.0)
    assert table["reference"].notna().sum() == 1
    assert (table["best"] == "SBS0").all()
    assert posterior.match_known(REFERENCES[["SBS5"]])["reference"].isna().all()


def test_topics_of_one_chain_are_those_of_all(posterior):
    whole, alone = posterior.match_known(REFERENCES), posterior.chain(1).match_known(REFERENCES)
    assert alone.index.tolist() == whole.index.tolist()


def test_data_without_words_are_refused():
    clusters = fr.sample(fr.Groups([1, 9, 2], [0, 0, 1]), fr.Poisson(), draws=2, warmup=2, progress=False)
    with pytest.raises(fr.InputError, match="match_known compares words or channels"):
        clusters.match_known(REFERENCES)


def test_command(posterior, tmp_path, monkeypatch, capsys):
    REFERENCES.to_csv(tmp_path / "references.txt", sep="\t")
    folder = posterior.run.folder.path
    asked = ("match", folder, tmp_path / "references.txt", "--min-share", "0.01")
    code, printed, _ = run(monkeypatch, capsys, *asked)
    assert code == 0
    assert "4 of 4 topics match a reference" in printed
    assert "SBS3 + SBS4" in printed
    code, printed, _ = run(monkeypatch, capsys, *asked, "--json")
    assert {row["reference"] for row in json.loads(printed)} == {"SBS0", "SBS1", "SBS2", "SBS3"}
    code, _, err = run(monkeypatch, capsys, "match", folder, tmp_path / "absent.txt")
    assert (code, "no such file" in err) == (2, True)
