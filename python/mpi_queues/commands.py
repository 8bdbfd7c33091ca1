"""The commands `mpi-queues' and `info mpi'."""

import os
from typing import Any, Dict, Mapping, Optional

import gdb

from . import exits, options, parameters, protocol
from .errors import Failure, reported
from .link import LINK
from .options import Option
from .output import Display, File
from .process import current_process, other_processes
from .progress import is_terminal
from .services import Services

_QUEUES = ("sends", "receives", "unexpected")

_OPTIONS = (
    Option("comm", "NAME|ID", "Show only communicators of this name or unique id."),
    Option("queue", "|".join(_QUEUES), "Show only this queue of each communicator.", _QUEUES),
    Option("internal", "", "Show the MPI library's own communicators and messages too."),
    Option("limit", "NUMBER|unlimited",
           "Set how many operations of a queue are shown.\n"
           "The default is that of `set mpi-queues limit'; with -json it is unlimited.",
           is_limit=True),
    Option("json", "", "Write JSON instead of text."),
    Option("output", "FILE", "Write to FILE instead of showing.", is_file=True),
    Option("record", "FILE",
           "Record all that is read of the process into FILE, from which\n"
           "`mpi-queues' in a shell can show the same queues again.", is_file=True),
)


class Queues(gdb.Command):
    __doc__ = """Show pending MPI sends, receives and unexpected messages.
Usage: mpi-queues [OPTION]...

%s

The queues of the current inferior's process are shown in the order in which
its MPI library matches messages. Its process must be stopped.""" % options.usage(_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-queues", gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows the queues."""
        given = options.parse(argument or "", _OPTIONS, "mpi-queues")
        to_json = "json" in given
        output: Optional[str] = given.get("output")
        record: Optional[str] = given.get("record")
        if output and record and os.path.realpath(output) == os.path.realpath(record):
            raise Failure("-output and -record name the same file: name two.")
        process = current_process()
        params: protocol.QueuesParams = {
            "processes": [process],
            "source": _source(process),
            "comm": given.get("comm", ""),
            "queue": given.get("queue", ""),
            "internal": "internal" in given,
            "limit": given.get("limit", 0 if to_json else parameters.limit()),
            "format": "json" if to_json else "text",
            # What gdb hands over as a bool need not be Python's: cuda-gdb's becomes 0 in JSON.
            "styled": bool(not to_json and output is None and from_tty and is_styled()),
            "record": record is not None,
            "window": False,
        }
        exits.watch([process] + params["source"]["starters"])
        _ask(protocol.METHOD_QUEUES, params, {"display": output, "recording": record})

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and their arguments."""
        return options.complete(text, word, _OPTIONS)


class Describe(gdb.Command):
    """Show what was detected of MPI in the program being debugged.
Usage: info mpi

Says which MPI library the current inferior's process uses, and where its message
queues would be read from, without reading them."""

    def __init__(self) -> None:
        super().__init__("info mpi", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows what was detected."""
        options.parse(argument or "", (), "info mpi")
        process = current_process()
        params: protocol.DescribeParams = {
            "process": process,
            "source": _source(process),
            "window": False,
        }
        exits.watch([process] + params["source"]["starters"])
        _ask(protocol.METHOD_DESCRIBE, params, {})


def is_styled() -> bool:
    """Says whether text that a user has asked for may have ANSI escapes in it.

    Not so what a script asks for: gdb does not say whether it captures the text.
    """
    return (is_terminal() and bool(gdb.parameter("style enabled"))
            and os.environ.get("TERM", "dumb") != "dumb")


def _source(process: protocol.Process) -> protocol.Source:
    """Says where the queues of a process may be read from."""
    choice = parameters.source()
    return {
        "choice": choice,
        "dll": parameters.dll(),
        "safe_path": parameters.dll_safe_path(),
        "timeout": parameters.dll_timeout(),
        "starters": [] if choice == "native" else other_processes(process["inferior"]),
    }


def _ask(method: str, params: Mapping[str, Any], files: Dict[str, Optional[str]]) -> None:
    """Makes a request whose streams go to gdb's output, or to files."""
    services = Services(Display(), lambda: LINK.window)
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
            gdb.write(LINK.log(), gdb.STDERR)
    if debug:
        gdb.write("mpi-queues: %d round trips, %d bytes read, %.3f s\n"
                  % (result["round_trips"], result["bytes_read"], result["seconds"]), gdb.STDERR)


Queues()
Describe()
