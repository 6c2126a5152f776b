"""Parser: load, parse, save."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice, repeat
from typing import Any, overload

import numpy as np

from headspan.config import Config
from headspan.conllu import Sentence
from headspan.inference import Constraints, NoTreeError
from headspan.model.batching import batches
from headspan.model.document import Document
from headspan.model.folder import find_model
from headspan.model.hub import find_or_fetch, upload
from headspan.model.numbering import prepare
from headspan.model.parse_input import (
    as_sentence,
    check_constraints,
    check_reading,
    checked_words,
    kind_of,
    lines_of,
    not_a_text,
)
from headspan.model.parse_options import ParseOptions
from headspan.model.parse_result import Parse, Tree, without_confidences
from headspan.model.saving import EngineName, load_parser, save_parser, with_torch
from headspan.model.scored_sentence import ScoredSentence
from headspan.model.vocabularies import Vocabularies
from headspan.plumbing import limits
from headspan.plumbing.errors import HeadspanError, naming, shown, warn
from headspan.plumbing.limits import check_parsed
from headspan.plumbing.memory import give_back
from headspan.plumbing.stages import stage
from headspan.pseudoprojective import deprojectivize, relation
from headspan.runtime.decoding import (
    UNCALIBRATED,
    DecodingOptions,
    Engine,
    Output,
    PredictedTrees,
    Temperatures,
)
from headspan.runtime.graph_network import GraphNetwork
from headspan.runtime.subwords import SubwordTokenizer
from headspan.text import Segmenter, sentences_from_lines
from headspan.text.language import LANGUAGES, KnownLanguage
from headspan.tree import Span

_BATCH = 1024  # subwords or words per batch, with padding; more do not fit a CPU's caches
_AHEAD = 1024  # sentences that are read ahead and sorted by length
_TIDY = 100_000  # words after which free memory is returned to the system
_SAMPLE = 64  # sentences of those read ahead whose language is looked at, …
_SAMPLE_WORDS, _SAMPLE_CHARACTERS = 20, 8000  # … of each so many words, of all so many characters
_CARD_LANGUAGE = re.compile(r"\A---\n(?:(?!---).*\n)*?language: *(?:\n *- *)?\[?([a-z]+)\]?\n")


class Parser:
    """A network with everything that it needs to turn text into trees.

        parser = headspan.load()
        document = parser("Time flies. Don't panic!")       # a text: a Document
        documents = parser.pipe(texts)                      # many texts, lazily
        parse = parser.parse_words(["Time", "flies", "."])  # the words of one sentence: a Parse
        parse = parser(sentence)                            # a Sentence, as from a treebank
        parses = parser.parse(sentences)                    # many of them; also with constraints
        stream = parser.parse_stream(sentences)             # many of them, lazily

    All of these take `confidence`, `k` and `retag`, which `parse` explains. A model without a
    segmenter takes each line of a text as a sentence, with spaces between its words. A parser gives
    a HeadspanWarning when it first does so, and when it first sees a text in a language that it has
    not learned. A parser can be shared among threads.
    """

    def __init__(
        self,
        network: Engine,
        config: Config,
        vocabularies: Vocabularies,
        tokenizer: SubwordTokenizer | None = None,
        encoder_config: dict[str, Any] | None = None,
        *,
        segmenter: Segmenter | None = None,
        temperatures: Temperatures = UNCALIBRATED,
        card: str = "",
    ) -> None:
        self.network = network
        self.config = config
        self.vocabularies = vocabularies
        self.tokenizer = tokenizer
        self.encoder_config = encoder_config
        self.segmenter = segmenter
        self.temperatures = temperatures
        self.card = card
        self._words_since_tidying = 0
        self._warned: set[str] = set()

    @overload
    def __call__(
        self,
        text: str,
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
        lines: bool = False,
        wrapped: bool = False,
        pretokenized: bool = False,
    ) -> Document: ...

    @overload
    def __call__(
        self,
        text: Sentence,
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
        constraints: Constraints | None = None,
    ) -> Parse: ...

    def __call__(
        self,
        text: str | Sentence,
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
        lines: bool = False,
        wrapped: bool = False,
        pretokenized: bool = False,
        constraints: Constraints | None = None,
    ) -> Document | Parse:
        """Parse a text into a Document of its sentences, or a Sentence into a Parse.

        confidence, k and retag are the options of `parse`. lines, wrapped and pretokenized, for a
        text, are those of `sentences`. constraints, only for a Sentence: what its tree must and
        must not contain. Raises HeadspanError for a list: `parse_words` takes the words of a
        sentence, and `pipe` takes several texts.
        """
        options = ParseOptions(confidence=confidence, k=k, retag=retag)
        if isinstance(text, Sentence):
            if lines or wrapped or pretokenized:
                raise HeadspanError(
                    "lines, wrapped and pretokenized are for texts; this is a Sentence"
                )
            return self._parse_one(text, constraints, options)
        if not isinstance(text, str):
            raise HeadspanError(not_a_text(text))
        if constraints is not None:
            raise HeadspanError(
                "constraints are for a Sentence: give them to parser.parse, one per sentence of "
                "list(parser.sentences([text]))"
            )
        sentences = self.sentences([text], lines=lines, wrapped=wrapped, pretokenized=pretokenized)
        return Document(str(text), tuple(self._stream(sentences, repeat(None), options)))

    def pipe(
        self,
        texts: Iterable[str],
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
        lines: bool = False,
        wrapped: bool = False,
        pretokenized: bool = False,
    ) -> Iterator[Document]:
        """Parse many texts lazily: a Document for each, in order, in constant memory.

        Sentences of different texts share batches, so texts are read ahead until they have about a
        thousand sentences. The options are those of `parser(text)`. If a text cannot be parsed, the
        documents before it come first, and the error has its number.
        """
        if isinstance(texts, str):
            raise HeadspanError("pipe takes several texts: call parser(text) for a single one")
        if isinstance(texts, bytes) or not isinstance(texts, Iterable):
            raise HeadspanError(f"found {kind_of(texts)}; expected several texts")
        options = ParseOptions(confidence=confidence, k=k, retag=retag)
        segment = partial(self.sentences, lines=lines, wrapped=wrapped, pretokenized=pretokenized)
        return self._documents(texts, options, segment)

    def _documents(
        self,
        texts: Iterable[str],
        options: ParseOptions,
        segment: Callable[[list[str]], Iterator[Sentence]],
    ) -> Iterator[Document]:
        waiting: list[tuple[str, list[Sentence]]] = []
        size = 0
        source = enumerate(texts, 1)
        while True:
            try:
                number, text = next(source, (0, ""))
                if not number:
                    break
                with naming(f"text {number}"):
                    if not isinstance(text, str):
                        raise HeadspanError(
                            f"found {kind_of(text)}; expected a string (parse_stream takes "
                            "Sentences and lists of words)"
                        )
                    sentences = list(self._checked(segment([text]), options))
            except Exception:
                yield from self._together(waiting, options)
                raise
            waiting.append((str(text), sentences))
            size += max(1, len(sentences))
            if size >= _AHEAD:
                yield from self._together(waiting, options)
                waiting, size = [], 0
        yield from self._together(waiting, options)

    def _together(
        self, texts: list[tuple[str, list[Sentence]]], options: ParseOptions
    ) -> Iterator[Document]:
        sentences = chain.from_iterable(segmented for _, segmented in texts)
        parses = self._stream(sentences, repeat(None), options)
        for text, segmented in texts:
            yield Document(text, tuple(islice(parses, len(segmented))))
        next(parses, None)  # let it come to its end, where it tidies up

    def parse_words(
        self,
        words: Sequence[str],
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
        constraints: Constraints | None = None,
    ) -> Parse:
        """Parse one sentence that is split into words already.

        confidence, k and retag are the options of `parse`. constraints: what the tree must and must
        not contain. For words with tags, make a Sentence: `parser(Sentence.from_words(words,
        upos=tags))`.
        """
        if isinstance(words, str):
            raise HeadspanError(
                "parse_words takes the words of one sentence as a list: call parser(…) for a text"
            )
        options = ParseOptions(confidence=confidence, k=k, retag=retag)
        return self._parse_one(Sentence.from_words(checked_words(words)), constraints, options)

    def _parse_one(
        self, sentence: Sentence, constraints: Constraints | None, options: ParseOptions
    ) -> Parse:
        check_constraints(constraints)
        (parse,) = self._stream([sentence], [constraints], options)
        return parse

    def scored(self, sentence: Sentence) -> ScoredSentence:
        """The sentence with its scores, to ask for trees under many constraints.

        The network runs once. Raises HeadspanError for a sentence that is too long for constraints.
        """
        (checked,) = self._checked([sentence], ParseOptions())
        return ScoredSentence(self, checked)

    def sentences(
        self,
        pieces: Iterable[str],
        *,
        lines: bool = False,
        wrapped: bool = False,
        pretokenized: bool = False,
    ) -> Iterator[Sentence]:
        """The sentences of a text that comes in pieces, in constant memory; not parsed yet.

        The model decides what a single line end means, unless it is told. lines: each line is a
        sentence. wrapped: line ends mean nothing, only blank lines do. pretokenized: each line is a
        sentence with spaces between its words; a model without a segmenter assumes this.
        """
        check_reading(lines=lines, wrapped=wrapped, pretokenized=pretokenized)
        if not pretokenized and self.segmenter is None:
            self._warn_once(
                "segmenter",
                "the model has no segmenter: each line is taken as a sentence, with spaces between "
                "its words",
            )
        if pretokenized or self.segmenter is None:
            segmented = sentences_from_lines(lines_of(pieces))
        elif lines:
            segmented = self.segmenter.segment_lines(lines_of(pieces))
        else:
            segmented = self.segmenter.segment_stream(pieces, wrapped=wrapped)
        while True:
            with stage("segment"):
                sentence = next(segmented, None)
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
        """The sentences with HEAD and DEPREL filled in, and tags and lemmas if the model has them.

        confidence: also give the probabilities of every head and relation. k: also give the k best
        trees, each with its probability.
        constraints: for every sentence what its trees must and must not contain, or None; a
        constrained sentence gets a projective tree unless the structure is `mst`. Sentences of more
        than 400 words take no constraints, and get no confidences if the structure is `span` or
        `mst`. retag: predict tags and lemmas even where a sentence has them. All else stays. Raises
        HeadspanError for a sentence of more than 2,000 words, and for k and constraints if the
        structure builds trees word by word.
        """
        if isinstance(sentences, str | Sentence):
            raise HeadspanError(
                f"parse takes a list of sentences: call parser(…) for {kind_of(sentences)}"
            )
        if isinstance(sentences, bytes) or not isinstance(sentences, Iterable):
            raise HeadspanError(f"found {kind_of(sentences)}; expected a list of sentences")
        if isinstance(constraints, Constraints):
            raise HeadspanError("found Constraints; expected a list of them, one per sentence")
        for constraint in constraints or ():
            check_constraints(constraint)
        if constraints is not None and len(constraints) != len(sentences):
            raise HeadspanError(
                f"found {len(constraints)} constraints for {len(sentences)} sentences; expected "
                "one, or None, per sentence"
            )
        options = ParseOptions(confidence=confidence, k=k, retag=retag)
        return list(self._stream(sentences, constraints or repeat(None), options))

    def parse_stream(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        confidence: bool = False,
        k: int = 1,
        retag: bool = False,
    ) -> Iterator[Parse]:
        """Parse sentences lazily, in order, in constant memory; the options are those of `parse`.

        About a thousand sentences are read ahead, so that similar lengths share a batch.
        `parse_stream(parser.sentences(pieces))` parses a text of any length.
        """
        if isinstance(sentences, str | Sentence):
            raise HeadspanError(
                f"parse_stream takes sentences: call parser(…) for {kind_of(sentences)}"
            )
        options = ParseOptions(confidence=confidence, k=k, retag=retag)
        return self._stream(sentences, repeat(None), options)

    def _stream(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        constraints: Iterable[Constraints | None],
        options: ParseOptions,
    ) -> Iterator[Parse]:
        waiting = zip(self._checked(sentences, options), constraints, strict=False)
        while ahead := list(islice(waiting, _AHEAD)):
            done: dict[int, Parse] = {}
            self._check_language([sentence for sentence, _ in ahead])
            costs = [self.cost(sentence) for sentence, _ in ahead]
            order = sorted((k for k, (s, _) in enumerate(ahead) if len(s)), key=lambda k: costs[k])
            for batch in batches(order, costs, _BATCH):
                parses = self._parse([ahead[k] for k in batch], options)
                done.update(zip(batch, parses, strict=True))
            for k, (sentence, _) in enumerate(ahead):
                yield done[k] if k in done else Parse.of(sentence)
            self._tidy(sum(len(sentence) for sentence, _ in ahead))

    @property
    def language(self) -> str | None:
        """The language of the model by its ISO code, as its card has it; None if it has none."""
        match = _CARD_LANGUAGE.match(self.card)
        return match[1] if match else None

    @cached_property
    def _known_language(self) -> KnownLanguage:
        """The language of the words that training saw often."""
        vocabulary = self.segmenter.finder.words if self.segmenter else self.vocabularies.words
        return KnownLanguage(vocabulary.names)

    def _check_language(self, sentences: Sequence[Sentence]) -> None:
        """Warn once if sentences are in a language that the model has not learned."""
        if "language" in self._warned:
            return
        sample = sentences[:: -(-len(sentences) // _SAMPLE)]
        text = " ".join(form for s in sample for form in s.forms[:_SAMPLE_WORDS])
        language = self._known_language.foreign(text[:_SAMPLE_CHARACTERS])
        own = LANGUAGES.get(self.language or "")
        if language and language != own:
            learned = f"is {own}" if own else "has learned another language"
            self._warn_once("language", f"this text looks like {language}; the model {learned}")

    def _warn_once(self, about: str, message: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            warn(message)

    def _tidy(self, words: int) -> None:
        self._words_since_tidying += words
        if self._words_since_tidying >= _TIDY:
            self._words_since_tidying = 0
            give_back()

    def _checked(
        self, sentences: Iterable[Sentence | Sequence[str]], options: ParseOptions
    ) -> Iterator[Sentence]:
        """The sentences; raises HeadspanError if one is too long."""
        dense = self.network.structure.needs_dense_scores(sums=self.config.model.minimum_risk)
        for number, words in enumerate(sentences, 1):
            sentence = as_sentence(words, number)
            check_parsed(len(sentence), f"sentence {number}", dense=dense)
            if options.k > 1 and len(sentence) > limits.LONGEST_DENSE:
                raise HeadspanError(
                    f"sentence {number} has {len(sentence):,} words; with k best trees, it may "
                    f"have {limits.LONGEST_DENSE} at most"
                )
            yield sentence

    def cost(self, sentence: Sentence) -> int:
        """The length of a sentence in a batch: its subwords or words, with its start and end."""
        return self.tokenizer.count(sentence.forms) if self.tokenizer else len(sentence) + 2

    def _parse(
        self, batch: list[tuple[Sentence, Constraints | None]], options: ParseOptions
    ) -> Iterator[Parse]:
        sentences, constraints = [s for s, _ in batch], [c for _, c in batch]
        with stage("prepare"):
            inputs = prepare(sentences, self.vocabularies, self.tokenizer)
        decoding = DecodingOptions(
            constraints=constraints if any(constraints) else None,
            confidence=options.confidence,
            temperatures=self.temperatures,
            k=options.k,
        )
        try:
            output = self.network.parse(inputs, decoding)
        except NoTreeError as error:
            if len(batch) == 1 and constraints[0] is not None:
                words = shown(" ".join(sentences[0].forms))
                raise NoTreeError(f"no tree of {words} satisfies its constraints") from error
            if len(batch) > 1:
                for one in batch:
                    deque(self._parse([one], options), maxlen=0)  # raises for the one to blame
            raise
        for b, (sentence, constraint) in enumerate(batch):
            tagged = self._tagged(sentence, output, b, retag=options.retag)
            yield self._result(tagged, output, b, as_it_is=constraint is not None)

    def _tagged(self, sentence: Sentence, output: Output, b: int, *, retag: bool) -> Sentence:
        numbers = {
            column: tags[b, : len(sentence)]
            for column, tags in zip(self.vocabularies.tags, output.tags, strict=True)
            if retag or all(tag == "_" for tag in getattr(sentence, column))
        }
        if not numbers:
            return sentence
        return sentence.with_tags(**self.vocabularies.predicted(sentence, numbers))

    def _result(self, sentence: Sentence, output: Output, b: int, *, as_it_is: bool) -> Parse:
        n = len(sentence)
        heads, labels = self._tree(output.best, b, n, as_it_is=as_it_is)
        before = output.best.heads[b, :n].tolist()
        left, right = output.best.spans[b, :n].T.tolist()
        of_heads: tuple[float, ...] = ()
        of_relations: tuple[float, ...] = ()
        sure = output.confidences
        if sure is not None and not np.isnan(sure.heads[b, 0]):
            # a restored arc is right if the arc and the label that it was restored from are right
            restored = np.not_equal(heads, before)
            of_labels = sure.relations[b, :n].clip(0, 1)
            of_heads = tuple(
                (sure.heads[b, :n] * np.where(restored, of_labels, 1)).clip(0, 1).tolist()
            )
            of_relations = tuple(np.where(restored, 1.0, of_labels).tolist())
        alternatives: tuple[Tree, ...] = ()
        if output.alternatives is not None and output.probabilities is not None:
            ranked = output.alternatives[b]
            trees = [
                self._tree(ranked, rank, n, as_it_is=as_it_is) for rank in range(len(ranked.heads))
            ]
            alternatives = tuple(
                Tree(tuple(heads), tuple(labels), float(score), float(probability))
                for (heads, labels), score, probability in zip(
                    trees, ranked.scores, output.probabilities[b], strict=True
                )
            )
        parsed = sentence.with_parse(heads, labels)
        return Parse.of(
            replace(parsed, misc=without_confidences(parsed.misc)),
            spans=tuple(map(Span, left, right, range(1, n + 1))),
            score=float(output.best.scores[b]),
            head_confidences=of_heads,
            relation_confidences=of_relations,
            alternatives=alternatives,
        )

    def _tree(
        self, trees: PredictedTrees, b: int, n: int, *, as_it_is: bool
    ) -> tuple[list[int], list[str]]:
        """Heads and relations; non-projective arcs are restored unless the tree must stay."""
        heads: list[int] = trees.heads[b, :n].tolist()
        labels = self.vocabularies.labels.names_of(trees.labels[b, :n])
        scheme = self.config.data.scheme
        if scheme is None:
            return heads, labels
        if as_it_is:
            return heads, [relation(label) for label in labels]
        return deprojectivize(heads, labels, scheme=scheme)

    def to(self, device: str) -> Parser:
        """Compute with torch in float32 on a device, such as `cuda`; returns the parser."""
        network: Any = self.network
        if isinstance(network, GraphNetwork):
            network = with_torch(self)
        self.network = network.to(device)
        return self

    def use_int8(self, wanted: bool = True) -> Parser:
        """Compute the network's linear maps in 8-bit integers from now on; returns the parser.

        Faster on a CPU, with nearly the same trees. Weights are saved as they are. Raises
        HeadspanError if the processor lacks the instructions for it. wanted: False goes back to
        float32.
        """
        self.network.compute_in_int8(wanted)
        return self

    def save(self, path: str | os.PathLike[str], *, small: bool = False) -> None:
        """Write the model folder, whole or not at all; an old one is replaced.

        small: store large matrices as int8 and the others as float16, in less than a third of the
        space.
        """
        save_parser(self, path, small=small)

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str],
        *,
        int8: bool | None = None,
        engine: EngineName | None = None,
    ) -> Parser:
        """A parser from a model folder, or the embedded or installed model of that name.

        int8: compute linear maps in 8-bit integers, or in float32; by default as the model's
        weights are stored, where the processor is fast at it (see `use_int8`). engine: compute the
        network with ONNX Runtime (`onnx`) or with torch; by default with ONNX Runtime, where it
        can. Runs nothing in the folder and reads nothing outside it; every tensor must fit.
        """
        return load_parser(cls, find_model(name), int8=int8, engine=engine)

    def save_pretrained(self, path: str | os.PathLike[str]) -> None:
        """`save`, under the name that Hugging Face's libraries use."""
        self.save(path)

    @classmethod
    def from_pretrained(cls, name: str | os.PathLike[str]) -> Parser:
        """`load`; a name that is neither a folder nor embedded is fetched from the hub."""
        return cls.load(find_or_fetch(name))

    def push_to_hub(self, name: str, *, private: bool = False) -> str:
        """Upload the model folder to the Hugging Face hub; returns its address."""
        return upload(self.save, name, private=private)


def load(
    name: str | os.PathLike[str] = "en",
    *,
    int8: bool | None = None,
    engine: EngineName | None = None,
) -> Parser:
    """A parser by the name of an embedded or installed model, or from a model folder.

    int8, engine: as for `Parser.load`.
    """
    return Parser.load(name, int8=int8, engine=engine)
