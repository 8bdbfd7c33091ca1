"""What `mpi-queues dump' and `report' run in gdb, after gdbinit: they read processes through it.

The process that has started this gdb is the helper: its end of a socket is gdb's standard input.
The request stands in the environment, as JSON: the process to attach to, 0 if gdb has a core file
instead, and whether the whole job is meant that it belongs to.
"""

import json
import os
import sys
from typing import Any, Dict

import gdb

_REQUEST: Dict[str, Any] = json.loads(os.environ["MPI_QUEUES_ATTACH"])


def _attach(pid: int, is_job: bool) -> None:
    """Attaches to a process, or to all of its job.

    Debug information that no queue needs is left out: that of the libraries that gdb itself runs
    on too, such as the C library. Where it is installed, in gdb's folder for it, to read it takes
    most of the time.
    """
    folders = gdb.parameter("debug-file-directory") or ""
    gdb.execute("set debug-file-directory")
    try:
        if is_job:
            gdb.execute("mpi-attach %d" % pid)
        else:
            from mpi_queues.inferiors import attach_selected  # gdbinit has found the package
            attach_selected(pid)
    finally:
        gdb.execute("set debug-file-directory %s" % folders)
    with open("/proc/self/maps") as maps:
        common = {os.path.basename(line.rstrip()) for line in maps}
    objfiles = [objfile for inferior in gdb.inferiors()
                for objfile in inferior.progspace.objfiles()]
    for objfile in objfiles:
        name, build = objfile.filename, objfile.build_id
        if objfile.owner or not name or not build or os.path.basename(name) in common:
            continue
        for folder in folders.split(os.pathsep):
            path = os.path.join(folder, ".build-id", build[:2], build[2:] + ".debug")
            if os.path.exists(path):
                objfile.add_separate_debug_file(path)
                break


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


def _serve() -> None:
    """Does what the request asks for, and says what stops it."""
    from mpi_queues.progress import listeners
    pid, is_job = _REQUEST["pid"], _REQUEST["job"]
    is_attached = False
    try:
        if pid:
            listeners.append(_show)
            try:
                _attach(pid, is_job)
            finally:
                listeners.clear()
        elif not gdb.selected_inferior().pid:
            return  # gdb has said why it can't use the core file
        is_attached = True
        gdb.execute("mpi-queues -all" if is_job else "mpi-queues")
        if pid:
            gdb.execute("mpi-detach" if is_job else "detach")
    except gdb.error as error:
        _say("", is_attached, str(error))


def _main() -> None:
    """Serves the process that has started this gdb."""
    if "mpi_queues.commands" not in sys.modules:
        return  # gdbinit has said why
    from mpi_queues.channel import Channel
    from mpi_queues.errors import Failure
    from mpi_queues.link import LINK
    from mpi_queues.peer import Peer
    try:
        LINK.take(Peer("mpi-queues", Channel.inherited(0)))
        _serve()
    except Failure:
        pass  # it is gone, and gdb ends


_main()
