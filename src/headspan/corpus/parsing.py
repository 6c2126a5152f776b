"""From a chunk to its parses, and to the sentences that could not be parsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from headspan.conllu import ConlluError, Layout, Sentence
from headspan.conllu.blocks import Block, BlockParser
from headspan.conllu.places import token_range
from headspan.corpus.chunks import Chunk, ConllPart, Part, SkippedInput, TextPart, WordsPart
from headspan.model.parse_input import check_reading
from headspan.model.parse_result import Parse
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError
from headspan.text.assembly import shift_token_range, writable

if TYPE_CHECKING:
    from headspan.model.parser import Parser

_BATCH = 1024
"""Sentences that are parsed together, as many as the parser sorts by length."""


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """The options for reading text and for predictions, as for `headspan parse`."""

    lines: bool = False
    pretokenized: bool = False
    confidence: bool = False
    retag: bool = False
    int8: bool | None = None
    """As for `Parser.load`."""

    def __post_init__(self) -> None:
        check_reading(lines=self.lines, pretokenized=self.pretokenized)


@dataclass(slots=True)
class ParsedChunk:
    """The parses of a chunk, each with its document, and the input that has no parse."""

    sentences: list[tuple[str, Parse]] = field(default_factory=list)
    skipped: list[SkippedInput] = field(default_factory=list)


class _InputSentence(NamedTuple):
    """A sentence, and the part of the chunk that it comes from."""

    part: Part
    sentence: Sentence


def parse_chunk(parser: Parser, chunk: Chunk, options: CorpusOptions) -> ParsedChunk:
    """Parse a chunk; a sentence that raises any exception is skipped and recorded with the reason.

    Sentences without a sent_id are named by the chunk and their number in it.
    """
    parsed = ParsedChunk(skipped=list(chunk.skipped))
    sentences = [
        _named(sentence, f"{chunk.name}-{number}")
        for number, sentence in enumerate(_sentences(parser, chunk, options, parsed.skipped), 1)
    ]
    short: list[_InputSentence] = []
    for sentence in sentences:
        if (words := len(sentence.sentence)) > limits.LONGEST:
            why = f"the sentence has {words:,} words; at most {limits.LONGEST:,} are parsed"
            parsed.skipped.append(_skipped(sentence, why))
        else:
            short.append(sentence)
    for start in range(0, len(short), _BATCH):
        batch = short[start : start + _BATCH]
        for sentence, result in zip(batch, _parses(parser, batch, options), strict=True):
            if isinstance(result, Parse):
                parsed.sentences.append((sentence.part.document, result))
            else:
                parsed.skipped.append(_skipped(sentence, why_failed(result)))
    return parsed


def why_failed(error: Exception) -> str:
    """The message of an exception, in one line of bounded length."""
    message = " ".join(str(error).split())[:300]
    if isinstance(error, HeadspanError):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _parses(
    parser: Parser, sentences: Sequence[_InputSentence], options: CorpusOptions
) -> Sequence[Parse | Exception]:
    """Parse sentences together or, if that fails, one by one, with the error of those that fail."""
    requested = {"confidence": options.confidence, "retag": options.retag}
    try:
        return parser.parse([one.sentence for one in sentences], **requested)  # type: ignore[arg-type]
    except Exception as error:
        if len(sentences) == 1:
            return [error]
        return [result for one in sentences for result in _parses(parser, [one], options)]


def _sentences(
    parser: Parser, chunk: Chunk, options: CorpusOptions, skipped: list[SkippedInput]
) -> Iterator[_InputSentence]:
    """The sentences of a chunk, not parsed yet. Adds parts that cannot be read to `skipped`."""
    for part in chunk.parts:
        try:
            if isinstance(part, TextPart):
                sentences = _of_text(parser, part, options)
            elif isinstance(part, WordsPart):
                sentences = _of_words(part)
            else:
                sentences = _of_conll(part)
            for sentence in sentences:
                yield _InputSentence(part, sentence)
        except ConlluError as error:
            why = f"found {error.found}; expected {error.expected}"
            skipped.append(SkippedInput(why, part.file, error.line, part.document))
        except Exception as error:  # any failure concerns this part alone
            skipped.append(SkippedInput(why_failed(error), part.file, part.line, part.document))


def _of_text(parser: Parser, part: TextPart, options: CorpusOptions) -> Iterator[Sentence]:
    lines, pretokenized = options.lines, options.pretokenized
    sentences = parser.sentences([part.text], lines=lines, pretokenized=pretokenized)
    for number, sentence in enumerate(sentences):
        comments = [c for c in sentence.comments if not c.startswith("# sent_id")]
        if number == 0 and not part.begins_paragraph:
            comments = [c for c in comments if c != "# newpar"]
        if number == 0 and part.first:
            comments.insert(0, f"# newdoc id = {part.document}")
        yield _shifted(replace(sentence, comments=tuple(comments)), part.offset)


def _shifted(sentence: Sentence, offset: int) -> Sentence:
    """The sentence with token ranges that count from the start of the document."""
    if not offset:
        return sentence
    return replace(
        sentence,
        misc=tuple(shift_token_range(misc, offset) for misc in sentence.misc),
        multiwords=tuple(
            token._replace(columns=(*token.columns[:8], shift_token_range(token.misc, offset)))
            for token in sentence.multiwords
        ),
    )


def _of_words(part: WordsPart) -> Iterator[Sentence]:
    for number, forms in enumerate(part.sentences):
        words = [writable(" ".join(form.split())) for form in forms]
        comments = [f"# text = {' '.join(words)}"]
        if number == 0 and part.first:
            comments.insert(0, f"# newdoc id = {part.document}")
        yield Sentence.from_words(words, comments=comments)


def _of_conll(part: ConllPart) -> Iterator[Sentence]:
    lines = part.data.splitlines(keepends=True)
    block = Block(part.line, b"", lines, b"\n")
    yield replace(BlockParser(part.file, part.format).sentence(block), layout=Layout())


def _named(input_sentence: _InputSentence, name: str) -> _InputSentence:
    """The sentence with a sent_id, unless it has one from a treebank."""
    part, sentence = input_sentence
    if sentence.sent_id is not None or not len(sentence):
        return input_sentence
    at = 0
    while at < len(sentence.comments) and sentence.comments[at].startswith("# new"):
        at += 1
    comments = (*sentence.comments[:at], f"# sent_id = {name}", *sentence.comments[at:])
    return _InputSentence(part, replace(sentence, comments=comments))


def _skipped(input_sentence: _InputSentence, reason: str) -> SkippedInput:
    part, sentence = input_sentence
    line = part.line
    if isinstance(part, TextPart) and part.document == part.file:  # one document of many lines
        position = token_range(sentence.surface_tokens[0].misc)
        line += part.text.count("\n", 0, position[0] - part.offset) if position else 0
    return SkippedInput(reason, part.file, line, part.document, sentence.sent_id or "")
