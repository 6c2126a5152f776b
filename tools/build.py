"""Build the wheel and the source distribution of the last commit several times, and compare.

    python tools/build.py    # writes dist/

Both are built twice, in different folders, time zones and umasks, and the wheel a third time from
the source distribution. Every build must give the same bytes. Their time stamps are the commit's.
The model packages in models/ become wheels, too, each built twice.
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
    folder: Path, out: Path, *targets: str, time: str, zone: str = "UTC", umask: int = 0o022
) -> list[Path]:
    """Build a checkout's targets (`sdist`, `wheel`) with this Python's hatchling."""
    options = [option for target in targets for option in ("--target", target)]
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(out), *options],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": time, "TZ": zone},
        capture_output=True,
        text=True,
        umask=umask,
    )
    if done.returncode:
        sys.exit(f"{folder}: the build failed: {done.stderr}")
    return sorted(out.iterdir())


def wheel_problems(wheel: Path, folder: Path) -> list[str]:
    """Files that a wheel lacks or should not have, compared with the package in a folder."""
    source, package = folder / "src", wheel.name.partition("-")[0]
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    about = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    expected |= {f"{about}/{name}" for name in _ABOUT}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    return [
        *(f"{wheel.name}: lacks {name}" for name in sorted(expected - names)),
        *(f"{wheel.name}: has {name}, which does not belong" for name in sorted(names - expected)),
    ]


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Build, compare, and copy the result to dist/."""
    git = ["git", "-C", str(ROOT)]
    time = subprocess.check_output([*git, "log", "-1", "--format=%ct"], text=True).strip()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        one, other = work / "one", work / "an" / "other"
        with (work / "commit.tar").open("wb") as file:
            subprocess.run([*git, "archive", "HEAD"], stdout=file, check=True)
        for folder, umask in ((one, 0o022), (other, 0o077)):
            os.umask(umask)
            with tarfile.open(work / "commit.tar") as archive:
                archive.extractall(folder, filter="data")
        both = "sdist", "wheel"
        first = build(one, work / "1", *both, time=time)
        second = build(other, work / "2", *both, time=time, zone="Asia/Kathmandu", umask=0o077)
        wheel, sdist = first
        with tarfile.open(sdist) as archive:
            archive.extractall(work / "unpacked", filter="data")
        (unpacked,) = (work / "unpacked").iterdir()
        third = build(unpacked, work / "3", "wheel", time=time)
        problems = wheel_problems(wheel, one)
        for project in sorted(one.glob("models/*/pyproject.toml")):
            name = project.parent.name
            ours, theirs = work / f"1-{name}", work / f"2-{name}"
            first += build(project.parent, ours, "wheel", time=time)
            again = other / "models" / name
            second += build(again, theirs, "wheel", time=time, zone="Asia/Kathmandu", umask=0o077)
            problems += wheel_problems(first[-1], project.parent)
        for ours, theirs in zip([*first, wheel], [*second, *third], strict=True):
            if sha256(ours) != sha256(theirs):
                problems.append(f"{ours.name}: build {theirs.parent.name} has different bytes")
        if problems:
            sys.exit("\n".join(problems))
        dist = ROOT / "dist"
        dist.mkdir(exist_ok=True)
        for built in first:
            shutil.copy(built, dist)
            print(f"{sha256(built)}  dist/{built.name}")


if __name__ == "__main__":
    main()
