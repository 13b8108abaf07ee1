"""Arguments and samplers that trees of groups do not take."""

import numpy as np
import pandas as pd
import pytest

import franchise as fr

FRAME = pd.DataFrame(
    [(cohort, patient) for cohort in "AB" for patient in "12"] * 3, columns=["cohort", "patient"]
)
TREE = fr.Groups(np.arange(12), FRAME)
PLAIN = fr.Groups(np.arange(12), FRAME["cohort"])
RIGHT = {"cohort": 1.0, "patient": 2.0}


def refused(message, data=TREE, **given):
    with pytest.raises(fr.InputError, match=message):
        fr.sample(data, fr.Poisson(1.0, 0.1), draws=1, warmup=0, chains=1, progress=False, **given)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ({"cohort": 1.0}, r"for each level of the tree \(cohort, patient\); got cohort"),
        (
            {**RIGHT, "sample": 1.0},
            r"for each level of the tree \(cohort, patient\); got cohort, patient, sample",
        ),
        ({"cohort": 1.0, "pateint": 2.0}, r"got cohort, pateint"),
        ({}, "got none"),
        ({**RIGHT, "patient": -1.0}, r"alpha\[patient\] must be a positive, finite number; got -1.0"),
        ({**RIGHT, "patient": "much"}, r"alpha\[patient\] must be a positive number .* got 'much'"),
    ],
)
def test_wrong_concentrations(alpha, message):
    refused(message, alpha=alpha, sampler="direct")


def test_levels_that_the_data_do_not_have():
    refused("alpha must be a number or a Gamma prior, since the data have one level", data=PLAIN, alpha=RIGHT)


@pytest.mark.parametrize("data", [TREE, PLAIN])
def test_concentrations_per_something_else(data):
    refused("alpha_per must be one of 'level', 'parent'; got 'node'", data=data, alpha_per="node")


@pytest.mark.parametrize("sampler", ["slice", "split-merge", "subcluster", "finite"])
def test_other_samplers(sampler):
    refused(f"The sampler '{sampler}' does not sample trees of groups .* Use sampler='crf'", sampler=sampler)


def test_other_moves():
    sampler = [fr.moves.SliceSweep(), fr.moves.Concentrations()]
    refused("franchise.moves.SliceSweep does not sample trees of groups", sampler=sampler)


@pytest.mark.parametrize("topics", [None, 3])
def test_hidden_topic_markov_models(topics):
    corpus = fr.Corpus.from_sentences([[["a", "b"], ["c"]], [["a"], ["b"]]], groups=["A", "B"])
    with pytest.raises(fr.InputError, match="no levels above documents; the corpus has group"):
        fr.HTMM(topics, draws=1, warmup=0, chains=1, progress=False).fit(corpus)
