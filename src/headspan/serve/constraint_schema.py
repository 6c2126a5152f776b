"""The constraints of a request, and which of them contradict each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from headspan.inference import Constraints
from headspan.serve.request_limits import Limits, RefusalError
from headspan.serve.schemas import ArcConstraints

Arc = tuple[int, int]


def read_constraints(asked: Iterable[ArcConstraints], limits: Limits) -> dict[int, Constraints]:
    """The constraints by the number of the sentence; raises RefusalError if some exclude others."""
    required: defaultdict[int, list[Arc]] = defaultdict(list)
    forbidden: defaultdict[int, list[Arc]] = defaultdict(list)
    for some in asked:
        required[some.sentence] += some.required
        forbidden[some.sentence] += some.forbidden
    found: dict[int, Constraints] = {}
    for number in required:
        arcs = list(dict.fromkeys(required[number]))
        if len(arcs) > limits.sentence:  # each pair of them is looked at
            why: str | None = f"a sentence may have {limits.sentence:,} words, and an arc for each"
        else:
            why = contradiction(arcs, set(forbidden[number]))
        if why is not None:
            raise RefusalError(422, f"constraints of sentence {number}: {why}")
        if arcs or forbidden[number]:
            found[number] = Constraints(required_arcs=arcs, forbidden_arcs=forbidden[number])
    return found


def contradiction(required: Sequence[Arc], forbidden: Collection[Arc]) -> str | None:
    """Why no projective tree has all the required arcs and no forbidden one, if that is plain.

    None says little: too many forbidden arcs also leave no tree, which the parser finds out.
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
        if a < c < b < d:
            return f"{both}, but they cross"
    heads = {dependent: head for head, dependent in required}
    for start in sorted(heads):
        path = [start]
        while (head := heads.get(path[-1], 0)) and head not in path:
            path.append(head)
        if head == start:
            words = " → ".join(map(str, reversed([*path, start])))
            return f"the arcs {words} are required, but they form a circle"
    return None


def _shown(arc: Arc) -> str:
    return f"the arc {arc[0]} → {arc[1]}"
