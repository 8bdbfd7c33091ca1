"""Why threads have stopped, and how processes have ended, as gdb's events have told it."""

import os
import signal
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import gdb

from . import jobs, procfs, protocol, states
from .charset import lossless
from .selection import selected_thread
from .targets import is_native

# A thread: the number of its inferior, and its own id. Processes of two machines may have one id.
_Key = Tuple[int, int]

# Why threads have stopped that have not gone on since.
_reasons: Dict[_Key, str] = {}


class Exit(NamedTuple):
    """How the process that an inferior had has ended."""

    pid: int
    rank: Optional[int]
    code: Optional[int]
    signal: str  # its name, if that has ended it
    host: Optional[str] = ""  # another machine that it was on, None if that is not known


# How often Ctrl-C has stopped a process.
_interruptions = 0
# Whether the last stop was that of WAKE.
_was_woken = False
# The ranks of processes, by the number of the inferior, with the process id.
_ranks: Dict[int, Tuple[int, int]] = {}
# By the number of the inferior.
_exits: Dict[int, Exit] = {}

# What waitpid(2) would say of processes whose end gdb has not seen by itself, by process id.
_statuses: Dict[int, int] = {}

# The signal that a job's supervisor sends to a rank so that gdb stops and asks it what has
# happened. Why it is this one is said there, in late.go.
WAKE = "SIGWINCH"

# Signals that are not shown as the reason for a stop.
_UNTOLD = ("0", "SIGSTOP", WAKE, "")


def reason(thread: gdb.InferiorThread) -> str:
    """Returns why a thread has stopped, as "breakpoint 2" or "SIGSEGV"; empty if not known, as of
    one that was stopped since another one was."""
    return _reasons.get(_key(thread), "")


def core_signal() -> str:
    """Returns the name of the signal that has ended the selected thread of a core file; empty if
    the file has none."""
    try:
        name = signal_name(int(gdb.parse_and_eval("$_siginfo.si_signo")))
    except gdb.error:
        return ""
    return "" if name in _UNTOLD else name


def interruptions() -> int:
    """Returns how often Ctrl-C has stopped a process since gdb was started."""
    return _interruptions


def was_woken() -> bool:
    """Says, once, whether the last stop was that of WAKE."""
    global _was_woken
    woken, _was_woken = _was_woken, False
    return woken


def is_wake(event: Any) -> bool:
    """Says whether gdb's event for a stop is that of WAKE."""
    return isinstance(event, gdb.SignalEvent) and event.stop_signal == WAKE


def know_rank(inferior: gdb.Inferior, rank: Optional[int]) -> None:
    """Keeps the rank of an inferior's process for when that has ended."""
    if rank is not None:
        _ranks[inferior.num] = inferior.pid, rank


def known_rank(inferior: gdb.Inferior) -> Optional[int]:
    """Returns the rank that was kept of an inferior's process, None if none was."""
    pid, rank = _ranks.get(inferior.num, (0, None))
    return rank if pid == inferior.pid else None


def exit_of(inferior: gdb.Inferior) -> Optional[Exit]:
    """Returns how the last process of an inferior has ended, None if it has not, or not so that
    gdb could see it."""
    return None if inferior.pid else _exits.get(inferior.num)


def exit_of_process(pid: int) -> Optional[Exit]:
    """Returns how a process of this machine has ended that was an inferior's."""
    return next((exit for exit in _exits.values() if exit.pid == pid and exit.host == ""), None)


def exit_of_rank(rank: protocol.Rank) -> Optional[Exit]:
    """Returns how a rank of an attached job has ended that was an inferior's."""
    return next((exit for exit in _exits.values() if exit.pid == rank["pid"]
                 and exit.host == rank["host"]), None)


def know_end(pid: int, status: int) -> None:
    """Keeps how a process has ended, as waitpid(2) would say it, for when gdb sees that."""
    _statuses[pid] = status


def _key(thread: gdb.InferiorThread) -> _Key:
    """Returns what tells a thread from others as long as it lives."""
    return int(thread.inferior.num), int(thread.ptid[1] or thread.ptid[2])


def thread_of(event: Any) -> Optional[gdb.InferiorThread]:
    """Returns the thread that an event is for; in the all-stop mode gdb says none."""
    thread = getattr(event, "inferior_thread", None)
    return thread if isinstance(thread, gdb.InferiorThread) else None


@lossless()
def _on_stop(event: Any) -> None:
    """Serves gdb's event for a stop."""
    global _interruptions, _was_woken
    _was_woken = is_wake(event)
    if isinstance(event, gdb.SignalEvent) and event.stop_signal == "SIGINT":
        _interruptions += 1
    thread = thread_of(event) or selected_thread()
    if thread is None or states.is_attaching():
        return
    text = ""
    if isinstance(event, gdb.BreakpointEvent):
        text = _of_breakpoints(event)
    elif isinstance(event, gdb.SignalEvent) and event.stop_signal not in _UNTOLD:
        text = str(event.stop_signal)
    if text:
        _reasons[_key(thread)] = text
    else:
        _reasons.pop(_key(thread), None)


def _of_breakpoints(event: Any) -> str:
    """Returns the breakpoints of a stop: "breakpoint 2", "catchpoint 3"."""
    found: Dict[str, List[str]] = {}
    for breakpoint in event.breakpoints:
        if breakpoint.is_valid() and breakpoint.number > 0:  # else it is the extension's own
            kind = "breakpoint" if breakpoint.type in _BREAKPOINTS else \
                "catchpoint" if breakpoint.type == _CATCHPOINT else "watchpoint"
            found.setdefault(kind, []).append(str(breakpoint.number))
    return ", ".join("%s %s" % (kind, " and ".join(found[kind])) for kind in sorted(found))


_BREAKPOINTS = tuple(getattr(gdb, name) for name in ("BP_BREAKPOINT", "BP_HARDWARE_BREAKPOINT")
                     if hasattr(gdb, name))
_CATCHPOINT = getattr(gdb, "BP_CATCHPOINT", None)  # since gdb 12


def _on_continue(event: Any) -> None:
    """Serves gdb's event for threads that go on."""
    thread = thread_of(event)
    if thread is not None:
        _reasons.pop(_key(thread), None)
    elif gdb.parameter("schedule-multiple"):
        _reasons.clear()
    else:
        _forget(gdb.selected_inferior().num)


@lossless()
def _on_exited(event: Any) -> None:
    """Serves gdb's event for a process that has ended or was let go of."""
    inferior = event.inferior
    _forget(inferior.num)
    is_elsewhere = not is_native(inferior)
    if is_elsewhere:
        # What a signal has ended looks the same as what was detached, or lost with its connection.
        code, name = getattr(event, "exit_code", None), ""
        has_ended = code is not None
    else:
        has_ended = procfs.has_ended(inferior.pid)
        if has_ended:
            code, name = _end(event)
    if not has_ended:
        _exits.pop(inferior.num, None)  # it was detached
        return
    rank = jobs.rank_that_was(inferior, is_elsewhere)
    known = _ranks.pop(inferior.num, None)
    if rank is None and known and known[0] == inferior.pid:
        rank = known[1]
    host = (jobs.host_of(inferior) or None) if is_elsewhere else ""
    _exits[inferior.num] = Exit(inferior.pid, rank, code, name, host)


def _end(event: Any) -> Tuple[Optional[int], str]:
    """Returns the exit code of the process that gdb's event is for, or the name of the signal that
    has ended it, as far as they are known."""
    status = _statuses.pop(event.inferior.pid, None)
    if status is None:
        code: Optional[int] = getattr(event, "exit_code", None)
        return code, _exit_signal() if code is None else ""
    if os.WIFSIGNALED(status):
        return None, signal_name(os.WTERMSIG(status))
    return os.WEXITSTATUS(status), ""


def _exit_signal() -> str:
    """Returns the name of the signal that has ended the process that gdb has just seen ending."""
    if isinstance(gdb.convenience_variable("_exitcode"), gdb.Value):
        return ""  # what gdb knows of a signal is older
    value = gdb.convenience_variable("_exitsignal")
    return signal_name(int(value)) if isinstance(value, gdb.Value) \
        and value.type.code == gdb.TYPE_CODE_INT else ""


def signal_name(number: int) -> str:
    """Returns the name of a signal of this system."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number if number else ""


def _forget(number: int) -> None:
    """Forgets why the threads of an inferior have stopped."""
    for key in [key for key in _reasons if key[0] == number]:
        del _reasons[key]


gdb.events.stop.connect(_on_stop)
gdb.events.cont.connect(_on_continue)
gdb.events.exited.connect(_on_exited)
