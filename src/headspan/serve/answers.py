"""From requests to jobs, and from parses to answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from headspan import conllu
from headspan.conllu import Sentence
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError
from headspan.render import arcs_svg, spans_svg
from headspan.render.drawable import Drawable
from headspan.serve.batcher import ParseJob
from headspan.serve.constraint_schema import read_constraints
from headspan.serve.request_limits import Limits, Refusal, RefusalError
from headspan.serve.schemas import ParseRequest
from headspan.serve.work import Portion, guessed, segmented, within


def make_job(request: ParseRequest, parser: Parser, limits: Limits) -> ParseJob:
    """Turn a request into work for the batcher; raises RefusalError.

    Sentences are checked at once; those of a raw text, when it has been segmented.
    """
    options = ParseOptions(request.confidence, request.best, request.retag)
    projective = parser.network.structure.projective
    constraints = read_constraints(request.constraints, limits, projective=projective)
    count = partial(
        within, limits=limits, cost=parser.cost, options=options, constraints=constraints
    )
    if request.text is not None:
        portions = segmented(parser, request.text, limits, lines=request.lines)
        words = min(guessed(request.text, options), limits.words)
        return ParseJob(count(portions), words, options, constraints, parser)
    if request.words is not None:
        sentences: Iterable[Sentence] = map(Sentence.from_words, request.words)
    else:
        sentences = conllu.parse(request.conllu or "")
    try:
        checked = list(count(Portion([(sentence, 0)]) for sentence in sentences))
    except HeadspanError as error:
        raise RefusalError(Refusal.UNUSABLE, f"conllu: {error}") from None
    words = sum(words for portion in checked for _, words in portion.sentences)
    return ParseJob(checked, words, options, constraints, parser)


def make_answer(request: ParseRequest, parses: list[Parse], limits: Limits) -> bytes:
    """Make the body of an answer; raises RefusalError."""
    try:
        return _answer(request, parses, limits)
    except HeadspanError as error:  # something that cannot be written
        raise RefusalError(Refusal.UNUSABLE, str(error)) from None


def _answer(request: ParseRequest, parses: list[Parse], limits: Limits) -> bytes:
    for constraints in request.constraints:
        _check_number("constraints", constraints.sentence, parses)
    if request.format == "conllu":
        return conllu.to_text(
            parse.with_confidences() if request.confidence else parse for parse in parses
        ).encode()
    sentences = [parse.as_json() for parse in parses]
    if request.draw is not None:
        _check_number("draw", request.draw, parses)
        drawn = parses[request.draw - 1]
        if len(drawn) * (1 + len(drawn.alternatives)) > limits.drawn:
            detail = (
                f"draw: the trees have more than {limits.drawn:,} words, the limit for drawings"
            )
            raise RefusalError(Refusal.TOO_LARGE, detail)
        _add_drawings(sentences[request.draw - 1], drawn, request)
    # one by one, since a call of dumps stops all other threads until it is done
    written = (json.dumps(one, ensure_ascii=False, allow_nan=False) for one in sentences)
    return f'{{"sentences": [{", ".join(written)}]}}'.encode()


def _check_number(name: str, number: int, parses: list[Parse]) -> None:
    if number > len(parses):
        raise RefusalError(
            Refusal.UNUSABLE,
            f"{name}: there is no sentence {number}; the request has {len(parses)}",
        )


def _add_drawings(answer: dict[str, Any], parse: Parse, request: ParseRequest) -> None:
    """Add what a page needs to show a sentence; its other trees are compared with this one."""
    shown = parse.plain()
    answer |= _drawn(parse, shown, None, request)
    for tree, ranked in zip(parse.alternatives, answer.get("best", ()), strict=True):
        sentence = parse.with_parse(tree.heads, tree.deprels)
        same = (tree.heads, tree.deprels) == (shown.heads, shown.deprels)
        ranked |= _drawn(sentence, sentence, None if same else shown, request)


def _drawn(
    drawable: Drawable, sentence: Sentence, other: Sentence | None, request: ParseRequest
) -> dict[str, Any]:
    arcs = arcs_svg(
        drawable, other=other, names=("this tree", "the best tree"),
        styled=False, width=request.width, compact=request.compact,
    )  # fmt: skip
    spans = spans_svg(drawable, styled=False, width=request.width)
    return {"conllu": conllu.to_text([sentence]), "drawing": {"arcs": arcs, "spans": spans}}
