"""The prior of words is small as the warm-up begins, and the model's in every draw that is kept."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import franchise as fr
from franchise.errors import InputError
from franchise.model.state import Weights
from franchise.moves import DirectAssignment, ModelPrior, ScaledPrior, TopicWeights, during_warmup

CORPUS = fr.synthetic.from_hdp(60, 20, 40, prior=0.1, alpha=1.0, gamma=3.0, seed=1).data
SETTINGS = {"alpha": 1.0, "gamma": 1.0, "chains": 1, "progress": False}


class Watch(fr.moves.Move):
    """Note the prior that each sweep has."""

    seen: ClassVar[list[float]] = []
    views = (Weights,)
    requires = frozenset()

    def step(self, model, state, streams, executor):
        assert np.ptp(state.statistics.prior) == 0.0
        assert state.statistics.prior_mass[0] == pytest.approx(40 * state.statistics.prior[0])
        mass = state.statistics.totals + state.statistics.prior_mass[0]
        np.testing.assert_allclose(state.statistics.inverse_mass * mass, 1.0)
        self.seen.append(float(state.statistics.prior[0]))
        return fr.moves.MoveReport()


@pytest.mark.parametrize("warmup", [0, 1, 2, 20])
def test_the_prior_of_kept_draws_is_the_models(warmup):
    Watch.seen.clear()
    moves = [
        ModelPrior(),
        during_warmup(ScaledPrior(0.2), (0.0, 0.5)),
        Watch(),
        DirectAssignment(),
        TopicWeights(),
    ]
    fr.sample(CORPUS, fr.Categorical(40, 0.1), sampler=moves, draws=3, warmup=warmup, **SETTINGS)
    assert len(Watch.seen) == warmup + 3
    assert Watch.seen[warmup:] == [0.1] * 3
    assert Watch.seen[:warmup] == pytest.approx(
        [0.02] * round(warmup / 2) + [0.1] * (warmup - round(warmup / 2))
    )


def test_a_prior_for_each_category():
    family = fr.Categorical(40, np.linspace(0.1, 0.4, 40))
    moves = [ScaledPrior(2.0), DirectAssignment(), TopicWeights()]
    posterior = fr.sample(CORPUS, family, sampler=moves, draws=2, warmup=0, **SETTINGS)
    np.testing.assert_allclose(posterior.states[0].statistics.prior, 2.0 * family.prior)


def test_a_move_that_is_not_exact_is_not_checked():
    with pytest.raises(InputError, match="approximate"):
        fr.check_move(ScaledPrior(0.5))


@pytest.mark.parametrize("sampler", ["direct", "parallel"])
def test_samplers_of_words_use_it(sampler):
    posterior = fr.sample(CORPUS, sampler=sampler, draws=2, warmup=20, chains=1, progress=False)
    assert posterior.states[0].statistics.prior[0] == 0.1
    learned = fr.Categorical(40, fr.Gamma(1.0, 1.0))
    fr.sample(CORPUS, learned, sampler=sampler, draws=2, warmup=4, chains=1, progress=False)
