"""What the ranks of a job that is started here are told of their debugger.

The MPIR Process Acquisition Interface (MPI Forum, 2010) has two variables for it, which a rank may
have itself or in any of its libraries: MPIR_being_debugged, for which some MPI libraries keep more
for the debugger to show, and MPIR_debug_gate, for which a rank may wait in MPI_Init.
"""

import functools
import os
import struct
from typing import Any, Dict, List, Optional, Tuple

import gdb

from . import running, states, summary
from .charset import lossless
from .selection import c_language, select_inferior

_BEING_DEBUGGED, _GATE = _VARIABLES = ("MPIR_being_debugged", "MPIR_debug_gate")

# The ranks that are told, by the numbers of their inferiors: their process ids, since a number can
# become another's, and which variables are set.
_told: Dict[int, Tuple[int, Tuple[str, ...]]] = {}


def take(members: List[summary.Member], is_launcher_told: bool, in_background: bool) -> None:
    """Takes ranks that were attached: they forget how they were held, and are told of their
    debugger, if their launcher was."""
    inferiors = {inferior.num: inferior for inferior in gdb.inferiors()}
    # All at once: when one of them moves, nothing is known any more of any.
    stood = {number for number, _, _ in members if states.before_stop(inferiors[number]) == "T"}
    for number, _, pid in members:
        if number in stood:
            running.settle(number, pid, in_background)
        _told[number] = pid, _VARIABLES if is_launcher_told else (_GATE,)
        select_inferior(number)
        with c_language():
            _tell(_told[number][1])


def in_main() -> bool:
    """Selects the frame of main in the current thread and shows it, if main was called."""
    try:
        frame: Optional[gdb.Frame] = gdb.newest_frame()
        while frame is not None:
            if frame.name() == "main":
                frame.select()
                gdb.execute("frame")
                return True
            frame = frame.older()
    except gdb.error:
        pass  # the stack can't be followed so far
    return False


def _tell(variables: Tuple[str, ...]) -> None:
    """Sets variables of the selected inferior, as far as it has them."""
    for name in variables:
        try:
            where = int(gdb.parse_and_eval("(unsigned long) &" + name))
            gdb.selected_inferior().write_memory(where, struct.pack("=i", 1))
        except gdb.error:
            pass  # it does not ask for a debugger


@lossless()
def _on_new_objfile(event: Any) -> None:
    """Serves gdb's event for a file whose symbols were read: of a library, or of a program that a
    rank has executed."""
    inferior = gdb.selected_inferior()
    pid, variables = _told.get(inferior.num, (0, ()))
    if not inferior.pid or pid != inferior.pid or states.is_attaching():
        return
    try:
        if _may_define(event.new_objfile.filename):
            _tell(variables)
    except (Exception, KeyboardInterrupt):
        pass  # gdb would show it amid what the user is doing


def _may_define(path: str) -> bool:
    """Says whether a program or library may define one of the variables."""
    try:
        status = os.stat(path)
        return _names_any(path, (status.st_dev, status.st_ino, status.st_mtime_ns))
    except (OSError, ValueError, struct.error):
        return True  # gdb knows


@functools.lru_cache(maxsize=4096)
def _names_any(path: str, identity: Tuple[int, int, int]) -> bool:
    """Says whether a file has the name of one of the variables among its symbols for the loader;
    True for a file that has none for it. To ask gdb takes it long where there are many libraries.
    """
    with open(path, "rb") as file:
        header = file.read(64)
        is_wide, order = header[4] == 2, "<>"[header[5] == 2]
        if header[:4] != b"\x7fELF":
            return True
        word = order + ("Q" if is_wide else "L")
        sections, = struct.unpack_from(word, header, 0x28 if is_wide else 0x20)
        size, count = struct.unpack_from(order + "HH", header, 0x3A if is_wide else 0x2E)
        file.seek(sections)
        table = file.read(size * count)
        for at in range(0, len(table) - size + 1, size):
            kind, = struct.unpack_from(order + "L", table, at + 4)
            if kind != 11:  # SHT_DYNSYM
                continue
            link, = struct.unpack_from(order + "L", table, at + (0x28 if is_wide else 0x18))
            place = link * size + (0x18 if is_wide else 0x10)
            where, length = struct.unpack_from(word + word[1], table, place)
            file.seek(where)
            names = file.read(length)
            return any(name.encode("ascii") in names for name in _VARIABLES)
    return True


gdb.events.new_objfile.connect(_on_new_objfile)
