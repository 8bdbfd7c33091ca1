"""What `mpi-queues dump' and `report' run in gdb, after gdbinit: processes to a file of JSON.

The request stands in the environment, as JSON: the file for the reply, the process to attach to
(0 for none), whether its whole job is meant, what to set, and the command to run. The reply says
how far it came and what stopped it, so that nobody has to read what gdb prints.
"""

import json
import os
import sys
from typing import Any, Dict, Optional

import gdb

_REQUEST: Dict[str, Any] = json.loads(os.environ["MPI_QUEUES_DUMP"])


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


def _tell(message: str) -> None:
    """Says that gdb makes progress: it is ended when it has not said so for long."""
    try:
        os.write(_REQUEST["progress"], (message + "\n").encode("utf-8", "replace"))
    except OSError:
        pass  # some gdbs close the files that they inherit


def _reply() -> Optional[Dict[str, str]]:
    """Does what the request asks for and returns what is to be said of it."""
    if "mpi_queues.commands" not in sys.modules:
        return None  # gdbinit has said why
    step = "attach"
    try:
        for setting in _REQUEST["settings"] or ():
            gdb.execute("set mpi-queues " + setting)
        sys.modules["mpi_queues.progress"].listeners.append(_tell)
        if _REQUEST["pid"]:
            _attach(_REQUEST["pid"], _REQUEST["job"])
        elif not gdb.selected_inferior().pid:
            return None  # gdb has said why it can't use the core file
        step = "read"
        gdb.execute(_REQUEST["command"])
        step = "done"
        if _REQUEST["pid"]:
            gdb.execute("mpi-detach" if _REQUEST["job"] else "detach")
    except gdb.error as error:
        return {"step": step, "reason": str(error)}
    return {"step": step, "reason": ""}


def _main() -> None:
    """Writes the reply; it takes its name only when it is all there."""
    reply = _reply()
    if reply is not None:
        temporary = _REQUEST["reply"] + ".new"
        with open(temporary, "w") as file:
            json.dump(reply, file)
        os.replace(temporary, _REQUEST["reply"])


_main()
