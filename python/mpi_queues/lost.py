"""Cleans up after Python frames that gdb dropped without ending them.

gdb is in C++ and Python is not: an exception of gdb's that passes through Python takes the frames
away, and neither `finally' nor `except' runs. gdb 18.1 does so where Ctrl-C meets
Frame.unwind_stop_reason (see threads). What such frames leave behind would lock the extension: a
request that is pending for ever, and signals that stay blocked.
"""

from typing import Any

import gdb

from . import charset, interrupts, output, selection
from .link import LINK


def clean_up() -> None:
    """Ends a request that has lost its frames. To be called only where no request can be in
    progress, as before a prompt."""
    if output.is_showing():
        return  # gdb waits in its pager, and the prompt is that of another terminal (new-ui)
    if LINK.end_lost():
        interrupts.end_lost()
        selection.end_lost()
        charset.end_lost()


def _before_prompt(*_: Any) -> None:
    """Handles gdb's event before it shows its prompt."""
    try:
        clean_up()
    except (Exception, KeyboardInterrupt):
        pass  # gdb would show it at each prompt


gdb.events.before_prompt.connect(_before_prompt)
