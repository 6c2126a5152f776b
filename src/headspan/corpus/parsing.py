"""From a chunk to its parses, and to what could not be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from headspan.conllu import ConlluError, Layout, Sentence
from headspan.conllu.blocks import Block, BlockParser
from headspan.corpus.chunks import Chunk, Conll, Part, Problem, Text, Words
from headspan.model.parse_result import Parse
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.text.assembly import writable

if TYPE_CHECKING:
    from headspan.model.parser import Parser

_TOGETHER = 1024  # sentences that are parsed together, as many as the parser sorts by length
_RANGE = re.compile(r"(?<=TokenRange=)([0-9]+):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Options:
    """How text is read and what is predicted, as for `headspan parse`."""

    lines: bool = False
    pretokenized: bool = False
    confidence: bool = False
    retag: bool = False
    int8: bool = False


@dataclass(slots=True)
class Parsed:
    """The parses of a chunk, each with its document, and what is not among them."""

    sentences: list[tuple[str, Parse]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class _Found(NamedTuple):
    part: Part
    sentence: Sentence


def parse_chunk(parser: Parser, chunk: Chunk, options: Options) -> Parsed:
    """Parse what can be parsed; a sentence that raises, whatever it is, is recorded with why.

    Sentences that have no sent_id of their own are numbered within the chunk's name.
    """
    parsed = Parsed(problems=list(chunk.problems))
    found = [
        _named(one, f"{chunk.name}-{number}")
        for number, one in enumerate(_sentences(parser, chunk, options, parsed.problems), 1)
    ]
    good: list[_Found] = []
    for one in found:
        if (words := len(one.sentence)) > limits.LONGEST:
            why = f"the sentence has {words:,} words; at most {limits.LONGEST:,} are parsed"
            parsed.problems.append(_problem(one, why))
        else:
            good.append(one)
    for start in range(0, len(good), _TOGETHER):
        some = good[start : start + _TOGETHER]
        for one, result in zip(some, _parses(parser, some, options), strict=True):
            if isinstance(result, Parse):
                parsed.sentences.append((one.part.document, result))
            else:
                parsed.problems.append(_problem(one, why_failed(result)))
    return parsed


def why_failed(error: Exception) -> str:
    """An exception in one line that is not too long."""
    message = " ".join(str(error).split())[:300]
    if isinstance(error, HeadspanError):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _parses(
    parser: Parser, found: Sequence[_Found], options: Options
) -> Sequence[Parse | Exception]:
    """The parses; if that fails, each sentence alone, and the reason where that fails, too."""
    wanted = {"confidence": options.confidence, "retag": options.retag}
    try:
        return parser.parse([one.sentence for one in found], **wanted)  # type: ignore[arg-type]
    except Exception as error:
        if len(found) == 1:
            return [error]
        return [result for one in found for result in _parses(parser, [one], options)]


def _sentences(
    parser: Parser, chunk: Chunk, options: Options, problems: list[Problem]
) -> Iterator[_Found]:
    """The sentences of a chunk, not parsed yet; what goes wrong is added to the problems."""
    for part in chunk.parts:
        try:
            if isinstance(part, Text):
                found = _of_text(parser, part, options)
            elif isinstance(part, Words):
                found = _of_words(part)
            else:
                found = _of_conll(part)
            for sentence in found:
                yield _Found(part, sentence)
        except ConlluError as error:
            why = f"found {error.found}; expected {error.expected}"
            problems.append(Problem(why, part.file, error.line, part.document))
        except Exception as error:  # whatever it is, it is the matter of this part alone
            problems.append(Problem(why_failed(error), part.file, part.line, part.document))


def _of_text(parser: Parser, part: Text, options: Options) -> Iterator[Sentence]:
    found = parser.sentences([part.text], lines=options.lines, pretokenized=options.pretokenized)
    for number, sentence in enumerate(found):
        comments = [c for c in sentence.comments if not c.startswith("# sent_id")]
        if number == 0 and not part.begins:
            comments = [c for c in comments if c != "# newpar"]
        if number == 0 and part.first:
            comments.insert(0, f"# newdoc id = {part.document}")
        yield _moved(replace(sentence, comments=tuple(comments)), part.offset)


def _moved(sentence: Sentence, offset: int) -> Sentence:
    """The sentence with its places counted from the start of the document."""
    if not offset:
        return sentence

    def moved(misc: str) -> str:
        return _RANGE.sub(lambda m: f"{int(m[1]) + offset}:{int(m[2]) + offset}", misc)

    return replace(
        sentence,
        misc=tuple(map(moved, sentence.misc)),
        multiwords=tuple(
            token._replace(columns=(*token.columns[:8], moved(token.misc)))
            for token in sentence.multiwords
        ),
    )


def _of_words(part: Words) -> Iterator[Sentence]:
    for number, given in enumerate(part.sentences):
        words = [writable(" ".join(word.split())) for word in given]
        comments = [f"# text = {' '.join(words)}"]
        if number == 0 and part.first:
            comments.insert(0, f"# newdoc id = {part.document}")
        yield Sentence.from_words(words, comments=comments)


def _of_conll(part: Conll) -> Iterator[Sentence]:
    lines = part.data.splitlines(keepends=True)
    block = Block(part.line, b"", lines, b"\n")
    yield replace(BlockParser(part.file, part.format).sentence(block), layout=Layout())


def _named(found: _Found, name: str) -> _Found:
    """With a sent_id; one that a treebank gave stays."""
    sentence = found.sentence
    if sentence.sent_id is not None or not len(sentence):
        return found
    at = 0
    while at < len(sentence.comments) and sentence.comments[at].startswith("# new"):
        at += 1
    comments = (*sentence.comments[:at], f"# sent_id = {name}", *sentence.comments[at:])
    return _Found(found.part, replace(sentence, comments=comments))


def _problem(found: _Found, reason: str) -> Problem:
    part, sentence = found
    line = part.line
    if isinstance(part, Text) and part.document == part.file:  # one document, of many lines
        place = _RANGE.search(sentence.tokens[0].misc)
        line += part.text.count("\n", 0, int(place[1]) - part.offset) if place else 0
    return Problem(reason, part.file, line, part.document, sentence.sent_id or "")
