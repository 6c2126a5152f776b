"""Folders of other users, or that others can write to, are not private."""

import os
from pathlib import Path

import pytest

from headspan.plumbing.private import is_private


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "parent" / "folder"
    path.mkdir(parents=True)
    for one in (path, path.parent):
        one.chmod(0o755)
    (path / "file").touch(0o644)
    return path


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file belong to another user: root can do so, others pretend to be somebody else."""
    if os.geteuid() == 0:
        os.lchown(path, 12345, -1)
    else:
        owner = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: owner)


def test_a_folder_of_ones_own_is_private(folder: Path) -> None:
    assert is_private(folder)
    assert not is_private(folder / "nowhere")


@pytest.mark.parametrize("part", ["", "file", ".."])
def test_what_belongs_to_another_user_is_not_private(
    folder: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_away((folder / part).resolve(), monkeypatch)
    assert not is_private(folder)


@pytest.mark.parametrize("part", ["", "file", ".."])
def test_what_others_can_write_to_is_not_private(folder: Path, part: str) -> None:
    (folder / part).resolve().chmod(0o757)
    assert not is_private(folder)


def test_a_folder_may_be_in_one_like_tmp_but_not_be_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.parent.chmod(0o1777)
    assert is_private(folder)
    folder.chmod(0o1777)
    assert not is_private(folder)
    folder.chmod(0o755)
    give_away(folder, monkeypatch)
    assert not is_private(folder)


def test_a_group_of_one_is_not_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder.stat().st_gid
    monkeypatch.setattr("headspan.plumbing.private._is_own_group", lambda number: number == own)
    folder.chmod(0o775)
    assert is_private(folder)
    monkeypatch.setattr("headspan.plumbing.private._is_own_group", lambda number: False)
    assert not is_private(folder)


def test_a_link_of_another_user_is_not_private(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert is_private(link)
    open_to_all = folder.parent / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (open_to_all / "folder").mkdir()
    link.unlink()
    link.symlink_to(open_to_all / "folder")
    assert not is_private(link)
    link.unlink()
    link.symlink_to(folder)
    give_away(link, monkeypatch)
    assert not is_private(link)
