"""The processes of gdb's inferiors, as the helper wants to know them."""

import os
import traceback
from typing import Any, List, Optional, Tuple

import gdb

from . import fatal, jobs, protocol, states, sysroot
from .errors import Failure, one_line, trace
from .lookup import object_path, program_path
from .parameters import is_debugging
from .selection import c_language, inferior_selected, selection_kept, touch
from .targets import kind_of

NOTHING = ("The program is not being run: `mpi-attach' to an MPI job, `attach' to one of its"
           " processes, `run' a program, or name a core file with `core-file', and try again.")

_NO_PROGRAM = ("gdb has no program for process %d, most likely since it was deleted or built anew"
               " meanwhile, so it knows none of its functions: `detach', `mpi-attach %d', and try"
               " again.")

_IN_CONTAINER = ("gdb may not enter the container that process %d is in, so it has read none of its"
                 " files: `detach', `mpi-attach %d', and try again.")

# The process id that gdb makes up for a core file without one.
_MADE_UP_PID = 1


def current_process() -> protocol.Process:
    """Describes the current inferior's process, which must be stopped. Raises Failure."""
    inferior = gdb.selected_inferior()
    if not inferior.is_valid() or not inferior.pid:
        raise Failure(NOTHING)
    return _describe(inferior)


def all_processes() -> Tuple[List[protocol.Process], List[protocol.Obstacle]]:
    """Describes the processes of all inferiors, and says why some can't be. Raises Failure."""
    described: List[protocol.Process] = []
    obstacles: List[protocol.Obstacle] = []
    for inferior in sorted(gdb.inferiors(), key=lambda inferior: inferior.num):
        if not inferior.pid:
            continue
        with inferior_selected(inferior.num):
            try:
                if not inferior.threads():
                    raise Failure("gdb knows no thread of inferior %d." % inferior.num)
                described.append(_describe(inferior))
            except (Failure, gdb.error) as error:
                if is_debugging():
                    trace(traceback.format_exc())
                obstacles.append(_obstacle(inferior, str(error)))
    if not described and len(obstacles) < 2:
        # As without others: what there is to say is said of the one process, or of none.
        raise Failure(obstacles[0]["reason"] if obstacles else NOTHING)
    return described, obstacles


def other_processes(numbers: List[int]) -> List[protocol.Process]:
    """Describes the processes of the inferiors beside some, as far as they are stopped.

    They are not what the user asked for, so one that can't be described is left out.
    """
    described: List[protocol.Process] = []
    for inferior in gdb.inferiors():
        if inferior.num in numbers or not inferior.pid or not inferior.threads():
            continue
        try:
            with inferior_selected(inferior.num):
                described.append(_describe(inferior))
        except Exception:  # whatever it is
            if is_debugging():
                trace("mpi-queues leaves inferior %d out:\n%s"
                      % (inferior.num, traceback.format_exc()))
    return described


def process_at_breakpoint() -> protocol.Process:
    """Describes the current inferior's process while gdb evaluates an expression: a breakpoint's
    condition, where gdb still says that its threads run, among others. Raises Failure."""
    inferior = gdb.selected_inferior()
    if not inferior.is_valid() or not inferior.pid:
        raise Failure(NOTHING)
    return _describe(inferior, True)


def process_of(thread: gdb.InferiorThread) -> protocol.Process:
    """Describes the process of a thread that is stopped; others of its threads may run. Raises
    Failure."""
    touch()
    with c_language(), selection_kept():
        thread.switch()
        return _describe(thread.inferior, True)


def _describe(inferior: gdb.Inferior, is_evaluating: bool = False) -> protocol.Process:
    """Describes the process of the selected inferior, which must be stopped. Raises Failure."""
    running = [thread for thread in inferior.threads() if thread.is_running()]
    if running and not is_evaluating:
        raise Failure("Thread %d.%d is running, and queues can only be read of a process that is"
                      " stopped: `interrupt -a' it first." % (inferior.num, running[0].num))
    try:
        gdb.newest_frame()
    except gdb.error as error:
        if "is running" in str(error):  # a thread on its way to a stop does not say that it runs
            raise Failure("Inferior %d is running, and queues can only be read of a process that"
                          " is stopped: wait for its stop, or `interrupt -a' it first."
                          % inferior.num)
    kind = kind_of(inferior)
    if kind == "live" and not gdb.current_progspace().filename:
        why = _IN_CONTAINER if sysroot.needs_root(inferior.pid) else _NO_PROGRAM
        raise Failure(why % (inferior.pid, inferior.pid))
    architecture = inferior.architecture()
    number = _unsigned_int(architecture)
    return {
        "inferior": inferior.num,
        "pid": 0 if kind == "core" and inferior.pid == _MADE_UP_PID else inferior.pid,
        "kind": kind,
        "rank": jobs.rank_of(inferior, kind),
        "state": states.before_stop(inferior) if kind == "live" else "",
        # Where an expression is being evaluated, no other thread is selected.
        "signal": None if is_evaluating else fatal.signal_of(inferior, kind),
        "executable": program_path(),
        "libraries": _libraries(),
        "architecture": architecture.name(),
        "pointer_size": int(number.pointer().sizeof),
        "big_endian": _is_big_endian(number),
    }


def _obstacle(inferior: gdb.Inferior, reason: str) -> protocol.Obstacle:
    """Says why the process of the selected inferior can't be read."""
    return {
        "inferior": inferior.num,
        "pid": inferior.pid,
        "executable": program_path(),
        "rank": jobs.rank_of(inferior, kind_of(inferior)),
        "reason": one_line(reason),
    }


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


def _unsigned_int(architecture: gdb.Architecture) -> gdb.Type:
    """Returns the type of a number of four bytes."""
    if hasattr(architecture, "integer_type"):  # since gdb 12
        return architecture.integer_type(32, False)
    with c_language():
        return gdb.lookup_type("unsigned int")


def _is_big_endian(number: gdb.Type) -> bool:
    """Says whether the most significant byte of a number comes first."""
    value: Any = gdb.Value(b"\1" + bytes(int(number.sizeof) - 1), number)
    return int(value) != 1
