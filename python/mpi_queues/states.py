"""The states of processes before gdb stopped them."""

import contextlib
from typing import Dict, Iterator, Tuple

import gdb

from . import procfs

# The processes' ids and the letters of their states, by the inferiors' numbers.
_states: Dict[int, Tuple[int, str]] = {}
_is_attaching = False


@contextlib.contextmanager
def remembered(pid: int, is_here: bool = True) -> Iterator[None]:
    """Remembers the state of a process to which the selected inferior is being attached. That of
    another machine's is not known."""
    global _is_attaching
    letter = _read(pid) if is_here else ""
    _is_attaching = True
    try:
        yield
    finally:
        _is_attaching = False
        _states[gdb.selected_inferior().num] = (pid, letter)


def is_attaching() -> bool:
    """Says whether the extension is just attaching an inferior to a process."""
    return _is_attaching


def before_stop(inferior: gdb.Inferior) -> str:
    """Returns the letter of the state that an inferior's process had before gdb attached to it;
    empty if it is not known or the process has run since."""
    pid, letter = _states.get(inferior.num, (0, ""))
    return letter if pid == inferior.pid else ""


def _read(pid: int) -> str:
    """Returns the letter for the state of a process in /proc/PID/stat; empty if there is none."""
    fields = procfs.stat(pid)
    return fields[procfs.STATE].decode("ascii", "replace") if fields else ""


def _forget(event: gdb.ContinueEvent) -> None:
    """Forgets the states of processes that go on. gdb has this event for attaching, too."""
    if _is_attaching:
        return
    # cuda-gdb 11.8 has a None of its own, which is not Python's.
    inferior = getattr(event.inferior_thread, "inferior", None)
    if inferior is None:
        _states.clear()
    else:
        _states.pop(inferior.num, None)


gdb.events.cont.connect(_forget)
