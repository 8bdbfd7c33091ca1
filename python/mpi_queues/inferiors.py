"""Makes, attaches, detaches and removes inferiors."""

import os
from typing import Tuple

import gdb

from . import states
from .errors import one_line
from .link import LINK
from .process import kind_of
from .selection import select_inferior
from .terminal import silenced


def vacant() -> Tuple[int, bool]:
    """Returns the number of an inferior without process and program, and whether it was added.

    The current inferior goes first.
    """
    current = gdb.selected_inferior()
    if not current.pid and not gdb.objfiles() and not program() \
            and kind_of(current) in ("", "live"):
        return current.num, False
    gdb.execute("add-inferior -no-connection", to_string=True)
    return max(inferior.num for inferior in gdb.inferiors()), True


def obstacle(pid: int) -> str:
    """Says why gdb is not even to try to attach to a process, if so."""
    if not pid:
        return "its process id is not known."
    if pid == os.getpid():
        return "it is this gdb."
    try:
        session = os.getsid(pid)
    except ProcessLookupError:
        return "its process is not there any more."
    except OSError:
        session = 0
    return "it belongs to mpi-queues itself." if session and session == LINK.pid() else ""


def attach(number: int, pid: int) -> str:
    """Attaches an inferior, which is selected then; returns why it could not, if so."""
    select_inferior(number)
    try:
        with silenced():
            attach_selected(pid)
        return ""
    except gdb.error as error:
        reason = one_line(str(error))
    if gdb.selected_inferior().pid:
        detach(number)
    clear(program())
    return reason


def attach_selected(pid: int) -> None:
    """Attaches the selected inferior to a process. Raises gdb.error."""
    with states.remembered(pid):
        _name_program(pid)
        gdb.execute("attach %d" % pid, to_string=True)


def _name_program(pid: int) -> None:
    """Gives the selected inferior, before it is attached, a program that gdb would not find.

    That is one that was deleted or built anew since the process was started, or is in another
    mount namespace: only the kernel still leads to it.
    """
    path = "/proc/%d/exe" % pid
    try:
        running = os.stat(path)
    except OSError:
        return  # gdb will say what is wrong
    try:
        if os.path.samestat(running, os.stat(os.readlink(path))):
            return
    except OSError:
        pass  # it is not there any more
    try:
        gdb.execute("file %s" % path, to_string=True)
    except gdb.error:
        pass  # it may not be read: then gdb does what it can without


def detach(number: int) -> str:
    """Detaches an inferior; returns why it could not be, if so."""
    try:
        gdb.execute("detach inferiors %d" % number, to_string=True)
    except gdb.error as error:
        return one_line(str(error))
    return ""


def program() -> str:
    """Returns the path of the selected inferior's program, empty if it has none."""
    return gdb.current_progspace().filename or ""


def clear(path: str) -> None:
    """Takes its program from the selected inferior, which has no process, if it is still this."""
    if program() == path:
        try:
            gdb.execute("file", to_string=True)
        except gdb.error:
            pass  # it keeps its program, as after gdb's own `detach'


def remove(number: int) -> None:
    """Removes an inferior that is neither selected nor has a process, if it is there."""
    try:
        gdb.execute("remove-inferiors %d" % number, to_string=True)
    except gdb.error:
        pass  # its user has done so
