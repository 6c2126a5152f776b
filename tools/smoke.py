"""Install the wheel in empty environments, without extras and with each alone, and try it.

    python tools/smoke.py                    # what tools/build.py left in dist/, with every extra
    python tools/smoke.py --extra plot       # only without extras, and with this one

The first environment has the wheel and what it needs. An extra's environment sees that one's
packages and adds its own, so that torch is unpacked once. All are deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ROOT / "tools" / "smoke_checks.py"
CONSTRAINTS = ROOT / "constraints.txt"


def extras() -> list[str]:
    """The extras that users may ask for, as pyproject.toml names them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = ("dev", "fuzz")  # for working on headspan, not with it
    return [name for name in project["optional-dependencies"] if name not in own]


def environment(folder: Path, *, over: Path | None = None) -> Path:
    """The Python of a new environment; one that is over another sees what is installed there."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    if over is not None:
        ours, theirs = (_packages(one) for one in (python, over))
        (Path(ours) / "below.pth").write_text(f"{theirs}\n", encoding="utf-8")
    return python


def _packages(python: Path) -> str:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def install(python: Path, what: str) -> int:
    """Install under the constraints; how many packages that were."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    report = python.parent / "report.json"
    subprocess.run([*pip, "--constraint", CONSTRAINTS, "--report", report, what], check=True)
    return len(json.loads(report.read_text(encoding="utf-8"))["install"])


def main() -> None:
    """Try the wheel everywhere; without what it needs there is nothing to put extras on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extra", choices=extras(), action="append", help="can be repeated")
    chosen = parser.parse_args().extra or extras()
    wheels = list((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"dist: has {len(wheels)} wheels; expected the one that tools/build.py makes")
    os.environ.pop("PYTHONPATH", None)  # nothing but what is installed
    version = wheels[0].name.split("-")[1]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        failed: list[str] = []
        below = environment(place / "environments" / "none")
        work = place / "work"
        work.mkdir()
        for extra in ("", *chosen):
            start = time.monotonic()
            if extra:
                python = environment(place / "environments" / extra, over=below)
                count = install(python, f"headspan[{extra}]=={version}")
            else:
                python, count = below, install(below, str(wheels[0]))
            done = subprocess.run([python, CHECKS, *([extra] if extra else [])], cwd=work)
            outcome = "FAILED" if done.returncode else "passed"
            took = f"{time.monotonic() - start:.0f} s"
            print(f"{extra or 'no extra':12} {count:3} packages  {outcome}  {took}", flush=True)
            failed += [extra] if done.returncode else []
            if failed == [""]:
                break
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
