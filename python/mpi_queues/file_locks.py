"""The processes that hold file locks for which threads wait (proc(5): /proc/locks, fdinfo)."""

import os
import struct
from typing import Callable, Iterator, List, NamedTuple, Optional

from . import procfs, protocol

# System calls (arch/x86/entry/syscalls/syscall_64.tbl).
_FCNTL = 72
_FLOCK = 73
# Operations of flock(2), commands and types of fcntl(2).
_LOCK_SH, _LOCK_EX = 1, 2
_F_SETLKW, _F_OFD_SETLKW = 7, 38
_F_RDLCK, _F_WRLCK = 0, 1
# struct flock of x86-64: l_type, l_whence, l_start and l_len.
_FLOCK_STRUCT = struct.Struct("<hh4xqq")

_END = (1 << 63) - 1
# How much of a file of /proc is read, in bytes, and how many holders are returned.
_MAX_BYTES = 4 << 20
MAX_HOLDERS = 16

# Reads bytes of the process's memory.
Read = Callable[[int, int], bytes]


class _Lock(NamedTuple):
    """A lock that is held, or one that a thread waits for."""
    kind: str  # FLOCK, POSIX or OFDLCK
    write: bool
    pid: int  # that has taken it
    file: str  # device and inode, as /proc/locks spells them
    start: int
    end: int

    def conflicts(self, other: "_Lock") -> bool:
        """Says whether the two locks can't be held by different owners at the same time."""
        return ((self.kind == "FLOCK") == (other.kind == "FLOCK") and self.file == other.file
                and (self.write or other.write)
                and self.start <= other.end and other.start <= self.end)


def holders(pid: int, number: int, arguments: List[int], read: Read) -> List[protocol.LockHolder]:
    """Returns the processes that hold the lock of a file for which a thread of a process waits in
    a system call. The list is empty if the thread waits for none, or nothing is known of it.

    A holder's pid is 0 if the kernel does not name the process in this process's namespace, or if
    no process is known to have the open file that owns the lock.
    """
    descriptor = arguments[0]
    try:
        wanted = _wanted(pid, number, arguments, read)
        if wanted is None:
            return []
        own = _locks_of(pid, descriptor)
        found: List[int] = []
        for lock in _parse(_text("/proc/locks")):
            if not lock.conflicts(wanted):
                continue
            if lock.kind == "POSIX":
                if lock.pid != pid or wanted.kind != "POSIX":
                    found.append(max(lock.pid, 0))
            elif lock in own:
                own.remove(lock)  # the call converts a lock of the same open file
            else:
                found += _owners(lock, pid, descriptor) or [0]
    except (OSError, ValueError, struct.error):
        return []
    return [{"pid": holder, "name": procfs.name(holder) if holder else ""}
            for holder in sorted(set(found))[:MAX_HOLDERS]]


def _wanted(pid: int, number: int, arguments: List[int], read: Read) -> Optional[_Lock]:
    """Returns the lock for which a system call waits; None if it waits for none, or the kernel
    does not report which file that is (before Linux 5.14)."""
    operation = arguments[1]
    if number == _FLOCK and operation & (_LOCK_SH | _LOCK_EX):
        kind, write, whence, start, length = "FLOCK", bool(operation & _LOCK_EX), 0, 0, 0
    elif number == _FCNTL and operation in (_F_SETLKW, _F_OFD_SETLKW):
        kind = "POSIX" if operation == _F_SETLKW else "OFDLCK"
        mode, whence, start, length = _FLOCK_STRUCT.unpack(read(arguments[2], _FLOCK_STRUCT.size))
        if mode not in (_F_RDLCK, _F_WRLCK):
            return None
        write = mode == _F_WRLCK
    else:
        return None
    fields = dict(line.split(":", 1) for line in _text(_info(pid, arguments[0])).splitlines()
                  if not line.startswith("lock:"))
    if "ino" not in fields or whence not in (os.SEEK_SET, os.SEEK_CUR):
        return None
    device = _device(pid, fields["mnt_id"].strip())
    if whence == os.SEEK_CUR:
        start += int(fields["pos"])
    start, end = (start, start + length - 1) if length > 0 else (start + length, start - 1)
    return _Lock(kind, write, pid, "%s:%s" % (device, fields["ino"].strip()), start,
                 end if length else _END)


def _device(pid: int, mount: str) -> str:
    """Returns the device of a mounted file system of a process, as /proc/locks spells it."""
    for line in _text("/proc/%d/mountinfo" % pid).splitlines():
        words = line.split()
        if words[0] == mount:
            major, minor = words[2].split(":")
            return "%02x:%02x" % (int(major), int(minor))
    raise ValueError


def _parse(text: str) -> Iterator[_Lock]:
    """Yields the locks that are held. Those that processes wait for have an arrow."""
    for line in text.splitlines():
        words = line.split()[1:]
        if len(words) == 7 and words[0] in ("FLOCK", "POSIX", "OFDLCK"):
            yield _Lock(words[0], words[2] == "WRITE", int(words[3]), words[4], int(words[5]),
                        _END if words[6] == "EOF" else int(words[6]))


def _locks_of(pid: int, descriptor: int) -> List[_Lock]:
    """Returns the locks that the open file of a process's descriptor owns; none if the descriptor
    can't be read."""
    try:
        lines = _text(_info(pid, descriptor)).splitlines()
    except OSError:
        return []
    return [lock for line in lines if line.startswith("lock:")
            for lock in _parse(line[len("lock:"):]) if lock.kind != "POSIX"]


def _owners(lock: _Lock, waiter: int, waits_on: int) -> List[int]:
    """Returns the processes that have the open file which owns a lock: the one that has taken it
    may have closed the file, while a child still has it. Only descriptors with the name of the
    waiter's are searched; its own may own an equal lock, which it converts."""
    file = procfs.descriptor(waiter, waits_on)
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc")))
            if any(lock in _locks_of(pid, descriptor) for descriptor in _open(pid, file)
                   if (pid, descriptor) != (waiter, waits_on))]


def _open(pid: int, file: str) -> List[int]:
    """Returns the descriptors of a file that a process has; none if they can't be read."""
    try:
        return [descriptor for descriptor in map(int, os.listdir("/proc/%d/fd" % pid))
                if procfs.descriptor(pid, descriptor) == file]
    except OSError:
        return []


def _info(pid: int, descriptor: int) -> str:
    return "/proc/%d/fdinfo/%d" % (pid, descriptor)


def _text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_MAX_BYTES).decode("utf-8", "replace")
