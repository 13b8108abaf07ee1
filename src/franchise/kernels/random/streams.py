"""Random streams with names: (seed, chain, sweep, move, block).

Each stream is NumPy's counter-based Philox generator.  The seed makes its key; the rest of the name is the
upper part of its counter, so streams never overlap, need not be stored, and can be made again at any time:
the same name gives the same numbers, on any thread and after any interruption.
Loops over millions of observations take from a stream only the 256 bits that set up a faster generator
(`kernels/random/xoshiro.py`).

    counter words (64 bits each):   running | sweep | move and block | chain
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from franchise.kernels.runtime.padding import padded_copy


class StreamNumbers(NamedTuple):
    """Every fixed stream number of the package. A change of one changes the draws of that part.

    The first group takes the place of a move's number and must be distinct. The others are offsets of blocks
    within one move: those that one move uses must be distinct, different moves may use the same.
    """

    # in the place of a move
    start: int = 2**31
    conversion: int = 2**31 + 1
    measurement: int = 2**31 + 2
    planted_ranks: int = 2**31 + 16
    planted_topics: int = 2**31 + 17
    planted_weights: int = 2**31 + 18
    planted_lengths: int = 2**31 + 19
    planted_documents: int = 2**31 + 20
    htmm_intervals: int = 2**31 + 2**8
    new_documents: int = 2**31 + 2**8 + 1
    effects: int = 2**31 + 2**8 + 2
    # sweeps over blocks: blocks of groups are numbered from 0
    topics: int = 2**28
    seats: int = 2**29
    cell_topics: int = 2**29
    parameters: int = 2**30
    sticks: int = 2**31
    # sub-cluster sweeps, beside those of sweeps over blocks
    sides: int = 2**28 + 2**26
    sub_parameters: int = 2**30 + 2**26
    redrawn: int = 2**24  # added once for each time that parameters are drawn again in a sweep
    global_merge: int = 2**25
    global_split: int = 3 * 2**24
    proposed: int = 2**23
    # other moves
    launch_groups: int = 2**31
    finite_weights: int = 2**31
    finite_empty: int = 2**31 + 1
    cell_tables: int = 2**28
    inner_tables: int = 2**27
    inner_weights: int = 2**27 + 1
    check_conversion: int = 2**31
    # sweeps of the HTMM
    htmm_numbers: int = 0
    htmm_documents: int = 2**16
    htmm_topics: int = 2**24
    htmm_tables: int = 2**28


STREAMS = StreamNumbers()


@dataclass(frozen=True)
class Streams:
    """The streams of one move in one sweep of one chain, a generator for each block.

    Making a generator is slower than resetting one, so a chain passes a `pool`: the generators of earlier sweeps,
    by move and block. A generator is valid until its move's next step.
    """

    seed: int
    chain: int
    sweep: int
    move: int
    pool: dict[tuple[int, int], np.random.Generator] = field(default_factory=dict, repr=False)

    def generator(self, block: int = 0) -> np.random.Generator:
        """The generator of a block, at its beginning."""
        counter = self._counter(block)
        generator = self.pool.get((self.move, block))
        if generator is None:
            generator = np.random.Generator(np.random.Philox(key=_key_of(self.seed), counter=counter))
            self.pool[self.move, block] = generator
        else:
            generator.bit_generator.state = {
                "bit_generator": "Philox",
                "state": {"counter": counter, "key": _key_of(self.seed)},
                "buffer": _EMPTY_BUFFER,
                "buffer_pos": len(_EMPTY_BUFFER),
                "has_uint32": 0,
                "uinteger": 0,
            }
        return generator

    def uniform(self) -> float:
        """The first number of the stream, uniform on [0, 1), as its generator gives it."""
        return int(self.rng_states(0, 1)[0, 0, 0] >> np.uint64(11)) * 2.0**-53

    def rng_state(self, block: int = 0, count: int = 1) -> np.ndarray:
        """The states of `count` generators of a block, for kernels, (count, 4): the first words of its stream."""
        return padded_copy(self.rng_states(block, 1, count)[0])

    def rng_states(self, first: int, blocks: int, count: int = 1) -> np.ndarray:
        """The same for several blocks, (blocks, count, 4), to be copied: threads must not share cache lines."""
        from franchise.kernels.random.philox import fill_words  # here, as it loads the compiler

        states = np.empty((blocks, count, 4), np.uint64)
        fill_words(_key_of(self.seed), self._counter(first), states)
        return states

    def _counter(self, block: int) -> np.ndarray:
        return np.array([0, self.sweep, (self.move << 32) | block, self.chain], dtype=np.uint64)


_EMPTY_BUFFER = np.zeros(4, np.uint64)
_keys: dict[int, np.ndarray] = {}


def _key_of(seed: int) -> np.ndarray:
    """128 bits from the seed, well mixed, so that neighbouring seeds have nothing in common."""
    if seed not in _keys:
        _keys[seed] = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return _keys[seed]
