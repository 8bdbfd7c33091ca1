"""Core files in one session of an editor.

gdb's own request `attach' takes a core file in later gdbs alone (18.1). Before, its threads are
taken for ones that run, since no stop is told of them (gdb 16.3, dap/events.py).
"""

import re
from typing import Optional

import gdb
from gdb.dap import events

from . import ranks
from .dap_threads import selected_number


def open_core(core: str, program: Optional[str]) -> Optional[int]:
    """Opens a core file, and the program that has left it. Returns the number of the selected
    thread among those of all inferiors, None if there is none. Raises gdb.error."""
    if program is not None:
        gdb.execute("file " + _quoted(program))
    gdb.execute("core-file " + _quoted(core))
    if hasattr(events, "inferior_running"):
        events.inferior_running = False
    ranks.member(gdb.selected_inferior())  # for the list of threads, which asks for no rank
    return selected_number()


def _quoted(name: str) -> str:
    """Quotes a file name for gdb's commands. Raises gdb.error if the name contains a newline: gdb
    would execute the rest of the name as another command."""
    if "\n" in name:
        raise gdb.error("The file's name contains a newline, which gdb does not accept.")
    return re.sub(r"([\s\\'\"])", r"\\\1", name)
