"""Write the lock: names, versions and hashes of the files that were tested, for one platform.

    python tools/lock.py            # writes locks/PLATFORM.txt: cp311-linux_x86_64
    python tools/lock.py --check    # compares the files that pip would install with the lock

constraints.txt has the versions, for all platforms; the lock adds the files, for the platform and
the Python that run this tool. pip's own configuration says where they come from; the lock does not.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
_PIN = re.compile(r"([\w.-]+)==(\S+)(?: --hash=sha256:([0-9a-f]{64}))?")
_HEAD = """\
# The exact files that were tested on {platform}. `python tools/lock.py` makes this from
# constraints.txt; pip install --require-hashes --requirement {name} installs it.
"""


def platform() -> str:
    """The tag of this Python and this machine, as in a wheel's name: cp311-linux_x86_64."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{re.sub('[.-]', '_', sysconfig.get_platform())}"


def pins(path: Path) -> dict[str, tuple[str, str | None]]:
    """Versions and hashes (None in constraints) by name, from constraints or from a lock."""
    pinned: dict[str, tuple[str, str | None]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        pin = _PIN.fullmatch(line)
        if pin is None or canonicalize_name(pin[1]) in pinned:
            raise SystemExit(f"{path}: found {line!r}; expected one name==version per line, once")
        pinned[canonicalize_name(pin[1])] = pin[2], pin[3]
    return pinned


def requirements() -> list[str]:
    """The requirements of headspan and all its extras but `fuzz`, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]  # atheris is not for every platform
    lists = [project["dependencies"], *(extras[name] for name in extras if name != "fuzz")]
    return sorted({r for group in lists for r in group if not r.startswith("headspan[")})


def locked() -> str:
    """The text of the lock for this platform."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        _pip("--constraint", str(CONSTRAINTS), "--report", str(report), *requirements())
        chosen = json.loads(report.read_text(encoding="utf-8"))["install"]
    lines = {}
    for item in chosen:
        name = canonicalize_name(item["metadata"]["name"])
        digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines[name] = f"{name}=={item['metadata']['version']} --hash=sha256:{digest}\n"
    head = _HEAD.format(platform=platform(), name=f"locks/{platform()}.txt")
    return head + "".join(lines[name] for name in sorted(lines))


def _pip(*arguments: str) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if subprocess.run([*pip, "--dry-run", "--ignore-installed", *arguments]).returncode:
        raise SystemExit(2)


def main() -> None:
    """Write the lock, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare hashes instead of writing")
    path = ROOT / "locks" / f"{platform()}.txt"
    if parser.parse_args().check:
        _pip("--require-hashes", "--requirement", str(path))
        print(f"{path.relative_to(ROOT)}: pip would install these {len(pins(path))} files")
    else:
        path.write_text(locked(), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(pins(path))} packages")


if __name__ == "__main__":
    main()
