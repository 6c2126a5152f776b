"""Error analysis as in the paper's figure 4, and where two systems differ, sentence by sentence."""

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
    """Write plots (PNG, SVG), their data (CSV) and, of two systems, where they differ most.

    systems: one or more parses of the gold treebank's own words. names: what plots call them;
        default: the names of their files, or of their folders where all files have one name.
        Parses that are given one name are seeds of one system and are counted together; where two
        systems differ most is told of their first seeds.
    bins: the lower ends of bins for some of the four plots; default: the paper's.
    most: how many sentences are drawn.
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
    else:  # what an earlier analysis of two systems left here would be taken for this one's
        for name in of_two:
            (folder / name).unlink(missing_ok=True)
    return sorted(folder / name for name in written)


def _compare(first: System, second: System, folder: Path, *, samples: int, most: int) -> None:
    """What there is to say of two systems."""
    for by, measure in BARS.items():
        some = gaps(first, second, by, measure, samples=samples)
        write_gaps(folder / f"{by}.csv", by, some)
        plots.draw_bars(some, by, (first.name, second.name), folder / by)
    found = differing(first, second)[:most]
    names = [
        s.name if len(s.seeds) == 1 else f"{s.name} (first of {len(s.seeds)} seeds)"
        for s in (first, second)
    ]
    for kind, text in (("md", as_markdown(found, names)), ("html", as_html(found, names))):
        with open_output(folder / f"differences.{kind}") as stream:
            stream.write(text.encode())


def _checked(bins: Mapping[str, Bins]) -> Mapping[str, Bins]:
    for by, ends in bins.items():
        if by not in FIGURE_4:
            raise HeadspanError(f"bins for {by!r}; expected {', '.join(FIGURE_4)}")
        least = 0 if by == "root_distance" else 1
        # lower bins would take in what has no such number, higher ones leave words out
        if not ends or ends[0] != least or any(a >= b for a, b in pairwise(ends)):
            found = ", ".join(map(str, ends))
            raise HeadspanError(
                f"bins of {by} are {found}; expected rising numbers from {least} on"
            )
    return bins


def _named(systems: Sequence[str], names: Sequence[str]) -> list[str]:
    if not systems:
        raise HeadspanError("no system is given; expected one parse of the treebank or more")
    if names and len(names) != len(systems):
        raise HeadspanError(f"{len(names)} names for {len(systems)} systems; expected one for each")
    if not all(names):
        raise HeadspanError(f"names are {','.join(names)!r}; expected none of them empty")
    found = list(names) or [Path(path).name.split(".")[0] for path in systems]
    if not names and len(set(found)) < len(found):  # the test.conllu.xz of several runs
        found = [Path(path).absolute().parent.name for path in systems]
    if not names and len(set(found)) < len(found):
        raise HeadspanError(f"systems are called {', '.join(found)}; name them with --names")
    if len(set(found)) > plots.MOST:
        raise HeadspanError(f"{len(set(found))} systems; a plot can tell {plots.MOST} apart")
    parses = Counter(
        (name, Path(path).resolve()) for name, path in zip(found, systems, strict=True)
    )
    for (name, path), count in parses.items():
        if count > 1:
            raise HeadspanError(f"{path}: is given {count} times for {name}; expected other seeds")
    return found


@dataclass(frozen=True)
class Difference:
    """A sentence on which two systems differ: which words each has right."""

    number: int
    """In the treebank, from 1."""
    gold: Sentence
    first: Sentence
    second: Sentence
    first_right: tuple[bool, ...]
    second_right: tuple[bool, ...]
    counts: tuple[bool, ...]
    """Whether each word counts: not, if it is punctuation that is left out."""

    @property
    def words(self) -> int:
        """How many words one has right and the other has wrong."""
        both = zip(self.first_right, self.second_right, self.counts, strict=True)
        return sum(counts and a != b for a, b, counts in both)


def differing(first: System, second: System) -> list[Difference]:
    """The sentences that one gets better in some word than the other, most words first.

    Of several seeds the first is looked at.
    """
    pairs = zip(first.seeds[0].sentences, second.seeds[0].sentences, strict=True)
    found = [
        Difference(
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
    return sorted((d for d in found if d.words), key=lambda d: (-d.words, d.number))


def as_markdown(differences: Sequence[Difference], names: Sequence[str]) -> str:
    """The sentences with both trees side by side; ✗ is a wrong head or relation."""
    parts = [f"# Where {names[0]} and {names[1]} differ most\n\n{_LEGEND}\n"]
    for d in differences:
        drawing = "\n".join(_side_by_side(d, names))
        fence = "`" * (3 if "```" not in drawing else 12)
        parts.append(f"## {_heading(d)}\n\n{_tally(d, names)}\n\n{fence}text\n{drawing}\n{fence}\n")
    return "\n".join(parts)


def as_html(differences: Sequence[Difference], names: Sequence[str]) -> str:
    """The same as a page that needs nothing else."""
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


_LEGEND = "✗ marks a wrong head or relation; what is right in gold stands at the end of the line."


def _heading(d: Difference) -> str:
    name = f" ({d.gold.sent_id})" if d.gold.sent_id else ""
    return f"Sentence {d.number}{name}: {d.words} word{'s' * (d.words > 1)} right in one only"


def _tally(d: Difference, names: Sequence[str]) -> str:
    total = sum(d.counts)
    tallies = [
        f"{name} has {sum(r and c for r, c in zip(right, d.counts, strict=True))} of {total} right"
        for name, right in zip(names, (d.first_right, d.second_right), strict=False)
    ]
    return ", ".join(tallies) + "."


def _side_by_side(d: Difference, names: Sequence[str]) -> list[str]:
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
    """A text with blanks up to so many columns of a terminal."""
    return text + " " * (width - columns(text))


def _column(sentence: Sentence, right: Sequence[bool], counts: Sequence[bool]) -> list[str]:
    try:
        drawn = draw_tree(sentence)
    except TreeError:  # more than one root: no drawing, but the heads can be listed
        return [
            f"{'  ' if fine or not counted else '✗ '}{form} ← {head} {relation}"
            for form, head, relation, fine, counted in zip(
                sentence.forms, sentence.heads, sentence.deprels, right, counts, strict=True
            )
        ]
    return [
        f"{'  ' if fine or not counted else '✗ '}{line.branches}{line.form}{line.blanks}"
        f"{line.relation}"
        for line, fine, counted in zip(drawn, right, counts, strict=True)
    ]


def _gold(sentence: Sentence, k: int) -> str:
    head = sentence.heads[k]
    of = f"{head} {sentence.forms[head - 1]}" if head else "root"
    return f"gold: {sentence.deprels[k]} → {of}"
