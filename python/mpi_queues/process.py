"""The processes of gdb's inferiors, as the helper wants to know them."""

import os
import traceback
from typing import Any, List, Optional

import gdb

from . import protocol
from .errors import Failure
from .lookup import object_path
from .parameters import is_debugging
from .selection import c_language, inferior_selected

# The process id that gdb makes up for a core file without one.
_MADE_UP_PID = 1


def current_process() -> protocol.Process:
    """Describes the current inferior's process, which must be stopped. Raises Failure."""
    inferior = gdb.selected_inferior()
    if not inferior.is_valid() or not inferior.pid:
        raise Failure("The program is not being run: `attach' to a process of an MPI job, `run'"
                      " a program, or name a core file with `core-file', and try again.")
    return _describe(inferior)


def other_processes(number: int) -> List[protocol.Process]:
    """Describes the processes of the inferiors beside one, as far as they are stopped.

    They are not what the user asked for, so one that can't be described is left out.
    """
    described: List[protocol.Process] = []
    for inferior in gdb.inferiors():
        if inferior.num == number or not inferior.pid or not inferior.threads():
            continue
        try:
            with inferior_selected(inferior.num):
                described.append(_describe(inferior))
        except Exception:  # whatever it is
            if is_debugging():
                gdb.write("mpi-queues leaves inferior %d out:\n%s"
                          % (inferior.num, traceback.format_exc()), gdb.STDERR)
    return described


def _describe(inferior: gdb.Inferior) -> protocol.Process:
    """Describes the process of the selected inferior, which must be stopped. Raises Failure."""
    running = [thread for thread in inferior.threads() if thread.is_running()]
    if running:
        raise Failure("Thread %d.%d is running, and queues can only be read of a process that is"
                      " stopped: `interrupt -a' it first." % (inferior.num, running[0].num))
    try:
        gdb.newest_frame()
    except gdb.error as error:
        if "is running" in str(error):  # a thread on its way to a stop does not say that it runs
            raise Failure("Inferior %d is running, and queues can only be read of a process that"
                          " is stopped: wait for its stop, or `interrupt -a' it first."
                          % inferior.num)
    kind = _kind(inferior)
    with c_language():
        return {
            "inferior": inferior.num,
            "pid": 0 if kind == "core" and inferior.pid == _MADE_UP_PID else inferior.pid,
            "kind": kind,
            "executable": gdb.current_progspace().filename or "",
            "libraries": _libraries(),
            "architecture": inferior.architecture().name(),
            "pointer_size": int(gdb.lookup_type("char").pointer().sizeof),
            "big_endian": _is_big_endian(),
        }


def _kind(inferior: gdb.Inferior) -> str:
    """Returns "live", "core" or "remote"."""
    connection = getattr(inferior, "connection", None)
    if connection:
        names = str(connection.type)
    else:
        # Before gdb 12 only this table says it: "* 1  process 42  1 (native)  /path/program".
        row = gdb.execute("info inferiors %d" % inferior.num, to_string=True)
        names = row.replace(gdb.current_progspace().filename or "\0", "")
        names = names[names.rfind("("):names.rfind(")")]
    for name, kind in (("core", "core"), ("native", "live")):
        if name in names:
            return kind
    return "remote"


def _libraries() -> List[str]:
    """Returns the paths of the shared libraries, without their separate debug files."""
    main: Optional[str] = gdb.current_progspace().filename
    paths: List[str] = []
    for objfile in gdb.objfiles():
        path = "" if objfile.owner else object_path(objfile)
        # What has no folder is no file: the vDSO, and code made at run time.
        if path and path != main and "/" in path:
            paths.append(os.path.abspath(path) if path.startswith(".") else path)
    return paths


def _is_big_endian() -> bool:
    """Says whether the most significant byte comes first."""
    number: Any = gdb.lookup_type("unsigned int")
    value = gdb.Value(b"\1" + bytes(int(number.sizeof) - 1), number)
    return int(value) != 1
