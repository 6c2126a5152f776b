"""Reading rows of span scores into a buffer with j contiguous, and checking them on the way.

Row i of the scores holds s[i, j, k] for i < k <= j <= n. The charts want buffer[k, j] with j
contiguous, whatever the layout of the scores in memory. `transpose_tile` takes scores whose k is
contiguous, a square of 8 x 8 (4 x 4 in float64) at a time; `copy_span` takes scores whose j is
contiguous, a run at a time. Both read legal cells only and say whether one of them was NaN or
+inf.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from headspan.inference.simd.lanes import (
    INT32,
    INT64,
    VECTOR_BYTES,
    broadcast,
    constant,
    lane_numbers,
    masked_load,
)

_BIT = ir.IntType(1)


def _prefetch(builder: Any, pointer: Any) -> None:
    """Have memory fetch what the next row will read; no address is too wild for this."""
    byte = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [byte.type, INT32, INT32, INT32]),
        "llvm.prefetch.p0",
    )
    read, keep, data = (ir.Constant(INT32, flag) for flag in (0, 3, 1))
    builder.call(function, [byte, read, keep, data])


def _not_below_infinity(builder: Any, value: Any) -> Any:
    """A lane is set where the value is +inf or NaN."""
    return builder.fcmp_unordered(">=", value, constant(value.type, float("inf")))


def _any(builder: Any, mask: Any) -> Any:
    lanes = mask.type.count
    bits = builder.bitcast(mask, ir.IntType(lanes))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(lanes), 0))


def _source(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, kind: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    start = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [offset])
    return builder.bitcast(start, kind.as_pointer())


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """The transpose of a square of vectors, by exchanging blocks of 1, 2, 4 … lanes."""
    lanes = len(rows)
    distance = 1
    while distance < lanes:
        upper = [t + lanes - distance if t & distance else t for t in range(lanes)]
        lower = [t + lanes if t & distance else t + distance for t in range(lanes)]
        masks = [
            ir.Constant(ir.VectorType(INT32, lanes), [ir.Constant(INT32, t) for t in picks])
            for picks in (upper, lower)
        ]
        for r in range(lanes):
            if not r & distance:
                a, b = rows[r], rows[r + distance]
                rows[r] = builder.shuffle_vector(a, b, masks[0])
                rows[r + distance] = builder.shuffle_vector(a, b, masks[1])
        distance *= 2
    return rows


def _tile(diagonal: bool) -> Any:
    """transpose_tile(dst, d0, width, scores, offset, stride, last, ahead) -> bool

    Lanes k of row t lie at byte `offset + t * stride` of scores, t = 0 … last at most (rows behind
    `last` repeat it; they land in the padding). Lane k of row t goes to dst[d0 + k * width + t].
    On the diagonal only lanes k <= t are read. `ahead` is how many bytes further the same place in
    the next row of scores is. True if a score is NaN or +inf.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        dst_type, _, _, source_type = signature.args[:4]
        dst, d0, width, scores, offset, stride, last, ahead = arguments
        number = dst_type.dtype
        align = number.bitwidth // 8
        lanes = VECTOR_BYTES // align
        kind = ir.VectorType(context.get_value_type(number), lanes)
        bad = ir.Constant(ir.VectorType(_BIT, lanes), [0] * lanes)
        rows = []
        for t in range(lanes):
            step = ir.Constant(INT64, t)
            step = builder.select(builder.icmp_signed("<", step, last), step, last)
            at = builder.add(offset, builder.mul(step, stride))
            pointer = _source(context, builder, source_type, scores, at, kind)
            further = builder.add(at, ahead)
            _prefetch(builder, _source(context, builder, source_type, scores, further, kind))
            if diagonal:
                mask = ir.Constant(
                    ir.VectorType(_BIT, lanes), [int(lane <= t) for lane in range(lanes)]
                )
                # The row that is repeated has no more legal lanes than its own number says.
                legal = builder.icmp_signed(
                    "<=", lane_numbers(lanes), broadcast(builder, _vector64(lanes), last)
                )
                value = masked_load(
                    builder, pointer, kind, builder.and_(mask, legal), align, float("-inf")
                )
            else:
                value = builder.load(pointer, align=align)
            bad = builder.or_(bad, _not_below_infinity(builder, value))
            rows.append(value)
        data = context.make_array(dst_type)(context, builder, dst).data
        for k, value in enumerate(_transposed(builder, rows)):
            index = builder.add(d0, builder.mul(width, ir.Constant(INT64, k)))
            place = builder.bitcast(builder.gep(data, [index]), kind.as_pointer())
            builder.store(value, place, align=align)
        return _any(builder, bad)

    @intrinsic
    def transpose_tile(typing: Any, dst, d0, width, scores, offset, stride, last, ahead):
        index = types.int64
        return types.boolean(dst, index, index, scores, index, index, index, index), codegen

    return transpose_tile


def _vector64(lanes: int) -> Any:
    return ir.VectorType(INT64, lanes)


transpose_tile = _tile(diagonal=False)
transpose_diagonal_tile = _tile(diagonal=True)


@intrinsic
def copy_span(typing: Any, dst, d0, scores, offset, count, ahead):
    """Copy `count` scores from byte `offset` to dst[d0 …]. True if one is NaN or +inf.

    dst may be of a wider type than the scores. Fills up to a whole vector with -inf. `ahead` is as
    for the tiles.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, source = signature.args[0].dtype, signature.args[2].dtype
        lanes = VECTOR_BYTES // (number.bitwidth // 8)
        align = source.bitwidth // 8
        wide = ir.VectorType(context.get_value_type(number), lanes)
        kind = ir.VectorType(context.get_value_type(source), lanes)
        dst, d0, scores, offset, count, ahead = arguments
        data = context.make_array(signature.args[0])(context, builder, dst).data
        none = ir.Constant(ir.VectorType(_BIT, lanes), [0] * lanes)
        bad = cgutils.alloca_once_value(builder, none)
        start, step = ir.Constant(INT64, 0), ir.Constant(INT64, lanes)
        with cgutils.for_range_slice(builder, start, count, step, intp=INT64) as (index, _):
            at = builder.add(offset, builder.mul(index, ir.Constant(INT64, align)))
            pointer = _source(context, builder, signature.args[2], scores, at, kind)
            further = builder.add(at, ahead)
            _prefetch(builder, _source(context, builder, signature.args[2], scores, further, kind))
            left = broadcast(builder, _vector64(lanes), builder.sub(count, index))
            mask = builder.icmp_signed("<", lane_numbers(lanes), left)
            value = masked_load(builder, pointer, kind, mask, align, float("-inf"))
            flags = builder.or_(builder.load(bad), _not_below_infinity(builder, value))
            builder.store(flags, bad)
            if number != source:
                value = builder.fpext(value, wide)
            place = builder.gep(data, [builder.add(d0, index)])
            place = builder.bitcast(place, wide.as_pointer())
            builder.store(value, place, align=number.bitwidth // 8)
        return _any(builder, builder.load(bad))

    index = types.int64
    return types.boolean(dst, index, scores, index, index, index), codegen
