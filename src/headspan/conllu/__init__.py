"""Read and write CoNLL-U and CoNLL-X: streaming, lossless, with errors that name the line.

    for sentence in conllu.read("train.conllu.gz"):
        for token in sentence:
            print(token.text, token.deprel, token.head)
    conllu.write(sentences, "out.conllu")

Reading holds one sentence in memory at a time; writing what was read gives the same bytes. A
CoNLL-X file (the usual format of PTB and CTB) gives the same Sentence objects: CPOSTAG is `upos`,
POSTAG is `xpos`, and PHEAD and PDEPREL, if filled, go to MISC as `PHEAD=…|PDEPREL=…`.
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
    SurfaceToken,
)
from headspan.conllu.token import Token
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
    "SurfaceToken",
    "Token",
    "format_of_name",
    "looks_like_conll",
    "parse",
    "read",
    "to_text",
    "write",
]
