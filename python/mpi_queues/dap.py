"""Requests and events for editors that speak the Debug Adapter Protocol with gdb (`gdb -i dap').

mpiQueues        Arguments: scope ("inferior", which is the default, or "all") and options (an
                 object with any of comm, queue, internal, limit). The body of the answer is the
                 document of `mpi-queues -json' with the same options, and with -all.
mpiDeadlock      Argument: scope. The body is the report of `mpi-deadlock -json'.
mpiPicture       Argument: scope. The body has svg: what `mpi-deadlock -svg' writes.
mpiRanks         The body is the document of `mpi-ranks -json'.
mpiPrint         Argument: expression. The body is the document of `mpi-print -json'.
mpiStacks        Arguments: ranks (a list as `mpi-stacks' takes it; "all" is the default), threads
                 and internal (false is their default). The body is the document of `mpi-stacks
                 -json'.
mpiSelect        Arguments: rank, or inferior (gdb's number of it). Selects the process; without
                 arguments, selects nothing. The body has threadId: the thread that is selected
                 then, null if there is none.
mpiCore          Arguments: coreFile, and program (gdb finds it by itself otherwise, if it can).
                 Opens the core file in place of a process, without any request launch or attach.
                 The body is that of mpiSelect.
mpiResume        Arguments: threadId, command ("continue", which is the default, "next", "step" or
                 "finish") and alone (false is the default). Lets the ranks go on, as
                 `mpi-continue' or `mpi-step' does. The answer does not wait for the next stop.
                 Where the ranks can't go on, an event of the category "stderr" says why, and the
                 event stopped has the reason "error".
mpiExecute       Arguments: expression, as a user types it in the debug console, number (any), and
                 frameId (that of the stack frame which the user looks at). The answer does not
                 wait for the end of the command: the event mpiExecuted does. It has the number;
                 and result, what gdb says, and threadId, the thread that the command has selected
                 without any stop, or null; or message, why the command has failed.
mpiQueuesEvents  Arguments: enabled (true is the default), and those of mpiQueues. From then on,
                 until it is asked not to be, an event mpiQueues comes after each stop, whose body
                 is what mpiQueues would answer in that stop, or has only a member "message": why
                 that could not be read.

What fails has the command's sentence as its message. gdb says "notStopped" of itself when a
process runs; mpiQueuesEvents is taken then too.

The threads of all processes are in gdb's own request threads: see dap_threads.

gdb does not document how requests are added. Its request() has run functions on gdb's own thread
since it has had a parameter expect_stopped: where that is missing, there are no requests.
"""

import functools
import inspect
import json
from typing import Any, Callable, Dict, Mapping, NoReturn, Optional, Tuple

import gdb
from gdb.dap import startup
from gdb.dap.server import request

from . import across_commands, commands, dap_core, dap_execution, dap_threads, interrupts, lost, \
    parameters, rank_commands, ranks as lists
from .errors import Cancelled, Failure, one_line, reported
from .output import Buffer

try:
    # The event must not come before that of the stop, which gdb may hold back while it answers.
    from gdb.dap.server import send_event_maybe_later as send_event
except ImportError:  # later gdbs' send_event (18.1) does so itself
    from gdb.dap.server import send_event

_MAX_LIMIT = (1 << 31) - 1

# The errors that gdb expects, and does not log; gdb 14 has none.
_Refusal = getattr(startup, "DAPException", gdb.GdbError)


def _is_limit(value: object) -> bool:
    """Says whether a value can be the option limit."""
    return value == "unlimited" or (isinstance(value, int) and not isinstance(value, bool)
                                    and 0 <= value <= _MAX_LIMIT)


# What each of the options must be.
_OPTIONS: Dict[str, Tuple[str, Callable[[object], bool]]] = {
    "comm": ("a string", lambda value: isinstance(value, str)),
    "queue": ("one of " + ", ".join('"%s"' % queue for queue in commands.QUEUES),
              lambda value: value in commands.QUEUES),
    "internal": ("true or false", lambda value: isinstance(value, bool)),
    "limit": ('a number from 0 to %d, or "unlimited"' % _MAX_LIMIT, _is_limit),
}


def _given(scope: str, options: Optional[Mapping[str, object]], written: str) -> Dict[str, Any]:
    """Returns the options as options.parse would return them for a command that writes a format.
    Raises Failure."""
    given: Dict[str, Any] = {written: True}
    if scope == "all":
        given["all"] = True
    elif scope != "inferior":
        _refuse("scope", scope, '"inferior" or "all"')
    for name, value in (options or {}).items():
        if name not in _OPTIONS:
            raise Failure("There is no option %s: the options are %s."
                          % (one_line(name, 40), ", ".join(_OPTIONS)))
        what, is_good = _OPTIONS[name]
        if not is_good(value):
            _refuse("options." + name, value, what)
        if value is not False:
            given[name] = 0 if name == "limit" and value == "unlimited" else value
    return given


def _refuse(name: str, value: object, what: str) -> NoReturn:
    """Raises Failure, which says what an argument must be."""
    raise Failure("%s is %s, and must be %s." % (name, one_line(json.dumps(value), 40), what))


@reported(parameters.is_debugging)
def _checked(scope: str, options: Optional[Mapping[str, object]],
             written: str = "json") -> Dict[str, Any]:
    """Returns what _given returns. Raises gdb.GdbError instead of Failure."""
    return _given(scope, options, written)


@reported(parameters.is_debugging)
def _text(show: Callable[[Dict[str, Any], bool, Buffer], None], given: Dict[str, Any]) -> str:
    """Returns what a command would show. Raises gdb.GdbError."""
    lost.clean_up()  # an editor's gdb shows no prompt
    buffer = Buffer()
    show(given, False, buffer)
    return buffer.content().decode()


@reported(parameters.is_debugging)
def _read(show: Callable[[Dict[str, Any], bool, Buffer], None], given: Dict[str, Any]) -> Any:
    """Returns the document that a command would show. Raises gdb.GdbError."""
    return json.loads(_text(show, given))


@reported(parameters.is_debugging)
def _reported(function: Callable[..., Any], *arguments: object) -> Any:
    """Calls a function. Raises gdb.GdbError instead of Failure and gdb.error."""
    lost.clean_up()
    return function(*arguments)


def _refused(error: Exception) -> Any:
    """Returns the exception by which gdb ends a request with an error."""
    message = str(error)
    return _Refusal("cancelled" if message == str(Cancelled()) else message)


class _Events:
    """The events after each stop."""

    def __init__(self) -> None:
        self.wanted: Optional[Dict[str, Any]] = None
        self._is_due = False

    def on_stop(self, event: object) -> None:
        """Handles gdb's event for a stop. One command can cause several."""
        if self.wanted is not None and not self._is_due:
            self._is_due = True
            # Not now: gdb's own listeners and what made the process stop are to have done first.
            gdb.post_event(self._send)

    def _send(self) -> None:
        """Sends the event, unless that stop is over."""
        self._is_due = False
        thread = gdb.selected_thread()
        if self.wanted is None or thread is None or thread.is_running():
            return
        try:
            body = _read(commands.show_queues, self.wanted)
        except gdb.GdbError as error:
            body = {"message": str(error)}
        send_event("mpiQueues", body)


def _register() -> None:
    """Makes gdb serve the requests."""
    events = _Events()

    @request("mpiQueues")
    def queues(*, scope: str = "inferior", options: Optional[Mapping[str, object]] = None,
               **extra: object) -> Any:
        try:
            return _read(commands.show_queues, _checked(scope, options))
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiDeadlock")
    def deadlock(*, scope: str = "inferior", **extra: object) -> Any:
        try:
            return _read(commands.show_deadlock, _checked(scope, None))
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiPicture")
    def picture(*, scope: str = "inferior", **extra: object) -> Any:
        try:
            return {"svg": _text(commands.show_deadlock, _checked(scope, None, "svg"))}
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiRanks")
    def mpi_ranks(**extra: object) -> Any:
        try:
            return _read(rank_commands.show_ranks, {"json": True})
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiPrint")
    def mpi_print(*, expression: str, **extra: object) -> Any:
        try:
            return _read(functools.partial(across_commands.show_values, expression, {}),
                         {"json": True})
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiStacks")
    def mpi_stacks(*, ranks: str = "all", threads: bool = False, internal: bool = False,
                   **extra: object) -> Any:
        given = {name: True for name, is_given in (("json", True), ("threads", threads),
                                                   ("internal", internal)) if is_given}
        try:
            wanted = lists.parse(ranks, "mpi-stacks")
            return _read(functools.partial(across_commands.show_stacks, wanted), given)
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiSelect")
    def mpi_select(*, rank: Optional[int] = None, inferior: Optional[int] = None,
                   **extra: object) -> Any:
        try:
            return {"threadId": _reported(dap_threads.select, rank, inferior)}
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiCore")
    def mpi_core(*, coreFile: str, program: Optional[str] = None, **extra: object) -> Any:
        try:
            return {"threadId": _reported(dap_core.open_core, coreFile, program)}
        except gdb.GdbError as error:
            raise _refused(error) from None

    @request("mpiResume", response=False)
    def mpi_resume(*, threadId: int, command: str = "continue", alone: bool = False,
                   **extra: object) -> None:
        try:
            _reported(dap_execution.resume, threadId, command, alone)
        except gdb.GdbError as error:
            send_event("output", {"category": "stderr", "output": "%s\n" % error})
            send_event("stopped", {"reason": "error", "threadId": threadId,
                                   "allThreadsStopped": True})

    @request("mpiExecute", response=False)
    def mpi_execute(*, expression: str, number: int, frameId: Optional[int] = None,
                    **extra: object) -> None:
        try:
            done = _reported(dap_execution.execute, expression, frameId)
        except gdb.GdbError as error:
            done = {"message": str(error)}
        send_event("mpiExecuted", dict(done, number=number))

    @request("mpiQueuesEvents", expect_stopped=False)
    def queues_events(*, enabled: bool = True, scope: str = "inferior",
                      options: Optional[Mapping[str, object]] = None, **extra: object) -> None:
        try:
            given = _checked(scope, options)
        except gdb.GdbError as error:
            raise _refused(error) from None
        events.wanted = given if enabled else None

    gdb.events.stop.connect(events.on_stop)
    # That a core file has been opened is no stop to gdb, but it is to the protocol.
    if hasattr(gdb.events, "corefile_changed"):
        gdb.events.corefile_changed.connect(events.on_stop)
    setattr(gdb, "interrupt", interrupts.interrupt)  # by which gdb serves the request cancel


if "expect_stopped" in inspect.signature(request).parameters:
    _register()
    dap_threads.extend()
