"""gdb's sysroot: where it looks for a process's files, which may be in a container only."""

import contextlib
import os
from typing import Iterator, Optional

import gdb

from . import procfs
from .selection import select_inferior

# gdb's default: it reads a process's files in the process's mount namespace, if it may enter that.
TARGET = "target:"

# What the user has set, in a block of kept(); None outside.
_own: Optional[str] = None


def use(root: str) -> None:
    """Makes gdb look for the files of the selected inferior, which has no process, below root."""
    if current() != root:
        gdb.execute("set sysroot " + root, to_string=True)


def current() -> str:
    """Returns the folder, empty for that of this machine."""
    return str(gdb.parameter("sysroot"))


def restore(root: str) -> None:
    """Restores the sysroot. gdb then reads the files of the selected inferior again, so an empty
    one is selected meanwhile."""
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
    """Restores the user's sysroot after the block, if it was changed. Blocks may be nested."""
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
    """Sets the sysroot for attaching the selected inferior, which has no process, to one: to
    /proc/PID/root if gdb may not enter the process's container. Called within kept()."""
    is_default = own() in (TARGET, "", "/")
    use("/proc/%d/root" % pid if is_default and needs_root(pid) else own())


def needs_root(pid: int) -> bool:
    """Says whether gdb can reach the files of a process below /proc/PID/root only.

    Otherwise gdb enters the process's mount namespace by setns(). That needs CAP_SYS_ADMIN and
    CAP_SYS_CHROOT, which users have only inside their own containers (user_namespaces(7)).
    """
    return (not shares_mounts(pid) and not procfs.may_enter_mounts()
            and os.path.isdir("/proc/%d/root/" % pid))


def shares_mounts(pid: int) -> bool:
    """Says whether a process has the same mount namespace as this one."""
    try:
        return os.path.samestat(os.stat("/proc/%d/ns/mnt" % pid), os.stat("/proc/self/ns/mnt"))
    except OSError:
        return True  # it is gone, and gdb will say so
