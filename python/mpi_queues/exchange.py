"""One request to the helper, and its call-backs until the reply."""

import time
from typing import Any, Callable, Dict, Mapping, Optional, Set, Tuple, Union

import gdb

from . import protocol
from .errors import BrokenHelper, Cancelled, Ended, Failure, one_line
from .framing import Message, encode
from .peer import Peer
from .typecheck import mismatch

CANCEL_SECONDS = 5.0

# Codes of JSON-RPC itself.
_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602

# Serves a call-back: the method and its parameters to the result and, as base64, its bulk bytes.
Server = Callable[[str, Any], Tuple[Any, Optional[bytes]]]


class UnknownMethod(Exception):
    """The helper called a method that there is not."""


class InvalidParams(Exception):
    """The helper called a method with parameters that it can't have."""


class Refused(Failure):
    """The helper's answer to a request is an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Declined(Failure):
    """The request was given up from this end, and the helper has answered that."""


class Exchange:
    """One request, from its sending to its reply."""

    def __init__(self, helper: Peer, number: int, server: Server) -> None:
        self._helper = helper
        self._id = number
        self._server = server
        self._reason: Optional[Exception] = None
        self._deadline: Optional[float] = None
        self._late = ""
        self._can_cancel = True
        self._heard = False
        self._served: Set[Union[int, str]] = set()
        # True if the helper has ended without a word on this request.
        self.is_ignored = False

    def limit(self, seconds: float, late: str) -> None:
        """Sets the time for the reply; without it this end gives up at once when interrupted."""
        self._can_cancel = False
        self._set_deadline(seconds, late)

    def expect(self, seconds: float, late: str) -> None:
        """Sets the time for the reply, within which it can be cancelled."""
        self._set_deadline(seconds, late)

    def run(self, method: str, params: Mapping[str, Any], result: Any) -> Any:
        """Sends the request and returns the result, which must be of the type result."""
        try:
            return self._converse(method, params, result)
        except Ended:
            self.is_ignored = not self._heard
            raise

    def _converse(self, method: str, params: Mapping[str, Any], result: Any) -> Any:
        """Sends the request and serves call-backs until the reply."""
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            try:
                message = self._helper.channel.receive(self._deadline)
            except KeyboardInterrupt:
                self._cancel(Cancelled())
                continue
            if message is None:
                raise BrokenHelper(self._late)
            self._heard = True
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

    def _cancel(self, reason: Exception) -> None:
        """Asks the helper to give the request up; if it was asked before, gives it up here."""
        if self._reason or not self._can_cancel:
            raise reason
        self._reason = reason
        self._set_deadline(CANCEL_SECONDS, "did not stop within %d seconds of being asked to")
        self._send({"jsonrpc": "2.0", "method": protocol.METHOD_CANCEL,
                    "params": {"id": self._id}})

    def _serve(self, message: Message) -> None:
        """Serves a call-back, and replies unless it is a notification."""
        method, params, number = message["method"], message.get("params"), message.get("id")
        if not isinstance(method, str) or not isinstance(number, (int, str, type(None))):
            raise BrokenHelper("sent a request that is none")
        if number is not None:
            if number in self._served:  # serving it again would show again what it shows
                raise BrokenHelper("sent a request twice")
            self._served.add(number)
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
            or not isinstance(error.get("message"), str) or not error["message"].strip():
        return BrokenHelper("answered with an error that is none")
    code, message = error["code"], error["message"].strip()
    if code == _INVALID_REQUEST:  # it is not where this end takes it to be
        return BrokenHelper("did not take a request (%s)" % one_line(message))
    if code == protocol.CODE_CANCELLED:
        return Refused(code, str(Cancelled()))
    if code in (protocol.CODE_UNREADABLE, protocol.CODE_USAGE, protocol.CODE_VERSION):
        return Refused(code, message)
    return Refused(code, "The helper failed (%s): `set mpi-queues debug on' and the same command"
                         " again show more; please report it." % one_line(message))
