"""Bytes as a TOML configuration: what is accepted is the same after writing it as a table."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headspan.config import Config, from_table, read_config, to_table
from headspan.plumbing.errors import HeadspanError

WORDS = (
    b"[model]", b"[training]", b"[data]", b"[model.encoder]", b"[model.embeddings]", b" = ", b"nan",
    b"inf", b"-1", b"1e999", b"9" * 400, b"9" * 5000, b"[", b"{", b"true", b'"span"', b"betas",
    b"epochs", b"columns", b"dropout", b"[[" , b"1979-05-27", b"\\u0000", b"'''",
)  # fmt: skip
_CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_FILE = Path(tempfile.gettempdir()) / f"headspan-fuzz-{os.getpid()}.toml"


def seeds() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(_CONFIGS.glob("*.toml")))
    yield from (b"", b"[training]\nbetas = [0.9, 0.9]\nlog = []\n", b"model.structure = 'arc'\n")


def check(data: bytes) -> None:
    try:
        _FILE.write_bytes(data)
        config = read_config(_FILE)
    except HeadspanError as error:
        assert len(str(error)) < 2000  # a message, not the file
        return
    finally:
        _FILE.unlink(missing_ok=True)
    assert from_table(Config, to_table(config), "again") == config
