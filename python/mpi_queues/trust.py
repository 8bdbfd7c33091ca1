"""Whose files are run: those of root and of the user, and of who has installed the extension.

The rule is nearly that of the helper's package mqs/dll/trust: the file, each folder and each link
on the way belong to them, and nobody else can write there. That package does not trust who has
installed the extension, whose code runs here already, and asks who serves a file system (FUSE).
"""

import errno
import os
import stat
from typing import List, Optional

_MAX_LINKS = 40


def distrust(path: str) -> Optional[str]:
    """Says why the file at an absolute path must not be run, or returns None. Raises OSError."""
    folder, rest = "/", [name for name in path.split("/") if name]
    links = 0
    while rest:
        name = rest.pop(0)
        if name in (".", ".."):
            folder = os.path.dirname(folder) if name == ".." else folder
            continue
        place = os.path.join(folder, name)
        status = os.lstat(place)
        is_folder = stat.S_ISDIR(status.st_mode)
        reason = _folder(folder, is_folder) or _owner(place, status)
        if reason:
            return reason
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            to = os.readlink(place)
            folder = "/" if to.startswith("/") else folder
            rest = [name for name in to.split("/") if name] + rest
        elif is_folder:
            folder = place
        else:
            return _writers(place, status)
    return None


def _folder(place: str, holds_folder: bool) -> Optional[str]:
    """Says what is wrong with a folder on the way.

    One like /tmp, where all may write but with the sticky bit, does as one above others.
    """
    status = os.lstat(place)
    reason = _owner(place, status)
    if reason or holds_folder and status.st_mode & stat.S_ISVTX:
        return reason
    return _writers(place, status)


def _owner(place: str, status: os.stat_result) -> Optional[str]:
    """Says whose a file is that is nobody's who is trusted."""
    installed = os.lstat(os.path.abspath(__file__)).st_uid  # his code runs already
    if status.st_uid in (0, os.geteuid(), installed):
        return None
    return "%s belongs to user %d" % (place, status.st_uid)


def _writers(place: str, status: os.stat_result) -> Optional[str]:
    """Says who else can write to a file."""
    if status.st_mode & stat.S_IWOTH:
        return "%s can be written to by everybody" % place
    if not status.st_mode & stat.S_IWGRP:
        return None
    if status.st_gid and not _is_private(status.st_gid):
        return "%s can be written to by the group %d" % (place, status.st_gid)
    if _has_access_list(place):
        return "%s can be written to by those in its access list" % place
    return None


def _has_access_list(place: str) -> bool:
    """Says whether a file has an access list beside its mode, or may have."""
    try:
        os.getxattr(place, "system.posix_acl_access", follow_symlinks=False)
    except OSError as error:
        return error.errno not in (errno.ENODATA, errno.ENOTSUP)
    except AttributeError:
        pass  # not on this system
    return True


def _is_private(group: int) -> bool:
    """Says whether a group is the one that the user has alone, by this machine's own lists."""
    try:
        users, groups = _entries("/etc/passwd"), _entries("/etc/group")
    except OSError:
        return False
    own = [user for user in users if user[2:4] == [str(os.geteuid()), str(group)]]
    found = [entry for entry in groups if entry[2:3] == [str(group)]]
    others = [user for user in users if user[3:4] == [str(group)] and user not in own]
    return bool(own and found) and not others and all(
        entry[0] == own[0][0] and entry[3:4] in ([""], [own[0][0]]) for entry in found)


def _entries(path: str) -> List[List[str]]:
    """Returns the fields of the lines of one of the machine's lists."""
    with open(path, errors="replace") as file:
        return [line.rstrip("\n").split(":") for line in file]
