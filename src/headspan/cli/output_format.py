"""The format of an output: from an option, or from the ending of its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from headspan.plumbing.errors import HeadspanError

_PICTURES = (".svg", ".html", ".png", ".pdf")
_ENDINGS = {
    ".conllu": ("conllu",),
    ".conllx": ("conllx",),
    ".conll": ("conllx", "conllu"),
    ".json": ("json",),
    ".jsonl": ("json",),
    ".parquet": ("parquet",),
    **dict.fromkeys(_PICTURES, ("a picture",)),
}
"""The formats that an ending may stand for, the likeliest first."""

_F = TypeVar("_F", bound=str)


def output_format(
    output: str, chosen: _F | None, formats: Sequence[_F], *, option: str = "--format"
) -> _F:
    """The chosen format, else that of the ending of the output, else the first of `formats`.

    Raises HeadspanError if the ending means another format than the chosen one, or one that is not
    written here; an ending that headspan does not know means none.
    """
    meant = _ENDINGS.get(Path(output.removesuffix(".gz").removesuffix(".xz")).suffix.lower())
    if meant is None:
        return chosen or formats[0]
    if chosen is not None:
        if chosen not in meant:
            raise HeadspanError(
                f"{option} {chosen} contradicts -o {output}, whose ending means {meant[0]}"
            )
        return chosen
    for format in formats:
        if format == meant[0]:
            return format
    written = ", ".join(formats)
    if meant == ("a picture",):
        written += " (`headspan draw` draws pictures)"
    raise HeadspanError(
        f"{output}: its ending means {meant[0]}, but the formats here are {written}"
    )
