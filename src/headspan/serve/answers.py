"""From requests to jobs, and from parses to answers."""

from __future__ import annotations

import json
from typing import Any

from headspan import conllu
from headspan.conllu import Sentence
from headspan.errors import HeadspanError
from headspan.parse import Parse
from headspan.parser import Parser
from headspan.render import arcs_svg, spans_svg
from headspan.serve.batcher import Job, Wanted
from headspan.serve.constraints import read_constraints
from headspan.serve.limits import Limits, RefusalError, within
from headspan.serve.schemas import ParseRequest
from headspan.tree import NotProjective

_LETTERS = 4  # of a text's word, to guess how many words it has


def make_job(asked: ParseRequest, parser: Parser, limits: Limits) -> Job:
    """What a request asks for, as work for the batcher; raises RefusalError.

    Sentences are checked at once, those of a raw text when they have been found.
    """
    if asked.best > 1 and parser.config.model.structure == "joint":
        raise RefusalError(422, "best: the k best trees are not there for the structure joint")
    wanted = Wanted(asked.confidence, asked.best, asked.retag)
    constraints = read_constraints(asked.constraints)
    if asked.text is not None:
        words = min(len(asked.text) // _LETTERS + 1, limits.words)
        found = within(parser.sentences([asked.text], lines=asked.lines), limits)
        return Job(found, words, wanted, constraints)
    if asked.words is not None:
        given = within(map(Sentence.from_words, asked.words), limits)
    else:
        given = within(conllu.parse(asked.conllu or ""), limits)
    try:
        sentences = list(given)
    except HeadspanError as error:
        raise RefusalError(422, f"conllu: {error}") from None
    return Job(sentences, sum(map(len, sentences)), wanted, constraints)


def make_answer(asked: ParseRequest, parses: list[Parse], limits: Limits) -> bytes:
    """The body of an answer; raises RefusalError."""
    for some in asked.constraints:
        if some.sentence > len(parses):
            raise RefusalError(
                422,
                f"constraints: there is no sentence {some.sentence}, the request has {len(parses)}",
            )
    if asked.format == "conllu":
        return conllu.to_text(
            parse.with_confidences() if asked.confidence else parse for parse in parses
        ).encode()
    if asked.draw and sum(map(len, parses)) > limits.drawn:
        raise RefusalError(
            413, f"draw: the request has more than {limits.drawn:,} words, the limit for drawings"
        )
    sentences = [_with_drawings(parse) if asked.draw else parse.as_json() for parse in parses]
    return json.dumps({"sentences": sentences}, ensure_ascii=False, allow_nan=False).encode()


def _with_drawings(parse: Parse) -> dict[str, Any]:
    found = parse.as_json() | _shown(parse.plain())
    for tree, ranked in zip(parse.alternatives, found.get("best", ()), strict=True):
        ranked |= _shown(parse.with_parse(tree.heads, tree.deprels))
    return found


def _shown(sentence: Sentence) -> dict[str, Any]:
    try:
        spans = spans_svg(sentence, styled=False)
    except NotProjective:
        spans = None
    return {
        "conllu": conllu.to_text([sentence]),
        "drawing": {"arcs": arcs_svg(sentence, styled=False), "spans": spans},
    }
