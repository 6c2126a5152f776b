"""A small curve of numbers that come one after the other, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH, _HEIGHT, _LEFT, _BELOW = 420.0, 110.0, 34.0, 24.0


def curve_svg(values: Sequence[float], *, title: str, window: int) -> str:
    """Draw the mean of the last `window` values at each of them.

    title: what the values are; plain text without markup.
    """
    means = [
        sum(values[max(0, k - window + 1) : k + 1]) / (k + 1 - max(0, k - window + 1))
        for k in range(len(values))
    ]
    top = max([*means, 1.0])
    step = (_WIDTH - _LEFT - 8) / max(1, len(means) - 1)
    points = " ".join(
        f"{_LEFT + k * step:.1f},{_HEIGHT - _BELOW - mean / top * (_HEIGHT - _BELOW - 22):.1f}"
        for k, mean in enumerate(means)
    )
    base = _HEIGHT - _BELOW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="headspan" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<text class="note" x="{_LEFT:g}" y="12" font-size="11">{title}</text>'
        f'<text class="note" x="2" y="26" font-size="11">{top:.1f}</text>'
        f'<text class="note" x="2" y="{base:g}" font-size="11">0</text>'
        f'<text class="note" x="{_WIDTH - 8:g}" y="{_HEIGHT - 8:g}" font-size="11" '
        f'text-anchor="end">{len(values)} sentences</text>'
        f'<path class="brace" d="M{_LEFT:g} 22V{base:g}H{_WIDTH - 8:g}" fill="none" '
        'stroke="currentColor" stroke-width="1"/>'
        f'<polyline class="line arc" points="{points}" fill="none" stroke="currentColor" '
        'stroke-width="1.8"/></svg>'
    )
