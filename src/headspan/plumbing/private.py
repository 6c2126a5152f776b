"""Folders in which no other user of the machine can put anything."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path


def is_private(folder: Path) -> bool:
    """Return whether a folder, all in it and all above it belong to this user or to root.

    Nobody else may write to them either, except that a folder above it may be open to all if, as in
    /tmp, everybody can remove only what belongs to them (the sticky bit).
    """
    if sys.platform == "win32":  # where other users cannot write to a user's folders by default
        return True
    path = folder.absolute()
    try:
        # a link belongs to somebody, too, and leads to a place that has parents of its own
        above = {*path.parents, *path.resolve(strict=True).parents}
        inside = {path, path.resolve(), *path.iterdir()}
        return all(_is_safe(part, sticky=True) for part in above) and all(
            _is_safe(part, sticky=False) for part in inside
        )
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return False


def _is_safe(path: Path, *, sticky: bool) -> bool:
    """sticky: whether others may write to it if they can remove only what belongs to them."""
    status = path.lstat()
    if status.st_uid not in (0, os.geteuid()):
        return False
    if stat.S_ISLNK(status.st_mode) or (sticky and status.st_mode & stat.S_ISVTX):
        return True
    by_group = status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)
    return not (by_group or status.st_mode & stat.S_IWOTH)


def _is_own_group(number: int) -> bool:
    """Return whether a group has this user as its only member, as many systems make one for each.

    Root's group has none but those that root trusts.
    """
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return number == 0 or (group.gr_name == user and set(group.gr_mem) <= {user})
