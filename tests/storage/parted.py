"""Runs whose checkpoints are in parts, as several processes would have written them; made of whole ones."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from franchise.htmm.htmm_chain import SegmentChain, SegmentDraw
from franchise.running.chain import Chain
from franchise.running.kept_draws import Snapshot, name_of_draw
from franchise.storage.checkpoint import PartFile, name_of_part, write_part
from franchise.storage.run_store import ChainStore, RunDirectory


def part_run(folder: Path, parts: int = 2) -> None:
    """Have the checkpoints of a run, of whichever model, in so many parts."""
    run = RunDirectory.open(folder)
    of_mixture = run.settings["model"] == "hdp"
    chain, draw = (Chain, Snapshot) if of_mixture else (SegmentChain, SegmentDraw)
    ends = run.data().offsets if of_mixture else np.arange(len(run.data().sentences.offsets))
    cuts = ends[np.linspace(0, len(ends) - 1, parts + 1).astype(int)].tolist()
    for number in range(run.settings["chains"]):
        _part_chain(run.chain(number), chain, draw, cuts)


def _part_chain(store: ChainStore, chain: Any, draw: Any, cuts: list[int]) -> None:
    arrays, facts = store.read_checkpoint()
    store.cut_logs(facts)
    files: dict[str, list[PartFile]] = {}

    def put(of: str, what: str, held: dict[str, np.ndarray], cut: Any) -> None:
        spans = list(itertools.pairwise(cuts))
        files[of] = [
            write_part(
                store.folder, name_of_part(what, rank, len(spans)), store.owner, cut(held, *span), *span
            )
            for rank, span in enumerate(spans)
        ]

    state = {name: arrays.pop(name) for name in chain.held if name in arrays}
    put("", f"state-{facts['sweeps']}", state, chain.cut)
    for place, told in enumerate(facts["snapshots"]):
        of = name_of_draw(place)
        held = {name: arrays.pop(of + name) for name in draw.held}
        put(of, f"draw-{told[0]}", held, lambda held, begin, end: {k: v[begin:end] for k, v in held.items()})
    store.write_checkpoint(arrays, facts, files)
