"""Parser: load, parse, pipe, save."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, overload

import numpy as np
import torch

from headspan.config import Config
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.batching import batches
from headspan.model.folder import find_model
from headspan.model.hub import find_or_fetch, upload
from headspan.model.numbering import prepare
from headspan.model.parse_result import Parse, Tree, without_confidences
from headspan.model.saving import load_parser, save_parser
from headspan.model.vocabularies import Vocabularies
from headspan.nn.network import Network, Output, Parsed, Request
from headspan.nn.subwords import SubwordTokenizer
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.limits import check_parsed
from headspan.plumbing.memory import give_back
from headspan.plumbing.stages import stage
from headspan.pseudoprojective import deprojectivize, relation
from headspan.text import Segmenter, sentences_from_lines
from headspan.tree import Span

_BATCH = 1024  # subwords or words a batch, padding counted; more leave a CPU's caches
_AHEAD = 1024  # sentences that are read ahead and sorted by length
_TIDY = 100_000  # words, after which free memory is given back


class Parser:
    """A network with all that it needs to turn sentences into trees."""

    def __init__(
        self,
        network: Network,
        config: Config,
        vocabularies: Vocabularies,
        tokenizer: SubwordTokenizer | None = None,
        encoder_config: dict[str, Any] | None = None,
        *,
        segmenter: Segmenter | None = None,
        temperature: float = 1.0,
        card: str = "",
    ) -> None:
        self.network = network
        self.config = config
        self.vocabularies = vocabularies
        self.tokenizer = tokenizer
        self.encoder_config = encoder_config
        self.segmenter = segmenter
        self.temperature = temperature
        self.card = card
        self._untidied = 0

    @overload
    def __call__(self, sentence: str, **wanted: Any) -> list[Parse]: ...

    @overload
    def __call__(self, sentence: Sentence | Sequence[str], **wanted: Any) -> Parse: ...

    def __call__(
        self, sentence: Sentence | Sequence[str] | str, **wanted: Any
    ) -> Parse | list[Parse]:
        """The parse of a Sentence or of a list of words; of a text, those of its sentences.

        Options are those of `parse`.
        """
        if isinstance(sentence, str):
            return self.parse(list(self.sentences([sentence])), **wanted)
        return self.parse([sentence], **wanted)[0]

    def sentences(
        self, pieces: Iterable[str], *, lines: bool = False, pretokenized: bool = False
    ) -> Iterator[Sentence]:
        """The sentences of a text that comes in pieces, in constant memory; not parsed yet.

        lines: each line is a sentence. pretokenized: and there are spaces between its words, as is
        taken for granted if the model has no segmenter.
        """
        if pretokenized or self.segmenter is None:
            found = sentences_from_lines(_lines(pieces))
        elif lines:
            found = self.segmenter.segment_lines(_lines(pieces))
        else:
            found = self.segmenter.segment_stream(pieces)
        while True:
            with stage("segment"):
                sentence = next(found, None)
            if sentence is None:
                return
            yield sentence

    def parse(
        self,
        sentences: Sequence[Sentence | Sequence[str]],
        *,
        confidence: bool = False,
        k: int = 1,
        constraints: Sequence[Constraints | None] | None = None,
        retag: bool = False,
    ) -> list[Parse]:
        """The sentences with HEAD and DEPREL filled in, and tags where the model has them.

        confidence: also give the probability of every arc. k: also give the k best trees.
        constraints: for every sentence what its trees must and must not contain, or None; they
        are then the best projective ones. Sentences of more than 400 words have no confidences, and
        take no constraints. retag: predict tags also where a sentence has some. All else stays.
        Raises HeadspanError for a sentence of more than 2,000 words.
        """
        if constraints is not None and len(constraints) != len(sentences):
            raise HeadspanError(f"{len(constraints)} constraints for {len(sentences)} sentences")
        request = Request(confidence=confidence, k=k, temperature=self.temperature)
        if constraints is None:
            return list(self._pipe(sentences, request, retag))
        return [
            next(self._pipe([sentence], replace(request, constraints=[some]), retag))
            for sentence, some in zip(sentences, constraints, strict=True)
        ]

    def pipe(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
    ) -> Iterator[Parse]:
        """Parse lazily, in order, with the options of `parse`; similar lengths share a batch."""
        request = Request(confidence=confidence, k=k, temperature=self.temperature)
        return self._pipe(sentences, request, retag)

    def _pipe(
        self, sentences: Iterable[Sentence | Sequence[str]], request: Request, retag: bool
    ) -> Iterator[Parse]:
        waiting = self._bounded(sentences)
        while some := list(islice(waiting, _AHEAD)):
            done: dict[int, Parse] = {}
            costs = [self.cost(s) for s in some]
            order = sorted((k for k, s in enumerate(some) if len(s)), key=lambda k: costs[k])
            for batch in batches(order, costs, _BATCH):
                chosen = [some[k] for k in batch]
                done.update(zip(batch, self._parse(chosen, request, retag), strict=True))
            for k, sentence in enumerate(some):
                yield done[k] if k in done else Parse.of(sentence)
            self._tidy(sum(map(len, some)))

    def _tidy(self, words: int) -> None:
        self._untidied += words
        if self._untidied >= _TIDY:
            self._untidied = 0
            give_back()

    def _bounded(self, sentences: Iterable[Sentence | Sequence[str]]) -> Iterator[Sentence]:
        """The sentences, unless one is too long."""
        whole = self.config.model.structure == "joint"
        for number, given in enumerate(sentences, 1):
            sentence = _as_sentence(given)
            check_parsed(len(sentence), f"sentence {number}", whole=whole)
            yield sentence

    def cost(self, sentence: Sentence) -> int:
        """How many places of a batch a sentence takes."""
        return self.tokenizer.count(sentence.forms) if self.tokenizer else len(sentence) + 2

    def _parse(self, sentences: list[Sentence], request: Request, retag: bool) -> Iterator[Parse]:
        self.network.eval()
        with stage("prepare"):
            inputs = prepare(sentences, self.vocabularies, self.tokenizer)
        output = self.network.parse(inputs, request)
        for b, sentence in enumerate(sentences):
            tagged = self._tagged(sentence, output, b, retag)
            free = request.constraints is None or request.constraints[b] is None
            yield self._result(tagged, output, b, free=free)

    def _tagged(self, sentence: Sentence, output: Output, b: int, retag: bool) -> Sentence:
        found: dict[str, list[str]] = {}
        for (column, vocabulary), tags in zip(
            self.vocabularies.tags.items(), output.tags, strict=True
        ):
            if retag or all(tag == "_" for tag in getattr(sentence, column)):
                found[column] = vocabulary.names_of(tags[b, : len(sentence)])
        return sentence.with_tags(**found) if found else sentence

    def _result(self, sentence: Sentence, output: Output, b: int, *, free: bool) -> Parse:
        n = len(sentence)
        heads, labels = self._tree(output.best, b, n, free=free)
        spans = output.best.spans[b, :n].tolist()
        chances: tuple[float, ...] = ()
        if output.confidences is not None and not np.isnan(output.confidences[b, 0]):
            chances = tuple(output.confidences[b, :n].clip(0, 1).tolist())
        alternatives: tuple[Tree, ...] = ()
        if output.alternatives is not None:
            several = output.alternatives[b]
            ranks = range(len(several.heads))
            trees = [self._tree(several, rank, n, free=free) for rank in ranks]
            alternatives = tuple(
                Tree(tuple(heads), tuple(labels), float(score))
                for (heads, labels), score in zip(trees, several.scores, strict=True)
            )
        parsed = sentence.with_parse(heads, labels)
        return Parse.of(
            replace(parsed, misc=without_confidences(parsed.misc)),
            spans=tuple(Span(left, right, k) for k, (left, right) in enumerate(spans, 1)),
            score=float(output.best.scores[b]),
            confidences=chances,
            alternatives=alternatives,
        )

    def _tree(
        self, parsed: Parsed, b: int, n: int, *, free: bool = True
    ) -> tuple[list[int], list[str]]:
        """Heads and labels, non-projective arcs restored if the tree is free to have some."""
        heads: list[int] = parsed.heads[b, :n].tolist()
        labels = self.vocabularies.labels.names_of(parsed.labels[b, :n])
        scheme = self.config.data.nonprojective
        if scheme == "drop":
            return heads, labels
        if not free:
            return heads, [relation(label) for label in labels]
        return deprojectivize(heads, labels, scheme=scheme)

    def to(self, device: str | torch.device) -> Parser:
        """Move the network to a device, such as `cuda`; gives the parser itself."""
        self.network.to(device)
        return self

    def use_int8(self) -> Parser:
        """Compute the encoder's linear maps in 8-bit integers from now on; gives the parser itself.

        Faster on a CPU, with nearly the same trees. Weights are saved as they are. Raises
        HeadspanError where there is no encoder, or no processor for it.
        """
        from headspan.nn.int8 import use_int8

        if self.network.inputs.encoder is None:
            raise HeadspanError("the model has no pretrained encoder that could be in int8")
        use_int8(self.network.inputs.encoder)
        return self

    def save(self, path: str | os.PathLike[str], *, small: bool = False) -> None:
        """Write the model folder, whole or not at all; an old one is replaced.

        small: keep weights as float16, and large tables as int8, which takes less than half the
        room; all are float32 again when they are loaded.
        """
        save_parser(self, path, small=small)

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> Parser:
        """A parser from a model folder, or the embedded one of that name.

        Runs nothing that lies in the folder and reads nothing outside it; every tensor must fit.
        """
        return load_parser(cls, find_model(name))

    def save_pretrained(self, path: str | os.PathLike[str]) -> None:
        """`save`, under the name that Hugging Face's libraries use."""
        self.save(path)

    @classmethod
    def from_pretrained(cls, name: str | os.PathLike[str]) -> Parser:
        """`load`; what is no folder and not embedded is fetched from the Hugging Face hub."""
        return cls.load(find_or_fetch(name))

    def push_to_hub(self, name: str, *, private: bool = False) -> str:
        """Upload the model folder to the Hugging Face hub; gives its address."""
        return upload(self.save, name, private=private)


def load(name: str | os.PathLike[str] = "en") -> Parser:
    """A parser by the name of an embedded model, or from a model folder."""
    return Parser.load(name)


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces, with their ends."""
    rest: list[str] = []
    for piece in pieces:
        for line in piece.splitlines(keepends=True):
            rest.append(line)
            if line.endswith("\n"):
                yield "".join(rest)
                rest = []
    if rest:
        yield "".join(rest)


def _as_sentence(words: Sentence | Sequence[str]) -> Sentence:
    if isinstance(words, str):
        raise HeadspanError("a string among sentences; expected a Sentence or a list of words")
    return words if isinstance(words, Sentence) else Sentence.from_words(words)
