"""Compositions as plain values: through JSON and back; foreign moves are refused."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

import franchise as fr
from franchise.moves import (
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    LaunchSplitMerge,
    SplitMerge,
    TopicPrior,
    TopicWeights,
    at_random,
    during_first,
    during_warmup,
    every,
    in_turn,
)
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.storage.moves import from_plain, to_plain


@pytest.mark.parametrize(
    "part",
    [
        CrfGibbs(),
        CrfGibbs(sparse=False, tables=False),
        TopicPrior(width=0.5),
        during_first(50, SplitMerge(n_proposals=3, restricted_scans=2)),
        in_turn(DirectAssignment(), TopicWeights()),
        in_turn(
            every(7, CrfGibbs()),
            at_random((DirectAssignment(sparse=True), 0.1), (in_turn(TopicWeights(), Concentrations()), 3.0)),
            during_warmup(every(2, TopicPrior())),
            during_warmup(LaunchSplitMerge(n_proposals=2, restricted_scans=(3, 1)), (0.25, 1.0)),
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_round_trip_through_json(part):
    assert from_plain(json.loads(json.dumps(to_plain(part)))) == part


@dataclass(frozen=True)
class Mine(Move):
    def step(self, model, state, streams, executor):
        raise NotImplementedError


@dataclass(frozen=True)
class Every(Composed):
    """Named like one of ours, but it never runs its part."""

    parts: tuple
    period: int = 2

    def chosen(self, sweep, number):
        return []


def test_foreign_moves_are_refused():
    impostor = type("CrfGibbs", (Mine,), {})
    for move in (Mine(), impostor()):
        for part in (move, in_turn(CrfGibbs(), every(2, move))):
            with pytest.raises(fr.InputError, match=f"moves of franchise.*{type(move).__name__}"):
                to_plain(part)


def test_foreign_compositions_are_refused():
    with pytest.raises(fr.InputError, match="Every"):
        to_plain(in_turn(Every((CrfGibbs(),))))


def test_a_foreign_move_leaves_no_run_directory(tmp_path):
    corpus = fr.Corpus.from_matrix([[1, 2], [2, 1]])
    with pytest.raises(fr.InputError, match="moves of franchise"):
        fr.sample(
            corpus,
            alpha=1.0,
            gamma=1.0,
            sampler=[DirectAssignment(), type("Other", (CrfGibbs,), {})()],
            run_dir=tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()
