"""Error analysis as in the paper's figure 4, and the sentences on which two systems differ."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from headspan.conllu import Sentence
from headspan.experiments import plots
from headspan.experiments.measures import (
    BARS,
    FIGURE_4,
    System,
    gaps,
    read_systems,
    series,
    write_gaps,
    write_series,
)
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.files import open_output
from headspan.render import draw_tree
from headspan.render.raster import check_matplotlib
from headspan.render.widths import columns
from headspan.scoring import Bins, Punct
from headspan.tree import TreeError

_PLOT = ("csv", *plots.KINDS)


def analyse(
    gold: str,
    systems: Sequence[str],
    folder: Path,
    *,
    names: Sequence[str] = (),
    punct: Punct = "keep",
    bins: Mapping[str, Bins] | None = None,
    samples: int = 1000,
    most: int = 20,
) -> list[Path]:
    """Write plots (PNG, SVG), their data (CSV) and the sentences on which two systems differ most.

    systems: one or more parses of the gold treebank's own words.
    names: the systems' names in the plots; by default those of their files, or of their folders if
        all files have the same name. Parses with the same name are seeds of one system and are
        counted together; the sentences that differ are those of the first seeds.
    bins: the lower ends of bins for some of the four plots; by default the paper's.
    most: the number of sentences to draw.
    """
    check_matplotlib("drawing plots")
    bins = _checked(bins or {})
    names = _named(systems, names)
    scored = read_systems(gold, systems, names, punct=punct)
    folder.mkdir(parents=True, exist_ok=True)
    panels = {}
    for by, measure in FIGURE_4.items():
        panels[by] = {
            s.name: series(s, by, measure, bins=bins.get(by), samples=samples) for s in scored
        }
        write_series(folder / f"{by}.csv", panels[by])
        plots.draw_lines({by: panels[by]}, FIGURE_4, folder / by)
    plots.draw_lines(panels, FIGURE_4, folder / "figure4")
    written = {f"{by}.{kind}" for by in FIGURE_4 for kind in _PLOT}
    written |= {f"figure4.{kind}" for kind in plots.KINDS}
    of_two = {f"{by}.{kind}" for by in BARS for kind in _PLOT}
    of_two |= {f"differences.{kind}" for kind in ("md", "html")}
    if len(scored) > 1:
        _compare(scored[0], scored[1], folder, samples=samples, most=most)
        written |= of_two
    else:  # files of an earlier analysis of two systems would be taken for this one's
        for name in of_two:
            (folder / name).unlink(missing_ok=True)
    return sorted(folder / name for name in written)


def _compare(first: System, second: System, folder: Path, *, samples: int, most: int) -> None:
    """Write the gaps between two systems, and the sentences on which they differ most."""
    for by, measure in BARS.items():
        rows = gaps(first, second, by, measure, samples=samples)
        write_gaps(folder / f"{by}.csv", by, rows)
        plots.draw_bars(rows, by, (first.name, second.name), folder / by)
    sentences = differing(first, second)[:most]
    names = [
        s.name if len(s.seeds) == 1 else f"{s.name} (first of {len(s.seeds)} seeds)"
        for s in (first, second)
    ]
    for kind, text in (
        ("md", as_markdown(sentences, names)),
        ("html", as_html(sentences, names)),
    ):
        with open_output(folder / f"differences.{kind}") as stream:
            stream.write(text.encode())


def _checked(bins: Mapping[str, Bins]) -> Mapping[str, Bins]:
    for by, ends in bins.items():
        if by not in FIGURE_4:
            raise HeadspanError(f"bins for {by!r}; expected {', '.join(FIGURE_4)}")
        least = 0 if by == "root_distance" else 1
        # a lower start would include words without a number, a higher one would leave words out
        if not ends or ends[0] != least or any(a >= b for a, b in pairwise(ends)):
            numbers = ", ".join(map(str, ends))
            raise HeadspanError(f"bins of {by} are {numbers}; expected rising numbers from {least}")
    return bins


def _named(systems: Sequence[str], names: Sequence[str]) -> list[str]:
    if not systems:
        raise HeadspanError("there is no system; expected one or more parses of the treebank")
    if names and len(names) != len(systems):
        raise HeadspanError(f"{len(names)} names for {len(systems)} systems; expected one each")
    if not all(names):
        raise HeadspanError(f"names are {','.join(names)!r}; expected no empty name")
    result = list(names) or [Path(path).name.split(".")[0] for path in systems]
    if not names and len(set(result)) < len(result):  # the test.conllu.xz of several runs
        result = [Path(path).absolute().parent.name for path in systems]
    if not names and len(set(result)) < len(result):
        raise HeadspanError(f"systems are called {', '.join(result)}; name them with --names")
    if len(set(result)) > plots.MOST:
        raise HeadspanError(f"{len(set(result))} systems; expected at most {plots.MOST} in a plot")
    parses = Counter(
        (name, Path(path).resolve()) for name, path in zip(result, systems, strict=True)
    )
    for (name, path), count in parses.items():
        if count > 1:
            raise HeadspanError(f"{path}: occurs {count} times for {name}; expected other seeds")
    return result


@dataclass(frozen=True)
class DifferingSentence:
    """A sentence on which two systems differ, and the words that each has right."""

    number: int
    """Its number in the treebank, from 1."""
    gold: Sentence
    first: Sentence
    second: Sentence
    first_right: tuple[bool, ...]
    second_right: tuple[bool, ...]
    counts: tuple[bool, ...]
    """Whether each word is scored; punctuation may be left out."""

    @property
    def words(self) -> int:
        """The number of words that one has right and the other has wrong."""
        both = zip(self.first_right, self.second_right, self.counts, strict=True)
        return sum(counts and a != b for a, b, counts in both)


def differing(first: System, second: System) -> list[DifferingSentence]:
    """The sentences on which the first seeds of two systems differ, most differing words first."""
    pairs = zip(first.seeds[0].sentences, second.seeds[0].sentences, strict=True)
    sentences = [
        DifferingSentence(
            number,
            a.gold.sentences[0],
            a.system.sentences[0],
            b.system.sentences[0],
            tuple(a.both_right),
            tuple(b.both_right),
            tuple(a.gold_counts),
        )
        for number, (a, b) in enumerate(pairs, 1)
    ]
    return sorted((d for d in sentences if d.words), key=lambda d: (-d.words, d.number))


def as_markdown(differences: Sequence[DifferingSentence], names: Sequence[str]) -> str:
    """The sentences with both trees side by side, in Markdown."""
    parts = [f"# Where {names[0]} and {names[1]} differ most\n\n{_LEGEND}\n"]
    for d in differences:
        drawing = "\n".join(_side_by_side(d, names))
        fence = "`" * (3 if "```" not in drawing else 12)
        parts.append(f"## {_heading(d)}\n\n{_tally(d, names)}\n\n{fence}text\n{drawing}\n{fence}\n")
    return "\n".join(parts)


def as_html(differences: Sequence[DifferingSentence], names: Sequence[str]) -> str:
    """The sentences with both trees side by side, as a page that needs no other file."""
    what = html.escape(f"Where {names[0]} and {names[1]} differ most")
    parts = [
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{what}</title>\n'
        "<style>body{font:1rem/1.4 system-ui,sans-serif;margin:2rem}"
        "pre{font:.85rem/1.25 monospace;overflow-x:auto}</style>\n"
        f"<h1>{what}</h1>\n<p>{html.escape(_LEGEND)}</p>"
    ]
    for d in differences:
        drawing = html.escape("\n".join(_side_by_side(d, names)))
        parts.append(
            f"<h2>{html.escape(_heading(d))}</h2>\n<p>{html.escape(_tally(d, names))}</p>\n"
            f"<pre>{drawing}</pre>"
        )
    return "\n".join(parts) + "\n</html>\n"


_LEGEND = "✗ marks a wrong head or relation; the gold arc is at the end of the line."


def _heading(d: DifferingSentence) -> str:
    name = f" ({d.gold.sent_id})" if d.gold.sent_id else ""
    return f"Sentence {d.number}{name}: {d.words} word{'s' * (d.words > 1)} right in one only"


def _tally(d: DifferingSentence, names: Sequence[str]) -> str:
    total = sum(d.counts)
    tallies = [
        f"{name} has {sum(r and c for r, c in zip(right, d.counts, strict=True))} of {total} right"
        for name, right in zip(names, (d.first_right, d.second_right), strict=False)
    ]
    return ", ".join(tallies) + "."


def _side_by_side(d: DifferingSentence, names: Sequence[str]) -> list[str]:
    left = _column(d.first, d.first_right, d.counts)
    right = _column(d.second, d.second_right, d.counts)
    widths = [
        max(map(columns, [*column, name]))
        for column, name in zip((left, right), names, strict=False)
    ]
    lines = [f"{_wide(names[0], widths[0])}   {names[1]}"]
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        wrong = d.counts[k] and not (d.first_right[k] and d.second_right[k])
        gold = _gold(d.gold, k) if wrong else ""
        lines.append(f"{_wide(a, widths[0])}   {_wide(b, widths[1])}   {gold}".rstrip())
    return lines


def _wide(text: str, width: int) -> str:
    """Pad a text to a width in terminal columns."""
    return text + " " * (width - columns(text))


def _column(sentence: Sentence, right: Sequence[bool], counts: Sequence[bool]) -> list[str]:
    try:
        lines = [f"{d.branches}{d.form}{d.blanks}{d.relation}" for d in draw_tree(sentence)]
    except TreeError:  # more than one root cannot be drawn, but the heads can be listed
        rows = zip(sentence.forms, sentence.heads, sentence.deprels, strict=True)
        lines = [f"{form} ← {head} {relation}" for form, head, relation in rows]
    return [
        f"{'✗' if counted and not fine else ' '} {line}"
        for line, fine, counted in zip(lines, right, counts, strict=True)
    ]


def _gold(sentence: Sentence, k: int) -> str:
    head = sentence.heads[k]
    of = f"{head} {sentence.forms[head - 1]}" if head else "root"
    return f"gold: {sentence.deprels[k]} → {of}"
