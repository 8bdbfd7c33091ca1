"""What the kernel says of processes of this machine below /proc (proc(5))."""

import os
from typing import Dict, List, Optional, Tuple

# The places of fields in what stat() returns, and their numbers in proc(5).
STATE = 0  # (3)
PARENT = 1  # (4)
SESSION = 3  # (6)
START_TIME = 19  # (22)
MEMORY = 20  # (23), in bytes
EXIT_CODE = 49  # (52), as waitpid has it

# CAP_SYS_CHROOT and CAP_SYS_ADMIN of linux/capability.h, which setns() takes for a mount namespace.
_TO_ENTER = 1 << 18 | 1 << 21


def stat(pid: int) -> List[bytes]:
    """Returns the fields of a process's line behind its name; none if there is no such process."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            # The program's name, in parentheses, may hold anything.
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def descriptor(pid: int, number: int) -> str:
    """Returns the kernel's name of what a descriptor of a process stands for: a path, or the like
    of "pipe:[17]". It is empty if that is not known, as where pid is 0."""
    if not pid:
        return ""
    try:
        return os.fsencode(os.readlink("/proc/%d/fd/%d" % (pid, number))).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def name(pid: int) -> str:
    """Returns the name of a process's program, empty if there is no such process."""
    try:
        with open("/proc/%d/comm" % pid, "rb") as file:
            return file.read().decode("utf-8", "replace").rstrip("\n")
    except OSError:
        return ""


def in_session(session: int) -> List[int]:
    """Returns the processes of a session that have not ended."""
    def is_in(pid: int) -> bool:
        fields = stat(pid)
        return not _has_gone(fields) and int(fields[SESSION]) == session

    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if is_in(pid)]


def tracer(pid: int) -> int:
    """Returns the process that traces a process; 0 if none does, or that is not known."""
    return next((int(word) for word in _status(pid, "TracerPid", 1)), 0)


def asleep(pid: int) -> Dict[int, Tuple[bytes, ...]]:
    """Returns the threads of a process that no signal wakes (D), by their ids. What is returned of
    one stays the same until it has been given a processor again."""
    found: Dict[int, Tuple[bytes, ...]] = {}
    try:
        threads = [int(name) for name in os.listdir("/proc/%d/task" % pid)]
    except OSError:
        return found
    for thread in threads:
        fields = stat(thread)
        if fields and fields[STATE] == b"D" and len(fields) > START_TIME:
            switches = [word.encode() for name in
                        ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
                        for word in _status(thread, name, 1)]
            found[thread] = (fields[START_TIME], *switches)
    return found


def numbers_of(pid: int) -> List[int]:
    """Returns the ids that a process has in its namespaces, the outermost first."""
    found = [int(word) for word in _status(pid, "NSpid", 64)]
    return found or [pid]


def handles(pid: int, number: int) -> Optional[bool]:
    """Says whether a process has a handler for a signal or ignores it, None if not known."""
    masks = [int(word, 16) for name in ("SigCgt", "SigIgn") for word in _status(pid, name, 1)]
    return any(mask >> (number - 1) & 1 for mask in masks) if len(masks) == 2 else None


def _status(pid: int, name: str, most: int) -> List[str]:
    """Returns the words of a line of /proc/PID/status; none if that is not known."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return line.split()[1:most + 1]
    except OSError:
        pass
    return []


def may_enter_mounts() -> bool:
    """Says whether this process may enter other mount namespaces; True where that is not known."""
    effective = _status(os.getpid(), "CapEff", 1)
    return not effective or int(effective[0], 16) & _TO_ENTER == _TO_ENTER


def trace_scope() -> str:
    """Returns the digit that says whom the kernel lets debuggers trace (Yama: ptrace_scope).

    It is empty where the kernel has no such rule, or the rule is not for this process.
    """
    if os.geteuid() == 0:
        return ""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return file.read(1).replace("0", "")
    except (OSError, ValueError):
        return ""


def has_ended(pid: int) -> bool:
    """Says whether a process of this machine has ended, whoever has noticed that.

    One whose main thread alone has ended lives on.
    """
    if not _has_gone(stat(pid)):
        return False
    try:
        threads = os.listdir("/proc/%d/task" % pid)
    except OSError:
        return True
    return all(_has_gone(stat(int(thread))) for thread in threads)


def _has_gone(fields: List[bytes]) -> bool:
    """Says whether the fields of a line are those of a thread that has ended, or is about to: it
    has given its memory back, and can't be traced any more."""
    return len(fields) <= MEMORY or fields[STATE] in (b"Z", b"X") or fields[MEMORY] == b"0"
