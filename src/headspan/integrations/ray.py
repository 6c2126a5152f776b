"""Ray Data as the engine: corpora on a cluster (extra `ray`).

    parse_corpus(["texts/"], "parsed", engine=ray_engine(address="auto"))
    sentences = parse(ray.data.read_parquet("documents/"), model="en")

One task reads the corpus and hands out its chunks, actors that hold the model parse them and put
the shards in place, and Ray pauses the reader while they are busy. Chunks and shards are those of
the local engine, so the folder is the same, byte for byte.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headspan.corpus.chunks import Chunk, Shard
from headspan.corpus.output_folder import OutputFolder, remaining
from headspan.corpus.parsing import CorpusOptions
from headspan.corpus.run import Engine
from headspan.corpus.shards import ShardWriter, load_parser
from headspan.corpus.source import Source
from headspan.corpus.workers import TRIES
from headspan.integrations.arrow import ROWS, TableParser
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for
from headspan.plumbing.files import reason

with needed_for("Ray Data as the engine", extra="ray"):
    import pyarrow as pa
    import ray
    from ray.data import ActorPoolStrategy, DataContext
    from ray.data.block import BlockMetadata
    from ray.data.datasource import Datasource, ReadTask

if TYPE_CHECKING:
    from ray.data import Dataset

    from headspan.model.parser import Parser


def ray_engine(*, address: str | None = None, workers: int | None = None) -> Engine:
    """The engine for `parse_corpus` that parses on a Ray cluster.

    address: the address of a cluster, which must see the same files under the same names; None uses
    the one that this process is connected to, or starts one on this machine. workers: the number of
    actors; None for one per core.
    """

    def engine(source: Source, folder: OutputFolder, writer: ShardWriter) -> Generator[Shard]:
        with _connected(address):
            for row in _rows(_shards(source, folder, writer, workers)):
                table = json.loads(row["shard"])
                if "error" in table:
                    raise HeadspanError(table["error"])
                yield Shard.from_table(table)

    return engine


def parse(
    documents: Dataset,
    *,
    model: str | os.PathLike[str] = "en",
    options: CorpusOptions = CorpusOptions(),  # noqa: B008 (it is frozen)
    workers: int | None = None,
    ordered: bool = False,
    load: Callable[[str, int], Parser] = load_parser,
) -> Dataset:
    """Turn a dataset of documents (`id`, and `text` or `tokens`) into one of parsed sentences.

    The columns are those of `headspan.integrations.arrow.schema`; ids are kept. ordered: keep the
    order of the documents, for which actors may have to wait for each other. load: makes the parser
    in each actor.
    """
    if ordered:
        documents.context.execution_options.preserve_order = True
    return documents.map_batches(
        TableParser,
        fn_constructor_args=(os.fspath(model),),
        fn_constructor_kwargs={"options": options, "load": load},
        batch_format="pyarrow",
        batch_size=ROWS,
        compute=ActorPoolStrategy(size=workers or _cores()),
        num_cpus=1,
    )


def _shards(
    source: Source, folder: OutputFolder, writer: ShardWriter, workers: int | None
) -> Dataset:
    """A dataset of the shards that a folder lacks; its rows arrive as they are put in place."""
    context = DataContext.get_current().copy()
    context.target_max_block_size = 1  # one chunk per block, since actors take blocks
    context.enable_progress_bars = False
    actors = workers or max(1, _cores() // writer.threads)
    with DataContext.current(context):
        chunks = ray.data.read_datasource(
            _Chunks(source, dict(folder.finished), folder.path),
            override_num_blocks=1,
            num_cpus=0,  # there is one reader, idle while the actors are busy
        )
        return chunks.map_batches(
            _Actor,
            fn_constructor_args=(writer,),
            batch_format="pyarrow",
            batch_size=1,
            compute=ActorPoolStrategy(
                min_size=1, max_size=actors, initial_size=actors, max_tasks_in_flight_per_actor=1
            ),
            num_cpus=writer.threads,
        )


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The rows of a dataset, in constant memory. An error of Ray becomes a HeadspanError."""
    try:
        yield from dataset.iter_rows()
    except HeadspanError:
        raise
    except (ray.exceptions.RayError, ray.exceptions.UserCodeException) as error:
        cause = error.__cause__ if isinstance(error.__cause__, HeadspanError) else error
        lines = str(cause).strip().splitlines()
        raise HeadspanError(f"Ray: {lines[-1] if lines else type(error).__name__}") from error


class _Chunks(Datasource):  # type: ignore[misc]
    """The chunks of a corpus that are not finished, read one at a time by one task."""

    def __init__(self, source: Source, finished: Mapping[int, str], folder: Path) -> None:
        super().__init__()
        self._source = source
        self._finished = finished
        self._folder = folder

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, *_: Any, **__: Any) -> list[ReadTask]:
        source, finished, folder = self._source, self._finished, self._folder

        def read() -> Iterable[pa.Table]:
            for chunk in remaining(source.chunks(), finished, folder):
                yield pa.table({"chunk": [chunk.to_json()]})

        return [ReadTask(read, BlockMetadata(None, None, None, None))]


class _Actor:
    """A process that holds the model."""

    def __init__(self, writer: ShardWriter) -> None:
        self._writer = writer
        self._parser: Parser | None = None

    def __call__(self, chunks: pa.Table) -> pa.Table:
        tables = [self._table(Chunk.from_json(chunk)) for chunk in chunks["chunk"].to_pylist()]
        return pa.table({"shard": [json.dumps(table) for table in tables]})

    def _table(self, chunk: Chunk) -> dict[str, Any]:
        """The fields of the shard, or the error that ends the run."""
        try:
            return asdict(self._shard(chunk))
        except OSError as error:
            return {"error": f"{self._writer.folder}: cannot be written: {reason(error)}"}
        except HeadspanError as error:
            return {"error": str(error)}

    def _shard(self, chunk: Chunk) -> Shard:
        """Write the shard, unless too many actors have died of it: Ray would try for ever."""
        if self._parser is None:
            self._parser = self._writer.parser()
        marks = self._writer.folder / f".headspan-{chunk.name}.tmp"  # one byte per try
        with marks.open("ab") as file:
            if file.tell() >= TRIES:
                return Shard.failed(chunk, f"the actor that parsed it died, {TRIES} times")
            file.write(b"x")
        shard = self._writer.write(self._parser, chunk)
        marks.unlink(missing_ok=True)
        return shard


def _cores() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Use the cluster that there is, or connect to one for the time being."""
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(
            address=address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # Ray raises different types for this
        what = f"the cluster at {address} cannot be reached" if address else "cannot be started"
        why = str(error).strip().partition("\n")[0]
        raise HeadspanError(f"Ray: {what}: {why}") from error
    try:
        yield
    finally:
        ray.shutdown()
