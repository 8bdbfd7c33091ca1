"""What takes as long as the program runs, for an editor.

gdb serves the requests of an editor one after the other: one that comes while the program runs, as
that to pause, is served only if the one which let it run was answered before. So those here are
answered at once, and events tell what has come of them.
"""

from typing import Any, Dict, Optional

import gdb
from gdb.dap.frames import select_frame

from . import execution
from .dap_threads import select_thread, selected_number
from .errors import Failure, one_line
from .selection import notifications_suppressed

# What a request may have gdb do for a thread, and whether that is for one rank and not for all.
_COMMANDS = {"continue": False, "next": True, "step": True, "finish": True}


def resume(number: int, command: str, is_alone: bool) -> None:
    """Lets the ranks go on as one of the commands says for a thread. Raises Failure, gdb.error or
    gdb.GdbError."""
    if command not in _COMMANDS:
        raise Failure("command is %s, and must be one of %s."
                      % (one_line(command, 40), ", ".join(_COMMANDS)))
    select_thread(number)
    with notifications_suppressed():  # the editor is told by events
        execution.resume("mpiResume", command, is_alone, _COMMANDS[command])


def execute(command: str, frame: Optional[int]) -> Dict[str, object]:
    """Executes a command as it is typed, in a frame that the editor shows. Returns what it says,
    and the number of the thread that it has selected: None if it has selected none, or if gdb has
    told of a stop since. Raises gdb.error or gdb.GdbError."""
    if frame is not None:
        select_frame(frame)
    before = selected_number()
    stops = _Stops()
    gdb.events.stop.connect(stops.on_stop)
    try:
        text = gdb.execute(command, from_tty=True, to_string=True)
    finally:
        gdb.events.stop.disconnect(stops.on_stop)
    after = selected_number()
    return {"result": text, "threadId": None if stops.have_come or after == before else after}


class _Stops:
    """Whether gdb has told of a stop."""

    def __init__(self) -> None:
        self.have_come = False

    def on_stop(self, event: Any) -> None:
        """Handles gdb's event for a stop."""
        self.have_come = True
