"""The requests of commands to the helper: what they have in common."""

import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

import gdb

from . import jobs, parameters, process_exit, protocol
from .errors import trace
from .link import LINK
from .output import Buffer, Display, File
from .process import all_processes, current_process, other_processes
from .services import Services
from .terminal import is_terminal


def processes(all_of_them: bool) -> Tuple[List[protocol.Process], List[protocol.Obstacle]]:
    """Describes the process of the current inferior, or those of all inferiors, and the processes
    that can't be read. Raises Failure if there is none."""
    return all_processes() if all_of_them else ([current_process()], [])


def source(asked_for: List[protocol.Process]) -> protocol.Source:
    """Says where the queues of processes may be read from."""
    choice = parameters.source()
    numbers = [process["inferior"] for process in asked_for]
    return {
        "choice": choice,
        "dll": parameters.dll(),
        "safe_path": parameters.dll_safe_path(),
        "timeout": parameters.dll_timeout(),
        "starters": [] if choice == "native" else other_processes(numbers),
        "launchers": jobs.launchers_elsewhere(numbers),
    }


def is_styled(from_tty: bool) -> bool:
    """Says whether text that a user has asked for may have ANSI escapes.

    Text that a script has asked for has none: gdb does not say whether it captures the text.
    """
    # cuda-gdb's bool is not Python's, and would become 0 in JSON.
    return (bool(from_tty) and is_terminal() and bool(gdb.parameter("style enabled"))
            and os.environ.get("TERM", "dumb") != "dumb")


def show(method: str, asked_for: List[protocol.Process], params: Mapping[str, Any],
         files: Dict[str, Optional[str]], buffer: Optional[Buffer] = None) -> None:
    """Makes a request for processes. Its output goes to gdb, to a buffer or to files."""
    process_exit.watch(asked_for + params.get("source", {}).get("starters", []))
    services = Services(buffer or Display(), lambda: LINK.window)
    debug = parameters.is_debugging()
    success = False
    try:
        for stream, name in files.items():
            if name is not None:
                services.add_stream(stream, File(name))
        result: protocol.Result = LINK.request(
            method, params, protocol.Result, services.serve, parameters.helper_name(), debug)
        success = True
    finally:
        services.end(success)
        if debug:
            trace(LINK.log())
    if debug:
        say_cost(result)


def say_cost(cost: protocol.Result) -> None:
    """Says what a request has taken."""
    gdb.write("mpi-queues: %d round trips, %d bytes read, %.3f s\n"
              % (cost["round_trips"], cost["bytes_read"], cost["seconds"]), gdb.STDERR)
