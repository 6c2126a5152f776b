"""Annotating a treebank: a session over a file, in which the parser proposes and people decide.

    session = Session.open("text.conllu", parser, annotator="anna")
    session.do(SetHead(1, word=7, head=4))    # corrected, and the rest is parsed again
    session.do(ConfirmSentence(1))
    session.close()                           # text.annotated.conllu

Nothing here knows of a browser; `headspan.serve` puts a session on a page.
"""

from headspan.annotate.annotation import Session
from headspan.annotate.operations import (
    ChooseTree,
    ConfirmArc,
    ConfirmSentence,
    ConfirmSpan,
    JoinSentences,
    JoinToken,
    JoinWords,
    Operation,
    Reparse,
    SetColumn,
    SetHead,
    SetRelation,
    SplitSentence,
    SplitToken,
    SplitWord,
)

__all__ = [
    "ChooseTree",
    "ConfirmArc",
    "ConfirmSentence",
    "ConfirmSpan",
    "JoinSentences",
    "JoinToken",
    "JoinWords",
    "Operation",
    "Reparse",
    "Session",
    "SetColumn",
    "SetHead",
    "SetRelation",
    "SplitSentence",
    "SplitToken",
    "SplitWord",
]
