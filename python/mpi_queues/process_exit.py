"""Tells the helper when a process that it knows has gone."""

from typing import Any, Dict, List

import gdb

from . import protocol
from .link import LINK

# The processes that the helper knows, by the number of their inferior.
_known: Dict[int, protocol.ExitedParams] = {}


def watch(processes: List[protocol.Process]) -> None:
    """Remembers the processes of a request, which the helper then knows."""
    for process in processes:
        number, pid = process["inferior"], process["pid"]
        if number in _known and _known[number]["pid"] != pid:
            _tell(number)
        _known[number] = {"inferior": number, "pid": pid}


def _on_exited(event: Any) -> None:
    """Serves gdb's event for a process that has ended, was killed, detached or run anew, and for
    a core file that was closed."""
    try:
        _tell(event.inferior.num)
    except (Exception, KeyboardInterrupt):
        pass  # nothing is lost, and gdb would show it amid what the user is doing


def _tell(number: int) -> None:
    """Tells the helper that the process of an inferior has gone, if it knows that process."""
    gone = _known.pop(number, None)
    if gone:
        LINK.notify(protocol.METHOD_EXITED, gone)


gdb.events.exited.connect(_on_exited)
