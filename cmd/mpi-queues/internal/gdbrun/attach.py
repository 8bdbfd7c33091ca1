"""What `mpi-queues dump' and `report' run in gdb, after gdbinit: they read processes through it.

The process that has started this gdb is the helper: its end of a socket is gdb's standard input.
The request is in the environment, as JSON: `job' is a process to attach to the job of, 0 if
there is none, and `in_turn' is true if the helper names the processes to read, one after another;
`ahead', if the files of the first are to be read while it runs. With `record', the process `job'
alone is recorded into that file. Without `job' and `in_turn', gdb has a core file.
"""

import contextlib
import json
import os
import sys
from typing import Any, Dict, Iterator, List

import gdb

_REQUEST: Dict[str, Any] = json.loads(os.environ["MPI_QUEUES_ATTACH"])


@contextlib.contextmanager
def _only_needed_symbols() -> Iterator[None]:
    """Leaves out, of what the block attaches to, debug information that no queue needs.

    That is what the libraries have that gdb itself runs on too, such as the C library. Where it
    is installed, in gdb's folder for it, to read it takes most of the time.
    """
    folders = gdb.parameter("debug-file-directory") or ""
    with open("/proc/self/maps") as maps:
        common = {os.path.basename(line.rstrip()) for line in maps}
    before = set(_objfiles())
    gdb.execute("set debug-file-directory")
    try:
        yield
    finally:
        gdb.execute("set debug-file-directory %s" % folders)
    for objfile in [objfile for objfile in _objfiles() if objfile not in before]:
        name, build = objfile.filename, objfile.build_id
        if objfile.owner or not name or not build or os.path.basename(name) in common:
            continue
        for folder in folders.split(os.pathsep):
            path = os.path.join(folder, ".build-id", build[:2], build[2:] + ".debug")
            if os.path.exists(path):
                objfile.add_separate_debug_file(path)
                break


def _objfiles() -> Iterator[gdb.Objfile]:
    """Yields the files that any inferior has."""
    for inferior in gdb.inferiors():
        yield from inferior.progspace.objfiles()


def _say(message: str, is_attached: bool = False, failure: str = "") -> None:
    """Tells the helper what gdb does by itself. Raises Failure if nobody is there."""
    from mpi_queues import protocol
    from mpi_queues.link import LINK, serve_nothing
    params: protocol.StatusParams = {
        "message": message, "attached": is_attached, "failure": failure}
    LINK.request(protocol.METHOD_STATUS, params, protocol.StatusResult, serve_nothing, "", False)


def _show(message: str) -> None:
    """Tells the helper how far gdb has come. Without one nothing more is attached to."""
    from mpi_queues.errors import Failure
    try:
        _say(message)
    except Failure:
        raise KeyboardInterrupt


def _read_job(pid: int) -> None:
    """Reads a process's job, all of which stands still. Says what stops it."""
    from mpi_queues.progress import listeners
    is_attached = False
    try:
        listeners.append(_show)
        try:
            with _only_needed_symbols():
                gdb.execute("mpi-attach %d" % pid)
        finally:
            listeners.clear()
        is_attached = True
        gdb.execute("mpi-queues -all")
        gdb.execute("mpi-detach")
    except gdb.error as error:
        _say("", is_attached, str(error))


def _record(pid: int, path: str) -> None:
    """Records a process into a file. Says what stops it."""
    from mpi_queues import inferiors
    from mpi_queues.commands import show_queues
    from mpi_queues.errors import Failure
    number = inferiors.vacant()[0]
    with _only_needed_symbols():
        failure = inferiors.attach(number, pid)
    is_attached = not failure
    if is_attached:
        try:
            show_queues({"internal": True, "output": os.devnull, "record": path}, False)
        except (Failure, gdb.error) as error:
            failure = str(error)
        inferiors.detach(number)
    if failure:
        _say("", is_attached, failure)


def _next() -> int:
    """Returns the process to read next, 0 if there is none left."""
    from mpi_queues import protocol
    from mpi_queues.link import LINK, serve_nothing
    params: protocol.NextParams = {}
    result: protocol.NextResult = LINK.request(protocol.METHOD_NEXT, params, protocol.NextResult,
                                               serve_nothing, "", False)
    return result["pid"]


def _read_in_turn() -> None:
    """Reads processes, as the helper names them. Says of each what stops it.

    Each is let go when the next one is attached to: what gdb knows of files it keeps as long as an
    inferior has them, and need not read again then.
    """
    from mpi_queues import inferiors, read_ahead
    from mpi_queues.selection import select_inferior
    free: List[int] = []
    held, is_ahead = 0, not _REQUEST["ahead"]
    while True:
        pid = _next()
        number, failure = 0, ""
        if pid and not is_ahead:
            is_ahead = True
            with _only_needed_symbols():
                read_ahead.read(pid)
        if pid:
            number = free.pop() if free else inferiors.vacant()[0]
            with _only_needed_symbols():
                failure = inferiors.attach(number, pid)
        if held:
            select_inferior(held)
            inferiors.detach(held)
            inferiors.clear(inferiors.program())
            free.append(held)
        if not pid:
            return
        if failure:
            free.append(number)
            held = 0
            _say("", False, failure)
            continue
        held = number
        select_inferior(held)
        try:
            gdb.execute("mpi-queues")
        except gdb.error as error:
            _say("", True, str(error))


def _read_core() -> None:
    """Reads the core file that gdb has. Says what stops it."""
    if not gdb.selected_inferior().pid:
        return  # gdb has said why it can't use it
    try:
        gdb.execute("mpi-queues")
    except gdb.error as error:
        _say("", True, str(error))


def _main() -> None:
    """Serves the process that has started this gdb."""
    if "mpi_queues.commands" not in sys.modules:
        return  # gdbinit has said why
    from mpi_queues import sysroot
    from mpi_queues.channel import Channel
    from mpi_queues.charset import lossless
    from mpi_queues.errors import Failure
    from mpi_queues.link import LINK
    from mpi_queues.peer import Peer
    try:
        with lossless():
            LINK.take(Peer("mpi-queues", Channel.inherited(0)))
            if _REQUEST["in_turn"]:
                with sysroot.kept():
                    _read_in_turn()
            elif _REQUEST["record"]:
                _record(_REQUEST["job"], _REQUEST["record"])
            elif _REQUEST["job"]:
                _read_job(_REQUEST["job"])
            else:
                _read_core()
    except Failure:
        pass  # it is gone, and gdb ends


_main()
