"""Numbers in memory that several threads read and write at once, without the interpreter's lock."""

from __future__ import annotations

import os
import threading
import time

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, overload

from franchise.kernels.runtime.compile import kernel


def _count_looks():
    return 0 if config.DISABLE_JIT else 4_000_000


LOOKS = _count_looks()
"""How often to look for a number before falling asleep: for one or two milliseconds."""

_lock = threading.Lock()


def load_now(array, index):
    """The element at `index` of a flat array as it is in memory now, whoever has written it."""
    return array[index]


def add_now(array, index, value):
    """Add to an element, which no other thread does at the same moment; what it was before."""
    with _lock:
        before = array[index]
        array[index] += value
    return before


def store_now(array, index, value):
    """Set an element; threads that see it also see all that was written before."""
    array[index] = value


def give_way():
    """Let other threads run, if any waits for the core that this one has."""
    time.sleep(0.0)


@intrinsic
def _load_now(context, array, index):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_address(context, builder, signature, arguments), "acquire", align=8)

    return array.dtype(array, types.intp), generate


@intrinsic
def _store_now(context, array, index, value):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], address, "release", align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, array.dtype), generate


@intrinsic
def _add_now(context, array, index, value):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments)
        return builder.atomic_rmw("add", address, arguments[2], "acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


@intrinsic
def _give_way(context):
    def generate(context, builder, signature, arguments):
        name = "SwitchToThread" if os.name == "nt" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.none(), generate


def _address(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


@overload(load_now)
def _compiled_load(array, index):
    def load(array, index):
        return _load_now(array, index)

    return load


@overload(store_now)
def _compiled_store(array, index, value):
    def store(array, index, value):
        _store_now(array, index, value)

    return store


@overload(add_now)
def _compiled_add(array, index, value):
    def add(array, index, value):
        return _add_now(array, index, value)

    return add


@overload(give_way)
def _compiled_give_way():
    def give():
        _give_way()

    return give


@kernel
def await_more(number, than, spin_count):
    """Check up to `spin_count` times whether ``number[0]``, 64 bits, is larger; whether it was.

    A thread that sleeps takes long to wake, up to milliseconds on a virtual machine; the gaps between the parts of
    a sweep are shorter than that, so threads wait awake.
    """
    for _ in range(spin_count):  # noqa: SIM110 (compiled)
        if load_now(number, 0) > than:
            return True
    return False
