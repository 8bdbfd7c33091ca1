"""One line on the terminal that says how far a long request has come."""

import os
import sys
import time

import gdb

from .errors import one_line

# A request that takes less shows none.
PATIENCE = 0.5


def is_terminal() -> bool:
    """Says whether gdb's output goes to a terminal."""
    try:
        return bool(sys.__stdout__ and sys.__stdout__.isatty())
    except ValueError:
        return False


class Progress:
    """The line, which is written to the terminal itself: it is no part of gdb's output."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._width = 0
        self._wanted = is_terminal() and os.environ.get("TERM", "dumb") != "dumb"

    def show(self, message: str) -> None:
        """Shows a message in place of the one before."""
        if not self._wanted or time.monotonic() - self._began < PATIENCE:
            return
        if not self._width and _is_full_screen():
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


def _is_full_screen() -> bool:
    """Says whether gdb draws windows (the TUI), which a line written past it would spoil."""
    try:
        return "cmd" in gdb.execute("info win", to_string=True).split()
    except gdb.error:
        return False
