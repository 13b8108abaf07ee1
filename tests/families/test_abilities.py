"""What families can do, what moves need of them, and the flags that said so in version 0.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import franchise as fr
from franchise import moves
from franchise.families.abilities import OF_METHODS
from franchise.families.registry import FAMILIES, name_of
from franchise.model.state import Weights
from franchise.moves import Move, MoveReport

A = fr.Ability
WORDS = {A.CONJUGATE, A.IS_CATEGORICAL, A.DRAWS_PARAMETERS, A.PROPOSES}
REAL = {A.CONJUGATE, A.DRAWS_PARAMETERS, A.PROPOSES}
EXPECTED = {
    "categorical": WORDS | {A.EXACT_STATISTICS, A.SPARSE, A.PRIOR_DENSITY, A.SUMS_STATISTICS},
    "known-topics": WORDS | {A.MIXED_PRIOR},
    "multinomial": REAL | {A.COUNT_ROWS, A.NON_NEGATIVE, A.PRIOR_DENSITY, A.TAKES_ROWS},
    "dirichlet-multinomial": {
        A.COUNT_ROWS,
        A.NON_NEGATIVE,
        A.DRAWS_PARAMETERS,
        A.MOVES_PARAMETERS,
        A.PROPOSES,
        A.TAKES_ROWS,
    },
    "poisson": REAL | {A.NON_NEGATIVE, A.HAS_MOMENTS},
    "negative-binomial": REAL | {A.NON_NEGATIVE, A.HAS_MOMENTS},
    "bernoulli": REAL | {A.EXACT_STATISTICS, A.NON_NEGATIVE, A.SUMS_STATISTICS, A.HAS_MOMENTS},
    "gaussian-known-precision": REAL | {A.HAS_MOMENTS},
    "gaussian-diagonal": REAL | {A.HAS_MOMENTS},
    "gaussian-full": REAL | {A.HAS_MOMENTS},
    "gaussian-independent": {A.DRAWS_PARAMETERS, A.MOVES_PARAMETERS, A.PROPOSES, A.HAS_MOMENTS},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_abilities_of_every_family(name):
    assert FAMILIES[name].abilities == EXPECTED[name]


def test_every_family_has_its_name():
    for name, family in {"poisson": fr.Poisson(), "categorical": fr.Categorical(3)}.items():
        assert name_of(family) == name

    class Mine(fr.Poisson):
        pass

    with pytest.raises(fr.InputError, match="Mine cannot be stored by name"):
        name_of(Mine())


def test_methods_give_abilities_and_take_them():
    class Dense(fr.Categorical):
        log_prior_density = fr.Family.log_prior_density

        @staticmethod
        def take_rows(prepared, which):
            return prepared[which]

    assert Dense.abilities == fr.Categorical.abilities - {A.PRIOR_DENSITY} | {A.TAKES_ROWS}


def test_declared_abilities_of_methods_do_not_count():
    """A class cannot claim what it has no method for."""

    class Claims(fr.Poisson):
        abilities = frozenset(OF_METHODS)
        draw_parameters = fr.Family.draw_parameters
        moments = fr.Family.moments

    assert Claims.abilities == frozenset()


def test_a_family_must_say_how_observations_are_prepared():
    class NoData(fr.Family):
        def empty_statistics(self, capacity):
            return ()

    with pytest.raises(TypeError, match="prepare"):
        NoData()


# --- moves --------------------------------------------------------------------------------------------------

EVERY_MOVE = [
    kind() for name in moves.__all__ if isinstance(kind := getattr(moves, name), type) and name[:4] != "Move"
]
CHOOSY = [move for move in EVERY_MOVE if move.requires]


@pytest.mark.parametrize("move", CHOOSY, ids=lambda move: type(move).__name__)
def test_a_move_names_what_is_missing_and_the_fix(move):
    class Unable(fr.Poisson):
        abilities = frozenset()
        draw_parameters = fr.Family.draw_parameters

    with pytest.raises(fr.InputError) as caught:
        move.check_family(Unable())
    message = str(caught.value)
    missing = next(ability for ability in A if ability in move.requires)
    assert message.startswith(f"{type(move).__name__} needs {missing.value}. Unable lacks this")
    assert missing.name in message
    assert "Use another family" not in message  # there is a fix of its own


@pytest.mark.parametrize(
    "kind", [moves.CrfGibbs, moves.DirectAssignment, moves.DocumentSweep, moves.FiniteSweep]
)
def test_the_setting_sparse_needs_its_ability(kind):
    kind().check_family(fr.Poisson())
    kind(sparse=True).check_family(fr.Categorical(3))
    with pytest.raises(fr.InputError, match="sparse=True"):
        kind(sparse=True).check_family(fr.Poisson())


# --- names of version 0.1 -----------------------------------------------------------------------------------


class OldStatistics(NamedTuple):
    sizes: np.ndarray


def make_old_family():
    class Old(fr.Family):
        Statistics = type("OldStatistics", (OldStatistics,), {})
        conjugate = False
        exact_statistics = True
        of_words = True

        def prepare(self, observations):
            return OldStatistics(np.asarray(observations))

        def empty_statistics(self, capacity):
            return self.Statistics(np.zeros(capacity))

        @staticmethod
        def take(prepared, which):
            return OldStatistics(prepared.sizes[which])

    return Old


def test_flags_of_families_still_count():
    with pytest.warns(DeprecationWarning, match="next release") as caught:
        old = make_old_family()
    told = " ".join(str(warning.message) for warning in caught)
    assert all(name in told for name in ("Old.conjugate", "Ability.CONJUGATE", "Old.of_words", "Old.take"))
    assert {warning.filename for warning in caught} == {__file__}
    assert old.abilities == {A.EXACT_STATISTICS, A.IS_CATEGORICAL, A.TAKES_ROWS}
    family = old()
    assert family.take_rows(family.prepare([3, 4, 5]), [2, 0]).sizes.tolist() == [5, 3]

    with pytest.warns(DeprecationWarning, match="Child.conjugate"):

        class Child(old):
            conjugate = True

    assert Child.abilities == old.abilities | {A.CONJUGATE, A.PROPOSES}


def test_flags_of_families_can_still_be_read():
    with pytest.warns(
        DeprecationWarning, match=r"Family.conjugate.*franchise.Ability.CONJUGATE in"
    ) as caught:
        assert fr.Poisson().conjugate
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="of_words"):
        assert not fr.Poisson.of_words
    with pytest.warns(DeprecationWarning, match="sparse"):
        assert fr.Categorical(3).sparse


def test_attributes_of_moves_still_count():
    with pytest.warns(DeprecationWarning, match="next release") as caught:

        @dataclass(frozen=True)
        class OldMove(Move):
            views = (Weights,)
            learns = ("observations",)
            spreads = True
            needs_conjugacy = False

            def step(self, model, state, streams, executor):
                return MoveReport()

    assert len(caught) == 3
    assert OldMove.updates == {"observations"}
    assert OldMove.distributed
    OldMove().check_family(fr.GaussianIndependent(1))
