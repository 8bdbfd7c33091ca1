"""One line on the terminal that says how far a long request has come."""

import os
import time
from typing import Callable, List

import gdb

from .errors import one_line
from .terminal import is_full_screen, is_terminal

# A request that takes less shows none.
PATIENCE = 0.5

# What hears the messages beside: `mpi-queues dump' waits for gdb as long as there are some.
listeners: List[Callable[[str], None]] = []


class Progress:
    """The line, which is written to the terminal itself: it is no part of gdb's output."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._width = 0
        self._wanted = is_terminal() and os.environ.get("TERM", "dumb") != "dumb"

    def show(self, message: str) -> None:
        """Shows a message in place of the one before."""
        for listener in listeners:
            listener(one_line(message))
        if not self._wanted or time.monotonic() - self._began < PATIENCE:
            return
        if not self._width and is_full_screen():
            self._wanted = False
            return
        try:
            columns = os.get_terminal_size(1).columns or 80
        except OSError:
            columns = 80
        text = one_line(message)[:columns - 1]
        self._put("\r" + text + " " * (self._width - len(text)))
        self._width = len(text)

    def erase(self) -> None:
        """Takes the line away."""
        if self._width:
            self._put("\r" + " " * self._width + "\r")
            self._width = 0

    def _put(self, text: str) -> None:
        """Writes to the terminal."""
        gdb.flush()
        try:
            os.write(1, text.encode("utf-8", "replace"))
        except OSError:
            self._wanted = False
