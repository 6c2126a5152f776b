"""Reading the constraints of a request, and finding contradictions among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from headspan.inference import Constraints
from headspan.serve.request_limits import Limits, Refusal, RefusalError
from headspan.serve.schemas import ArcConstraints

Arc = tuple[int, int]


def read_constraints(
    requested: Iterable[ArcConstraints], limits: Limits, *, projective: bool = True
) -> dict[int, Constraints]:
    """The constraints by sentence number; raises RefusalError if they contradict each other.

    projective: whether crossing arcs do.
    """
    required: defaultdict[int, dict[Arc, None]] = defaultdict(dict)
    forbidden: defaultdict[int, dict[Arc, None]] = defaultdict(dict)
    for arcs_of_sentence in requested:
        required[arcs_of_sentence.sentence] |= dict.fromkeys(arcs_of_sentence.required)
        forbidden[arcs_of_sentence.sentence] |= dict.fromkeys(arcs_of_sentence.forbidden)
    if sum(map(len, required.values())) > limits.words:
        detail = f"constraints: more arcs are required than the {limits.words:,} words of a request"
        raise RefusalError(Refusal.TOO_LARGE, detail)
    constraints: dict[int, Constraints] = {}
    for number in required:
        arcs = list(required[number])
        if len(arcs) > limits.sentence:  # every pair of arcs is compared
            why: str | None = f"a sentence may have {limits.sentence:,} words, and one arc per word"
        elif len(forbidden[number]) > limits.sentence**2:
            why = f"a sentence may have {limits.sentence:,} words, and {limits.sentence**2:,} arcs"
        else:
            why = contradiction(arcs, forbidden[number], projective=projective)
        if why is not None:
            raise RefusalError(Refusal.UNUSABLE, f"constraints of sentence {number}: {why}")
        if arcs or forbidden[number]:
            constraints[number] = Constraints(required_arcs=arcs, forbidden_arcs=forbidden[number])
    return constraints


def contradiction(
    required: Sequence[Arc], forbidden: Collection[Arc], *, projective: bool = True
) -> str | None:
    """Say why no (projective) tree has all the required arcs and no forbidden one, if obvious.

    None promises nothing: too many forbidden arcs also leave no tree, which the parser finds out.
    """
    for arc in required:
        if arc in forbidden:
            return f"{_shown(arc)} is both required and forbidden"
    for one, other in combinations(required, 2):
        why = _conflict(one, other, projective=projective)
        if why is not None:
            return f"{_shown(one)} and {_shown(other)} are required, but {why}"
    heads = {dependent: head for head, dependent in required}
    for start in sorted(heads):
        path = [start]
        while (head := heads.get(path[-1], 0)) and head not in path:
            path.append(head)
        if head == start:
            words = " → ".join(map(str, reversed([*path, start])))
            return f"the arcs {words} are required, but they form a cycle"
    return None


def _conflict(one: Arc, other: Arc, *, projective: bool) -> str | None:
    """Say why no (projective) tree has both arcs, if so."""
    if one[1] == other[1]:
        return "a word has one head"
    if one[0] == other[0] == 0:
        return "a tree has one root"
    (a, b), (c, d) = sorted((sorted(one), sorted(other)))
    return "they cross" if projective and a < c < b < d else None


def _shown(arc: Arc) -> str:
    return f"the arc {arc[0]} → {arc[1]}"
