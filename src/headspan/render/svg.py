"""Write drawings as standalone SVG, without scripts or ids; light colours if there is no CSS."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from headspan.render.shapes import Box, Drawing, Group, Path, Shape, Text
from headspan.render.style import FONT, PALETTE, STYLES, stylesheet


def to_svg(drawing: Drawing, *, styled: bool = True) -> str:
    """Return the drawing as an `<svg>`. styled: False leaves the style sheet to the page."""
    return "\n".join(_lines(drawing, styled)) + "\n"


def scrolling(svg: str) -> str:
    """Put a drawing in an HTML box that scrolls if the page is narrower."""
    return f'<div class="headspan-scroll">\n{svg}</div>\n'


def _lines(drawing: Drawing, styled: bool) -> Iterator[str]:
    width, height = _number(drawing.width), _number(drawing.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="headspan" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}" '
        'text-anchor="middle">'
    )
    yield f"<title>{escape(drawing.title, quote=False)}</title>"
    yield f"<desc>{escape(drawing.description, quote=False)}</desc>"
    if styled:
        yield f"<style>\n{escape(stylesheet(), quote=False)}</style>"
    yield _shape(Box(0, 0, drawing.width, drawing.height, 6, "paper"))
    for part in drawing.parts:
        if not isinstance(part, Group):
            yield _shape(part)
            continue
        title = f"<title>{escape(part.title, quote=False)}</title>" if part.title else ""
        yield f'<g class="{part.kind}"{_data(part.data)}>{title}'
        yield from map(_shape, part.shapes)
        yield "</g>"
    yield "</svg>"


def _shape(shape: Shape) -> str:
    if isinstance(shape, Text):
        x, y = _number(shape.x), _number(shape.y)
        return f'<text x="{x}" y="{y}"{_look(shape.role)}>{escape(shape.text, quote=False)}</text>'
    if isinstance(shape, Path):
        steps = "".join(letter + " ".join(map(_number, numbers)) for letter, numbers in shape.steps)
        return f'<path d="{steps}"{_look(shape.role, shape.width)}/>'
    sides = zip(
        ("x", "y", "width", "height", "rx"),
        (shape.x, shape.y, shape.width, shape.height, shape.radius),
        strict=True,
    )
    numbers = "".join(f' {name}="{_number(value)}"' for name, value in sides)
    return f"<rect{numbers}{_look(shape.role)}/>"


def _look(role: str, width: float | None = None) -> str:
    """Return the class, and the attributes for renderers without a style sheet."""
    style = STYLES[role]
    attributes = {"class": role, "fill": PALETTE[style.fill][0] if style.fill else "none"}
    if style.stroke:
        attributes["stroke"] = PALETTE[style.stroke][0]
        attributes["stroke-width"] = _number(width or style.width)
    if style.dash:
        attributes["stroke-dasharray"] = " ".join(map(_number, style.dash))
    if style.size:
        attributes["font-size"] = _number(style.size)
    if style.bold:
        attributes["font-weight"] = "600"
    return "".join(f' {name}="{value}"' for name, value in attributes.items())


def _data(values: tuple[tuple[str, str], ...]) -> str:
    return "".join(f' data-{name}="{escape(value)}"' for name, value in values)


def _number(value: float) -> str:
    """Format a number with at most two decimals, as short as possible."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
