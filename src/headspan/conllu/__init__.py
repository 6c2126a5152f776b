"""CoNLL-U and CoNLL-X: streaming, lossless, exact about what is wrong where.

    for sentence in conllu.read("train.conllu.gz"):
        ...
    conllu.write(sentences, "out.conllu")

Reading holds one sentence at a time; writing what was read gives the same bytes. A CoNLL-X file
(PTB and CTB come that way) becomes the same Sentence: CPOSTAG is `upos`, POSTAG is `xpos`, and
PHEAD and PDEPREL, where they are filled, go to MISC as `PHEAD=…|PDEPREL=…`.
"""

from headspan.conllu.blocks import format_of_name
from headspan.conllu.conllu_error import ConlluError
from headspan.conllu.reader import Reader, parse, read
from headspan.conllu.recognition import looks_like_conll
from headspan.conllu.sentence import (
    NO_HEAD,
    EmptyNode,
    Format,
    Layout,
    MultiwordToken,
    Sentence,
    Token,
)
from headspan.conllu.writer import to_text, write

__all__ = [
    "NO_HEAD",
    "ConlluError",
    "EmptyNode",
    "Format",
    "Layout",
    "MultiwordToken",
    "Reader",
    "Sentence",
    "Token",
    "format_of_name",
    "looks_like_conll",
    "parse",
    "read",
    "to_text",
    "write",
]
