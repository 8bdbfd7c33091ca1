"""The process that has started a job for this gdb, and ends it with gdb."""

import contextlib
import itertools
import os
import signal
import time
import traceback
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import gdb

from . import find_helper, interrupts, parameters, procfs, protocol
from .errors import BrokenHelper, Cancelled, Failure, trace
from .exchange import Exchange, UnknownMethod
from .framing import encode
from .helper import Helper
from .link import handshake
from .progress import Progress
from .selection import unattended
from .targets import is_native


# How long, in seconds, is waited for the end of a job.
_PATIENCE = 5.0


class Supervisor:
    """A job's supervisor, which runs as long as the job is debugged."""

    def __init__(self) -> None:
        """Starts it. Raises Failure."""
        path = find_helper.find(parameters.helper_name())
        self._ids = itertools.count(1)
        self._pids: Dict[int, int] = {}
        # The ranks in whose place gdb has their children, since it follows those (set
        # follow-fork-mode), by the children's process ids.
        self._parents: Dict[int, int] = {}
        # Whether a rank runs on without gdb.
        self.has_let_go = False
        # Whether the job's launcher knows of a debugger.
        self.is_told = False
        files = [os.dup(1), os.dup(2)]
        try:
            self._peer: Optional[Helper] = Helper(
                path, parameters.is_debugging(),
                ["supervise", "--output=%d" % files[0], "--errors=%d" % files[1]], files)
        finally:
            for descriptor in files:
                os.close(descriptor)
        try:
            with interrupts.held():
                handshake(self._peer, next(self._ids))
        except BaseException:
            self.close()
            raise

    def request(self, method: str, params: Mapping[str, Any], result: Any) -> Any:
        """Sends a request and returns its result. Raises Failure."""
        if self._peer is None:
            raise Failure("The job has ended.")
        progress = Progress()

        def serve(called: str, given: Any) -> Tuple[Any, Optional[bytes]]:
            if called != protocol.METHOD_PROGRESS:
                raise UnknownMethod
            progress.show(str(given.get("message", "")))
            return None, None

        try:
            with interrupts.held():
                return Exchange(self._peer, next(self._ids), serve).run(method, params, result)
        except KeyboardInterrupt:
            self.close()
            raise Cancelled()
        except BrokenHelper as fault:
            words, session = self._peer.last_words(), self._peer.pid
            self.close()
            self._end_session(session)
            raise Failure("What has started the job %s.%s" % (fault, "".join(
                "\n  " + word for word in words)))
        finally:
            progress.erase()

    def watch(self, number: int, pid: int) -> None:
        """Remembers that an inferior is a rank of the job."""
        self._pids[number] = pid

    def inferiors(self) -> List[gdb.Inferior]:
        """Returns the inferiors that are ranks of the job still, in the order of their numbers."""
        return sorted((inferior for inferior in gdb.inferiors()
                       if inferior.pid and self._pids.get(inferior.num) == inferior.pid),
                      key=lambda inferior: inferior.num)

    def gone(self, number: int) -> None:
        """Hears that the process of an inferior has ended, or is not debugged any more."""
        pid = self._pids.pop(number, 0)
        runs_on = bool(pid) and not procfs.has_ended(pid)
        child = _child(pid) if runs_on else None
        if child:
            self._pids[child.num] = child.pid
            self._parents[child.pid] = self._parents.pop(pid, pid)
            return
        pid = self._parents.pop(pid, pid)
        if runs_on and _is_exiting:
            return  # gdb lets go of what it has attached to; the job ends with the pipe
        self.has_let_go = self.has_let_go or runs_on
        if pid and self._peer is not None:
            with interrupts.held():
                try:
                    self._peer.channel.send(encode({
                        "jsonrpc": "2.0", "params": {"inferior": number, "pid": pid},
                        "method": protocol.METHOD_LEFT if runs_on else protocol.METHOD_EXITED}))
                except BrokenHelper:
                    pass  # it has ended, and the job with it

    def runs(self) -> bool:
        """Reports whether a thread of a rank runs, as far as gdb knows."""
        return any(thread.is_running()
                   for inferior in self.inferiors() for thread in inferior.threads())

    def is_lost(self) -> bool:
        """Reports whether it has ended by itself, so that nobody but gdb can end the job."""
        return self._peer is not None and self._peer.has_ended()

    def end_with_gdb(self) -> None:
        """Ends the job as gdb ends. Has gdb kill ranks that run: if somebody else kills one of
        them, gdb fails when it detaches from it (gdb 13.1: an assertion in
        x86_linux_update_debug_registers). Does the same if the supervisor can't end the job,
        because it has been or is being killed."""
        if self.runs() or self.is_lost():
            _kill(self.inferiors())
        ranks, peer = self.inferiors(), self._peer
        self.close()
        if peer is not None and peer.how_it_ended():
            _kill(ranks)
            self._end_session(peer.pid)

    def _end_session(self, session: int) -> None:
        """Ends what a supervisor that was killed has left, unless a rank was let go of. A launcher
        that another gdb is tracing would stay stopped, because that gdb ends too without resuming
        it. Such a launcher gets SIGHUP and SIGCONT, which the kernel sends to a stopped process
        group that has become orphaned."""
        left = [] if self.has_let_go else procfs.in_session(session)
        end = time.monotonic() + _PATIENCE
        while left and time.monotonic() < end:
            for pid in left[:]:
                tracer = procfs.tracer(pid)
                if tracer in (0, os.getpid()):
                    left.remove(pid)
                if not tracer:
                    for number in (signal.SIGHUP, signal.SIGCONT):
                        with contextlib.suppress(OSError):
                            os.kill(pid, number)
            time.sleep(0.01)

    def close(self) -> None:
        """Ends the job, but for ranks that were let go of. Ctrl-C ends the waiting alone."""
        for inferior in self.inferiors():
            if inferior.pid in self._parents:  # nobody else knows of it
                with contextlib.suppress(OSError):
                    os.kill(inferior.pid, signal.SIGKILL)
        self._pids.clear()
        peer = self._peer
        while self._peer is not None:
            with contextlib.suppress(KeyboardInterrupt), interrupts.held():
                self._peer.hang_up()
                self._peer = None
        if peer:
            with contextlib.suppress(KeyboardInterrupt):
                peer.leave(_PATIENCE)  # what takes longer goes on by itself


def _kill(inferiors: List[gdb.Inferior]) -> None:
    """Has gdb kill the processes of inferiors."""
    if inferiors:
        with contextlib.suppress(gdb.error), unattended():
            gdb.execute("kill inferiors " + " ".join(str(inferior.num) for inferior in inferiors),
                        to_string=True)


def _child(pid: int) -> Optional[gdb.Inferior]:
    """Returns an inferior that is a child of a process; None if there is none."""
    for inferior in gdb.inferiors():
        fields = procfs.stat(inferior.pid) if inferior.pid and is_native(inferior) else []
        if fields and int(fields[procfs.PARENT]) == pid:
            return inferior
    return None


# What hears that a rank is not debugged any more.
listeners: List[Callable[[], None]] = []

# Whether gdb has begun to end.
_is_exiting = False

# Those whose jobs are debugged; gdb's end ends them, since that closes their pipes.
_all: "weakref.WeakSet[Supervisor]" = weakref.WeakSet()


def start() -> Supervisor:
    """Starts a supervisor. Raises Failure."""
    supervisor = Supervisor()
    _all.add(supervisor)
    return supervisor


def _on_exited(event: Any) -> None:
    """Serves gdb's event for a process that has ended, was killed or detached."""
    try:
        for supervisor in list(_all):
            supervisor.gone(event.inferior.num)
        for listener in listeners:
            listener()
    except (Exception, KeyboardInterrupt):
        if parameters.is_debugging():
            trace(traceback.format_exc())


def _take_quit(_: Any) -> None:
    """Absorbs the KeyboardInterrupt that gdb raises, if SIGTERM ends it, before the first line of
    the next Python function that it calls. So _on_exiting runs undisturbed."""


def _on_exiting(event: Any) -> None:
    """Ends the jobs before gdb would let them run on, as it does with what it has attached to."""
    global _is_exiting
    _is_exiting = True
    try:
        del listeners[:]
        for supervisor in list(_all):
            supervisor.end_with_gdb()
    except (Exception, KeyboardInterrupt):
        pass  # they end with the pipes


gdb.events.exited.connect(_on_exited)
if hasattr(gdb.events, "gdb_exiting"):  # since gdb 12
    gdb.events.gdb_exiting.connect(_take_quit)
    gdb.events.gdb_exiting.connect(_on_exiting)
