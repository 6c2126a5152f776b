"""A model folder in which one file is another: it loads and parses, or is refused.

The first byte says what the others are: the content of a file; of the weights the header alone; the
weights as a whole; or pairs of a place in the weights' numbers and of bits that are turned there.
"""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headspan.model.folder import CARD, CHECKSUMS, FILES, WEIGHTS
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError

from .golden import check_tree, write_whole_model

WORDS = (
    b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b"[]", b"{}", b'""',
    b"[[[[", b'{"a":', b'"F16"', b'"F32"', b'"I64"', b'"BF16"', b'"U8"', b'"shape":[', b"../",
    b'"model_type": "roberta"', b"/etc/passwd", b'"\\ud800"', b'"\\n"', b"1000000000000",
)  # fmt: skip
_NAMES = [name for name in FILES if name not in (CARD, CHECKSUMS)]


def _made() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="headspan-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_whole_model(folder / "model")
    (folder / "model" / CHECKSUMS).unlink()  # they would refuse every change
    return folder / "model"


_COPY = _made()
_ORIGINAL = {name: (_COPY / name).read_bytes() for name in _NAMES}


_HEADER = 8 + int.from_bytes(_ORIGINAL[WEIGHTS][:8], "little")
_WHOLE, _TURNED = len(_NAMES), len(_NAMES) + 1


def seeds() -> Iterator[bytes]:
    for number, name in enumerate(_NAMES):
        content = _ORIGINAL[name]
        yield bytes([number]) + (content[:_HEADER] if name == WEIGHTS else content)
        yield bytes([number])
    header = b'{"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}}'
    for whole in (
        b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x02os\x94\x8c\x06system\x94\x93\x94.",  # a pickle
        (1 << 60).to_bytes(8, "little") + b"{}",
        len(header).to_bytes(8, "little") + header + b"\0\0\0\0",
    ):
        yield bytes([_WHOLE]) + whole
    yield from (bytes([_TURNED]) + b"\0\1\x80", bytes([_TURNED]) + b"\x12\x34\x7f\xa0\0\xff")


def check(data: bytes) -> None:
    name, content = _file(data)
    (_COPY / name).write_bytes(content)
    try:
        for parse in Parser.load(_COPY)("the dog sees a cat ."):
            check_tree(parse)
            assert all(parse.lemmas)
    except HeadspanError as error:
        assert len(str(error)) < 2000
    finally:
        (_COPY / name).write_bytes(_ORIGINAL[name])


def _file(data: bytes) -> tuple[str, bytes]:
    number, rest = (data or b"\0")[0] % (_TURNED + 1), data[1:]
    weights = _ORIGINAL[WEIGHTS]
    if number == _WHOLE:
        return WEIGHTS, rest
    if number == _TURNED:
        turned = bytearray(weights)
        for high, low, bits in zip(rest[::3], rest[1::3], rest[2::3], strict=False):
            turned[_HEADER + (high << 8 | low) % (len(weights) - _HEADER)] ^= bits
        return WEIGHTS, bytes(turned)
    if _NAMES[number] == WEIGHTS:
        return WEIGHTS, rest + weights[_HEADER:]
    return _NAMES[number], rest
