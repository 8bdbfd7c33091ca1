"""Whether gdb's output goes to a terminal, and how to keep it off."""

import contextlib
import os
import sys
from typing import Iterator

import gdb


def is_terminal() -> bool:
    """Says whether gdb's output goes to a terminal."""
    try:
        return bool(sys.__stdout__ and sys.__stdout__.isatty())
    except ValueError:
        return False


def is_full_screen() -> bool:
    """Says whether gdb draws windows (the TUI), which a line written past it would spoil."""
    try:
        return "cmd" in gdb.execute("info win", to_string=True).split()
    except gdb.error:
        return False


@contextlib.contextmanager
def silenced(descriptor: int = 1) -> Iterator[None]:
    """Keeps what gdb writes to a file descriptor inside the block off the terminal. Used inside
    interrupts.held().

    It tells of some stops past whoever wants a command's output, whatever is set. Where that is
    read by a program or drawn in windows, nothing is held back.
    """
    if not is_terminal() or is_full_screen():
        yield
        return
    gdb.flush()
    terminal = os.dup(descriptor)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), descriptor)
        yield
    finally:
        gdb.flush()
        os.dup2(terminal, descriptor)
        os.close(terminal)
