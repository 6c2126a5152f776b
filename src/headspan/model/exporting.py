"""Models as ONNX files, for other programs and other languages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from headspan.model import folder as files
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import placed
from headspan.runtime.graph_network import GraphNetwork
from headspan.runtime.onnx_format import OPSET, Graph, Value
from headspan.text.boundary_graph import GraphTagger

_COPIED = (files.CONFIG, files.VOCABULARIES, files.TOKENIZER, files.SEGMENTER, files.LEMMAS)
_READ_ME = """\
# {name} as ONNX

Written by `headspan export`. All operators are those of ONNX itself, version {opset}, and there is
no external data. The JSON files are those of the model folder, which docs/models.md of headspan
describes; docs/inference.md says how trees follow from scores.

{graphs}
## Sizes

- B sentences of at most N words. In a grid of N+2 columns, column 0 is the start of a sentence of n
  words, and column n+1 its end.
- W windows of at most S subwords; P subwords that belong to words.
- Of words: U distinct ones of at most C characters; F families of a parent and C of its children.
- Of raw text: T texts of at most C characters and U units, that is, runs of letters and digits, and
  other characters one by one.
"""


_MEANINGS = {
    "lengths": "words of each sentence",
    "words": "numbers of words or units; 0 at the start of a sentence, at its end and behind it",
    "characters": "numbers of characters, row 0 of distinct words is not a word; 0 behind the end",
    "spelled": "the row of `characters` of each word; 0 elsewhere",
    "column": "numbers of the tags that the model reads; 0 elsewhere",
    "places": "0, 1, …, N+1",
    "subwords": "subwords of each window, with start and end",
    "mask": "0 for subwords, -1e9 for padding",
    "pieces": "positions, in `subwords` flattened, of all subwords that belong to a word",
    "owners": "the position of each one's word in the flattened grid B × (N+2)",
    "shares": "1 / the number of subwords of its word",
    "grid": "B, N+2",
    "tags": "the best tags, in the order of `tagger.columns`",
    "arcs": "scores of arcs from head h, 0 for the root, to word d",
    "left_ends": "scores of fencepost p as the left end of the headed span of word k",
    "right_ends": "scores of fencepost p as its right end",
    "parent": "vectors of words as parents; 0 is the root",
    "child": "vectors of words as children",
    "parents": "rows of `parent`",
    "children": "rows of `child`, some of each parent",
    "relations": "scores of relations, by the numbers of `labels`",
    "categories": "numbers of Unicode categories",
    "unit_of": "the unit of each character",
    "first": "the first character of each unit",
    "last": "the last character of each unit",
    "units": "units of each text",
    "tokens": "scores of: inside a token, its last character, the last of a multiword token",
    "sentences": "above 0 if a sentence ends with the unit",
}


def export(model: str | os.PathLike[str], output: str | os.PathLike[str], *, int8: bool) -> None:
    """Write a model's networks as ONNX, with everything else that its parses depend on.

    int8: linear maps in 8-bit integers. Raises HeadspanError if a model has no graph, or if the
    output exists.
    """
    folder, target = files.find_model(model), Path(output)
    if target.exists():
        raise HeadspanError(f"{target}: exists already; expected a new folder")
    parser = Parser.load(folder, engine="onnx", int8=False)
    graphs = {graph.name: graph for graph in _graphs(parser, int8=int8)}
    with placed(target) as new:
        new.mkdir(parents=True)
        for name, graph in graphs.items():
            (new / f"{name}.onnx").write_bytes(graph.to_bytes())
        for name in _COPIED:
            if files.has_file(folder, name):
                shutil.copyfile(files.file_in(folder, name), new / name)
        described = "".join(_described(graph) for graph in graphs.values())
        (new / files.CARD).write_text(
            _READ_ME.format(name=folder.name, opset=OPSET, graphs=described), encoding="utf-8"
        )


def _graphs(parser: Parser, *, int8: bool) -> list[Graph]:
    assert isinstance(parser.network, GraphNetwork)  # noqa: S101 (as it was loaded)
    found = [parser.network.graph_in(int8=int8), parser.network.relation_graph()]
    if parser.segmenter is not None and isinstance(parser.segmenter.finder.tagger, GraphTagger):
        found.append(parser.segmenter.finder.tagger.graph())
    return found


def _meaning(name: str) -> str:
    return _MEANINGS[name.partition(".")[0]]


def _described(graph: Graph) -> str:
    def table(values: list[Value]) -> str:
        rows = (
            f"| `{v.name}` | {v.kind} | {' × '.join(map(str, v.shape))} | {_meaning(v.name)} |\n"
            for v in values
        )
        return "| name | type | shape | meaning |\n| --- | --- | --- | --- |\n" + "".join(rows)

    inputs, outputs = table(graph.inputs), table(graph.outputs)
    return f"## {graph.name}.onnx\n\nInputs:\n\n{inputs}\nOutputs:\n\n{outputs}\n"
