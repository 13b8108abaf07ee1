"""The samplers of the study: the corrected slice sampler, two readings of the print, and CRF Gibbs beside them.

All start with one topic, as line 2 of Algorithm 1; the slice sampler also with each word in one of 25 at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.moves import SliceSweep
from franchise.sampling import sample
from franchise_studies.amini.printed import AS_PRINTED, BY_THE_REST, Problem, run_printed

SLICE, FROM_25, PRINTED, BY_REST, CRF = (
    "slice, corrected",
    "slice, from 25 topics",
    "as printed",
    "printed, by A.1",
    "CRF Gibbs",
)
METHODS = (SLICE, FROM_25, PRINTED, BY_REST, CRF)
READING_OF = {PRINTED: AS_PRINTED, BY_REST: BY_THE_REST}
ALONE = [SliceSweep()]  # the paper's moves: the sampler "slice" also draws the topics of whole tables
SETTINGS_OF: dict[str, dict[str, Any]] = {
    SLICE: {"sampler": ALONE, "start": 1},
    FROM_25: {"sampler": ALONE, "start": 25},
    CRF: {"sampler": "crf", "start": 1},
}

ALPHA, GAMMA = 1.0, 3.0  # alpha_0 and gamma_0 of section 3.4
CAP = 30  # of tables and of topics, to begin with; as the authors' program for figure 2, the paper: "say 10"


def run_method(method: str, corpus: Corpus, prior: float, sweeps: int, seed: int) -> np.ndarray:
    """The labels (sweeps, N) of a method on words; all but one start with one topic, as line 2 of Algorithm 1."""
    if method in READING_OF:
        problem = Problem.of(corpus, prior, ALPHA, GAMMA)
        return run_printed(problem, READING_OF[method], sweeps, seed, CAP).labels
    family = Categorical(corpus.vocabulary_size, prior=prior)
    return run_exact(corpus, family, sweeps, seed, **SETTINGS_OF[method])


def run_exact(data: GroupedData, family: Family, sweeps: int, seed: int, **settings: Any) -> np.ndarray:
    """The labels (sweeps, N) of an exact sampler without warm-up; the slice sampler from one topic by default."""
    posterior = sample(
        data,
        family,
        **{"alpha": ALPHA, "gamma": GAMMA, **SETTINGS_OF[SLICE], **settings},
        draws=sweeps,
        warmup=0,
        chains=1,
        seed=seed,
        keep_labels=True,
        workers=1,
        progress=False,
    )
    assert posterior.labels is not None
    return np.asarray(posterior.labels[0])
