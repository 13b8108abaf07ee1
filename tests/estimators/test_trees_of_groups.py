"""`HDP` on trees of groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import franchise as fr

LEVELS = ["cohort", "patient", "sample"]
FRAME = pd.DataFrame(
    [(cohort, patient, sample) for cohort in "AB" for patient in "12" for sample in "xy"] * 12, columns=LEVELS
)
COUNTS = np.random.default_rng(0).poisson(np.where(FRAME["cohort"] == "A", 2.0, 30.0))[:, None]
PLAN = {"draws": 6, "warmup": 6, "chains": 1, "progress": False, "start": 2}


@pytest.mark.parametrize("sampler", ["crf", "direct", "parallel"])
def test_groups_are_a_table_of_levels(sampler):
    alpha = {"cohort": 1.0, "patient": fr.Gamma(2.0, 1.0), "sample": 3.0}
    model = clone(fr.HDP(fr.Poisson(1.0, 0.1), sampler=sampler, alpha=alpha, **PLAN))
    model.fit(COUNTS, groups=FRAME)
    assert model.posterior_.data.tree.levels == tuple(LEVELS)
    assert "alpha[patient]" in model.posterior_.priors
    labels = model.predict(COUNTS, groups=FRAME)
    assert len(set(labels[FRAME["cohort"] == "A"]) & set(labels[FRAME["cohort"] == "B"])) == 0
    assert len(model.transform(COUNTS[:8], groups=FRAME[:8].assign(sample="new"))) == 4
    assert model.fit_predict(COUNTS, groups=FRAME).shape == (96,)


def test_concentrations_of_parents():
    model = fr.HDP(fr.Poisson(1.0, 0.1), sampler="direct", alpha_per="parent", **PLAN).fit(
        COUNTS, groups=FRAME
    )
    assert {"alpha[patient of A]", "alpha[sample of A/1]"} <= model.posterior_.priors.keys()
