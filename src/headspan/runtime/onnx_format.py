"""ONNX models as bytes: the few messages of the format that our graphs need.

ONNX is defined by Protocol Buffers. A message is a sequence of fields, each a key (its number and
its wire type) and a value; that is all there is to write. Reading is onnxruntime's business.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

OPSET = 21
"""The version of ONNX's operators."""
_IR_VERSION = 10
_VARINT, _BYTES, _FLOAT = 0, 2, 5  # wire types
_EXTERNAL = 1  # the place of a constant
_FLOAT_VALUE, _INT_VALUE, _STRING_VALUE, _INTS_VALUE = 1, 2, 3, 7  # types of attributes

Kind: TypeAlias = Literal["float32", "uint8", "int8", "int32", "int64"]
"""The types of numbers, under their names in NumPy."""
_TYPES: dict[str, int] = dict(zip(get_args(Kind), (1, 2, 3, 6, 7), strict=True))
Dimension: TypeAlias = int | str
"""A size, or the name of one that is not known in advance."""


@dataclass(frozen=True, slots=True)
class Value:
    """An input or output of a graph."""

    name: str
    kind: Kind
    shape: tuple[Dimension, ...]


@dataclass
class Graph:
    """Nodes in order, with the constants that they use; every result has a name of its own."""

    name: str
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[bytes] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    _shared: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def input(self, name: str, kind: Kind, *shape: Dimension) -> str:
        """Declare an input; returns its name."""
        self.inputs.append(Value(name, kind, shape))
        return name

    def output(self, result: str, name: str, kind: Kind, *shape: Dimension) -> None:
        """Make a result an output of this name."""
        self._node("Identity", [result], [name], {})
        self.outputs.append(Value(name, kind, shape))

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """A constant of this name; returns the name."""
        self.constants[name] = np.asarray(array, order="C")
        return name

    def numbers(self, *values: int) -> str:
        """A constant (n,) of int64; returns its name."""
        return self._small(np.array(values, np.int64))

    def scalar(self, value: float, kind: Kind = "float32") -> str:
        """A constant without axes; returns its name."""
        return self._small(np.array(value, np.dtype(kind)))

    def _small(self, array: NDArray[Any]) -> str:
        """A constant that is made once, however often it is used."""
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self._shared:
            self._shared[key] = self.constant(f"constant{len(self._shared)}", array)
        return self._shared[key]

    def cast(self, x: str, kind: Kind) -> str:
        """The same numbers in another type."""
        return self.add("Cast", x, to=_TYPES[kind])

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its result."""
        name = f"{operator.lower()}{len(self.nodes)}"
        self._node(operator, inputs, [name], attributes)
        return name

    def _node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: Mapping[str, Any],
    ) -> None:
        self.nodes.append(
            b"".join(
                [
                    *(_text(1, name) for name in inputs),
                    *(_text(2, name) for name in outputs),
                    _text(4, operator),
                    *(_block(5, _attribute(*pair)) for pair in attributes.items()),
                ]
            )
        )

    def to_bytes(self, *, outside: Collection[str] = ()) -> bytes:
        """The whole model, except for the values of constants that are given another way."""
        graph = [
            *(_block(1, node) for node in self.nodes),
            _text(2, self.name),
            *(
                _block(5, _tensor(name, array, outside=name in outside))
                for name, array in self.constants.items()
            ),
            *(_block(11, _value(value)) for value in self.inputs),
            *(_block(12, _value(value)) for value in self.outputs),
        ]
        return b"".join(
            [
                _number(1, _IR_VERSION),
                _text(2, "headspan"),
                _block(7, b"".join(graph)),
                _block(8, _text(1, "") + _number(2, OPSET)),
            ]
        )


def _attribute(name: str, value: Any) -> bytes:
    match value:
        case float():
            content = _key(2, _FLOAT) + struct.pack("<f", value) + _number(20, _FLOAT_VALUE)
        case int():
            content = _number(3, value) + _number(20, _INT_VALUE)
        case str():
            content = _text(4, value) + _number(20, _STRING_VALUE)
        case _:
            content = _numbers(8, value) + _number(20, _INTS_VALUE)
    return _text(1, name) + content


def _tensor(name: str, array: NDArray[Any], *, outside: bool) -> bytes:
    about = _numbers(1, array.shape) + _number(2, _TYPES[array.dtype.name]) + _text(8, name)
    if outside:
        return about + _block(13, _text(1, "location") + _text(2, name)) + _number(14, _EXTERNAL)
    return about + _block(9, array.tobytes())


def _value(value: Value) -> bytes:
    dimensions = (
        _block(1, _text(2, side) if isinstance(side, str) else _number(1, side))
        for side in value.shape
    )
    tensor = _number(1, _TYPES[value.kind]) + _block(2, b"".join(dimensions))
    return _text(1, value.name) + _block(2, _block(1, tensor))


def _numbers(number: int, values: Iterable[int]) -> bytes:
    return b"".join(_number(number, value) for value in values)


def _number(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _varint(value & (1 << 64) - 1)


def _text(number: int, text: str) -> bytes:
    return _block(number, text.encode())


def _block(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(content)) + content


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the highest bit says that more follow."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
