"""Many drawings as one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from headspan.render.shapes import Drawing
from headspan.render.style import PALETTE, stylesheet
from headspan.render.svg import scrolling, to_svg
from headspan.render.widths import visible

_PAGE = """\
:root{{color-scheme:light dark}}
body{{margin:2rem;font:0.8rem system-ui,sans-serif;color:{ink[0]};background:{paper[0]}}}
figure{{margin:0 0 2rem}}
figcaption{{color:{quiet[0]}}}
@media (prefers-color-scheme:dark){{
body{{color:{ink[1]};background:{paper[1]}}}
figcaption{{color:{quiet[1]}}}
}}
""".format_map(PALETTE)


def html_page(drawings: Iterable[tuple[str, Drawing]], *, title: str) -> Iterator[str]:
    """Yield the parts of a page of captions and scrolling drawings, without scripts."""
    yield '<!DOCTYPE html>\n<html lang="und">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width">\n'
    yield f"<title>{escape(visible(title))}</title>\n"
    yield f"<style>\n{_PAGE}{stylesheet()}</style>\n</head>\n<body>\n"
    for caption, drawing in drawings:
        yield f"<figure>\n<figcaption>{escape(visible(caption))}</figcaption>\n"
        yield scrolling(to_svg(drawing, styled=False))
        yield "</figure>\n"
    yield "</body>\n</html>\n"
