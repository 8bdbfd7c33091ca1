"""The commands that show something of processes: `mpi-queues', `mpi-deadlock', `info mpi'."""

import os
from typing import Any, Dict, List, Optional

import gdb

from . import handle_variables, handles, jobs, options, parameters, protocol, requests, stops
from .errors import Failure, reported
from .options import Option
from .output import Buffer
from .selection import inferior_selected, unwinding

QUEUES = ("sends", "receives", "unexpected")

ALL = Option("all", "", "Show the processes of all inferiors.")
JSON = Option("json", "", "Write JSON instead of text.")
OUTPUT = Option("output", "FILE", "Write to FILE instead of showing.", is_file=True)

_OPTIONS = (
    ALL,
    Option("comm", "NAME|ID|EXPRESSION",
           "Show only communicators of this name or unique id or, if there is\n"
           "none, the one that an expression of type MPI_Comm stands for."),
    Option("queue", "|".join(QUEUES), "Show only this queue of each communicator.", QUEUES),
    Option("internal", "", "Show the MPI library's own communicators and messages too."),
    Option("members", "", "Name the members of each communicator by their global ranks."),
    Option("all-communicators", "",
           "Show communicators without pending operations in the library's\n"
           "order, not in one sentence at the end."),
    Option("limit", "NUMBER|unlimited",
           "Set how many operations of a queue are shown.\n"
           "The default is that of `set mpi-queues limit'; with -json it is unlimited.",
           is_limit=True),
    JSON,
    OUTPUT,
    Option("record", "FILE",
           "Record all that is read of the process, and what its handles stand for,\n"
           "into FILE, from which `mpi-queues' in a shell can show the same again.", is_file=True),
)

_SVG = Option("svg", "", "Write the picture of who waits for whom, as SVG.")

_DEADLOCK_OPTIONS = (ALL, JSON, _SVG, OUTPUT)


class Queues(gdb.Command):
    __doc__ = """Show pending MPI sends, receives and unexpected messages.
Usage: mpi-queues [OPTION]...

%s

The queues of the current inferior's process, which must be stopped, are shown
in the order in which its MPI library matches messages. With -all, processes
that can't be read are listed with the reason.""" % options.usage(_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-queues", gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows the queues."""
        show_queues(options.parse(argument or "", _OPTIONS, "mpi-queues"), from_tty)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and their arguments."""
        return options.complete(text, word, _OPTIONS)


class Deadlock(gdb.Command):
    __doc__ = """Show which MPI ranks wait for which, and whether they are deadlocked.
Usage: mpi-deadlock [OPTION]...

%s

Without -all only the current inferior's process is looked at. `mpi-attach'
attaches to all ranks of a job.""" % options.usage(_DEADLOCK_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-deadlock", gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows who waits for whom."""
        show_deadlock(options.parse(argument or "", _DEADLOCK_OPTIONS, "mpi-deadlock"), from_tty)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and their arguments."""
        return options.complete(text, word, _DEADLOCK_OPTIONS)


class Describe(gdb.Command):
    """Show what was detected of MPI in the program being debugged.
Usage: info mpi

Says which MPI library the current inferior's process uses, and where its message
queues would be read from, without reading them; and which queue DLL there is."""

    def __init__(self) -> None:
        super().__init__("info mpi", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows what was detected."""
        options.parse(argument or "", (), "info mpi")
        processes, _ = requests.processes(False)
        params: protocol.DescribeParams = {
            "process": processes[0],
            "source": requests.source(processes),
            "window": False,
        }
        requests.show(protocol.METHOD_DESCRIBE, processes, params, {})


def show_queues(given: Dict[str, Any], from_tty: bool, buffer: Optional[Buffer] = None,
                view: str = "queues") -> None:
    """Shows the queues with options as options.parse returns them, or keeps what there is to show
    in a buffer. Of what is read with them the text shows one view alone."""
    to_json = "json" in given
    output: Optional[str] = given.get("output")
    record: Optional[str] = given.get("record")
    if output and record and os.path.realpath(output) == os.path.realpath(record):
        raise Failure("-output and -record name the same file: name two.")
    comm = given.get("comm", "")
    processes, obstacles = requests.processes("all" in given)
    params: protocol.QueuesParams = {
        "processes": processes,
        "obstacles": obstacles,
        "source": requests.source(processes),
        "view": view,
        "comm": comm,
        "comm_handle": handles.communicator(comm) if comm else None,
        "comm_inferior": gdb.selected_inferior().num,
        "queue": given.get("queue", ""),
        "internal": "internal" in given,
        "members": "members" in given,
        "all_communicators": "all-communicators" in given,
        "limit": given.get("limit", 0 if to_json else parameters.limit()),
        "format": "json" if to_json else "text",
        "styled": not to_json and output is None and requests.is_styled(from_tty),
        "record": record is not None,
        "handles": _handles(processes) if record is not None else [],
        "window": False,
    }
    requests.show(protocol.METHOD_QUEUES, processes, params,
                  {"display": output, "recording": record}, buffer)


def _handles(processes: List[protocol.Process]) -> List[protocol.ProcessHandles]:
    """Returns the handles in the variables of processes, each as its selected or its first thread
    sees them. Without any, a recording has less."""
    found: List[protocol.ProcessHandles] = []
    for process in processes:
        try:
            with inferior_selected(process["inferior"]), unwinding():
                values = handle_variables.in_frames()
        except (gdb.error, RuntimeError):
            continue
        found.append({"inferior": process["inferior"], "handles": values})
    return found


def _absent() -> List[protocol.Rank]:
    """Returns the ranks of the attached jobs that no inferior has, or has any more: how those have
    ended that gdb has seen ending."""
    found = jobs.absent()
    for rank in found:
        gone = stops.exit_of_rank(rank)
        if gone:
            rank.update({"exited": True, "exit_code": gone.code, "signal": gone.signal})
    return found


def show_deadlock(given: Dict[str, Any], from_tty: bool, buffer: Optional[Buffer] = None) -> None:
    """Shows who waits for whom, in the same way."""
    if "json" in given and "svg" in given:
        raise Failure("-json and -svg are two formats: name one.")
    written = next((name for name in ("json", "svg") if name in given), "text")
    output: Optional[str] = given.get("output")
    processes, obstacles = requests.processes("all" in given)
    params: protocol.DeadlockParams = {
        "processes": processes,
        "obstacles": obstacles,
        "absent": _absent() if "all" in given else [],
        "source": requests.source(processes),
        "format": written,
        "styled": written == "text" and output is None and requests.is_styled(from_tty),
        "window": False,
    }
    requests.show(protocol.METHOD_DEADLOCK, processes, params, {"display": output}, buffer)


Queues()
Deadlock()
Describe()
