"""A parser's network that runs without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headspan.config import ModelConfig
from headspan.inference import Structure, Trees
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.stages import stage
from headspan.registries import STRUCTURES
from headspan.runtime.bert import BertSizes
from headspan.runtime.decoding import BEST_TREES, DecodingOptions, Output, decode
from headspan.runtime.inputs import Inputs, Subwords, VocabularySizes, check_subwords
from headspan.runtime.int8 import check_available
from headspan.runtime.network_graph import network_graph, piece_name, relation_graph
from headspan.runtime.onnx_format import Graph
from headspan.runtime.packing import Array, names, unpacked
from headspan.runtime.piece_scores import DenseScores
from headspan.runtime.session import Session
from headspan.runtime.tree_scores import TreeScores

_FAMILY = 4  # children whose relations to their parent are scored together
_FAMILIES = 256  # at a time
_HIDDEN = np.float32(-1e9)  # added to the scores of attention where there is padding


class GraphNetwork:
    """A network as graphs of ONNX; `nn.network.Network` is the same with torch.

    stored: its weights, packed or not.
    """

    def __init__(
        self,
        model: ModelConfig,
        sizes: VocabularySizes,
        encoder: BertSizes | None,
        stored: Mapping[str, Array],
        *,
        int8: bool = False,
    ) -> None:
        self.model = model
        self.sizes = sizes
        self._stored = stored
        self._encoder = encoder
        self._int8 = int8
        self.structure: Structure = STRUCTURES[model.structure]
        self._network = Session(self.graph)
        self._relations = Session(self.relation_graph)

    def graph(self) -> Graph:
        """The network up to the scores of pieces."""
        return self.graph_in(int8=self._int8)

    def graph_in(self, *, int8: bool) -> Graph:
        """The same with linear maps in 8-bit integers, or in float32."""
        return network_graph(self.model, self.sizes, self._encoder, self._stored, int8=int8)

    def relation_graph(self) -> Graph:
        """The scores of relations."""
        return relation_graph(self._stored)

    @property
    def parameters_count(self) -> int:
        """The number of its weights."""
        return sum(self._stored[name].size for name in names(self._stored))

    def tensors(self) -> dict[str, Array]:
        """Its weights by their names, in float32."""
        return {name: unpacked(self._stored, name) for name in names(self._stored)}

    def compute_in_int8(self, wanted: bool) -> None:
        """Compute linear maps in 8-bit integers, or in float32."""
        if wanted:
            check_available()
        if wanted != self._int8:
            self._int8 = wanted
            self._network = Session(self.graph)

    def parse(self, inputs: Inputs, options: DecodingOptions = BEST_TREES) -> Output:
        """The best trees with their relations, and tags."""
        return decode(self.encode(inputs), self.sizes, options)

    def encode(self, inputs: Inputs) -> EncodedArrays:
        """Compute what decoding needs."""
        with stage("encode"):
            outputs = self._network.run(self._numbers(inputs))
        parts = [DenseScores(outputs[piece_name(piece)]) for piece in self.structure.pieces]
        scores = TreeScores(
            self.structure, inputs.lengths, parts, minimum_risk=self.model.minimum_risk
        )
        tags = [outputs[f"tags.{k}"] for k in range(len(self.sizes.tags))]
        return EncodedArrays(self._relations, scores, tags, outputs["parent"], outputs["child"])

    def _numbers(self, inputs: Inputs) -> dict[str, NDArray[Any]]:
        """The inputs of the graph by their names."""
        e = self.model.embeddings
        found: dict[str, NDArray[Any] | None] = {"lengths": inputs.lengths}
        if e.words:
            found["words"] = inputs.words
        if e.characters:
            found |= {"characters": inputs.characters, "spelled": inputs.spelled}
        for k in range(len(self.sizes.columns)):
            found[f"column.{k}"] = None if inputs.tags is None else inputs.tags[k]
        if e.words or e.characters or self.sizes.columns:
            found["places"] = np.arange(inputs.width)
        if self._encoder is not None and inputs.subwords is not None:
            check_subwords(inputs.subwords, self._encoder.vocab_size)
            found |= _subword_numbers(inputs.subwords, len(inputs.lengths), inputs.width)
        present = {name: array for name, array in found.items() if array is not None}
        if len(present) < len(found) or (self._encoder is None) != (inputs.subwords is None):
            raise HeadspanError("the batch was prepared for another model")
        return present


class EncodedArrays:
    """The scores of a batch, and the vectors of its words as parents and as children."""

    def __init__(
        self,
        session: Session,
        scores: TreeScores,
        tags: list[NDArray[np.int64]],
        parents: Array,
        children: Array,
    ) -> None:
        self._session = session
        self.scores = scores
        self.tags = tags
        self._parents, self._children = parents, children

    def relations(self, rows: Sequence[int], trees: Trees) -> NDArray[np.float32]:
        """Scores of all relations for every arc of some trees, (arcs, R), tree by tree.

        Children of the same parent are scored together: a parent's part of the product is most of
        the work, and is made once for all of them.
        """
        tree, k = np.nonzero(trees.heads >= 0)
        b, parent = np.asarray(rows)[tree], trees.heads[tree, k]
        first, group, slot = _families(b * self._parents.shape[1] + parent)
        upper = self._parents[b[first], parent[first]]
        lower = np.zeros((len(first), _FAMILY, upper.shape[1]), np.float32)
        lower[group, slot] = self._children[b, k + 1]
        scores = [
            self._session.run(
                {
                    "parents": upper[start : start + _FAMILIES],
                    "children": lower[start : start + _FAMILIES],
                }
            )["relations"]
            for start in range(0, len(first), _FAMILIES)
        ]
        of_arcs: NDArray[np.float32] = np.concatenate(scores)[group, slot]
        return of_arcs


def _subword_numbers(subwords: Subwords, sentences: int, width: int) -> dict[str, NDArray[Any]]:
    present = np.arange(subwords.ids.shape[1]) < subwords.lengths[:, None]
    counts = np.bincount(subwords.owners, minlength=sentences * width)
    return {
        "subwords": subwords.ids,
        "mask": np.where(present, np.float32(0), _HIDDEN)[:, None, None],
        "pieces": subwords.pieces,
        "owners": subwords.owners,
        "shares": (1 / counts[subwords.owners]).astype(np.float32),
        "grid": np.array([sentences, width]),
    }


def _families(
    parents: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Arcs with the same parent in groups of at most _FAMILY.

    Gives an arc of every group, (groups,), and each arc's group and its place there, both (t,).
    """
    order = parents.argsort(kind="stable")
    together = parents[order]
    rank = np.arange(len(parents)) - np.searchsorted(together, together)
    new = rank % _FAMILY == 0
    group, slot = np.empty_like(order), np.empty_like(order)
    group[order], slot[order] = new.cumsum() - 1, rank % _FAMILY
    return order[new], group, slot
