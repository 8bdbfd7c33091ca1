"""Inferiors whose processes are on other machines: gdb's connections to those machines.

There is one gdbserver for each machine, at the other end of a pipe (gdb's manual, "Connecting").
gdb waits for several targets at once only where each of them is in its non-stop mode, whatever the
user sees of it (`maint set target-non-stop').
"""

import contextlib
import os
import re
import signal
import socket
import threading
import time
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import gdb

from . import inferiors, interrupts, protocol, states, sysroot
from .errors import Failure, one_line
from .lookup import object_path
from .selection import select_inferior
from .targets import connection_of, kind_of
from .terminal import silenced

# How many ranks one gdb takes if some are on other machines.
MOST = 64

# How long, in seconds, gdb waits for an answer of another machine's before it goes on without: one
# that comes late would be taken for that to the next question. What stands between them ends the
# connection before that (cmd/mpi-queues/internal/cluster/connect.go).
_SECONDS = 90

# The most that is kept of what a connection says on its standard error, in bytes.
_MOST_SAID = 1 << 16

# How often is tried to attach to one process: see attach().
_TRIES = 40

# What was set before connections were made, None while there is none.
_before: Optional[Tuple[str, str]] = None


class Connections:
    """gdb's connections to the machines of a job."""

    def __init__(self, nodes: List[protocol.Node], images: List[protocol.Image]) -> None:
        self._lines = {node["host"]: node["line"] for node in nodes}
        self._images = images
        # By host.
        self._connected: Dict[str, _Connection] = {}
        # The inferiors that are connected, and with which hosts.
        self._ready: Dict[int, str] = {}
        # By host: the ranks whose files are not known to be those of this machine, and why.
        self.differing: Dict[str, Tuple[List[protocol.Rank], str]] = {}

    def reaches(self, host: str) -> bool:
        """Says whether there is a way to a host."""
        return bool(self._lines.get(host))

    def joined(self, host: str) -> Optional[int]:
        """Adds an inferior to the connection with a host. Returns its number, None if there is no
        connection."""
        if host not in self._connected:
            return None
        select_inferior(self._connected[host].number)
        gdb.execute("add-inferior", to_string=True)
        number = max(inferior.num for inferior in gdb.inferiors())
        self._ready[number] = host
        return number

    def attach(self, number: int, rank: protocol.Rank) -> str:
        """Selects a connected inferior and attaches it. Returns why it failed; empty if it did not.

        The files of this machine are used if they are those of the process, else its own. Beside
        others gdb may take the process's stop for nothing (13.1: "No unwaited-for children left"),
        and then waits for it: it is attached anew.
        """
        select_inferior(number)
        if number not in self._ready:  # the connection was lost with another rank
            reason = self.connect(number, rank["host"])
            if reason:
                return reason
        own = sysroot.own()
        ids = self._ids(rank)
        other = "" if ids else "not all of them have build ids"
        if ids:
            sysroot.use(own if own not in (sysroot.TARGET, "/") else "")
            reason = self._attach_selected(rank)
            if reason:
                return self._lost(rank["host"]) or reason
            other = _other_file(ids)
            if not other:
                return ""
            inferiors.detach(number)
            inferiors.clear(inferiors.program())
        self.differing.setdefault(rank["host"], ([], other))[0].append(rank)
        sysroot.use(sysroot.TARGET)
        reason = self._attach_selected(rank)
        return reason and (self._lost(rank["host"]) or reason)

    def close(self) -> None:
        """Forgets what the connections have said; they stay as long as their inferiors do."""
        for connection in self._connected.values():
            connection.said.close()

    def _attach_selected(self, rank: protocol.Rank) -> str:
        """Attaches the selected inferior, which is connected. Returns why it failed."""
        with _guarded(self._connected[rank["host"]].sockets) as guard:
            reason = _attach_selected(rank["pid"])
        return guard.reason or reason

    def _ids(self, rank: protocol.Rank) -> List[str]:
        """Returns the build ids of what a rank executes; none if they are not all known."""
        place = rank["image"]
        if place is None or not 0 <= place < len(self._images):
            return []
        ids = self._images[place]["build_ids"] or []
        return ids if all(ids) else []

    def connect(self, number: int, host: str) -> str:
        """Connects an inferior with a host. Returns why it failed; empty if it did not.

        Ctrl-C is let through: there is no process yet that gdb might pass it on to.
        """
        select_inferior(number)
        line = self._lines.get(host)
        if not line or "\n" in line:
            return "there is no way to it."
        said = _Said()
        before = _sockets()
        try:
            with silenced():
                interrupts.allow(gdb.execute, "target extended-remote | exec %s; %s"
                                 % (said.redirection, line), False, True)
        except gdb.error as error:
            reason = said.last() or one_line(str(error))
            said.close()
            return reason
        except KeyboardInterrupt:
            said.close()
            raise
        self._connected[host] = _Connection(number, said, _sockets() - before)
        self._ready[number] = host
        return ""

    def _lost(self, host: str) -> str:
        """Hears that a host's gdbserver has failed to attach for the selected inferior. With that
        it ends, which gdb notices with the next packet. Returns the last line that it has said;
        empty if it has not ended."""
        with contextlib.suppress(gdb.error):
            gdb.execute("maint packet qC", to_string=True)
            return ""
        self._ready = {number: other for number, other in self._ready.items() if other != host}
        known = self._connected.pop(host, None)
        if not known:
            return ""
        reason = known.said.last()
        known.said.close()
        return reason


class _Said:
    """What a connection says on its standard error, as far as it has room."""

    def __init__(self) -> None:
        self._file = -1
        self.redirection = "2>/dev/null"
        if not hasattr(os, "memfd_create"):  # before Python 3.8
            return
        import fcntl
        self._file = os.memfd_create("mpi-queues", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._file, _MOST_SAID)
        # linux/fcntl.h: F_ADD_SEALS, F_SEAL_GROW.
        fcntl.fcntl(self._file, 1033, 4)
        self.redirection = "2<>/proc/%d/fd/%d" % (os.getpid(), self._file)

    def last(self) -> str:
        """Returns the last line, without the name of the program that has said it."""
        if self._file < 0:
            return ""
        text = os.pread(self._file, _MOST_SAID, 0).rstrip(b"\0").decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.strip()
                 and not line.startswith(("Remote debugging using", "Attached;", "Detaching"))]
        if not lines:
            return ""
        words = one_line(re.sub(r"\A(gdbserver|mpi-queues): ", "", lines[-1]), 300)
        return words if words.endswith(".") else words + "."

    def close(self) -> None:
        """Keeps nothing any more."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class _Connection(NamedTuple):
    """A connection with a host."""

    number: int  # of an inferior that has it
    said: _Said
    sockets: Set[Tuple[int, str]]  # of gdb's: descriptors, and the kernel's names for them


def _sockets() -> Set[Tuple[int, str]]:
    """Returns the sockets that gdb has open."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            name = os.readlink("/proc/self/fd/" + descriptor)
            if name.startswith("socket:"):
                found.add((int(descriptor), name))
    return found


class _Guard:
    """Why a connection was ended; empty if it was not."""

    reason = ""


@contextlib.contextmanager
def _guarded(sockets: Set[Tuple[int, str]]) -> Iterator[_Guard]:
    """Shuts the sockets down if the block takes longer than _SECONDS, or if SIGINT, SIGTERM or
    SIGHUP arrives meanwhile. The guard's reason then says why.

    While attaching, gdb waits for the process to stop without a timeout. Ctrl-C has to be blocked
    meanwhile, because gdb would pass it on to the process.
    """
    guard, has_ended = _Guard(), threading.Event()

    def watch() -> None:
        limit = time.monotonic() + _SECONDS
        while not has_ended.wait(0.02):
            if time.monotonic() > limit:
                guard.reason = "gdbserver did not report its stop within %d s." % _SECONDS
            elif {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} & signal.sigpending():
                guard.reason = "the attach was interrupted."
            if guard.reason:
                _shut(sockets)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield guard
    finally:
        has_ended.set()
        watcher.join()


def _shut(sockets: Set[Tuple[int, str]]) -> None:
    """Ends connections: gdb and the process at the other end read the end of the file."""
    for descriptor, name in sockets & _sockets():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as copy:
            copy.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def connecting() -> Iterator[None]:
    """Has gdb be able to hold several connections, and restores the files' places afterwards.
    Raises Failure."""
    global _before
    try:
        shown = gdb.execute("maint show target-non-stop", to_string=True)
        mode = next(word for word in ("on", "off", "auto")
                    if re.search(r"\bis \"?%s\b" % word, shown))
        if mode != "on":
            gdb.execute("maint set target-non-stop on", to_string=True)
    except (gdb.error, StopIteration) as error:
        raise Failure("gdb takes ranks of other machines only before it has any process, since it"
                      " must wait for several targets at once: `mpi-detach', or `detach' what is"
                      " attached, and try again. (%s)" % one_line(str(error)))
    patience = str(gdb.parameter("remotetimeout"))
    if _before is None:
        _before = mode, patience
    if 0 <= int(patience) < _SECONDS:
        gdb.execute("set remotetimeout %d" % _SECONDS, to_string=True)
    with sysroot.kept():
        yield


def end() -> None:
    """Restores what was set for connections, when no inferior has one, or a process, any more: with
    a process gdb keeps its mode."""
    global _before
    if _before is None or any(inferior.pid or kind_of(inferior) == "remote"
                              for inferior in gdb.inferiors()):
        return
    mode, patience = _before
    _before = None
    if int(gdb.parameter("remotetimeout") or 0) == _SECONDS:
        gdb.execute("set remotetimeout " + patience, to_string=True)
    gdb.execute("maint set target-non-stop " + mode, to_string=True)


def disconnect(number: int) -> None:
    """Ends the connection of an inferior without a process, and its gdbserver. One that has a
    process of another inferior stays: gdb would end it for all of them."""
    reached = {inferior.num: connection_of(inferior)[0] for inferior in gdb.inferiors()
               if inferior.pid or inferior.num == number}
    if number not in reached or list(reached.values()).count(reached[number]) > 1:
        return
    before = gdb.selected_inferior().num
    select_inferior(number)
    if kind_of(gdb.selected_inferior()) == "remote":
        with contextlib.suppress(gdb.error):
            gdb.execute("disconnect", to_string=True)
    select_inferior(before)


def _attach_selected(pid: int) -> str:
    """Attaches the selected inferior, which is connected. Returns why it failed."""
    number = gdb.selected_inferior().num
    for _ in range(_TRIES):
        try:
            with silenced(), states.remembered(pid, False), inferiors.scripts_off(), \
                    interrupts.unended():
                gdb.execute("attach %d" % pid, to_string=True)
        except gdb.error as error:
            if gdb.selected_inferior().pid:
                inferiors.detach(number)
            return one_line(str(error))
        inferior = gdb.selected_inferior()
        if inferior.num != number or inferior.pid != pid or not inferior.threads():
            return "the connection has ended."
        if not any(thread.is_running() for thread in inferior.threads()):
            return ""
        reason = inferiors.detach(number)
        if reason:
            return reason
    return "gdb does not see it stop."


def _other_file(ids: List[str]) -> str:
    """Returns a file of the selected inferior's that is none of those with build ids, or which of
    these it lacks; empty if it has just these."""
    wanted = set(ids)
    for objfile in gdb.objfiles():
        path = "" if objfile.owner else object_path(objfile)
        if "/" not in path:  # the kernel's own
            continue
        if objfile.build_id not in ids:
            return path
        wanted.discard(str(objfile.build_id))
    return "a file is missing here" if wanted else ""
