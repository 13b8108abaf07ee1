"""Memory that several threads read and write at once, without the interpreter's lock; and memory read soon.

A hint to the processor, `prefetch`, says which memory will be read soon.  Loops over words read a row of a large
matrix for every word, in an order the processor cannot guess, and draws between them end in branches it cannot
guess either; so it would wait for memory again and again.  Which word comes some places later is known, and asking
for its row at once hides most of the waiting.  Nothing depends on the hint.
"""

from __future__ import annotations

import os
import threading
import time

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from franchise.kernels.runtime.compile import kernel, shared_helper

LINE = 64
"""Bytes that come together."""

LOOKS = 0 if config.DISABLE_JIT else 4_000_000  # type: ignore[attr-defined]
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


def prefetch(array, index):
    """Ask for the element at `index` of a flat array; in plain Python, nothing."""


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


@intrinsic
def _prefetch(context, array, index):
    def generate(context, builder, signature, arguments):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(_address(context, builder, signature, arguments), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, keep, is_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [address, to_read, keep, is_data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _overload_by_intrinsics():
    """Let compiled code use an intrinsic for each of the plain functions."""
    overload(load_now)(lambda array, index: lambda array, index: _load_now(array, index))
    overload(store_now)(
        lambda array, index, value: lambda array, index, value: _store_now(array, index, value)
    )
    overload(add_now)(lambda array, index, value: lambda array, index, value: _add_now(array, index, value))
    overload(give_way)(lambda: lambda: _give_way())
    overload(prefetch)(lambda array, index: lambda array, index: _prefetch(array, index))


_overload_by_intrinsics()


@shared_helper
def prefetch_row(flat, row, width, per_line):
    """Ask for a row of a matrix that is given flat; `per_line` elements make a line."""
    for place in range(row * width, (row + 1) * width, per_line):
        prefetch(flat, place)


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
