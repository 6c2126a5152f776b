"""What the page of an annotator is told: a sentence, the list of sentences, the state of a file."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from headspan import conllu
from headspan.annotate.annotation import Session, View
from headspan.annotate.confirmations import (
    COLUMNS,
    CONFIRMED,
    HEAD,
    RELATION,
    SPAN,
    is_confirmed,
    mark,
)
from headspan.annotate.work_order import Entry
from headspan.conllu import NO_HEAD, Sentence
from headspan.model.parse_result import Parse
from headspan.plumbing.errors import HeadspanError
from headspan.render import arcs_svg, spans_svg
from headspan.render.drawable import Drawable

Compared: TypeAlias = Literal["nothing", "before", "other", "parser"]
"""What a tree is drawn with: nothing, the tree before, the other annotator's, the parser's."""
_NAMES = {
    "before": "the tree before",
    "other": "the other annotator's tree",
    "parser": "the best tree",
}
_LONGEST = 300  # characters of a text in the list


def sentence_answer(
    session: Session, number: int, *, width: float, compact: bool, compared: Compared, spans: bool
) -> dict[str, Any]:
    """A sentence in the form of the service's other answers, and what is confirmed in it."""
    view = session.view(number)
    sentence, opinion = view.sentence, view.opinion
    words = range(1, len(sentence) + 1)
    answer: dict[str, Any] = {
        **sentence.as_json(),
        "number": number,
        "revision": session.revision,
        "conllu": conllu.to_text([sentence]),
        "confirmed": sentence.comment(CONFIRMED),
        "along": view.parses_along,
        "marks": {
            name: [mark(sentence, k, name) for k in words]
            for name in (HEAD, RELATION, SPAN, *COLUMNS.values())
        },
        "tokens": [(token.first, token.last, token.form) for token in sentence.multiwords],
        "problems": [problem._asdict() for problem in view.problems],
        "undo": session.can_undo,
        "redo": session.can_redo,
    }
    drawable: Drawable = sentence
    if opinion is not None:
        drawable = Parse.of(
            sentence,
            head_confidences=opinion.head_confidences,
            relation_confidences=opinion.relation_confidences,
        )
        for name in ("confidences", "head_confidences", "relation_confidences"):
            answer[name] = [round(value, 4) for value in getattr(opinion, name)]
        answer["entropy"] = round(opinion.entropy, 3)
    other = _other(session, view, compared)
    answer["compared"] = compared if other is not None else "nothing"
    answer["comparable"] = {
        "before": view.before is not None,
        "other": view.other is not None,
        "parser": opinion is not None,
    }
    answer["drawing"] = _drawing(drawable, other, compared, width, compact, spans=spans)
    return answer


def _other(session: Session, view: View, compared: Compared) -> Sentence | None:
    if compared == "before":
        return view.before
    if compared == "other":
        return view.other
    return session.best(view.number) if compared == "parser" else None


def trees_answer(session: Session, number: int) -> dict[str, Any]:
    """The best trees of a sentence that have all that is confirmed."""
    return {
        "number": number,
        "revision": session.revision,
        "best": [
            {"heads": tree.heads, "relations": tree.deprels, "probability": tree.probability}
            for tree in session.alternatives(number)
        ],
    }


def _drawing(
    drawable: Drawable,
    other: Sentence | None,
    compared: Compared,
    width: float,
    compact: bool,
    *,
    spans: bool,
) -> dict[str, str | None]:
    """The drawing that is shown; None for one that cannot be made."""
    try:
        if spans:
            return {"spans": spans_svg(drawable, styled=False, width=width)}
        names = ("this tree", _NAMES.get(compared, ""))
        arcs = arcs_svg(
            drawable, other=other, names=names, styled=False, width=width, compact=compact
        )
        return {"arcs": arcs}
    except HeadspanError:
        return {"spans" if spans else "arcs": None}


def list_answer(session: Session, numbers: list[int], start: int, count: int) -> dict[str, Any]:
    """The numbers of sentences in an order, and rows for some of them."""
    rows = [_row(session.entry(number), number) for number in numbers[start : start + count]]
    return {"revision": session.revision, "numbers": numbers, "start": start, "rows": rows}


def _row(entry: Entry, number: int) -> dict[str, Any]:
    shown = entry.best_known
    row: dict[str, Any] = {
        "number": number,
        "text": shown.text[:_LONGEST],
        "confirmed": is_confirmed(shown),
    }
    if entry.weakest and shown.heads[entry.weakest - 1] != NO_HEAD:
        k = entry.weakest
        head = shown.heads[k - 1]
        row |= {
            "confidence": entry.lowest,
            "word": shown.forms[k - 1],
            "relation": shown.deprels[k - 1],
            "head": shown.forms[head - 1] if head else "",
        }
    return row


def state_answer(session: Session, windows: int) -> dict[str, Any]:
    """The state of the file: progress, agreement, and how many windows show it."""
    agreed = session.agreement()
    return {
        "annotator": session.annotator,
        "output": session.output.name if session.output else None,
        "model": session.assistant.name,
        "revision": session.revision,
        "windows": windows,
        "count": len(session.sentences),
        "progress": asdict(session.progress()),
        "against": session.other.name if session.other else None,
        "agreement": None if agreed is None else _finite(asdict(agreed)),
    }


def _finite(table: dict[str, Any]) -> dict[str, Any]:
    """Without NaN, which JSON lacks."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in table.items()
    }
