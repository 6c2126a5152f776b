"""The best tree over arcs, projective or not, for scores on the CPU. O(n²) time and memory.

After Chu and Liu, Edmonds, and Tarjan: from node to best head to its best head, until the path
comes back to one of its nodes or to a node that is done. A path that comes back is a cycle, which
becomes a single node; an arc into it counts for what it gains over the arc of the cycle that it
would replace. In the end, every cycle is opened where an arc enters it.

The root is the head only of a node that no other node can be the head of. That is the algorithm on
pairs (number of arcs from the root, score) of which the first counts first: no cycle contains an
arc from the root, so that the first number never has to be written down. The tree therefore has a
single root, or there is no such tree, and scores are never made larger or smaller to get one.

Every node has a place, 1 … n; a cycle takes that of the first of its nodes on the path. All sums
are float64, whatever the scores are.
"""

from typing import Any

import numpy as np

from headspan.inference.headed_spans import spans_of_sentence
from headspan.inference.scores import BAD_SCORE, NO_TREE
from headspan.inference.simd.charts import longest_of
from headspan.inference.simd.compile import best_signature, helper, kernel

NEW, ON_PATH, DONE = 0, 1, 2


@helper
def _load(gains: Any, arcs: Any, scores: Any, b: int, n: int, gold: Any, cost: float) -> bool:
    """Put s(h,d), less the cost on gold arcs, into gains[d, h]; True if one is NaN or +inf."""
    bad = False
    for d in range(1, n + 1):
        for h in range(n + 1):
            x = scores[b, h, d]
            bad |= h != d and not (x < np.inf)
            gains[d, h] = x
            arcs[d, h] = h * (n + 1) + d
        gains[d, d] = -np.inf
    if gold.shape[0]:
        for d in range(1, n + 1):
            gains[d, gold[b, d - 1]] -= cost
    return bad


@helper
def _best_head(gains: Any, place: int, n: int) -> int:
    """The place of the best head of a node, the smallest if several tie; 0 if there is none."""
    best = 0
    value = -np.inf
    for u in range(1, n + 1):
        if gains[place, u] > value:
            best, value = u, gains[place, u]
    return best


@helper
def _merge(gains: Any, arcs: Any, n: int, cycle: Any, taken: Any) -> None:
    """Make one node of the nodes at some places, at the first of them.

    taken[v] is the gain of the arc of the cycle that enters v.
    """
    c = cycle[0]
    for u in range(n + 1):
        gains[c, u] -= taken[c]
    for v in cycle[1:]:
        for u in range(n + 1):
            if gains[v, u] - taken[v] > gains[c, u]:
                gains[c, u], arcs[c, u] = gains[v, u] - taken[v], arcs[v, u]
        for u in range(1, n + 1):
            if gains[u, v] > gains[u, c]:
                gains[u, c], arcs[u, c] = gains[u, v], arcs[u, v]
            gains[u, v] = -np.inf
    for v in cycle:
        gains[c, v] = -np.inf


@helper
def _contract(gains: Any, arcs: Any, n: int, entering: Any, parent: Any, work: Any) -> int:
    """Give every node its best arc, entering[node], and merge cycles until there are none.

    Words are nodes 1 … n, and cycles are n+1, …; parent[node] is the cycle that contains it.
    Returns the number of nodes, or 0 if there is no tree.
    """
    node, state, path = work[0], work[1], work[2]
    taken = np.empty(n + 1)
    for v in range(n + 1):
        node[v], state[v] = v, NEW
    nodes, rooted = n, False
    for start in range(1, n + 1):
        if state[start] != NEW:
            continue
        path[0], state[start], length = start, ON_PATH, 1
        while length:
            v = path[length - 1]
            u = _best_head(gains, v, n)
            if u == 0:
                if rooted or gains[v, 0] == -np.inf:
                    return 0
                rooted = True
            entering[node[v]], taken[v], parent[node[v]] = arcs[v, u], gains[v, u], 0
            if u == 0 or state[u] == DONE:
                for t in range(length):
                    state[path[t]] = DONE
                length = 0
            elif state[u] == NEW:
                path[length], state[u] = u, ON_PATH
                length += 1
            else:
                first = length - 1
                while path[first] != u:
                    first -= 1
                nodes += 1
                for w in path[first:length]:
                    parent[node[w]], state[w] = nodes, DONE
                _merge(gains, arcs, n, path[first:length], taken)
                node[u], state[u] = nodes, ON_PATH
                length = first + 1
    return nodes


@helper
def _open(n: int, nodes: int, entering: Any, parent: Any) -> None:
    """Hand the arc that enters a cycle on to its node that the arc leads to, outer cycles first."""
    for cycle in range(nodes, n, -1):
        member = entering[cycle] % (n + 1)
        while parent[member] != cycle:
            member = parent[member]
        entering[member] = entering[cycle]


def _best(
    scores: Any,
    lengths: Any,
    order: Any,
    gold: Any,
    cost: Any,
    heads: Any,
    spans: Any,
    values: Any,
    status: Any,
) -> None:
    side = longest_of(lengths, order) + 1
    gains = np.empty((side, side))
    arcs = np.empty((side, side), np.int64)
    work = np.empty((3, side), np.int64)
    entering, parent = np.empty(2 * side, np.int64), np.empty(2 * side, np.int64)
    for b in order:
        n = lengths[b]
        if _load(gains, arcs, scores, b, n, gold, cost):
            status[b] = BAD_SCORE
            continue
        nodes = _contract(gains, arcs, n, entering, parent, work)
        if nodes == 0:
            status[b] = NO_TREE
            continue
        _open(n, nodes, entering, parent)
        total = 0.0
        for d in range(1, n + 1):
            h = entering[d] // (n + 1)
            heads[b, d - 1] = h
            total += scores[b, h, d]
            if gold.shape[0] and gold[b, d - 1] != h:
                total += cost
        values[b] = total
        spans_of_sentence(heads, b, n, spans, False)


best = kernel(best_signature(3, gold=(2,)))(_best)
