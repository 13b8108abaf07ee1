"""Random streams with names: (seed, chain, sweep, move, block).

Each stream is NumPy's counter-based Philox generator.  The seed makes its key; the rest of the name is the
upper part of its counter, so streams never overlap, need not be stored, and can be had again at any time,
anywhere: the same name is the same numbers, whatever ran before, on which thread, or after which interruption.
Loops over millions of observations take from a stream only the 256 bits that set up a faster generator
(`kernels/random/xoshiro.py`).

    counter words (64 bits each):   running | sweep | move and block | chain
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from franchise.kernels.random.philox import fill_words
from franchise.kernels.runtime.padding import padded_copy

# Names of streams that belong to no move of the schedule.
START, CONVERSION, MEASUREMENT = 2**31, 2**31 + 1, 2**31 + 2


@dataclass(frozen=True)
class Streams:
    """The streams of one move in one sweep of one chain, a generator for each block.

    Making a generator is slow beside setting one to another place, so a chain lends its streams a `pool`: the
    generators of earlier sweeps, by move and block. A generator serves until its move's next step.
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

    def words(self, block: int = 0, count: int = 1) -> np.ndarray:
        """The first words of a block's stream, (count, 4): the states of as many generators inside kernels."""
        return padded_copy(self.rng_states(block, 1, count)[0])

    def rng_states(self, first: int, blocks: int, count: int = 1) -> np.ndarray:
        """The same for several blocks, (blocks, count, 4), to be copied: threads must not write side by side."""
        words = np.empty((blocks, count, 4), np.uint64)
        fill_words(_key_of(self.seed), self._counter(first), words)
        return words

    def _counter(self, block: int) -> np.ndarray:
        return np.array([0, self.sweep, (self.move << 32) | block, self.chain], dtype=np.uint64)


_EMPTY_BUFFER = np.zeros(4, np.uint64)
_keys: dict[int, np.ndarray] = {}


def _key_of(seed: int) -> np.ndarray:
    """128 bits from the seed, well mixed, so that neighbouring seeds have nothing in common."""
    if seed not in _keys:
        _keys[seed] = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return _keys[seed]
