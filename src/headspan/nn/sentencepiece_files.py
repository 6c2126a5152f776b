"""The tokenizer of an encoder that comes as a file of sentencepiece, without the library.

mT5, DeBERTa-v3 and Marian are published so. The file is a message of protocol buffers: pieces with
their scores, and a table that normalizes characters.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from headspan.plumbing.errors import HeadspanError, naming
from headspan.plumbing.files import unreadable

FILES = ("spiece.model", "spm.model", "source.spm")
"""The names of such files: of T5 and mT5, of DeBERTa-v3, of Marian."""
VOCABULARY = "vocab.json"
"""The numbers of Marian's pieces; those of the others are their places in the file."""
_NORMAL, _UNKNOWN = 1, 2  # types of pieces
_UNIGRAM = 1
_NEVER = -1e6  # the score of a piece that no text is to be cut into
_NAMES = {
    "start": ("[CLS]", "<s>"),
    "end": ("[SEP]", "</s>"),
    "pad": ("[PAD]", "<pad>"),
    "mask": ("[MASK]", "<mask>"),
}
"""What special pieces are called."""


@dataclass(frozen=True)
class SentencePieces:
    """The content of a file: pieces with scores, the place of the unknown one, normalization."""

    pieces: tuple[tuple[str, float], ...]
    unknown: int
    table: bytes

    @classmethod
    def read(cls, path: Path) -> SentencePieces:
        """Read a file. Raises HeadspanError, naming it, if it is not a Unigram model."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise unreadable(path, error) from error
        with naming(str(path)):
            try:
                return cls._parsed(data)
            except (IndexError, UnicodeDecodeError, struct.error, TypeError) as error:
                raise HeadspanError(f"is not a model of sentencepiece: {error}") from error

    @classmethod
    def _parsed(cls, data: bytes) -> SentencePieces:
        pieces: list[tuple[str, float]] = []
        unknown, kind, table = -1, _UNIGRAM, b""
        for number, value in _fields(data):
            if number == 1:
                piece: dict[int, Any] = dict(_fields(value))
                if piece.get(3, _NORMAL) == _UNKNOWN:
                    unknown = len(pieces)
                usual = piece.get(3, _NORMAL) == _NORMAL
                name, score = piece.get(1), piece.get(2, 0.0)
                if not isinstance(name, bytes) or not isinstance(score, float):
                    raise TypeError("a piece has no name, or a score that is not a number")
                pieces.append((name.decode(), score if usual else _NEVER))
            elif number == 2:
                kind = dict(_fields(value)).get(3, _UNIGRAM)
            elif number == 3:
                table = dict(_fields(value)).get(2, b"")
                if not isinstance(table, bytes):
                    raise TypeError("its normalization is not a table")
        if kind != _UNIGRAM:
            raise HeadspanError("is a model of another kind than Unigram, the only one known here")
        if unknown < 0:
            raise HeadspanError("has no unknown piece; expected one")
        return cls(tuple(pieces), unknown, table)

    def renumbered(self, numbers: Mapping[str, int]) -> SentencePieces:
        """The pieces of another vocabulary, by its numbers, with the scores of these."""
        good = isinstance(numbers, dict) and all(type(k) is int for k in numbers.values())
        if not good:
            raise HeadspanError(f"{VOCABULARY} is not a table of numbers")
        scores = dict(self.pieces)
        names = {number: name for name, number in numbers.items()}
        unknown = numbers.get(self.pieces[self.unknown][0], -1)
        if sorted(names) != list(range(len(names))) or unknown < 0:
            raise HeadspanError(f"{VOCABULARY} does not number the pieces from 0, each once")
        return SentencePieces(
            tuple((names[k], scores.get(names[k], _NEVER)) for k in range(len(names))),
            unknown,
            self.table,
        )

    def tokenizer(self) -> Tokenizer:
        """The same as a fast tokenizer."""
        tokenizer = Tokenizer(models.Unigram(list(self.pieces), self.unknown))
        steps: list[Any] = [normalizers.Precompiled(self.table)] if self.table else []
        steps.append(normalizers.Replace(Regex(" {2,}"), " "))
        tokenizer.normalizer = normalizers.Sequence(steps)
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        return tokenizer

    def special_numbers(self, *, known: int, window: int) -> dict[str, int]:
        """The special numbers that `SubwordTokenizer` takes.

        known: how many subwords the encoder has; DeBERTa's mask comes after the file's pieces.
        T5 and Marian have no piece for the start, but know padding as the start of an answer.
        """
        numbers = {name: number for number, (name, _) in enumerate(self.pieces)}
        if "[CLS]" in numbers and len(self.pieces) < known:
            numbers.setdefault("[MASK]", len(self.pieces))
        pad = _first(numbers, _NAMES["pad"], self.unknown)
        return {
            "start": _first(numbers, _NAMES["start"], pad),
            "end": _first(numbers, _NAMES["end"], pad),
            "unknown": self.unknown,
            "mask": _first(numbers, _NAMES["mask"], self.unknown),
            "pad": pad,
            "window": window,
        }


def _first(numbers: Mapping[str, int], names: Sequence[str], otherwise: int) -> int:
    return next((numbers[name] for name in names if name in numbers), otherwise)


def read_tokenizer(folder: Path, name: str) -> SentencePieces:
    """The pieces of a file in a folder, with Marian's numbers if it is Marian's."""
    pieces = SentencePieces.read(folder / name)
    if name != "source.spm":
        return pieces
    path = folder / VOCABULARY
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError) as error:
        raise unreadable(path, error) from error
    with naming(str(folder)):
        return pieces.renumbered(numbers)


def _fields(data: Any) -> Iterator[tuple[int, Any]]:
    """The fields of a message: their numbers, and bytes, whole numbers or floats."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(data, place)
            yield number, value
        elif kind == 2:
            size, place = _varint(data, place)
            if place + size > len(data):
                raise IndexError("it is cut off")
            yield number, data[place : place + size]
            place += size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            yield number, struct.unpack_from("<d" if kind == 1 else "<f", data, place)[0]
            place += size
        else:
            raise IndexError(f"it has a field of the kind {kind}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits per byte, and the place after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise IndexError("it has a number of too many bytes")
