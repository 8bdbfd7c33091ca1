"""The connection to the helper, which serves one request at a time.

All of it happens on gdb's own thread. Whatever the helper does wrong ends as a sentence; it is
then killed, and the next command starts a fresh one.
"""

import atexit
import contextlib
import itertools
from typing import Any, Iterator, Mapping, Optional, Tuple

import gdb

from . import find_helper, interrupts, protocol
from .errors import BrokenHelper, Cancelled, Failure, one_line
from .exchange import Declined, Exchange, Refused, Server, UnknownMethod
from .framing import encode
from .helper import Helper
from .peer import Peer
from .window import Window

# Ranks that spin on every processor, or a busy file server, may delay the helper's start for long.
HANDSHAKE_SECONDS = 60.0


class Link:
    """The connection to the helper, which it starts when needed."""

    def __init__(self) -> None:
        self.window = Window(None)
        self._helper: Optional[Peer] = None
        self._is_given = False
        self._started_as: Any = None
        self._is_busy = False
        self._ids = itertools.count(1)

    def take(self, peer: Peer) -> None:
        """Takes a process that has started this gdb for the helper, in place of all others.

        Raises Failure.
        """
        with interrupts.held():
            self.close()
            self._helper, self._is_given = peer, True
            with self._ended_on_faults():
                self._handshake()

    def request(self, method: str, params: Mapping[str, Any], result: Any, server: Server,
                helper: str, debug: bool, seconds: float = 0, may_start: bool = True) -> Any:
        """Sends a request, serves call-backs until its reply, and returns its result.

        result is the type to check the result against; helper and debug are the settings; seconds
        limits how long the reply may take, if it is not 0; may_start is False where only a helper
        that runs may be asked. Of the parameters, "window" is set here if there is one, where it is
        known whether the helper has a window. Raises Failure, and gdb.error from gdb itself.
        """
        if self._is_busy:
            raise Failure("mpi-queues is asked for something while it does something else.")
        self._is_busy = True
        try:
            with interrupts.held():
                is_fresh = self._ensure(helper, debug, may_start)
                while True:
                    exchange = Exchange(self._running(), next(self._ids), server)
                    if seconds:
                        exchange.expect(seconds, "did not answer within %d seconds")
                    try:
                        with self._ended_on_faults():
                            return exchange.run(method, self._completed(params), result)
                    except Failure:
                        if is_fresh or not exchange.is_ignored:
                            raise
                    # It had ended since the last request, or was just ending: no loss.
                    is_fresh = self._ensure(helper, debug, may_start)
        except KeyboardInterrupt:
            raise Cancelled()
        finally:
            self._is_busy = False

    def start(self, helper: str, debug: bool) -> None:
        """Starts the helper, unless the right one runs or is being asked. Raises Failure."""
        if self._is_busy:
            return
        try:
            with interrupts.held():
                self._ensure(helper, debug)
        except KeyboardInterrupt:
            raise Cancelled()

    def is_idle(self) -> bool:
        """Says whether a helper that gdb has started waits for a request."""
        return (not self._is_busy and not self._is_given and self._helper is not None
                and self._helper.is_ready())

    def is_given(self) -> bool:
        """Says whether what has started this gdb is the helper, which waits for commands alone."""
        return self._is_given

    def pid(self) -> int:
        """Returns the helper's process id, 0 if it does not run."""
        return self._helper.pid if self._helper else 0

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tells the helper something, if it runs. Never waits for it.

        What its pipe does not take goes with the next request, if the helper is well by then.
        """
        if self._helper:
            with interrupts.held():
                try:
                    self._helper.channel.send(
                        encode({"jsonrpc": "2.0", "method": method, "params": params}))
                except BrokenHelper:
                    pass  # the next request starts another

    def end_lost(self) -> bool:
        """Ends a request whose Python frames were lost (see lost), and the helper with it, which
        still waits for them; the next request starts a fresh one. Reports whether there was one."""
        if not self._is_busy:
            return False
        with interrupts.held():
            self._is_busy = False
            self.close()
        return True

    def log(self) -> str:
        """Returns what the helper has logged since the last call."""
        return self._helper.new_words() if self._helper else ""

    def close(self, grace: float = 0) -> None:
        """Ends the helper, if it runs."""
        helper, self._helper = self._helper, None
        self.window.close()
        if helper:
            helper.end(grace)

    def _completed(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns parameters that say whether this end has opened the window."""
        return dict(params, window=self.window.size > 0) if "window" in params else params

    def _running(self) -> Peer:
        """Returns the helper, which runs."""
        assert self._helper
        return self._helper

    def _ensure(self, setting: str, debug: bool, may_start: bool = True) -> bool:
        """Starts the helper, unless the one that runs is still the right one; says if there is no
        other to be had."""
        if self._is_given:
            if not self._helper or not self._helper.is_ready():
                raise Failure("mpi-queues, which has started this gdb, has ended.")
            return True
        path = find_helper.find(setting)
        wanted = (find_helper.identity(path), debug)
        if self._helper and self._started_as == wanted and self._helper.is_ready():
            return False
        if not may_start:
            raise Failure("The helper program does not run.")
        self.close()
        # Let through, since a child inherits which signals are held back. A helper that is lost
        # to a Ctrl-C here loses its standard input too, and ends.
        self._helper = interrupts.allow(Helper, path, debug)
        self._started_as = wanted
        with self._ended_on_faults():
            self._handshake()
        return True

    def _handshake(self) -> None:
        """Introduces both ends to each other."""
        self.window = Window(handshake(self._running(), next(self._ids))["window"])

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


def handshake(peer: Peer, number: int) -> protocol.InitializeResult:
    """Introduces this gdb to a process that serves it, by the first request.

    Raises BrokenHelper.
    """
    params: protocol.InitializeParams = {
        "protocol": protocol.PROTOCOL_VERSION,
        "extension": _extension_version(),
        "debugger": "gdb " + gdb.VERSION,
    }
    exchange = Exchange(peer, number, serve_nothing)
    exchange.limit(HANDSHAKE_SECONDS, "did not answer within %d seconds of its start")
    try:
        result: protocol.InitializeResult = exchange.run(
            protocol.METHOD_INITIALIZE, params, protocol.InitializeResult)
    except Refused as refusal:
        if refusal.code != protocol.CODE_VERSION:
            raise BrokenHelper("did not begin (%s)" % one_line(str(refusal)))
        raise BrokenHelper("speaks another version of the protocol than this extension (%s):"
                           " install both from one release, the helper with `%s'"
                           % (one_line(str(refusal)), find_helper.INSTALL))
    if result["protocol"] != protocol.PROTOCOL_VERSION:
        raise BrokenHelper("speaks version %d of the protocol and this extension version %d:"
                           " install both from one release, the helper with `%s'"
                           % (result["protocol"], protocol.PROTOCOL_VERSION,
                              find_helper.INSTALL))
    return result


def _describe(helper: Peer, fault: str) -> str:
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


def serve_nothing(method: str, params: Any) -> Tuple[Any, Optional[bytes]]:
    """Serves the call-backs of a request that has none."""
    raise UnknownMethod


LINK = Link()
atexit.register(LINK.close, 0.5)
