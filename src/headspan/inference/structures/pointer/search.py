"""Beam search over trees that are built word by word."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headspan.inference.failures import ScoresError
from headspan.inference.structures.pointer.partial_trees import PartialTrees


class Steps(Protocol):
    """The words of a batch from left to right, each with the scores of its heads.

    Every sentence has K partial trees, on which the scores may depend.
    """

    def scores(self) -> NDArray[np.floating[Any]]:
        """The scores of every place as the head of the next word, (B, K, N+1)."""
        ...

    def attach(self, parents: NDArray[np.int64], heads: NDArray[np.int64]) -> None:
        """Go on with these trees of each sentence, and these heads of the word; both (B, K)."""
        ...


def search(
    steps: Steps, lengths: NDArray[np.int64], *, projective: bool, beam: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Heads (B, N), −1 beyond the ends, and the log-probability of each tree, (B,).

    After every word, the `beam` most probable partial trees of a sentence remain. The probability
    of a tree is the product of those of its heads, each a softmax over all heads that the word
    could have; the illegal ones of them are only left out of the search, as Fernández-González and
    Gómez-Rodríguez (2021) do. Of equally probable trees, that of the earlier tree and of the
    smaller head comes first.
    """
    size, longest = len(lengths), int(lengths.max())
    trees = PartialTrees(lengths, longest, beam, projective=projective)
    totals = np.full((size, beam), -np.inf)
    totals[:, 0] = 0.0
    for word in range(1, longest + 1):
        values = np.where(trees.legal(), log_probabilities(steps.scores(), word, lengths), -np.inf)
        flat = (values + totals[..., None]).reshape(size, -1)
        if beam == 1:
            chosen = flat.argmax(1)[:, None]
        else:
            chosen = (-flat).argsort(1, kind="stable")[:, :beam]
        totals = np.take_along_axis(flat, chosen, 1)
        parents, heads = np.divmod(chosen, longest + 1)
        trees.attach(parents, heads)
        steps.attach(parents, heads)
    best = trees.heads[:, 0, 1:].copy()
    best[np.arange(1, longest + 1) > lengths[:, None]] = -1
    return best, totals[:, 0]


def log_probabilities(
    scores: NDArray[np.floating[Any]], word: int, lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The logs of the softmax over all heads that a word could have; scores are (B, K, N+1).

    Where a sentence has no such word, all are 0.
    """
    places, ends = np.arange(scores.shape[2]), lengths[:, None, None]
    possible = np.where(word <= ends, (places <= ends) & (places != word), places == 0)
    logits = np.where(possible, scores.astype(np.float64), -np.inf)
    logits[lengths < word] = 0.0
    if not (logits < np.inf).all():
        raise ScoresError(f"a score of the heads of word {word} is NaN or +inf")
    logits -= logits.max(2, keepdims=True)
    logits -= np.log(np.exp(logits).sum(2, keepdims=True))
    logits[lengths < word] = 0.0
    return logits
