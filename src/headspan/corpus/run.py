"""The function parse_corpus: from files to a folder of shards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from headspan import __version__
from headspan.corpus import parquet, workers
from headspan.corpus.chunks import Shard
from headspan.corpus.output_folder import (
    CorpusSummary,
    FinishedFolder,
    OutputFolder,
    check_input,
    open_folder,
)
from headspan.corpus.parsing import CorpusOptions
from headspan.corpus.shards import Compression, ShardFormat, ShardWriter, load_parser
from headspan.corpus.source import Source
from headspan.model.folder import find_model, fingerprint
from headspan.plumbing.errors import HeadspanError, check_choice
from headspan.plumbing.files import PathLike

if TYPE_CHECKING:
    from headspan.model.parser import Parser


@dataclass(frozen=True, slots=True)
class CorpusProgress:
    """The progress of a run."""

    shards: int
    """Shards that are finished."""
    words: int
    """Words that this run has parsed."""
    seconds: float
    """Time since this run began."""
    bytes_read: int
    """Bytes of the input files that are parsed, compressed if they are."""
    bytes_read_before: int
    """The bytes among them that were parsed before this run."""
    bytes_total: int | None
    """The size of all input files, if it is known."""

    @property
    def words_per_second(self) -> float:
        return self.words / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None before anything is parsed, or if the input's size is not known."""
        bytes_now = self.bytes_read - self.bytes_read_before
        if self.bytes_total is None or bytes_now <= 0:
            return None
        return max(0, self.bytes_total - self.bytes_read) * self.seconds / bytes_now


class Engine(Protocol):
    """Parses the chunks that a folder lacks, and yields their shards in any order."""

    def __call__(
        self, source: Source, folder: OutputFolder, writer: ShardWriter
    ) -> Generator[Shard]: ...


def local_engine(processes: int) -> Engine:
    """The engine that parses in processes of this machine."""

    def engine(source: Source, folder: OutputFolder, writer: ShardWriter) -> Generator[Shard]:
        return workers.run(folder.remaining(source.chunks()), writer, processes=processes)

    return engine


def parse_corpus(
    inputs: Sequence[PathLike],
    folder: PathLike,
    *,
    model: PathLike = "en",
    format: ShardFormat = "conllu",
    compress: Compression = "none",
    options: CorpusOptions = CorpusOptions(),  # noqa: B008 (it is frozen)
    shard_size: int = 100,
    processes: int | None = None,
    engine: Engine | None = None,
    watch: Callable[[CorpusProgress], None] | None = None,
    load: Callable[[str, int], Parser] = load_parser,
) -> CorpusSummary:
    """Parse files into a folder of shards, or resume what an earlier call began there.

    inputs: files, folders, or `-` for standard input. format, compress: the format and compression
    of the shards. shard_size: text per shard, in thousands of characters. processes: None for the
    number that suits this machine. engine: the engine that parses; None for processes of this
    machine. watch: called with the progress after every shard. load: makes the parser in each
    process.
    """
    check_choice("format", format, ShardFormat)
    check_choice("compress", compress, Compression)
    if format == "parquet":
        parquet.libraries()  # fails here, and not once per shard
    for name, number in (("shard_size", shard_size), ("processes", processes)):
        if number is not None and number < 1:
            raise HeadspanError(f"{name} is {number}; expected 1 or more")
    names = tuple(os.fspath(name) for name in inputs)
    source = Source(names, 1000 * shard_size, Path.cwd())
    source.check()
    target = Path(folder).absolute()
    _check_apart(names, target)
    plan = workers.plan_processes(processes)
    path = find_model(model)
    settings = {
        "headspan": __version__,
        "model": os.fspath(model),
        "model_sha256": fingerprint(path),
        "inputs": list(names),
        "format": format,
        "compress": compress,
        **asdict(options),
        "shard_size": shard_size,
        "threads": plan.threads,
    }
    with open_folder(target, settings) as opened:
        if isinstance(opened, FinishedFolder):
            check_input(source.chunks(), opened.fingerprints, target)
            return opened.summary
        # an embedded model keeps its name, since other machines may have it elsewhere
        model_name = str(path.absolute()) if Path(model).is_dir() else os.fspath(model)
        writer = ShardWriter(
            model_name, target, format, compress, options,
            threads=opened.settings["threads"], load=load,
        )  # fmt: skip
        engine = engine or local_engine(plan.processes)
        return _run(source, opened, writer, engine, watch)


def _run(
    source: Source,
    folder: OutputFolder,
    writer: ShardWriter,
    engine: Engine,
    watch: Callable[[CorpusProgress], None] | None,
) -> CorpusSummary:
    started, words_before, bytes_before = time.monotonic(), folder.words, folder.bytes_read
    total = source.bytes() if watch else None

    def report() -> None:
        if watch:
            watch(
                CorpusProgress(
                    shards=len(folder.finished),
                    words=folder.words - words_before,
                    seconds=time.monotonic() - started,
                    bytes_read=folder.bytes_read,
                    bytes_read_before=bytes_before,
                    bytes_total=total,
                )
            )

    try:
        if folder.complete:
            check_input(source.chunks(), folder.finished, folder.path)
        else:
            report()
            with closing(engine(source, folder, writer)) as shards:
                for shard in shards:
                    folder.add(shard)
                    report()
        return folder.finish()
    finally:
        folder.clear()


def _check_apart(names: Sequence[str], folder: Path) -> None:
    """Raise HeadspanError if the output would become input when the run is resumed."""
    for name in names:
        if name != "-" and folder.resolve().is_relative_to(Path(name).resolve()):
            raise HeadspanError(f"{folder}: is inside the input {name}; use another folder")
