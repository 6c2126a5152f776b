import gzip
import os
import stat
import threading
from pathlib import Path

import pytest

from headspan import HeadspanError
from headspan.plumbing.files import open_output


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with open_output(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException], suffix: str
) -> None:
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"old")

    def fail() -> None:
        with open_output(path) as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_kept_unless_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with (
        pytest.raises(HeadspanError, match="exists already; --force"),
        open_output(path, overwrite=False),
    ):
        pass
    assert path.read_bytes() == b"old"
    path.chmod(0o640)
    with open_output(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_its_name_decides_about_compression(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    link = tmp_path / "link.gz"
    link.symlink_to("real")
    with open_output(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert gzip.decompress((tmp_path / "real").read_bytes()) == b"new"


def test_a_file_with_a_long_name_is_written(tmp_path: Path) -> None:
    with open_output(tmp_path / ("x" * 250)) as stream:
        stream.write(b"new")
    assert len(list(tmp_path.iterdir())) == 1


def test_devices_and_pipes_are_written_directly(tmp_path: Path) -> None:
    with open_output(os.devnull, overwrite=False) as stream:
        stream.write(b"gone")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    received = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    with open_output(fifo, overwrite=False) as stream:
        stream.write(b"through")
    reader.join(10)
    assert received == [b"through"]


def test_writing_to_a_folder_or_into_a_missing_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeadspanError, match="is a folder"), open_output(tmp_path):
        pass
    with (
        pytest.raises(HeadspanError, match="cannot be written: no such file"),
        open_output(tmp_path / "no" / "x"),
    ):
        pass


def test_equal_content_makes_equal_archives(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with open_output(tmp_path / name) as stream:
            stream.write(b"same")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
