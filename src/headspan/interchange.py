"""Sentences to and from what other libraries hold trees in.

    graph = interchange.to_networkx(sentence)
    frame = interchange.to_pandas(conllu.read("train.conllu"))

`to_X` makes what library X has, `from_X` makes a Sentence of it; a Parse is taken as the Sentence
that it is. `to_X` says what is lost. A library is imported when it is asked for.
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
"""The columns of a word but for its arc, in CoNLL-U and in Sentence."""
_NLTK = {"word": "forms", "lemma": "lemmas", "ctag": "upos", "tag": "xpos", "feats": "feats"}
_BESIDE = ("comments", "multiwords", "empty_nodes")
"""What a Sentence has beside its columns."""


def to_conllu(sentence: Sentence) -> TokenList:
    """The TokenList of the package `conllu`.

    It keeps comments that are `# key = value` or `# key`, and one value of each key, in comments as
    in FEATS and MISC.
    """
    (tokens,) = _library("conllu").parse(_text([sentence])) or [_library("conllu").TokenList()]
    return tokens


def from_conllu(tokens: TokenList) -> Sentence:
    """The sentence of a TokenList of the package `conllu`."""
    return _sentence(tokens.serialize())


def to_stanza(sentences: Iterable[Sentence]) -> Document:
    """A Stanza Document.

    Stanza numbers sentences without `# sent_id` from 0, puts FEATS, MISC and DEPS into an order of
    its own, and has no place for sentences without words.
    """
    text = _text(sentence for sentence in sentences if len(sentence))
    if not text:
        return _library("stanza").Document([])
    reader = _library("stanza.utils.conll").CoNLL
    return reader.conll2doc(input_str=text, ignore_gapping=False)  # which means empty nodes


def from_stanza(document: Document) -> list[Sentence]:
    """The sentences of a Stanza Document; words have heads only if it was parsed."""
    found = []
    for sentence in document.sentences:
        heads = [NO_HEAD if word.head is None else word.head for word in sentence.words]
        # where there are none, Stanza writes some that make a chain
        found.append(replace(_sentence(f"{sentence:C}"), heads=tuple(heads)))
    return found


def to_nltk(sentence: Sentence) -> DependencyGraph:
    """NLTK's DependencyGraph: UPOS is `ctag` and XPOS is `tag`.

    It has no place for comments, multiword tokens, empty nodes, DEPS and MISC.
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
    """The sentence of NLTK's DependencyGraph."""
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
    """A DiGraph of the words 1…n and the root 0, with edges from heads to dependents.

    An edge has its relation as `deprel`; a word has its other columns as `form`, `lemma` and so on,
    and the graph has `comments`, `multiwords` and `empty_nodes`. Only the relation of a word
    without a head is lost.
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
    """The sentence of a graph like those of `to_networkx`; a word needs no more than its `form`."""
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
    """A DataFrame with a row for every word, multiword token and empty node.

    Its columns are `sentence` (numbers from 1), those of CoNLL-U in small letters, and `comments`:
    all those of a sentence, in its first row. `id` is a string, such as 3, 3-4 or 3.1; `head` is a
    whole number, missing where there is none. Only sentences without words are lost.
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
    """The sentences of a DataFrame like those of `to_pandas`.

    Rows that follow one another and have the same `sentence` belong together; `id` and `form` are
    needed, other columns are not.
    """
    if missing := [name for name in ("sentence", "id", "form") if name not in frame]:
        raise HeadspanError(f"the DataFrame has no column {missing[0]!r}")
    cells = [_cells(frame, name) for name in (*_LINE, "comments")]
    found = []
    for number, rows in groupby(zip(frame["sentence"], *cells, strict=True), key=itemgetter(0)):
        lines: list[str] = []
        for _, *values, comments in rows:
            if comments not in ("", "_"):
                lines += comments.split("\n")
            lines.append("\t".join(values))
        try:
            found.append(_sentence("\n".join(lines)))
        except HeadspanError as error:
            raise HeadspanError(f"sentence {number} of the DataFrame: {error}") from error
    return found


def to_displacy(sentence: Sentence) -> dict[str, Any]:
    """What `displacy.render(…, style="dep", manual=True)` draws: words with UPOS, and arcs.

    It has no place for the root's relation, nor for anything else.
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
    """The sentence of what displaCy draws: a word without an arc to it is a root."""
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
    """The module of that name, from a library that is not always there."""
    with needed_for(f"interchange with {name.partition('.')[0]}", extra="interchange"):
        return import_module(name)


def _text(sentences: Iterable[Sentence]) -> str:
    """CoNLL-U with plain line ends, whatever the sentences' own files had."""
    return conllu.to_text(replace(sentence, layout=Layout()) for sentence in sentences)


def _sentence(text: str) -> Sentence:
    """The only sentence of a text in CoNLL-U, with plain line ends."""
    found = list(conllu.parse(text, format="conllu")) or [Sentence.from_words([])]
    if len(found) > 1:
        raise HeadspanError(f"there are {len(found)} sentences; expected one")
    return replace(found[0], layout=Layout())


def _numbered(nodes: Iterable[Any]) -> list[int]:
    """The numbers of words, in order. Raises HeadspanError unless they are 1…n."""
    found = set(nodes)
    numbers = list(range(1, len(found) + 1))
    if missing := set(numbers) - found:
        raise HeadspanError(f"there are {len(found)} words, and none of them is {min(missing)}")
    return numbers


def _cells(frame: pandas.DataFrame, name: str) -> list[str]:
    """A column of a DataFrame as CoNLL-U writes it; `_` where something is missing."""
    if name not in frame:
        return ["_"] * len(frame)
    column = frame[name].astype("Int64") if name == "head" else frame[name]
    missing = column.isna()
    return ["_" if gone else str(value) for value, gone in zip(column, missing, strict=True)]
