"""Read bytes as CoNLL-X: sentences survive a round trip through CoNLL-X and CoNLL-U."""

import io
from collections.abc import Iterator

from headspan import conllu
from headspan.plumbing.errors import HeadspanError

WORDS = (
    b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"  ", b"#", b"_", b"PHEAD=", b"|PDEPREL=", b"|",
    b"1 a _ N N _ 0 root _ _\n", b"1\ta\t_\tN\tN\t_\t0\troot\t0\troot\n",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    tabs = b"1\tthe\t_\tD\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tN\tNN\t_\t0\troot\t_\t_\n\n"
    yield from (tabs, tabs.replace(b"\t", b" "), tabs.replace(b"\n", b"\r\n"), tabs + tabs, b"")
    yield from (tabs.replace(b"_\t_\n", b"2\tdet\n"), b"# a comment\n" + tabs, b" " + tabs)
    yield tabs.replace(b"\t_\t_\n", b"\t_\tdet\n").replace(b"dog", b"hot dog")


def check(data: bytes) -> None:
    try:
        sentences = list(conllu.read(io.BytesIO(data), format="conllx"))
    except HeadspanError:
        return
    for format in ("conllx", "conllu"):
        out = io.BytesIO()
        conllu.write(sentences, out, format=format)
        again = conllu.read(io.BytesIO(out.getvalue()), format=format)
        assert [_columns(s) for s in again if len(s)] == [_columns(s) for s in sentences if len(s)]


def _columns(s: conllu.Sentence) -> tuple[tuple[object, ...], ...]:
    return s.forms, s.lemmas, s.upos, s.xpos, s.feats, s.heads, s.deprels, s.deps, s.misc
