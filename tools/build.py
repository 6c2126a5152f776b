"""Build the wheel and the source distribution of the last commit, thrice, and compare.

    python tools/build.py    # dist/

Both are built twice, in folders, time zones and umasks that differ, and the wheel a third time from
the source distribution; every build must give the same bytes. The time in them is the commit's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ABOUT = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")


def build(
    folder: Path, out: Path, *kinds: str, time: str, zone: str = "UTC", umask: int = 0o022
) -> list[Path]:
    """Build kinds (`sdist`, `wheel`) of the checkout in a folder, with this Python's hatchling."""
    targets = [argument for kind in kinds for argument in ("--target", kind)]
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(out), *targets],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": time, "TZ": zone},
        capture_output=True,
        text=True,
        umask=umask,
    )
    if done.returncode:
        sys.exit(f"{folder}: cannot be built: {done.stderr}")
    return sorted(out.iterdir())


def wheel_problems(wheel: Path, folder: Path) -> list[str]:
    """What a wheel lacks of a checkout's package, and what it has beside that."""
    source = folder / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "headspan").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    about = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    expected |= {f"{about}/{name}" for name in _ABOUT}
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    return [
        *(f"{wheel.name}: lacks {name}" for name in sorted(expected - found)),
        *(f"{wheel.name}: has {name}, which is no part of it" for name in sorted(found - expected)),
    ]


def sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Build, compare, and put what is good into dist/."""
    git = ["git", "-C", str(ROOT)]
    time = subprocess.check_output([*git, "log", "-1", "--format=%ct"], text=True).strip()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        one, other = place / "one", place / "an" / "other"
        with (place / "commit.tar").open("wb") as file:
            subprocess.run([*git, "archive", "HEAD"], stdout=file, check=True)
        for folder, umask in ((one, 0o022), (other, 0o077)):
            os.umask(umask)
            with tarfile.open(place / "commit.tar") as archive:
                archive.extractall(folder, filter="data")
        both = "sdist", "wheel"
        first = build(one, place / "1", *both, time=time)
        second = build(other, place / "2", *both, time=time, zone="Asia/Kathmandu", umask=0o077)
        wheel, sdist = first
        with tarfile.open(sdist) as archive:
            archive.extractall(place / "unpacked", filter="data")
        (unpacked,) = (place / "unpacked").iterdir()
        third = build(unpacked, place / "3", "wheel", time=time)
        problems = wheel_problems(wheel, one)
        for ours, theirs in zip([*first, wheel], [*second, *third], strict=True):
            if sha256(ours) != sha256(theirs):
                problems.append(f"{ours.name}: build {theirs.parent.name} gave other bytes")
        if problems:
            sys.exit("\n".join(problems))
        dist = ROOT / "dist"
        dist.mkdir(exist_ok=True)
        for built in first:
            shutil.copy(built, dist)
            print(f"{sha256(built)}  dist/{built.name}")


if __name__ == "__main__":
    main()
