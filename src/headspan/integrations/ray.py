"""Ray Data as the engine: corpora on a cluster (extra `ray`).

    parse_corpus(["texts/"], "parsed", engine=ray_engine(address="auto"))
    sentences = parse(ray.data.read_parquet("documents/"), model="en")

One task reads the corpus and gives its chunks out, actors that hold the model parse them and put
the shards in place, and Ray holds the reader back while they are busy. Chunks and shards are those
of the local engine, so the folder is the same, byte for byte.
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
from headspan.corpus.output_folder import Folder, remaining
from headspan.corpus.parsing import Options
from headspan.corpus.run import Engine
from headspan.corpus.shards import Work
from headspan.corpus.shards import load as load_parser
from headspan.corpus.source import Source
from headspan.integrations.arrow import TableParser
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

_TRIES = 2  # that a chunk has if the actor that parses it dies; Ray would try for ever


def ray_engine(*, address: str | None = None, workers: int | None = None) -> Engine:
    """The engine for `parse_corpus` that parses on a Ray cluster.

    address: of a cluster, which must see the same files under the same names; None uses one that
    this process is connected to, or starts one on this machine. workers: how many actors; None for
    one on every core.
    """

    def engine(source: Source, folder: Folder, work: Work) -> Generator[Shard]:
        with _connected(address):
            for row in _rows(_shards(source, folder, work, workers)):
                said = json.loads(row["shard"])
                if "error" in said:
                    raise HeadspanError(said["error"])
                yield Shard.from_table(said)

    return engine


def parse(
    documents: Dataset,
    *,
    model: str | os.PathLike[str] = "en",
    options: Options = Options(),  # noqa: B008 (it is frozen)
    workers: int | None = None,
    ordered: bool = False,
    load: Callable[[str, int], Parser] = load_parser,
) -> Dataset:
    """A dataset of documents (`id`, and `text` or `tokens`) as one of sentences, with trees.

    The columns are those of `headspan.integrations.arrow.schema`; ids are kept. ordered: sentences
    come in the order of the documents, which may keep actors waiting for each other. load: makes
    the parser in each actor.
    """
    if ordered:
        documents.context.execution_options.preserve_order = True
    return documents.map_batches(
        TableParser,
        fn_constructor_args=(os.fspath(model),),
        fn_constructor_kwargs={"options": options, "load": load},
        batch_format="pyarrow",
        batch_size=64,
        compute=ActorPoolStrategy(size=workers or _cores()),
        num_cpus=1,
    )


def _shards(source: Source, folder: Folder, work: Work, workers: int | None) -> Dataset:
    """What a folder lacks, as a dataset whose rows are shards that are in their places."""
    context = DataContext.get_current().copy()
    context.target_max_block_size = 1  # a chunk a block: actors are given blocks
    context.enable_progress_bars = False
    most = workers or max(1, _cores() // work.threads)
    with DataContext.current(context):
        chunks = ray.data.read_datasource(
            _Chunks(source, dict(folder.finished), folder.path),
            override_num_blocks=1,
            num_cpus=0,  # it is one, and idle while the actors are busy
        )
        return chunks.map_batches(
            _Actor,
            fn_constructor_args=(work,),
            batch_format="pyarrow",
            batch_size=1,
            compute=ActorPoolStrategy(
                min_size=1, max_size=most, initial_size=most, max_tasks_in_flight_per_actor=1
            ),
            num_cpus=work.threads,
        )


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The rows of a dataset, in constant memory; what Ray raises becomes a HeadspanError."""
    try:
        yield from dataset.iter_rows()
    except HeadspanError:
        raise
    except (ray.exceptions.RayError, ray.exceptions.UserCodeException) as error:
        cause = error.__cause__ if isinstance(error.__cause__, HeadspanError) else error
        lines = str(cause).strip().splitlines()
        raise HeadspanError(f"Ray: {lines[-1] if lines else type(error).__name__}") from error


class _Chunks(Datasource):  # type: ignore[misc]
    """The chunks of a corpus that are not finished, read by one task as they are asked for."""

    def __init__(self, source: Source, finished: Mapping[int, str], folder: Path) -> None:
        super().__init__()
        self._given = source, finished, folder

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, *_: Any, **__: Any) -> list[ReadTask]:
        source, finished, folder = self._given

        def read() -> Iterable[pa.Table]:
            for chunk in remaining(source.chunks(), finished, folder):
                yield pa.table({"chunk": [chunk.to_json()]})

        return [ReadTask(read, BlockMetadata(None, None, None, None))]


class _Actor:
    """A process that holds the model."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._parser: Parser | None = None

    def __call__(self, chunks: pa.Table) -> pa.Table:
        said = [self._said(Chunk.from_json(one)) for one in chunks["chunk"].to_pylist()]
        return pa.table({"shard": [json.dumps(one) for one in said]})

    def _said(self, chunk: Chunk) -> dict[str, Any]:
        """The shard's fields, or the error that ends the run."""
        try:
            return asdict(self._shard(chunk))
        except OSError as error:
            return {"error": f"{self._work.folder}: cannot be written: {reason(error)}"}
        except HeadspanError as error:
            return {"error": str(error)}

    def _shard(self, chunk: Chunk) -> Shard:
        if self._parser is None:
            self._parser = self._work.parser()
        tries = self._work.folder / f".headspan-{chunk.name}.tmp"
        with tries.open("ab") as file:
            if file.tell() >= _TRIES:
                return Shard.failed(chunk, f"the actor that parsed it died, {_TRIES} times")
            file.write(b"x")
        shard = self._work.shard(self._parser, chunk)
        tries.unlink(missing_ok=True)
        return shard


def _cores() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """With a cluster: the one that there is, or one for the time being."""
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
    except Exception as error:  # Ray has no type of its own for this
        what = f"the cluster at {address} cannot be reached" if address else "cannot be started"
        why = str(error).strip().partition("\n")[0]
        raise HeadspanError(f"Ray: {what}: {why}") from error
    try:
        yield
    finally:
        ray.shutdown()
