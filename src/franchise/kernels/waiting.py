"""To wait awake: a look at a number in memory again and again, without the interpreter's lock.

A thread that sleeps takes long to wake, up to milliseconds on a virtual machine; the gaps between the parts of a
sweep are shorter than that.
"""

from __future__ import annotations

from numba import config, types
from numba.extending import intrinsic, overload

from franchise.kernels.compile import kernel


def _count_looks():
    return 0 if config.DISABLE_JIT else 4_000_000


LOOKS = _count_looks()
"""How often to look before falling asleep: for one or two milliseconds."""


def load_now(array, index):
    """The element at `index` of a flat array as it is in memory now, whoever has written it."""
    return array[index]


@intrinsic
def _load_now(context, array, index):
    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        return builder.load_atomic(address, "acquire", align=8)

    return array.dtype(array, types.intp), generate


@overload(load_now)
def _choose(array, index):
    def look(array, index):
        return _load_now(array, index)

    return look


@kernel
def await_more(number, than, looks):
    """Look so many times whether ``number[0]``, 64 bits, is larger; whether it was."""
    for _ in range(looks):  # noqa: SIM110 (compiled)
        if load_now(number, 0) > than:
            return True
    return False
