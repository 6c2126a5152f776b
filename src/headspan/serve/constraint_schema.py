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
    required: defaultdict[int, list[Arc]] = defaultdict(list)
    forbidden: defaultdict[int, list[Arc]] = defaultdict(list)
    for arcs_of_sentence in requested:
        required[arcs_of_sentence.sentence] += arcs_of_sentence.required
        forbidden[arcs_of_sentence.sentence] += arcs_of_sentence.forbidden
    constraints: dict[int, Constraints] = {}
    for number in required:
        arcs = list(dict.fromkeys(required[number]))
        if len(arcs) > limits.sentence:  # every pair of arcs is compared
            why: str | None = f"a sentence may have {limits.sentence:,} words, and one arc per word"
        else:
            why = contradiction(arcs, set(forbidden[number]), projective=projective)
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
        both = f"{_shown(one)} and {_shown(other)} are required"
        if one[1] == other[1]:
            return f"{both}, but a word has one head"
        if one[0] == other[0] == 0:
            return f"{both}, but a tree has one root"
        (a, b), (c, d) = sorted((sorted(one), sorted(other)))
        if projective and a < c < b < d:
            return f"{both}, but they cross"
    heads = {dependent: head for head, dependent in required}
    for start in sorted(heads):
        path = [start]
        while (head := heads.get(path[-1], 0)) and head not in path:
            path.append(head)
        if head == start:
            words = " → ".join(map(str, reversed([*path, start])))
            return f"the arcs {words} are required, but they form a cycle"
    return None


def _shown(arc: Arc) -> str:
    return f"the arc {arc[0]} → {arc[1]}"
