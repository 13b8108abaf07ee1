"""Runs whose checkpoints are in parts, as several processes would have written them; made of whole ones."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from franchise.cluster.partition import PER_OBSERVATION, cut_arrays
from franchise.htmm.htmm_chain import HTMMDraw
from franchise.running.kept_draws import HDPDraw, name_of_draw
from franchise.storage.chain_store import ShardFile, name_of_part, write_part
from franchise.storage.run_directory import ChainStore, RunDirectory


def part_run(folder: Path, parts: int = 2) -> None:
    """Have the checkpoints of a run, of whichever model, in so many parts."""
    run = RunDirectory.open(folder)
    of_mixture = run.settings["model"] == "hdp"
    draw = HDPDraw if of_mixture else HTMMDraw
    ends = run.data().offsets if of_mixture else np.arange(len(run.data().sentences.offsets))
    block_bounds = ends[np.linspace(0, len(ends) - 1, parts + 1).astype(int)].tolist()
    for number in range(run.settings["chains"]):
        _part_chain(run.chain(number), draw, block_bounds)


def _part_chain(store: ChainStore, draw: Any, block_bounds: list[int]) -> None:
    arrays, metadata, _ = store.read_checkpoint()
    store.cut_logs()
    files: dict[str, list[ShardFile]] = {}

    def put(of: str, what: str, held: dict[str, np.ndarray], cut: Any) -> None:
        spans = list(itertools.pairwise(block_bounds))
        files[of] = [
            write_part(
                store.folder, name_of_part(what, rank, len(spans)), store.chain_id, cut(held, *span), *span
            )
            for rank, span in enumerate(spans)
        ]

    state = {name: arrays.pop(name) for name in PER_OBSERVATION if name in arrays}
    put("", f"state-{metadata['sweeps']}", state, cut_arrays)
    for place, told in enumerate(metadata["snapshots"]):
        of = name_of_draw(place)
        held = {name: arrays.pop(of + name) for name in draw.per_observation}
        put(of, f"draw-{told[0]}", held, lambda held, begin, end: {k: v[begin:end] for k, v in held.items()})
    store.write_checkpoint(arrays, metadata, files)
