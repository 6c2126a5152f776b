"""Emitting LLVM vectors: the small parts that row operations are made of.

Vectors are 32 bytes: eight float32 or four float64. On processors without such registers LLVM
splits them; nothing here depends on a kind of machine.
"""

from collections.abc import Callable
from math import factorial
from typing import Any

from llvmlite import ir
from numba.core import cgutils

VECTOR_BYTES = 32
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)


def constant(kind: Any, value: float) -> Any:
    """The vector with the same number in every lane."""
    return ir.Constant(kind, [value] * kind.count)


def lane_numbers(lanes: int) -> Any:
    """The vector 0, 1, 2, …"""
    return ir.Constant(ir.VectorType(INT64, lanes), [ir.Constant(INT64, t) for t in range(lanes)])


def broadcast(builder: Any, kind: Any, value: Any) -> Any:
    """The vector with a computed value in every lane."""
    vector = ir.Constant(kind, ir.Undefined)
    for lane in range(kind.count):
        vector = builder.insert_element(vector, value, ir.Constant(INT32, lane))
    return vector


def call(builder: Any, name: str, *values: Any, flags: tuple[str, ...] = ()) -> Any:
    """The LLVM intrinsic `name` on vectors of one type."""
    kind = values[0].type
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind] * len(values)),
        f"llvm.{name}.{_suffix(kind)}",
    )
    return builder.call(function, values, fastmath=flags)


def maximum(builder: Any, x: Any, y: Any) -> Any:
    """The larger of two vectors, lane by lane."""
    # The scores hold no NaN (they are checked when read), so one machine instruction will do.
    return call(builder, "maxnum", x, y, flags=("nnan", "nsz"))


def exp(builder: Any, x: Any) -> Any:
    """The exponential of x <= 0 (a little above is fine), to about one unit in the last place.

    2**n * exp(r) with |r| <= ln(2)/2: Cody and Waite's two-step reduction, a Taylor polynomial for
    exp(r), and n put straight into the exponent bits. Where exp(x) is hardly a number, it is 0.
    """
    kind = x.type
    if kind.element == ir.FloatType():
        lowest, degree, digits, bias, whole = -87.0, 7, 23, 127, INT32
        high, low = 0.693359375, -2.12194440054690583e-4
    else:
        lowest, degree, digits, bias, whole = -708.0, 13, 52, 1023, INT64
        high, low = 0.693147180369123816490, 1.90821492927058770002e-10
    f = lambda value: constant(kind, value)  # noqa: E731
    clamped = maximum(builder, x, f(lowest))
    n = call(builder, "nearbyint", builder.fmul(clamped, f(1.4426950408889634)))
    r = call(builder, "fmuladd", n, f(-high), clamped)
    r = call(builder, "fmuladd", n, f(-low), r)
    # Estrin's scheme: pairs, then squares, so that the multiplications do not wait for each other.
    terms = [f(1.0 / factorial(power)) for power in range(degree + 1)]
    power_of_r = r
    while len(terms) > 1:
        pairs = [
            call(builder, "fmuladd", terms[t + 1], power_of_r, terms[t])
            for t in range(0, len(terms) - 1, 2)
        ]
        terms = pairs + terms[len(pairs) * 2 :]
        power_of_r = builder.fmul(power_of_r, power_of_r)
    # 2**n: adding 2**digits + bias leaves n + bias in the low bits, which move to the exponent.
    shifted = builder.fadd(n, f(2.0**digits + bias))
    bits = ir.VectorType(whole, kind.count)
    power_of_two = builder.shl(builder.bitcast(shifted, bits), constant(bits, digits))
    value = builder.fmul(terms[0], builder.bitcast(power_of_two, kind))
    return builder.select(builder.fcmp_ordered("<", x, f(lowest)), f(0.0), value)


def single_exp(builder: Any, x: Any) -> Any:
    """exp(x) with the digits of float32, for x in float64."""
    single = ir.VectorType(ir.FloatType(), x.type.count)
    return builder.fpext(exp(builder, builder.fptrunc(x, single)), x.type)


def _suffix(kind: Any) -> str:
    number = "f32" if kind.element == ir.FloatType() else "f64"
    return f"v{kind.count}{number}"


def masked_load(
    builder: Any, pointer: Any, kind: Any, mask: Any, align: int, otherwise: float
) -> Any:
    """The lanes that mask selects; the others are not touched in memory."""
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind.as_pointer(), INT32, mask.type, kind]),
        f"llvm.masked.load.{_suffix(kind)}.p0",
    )
    arguments = [pointer, ir.Constant(INT32, align), mask, constant(kind, otherwise)]
    return builder.call(function, arguments)


def masked_store(builder: Any, value: Any, pointer: Any, mask: Any, align: int) -> None:
    """Store the lanes that mask selects."""
    kind = value.type
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [kind, kind.as_pointer(), INT32, mask.type]),
        f"llvm.masked.store.{_suffix(kind)}.p0",
    )
    builder.call(function, [value, pointer, ir.Constant(INT32, align), mask])


def fold(builder: Any, vector: Any, combine: Callable[[Any, Any, Any], Any]) -> Any:
    """The lanes of a vector combined into one number, halving the distance at every step."""
    lanes = vector.type.count
    step = lanes // 2
    while step:
        order = [(lane + step) % lanes for lane in range(lanes)]
        mask = ir.Constant(ir.VectorType(INT32, lanes), [ir.Constant(INT32, t) for t in order])
        vector = combine(builder, vector, builder.shuffle_vector(vector, vector, mask))
        step //= 2
    return builder.extract_element(vector, ir.Constant(INT32, 0))
