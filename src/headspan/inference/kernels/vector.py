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
from math import factorial
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
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind] * len(values)),
        f"llvm.{name}.{_suffix(kind)}",
    )
    return builder.call(function, values, fastmath=flags)


def _maximum(builder: Any, x: Any, y: Any) -> Any:
    # The scores hold no NaN (they are checked when read), so one machine instruction will do.
    return _call(builder, "maxnum", x, y, flags=("nnan", "nsz"))


def _exp(builder: Any, x: Any) -> Any:
    """exp(x) for x <= 0 (a little above is fine), to about one unit in the last place.

    2**n * exp(r) with |r| <= ln(2)/2: Cody and Waite's two-step reduction, a Taylor polynomial for
    exp(r), and n put straight into the exponent bits. Where exp(x) is hardly a number, it is 0.
    """
    kind = x.type
    if kind.element == ir.FloatType():
        lowest, degree, digits, bias, whole = -87.0, 7, 23, 127, _INT32
        high, low = 0.693359375, -2.12194440054690583e-4
    else:
        lowest, degree, digits, bias, whole = -708.0, 13, 52, 1023, _INT64
        high, low = 0.693147180369123816490, 1.90821492927058770002e-10
    f = lambda value: constant(kind, value)  # noqa: E731
    clamped = _maximum(builder, x, f(lowest))
    n = _call(builder, "nearbyint", builder.fmul(clamped, f(1.4426950408889634)))
    r = _call(builder, "fmuladd", n, f(-high), clamped)
    r = _call(builder, "fmuladd", n, f(-low), r)
    # Estrin's scheme: pairs, then squares, so that the multiplications do not wait for each other.
    terms = [f(1.0 / factorial(power)) for power in range(degree + 1)]
    power_of_r = r
    while len(terms) > 1:
        pairs = [
            _call(builder, "fmuladd", terms[t + 1], power_of_r, terms[t])
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


def _single_exp(builder: Any, x: Any) -> Any:
    """exp(x) with the digits of float32, for x in float64."""
    single = ir.VectorType(ir.FloatType(), x.type.count)
    return builder.fpext(_exp(builder, builder.fptrunc(x, single)), x.type)


def _suffix(kind: Any) -> str:
    number = "f32" if kind.element == ir.FloatType() else "f64"
    return f"v{kind.count}{number}"


def masked_load(
    builder: Any, pointer: Any, kind: Any, mask: Any, align: int, otherwise: float
) -> Any:
    """The lanes that mask selects; the others are not touched in memory."""
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind.as_pointer(), _INT32, mask.type, kind]),
        f"llvm.masked.load.{_suffix(kind)}.p0",
    )
    arguments = [pointer, ir.Constant(_INT32, align), mask, constant(kind, otherwise)]
    return builder.call(function, arguments)


def masked_store(builder: Any, value: Any, pointer: Any, mask: Any, align: int) -> None:
    """Store the lanes that mask selects."""
    kind = value.type
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [kind, kind.as_pointer(), _INT32, mask.type]),
        f"llvm.masked.store.{_suffix(kind)}.p0",
    )
    builder.call(function, [value, pointer, ir.Constant(_INT32, align), mask])


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


def _row_operation(
    emit: Emit, two_sources: bool, reduce: str | None, vector_bytes: int = VECTOR_BYTES
) -> Any:
    """An intrinsic op(dst, d0, a, a0, [b, b0,] c, count) that stores emit(…) into dst.

    emit(builder, d, a, b, c) gets vectors: the old value of dst, the sources, and c in every lane.
    With `reduce` ("max" or "add") the operation returns the combination of what it stored.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        scalar = context.get_value_type(number)
        lanes = vector_bytes // (number.bitwidth // 8)
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
        zero, step = ir.Constant(_INT64, 0), ir.Constant(_INT64, lanes)

        def one_vector(index: Any, inside: Any) -> None:
            old = builder.load(at(dst, index), align=align)
            x = builder.load(at(a, index), align=align)
            y = builder.load(at(b, index), align=align) if b is not None else None
            value = emit(builder, old, x, y, c)
            if inside is not None:
                value = builder.select(inside, value, neutral)
            if reduce is not None:
                builder.store(combine(builder, builder.load(total), value), total)
            builder.store(value, at(dst, index), align=align)

        if reduce is None:
            with cgutils.for_range_slice(builder, zero, count, step, intp=_INT64) as (index, _):
                one_vector(index, None)
            return context.get_dummy_value()
        whole = builder.and_(count, ir.Constant(_INT64, -lanes))
        with cgutils.for_range_slice(builder, zero, whole, step, intp=_INT64) as (index, _):
            one_vector(index, None)
        with builder.if_then(builder.icmp_signed("<", whole, count)):
            numbers = lane_numbers(lanes)
            left = broadcast(builder, numbers.type, builder.sub(count, whole))
            one_vector(whole, builder.icmp_signed("<", numbers, left))
        return _fold(builder, builder.load(total), combine)

    if two_sources:

        @intrinsic
        def operation(typing: Any, dst, d0, a, a0, b, b0, c, count):
            result = dst.dtype if reduce else types.none
            index = types.int64
            return result(dst, index, a, index, b, index, dst.dtype, index), codegen

    else:

        @intrinsic
        def operation(typing: Any, dst, d0, a, a0, c, count):
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
plus_max = _row_operation(lambda bld, d, a, b, c: _add(bld, a, b), two_sources=True, reduce="max")
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
# The same two on float64 with the digits of float32, for eight numbers at a time.
single_exp_sum = _row_operation(
    lambda bld, d, a, b, c: _single_exp(bld, bld.fsub(a, c)),
    two_sources=False,
    reduce="add",
    vector_bytes=2 * VECTOR_BYTES,
)
single_exp_plus_sum = _row_operation(
    lambda bld, d, a, b, c: _single_exp(bld, bld.fsub(_add(bld, a, b), c)),
    two_sources=True,
    reduce="add",
    vector_bytes=2 * VECTOR_BYTES,
)
# dst = dst + c * a
add_scaled = _row_operation(
    lambda bld, d, a, b, c: _call(bld, "fmuladd", c, a, d), two_sources=False, reduce=None
)


def _flat(context: Any, builder: Any, kind: Any, value: Any, start: Any) -> Any:
    """The address of element `start` of a flat array."""
    return builder.gep(context.make_array(kind)(context, builder, value).data, [start])


def _vector_at(builder: Any, base: Any, index: Any, kind: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), kind.as_pointer())


@intrinsic
def store_scaled(typing: Any, dst, d0, a, a0, c, count):
    """Set dst = c * a, where dst may be of a narrower type than a and c.

    Whole vectors are stored: what lies behind a[a0 + count] should be 0.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        narrow, wide = signature.args[0].dtype, signature.args[2].dtype
        lanes = VECTOR_BYTES // (wide.bitwidth // 8)
        kind = ir.VectorType(context.get_value_type(wide), lanes)
        stored = ir.VectorType(context.get_value_type(narrow), lanes)
        target = _flat(context, builder, signature.args[0], arguments[0], arguments[1])
        source = _flat(context, builder, signature.args[2], arguments[2], arguments[3])
        factor = broadcast(builder, kind, arguments[4])
        start, step = ir.Constant(_INT64, 0), ir.Constant(_INT64, lanes)
        with cgutils.for_range_slice(builder, start, arguments[5], step, intp=_INT64) as (t, _):
            place = _vector_at(builder, source, t, kind)
            value = builder.fmul(builder.load(place, align=wide.bitwidth // 8), factor)
            if narrow != wide:
                value = builder.fptrunc(value, stored)
            place = _vector_at(builder, target, t, stored)
            builder.store(value, place, align=narrow.bitwidth // 8)
        return context.get_dummy_value()

    index = types.int64
    return types.none(dst, index, a, index, a.dtype, index), codegen


@intrinsic
def scale_in_place(typing: Any, terms, dst, d0, c, count):
    """Set dst = c * dst and copy it into terms, filled up with zeros. dst is not padded."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, narrow = signature.args[0].dtype, signature.args[1].dtype
        lanes = VECTOR_BYTES // (wide.bitwidth // 8)
        align = narrow.bitwidth // 8
        kind = ir.VectorType(context.get_value_type(narrow), lanes)
        copied = ir.VectorType(context.get_value_type(wide), lanes)
        zero, step = ir.Constant(_INT64, 0), ir.Constant(_INT64, lanes)
        target = _flat(context, builder, signature.args[1], arguments[1], arguments[2])
        copies = _flat(context, builder, signature.args[0], arguments[0], zero)
        c, count = arguments[3], arguments[4]
        if narrow != wide:
            c = builder.fptrunc(c, kind.element)
        factor = broadcast(builder, kind, c)
        with cgutils.for_range_slice(builder, zero, count, step, intp=_INT64) as (t, _):
            place = _vector_at(builder, target, t, kind)
            numbers = lane_numbers(lanes)
            left = builder.sub(count, t)
            mask = builder.icmp_signed("<", numbers, broadcast(builder, numbers.type, left))
            value = masked_load(builder, place, kind, mask, align, 0.0)
            value = builder.fmul(value, factor)
            whole = builder.icmp_signed(">=", left, step)
            with builder.if_else(whole) as (then, otherwise):
                with then:
                    builder.store(value, place, align=align)
                with otherwise:
                    masked_store(builder, value, place, mask, align)
            if narrow != wide:
                value = builder.fpext(value, copied)
            builder.store(value, _vector_at(builder, copies, t, copied), align=wide.bitwidth // 8)
        return context.get_dummy_value()

    index = types.int64
    return types.none(terms, dst, index, terms.dtype, index), codegen


def _add_triangle(lower: bool) -> Any:
    """op(dst, d0, rows, r0, stride, factors, c, count): a triangle of rows, weighed, into one row.

    dst[t] += sum over r of c * factors[r] * rows[r0 + r * stride + t], for t and r below `count`,
    r <= t in the upper triangle and r >= t in the lower. What lies on the other side is 0, so
    whole vectors may reach into it. dst and rows are of one type, factors and c are float64.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        align = number.bitwidth // 8
        lanes = VECTOR_BYTES // align
        scalar = context.get_value_type(number)
        kind = ir.VectorType(scalar, lanes)
        target = _flat(context, builder, signature.args[0], arguments[0], arguments[1])
        source = _flat(context, builder, signature.args[2], arguments[2], arguments[3])
        stride, c, count = arguments[4], arguments[6], arguments[7]
        zero, one, step = (ir.Constant(_INT64, x) for x in (0, 1, lanes))
        factors = _flat(context, builder, signature.args[5], arguments[5], zero)
        total = cgutils.alloca_once(builder, kind)
        with cgutils.for_range_slice(builder, zero, count, step, intp=_INT64) as (t, _):
            place = _vector_at(builder, target, t, kind)
            builder.store(builder.load(place, align=align), total)
            if lower:
                first, stop = t, count
            else:
                reach = builder.add(t, step)
                first = zero
                stop = builder.select(builder.icmp_signed("<", reach, count), reach, count)
            with cgutils.for_range_slice(builder, first, stop, one, intp=_INT64) as (r, _):
                factor = builder.fmul(builder.load(builder.gep(factors, [r])), c)
                if number.bitwidth == 32:
                    factor = builder.fptrunc(factor, scalar)
                index = builder.add(builder.mul(r, stride), t)
                row = builder.load(_vector_at(builder, source, index, kind), align=align)
                weight = broadcast(builder, kind, factor)
                value = _call(builder, "fmuladd", weight, row, builder.load(total))
                builder.store(value, total)
            builder.store(builder.load(total), place, align=align)
        return context.get_dummy_value()

    @intrinsic
    def operation(typing: Any, dst, d0, rows, r0, stride, factors, c, count):
        index, wide = types.int64, types.float64
        return types.none(dst, index, rows, index, index, factors, wide, index), codegen

    return operation


add_upper_triangle = _add_triangle(lower=False)
add_lower_triangle = _add_triangle(lower=True)
