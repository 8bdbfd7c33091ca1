"""The signal that ends a process, or at which it has stopped on its way to that."""

from typing import List, Optional

import gdb

from . import procfs, protocol, states, stops
from .selection import c_language, selected_thread, selection_kept

# The signals that are told, as mqs/signal.go has them. Others stop a process for its debugger, or
# end it as its user or its launcher wants it.
_FATAL = frozenset(("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGXCPU",
                    "SIGXFSZ", "SIGKILL"))
# Of so many threads at most it is asked, which takes gdb 0.03 to 0.1 ms each.
_MOST_THREADS = 256
# What si_code is at most where a process has sent the signal (sigaction(2): SI_USER, SI_TKILL).
_SI_USER = 0


def signal_of(inferior: gdb.Inferior, kind: str) -> Optional[protocol.Signal]:
    """Returns the fatal signal of the selected inferior's process, which must be stopped."""
    threads = _asked(inferior, kind)
    found: Optional[protocol.Signal] = None
    is_told = True
    with c_language(), selection_kept():
        for thread in threads[:_MOST_THREADS]:
            try:
                thread.switch()
                found = _of_thread(thread, inferior.pid, kind)
            except (gdb.error, OverflowError):
                is_told = False
                continue
            if found:
                return found
    if kind == "core" and not is_told and len(gdb.inferiors()) == 1:
        return _of_core()
    return None


def _asked(inferior: gdb.Inferior, kind: str) -> List[gdb.InferiorThread]:
    """Returns the threads that may have got the signal, in the order of their numbers: all of a
    core file; else those that have stopped at it.

    What the selected thread has stopped at is not known if the extension has come later. Attaching
    stops threads by no such signal.
    """
    threads: List[gdb.InferiorThread] = sorted(inferior.threads(), key=lambda thread: thread.num)
    if kind == "core":
        return threads
    selected = selected_thread() if kind == "live" and not states.before_stop(inferior) else None
    return [thread for thread in threads if stops.reason(thread) in _FATAL
            or selected and thread.num == selected.num and not stops.reason(thread)]


def _of_thread(thread: gdb.InferiorThread, pid: int, kind: str) -> Optional[protocol.Signal]:
    """Returns the fatal signal of the selected thread. Raises gdb.error where it is not known."""
    told = gdb.convenience_variable("_siginfo")
    if not isinstance(told, gdb.Value) or told.type.code != gdb.TYPE_CODE_STRUCT:
        raise gdb.error("gdb does not know what has happened to the thread")
    number = int(told["si_signo"])
    name = stops.signal_name(number)
    if name not in _FATAL:
        return None
    code = int(told["si_code"])
    own: Optional[bool] = None
    if code <= _SI_USER:
        sender = int(told["_sifields"]["_kill"]["si_pid"])
        if kind == "live":
            own = sender in procfs.numbers_of(pid)
        elif kind == "core" or sender == pid:
            own = sender == pid
        # Else its number in its own namespace is not known, which the kernel gives the sender's in.
    return {"name": name, "code": code, "own": own, "thread": thread.num,
            "handled": procfs.handles(pid, number) if kind == "live" else None}


def _of_core() -> Optional[protocol.Signal]:
    """Returns what gdb itself keeps of the one core file: the signal that has ended the process."""
    value = gdb.convenience_variable("_exitsignal")
    if not isinstance(value, gdb.Value) or value.type.code != gdb.TYPE_CODE_INT:
        return None
    name = stops.signal_name(int(value))
    if name not in _FATAL:
        return None
    return {"name": name, "code": None, "own": None, "handled": None, "thread": 0}
