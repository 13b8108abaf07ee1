"""What is asked of a part of a chain where it is held: functions that an actor calls on it (`engines/peer.py`)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.chains.sealed import Arrays, PartFile, name_of_part, write_part
from franchise.errors import InputError
from franchise.peers import peers_of

SEEN_SECONDS = 5.0
"""Seconds after which what another has written must be seen: disks that are shared take a while."""


class Request(NamedTuple):
    """A file that is asked for."""

    folder: str
    owner: str  # whose it is
    what: str  # a part of its name


class Drawn(NamedTuple):
    """What an actor has of a draw."""

    kind: Any  # the class of the draw
    facts: list[Any]
    common: Arrays
    held: Arrays  # what is of observations; empty if it is in a file
    file: PartFile | None


def wait_until_seen(paths: Iterable[Path], folder: str) -> None:
    """Until files and folders of a run directory are there; InputError if they do not come."""
    begun, missing = time.monotonic(), list(paths)
    while missing := [path for path in missing if not path.exists()]:
        if time.monotonic() - begun > SEEN_SECONDS:
            raise InputError(
                f"run_dir {folder!r} must be on a disk that all nodes of the cluster share, in the same place, as "
                "they write their parts of it by themselves. Give such a folder, or leave run_dir out."
            )
        time.sleep(0.1)


def sweep(chain: Any, warmup: int, best: float) -> tuple[dict[str, float], float]:
    """Do one sweep; what is measured after it, which all peers agree on, and the best so far."""
    chain.warmup, chain.best = warmup, best
    return chain.sweep(), chain.best


def labels(chain: Any) -> np.ndarray:
    """The topics of what is held."""
    held: np.ndarray = chain.labels()
    return held


def arrays(chain: Any) -> Arrays:
    """The present state of what is held."""
    of_state: Arrays = chain.to_arrays()
    return of_state


def write_state(chain: Any, asked: Request) -> tuple[Arrays, PartFile]:
    """Write what is of observations to a file; all other arrays of the present state, and which file."""
    common = arrays(chain)
    held = {name: common.pop(name) for name in chain.held if name in common}
    return common, _written(chain, asked, held)


def keep_draw(chain: Any, draw: int, asked: Request | None) -> Drawn:
    """The present state as a draw; what is of observations goes to a file, if one is asked for."""
    kept = chain.snapshot(draw)
    common = kept.to_arrays()
    held = {name: common.pop(name) for name in kept.held}
    if asked is None:
        return Drawn(type(kept), kept.facts(), common, held, None)
    return Drawn(type(kept), kept.facts(), common, {}, _written(chain, asked, held))


def _written(chain: Any, asked: Request, held: Arrays) -> PartFile:
    folder = Path(asked.folder)
    wait_until_seen([folder], asked.folder)
    peers = peers_of(chain.engine)
    name = name_of_part(asked.what, peers.rank, peers.size)
    return write_part(folder, name, asked.owner, held, *chain.span_of(chain.model))


def bytes_sent(chain: Any) -> int:
    """Bytes that a part of a chain has sent to others so far, about."""
    sent: int = getattr(peers_of(chain.engine), "sent", 0)
    return sent
