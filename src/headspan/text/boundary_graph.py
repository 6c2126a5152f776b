"""The boundary tagger without torch: the network of `boundary_tagger.py` as a graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from headspan.runtime.graph_layers import Layers, Weights
from headspan.runtime.onnx_format import Graph
from headspan.runtime.packing import Array, names, unpacked
from headspan.runtime.session import Session
from headspan.text.characters import CATEGORIES
from headspan.text.encoded_text import CLASSES, CharacterBatch, SegmenterSizes


class GraphTagger:
    """A boundary tagger that runs without torch.

    stored: its weights, packed or not.
    """

    def __init__(
        self, characters: int, words: int, sizes: SegmenterSizes, stored: Mapping[str, Array]
    ) -> None:
        self._stored = stored
        self.graph = partial(tagger_graph, characters, words, sizes, stored)
        """The tagger as a graph."""
        self._session = Session(self.graph)

    def scores(self, batch: CharacterBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Scores of the classes of each character, and of a sentence end at each unit."""
        outputs = self._session.run(batch._asdict())
        return outputs["tokens"], outputs["sentences"]

    def tensors(self) -> dict[str, Array]:
        """Its weights by their names."""
        return {name: unpacked(self._stored, name) for name in names(self._stored)}


def tagger_graph(
    characters: int, words: int, sizes: SegmenterSizes, stored: Mapping[str, Array]
) -> Graph:
    """The graph of a tagger; raises HeadspanError if a tensor does not fit."""
    g, weights = Graph("segmenter"), Weights(stored)
    layers = Layers(g, weights)
    size, text, unit = sizes.convolution, ("T", "C"), ("T", "U")
    numbers = g.input("characters", "int64", *text)
    present = g.add("Greater", numbers, g.scalar(0, "int64"))
    present = g.cast(g.add("Unsqueeze", present, g.numbers(1)), "float32")
    categories = g.input("categories", "int64", *text)
    x = g.add(
        "Add",
        layers.embedding(numbers, "embedding", characters, sizes.characters),
        layers.embedding(categories, "category", len(CATEGORIES) + 1, sizes.characters),
    )
    x = g.add("Transpose", x, perm=[0, 2, 1])
    x = layers.convolution(x, "near", sizes.characters, size, sizes.width)
    x = g.add("Mul", g.add("Relu", x), present)
    wider = g.add("Relu", layers.convolution(x, "wider", size, size, sizes.width))
    x = g.add("Transpose", g.add("Add", x, g.add("Mul", wider, present)), perm=[0, 2, 1])

    def at(vectors: str, places: str) -> str:
        return g.add("GatherND", vectors, g.add("Unsqueeze", places, g.numbers(2)), batch_dims=1)

    unit_of = g.input("unit_of", "int64", *text)
    first, last = g.input("first", "int64", *unit), g.input("last", "int64", *unit)
    word = layers.embedding(g.input("words", "int64", *unit), "word", words, sizes.words)
    units = layers.joined([at(x, first), at(x, last), word])
    lengths = g.input("units", "int64", "T")
    units = layers.bilstm(units, lengths, "ahead", "back", 2 * size + sizes.words, sizes.lstm)
    from_units = layers.linear(units, "from_units", 2 * sizes.lstm, size)
    scores = g.add("Relu", g.add("Add", x, at(from_units, unit_of)))
    g.output(layers.linear(scores, "token", size, CLASSES), "tokens", "float32", *text, CLASSES)
    hidden = g.add("Relu", layers.linear(units, "hidden", 2 * sizes.lstm, size))
    sentences = g.add("Squeeze", layers.linear(hidden, "sentence", size, 1), g.numbers(2))
    g.output(sentences, "sentences", "float32", *unit)
    weights.check_all_used()
    return g
