"""Convert sentences to and from the tree objects of other libraries.

    graph = interchange.to_networkx(sentence)
    frame = interchange.to_pandas(conllu.read("train.conllu"))

`to_X` makes the object of library X, and its docstring says what is lost; `from_X` makes a Sentence
again. A Parse is treated as the Sentence that it is. A library is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from headspan import conllu
from headspan.conllu import NO_HEAD, Layout, Sentence
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for

if TYPE_CHECKING:
    import networkx
    import pandas
    from conllu.models import TokenList
    from nltk.parse.dependencygraph import DependencyGraph
    from stanza.models.common.doc import Document

__all__ = [
    "from_conllu", "from_displacy", "from_networkx", "from_nltk", "from_pandas", "from_stanza",
    "to_conllu", "to_displacy", "to_networkx", "to_nltk", "to_pandas", "to_stanza",
]  # fmt: skip

_LINE = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_WORD = {
    "form": "forms", "lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats",
    "deps": "deps", "misc": "misc",
}  # fmt: skip
"""The columns of a word except those of its arc: their names in CoNLL-U and in Sentence."""
_NLTK = {"word": "forms", "lemma": "lemmas", "ctag": "upos", "tag": "xpos", "feats": "feats"}
_BESIDE = ("comments", "multiwords", "empty_nodes")
"""The fields of a Sentence that are not columns."""


def to_conllu(sentence: Sentence) -> TokenList:
    """Return a TokenList of the package `conllu`.

    It keeps only comments like `# key = value` or `# key`, and in comments, FEATS and MISC only one
    value per key.
    """
    (tokens,) = _library("conllu").parse(_text([sentence])) or [_library("conllu").TokenList()]
    return tokens


def from_conllu(tokens: TokenList) -> Sentence:
    """Return the sentence in a TokenList of the package `conllu`."""
    return _sentence(tokens.serialize())


def to_stanza(sentences: Iterable[Sentence]) -> Document:
    """Return a Stanza Document.

    Stanza numbers sentences without `# sent_id` from 0, sorts FEATS, MISC and DEPS in its own way,
    and cannot hold sentences without words.
    """
    text = _text(sentence for sentence in sentences if len(sentence))
    if not text:
        return _library("stanza").Document([])
    reader = _library("stanza.utils.conll").CoNLL
    return reader.conll2doc(input_str=text, ignore_gapping=False)  # keep empty nodes


def from_stanza(document: Document) -> list[Sentence]:
    """Return the sentences of a Stanza Document; words have heads only if it was parsed."""
    sentences = []
    for sentence in document.sentences:
        heads = [NO_HEAD if word.head is None else word.head for word in sentence.words]
        # if there are no heads, Stanza writes heads that form a chain
        sentences.append(replace(_sentence(f"{sentence:C}"), heads=tuple(heads)))
    return sentences


def to_nltk(sentence: Sentence) -> DependencyGraph:
    """Return an NLTK DependencyGraph: UPOS is `ctag` and XPOS is `tag`.

    It cannot hold comments, multiword tokens, empty nodes, DEPS and MISC.
    """
    graph = _library("nltk.parse.dependencygraph").DependencyGraph()
    for k, (head, relation) in enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1):
        columns = {name: getattr(sentence, column)[k - 1] for name, column in _NLTK.items()}
        graph.nodes[k].update(columns, address=k, rel=relation)
        if head != NO_HEAD:
            graph.nodes[k]["head"] = head
            graph.add_arc(head, k)
    if 0 in sentence.heads:
        graph.root = graph.nodes[sentence.heads.index(0) + 1]
    return graph


def from_nltk(graph: DependencyGraph) -> Sentence:
    """Return the sentence in an NLTK DependencyGraph."""
    nodes = {node["address"]: node for node in graph.nodes.values() if node["address"]}
    words = [nodes[k] for k in _numbered(nodes)]
    columns: dict[str, Any] = {
        column: [node[name] or "_" for node in words] for name, column in _NLTK.items()
    }
    return Sentence.from_words(**columns).with_parse(
        [NO_HEAD if node["head"] is None else node["head"] for node in words],
        [node["rel"] or "_" for node in words],
    )


def to_networkx(sentence: Sentence) -> networkx.DiGraph:
    """Return a DiGraph of the words 1…n and the root 0, with edges from heads to dependents.

    An edge has its relation as `deprel`, a word has its other columns as `form`, `lemma` and so on,
    and the graph has `comments`, `multiwords` and `empty_nodes`. Only the relations of words
    without a head are lost.
    """
    graph = _library("networkx").DiGraph(**{name: getattr(sentence, name) for name in _BESIDE})
    graph.add_node(0)
    for k in range(1, len(sentence) + 1):
        columns = {name: getattr(sentence, column)[k - 1] for name, column in _WORD.items()}
        graph.add_node(k, **columns)
    for k, (head, relation) in enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1):
        if head != NO_HEAD:
            graph.add_edge(head, k, deprel=relation)
    return graph


def from_networkx(graph: networkx.DiGraph) -> Sentence:
    """Return the sentence in a graph like those of `to_networkx`; a word only needs its `form`."""
    words = _numbered(node for node in graph if node != 0)
    heads, deprels = [NO_HEAD] * len(words), ["_"] * len(words)
    for head, k, relation in graph.edges(data="deprel", default="_"):
        if k == 0 or heads[k - 1] != NO_HEAD:
            raise HeadspanError(f"node {k} has the head {head}; expected {'one' if k else 'none'}")
        heads[k - 1], deprels[k - 1] = head, relation
    columns: dict[str, Any] = {
        column: tuple(graph.nodes[k].get(name, "_") for k in words)
        for name, column in _WORD.items()
    }
    beside: dict[str, Any] = {name: tuple(graph.graph.get(name, ())) for name in _BESIDE}
    bare = Sentence.from_words(columns["forms"], heads=heads, deprels=deprels)
    return replace(bare, **columns, **beside)


def to_pandas(sentences: Iterable[Sentence]) -> pandas.DataFrame:
    """Return a DataFrame with one row per word, multiword token and empty node.

    Its columns are `sentence` (numbers from 1), the columns of CoNLL-U in lower case, and
    `comments` (all comments of a sentence, in its first row). `id` is a string, such as 3, 3-4 or
    3.1; `head` is an integer, or missing. Only sentences without words are lost.
    """
    rows = []
    for number, sentence in enumerate(sentences, 1):
        comments = "\n".join(sentence.comments)
        for line in _text([sentence]).split("\n"):
            if line and not line.startswith("#"):
                rows.append((number, *line.split("\t"), comments))
                comments = ""
    library = _library("pandas")
    frame = library.DataFrame(rows, columns=["sentence", *_LINE, "comments"])
    is_word = frame["id"].str.isdecimal() if rows else []
    heads = zip(frame["head"], is_word, strict=True)
    frame["head"] = library.array(
        [int(head) if word and head != "_" else None for head, word in heads], dtype="Int64"
    )
    return frame


def from_pandas(frame: pandas.DataFrame) -> list[Sentence]:
    """Return the sentences in a DataFrame like those of `to_pandas`.

    Consecutive rows with the same `sentence` belong together. The columns `id` and `form` are
    required, the others are optional.
    """
    if missing := [name for name in ("sentence", "id", "form") if name not in frame]:
        raise HeadspanError(f"the DataFrame has no column {missing[0]!r}")
    cells = [_cells(frame, name) for name in (*_LINE, "comments")]
    sentences = []
    for number, rows in groupby(zip(frame["sentence"], *cells, strict=True), key=itemgetter(0)):
        lines: list[str] = []
        for _, *values, comments in rows:
            if comments not in ("", "_"):
                lines += comments.split("\n")
            lines.append("\t".join(values))
        try:
            sentences.append(_sentence("\n".join(lines)))
        except HeadspanError as error:
            raise HeadspanError(f"sentence {number} of the DataFrame: {error}") from error
    return sentences


def to_displacy(sentence: Sentence) -> dict[str, Any]:
    """Return the input of `displacy.render(…, style="dep", manual=True)`: words, UPOS and arcs.

    It cannot hold the root's relation or anything else.
    """
    arcs = [
        {
            "start": min(head, k) - 1,
            "end": max(head, k) - 1,
            "label": relation,
            "dir": "left" if k < head else "right",
        }
        for k, (head, relation) in enumerate(zip(sentence.heads, sentence.deprels, strict=True), 1)
        if head > 0
    ]
    tags = ["" if tag == "_" else tag for tag in sentence.upos]
    words = [{"text": form, "tag": tag} for form, tag in zip(sentence.forms, tags, strict=True)]
    return {"words": words, "arcs": arcs}


def from_displacy(drawing: Mapping[str, Any]) -> Sentence:
    """Return the sentence in displaCy's input; a word without a head becomes a root."""
    words = drawing["words"]
    heads, deprels = [0] * len(words), ["root"] * len(words)
    for arc in drawing["arcs"]:
        ends = arc["start"], arc["end"]
        child, head = ends if arc["dir"] == "left" else reversed(ends)
        heads[child], deprels[child] = head + 1, arc["label"]
    return Sentence.from_words(
        [word["text"] for word in words],
        upos=[word.get("tag") or "_" for word in words],
        heads=heads,
        deprels=deprels,
    )


def _library(name: str) -> Any:
    """Import a module of an optional library."""
    with needed_for(f"interchange with {name.partition('.')[0]}", extra="interchange"):
        return import_module(name)


def _text(sentences: Iterable[Sentence]) -> str:
    """Return the sentences as CoNLL-U with plain line ends, whatever their files had."""
    return conllu.to_text(replace(sentence, layout=Layout()) for sentence in sentences)


def _sentence(text: str) -> Sentence:
    """Return the only sentence of a text in CoNLL-U, with plain line ends."""
    sentences = list(conllu.parse(text, format="conllu")) or [Sentence.from_words([])]
    if len(sentences) > 1:
        raise HeadspanError(f"there are {len(sentences)} sentences; expected one")
    return replace(sentences[0], layout=Layout())


def _numbered(nodes: Iterable[Any]) -> list[int]:
    """Return the numbers of the words in order. Raises HeadspanError unless they are 1…n."""
    distinct = set(nodes)
    numbers = list(range(1, len(distinct) + 1))
    if missing := set(numbers) - distinct:
        raise HeadspanError(
            f"there are {len(numbers)} words, but no word {min(missing)}; expected the words 1…n"
        )
    return numbers


def _cells(frame: pandas.DataFrame, name: str) -> list[str]:
    """Return a column of a DataFrame as CoNLL-U writes it, with `_` for missing values."""
    if name not in frame:
        return ["_"] * len(frame)
    column = frame[name].astype("Int64") if name == "head" else frame[name]
    values = zip(column, column.isna(), strict=True)
    return ["_" if is_missing else str(value) for value, is_missing in values]
