"""A hint to the processor: memory that will be read soon.

Loops over words read a row of a large matrix for every word, in an order the processor cannot guess, and draws
between them end in branches it cannot guess either; so it would wait for memory again and again.  Which word comes
some places later is known, and asking for its row at once hides most of the waiting.  Nothing depends on the hint.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from franchise.kernels.runtime.compile import shared_helper

LINE = 64
"""Bytes that come together."""


def prefetch(array, index):
    """Ask for the element at `index` of a flat array; in plain Python, nothing."""


@intrinsic
def _prefetch(context, array, index):
    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, keep, is_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [address, to_read, keep, is_data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch)
def _choose(array, index):
    def ask(array, index):
        _prefetch(array, index)

    return ask


@shared_helper
def prefetch_row(flat, row, width, per_line):
    """Ask for a row of a matrix that is given flat; `per_line` elements make a line."""
    for place in range(row * width, (row + 1) * width, per_line):
        prefetch(flat, place)
