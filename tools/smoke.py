"""Install the wheel in empty environments, without extras and with each of them, and try it.

    python tools/smoke.py                    # the wheel in dist/, without extras and with each
    python tools/smoke.py --extra plot       # without extras, and with this one

The first environment has the wheel and its requirements. The environment of an extra sees those
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
    """The extras for users, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    internal = ("dev", "fuzz")  # for working on headspan, not with it
    return [name for name in project["optional-dependencies"] if name not in internal]


def environment(folder: Path, *, over: Path | None = None) -> Path:
    """The Python of a new environment, which also sees the packages of the one that it is over."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    if over is not None:
        path = Path(_packages(python)) / "below.pth"
        path.write_text(f"{_packages(over)}\n", encoding="utf-8")
    return python


def _packages(python: Path) -> str:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def install(python: Path, requirement: str) -> int:
    """Install a requirement under the constraints, and return the number of packages."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    report = python.parent / "report.json"
    subprocess.run([*pip, "--constraint", CONSTRAINTS, "--report", report, requirement], check=True)
    return len(json.loads(report.read_text(encoding="utf-8"))["install"])


def main() -> None:
    """Try the wheel in every environment; stop if it fails without extras."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extra", choices=extras(), action="append", help="can be repeated")
    chosen = parser.parse_args().extra or extras()
    wheels = list((ROOT / "dist").glob("headspan-*.whl"))  # not those of models
    if len(wheels) != 1:
        sys.exit(f"dist: has {len(wheels)} wheels; expected one, from tools/build.py")
    os.environ.pop("PYTHONPATH", None)  # only installed packages count
    version = wheels[0].name.split("-")[1]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        failed: list[str] = []
        below = environment(root / "environments" / "none")
        work = root / "work"
        work.mkdir()
        for extra in ("", *chosen):
            start = time.monotonic()
            if extra:
                python = environment(root / "environments" / extra, over=below)
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
