"""What `mpi-queues dump' runs in gdb, after gdbinit: one process or core file to one file of JSON.

The request stands in the environment, as JSON: the file for the reply, the process to attach to
(0 for none) and the command to run (empty: only say whether there is one). The reply says how far
it came and what stopped it, so that nobody has to read what gdb prints.
"""

import json
import os
import sys
from typing import Any, Dict, Optional

import gdb

_REQUEST: Dict[str, Any] = json.loads(os.environ["MPI_QUEUES_DUMP"])


def _reply() -> Optional[Dict[str, str]]:
    """Does what the request asks for and returns what is to be said of it."""
    if "mpi_queues.commands" not in sys.modules:
        return None  # gdbinit has said why
    if not _REQUEST["command"]:
        return {"step": "done", "reason": ""}
    step = "attach"
    try:
        if _REQUEST["pid"]:
            gdb.execute("attach %d" % _REQUEST["pid"])
        elif not gdb.selected_inferior().pid:
            return None  # gdb has said why it can't use the core file
        step = "read"
        gdb.execute(_REQUEST["command"])
        step = "done"
        if _REQUEST["pid"]:
            gdb.execute("detach")
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
