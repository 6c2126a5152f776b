"""Operations on short rows of numbers, written out as LLVM vectors.

The charts are full of loops over ten or forty numbers. LLVM's own loop vectoriser serves those
badly: it turns a maximum into a masked store, unrolls by 32 and leaves what is shorter to scalar
code, and checks for overlaps before every loop. So the row operations are emitted here vector by
vector: 32 bytes at a time, one instruction an operation, no checks. On processors without such
registers LLVM splits the vectors; nothing here depends on a kind of machine.

Every operation works on flat, contiguous arrays, `x` from index `x0` on, for `count` elements.
Rows are processed in whole vectors, so up to `PAD` elements behind `dst[d0 + count]` are
overwritten and as many behind the sources are read: rows are allocated with `PAD` spare elements.
Operations that reduce store the neutral element (-inf or 0) there instead of garbage.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

PAD = 8
VECTOR_BYTES = 32
_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)

Emit = Callable[[Any, Any, Any, Any, Any], Any]


def constant(kind: Any, value: float) -> Any:
    """The vector with the same number in every lane."""
    return ir.Constant(kind, [value] * kind.count)


def lane_numbers(lanes: int) -> Any:
    """The vector 0, 1, 2, …"""
    return ir.Constant(ir.VectorType(_INT64, lanes), [ir.Constant(_INT64, t) for t in range(lanes)])


def broadcast(builder: Any, kind: Any, value: Any) -> Any:
    """The vector with a computed value in every lane."""
    vector = ir.Constant(kind, ir.Undefined)
    for lane in range(kind.count):
        vector = builder.insert_element(vector, value, ir.Constant(_INT32, lane))
    return vector


def _call(builder: Any, name: str, *values: Any, flags: tuple[str, ...] = ()) -> Any:
    """The LLVM intrinsic `name` on vectors of one type."""
    kind = values[0].type
    number = "f32" if kind.element == ir.FloatType() else "f64"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind] * len(values)),
        f"llvm.{name}.v{kind.count}{number}",
    )
    return builder.call(function, values, fastmath=flags)


def _maximum(builder: Any, x: Any, y: Any) -> Any:
    # The scores hold no NaN (they are checked when read), so one machine instruction will do.
    return _call(builder, "maxnum", x, y, flags=("nnan", "nsz"))


def _exp(builder: Any, x: Any) -> Any:
    """exp(x) for x <= 0 (a little above is fine), to about one unit in the last place.

    2**n * exp(r) with |r| <= ln(2)/2: Cody and Waite's two-step reduction, a Taylor polynomial for
    exp(r), and n put straight into the exponent bits. Below -708 the result is 0.
    """
    kind = x.type
    f = lambda value: constant(kind, value)  # noqa: E731
    clamped = _maximum(builder, x, f(-708.0))
    n = _call(builder, "nearbyint", builder.fmul(clamped, f(1.4426950408889634)))
    r = _call(builder, "fmuladd", n, f(-0.693147180369123816490), clamped)
    r = _call(builder, "fmuladd", n, f(-1.90821492927058770002e-10), r)
    inverse_factorial = 1.0
    coefficients = [1.0]
    for power in range(1, 14):
        inverse_factorial /= power
        coefficients.append(inverse_factorial)
    # Estrin's scheme: pairs, then squares, so that the multiplications do not wait for each other.
    terms = [f(c) for c in coefficients]
    square = r
    while len(terms) > 1:
        pairs = [
            _call(builder, "fmuladd", terms[t + 1], square, terms[t])
            for t in range(0, len(terms) - 1, 2)
        ]
        if len(terms) % 2:
            pairs.append(terms[-1])
        terms = pairs
        if len(terms) > 1:
            square = builder.fmul(square, square)
    # 2**n: adding 2**52 + 1023 leaves n + 1023 in the low bits, which then move to the exponent.
    shifted = builder.fadd(n, f(4503599627370496.0 + 1023.0))
    bits = ir.VectorType(_INT64, kind.count)
    power_of_two = builder.bitcast(
        builder.shl(builder.bitcast(shifted, bits), constant(bits, 52)), kind
    )
    value = builder.fmul(terms[0], power_of_two)
    return builder.select(builder.fcmp_ordered("<", x, f(-708.0)), f(0.0), value)


def _fold(builder: Any, vector: Any, combine: Callable[[Any, Any, Any], Any]) -> Any:
    """The lanes of a vector combined into one number, halving the distance at every step."""
    lanes = vector.type.count
    step = lanes // 2
    while step:
        order = [(lane + step) % lanes for lane in range(lanes)]
        mask = ir.Constant(ir.VectorType(_INT32, lanes), [ir.Constant(_INT32, t) for t in order])
        vector = combine(builder, vector, builder.shuffle_vector(vector, vector, mask))
        step //= 2
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


def _row_operation(emit: Emit, two_sources: bool, reduce: str | None) -> Any:
    """An intrinsic op(dst, d0, a, a0, [b, b0,] c, count) that stores emit(…) into dst.

    emit(builder, d, a, b, c) gets vectors: the old value of dst, the sources, and c in every lane.
    With `reduce` ("max" or "add") the operation returns the combination of what it stored.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        scalar = context.get_value_type(number)
        lanes = VECTOR_BYTES // (number.bitwidth // 8)
        kind = ir.VectorType(scalar, lanes)
        align = number.bitwidth // 8

        def pointer(position: int) -> Any:
            array = context.make_array(signature.args[position])(
                context, builder, arguments[position]
            )
            return builder.gep(array.data, [arguments[position + 1]])

        def at(base: Any, index: Any) -> Any:
            return builder.bitcast(builder.gep(base, [index]), kind.as_pointer())

        dst, a = pointer(0), pointer(2)
        b = pointer(4) if two_sources else None
        c, count = broadcast(builder, kind, arguments[-2]), arguments[-1]
        combine = _maximum if reduce == "max" else (lambda bld, x, y: bld.fadd(x, y))
        neutral = constant(kind, float("-inf") if reduce == "max" else 0.0)
        total = cgutils.alloca_once_value(builder, neutral)
        rounded = builder.and_(
            builder.add(count, ir.Constant(_INT64, lanes - 1)), ir.Constant(_INT64, -lanes)
        )
        with cgutils.for_range_slice(
            builder, ir.Constant(_INT64, 0), rounded, ir.Constant(_INT64, lanes), intp=_INT64
        ) as (index, _):
            old = builder.load(at(dst, index), align=align)
            x = builder.load(at(a, index), align=align)
            y = builder.load(at(b, index), align=align) if b is not None else None
            value = emit(builder, old, x, y, c)
            if reduce is not None:
                numbers = lane_numbers(lanes)
                left = broadcast(builder, numbers.type, builder.sub(count, index))
                inside = builder.icmp_signed("<", numbers, left)
                value = builder.select(inside, value, neutral)
                builder.store(combine(builder, builder.load(total), value), total)
            builder.store(value, at(dst, index), align=align)
        if reduce is None:
            return context.get_dummy_value()
        return _fold(builder, builder.load(total), combine)

    if two_sources:

        @intrinsic
        def operation(typing: Any, dst, d0, a, a0, b, b0, c, count):  # type: ignore[no-untyped-def]
            result = dst.dtype if reduce else types.none
            index = types.int64
            return result(dst, index, a, index, b, index, dst.dtype, index), codegen

    else:

        @intrinsic
        def operation(typing: Any, dst, d0, a, a0, c, count):  # type: ignore[no-untyped-def]
            result = dst.dtype if reduce else types.none
            index = types.int64
            return result(dst, index, a, index, dst.dtype, index), codegen

    return operation


def _add(builder: Any, x: Any, y: Any) -> Any:
    return builder.fadd(x, y)


# dst = max(dst, c + a)
max_plus = _row_operation(
    lambda bld, d, a, b, c: _maximum(bld, d, _add(bld, c, a)), two_sources=False, reduce=None
)
# dst = max(dst, (c + a) + b)
max_plus_plus = _row_operation(
    lambda bld, d, a, b, c: _maximum(bld, d, _add(bld, _add(bld, c, a), b)),
    two_sources=True,
    reduce=None,
)
# dst = a + b; returns max(dst). c is not used.
plus_max = _row_operation(
    lambda bld, d, a, b, c: _add(bld, a, b), two_sources=True, reduce="max"
)
# dst = (a + b) + dst; returns max(dst). c is not used.
plus_plus_max = _row_operation(
    lambda bld, d, a, b, c: _add(bld, _add(bld, a, b), d), two_sources=True, reduce="max"
)
# dst = exp(a - c); returns sum(dst)
exp_sum = _row_operation(
    lambda bld, d, a, b, c: _exp(bld, bld.fsub(a, c)), two_sources=False, reduce="add"
)
# dst = exp((a + b) - c); returns sum(dst)
exp_plus_sum = _row_operation(
    lambda bld, d, a, b, c: _exp(bld, bld.fsub(_add(bld, a, b), c)),
    two_sources=True,
    reduce="add",
)
# dst = dst + c * a
add_scaled = _row_operation(
    lambda bld, d, a, b, c: _call(bld, "fmuladd", c, a, d), two_sources=False, reduce=None
)
