"""The style of drawings: one table of roles, for style sheets and for renderers without CSS."""

from __future__ import annotations

from typing import NamedTuple

FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"

PALETTE = {  # light, dark
    "paper": ("#ffffff", "#14181d"),
    "ink": ("#1b232c", "#e6eaef"),
    "quiet": ("#6a7683", "#93a0ae"),
    "faint": ("#c9d0d7", "#3b444e"),
    "arc": ("#51708f", "#8fb0d0"),
    "label": ("#334a61", "#b9cde0"),
    "root": ("#1b232c", "#e6eaef"),
    "crossing": ("#8250b8", "#c3a1ec"),
    "first": ("#b3420e", "#f59a62"),
    "other": ("#0b6e6e", "#5cc8c4"),
    "sure0": ("#c2330f", "#ff8a66"),
    "sure1": ("#a85a00", "#f2ab4a"),
    "sure2": ("#746612", "#cfc06a"),
    "sure3": ("#4d7d8c", "#8fbccb"),
    "sure4": ("#2f5f8f", "#86b3e0"),
    "depth0": ("#2a5db0", "#86aef2"),
    "depth1": ("#0f7b6c", "#57c7b4"),
    "depth2": ("#9a5b00", "#e0ab55"),
    "depth3": ("#8a3f8f", "#d695dc"),
    "depth4": ("#b23a48", "#f0909b"),
    "tint0": ("#f3f6fc", "#19222f"),
    "tint1": ("#f0f8f6", "#17262a"),
    "tint2": ("#fcf7ee", "#272319"),
    "tint3": ("#faf3fa", "#271f2b"),
    "tint4": ("#fcf3f4", "#2a1d22"),
}


class Style(NamedTuple):
    """The style of a role. Colours are names in PALETTE; None means not drawn."""

    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0
    dash: tuple[float, ...] = ()
    size: float = 0.0
    bold: bool = False


_LINE = 1.3
SURE = 5
"""The number of confidence levels with their own colours."""
DEPTHS = 5
"""The number of colours for levels of headed spans; deeper levels reuse them."""

_ARCS = ["arc", "crossing", "first", "other", *(f"sure{k}" for k in range(SURE))]
_DASHED = {"other": (5.0, 3.0)}

STYLES = {
    "paper": Style(fill="paper"),
    "form": Style(fill="ink", size=16),
    "tag": Style(fill="quiet", size=10.5),
    "token": Style(fill="quiet", size=12),
    "brace": Style(stroke="faint", width=1.2),
    "note": Style(fill="quiet", size=11),
    "fencepost": Style(fill="quiet", size=10),
    **{f"line {arc}": Style(stroke=arc, width=_LINE, dash=_DASHED.get(arc, ())) for arc in _ARCS},
    **{f"tip {arc}": Style(fill=arc) for arc in _ARCS},
    **{f"label {arc}": Style(fill="label" if arc == "arc" else arc, size=11.5) for arc in _ARCS},
    **{
        f"box {broken}depth{k}": Style(f"tint{k}", f"depth{k}", 1.2, dash)
        for k in range(DEPTHS)
        for broken, dash in (("", ()), ("broken ", (4.0, 3.0)))
    },
    **{
        f"join depth{k}": Style(stroke=f"depth{k}", width=1.2, dash=(1.5, 3.0))
        for k in range(DEPTHS)
    },
    **{f"stem depth{k}": Style(stroke=f"depth{k}", width=1.6) for k in range(DEPTHS)},
    **{f"head depth{k}": Style(fill=f"depth{k}", size=16, bold=True) for k in range(DEPTHS)},
}


def step(confidence: float) -> int:
    """Return the level of a confidence: 0 below one half, the last from 99%."""
    return sum(confidence >= bound for bound in (0.5, 0.75, 0.9, 0.99))


def stylesheet() -> str:
    """Return the CSS of all drawings: light, or dark if the reader prefers it.

    `data-theme="light"` or `"dark"` on a drawing or an element around it takes precedence, and so
    do the themes of notebooks. A renderer without CSS variables ignores all of it and keeps the
    light colours.
    """
    light, dark = (
        ";".join(f"--hs-{name}:{colours[k]}" for name, colours in PALETTE.items()) for k in (0, 1)
    )
    rules = [
        f".headspan{{{light}}}",
        f"@media (prefers-color-scheme:dark){{.headspan{{{dark}}}}}",
        f"{_themed('light')}{{{light}}}",
        f"{_themed('dark')}{{{dark}}}",
        ".headspan text{unicode-bidi:plaintext}",
        ".headspan-scroll{overflow-x:auto}",
        ".headspan-scroll .headspan{max-width:none}",
    ]
    for role, style in STYLES.items():
        rules.append(f".headspan .{role.replace(' ', '.')}{{{_declarations(style)}}}")
    inside = "\n".join(rules)
    return f"@supports (fill:var(--a)){{\n{inside}\n}}\n"


def _themed(theme: str) -> str:
    """Return the selector of drawings with this theme, or inside an element with this theme."""
    notebook = f"[data-jp-theme-light={'true' if theme == 'light' else 'false'}]"
    named = f"[data-theme={theme}]"
    return f".headspan{named},:is({named},{notebook},.vscode-{theme}) .headspan:not([data-theme])"


def _declarations(style: Style) -> str:
    fill = f"fill:{f'var(--hs-{style.fill})' if style.fill else 'none'}"
    return fill + (f";stroke:var(--hs-{style.stroke})" if style.stroke else "")
