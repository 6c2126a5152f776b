"""A model folder in which one file is replaced: it loads and parses, or is refused.

The first byte says which file, the others are its content.
"""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headspan.errors import HeadspanError
from headspan.model_folder import FILES
from headspan.parser import Parser

from .golden import FOLDER, check_tree

WORDS = (
    b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b"[]", b"{}", b'""',
    b"[[[[", b'{"a":', b'"F16"', b'"F32"', b'"I64"', b'"BF16"', b'"U8"', b'"shape":[', b"../",
    b'"model_type": "roberta"', b"/etc/passwd", b'"\\ud800"', b'"\\n"', b"1000000000000",
)  # fmt: skip
_WORDS = ["the", "dog", "sees", "a", "Arrow", "."]


def _made() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="headspan-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(FOLDER, folder / "model")
    return folder / "model"


_COPY = _made()
_ORIGINAL = {name: (FOLDER / name).read_bytes() for name in FILES}


def seeds() -> Iterator[bytes]:
    for number, name in enumerate(FILES):
        yield bytes([number]) + _ORIGINAL[name]
        yield bytes([number])
    yield b"\1\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x02os\x94\x8c\x06system\x94\x93\x94."  # a pickle
    yield b"\1" + (1 << 60).to_bytes(8, "little") + b"{}"
    header = b'{"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}}'
    yield b"\1" + len(header).to_bytes(8, "little") + header + b"\0\0\0\0"


def check(data: bytes) -> None:
    name = FILES[(data or b"\0")[0] % len(FILES)]
    (_COPY / name).write_bytes(data[1:])
    try:
        parser = Parser.load(_COPY)
        (parse,) = parser.parse([_WORDS], confidence=True, k=2)
        check_tree(parse)
        for parse in parser("the dog sees a cat ."):
            check_tree(parse)
    except HeadspanError as error:
        assert len(str(error)) < 2000
    finally:
        (_COPY / name).write_bytes(_ORIGINAL[name])
