"""parse_corpus: from files to a folder of shards."""

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
from headspan.corpus.machine import share
from headspan.corpus.output_folder import Folder, Summary, open_folder
from headspan.corpus.parsing import Options
from headspan.corpus.shards import Compression, ShardFormat, Work
from headspan.corpus.shards import load as load_parser
from headspan.corpus.source import Source
from headspan.model.folder import find_model, fingerprint
from headspan.plumbing.errors import HeadspanError, check_choice
from headspan.plumbing.files import PathLike

if TYPE_CHECKING:
    from headspan.model.parser import Parser


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    shards: int
    """That are there."""
    words: int
    """That this run has parsed."""
    seconds: float
    """That it took for them."""
    read: int
    """Bytes of the input that are done, as they lie on the disk."""
    read_before: int
    """Of them, those that were done before this run."""
    bytes: int | None
    """Of the whole input, if that is known."""

    @property
    def words_a_second(self) -> float:
        return self.words / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate, once there is something to go by."""
        now = self.read - self.read_before
        if self.bytes is None or now <= 0:
            return None
        return max(0, self.bytes - self.read) * self.seconds / now


class Engine(Protocol):
    """What parses the chunks that a folder lacks, and gives their shards in any order."""

    def __call__(self, source: Source, folder: Folder, work: Work) -> Generator[Shard]: ...


def local(processes: int) -> Engine:
    """The engine that parses in processes of this machine."""

    def engine(source: Source, folder: Folder, work: Work) -> Generator[Shard]:
        return workers.run(folder.remaining(source.chunks()), work, processes=processes)

    return engine


def parse_corpus(
    inputs: Sequence[PathLike],
    folder: PathLike,
    *,
    model: PathLike = "en",
    format: ShardFormat = "conllu",
    compress: Compression = "none",
    options: Options = Options(),  # noqa: B008 (it is frozen)
    shard_size: int = 100,
    processes: int | None = None,
    engine: Engine | None = None,
    watch: Callable[[Progress], None] | None = None,
    load: Callable[[str, int], Parser] = load_parser,
) -> Summary:
    """Parse files into a folder of shards, or go on with what an earlier call has left there.

    inputs: files, folders, or `-`. format and compress: what a shard is. shard_size: how much text
    makes a shard, in thousands of characters. processes: on this machine; None for what suits it.
    engine: something else than processes of this machine. watch: is told how far it is. load: makes
    the parser in each process.
    """
    check_choice("format", format, ShardFormat)
    check_choice("compress", compress, Compression)
    if format == "parquet":
        parquet.libraries()  # or each shard would fail by itself
    if shard_size < 1 or (processes is not None and processes < 1):
        raise HeadspanError("the size of a shard and the number of processes are at least 1")
    names = tuple(os.fspath(name) for name in inputs)
    source = Source(names, 1000 * shard_size, Path.cwd())
    source.check()
    target = Path(folder).absolute()
    _check_apart(names, target)
    suits = share(processes)
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
        "threads": suits.threads,
    }
    with open_folder(target, settings) as opened:
        if isinstance(opened, Summary):
            return opened
        # an embedded model is found by its name also on machines that have it elsewhere
        name = str(path.absolute()) if Path(model).is_dir() else os.fspath(model)
        work = Work(
            name, target, format, compress, options,
            threads=opened.settings["threads"], load=load,
        )  # fmt: skip
        engine = engine or local(suits.processes)
        return _run(source, opened, work, engine, watch)


def _run(
    source: Source,
    folder: Folder,
    work: Work,
    engine: Engine,
    watch: Callable[[Progress], None] | None,
) -> Summary:
    started, words, read = time.monotonic(), folder.words, folder.read
    total = source.bytes() if watch else None

    def tell() -> None:
        if watch:
            seconds = time.monotonic() - started
            now = folder.words - words
            watch(Progress(len(folder.finished), now, seconds, folder.read, read, total))

    try:
        if not folder.complete:
            tell()
            with closing(engine(source, folder, work)) as shards:
                for shard in shards:
                    folder.add(shard)
                    tell()
        return folder.finish()
    finally:
        folder.clear()


def _check_apart(names: Sequence[str], folder: Path) -> None:
    """What is written must not become input when the run goes on."""
    for name in names:
        if name != "-" and folder.resolve().is_relative_to(Path(name).resolve()):
            raise HeadspanError(f"{folder}: lies in {name}, which is read; take another folder")
