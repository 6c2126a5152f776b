"""The Spark recipe of the docs, on a Spark of this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from conftest import ROOT

pytest.importorskip("pyspark", reason="needs pyspark, which is too large for the dev extra")


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_documents_become_sentences(model: Path, tmp_path: Path) -> None:
    documents = pa.table(
        {"id": ["a", "b", "c"], "text": ["A dog.\n\nA cat sleeps.", "The dog sees.", " "]}
    )
    parquet.write_table(documents, tmp_path / "documents.parquet")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.ui.enabled=false pyspark-shell",
    }
    arguments = ["documents.parquet", "sentences", str(model)]
    done = subprocess.run(
        [sys.executable, ROOT / "examples/spark.py", *arguments], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = parquet.read_table(sorted((tmp_path / "sentences").glob("*.parquet"))).to_pylist()
    assert sorted(row["sent_id"] for row in rows) == ["a-1", "a-2", "b-1"]
    assert all(len(row["heads"]) == len(row["forms"]) for row in rows)
