"""A real Ray cluster on this machine: a head and two workers, one of which is killed at work."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from corpus.conftest import files, paragraphs
from corpus.fake import load
from headspan import HeadspanError
from headspan.corpus import CorpusProgress

ray = pytest.importorskip("ray", reason="needs the extra ray")
SMALL = {"object_store_memory": 80_000_000}
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray has many


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)])
    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **SMALL}
    )
    made.workers = [made.add_node(num_cpus=1, **SMALL) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ids_are_kept_and_order_is_restored(cluster: Any, no_model: Path) -> None:
    from headspan.integrations.ray import parse as parse_dataset

    items = [{"id": f"d{k}", "tokens": ["one", "two"]} for k in range(8)]
    documents = ray.data.from_items(items, override_num_blocks=4)
    rows = parse_dataset(documents, model=no_model, ordered=True, workers=1, load=load).take_all()
    assert [row["sent_id"] for row in rows] == [f"d{k}-1" for k in range(8)]
    assert all(list(row["heads"]) == [0, 1] for row in rows)


def test_a_chunk_that_kills_its_actor_is_recorded_and_a_broken_model_stops_the_run(
    cluster: Any, parse: Any, here: Path
) -> None:
    from headspan.integrations.ray import ray_engine

    Path("text.txt").write_text(paragraphs(6) + "DIE now .\n", encoding="utf-8")
    summary = parse([Path("text.txt")], Path("out"), engine=ray_engine(workers=1))
    assert (summary.shards, summary.errors) == (1, 1)
    (error,) = map(json.loads, Path("out/errors.jsonl").read_text(encoding="utf-8").splitlines())
    assert "is missing: the actor that parsed it died, 2 times" in error["reason"]
    assert sorted(files(Path("out"))) == ["errors.jsonl", "manifest.json", "part-00000.conllu"]
    with pytest.raises(HeadspanError, match="the model is broken"):
        parse([Path("text.txt")], Path("broken"), engine=ray_engine(workers=1), load=broken_load)


@pytest.mark.parametrize(
    ("address", "what"),
    [("away:1", "the cluster at away:1 cannot be reached"), (None, "cannot be started")],
)
def test_a_cluster_that_cannot_be_reached_is_an_error(
    address: str | None, what: str, parse: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headspan.integrations.ray import ray_engine

    def init(**options: Any) -> None:
        assert options["address"] == address
        raise Exception("It timed out.\nSee the logs.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    Path("text.txt").write_text(paragraphs(1), encoding="utf-8")
    with pytest.raises(HeadspanError, match=rf"^Ray: {what}: It timed out\.$"):
        parse([Path("text.txt")], Path("out"), engine=ray_engine(address=address))


def broken_load(model: str, threads: int) -> Any:
    raise HeadspanError("the model is broken")


def test_if_a_node_is_killed_nothing_is_lost_or_doubled(
    cluster: Any, parse: Any, here: Path
) -> None:
    from headspan.integrations.ray import ray_engine

    text = Path("text.txt")
    text.write_text(
        "".join(f"WAIT number {k} {'word ' * 180}.\n\n" for k in range(16)), encoding="utf-8"
    )
    parse([text], Path("inline"))

    def watch(progress: CorpusProgress) -> None:
        if progress.shards >= 3 and cluster.workers:
            cluster.remove_node(cluster.workers.pop(), allow_graceful=False)
            cluster.workers.clear()

    summary = parse([text], Path("out"), engine=ray_engine(), watch=watch)
    assert not cluster.workers
    assert summary.errors == 0
    assert files(Path("out")) == files(Path("inline"))
