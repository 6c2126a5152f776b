"""From requests to jobs, and from parses to answers."""

from __future__ import annotations

import json
from typing import Any

from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.render import arcs_svg, spans_svg
from headspan.render.drawable import Drawable
from headspan.serve.batcher import Job
from headspan.serve.constraint_schema import read_constraints
from headspan.serve.request_limits import Limits, RefusalError, within
from headspan.serve.schemas import ParseRequest

_LETTERS = 4  # of a text's word, to guess how many words it has


def make_job(asked: ParseRequest, parser: Parser, limits: Limits) -> Job:
    """What a request asks for, as work for the batcher; raises RefusalError.

    Sentences are checked at once, those of a raw text when they have been found.
    """
    wanted = ParseOptions(asked.confidence, asked.best, asked.retag)
    constraints = read_constraints(asked.constraints, limits)
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
    try:
        return _answer(asked, parses, limits)
    except HeadspanError as error:  # what cannot be written
        raise RefusalError(422, str(error)) from None


def _answer(asked: ParseRequest, parses: list[Parse], limits: Limits) -> bytes:
    for some in asked.constraints:
        _check_number("constraints", some.sentence, parses)
    if asked.format == "conllu":
        return conllu.to_text(
            parse.with_confidences() if asked.confidence else parse for parse in parses
        ).encode()
    sentences = [parse.as_json() for parse in parses]
    if asked.draw is not None:
        _check_number("draw", asked.draw, parses)
        drawn = parses[asked.draw - 1]
        if len(drawn) * (1 + len(drawn.alternatives)) > limits.drawn:
            detail = (
                f"draw: the trees have more than {limits.drawn:,} words, the limit for drawings"
            )
            raise RefusalError(413, detail)
        _add_drawings(sentences[asked.draw - 1], drawn)
    return json.dumps({"sentences": sentences}, ensure_ascii=False, allow_nan=False).encode()


def _check_number(name: str, number: int, parses: list[Parse]) -> None:
    if number > len(parses):
        raise RefusalError(
            422, f"{name}: there is no sentence {number}; the request has {len(parses)}"
        )


def _add_drawings(found: dict[str, Any], parse: Parse) -> None:
    """Add what a page needs to show a sentence; its other trees are compared with the best one."""
    found |= _shown(parse, parse.plain(), None)
    best: Sentence | None = None
    for tree, ranked in zip(parse.alternatives, found.get("best", ()), strict=True):
        sentence = parse.with_parse(tree.heads, tree.deprels)
        ranked |= _shown(sentence, sentence, best)
        best = best or sentence


def _shown(drawable: Drawable, sentence: Sentence, other: Sentence | None) -> dict[str, Any]:
    return {
        "conllu": conllu.to_text([sentence]),
        "drawing": {
            "arcs": arcs_svg(drawable, other=other, styled=False),
            "spans": spans_svg(drawable, styled=False),
        },
    }
