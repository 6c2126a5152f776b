"""The plots of an error analysis. matplotlib is imported when the first is drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headspan.experiments.measures import Gap, Series
from headspan.plumbing.files import open_output
from headspan.render.raster import check_matplotlib
from headspan.scoring import BREAKDOWNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart, dark ones first; markers and
# strokes distinguish the systems in grey as well
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_MARKERS = "osD^vP"
_STROKES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_HEADROOM = 0.04  # the share of the data's height left free above and below
_NAME = 20  # characters of a system's name above bars
MOST = len(_COLOURS)
"""The largest number of systems in a plot."""
KINDS = ("png", "svg")
"""The file formats of each plot."""

_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "text.parse_math": False,  # a $ in a name is a $
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "headspan",  # equal figures give equal files
}


def draw_lines(
    panels: Mapping[str, Mapping[str, Series]], measures: Mapping[str, str], path: Path
) -> None:
    """Draw one panel, or four as in figure 4: one line per system, its interval as a band.

    panels: for each breakdown, the series of each system.
    """
    check_matplotlib("drawing plots")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        columns = 1 if len(panels) == 1 else 2
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(4.2 * columns, 3.1 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (by, systems) in zip(grid, panels.items(), strict=False):
            _lines(axes, by, systems, measures[by])
        labels = list(next(iter(panels.values())))
        handles = grid[0].get_lines()  # matplotlib would hide a name that begins with _
        columns = min(len(labels), 1 + columns)  # outside the plots, so that it covers nothing
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
        _save(figure, path)


def _lines(axes: Axes, by: str, systems: Mapping[str, Series], measure: str) -> None:
    names = list(next(iter(systems.values())))
    counted = [
        any(points[name].score.gold or points[name].score.system for points in systems.values())
        for name in names
    ]
    shown = [name for name, has_words in zip(names, counted, strict=True) if has_words]
    places = range(len(shown))
    lowest, highest = 100.0, 0.0
    for k, (system, points) in enumerate(systems.items()):
        values = [points[name].score.f1 for name in shown]
        low, high = ([getattr(points[name], end) for name in shown] for end in ("low", "high"))
        colour = _COLOURS[k]
        axes.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(
            places, values, label=system, color=colour, marker=_MARKERS[k], linestyle=_STROKES[k],
            markersize=4.5, linewidth=1.4, markerfacecolor="white" if k % 2 else colour,
        )  # fmt: skip
        lowest, highest = min(lowest, *low), max(highest, *high)
    room = max(_HEADROOM * (highest - lowest), 0.1)
    axes.set_ylim(max(-room, lowest - room), min(100.0 + room, highest + room))
    axes.set_xlim(-0.3, len(shown) - 0.7)
    axes.set_xticks(list(places), shown)
    axes.set_xlabel(BREAKDOWNS[by])
    axes.set_ylabel("UAS (%)" if by == "sentence_length" else "F1 (%)")


def draw_bars(
    gaps: Mapping[str, Gap], by: str, names: Sequence[str], path: Path, *, most: int = 30
) -> None:
    """Draw the differences in LAS between two systems, one bar per relation or tag."""
    check_matplotlib("drawing plots")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = list(gaps.items())[:most]
    places = list(range(len(rows)))
    differences = [gap.second - gap.first for _, gap in rows]
    # a bootstrap interval need not contain the figure itself, but an error bar cannot be negative
    arms = [
        [max(0.0, d - gap.low) for d, (_, gap) in zip(differences, rows, strict=True)],
        [max(0.0, gap.high - d) for d, (_, gap) in zip(differences, rows, strict=True)],
    ]
    with rc_context(_STYLE | {"axes.spines.left": False, "ytick.major.size": 0}):
        figure = Figure(figsize=(5.6, 1.1 + 0.19 * len(rows)), layout="constrained")
        axes = figure.subplots()
        colours = [_COLOURS[d >= 0] for d in differences]  # the colour of the better system's line
        axes.barh(
            places, differences, color=colours, height=0.72,
            xerr=arms, error_kw={"elinewidth": 0.8, "ecolor": "#444444", "capsize": 1.5},
        )  # fmt: skip
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(places, [f"{name}  ({gap.gold:,})" for name, gap in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("Difference in LAS (points), with 95% intervals")
        side: Any = {"transform": axes.transAxes, "va": "bottom", "fontsize": 9}
        axes.text(0, 1.01, f"← better with {_short(names[0])}", ha="left", **side)
        axes.text(1, 1.01, f"better with {_short(names[1])} →", ha="right", **side)
        axes.set_ylabel(f"{BREAKDOWNS[by]} (gold words)")
        _save(figure, path)


def _short(name: str) -> str:
    """Shorten a name so that two fit on one line."""
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _save(figure: Figure, path: Path) -> None:
    for kind in KINDS:
        data = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(data, format=kind, dpi=200, metadata=metadata)
        with open_output(path.with_suffix(f".{kind}")) as stream:
            stream.write(data.getvalue())
