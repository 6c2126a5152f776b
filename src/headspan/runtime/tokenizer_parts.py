"""The parts of a tokenizer.json that are accepted, and how much longer they can make a text.

The file may come from a stranger, and the library that reads it bounds nothing: three replacements
of `a` by a thousand of them ask for gigabytes. So every part must be of a type that is known here,
regular expressions must be among those of known tokenizers, and the growth of a text under the
whole chain of parts is bounded.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown

_MOST_PARTS = 20
_MOST_GROWTH = 10_000
_LONGEST_AFFIX = 16
_LONGEST_WORDPIECE = 1_000  # characters: its time grows with their third power

_NORMALIZERS = {
    "BertNormalizer": 3, "ByteLevel": 4, "Lowercase": 2, "NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18,
    "Nmt": 1, "Strip": 1, "StripAccents": 1,
}  # fmt: skip
"""Normalizers, and the most characters that each makes of one."""
_PRE_TOKENIZERS = {
    "BertPreTokenizer": 1, "ByteLevel": 5, "CharDelimiterSplit": 1, "Digits": 1, "FixedLength": 1,
    "Metaspace": 2, "Punctuation": 1, "UnicodeScripts": 1, "Whitespace": 1, "WhitespaceSplit": 1,
}  # fmt: skip
"""The same for pre-tokenizers, two of which may also put a character before a word."""
_MODELS = ("BPE", "Unigram", "WordLevel", "WordPiece")
_POST_PROCESSORS = ("BertProcessing", "ByteLevel", "RobertaProcessing", "TemplateProcessing")
_DECODERS = (
    "BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace", "Strip",
    "WordPiece",
)  # fmt: skip
_SEQUENCES = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
"""The places of a tokenizer that may hold a sequence, and the key under which it has its parts."""
_REGULAR_EXPRESSIONS = frozenset(
    {
        "\n",
        r"\n",
        " {2,}",
        r"\s+",
        r"\s{2,}|[\n\r\t]",
        r"[\n\r\t]",
        " +▁",
        "^▁+$",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    }
)
"""Those of sentencepiece's, Qwen's and Llama's tokenizers; none of them matches the empty text."""


def checked_growth(text: str) -> int:
    """The most characters that the tokenizer of a tokenizer.json makes of one.

    Raises HeadspanError if it has an unknown part, or one that may do too much.
    """
    try:
        table = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        raise HeadspanError(f"tokenizer.json is not JSON: {error}") from error
    if not isinstance(table, dict):
        raise HeadspanError(f"tokenizer.json is {shown(table)}; expected a table")
    _check_model(table.get("model"))
    for place, known in (("post_processor", _POST_PROCESSORS), ("decoder", _DECODERS)):
        for part in _parts(table, place):
            _check_type(part, place, known)
            if part["type"] == "Replace":
                _growth_of_replace(part, place)
    growth = 1
    for place, growth_of in (
        ("normalizer", _growth_of_normalizer),
        ("pre_tokenizer", _growth_of_pre_tokenizer),
    ):
        for part in _parts(table, place):
            growth *= growth_of(part, place)
    if growth > _MOST_GROWTH:
        raise HeadspanError(
            f"the parts of tokenizer.json may make a text {shown(growth)} times as long; expected "
            f"at most {_MOST_GROWTH:,}"
        )
    return growth


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table; tokenizers may read the first of two equal keys where Python reads the last."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key occurs twice")
    return table


def _parts(table: dict[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """The parts in a place of the tokenizer, those of sequences one by one."""
    waiting, count = [table.get(place)], 0
    while waiting:
        part = waiting.pop(0)
        if part is None and not count:
            return
        count += 1
        if count > _MOST_PARTS:
            raise _refused(place, f"has more than {_MOST_PARTS} parts")
        if not isinstance(part, dict):
            raise _refused(place, f"is {shown(part)}; expected a table")
        if part.get("type") == "Sequence":
            inner = part.get(_SEQUENCES[place])
            if not isinstance(inner, list):
                raise _refused(place, f"is a sequence of {shown(inner)}; expected a list")
            waiting = [*inner, *waiting]
        else:
            yield part


def _check_type(part: dict[str, Any], place: str, known: Any) -> None:
    """A part without a type is refused, too: tokenizers would guess one."""
    if not isinstance(part.get("type"), str) or part["type"] not in known:
        raise _refused(
            place, f"has the type {shown(part.get('type'))}; expected one of {', '.join(known)}"
        )


def _check_model(model: Any) -> None:
    if not isinstance(model, dict):
        raise _refused("model", f"is {shown(model)}; expected a table")
    _check_type(model, "model", _MODELS)
    longest = model.get("max_input_chars_per_word", 0)
    if type(longest) is not int or longest > _LONGEST_WORDPIECE:
        raise _refused(
            "model", f"takes words of {shown(longest)} characters; expected at most 1,000"
        )
    if model.get("dropout"):
        raise _refused("model", "drops merges at random")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if len(_string(model.get(name) or "", "model")) > _LONGEST_AFFIX:
            raise _refused("model", f"has a {name} of more than {_LONGEST_AFFIX} characters")


def _growth_of_normalizer(part: dict[str, Any], place: str) -> int:
    special: dict[Any, Callable[[dict[str, Any], str], int]] = {
        "Replace": _growth_of_replace,
        "Prepend": lambda part, place: 1 + len(_string(part.get("prepend"), place)),
        "Precompiled": _growth_of_precompiled,
    }
    _check_type(part, place, (*_NORMALIZERS, *special))
    name = part["type"]
    return special[name](part, place) if name in special else _NORMALIZERS[name]


def _growth_of_pre_tokenizer(part: dict[str, Any], place: str) -> int:
    _check_type(part, place, (*_PRE_TOKENIZERS, "Split"))
    if part["type"] == "Split":
        _check_pattern(part.get("pattern"), place)
        return 1
    return _PRE_TOKENIZERS[part["type"]]


def _growth_of_replace(part: dict[str, Any], place: str) -> int:
    """At least 1: a replacement of a part of a text may leave the rest as it is."""
    shortest = _check_pattern(part.get("pattern"), place)
    return max(1, -(-len(_string(part.get("content"), place)) // shortest))


def _check_pattern(pattern: Any, place: str) -> int:
    """The least number of characters that a pattern matches."""
    if not isinstance(pattern, dict) or len(pattern) != 1:
        raise _refused(place, f"has the pattern {shown(pattern)}")
    ((kind, value),) = pattern.items()
    if kind == "String" and _string(value, place):
        return len(value)
    if kind == "Regex" and value in _REGULAR_EXPRESSIONS:
        return 1
    raise _refused(
        place,
        f"has the pattern {shown(pattern)}; expected a string that is not empty, or a regular "
        "expression of a known tokenizer",
    )


def _growth_of_precompiled(part: dict[str, Any], place: str) -> int:
    """A table of sentencepiece: the size of its trie, the trie, and what texts are replaced by."""
    try:
        data = base64.b64decode(_string(part.get("precompiled_charsmap"), place), validate=True)
        start = 4 + int.from_bytes(data[:4], "little")
        replacements = data[start:].decode()
    except ValueError as error:
        raise _refused(place, f"has a table that cannot be read: {error}") from error
    if start > len(data):
        raise _refused(place, "has a table that is cut off")
    return max(1, *map(len, replacements.split("\0")))


def _string(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _refused(place, f"has {shown(value)}; expected a string")
    return value


def _refused(place: str, why: str) -> HeadspanError:
    return HeadspanError(f"the {place} of tokenizer.json {why}")
