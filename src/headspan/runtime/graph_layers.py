"""The layers of our networks as nodes of a graph, from weights under the names that torch has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headspan.plumbing.errors import HeadspanError, named
from headspan.runtime import packing
from headspan.runtime.onnx_format import Graph
from headspan.runtime.packing import Array

SLOPE = 0.1
"""Of the LeakyReLU in deep biaffine parsers."""
END = (1 << 63) - 1
"""The end of an axis, whatever its length."""
_LOWEST = float(np.finfo(np.float32).min)
_MIDDLE = 128  # the number that stands for 0 where unsigned ones stand for signed ones


class Matrix(NamedTuple):
    """A matrix in float32, or in int8 with a scale per row."""

    numbers: Array
    scale: Array | None

    def unpacked(self) -> Array:
        """The matrix in float32."""
        return self.numbers if self.scale is None else self.numbers * self.scale

    def rounded(self) -> Matrix:
        """The matrix in int8."""
        return Matrix(*packing.rounded(self.numbers)) if self.scale is None else self

    def times(self, factor: float) -> Matrix:
        """The matrix times a number."""
        if self.scale is None:
            return Matrix(self.numbers * np.float32(factor), None)
        return Matrix(self.numbers, self.scale * np.float32(factor))


class Weights:
    """The tensors of a network, packed or not.

    Each must have the expected shape, and all must be used.
    """

    def __init__(self, stored: Mapping[str, Array]) -> None:
        self._stored = stored
        self._unused = set(packing.names(stored))

    def take(self, name: str, *shape: int) -> Array:
        """The tensor of this name; raises HeadspanError unless it is float32 of this shape."""
        self._check_shape(name, shape)
        tensor = packing.unpacked(self._stored, name)
        if tensor.dtype != np.float32:
            raise HeadspanError(f"the tensor {name} has the type {tensor.dtype}; expected float32")
        return tensor

    def take_matrix(self, name: str, *shape: int) -> Matrix:
        """The same, in int8 with a scale per row if it is stored so."""
        self._check_shape(name, shape)
        scale = packing.scale_of(self._stored, name)
        return Matrix(self.take(name, *shape) if scale is None else self._stored[name], scale)

    def leave(self, name: str, *shape: int) -> None:
        """Let a tensor of this shape be there, although nothing asks for it."""
        if name in self._stored:
            self._check_shape(name, shape)

    def _check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        if name not in self._stored:
            raise HeadspanError(f"the tensor {named(name)} is missing")
        if self._stored[name].shape != shape:
            raise HeadspanError(
                f"the tensor {name} has the shape {self._stored[name].shape}; expected {shape}"
            )
        self._unused.discard(name)

    def check_all_used(self) -> None:
        """Raise HeadspanError if there is a tensor that nothing asked for."""
        for name in sorted(self._unused):
            raise HeadspanError(f"the tensor {named(name)} does not belong to the model")


class Layers:
    """Adds layers to a graph.

    int8: linear maps are computed in 8-bit integers. Weights have a scale per output and inputs one
    per row, so that the result of a row depends on the row alone.
    """

    def __init__(self, graph: Graph, weights: Weights, *, int8: bool = False) -> None:
        self.graph = graph
        self.weights = weights
        self.int8 = int8
        self._rounded: dict[str, tuple[str, str, str]] = {}

    def matrix(self, x: str, name: str, parts: Sequence[Matrix]) -> str:
        """X times the matrices, side by side; x is (…, inputs), a matrix (outputs, inputs)."""
        g = self.graph
        if not self.int8:
            whole = np.concatenate([part.unpacked() for part in parts])
            return g.add("MatMul", x, g.constant(name, whole.T))
        rounded_parts = [part.rounded() for part in parts]
        whole = np.concatenate([part.numbers for part in rounded_parts])
        scale = np.concatenate([part.scale for part in rounded_parts if part.scale is not None])
        small = g.constant(f"{name}.int8", whole.T)
        scales = g.constant(f"{name}.scale", scale[:, 0])
        rounded, step, leading = self._rounded_rows(x, whole.shape[1])
        sums = g.cast(g.add("MatMulInteger", rounded, small, g.scalar(_MIDDLE, "uint8")), "float32")
        scaled = g.add("Mul", g.add("Mul", sums, step), scales)
        return g.add("Reshape", scaled, g.add("Concat", leading, g.numbers(len(whole)), axis=0))

    def _rounded_rows(self, x: str, inputs: int) -> tuple[str, str, str]:
        """The rows of x in 8 bits, their steps (rows, 1), and the leading axes of x; made once."""
        if x not in self._rounded:
            g = self.graph
            rows = g.add("Reshape", x, g.numbers(-1, inputs))
            highest = g.add("ReduceMax", g.add("Abs", rows), g.numbers(1), keepdims=0)
            step = g.add("Mul", g.add("Max", highest, g.scalar(1e-12)), g.scalar(1 / 127))
            middles = g.add("Expand", g.scalar(_MIDDLE, "uint8"), g.add("Shape", step))
            self._rounded[x] = (
                g.add("QuantizeLinear", rows, step, middles, axis=0),
                g.add("Unsqueeze", step, g.numbers(1)),
                g.add("Shape", x, end=-1),
            )
        return self._rounded[x]

    def linear(self, x: str, name: str, inputs: int, outputs: int, *, bias: bool = True) -> str:
        """nn.Linear."""
        weight = self.weights.take_matrix(f"{name}.weight", outputs, inputs)
        y = self.matrix(x, f"{name}.weight", [weight])
        if not bias:
            return y
        added = self.graph.constant(f"{name}.bias", self.weights.take(f"{name}.bias", outputs))
        return self.graph.add("Add", y, added)

    def projection(self, x: str, name: str, inputs: int, outputs: int) -> str:
        """A linear map and LeakyReLU."""
        return self.leaky(self.linear(x, f"{name}.linear", inputs, outputs))

    def leaky(self, x: str) -> str:
        """LeakyReLU."""
        return self.graph.add("LeakyRelu", x, alpha=SLOPE)

    def embedding(self, numbers: str, name: str, rows: int, size: int) -> str:
        """nn.Embedding."""
        g, name = self.graph, f"{name}.weight"
        table, scale = self.weights.take_matrix(name, rows, size)
        found = g.add("Gather", g.constant(name, table), numbers)
        if scale is None:
            return found
        scales = g.add("Gather", g.constant(f"{name}.scale", scale), numbers)
        return g.add("Mul", g.cast(found, "float32"), scales)

    def norm(self, x: str, name: str, size: int, eps: float) -> str:
        """nn.LayerNorm."""
        g = self.graph
        parts = (f"{name}.{part}" for part in ("weight", "bias"))
        constants = [g.constant(part, self.weights.take(part, size)) for part in parts]
        return g.add("LayerNormalization", x, *constants, axis=-1, epsilon=eps)

    def convolution(self, x: str, name: str, inputs: int, outputs: int, width: int) -> str:
        """nn.Conv1d over the last axis, whose length stays."""
        g = self.graph
        weight = self.weights.take(f"{name}.weight", outputs, inputs, width)
        bias = self.weights.take(f"{name}.bias", outputs)
        constants = g.constant(f"{name}.weight", weight), g.constant(f"{name}.bias", bias)
        return g.add("Conv", x, *constants, pads=[width // 2, width // 2])

    def bilstm(self, x: str, lengths: str, ahead: str, back: str, inputs: int, size: int) -> str:
        """Two nn.LSTM, the second of which reads backwards: (B, N, inputs) to (B, N, 2·size).

        lengths: (B,). ONNX has the gates in another order than torch.
        """
        g = self.graph

        def both(kind: str, *shape: int) -> Array:
            parts = (self.weights.take(f"{way}.{kind}_l0", *shape) for way in (ahead, back))
            gates = (np.split(part, 4) for part in parts)
            return np.stack([np.concatenate([i, o, f, c]) for i, f, c, o in gates])

        biases = [both(kind, 4 * size) for kind in ("bias_ih", "bias_hh")]
        outputs = g.add(
            "LSTM",
            g.add("Transpose", x, perm=[1, 0, 2]),
            g.constant(f"{ahead}.inputs", both("weight_ih", 4 * size, inputs)),
            g.constant(f"{ahead}.states", both("weight_hh", 4 * size, size)),
            g.constant(f"{ahead}.biases", np.concatenate(biases, 1)),
            g.cast(lengths, "int32"),
            direction="bidirectional",
            hidden_size=size,
        )  # (N, 2, B, size)
        sentences_first = g.add("Transpose", outputs, perm=[2, 0, 1, 3])
        return g.add("Reshape", sentences_first, g.numbers(0, 0, 2 * size))

    def with_one(self, x: str) -> str:
        """[x; 1] along the last of three axes."""
        g = self.graph
        return g.add("Pad", x, g.numbers(0, 0, 0, 0, 0, 1), g.scalar(1.0))

    def cut(self, x: str, axis: int, start: int, stop: int) -> str:
        """x[start:stop] along an axis."""
        g = self.graph
        return g.add("Slice", x, g.numbers(start), g.numbers(stop), g.numbers(axis))

    def masked(self, x: str, present: str) -> str:
        """x, but the lowest number where it is not present."""
        return self.graph.add("Where", present, x, self.graph.scalar(_LOWEST))

    def joined(self, parts: list[str]) -> str:
        """The parts side by side, along the last axis."""
        return parts[0] if len(parts) == 1 else self.graph.add("Concat", *parts, axis=-1)
