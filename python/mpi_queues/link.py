"""The conversation with the helper: one request at a time, and its call-backs until the reply.

All of it happens on gdb's own thread. Whatever the helper does wrong ends as a sentence; it is
then killed, and the next command starts a fresh one.
"""

import atexit
import contextlib
import itertools
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

import gdb

from . import interrupts, locate, protocol
from .errors import BrokenHelper, Cancelled, Failure, one_line
from .framing import Message, encode
from .helper import Helper
from .typecheck import mismatch
from .window import Window

HANDSHAKE_SECONDS = 10.0
CANCEL_SECONDS = 5.0

# Codes of JSON-RPC itself.
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602

# Serves a call-back: the method and its parameters to the result and, as base64, its bulk bytes.
Server = Callable[[str, Any], Tuple[Any, Optional[bytes]]]


class UnknownMethod(Exception):
    """The helper called a method that there is not."""


class InvalidParams(Exception):
    """The helper called a method with parameters that it can't have."""


class Link:
    """The connection to the helper, which it starts when needed."""

    def __init__(self) -> None:
        self.window = Window(None)
        self._helper: Optional[Helper] = None
        self._started_as: Any = None
        self._ids = itertools.count(1)

    def request(self, method: str, params: Mapping[str, Any], result: Any, server: Server,
                helper: str, debug: bool) -> Any:
        """Sends a request, serves call-backs until its reply, and returns its result.

        result is the type to check the result against; helper and debug are the settings. Raises
        Failure, and gdb.error from gdb itself.
        """
        try:
            with interrupts.held():
                self._ensure(helper, debug)
                with self._ended_on_faults():
                    return _Exchange(self._running(), next(self._ids), server).run(
                        method, params, result)
        except KeyboardInterrupt:
            raise Cancelled()

    def log(self) -> str:
        """Returns what the helper has logged since the last call."""
        return self._helper.new_words() if self._helper else ""

    def close(self, grace: float = 0) -> None:
        """Ends the helper, if it runs."""
        helper, self._helper = self._helper, None
        self.window.close()
        if helper:
            helper.end(grace)

    def _running(self) -> Helper:
        """Returns the helper, which runs."""
        assert self._helper
        return self._helper

    def _ensure(self, setting: str, debug: bool) -> None:
        """Starts the helper, unless the one that runs is still the right one."""
        path = locate.find_helper(setting)
        wanted = (locate.identity(path), debug)
        if self._helper and self._started_as == wanted and self._helper.is_ready():
            return
        self.close()
        # Let through, since a child inherits which signals are held back. A helper that is lost
        # to a Ctrl-C here loses its standard input too, and ends.
        self._helper = interrupts.allow(Helper, path, debug)
        self._started_as = wanted
        with self._ended_on_faults():
            self._handshake()

    def _handshake(self) -> None:
        """Introduces both ends to each other."""
        helper = self._running()
        params: protocol.InitializeParams = {
            "protocol": protocol.PROTOCOL_VERSION,
            "extension": _extension_version(),
            "debugger": "gdb " + gdb.VERSION,
        }
        exchange = _Exchange(helper, next(self._ids), _serve_nothing)
        exchange.limit(HANDSHAKE_SECONDS, "did not answer within %d seconds of its start")
        try:
            result: protocol.InitializeResult = exchange.run(
                protocol.METHOD_INITIALIZE, params, protocol.InitializeResult)
        except Refused as refusal:
            if refusal.code != protocol.CODE_VERSION:
                raise
            raise BrokenHelper("speaks another version of the protocol than this extension (%s):"
                               " install both from one release, the helper with `%s'"
                               % (one_line(str(refusal)), locate.INSTALL))
        if result["protocol"] != protocol.PROTOCOL_VERSION:
            raise BrokenHelper("speaks version %d of the protocol and this extension version %d:"
                               " install both from one release, the helper with `%s'"
                               % (result["protocol"], protocol.PROTOCOL_VERSION, locate.INSTALL))
        self.window = Window(result["window"])

    @contextlib.contextmanager
    def _ended_on_faults(self) -> Iterator[None]:
        """Ends the helper when the block ends otherwise than with a reply."""
        try:
            yield
        except BrokenHelper as fault:
            sentence = _describe(self._running(), str(fault))
            self.close()
            raise Failure(sentence)
        except (Refused, Declined):
            raise
        except BaseException:
            self.close()
            raise


class Refused(Failure):
    """The helper's answer to a request is an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Declined(Failure):
    """The request was given up from this end, and the helper has answered that."""


class _Exchange:
    """One request, from its sending to its reply."""

    def __init__(self, helper: Helper, number: int, server: Server) -> None:
        self._helper = helper
        self._id = number
        self._server = server
        self._reason: Optional[Exception] = None
        self._deadline: Optional[float] = None
        self._late = ""
        self._can_cancel = True

    def limit(self, seconds: float, late: str) -> None:
        """Sets the time for the reply; without it this end gives up at once when interrupted."""
        self._can_cancel = False
        self._set_deadline(seconds, late)

    def run(self, method: str, params: Mapping[str, Any], result: Any) -> Any:
        """Sends the request and returns the result, which must be of the type result."""
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            try:
                message = self._helper.channel.receive(self._deadline)
            except KeyboardInterrupt:
                self._cancel(Cancelled())
                continue
            if message is None or self._is_late():
                raise BrokenHelper(self._late)
            if "method" in message:
                self._serve(message)
            else:
                return self._finish(message, result)

    def _send(self, message: Message, bulk: Optional[bytes] = None) -> None:
        """Sends a message."""
        self._helper.channel.send(encode(message, bulk))

    def _set_deadline(self, seconds: float, late: str) -> None:
        """Sets when, and with what words, this end stops waiting."""
        self._deadline = time.monotonic() + seconds
        self._late = late % seconds

    def _is_late(self) -> bool:
        """Says whether this end has stopped waiting, also if messages go on coming."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _cancel(self, reason: Exception) -> None:
        """Asks the helper to give the request up; if it was asked before, gives it up here."""
        if self._reason or not self._can_cancel:
            raise reason
        self._reason = reason
        self._set_deadline(CANCEL_SECONDS, "did not stop within %d seconds of being asked to")
        self._send({"jsonrpc": "2.0", "method": protocol.METHOD_CANCEL})

    def _serve(self, message: Message) -> None:
        """Serves a call-back, and replies unless it is a notification."""
        method, params, number = message["method"], message.get("params"), message.get("id")
        if not isinstance(method, str) or not isinstance(number, (int, str, type(None))):
            raise BrokenHelper("sent a request that is none")
        result: Any = None
        bulk: Optional[bytes] = None
        error: Optional[Dict[str, Any]] = None
        if self._reason:
            error = {"code": protocol.CODE_CANCELLED, "message": "cancelled"}
        else:
            try:
                result, bulk = self._server(method, params)
            except UnknownMethod:
                error = {"code": _METHOD_NOT_FOUND, "message": "no method " + one_line(method)}
            except InvalidParams as wrong:
                error = {"code": _INVALID_PARAMS, "message": "%s: %s" % (method, wrong)}
            except KeyboardInterrupt:
                error = self._give_up(Cancelled())
            except (Failure, gdb.error) as failure:
                error = self._give_up(Declined(str(failure)))
            except Exception as fault:
                error = self._give_up(fault)
        if "id" not in message:
            return
        reply: Message = {"jsonrpc": "2.0", "id": number}
        if error:
            reply["error"] = error
        else:
            reply["result"] = result
        self._send(reply, bulk)

    def _give_up(self, reason: Exception) -> Dict[str, Any]:
        """Cancels the request for a reason; returns what to answer the call-back with."""
        self._cancel(reason)
        return {"code": protocol.CODE_CANCELLED, "message": one_line(str(reason))}

    def _finish(self, message: Message, result: Any) -> Any:
        """Returns the result that a reply holds, or raises what it says."""
        if message.get("id") != self._id:
            raise BrokenHelper("answered a request that was not made")
        if self._reason:
            raise Declined(str(self._reason)) if isinstance(self._reason, Failure) \
                else self._reason
        error = message.get("error")
        if error is not None:
            raise _refusal(error)
        wrong = mismatch(message.get("result"), result, "the result")
        if wrong:
            raise BrokenHelper("answered with nonsense (%s)" % wrong)
        return message["result"]


def _refusal(error: Any) -> Failure:
    """Returns what the error of a reply says."""
    if not isinstance(error, dict) or not isinstance(error.get("code"), int) \
            or not isinstance(error.get("message"), str):
        return BrokenHelper("answered with an error that is none")
    code, message = error["code"], error["message"].strip()
    if code == protocol.CODE_CANCELLED:
        return Refused(code, str(Cancelled()))
    if code in (protocol.CODE_UNREADABLE, protocol.CODE_USAGE, protocol.CODE_VERSION):
        return Refused(code, message)
    return Refused(code, "The helper failed (%s): `set mpi-queues debug on' and the same command"
                         " again show more; please report it." % one_line(message))


def _describe(helper: Helper, fault: str) -> str:
    """Returns the sentence for a helper that does not keep to the protocol."""
    how = helper.how_it_ended() if fault.startswith("ended") else ""
    sentence = "The helper program %s %s%s." % (helper.path, fault, how and " (%s)" % how)
    words = helper.last_words()
    if words:
        sentence += " Its last words were:\n  %s\n" % "\n  ".join(words)
    else:
        sentence += " "
    return sentence + "The next command starts a fresh one."


def _extension_version() -> str:
    """Returns the version of this extension."""
    from . import __version__
    return __version__


def _serve_nothing(method: str, params: Any) -> Tuple[Any, Optional[bytes]]:
    """Serves the call-backs of a handshake, which has none."""
    raise UnknownMethod


LINK = Link()
atexit.register(LINK.close, 0.5)
