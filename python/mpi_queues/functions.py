"""Convenience functions for conditions and scripts: `break halo.c:40 if $mpi_rank() == 3'.

gdb evaluates a condition without telling of a stop, so nothing counts here that is remembered for
one. What a process's MPI library has said of its rank in MPI_COMM_WORLD stays true.
"""

from typing import Any, Dict, NamedTuple, Optional, Tuple

import gdb

from . import handles, parameters, process_exit, protocol
from .errors import Failure, reported
from .handle_texts import ask
from .link import LINK
from .output import Buffer
from .process import process_at_breakpoint
from .selection import Untouchable, c_language, untouched
from .services import Services


class _Place(NamedTuple):
    """The place of a process in MPI_COMM_WORLD."""

    rank: Optional[int]
    size: Optional[int]


# The places that the processes' MPI libraries have told, by the number of the inferior, with the
# process id.
_places: Dict[int, Tuple[int, _Place]] = {}


def place() -> _Place:
    """Returns the place of the selected inferior's process. Raises Failure."""
    inferior = gdb.selected_inferior()
    known = _places.get(inferior.num)
    if known and known[0] == inferior.pid:
        return known[1]
    process = process_at_breakpoint()
    params: protocol.RankParams = {"process": process, "window": False}
    result: protocol.RankResult = _request(protocol.METHOD_RANK, process, params,
                                           protocol.RankResult)
    found = _Place(result["rank"], result["size"])
    if result["initialized"]:
        _places[inferior.num] = inferior.pid, found
    return found


def _request(method: str, process: protocol.Process, params: Any, result: Any) -> Any:
    """Makes a request for a process, whose answer is its result. Raises Failure."""
    process_exit.watch([process])
    services = Services(Buffer(), lambda: LINK.window)
    arguments = (method, params, result, services.serve, parameters.helper_name(),
                 parameters.is_debugging())
    try:
        with untouched():
            return LINK.request(*arguments)
    except Untouchable:
        return LINK.request(*arguments)


def _forget(event: Any) -> None:
    """Forgets a process that has ended."""
    _places.pop(event.inferior.num, None)


class _Function(gdb.Function):
    """A convenience function, whose errors are sentences."""

    @reported(parameters.is_debugging)
    def invoke(self, *arguments: gdb.Value) -> Any:
        """Returns the function's value."""
        return self.value(*arguments)

    def value(self, *arguments: gdb.Value) -> Any:
        """Returns the function's value. Raises Failure, and gdb.error from gdb itself."""
        raise NotImplementedError


class Rank(_Function):
    """$mpi_rank() - the rank in MPI_COMM_WORLD of the current inferior's process.

Usage: $mpi_rank ()

Before MPI_Init it is the rank that the launcher has given the process, and
with sessions alone the one in the process set mpi://WORLD. A condition may
have it, for all inferiors:
    break halo.c:40 if $mpi_rank() == 3"""

    def value(self, *arguments: gdb.Value) -> Any:
        """Returns the rank."""
        _check_count("$mpi_rank", arguments, 0)
        rank = place().rank
        if rank is None:
            raise Failure("The rank of this process is not known: neither its MPI library nor its"
                          " launcher tells it.")
        return rank


class Size(_Function):
    """$mpi_size() - the size of MPI_COMM_WORLD.

Usage: $mpi_size ()

Before MPI_Init it is the number of processes that the launcher has started."""

    def value(self, *arguments: gdb.Value) -> Any:
        """Returns the size."""
        _check_count("$mpi_size", arguments, 0)
        size = place().size
        if size is None:
            raise Failure("The size of MPI_COMM_WORLD is not known: neither the MPI library of this"
                          " process nor its launcher tells it.")
        return size


class CommunicatorRank(_Function):
    """$mpi_comm_rank(COMM) - the rank of the current inferior's process in a communicator.

Usage: $mpi_comm_rank (COMM)

COMM is an MPI_Comm or a communicator of Fortran's."""

    def value(self, *arguments: gdb.Value) -> Any:
        """Returns the rank."""
        _check_count("$mpi_comm_rank", arguments, 1)
        value = arguments[0]
        what = handles.meaning(value.type) or handles.meaning_as("comm", value.type)
        if what is None or what.kind != "comm":
            raise Failure("$mpi_comm_rank takes a communicator, and not a value of type \"%s\"."
                          % value.type)
        wanted = [handles.handle_value(value, what)]
        try:
            with untouched():
                text = ask(process_at_breakpoint(), wanted)[0]
        except Untouchable:
            text = ask(process_at_breakpoint(), wanted)[0]
        if text["rank"] is None:
            raise Failure("This process has no rank in %s."
                          % (text["summary"] or "this communicator, or it is not known"))
        return text["rank"]


class FoundCommunicator(_Function):
    """$mpi_comm(NAME) - the handle of the communicator of this name.

Usage: $mpi_comm (NAME)

NAME is a string: the communicator's name, or its unique id. The handle is an
MPI_Comm, or an integer in a program that has no such type."""

    def value(self, *arguments: gdb.Value) -> Any:
        """Returns the handle."""
        _check_count("$mpi_comm", arguments, 1)
        try:
            name = arguments[0].string()
        except (gdb.error, RuntimeError, UnicodeError):
            raise Failure("$mpi_comm takes the name of a communicator as a string, and not a value"
                          " of type \"%s\"." % arguments[0].type)
        process = process_at_breakpoint()
        params: protocol.FindCommunicatorParams = {"process": process, "name": name,
                                                   "window": False}
        result: protocol.FindCommunicatorResult = _request(
            protocol.METHOD_FIND_COMMUNICATOR, process, params, protocol.FindCommunicatorResult)
        if result["handle"] is None:
            raise Failure("The handle of the communicator \"%s\" is not known." % name)
        return _as_communicator(result["handle"])


def _as_communicator(handle: int) -> gdb.Value:
    """Returns a handle as a value of the program's type for communicators, or as an integer."""
    value = gdb.Value(handle)
    try:
        with c_language():
            kind = gdb.lookup_type(handles.C_TYPES["comm"])
        if kind.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT):
            return value.cast(kind)
    except (gdb.error, Untouchable):
        pass
    return value


def _check_count(name: str, arguments: Any, count: int) -> None:
    """Refuses arguments that a function does not have. Raises Failure."""
    if len(arguments) != count:
        raise Failure("You must provide %s to %s." % (
            ("no arguments", "one argument")[count], name))


Rank("mpi_rank")
Size("mpi_size")
CommunicatorRank("mpi_comm_rank")
FoundCommunicator("mpi_comm")
gdb.events.exited.connect(_forget)
