"""Where gdb looks for the files of a process, which a container may have to itself."""

import contextlib
import os
from typing import Iterator, Optional

import gdb

from . import procfs
from .selection import select_inferior

# Where gdb finds the files of a process by itself, as far as it may enter its mount namespace.
TARGET = "target:"

# What the user has set, in a block of kept(); None outside.
_own: Optional[str] = None


def use(root: str) -> None:
    """Has gdb find the files of the selected inferior, which has no process, below a folder."""
    if current() != root:
        gdb.execute("set sysroot " + root, to_string=True)


def current() -> str:
    """Returns the folder, empty for that of this machine."""
    return str(gdb.parameter("sysroot"))


def restore(root: str) -> None:
    """Restores where gdb looks for files. It reads those of the selected inferior anew at that, so
    one is selected that has none."""
    before = gdb.selected_inferior().num
    gdb.execute("add-inferior -no-connection", to_string=True)
    number = max(inferior.num for inferior in gdb.inferiors())
    select_inferior(number)
    gdb.execute("set sysroot " + root, to_string=True)
    select_inferior(before)
    with contextlib.suppress(gdb.error):
        gdb.execute("remove-inferiors %d" % number, to_string=True)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restores, after the block, what the user has set, if the block attaches to processes."""
    global _own
    before = _own
    _own = own()
    try:
        yield
    finally:
        if current() != _own and before is None:
            restore(_own)
        _own = before


def own() -> str:
    """Returns the folder that the user has set."""
    return current() if _own is None else _own


def choose(pid: int) -> None:
    """Has gdb find the files of a process to which the selected inferior, which has none, is to be
    attached: also in a container that gdb may not enter. In a block of kept()."""
    is_default = own() in (TARGET, "", "/")
    use("/proc/%d/root" % pid if is_default and needs_root(pid) else own())


def needs_root(pid: int) -> bool:
    """Says whether gdb can reach the files of a process below /proc/PID/root only.

    gdb enters a mount namespace (setns), for which it takes CAP_SYS_ADMIN and CAP_SYS_CHROOT, which
    no user has outside of his own containers (user_namespaces(7)).
    """
    return (not shares_mounts(pid) and not procfs.may_enter_mounts()
            and os.path.isdir("/proc/%d/root/" % pid))


def shares_mounts(pid: int) -> bool:
    """Says whether a process has the same mount namespace as this one."""
    try:
        return os.path.samestat(os.stat("/proc/%d/ns/mnt" % pid), os.stat("/proc/self/ns/mnt"))
    except OSError:
        return True  # it is gone, and gdb will say so
