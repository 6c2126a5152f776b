"""Operations on short rows of numbers, written out as LLVM vectors.

The charts are full of loops over ten or forty numbers. LLVM's own loop vectoriser serves those
badly: it turns a maximum into a masked store, unrolls by 32 and leaves what is shorter to scalar
code, and checks for overlaps before every loop. So the row operations are emitted here vector by
vector: 32 bytes at a time, one instruction an operation, no checks.

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

from headspan.inference.simd.lanes import (
    INT64,
    VECTOR_BYTES,
    broadcast,
    call,
    constant,
    exp,
    fold,
    lane_numbers,
    masked_load,
    masked_store,
    maximum,
    single_exp,
)

PAD = 8

Emit = Callable[[Any, Any, Any, Any, Any], Any]


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
        combine = maximum if reduce == "max" else (lambda bld, x, y: bld.fadd(x, y))
        neutral = constant(kind, float("-inf") if reduce == "max" else 0.0)
        total = cgutils.alloca_once_value(builder, neutral)
        zero, step = ir.Constant(INT64, 0), ir.Constant(INT64, lanes)

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
            with cgutils.for_range_slice(builder, zero, count, step, intp=INT64) as (index, _):
                one_vector(index, None)
            return context.get_dummy_value()
        whole = builder.and_(count, ir.Constant(INT64, -lanes))
        with cgutils.for_range_slice(builder, zero, whole, step, intp=INT64) as (index, _):
            one_vector(index, None)
        with builder.if_then(builder.icmp_signed("<", whole, count)):
            numbers = lane_numbers(lanes)
            left = broadcast(builder, numbers.type, builder.sub(count, whole))
            one_vector(whole, builder.icmp_signed("<", numbers, left))
        return fold(builder, builder.load(total), combine)

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
    lambda bld, d, a, b, c: maximum(bld, d, _add(bld, c, a)), two_sources=False, reduce=None
)
# dst = max(dst, (c + a) + b)
max_plus_plus = _row_operation(
    lambda bld, d, a, b, c: maximum(bld, d, _add(bld, _add(bld, c, a), b)),
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
    lambda bld, d, a, b, c: exp(bld, bld.fsub(a, c)), two_sources=False, reduce="add"
)
# dst = exp((a + b) - c); returns sum(dst)
exp_plus_sum = _row_operation(
    lambda bld, d, a, b, c: exp(bld, bld.fsub(_add(bld, a, b), c)),
    two_sources=True,
    reduce="add",
)
# The same two on float64 with the digits of float32, for eight numbers at a time.
single_exp_sum = _row_operation(
    lambda bld, d, a, b, c: single_exp(bld, bld.fsub(a, c)),
    two_sources=False,
    reduce="add",
    vector_bytes=2 * VECTOR_BYTES,
)
single_exp_plus_sum = _row_operation(
    lambda bld, d, a, b, c: single_exp(bld, bld.fsub(_add(bld, a, b), c)),
    two_sources=True,
    reduce="add",
    vector_bytes=2 * VECTOR_BYTES,
)
# dst = dst + c * a
add_scaled = _row_operation(
    lambda bld, d, a, b, c: call(bld, "fmuladd", c, a, d), two_sources=False, reduce=None
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
        start, step = ir.Constant(INT64, 0), ir.Constant(INT64, lanes)
        with cgutils.for_range_slice(builder, start, arguments[5], step, intp=INT64) as (t, _):
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
        zero, step = ir.Constant(INT64, 0), ir.Constant(INT64, lanes)
        target = _flat(context, builder, signature.args[1], arguments[1], arguments[2])
        copies = _flat(context, builder, signature.args[0], arguments[0], zero)
        c, count = arguments[3], arguments[4]
        if narrow != wide:
            c = builder.fptrunc(c, kind.element)
        factor = broadcast(builder, kind, c)
        with cgutils.for_range_slice(builder, zero, count, step, intp=INT64) as (t, _):
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
    """op(dst, d0, rows, r0, stride, factors, count): a triangle of rows, weighed, into one row.

    dst[t] += sum over r of factors[r] * rows[r0 + r * stride + t], for t and r below `count`,
    r <= t in the upper triangle and r >= t in the lower. What lies on the other side is 0, so
    whole vectors may reach into it. All of one type.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        align = number.bitwidth // 8
        lanes = VECTOR_BYTES // align
        kind = ir.VectorType(context.get_value_type(number), lanes)
        target = _flat(context, builder, signature.args[0], arguments[0], arguments[1])
        source = _flat(context, builder, signature.args[2], arguments[2], arguments[3])
        stride, count = arguments[4], arguments[6]
        zero, one, step = (ir.Constant(INT64, x) for x in (0, 1, lanes))
        factors = _flat(context, builder, signature.args[5], arguments[5], zero)
        total = cgutils.alloca_once(builder, kind)
        with cgutils.for_range_slice(builder, zero, count, step, intp=INT64) as (t, _):
            place = _vector_at(builder, target, t, kind)
            builder.store(builder.load(place, align=align), total)
            if lower:
                first, stop = t, count
            else:
                reach = builder.add(t, step)
                first = zero
                stop = builder.select(builder.icmp_signed("<", reach, count), reach, count)
            with cgutils.for_range_slice(builder, first, stop, one, intp=INT64) as (r, _):
                factor = builder.load(builder.gep(factors, [r]))
                index = builder.add(builder.mul(r, stride), t)
                row = builder.load(_vector_at(builder, source, index, kind), align=align)
                weight = broadcast(builder, kind, factor)
                value = call(builder, "fmuladd", weight, row, builder.load(total))
                builder.store(value, total)
            builder.store(builder.load(total), place, align=align)
        return context.get_dummy_value()

    @intrinsic
    def operation(typing: Any, dst, d0, rows, r0, stride, factors, count):
        index = types.int64
        return types.none(dst, index, rows, index, index, factors, index), codegen

    return operation


add_upper_triangle = _add_triangle(lower=False)
add_lower_triangle = _add_triangle(lower=True)


@intrinsic
def extend(typing: Any, alpha, gamma, scores, to, child, head, c, count):
    """One step of the best-tree recurrence on two rows of its charts at once.

    alpha[to …] = max(alpha, c + gamma[child …]) and
    gamma[to …] = max(gamma, (c + alpha[head …]) + scores[head …]).
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        align = number.bitwidth // 8
        kind = ir.VectorType(context.get_value_type(number), VECTOR_BYTES // align)
        to, child, head, c, count = arguments[3:]

        def row(position: int, start: Any) -> Any:
            return _flat(context, builder, signature.args[position], arguments[position], start)

        own_alpha, own_gamma = row(0, to), row(1, to)
        children, inner, own = row(1, child), row(0, head), row(2, head)
        factor = broadcast(builder, kind, c)
        start, step = ir.Constant(INT64, 0), ir.Constant(INT64, kind.count)
        with cgutils.for_range_slice(builder, start, count, step, intp=INT64) as (t, _):

            def load(base: Any) -> Any:
                return builder.load(_vector_at(builder, base, t, kind), align=align)

            sequence = _add(builder, factor, load(children))
            beta = _add(builder, _add(builder, factor, load(inner)), load(own))
            best_sequence = maximum(builder, load(own_alpha), sequence)
            best_span = maximum(builder, load(own_gamma), beta)
            builder.store(best_sequence, _vector_at(builder, own_alpha, t, kind), align=align)
            builder.store(best_span, _vector_at(builder, own_gamma, t, kind), align=align)
        return context.get_dummy_value()

    index = types.int64
    given = (alpha, gamma, scores, index, index, index, alpha.dtype, index)
    return types.none(*given), codegen


@intrinsic
def max_plus_pair(typing: Any, first, second, d0, a, b, s0, c1, c2, count):
    """max_plus on two rows at once, which lie at the same place of their charts.

    first[d0 …] = max(first, c1 + a[s0 …]) and second[d0 …] = max(second, c2 + b[s0 …]).
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = signature.args[0].dtype
        align = number.bitwidth // 8
        kind = ir.VectorType(context.get_value_type(number), VECTOR_BYTES // align)
        d0, s0, count = arguments[2], arguments[5], arguments[8]

        def row(position: int, start: Any) -> Any:
            return _flat(context, builder, signature.args[position], arguments[position], start)

        rows = [
            (row(0, d0), row(3, s0), broadcast(builder, kind, arguments[6])),
            (row(1, d0), row(4, s0), broadcast(builder, kind, arguments[7])),
        ]
        start, step = ir.Constant(INT64, 0), ir.Constant(INT64, kind.count)
        with cgutils.for_range_slice(builder, start, count, step, intp=INT64) as (t, _):
            for target, source, factor in rows:
                place = _vector_at(builder, target, t, kind)
                term = builder.load(_vector_at(builder, source, t, kind), align=align)
                best = maximum(
                    builder, builder.load(place, align=align), _add(builder, factor, term)
                )
                builder.store(best, place, align=align)
        return context.get_dummy_value()

    index = types.int64
    given = (first, second, index, a, b, index, first.dtype, first.dtype, index)
    return types.none(*given), codegen
