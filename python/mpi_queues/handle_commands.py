"""The commands for communicators, windows, files and single handles."""

from typing import Any, Optional

import gdb

from . import handles, options, parameters, protocol, requests
from .commands import ALL, JSON, OUTPUT, show_queues
from .errors import Failure, reported
from .options import Option
from .process import current_process

_OPTIONS = (ALL, JSON, OUTPUT)
_HANDLE_OPTIONS = (
    Option("type", "KIND", "Say what the expression is, if its type does not: KIND is one of\n"
           "%s,\n%s." % (", ".join(handles.KINDS[:6]), ", ".join(handles.KINDS[6:])),
           handles.KINDS),
    JSON,
    OUTPUT,
)


class _Objects(gdb.Command):
    """A command that shows a table of objects."""

    def __init__(self, name: str, view: str) -> None:
        self._name = name
        self._view = view
        super().__init__(name, gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows the table."""
        given = options.parse(argument or "", _OPTIONS, self._name)
        show_queues(given, from_tty, view=self._view)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and their arguments."""
        return options.complete(text, word, _OPTIONS)


class Communicators(_Objects):
    __doc__ = """Show the communicators of an MPI program.
Usage: mpi-comms [OPTION]...

%s

Of each communicator the name, this process's rank, the size, the kind, the
members by their global ranks, the handle in C and in Fortran, and how many
operations are pending on it are shown. The JSON is that of `mpi-queues'.""" \
        % options.usage(_OPTIONS)


class Windows(_Objects):
    __doc__ = """Show the windows for one-sided communication of an MPI program.
Usage: mpi-windows [OPTION]...

%s

Of each window the name, the communicator, the flavor, this process's memory,
and the epochs that are open are shown. The JSON is that of `mpi-queues'.""" \
        % options.usage(_OPTIONS)


class Files(_Objects):
    __doc__ = """Show the files that an MPI program has opened with MPI_File_open.
Usage: mpi-files [OPTION]...

%s

Of each file the name, the communicator and the access mode are shown. The JSON
is that of `mpi-queues'.""" % options.usage(_OPTIONS)


class Handle(gdb.Command):
    __doc__ = """Show what an MPI handle stands for.
Usage: mpi-handle [OPTION]... EXPRESSION [OPTION]...

%s

The expression's type says which handle it is: MPI_Comm, MPI_Request, type
(MPI_Win), or another of MPI's, MPI_Status among them. An INTEGER of Fortran's
or an untyped pointer needs -type. Options that stand after the expression are
written in full; `--' before it ends them.""" % options.usage(_HANDLE_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-handle", gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows what the handle stands for."""
        given, expression = options.parse_expression(argument or "", _HANDLE_OPTIONS)
        if not expression:
            raise gdb.GdbError("Argument required (expression of an MPI handle).")
        handle = _evaluated(expression, given.get("type"))
        to_json = "json" in given
        output: Optional[str] = given.get("output")
        process = current_process()
        params: protocol.HandleParams = {
            "process": process,
            "handle": handle,
            "format": "json" if to_json else "text",
            "styled": not to_json and output is None and requests.is_styled(from_tty),
            "window": False,
        }
        requests.show(protocol.METHOD_HANDLE, [process], params, {"display": output})

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options, their arguments and, where nothing else stands before it, the
        expression: gdb takes all of text for that."""
        if text.strip() and not text.startswith("-") and " -" not in text:
            return gdb.COMPLETE_EXPRESSION
        return options.complete(text, word, _HANDLE_OPTIONS)


def _evaluated(expression: str, kind: Optional[str]) -> protocol.HandleValue:
    """Returns the handle that an expression is. Raises Failure, and gdb.error from gdb itself."""
    value = gdb.parse_and_eval(expression)
    what = handles.meaning_as(kind, value.type) if kind else handles.meaning(value.type)
    if what:
        return handles.handle_value(value, what)
    if kind:
        raise Failure("\"%s\" has the type \"%s\", which %s can't have."
                      % (expression, value.type, handles.C_TYPES[kind]))
    raise Failure("\"%s\" has the type \"%s\", which is no type of MPI's: say what it is with"
                  " -type and one of %s." % (expression, value.type, ", ".join(handles.KINDS)))


Communicators("mpi-comms", "communicators")
Windows("mpi-windows", "windows")
Files("mpi-files", "files")
Handle()
