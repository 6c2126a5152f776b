import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(FOLDER.glob("*.py")) if "__main__" in p.read_text(encoding="utf-8")],
    ids=lambda path: path.name,
)
def test_a_benchmark_explains_itself(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, path, "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout
