"""Pointer networks: a decoder that reads the words from left to right and points to their heads.

`pointer-left-to-right` is after *Left-to-Right Dependency Parsing with Pointer Networks*
(Fernández-González and Gómez-Rodríguez, 2019), `pointer` after *Dependency Parsing with Bottom-up
Hierarchical Pointer Networks* (the same, 2021). c_0 … c_{n+1} is the context of a sentence, c_0
standing for the root. With φ(x) = LeakyReLU(Wx + b), another one for each index, the decoder's
state after word i is

    (s_i, m_i) = LSTM(φ_x(x_i), before_i),  before_1 = (0, 0)

left to right: x_i = c_{i−1} + c_i + c_{i+1}, and before_i = (s_{i−1}, m_{i−1}).

hierarchical: x_i = c_i. If o is the first and j the last word that has been attached to i so far,
its outermost and innermost dependents on the left, both halves of the state before it are mixed
with theirs, by the same weights; 0 stands for a missing one. For s, and for m likewise:

    g = σ(U[s_o ⊙ s_{i−1}; s_j ⊙ s_{i−1}] + a),  before_i = tanh(g ⊙ (V[s_{i−1}; s_o; s_j] + v))

Since s_j itself was made from the dependents of j, the state knows the partial trees below i.

The score of head h of word i is the deep biaffine [φ_h(c_h); 1]ᵀ W [φ_d(s_i); 1], as for arcs.

In both, dependents to the right of a word are attached after it, so that they play no part. This
is the left-to-right order of the 2021 paper, which also has others, and the mixing is that of the
implementation that its authors published. It differs from theirs in what surrounds it: the state
starts at 0, activations and sizes are those of the other scorers here, dropout masks the hidden
half of before_i, by the same mask for all words of a sentence, and relations are scored from the
context, like those of all structures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from headspan.inference.failures import not_factored
from headspan.nn.layers import Projection, SharedDropout, with_one

State = tuple[Tensor, Tensor]
"""The hidden and the memory half of a decoder's state, (rows, size)."""


class LeftToRightPointer(nn.Module):
    """A decoder that sees the words and their neighbours, in order."""

    hierarchical = False

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.word = Projection(inputs, size)
        self.cell = nn.LSTMCell(size, size)
        self.head = Projection(inputs, size)
        self.dependent = Projection(size, size)
        self.weight = nn.Parameter(torch.zeros(size + 1, size + 1))
        self.dropout = SharedDropout(dropout)
        for name, parameter in self.cell.named_parameters():
            if "weight" in name:
                nn.init.orthogonal_(parameter)
            else:
                nn.init.zeros_(parameter)

    def forward(self, context: Tensor, lengths: Tensor) -> PointerScores:
        """context: (B, N+2, inputs), <bos> at 0 and <eos> at n+1."""
        words = self.dropout(self.word(self.seen(context)))
        heads = self.dropout(self.head(context[:, :-1]))
        return PointerScores(self, words, with_one(heads) @ self.weight)

    def seen(self, context: Tensor) -> Tensor:
        """x_1 … x_N, (B, N, inputs)."""
        return context[:, :-2] + context[:, 1:-1] + context[:, 2:]

    def before(self, last: State, outer: State, inner: State) -> State:
        """The state before a word, from those of the last word and of two of its dependents."""
        return last

    def scores(self, states: Tensor, heads: Tensor) -> Tensor:
        """The scores of heads, (B, K, N+1), for K states of each sentence, (B, K, size)."""
        dependents = self.dropout(self.dependent(states))
        return with_one(dependents) @ heads.mT


class HierarchicalPointer(LeftToRightPointer):
    """A decoder whose state also comes from the partial trees below the word."""

    hierarchical = True

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__(inputs, size, dropout)
        self.gate = nn.Linear(2 * size, size)
        self.mix = nn.Linear(3 * size, size)
        for linear in (self.gate, self.mix):
            nn.init.orthogonal_(linear.weight)
            nn.init.zeros_(linear.bias)

    def seen(self, context: Tensor) -> Tensor:
        return context[:, 1:-1]

    def before(self, last: State, outer: State, inner: State) -> State:
        own, first, second = (torch.stack(state) for state in (last, outer, inner))
        gate = self.gate(torch.cat([first * own, second * own], -1)).sigmoid()
        hidden, memory = (gate * self.mix(torch.cat([own, first, second], -1))).tanh()
        return hidden, memory


@dataclass(frozen=True, slots=True)
class PointerScores:
    """Scores of heads that are made word by word; see `StepScores`."""

    scorer: LeftToRightPointer
    words: Tensor
    """φ_x(x_1) … φ_x(x_N), (B, N, size)."""
    heads: Tensor
    """Wᵀ[φ_h(c_h); 1] of every place, (B, N+1, size+1)."""

    @property
    def device(self) -> Any:
        """The device of tensors."""
        return self.words.device

    @property
    def pending(self) -> int:
        """Nothing that could be computed before the tree is known."""
        return 0

    def dense(self) -> NoReturn:
        """Raise ScoresError: there are no scores before the tree is known."""
        raise not_factored()

    def cells(self, b: Any, *cell: Any) -> NoReturn:
        """Raise ScoresError, as `dense` does."""
        raise not_factored()

    def sentences(self, rows: list[int], longest: int) -> PointerScores:
        """The scores of some sentences, with room for this many words."""
        return PointerScores(
            self.scorer, self.words[rows, :longest], self.heads[rows, : longest + 1]
        )

    def steps(self, beam: int) -> Decoder:
        """Start at the first word, with so many partial trees of every sentence."""
        return Decoder(self, beam)

    def along(self, heads: Any) -> Tensor:
        """The scores as these trees are built, [b, h, d], (B, N+1, N+1); heads are (B, N)."""
        decoder, states = Decoder(self, 1), []
        trees = torch.as_tensor(heads, device=self.device).clamp(min=0)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.words.is_inference()):
            for head in trees[:, : self.words.shape[1]].unbind(1):
                states.append(decoder.advance())
                decoder.continue_with(torch.zeros_like(head)[:, None], head[:, None])
            scores = self.scorer.scores(torch.stack(states, 1), self.heads)
            return functional.pad(scores.mT, (1, 0))


@dataclass(slots=True)
class Decoder:
    """K decoders for each of B sentences, all at the same word.

    The states of a step are rows b·K + k. They stay where they were made, and a partial tree knows
    its states by their numbers, step · B · K + row, so that nothing is copied when a search gives
    up one tree for another. Number 0 is a state of zeros, for there is nothing before the first
    word.
    """

    given: PointerScores
    beam: int
    word: int = 0
    """The word whose state was made last."""
    words: tuple[Tensor, ...] = field(init=False)
    """What the decoder reads of each word, (B, size): apart, so that their gradients are small."""
    made: list[State] = field(init=False)
    """The states of all steps, the first one zeros; only the last one, if no other is needed."""
    last: Tensor = field(init=False)
    """The row of the last word's state in each partial tree, (B, K)."""
    outer: Tensor = field(init=False)
    """The number of the state of every word's outermost dependent on the left, or 0; (B, K, N+1)"""
    inner: Tensor = field(init=False)
    """The same for the innermost one."""
    mask: Tensor | None = field(init=False)
    """The mask of dropout on the hidden half before every word, (B · K, size), if there is one."""

    def __post_init__(self) -> None:
        words = self.given.words
        size, longest = words.shape[:2]
        self.words = words.unbind(1)
        zeros = words.new_zeros(size * self.beam, self.given.scorer.cell.hidden_size)
        self.made = [(zeros, zeros)]
        self.last = torch.arange(size * self.beam, device=words.device).view(size, self.beam)
        self.outer = self.last.new_zeros(size, self.beam, longest + 1)
        self.inner = self.outer
        self.mask = self.given.scorer.dropout.mask(len(zeros), zeros.shape[1], zeros)

    def advance(self) -> Tensor:
        """Go on to the next word; gives the hidden half of its states, (B · K, size)."""
        scorer, at = self.given.scorer, self.word
        row = self.last.flatten()
        hidden, memory = self.made[-1]
        before = last = hidden[row], memory[row]
        if scorer.hierarchical:
            ends = (numbers[..., at + 1].flatten() for numbers in (self.outer, self.inner))
            before = scorer.before(last, *map(self._states, ends))
        if self.mask is not None:
            before = before[0] * self.mask, before[1]
        state = scorer.cell(self.words[at].repeat_interleave(self.beam, 0), before)
        if not scorer.hierarchical:
            self.made.clear()
        self.made.append(state)
        self.word = at + 1
        made: Tensor = state[0]
        return made

    def continue_with(self, parents: Tensor, heads: Tensor) -> None:
        """Go on with these partial trees of each sentence, and these heads; both (B, K)."""
        size = len(parents)
        start = torch.arange(size, device=parents.device)[:, None] * self.beam
        self.last = start + parents
        if not self.given.scorer.hierarchical:
            return
        number = self.word * size * self.beam + self.last
        left = (heads > self.word)[..., None]
        at = heads[..., None]
        rows = parents[..., None].expand(-1, -1, self.outer.shape[2])
        outer, inner = self.outer.gather(1, rows), self.inner.gather(1, rows)
        old, own = outer.gather(2, at), number[..., None]
        self.outer = outer.scatter(2, at, torch.where(left & (old == 0), own, old))
        self.inner = inner.scatter(2, at, torch.where(left, own, inner.gather(2, at)))

    def _states(self, numbers: Tensor) -> State:
        """The states of these numbers, each from the step that made it."""
        rows = self.last.numel()
        steps, place = torch.unique(numbers // rows, return_inverse=True)
        halves = zip(*(self.made[step] for step in steps.tolist()), strict=True)
        hidden, memory = (torch.stack(half)[place, numbers % rows] for half in halves)
        return hidden, memory

    def scores(self) -> NDArray[np.floating[Any]]:
        """The scores of every place as the head of the next word, (B, K, N+1)."""
        with torch.no_grad():
            states = self.advance().view(*self.last.shape, -1)
            scores = self.given.scorer.scores(states, self.given.heads)
        found: NDArray[np.floating[Any]] = scores.float().cpu().numpy()
        return found

    def attach(self, parents: NDArray[np.int64], heads: NDArray[np.int64]) -> None:
        """Go on with these partial trees of each sentence, and these heads; both (B, K)."""
        device = self.last.device
        self.continue_with(*(torch.from_numpy(some).to(device) for some in (parents, heads)))
