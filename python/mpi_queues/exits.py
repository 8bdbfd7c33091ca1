"""Tells the helper when a process that it knows has gone, so that it can let go of it."""

from typing import Any, Dict, List

import gdb

from . import protocol
from .link import LINK

# What the helper was told, by the number of the inferior.
_told: Dict[int, protocol.ExitedParams] = {}


def watch(processes: List[protocol.Process]) -> None:
    """Remembers the processes that the helper is about to be told of."""
    for process in processes:
        number, pid = process["inferior"], process["pid"]
        if number in _told and _told[number]["pid"] != pid:
            _tell(number)
        _told[number] = {"inferior": number, "pid": pid}


def _on_exited(event: Any) -> None:
    """Serves gdb's event for a process that has ended, was killed, detached or run anew, and for
    a core file that was closed."""
    try:
        _tell(event.inferior.num)
    except (Exception, KeyboardInterrupt):
        pass  # gdb would show it amid what the user is doing; there is no loss in it


def _tell(number: int) -> None:
    """Tells the helper that the process of an inferior has gone, if it knows that process."""
    gone = _told.pop(number, None)
    if gone:
        LINK.notify(protocol.METHOD_EXITED, gone)


gdb.events.exited.connect(_on_exited)
