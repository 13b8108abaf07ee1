"""The sub-cluster sampler of Chang & Fisher, as published (docs/theory/subcluster.md#sec-subcluster).

Every topic has two sub-topics, l and r, which are learned throughout, with the topics, and propose how to split
them:

    bar-beta_k ~ Dirichlet(gamma + bar-m_kl, gamma + bar-m_kr)                                       (6)
    bar-pi_jk ~ Dirichlet(alpha bar-beta_kl + bar-n_jkl, alpha bar-beta_kr + bar-n_jkr)              (7)
    bar-phi_kh | its observations                                                                    (8)
    bar-z_ji = h  with weight  bar-pi_jzh f(x_ji; bar-phi_zh)                                        (9)
    bar-m_jkh: tables of bar-n_jkh customers at the concentration alpha bar-beta_kh                  (10)

A sweep, in the order of the paper: weights and parameters of topics and sub-topics; topics and sides of all
observations; floor(K/2) local merges, then K local splits; a global merge, then a global split; tables and weights
of sub-topics.  (Tables and weights of the topics are drawn by the move that follows, such as `Concentrations`.)

* A *local* split of a topic takes the sides that (9) has drawn, with their probability q; a local merge puts two
  topics together.  Ratio (19), a merge's with the stand-in (20) for the q that is not known.
* A *deterministic* split takes the same sides as if nothing else could have been proposed: q = 1.
* A *global* move (`moves/subcluster/global_moves.py`) redraws all observations.

New topics learn their sub-topics first ("deferred"): they take part in splits and merges only when the log marginal
likelihood of their sub-topics no longer rises.

**Not exact**, for reasons that enumeration tells apart: the restricted sweep empties topics without opening any;
(20) and all of the global moves use stand-ins for the reverse proposal; merges come before splits, each one-way,
and the two ways to name the sides are ignored.  `franchise reproduce chang-fisher` measures the bias of every set
of moves. The repaired form is ``[GuardedSweep(), LaunchSplitMerge(), Concentrations()]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport, Target
from franchise.moves.block_sweep import SweepContext
from franchise.moves.subcluster.global_moves import try_global_merge, try_global_split
from franchise.moves.subcluster.local_moves import merge_topics, split_topics
from franchise.moves.subcluster.subcluster_draws import Sweep
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_choice

DETERMINISTIC, LOCAL, GLOBAL, BALANCED = "deterministic", "local", "global", "balanced"


@dataclass(frozen=True)
class SubclusterSweep(Move):
    """Draw topics and sub-topics of all observations, over the topics there are; try splits and merges.

    View: weights. **Approximate**: good for finding topics soon, as in ``during_warmup(SubclusterSweep())``, not
    for sampling. Total variation from the posterior, by enumeration, on six words (0 0 1 | 1 2 2) and on five
    (0 0 1 | 1 2), from `franchise reproduce chang-fisher` (20,000 draws; 0.03 to 0.06 are chance):

    ==========================  =========  ==========
    moves                       six words  five words
    ==========================  =========  ==========
    `RestrictedSweep` alone     0.89       0.92
    ("local",)                  0.33       0.37
    ("deterministic",)          0.47       0.44
    ("global",)                 0.30       0.30
    ("local", "global")         0.28       0.32
    ("balanced",)               0.39       0.43
    ("local", "balanced")       0.31       0.36
    repaired (see the module)   0.05       0.02
    ==========================  =========  ==========

    All but the last have too few topics: 1 to 1.8 on average where the posterior has 2.4 and 2.5. Costs K for each
    observation, and about four times as much more for the global moves. Parallel over blocks of groups, pairs and
    topics. Conjugate families. Chang & Fisher, sections 4 and 5; see the docstring of the module.

    Parameters
    ----------
    moves : tuple of str
        Which splits and merges: "local" or "deterministic"; and "global", with the ratio as it is printed, or
        "balanced", with a density in it that the print leaves out (see `moves/subcluster/global_moves.py`).

    In the trace: ``subcluster_splits``, ``subcluster_merges``, ``subcluster_global_splits``,
    ``subcluster_global_merges`` (accepted in the sweep), and the same with ``_tries`` (proposed).
    """

    moves: tuple[str, ...] = (LOCAL, GLOBAL)

    views = (Weights,)
    exact_for: ClassVar[Target | None] = None
    updates = frozenset({"observations"})
    requires = frozenset({Ability.CONJUGATE, Ability.DRAWS_PARAMETERS})

    def __post_init__(self) -> None:
        """Check the settings."""
        object.__setattr__(self, "moves", tuple(self.moves))
        for name in self.moves:
            check_choice("SubclusterSweep: moves", name, [LOCAL, DETERMINISTIC, GLOBAL, BALANCED])
        for pair in ((LOCAL, DETERMINISTIC), (GLOBAL, BALANCED)):
            if set(pair) <= set(self.moves):
                raise InputError(f"SubclusterSweep: moves must have {pair[0]!r} or {pair[1]!r}, not both.")

    def needed_abilities(self) -> frozenset[Ability]:
        """Return what it requires; the global moves as printed need the prior density of a parameter."""
        return self.requires | {Ability.PRIOR_DENSITY} if GLOBAL in self.moves else self.requires

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """One sweep in the order of the paper."""
        sweep = Sweep(SweepContext(model, state, streams, executor))
        sweep.draw_given()
        sweep.draw_topics_and_sides()
        report: dict[str, float] = {}
        if LOCAL in self.moves or DETERMINISTIC in self.moves:
            certain = DETERMINISTIC in self.moves
            _count(report, "merge", merge_topics(sweep, certain))
            _count(report, "split", split_topics(sweep, certain))
        if GLOBAL in self.moves or BALANCED in self.moves:
            balanced = BALANCED in self.moves
            _count(report, "global_merge", try_global_merge(sweep, balanced))
            _count(report, "global_split", try_global_split(sweep, balanced))
        sweep.finish()
        return MoveReport(report)


def _count(report: dict[str, float], name: str, decisions: list[bool]) -> None:
    report[f"subcluster_{name}_tries"] = float(len(decisions))
    report[f"subcluster_{name}s"] = float(sum(decisions))
