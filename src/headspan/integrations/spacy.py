"""headspan in a spaCy pipeline: `nlp.add_pipe("headspan")`.

spaCy finds this module by itself, and imports it for every pipeline that it makes, whether headspan
is in it or not. So heavy libraries are imported only when they are needed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for
from headspan.plumbing.threads import set_threads

with needed_for("the component for spaCy", extra="spacy"):
    from spacy.language import Language
    from spacy.pipeline.dep_parser import parser_score
    from spacy.pipeline.pipe import Pipe
    from spacy.tokens import Doc, Token
    from spacy.util import minibatch
    from srsly import msgpack_dumps, msgpack_loads

    from headspan.integrations import spacy_docs
    from headspan.integrations.spacy_docs import CONFIDENCES

if TYPE_CHECKING:
    from headspan.model.parser import Parser


class HeadspanParser(Pipe):
    """Sets heads and relations on the tokens of a Doc, and on request tags and confidences.

    The model is loaded when it is first needed. So a saved pipeline, which has the model in it, can
    be loaded where the original model is missing.
    """

    def __init__(
        self,
        name: str = "headspan",
        *,
        model: str = "en",
        sentences: bool = True,
        tags: bool = False,
        confidence: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.sentences = sentences
        self.tags = tags
        self.confidence = confidence
        self.scorer = parser_score  # for nlp.evaluate
        self._parser: Parser | None = None
        self._process = os.getpid()
        for extension in CONFIDENCES if confidence else ():
            if not Token.has_extension(extension):
                Token.set_extension(extension, default=None)

    @property
    def parser(self) -> Parser:
        """The parser of the component."""
        if self._parser is None:
            from headspan.model.parser import Parser

            self._parser = Parser.load(self.model)
        return self._parser

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations that the model knows, in spaCy's spelling."""
        from headspan.pseudoprojective import relation

        names = self.parser.vocabularies.labels.names
        return tuple(sorted({spacy_docs.label(relation(name)) for name in names}))

    @property
    def hide_labels(self) -> bool:
        """Whether a pipeline's description omits the labels, which only loading the model gives."""
        return True

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document, in place."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of documents; the sentences of `batch_size` documents share batches."""
        handle = self.get_error_handler()
        for docs in minibatch(stream, batch_size):
            try:
                self._annotate(docs)
            except Exception as error:
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the model folder, so that the saved pipeline is complete."""
        self.parser.save(path)

    def from_disk(
        self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()
    ) -> HeadspanParser:
        """Load the model from a folder that `to_disk` wrote. Runs no code from it."""
        from headspan.model.parser import Parser

        self._parser = Parser.load(path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model folder, packed."""
        with tempfile.TemporaryDirectory() as folder:
            self.parser.save(Path(folder) / "model")
            files = {p.name: p.read_bytes() for p in (Path(folder) / "model").iterdir()}
        packed: bytes = msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> HeadspanParser:
        """Load the model from the result of `to_bytes`."""
        from headspan.model.folder import FILES

        files = msgpack_loads(data)
        if not isinstance(files, dict) or not all(
            name in FILES and isinstance(content, bytes) for name, content in files.items()
        ):
            raise HeadspanError("these bytes are not a headspan model")
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                (Path(folder) / name).write_bytes(content)
            return self.from_disk(folder)

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Parse documents, in place."""
        if os.getpid() != self._process:
            # a process of nlp.pipe(n_process=…): the fork did not copy torch's threads, and waiting
            # for them would take forever
            set_threads(1)
            self._process = os.getpid()
        model = self.parser.config.model
        if self.tags and not model.tagger.columns:
            raise HeadspanError(f"{self.name}: tags is true, but the model does not predict tags")
        starts = self._sentence_starts(docs)
        words = list(map(spacy_docs.words_of_sentences, docs, starts))
        sentences = [
            spacy_docs.sentence(doc, indices, model.embeddings.columns)
            for doc, words_of_doc in zip(docs, words, strict=True)
            for indices in words_of_doc
        ]
        parsed = iter(self.parser.parse(sentences, confidence=self.confidence))
        for doc, starts_of_doc, words_of_doc in zip(docs, starts, words, strict=True):
            if len(doc):
                parses = [(indices, next(parsed)) for indices in words_of_doc]
                spacy_docs.write_trees(doc, starts_of_doc, parses)
                if self.tags:
                    spacy_docs.write_tags(doc, parses, model.tagger.columns)

    def _sentence_starts(self, docs: Sequence[Doc]) -> list[spacy_docs.Flags]:
        """Mark the tokens of each document that begin a sentence.

        The decisions of other components stay; the model's segmenter makes the remaining ones.
        """
        decided = list(map(spacy_docs.decided_starts, docs))
        starts = [known for known, _ in decided]
        undecided = [k for k, (_, is_open) in enumerate(decided) if is_open.any()]
        if not undecided or not self.sentences:
            return starts
        if self.parser.segmenter is None:
            raise HeadspanError(
                f"{self.name}: the model cannot find sentences, because it was trained without "
                "data.segment; add spaCy's sentencizer before it, or set sentences to false if "
                "each document is one sentence"
            )
        segmented = spacy_docs.segmented_starts([docs[k] for k in undecided], self.parser)
        for k, starts_of_doc in zip(undecided, segmented, strict=True):
            starts[k] |= starts_of_doc & decided[k][1]
        return starts


@Language.factory(
    "headspan",
    default_config={"model": "en", "sentences": True, "tags": False, "confidence": False},
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents"],
)
def make(
    nlp: Language, name: str, model: str, sentences: bool, tags: bool, confidence: bool
) -> HeadspanParser:
    """Make a parser for a spaCy pipeline.

    model: the name of an embedded model, or a model folder. sentences: find sentences where no
    other component has; otherwise a document without boundaries is one sentence. tags: also set the
    tags and lemmas that the model predicts. confidence: also set `token._.confidence`,
    `token._.head_confidence` and `token._.relation_confidence`.
    """
    return HeadspanParser(name, model=model, sentences=sentences, tags=tags, confidence=confidence)
