"""What a gdb runs that has the launcher of a job: the debugger's side of the MPIR Process
Acquisition Interface (MPI Forum, 2010), as far as only a debugger can do it.

It sets MPIR_being_debugged before the launcher's main can look, and stops the launcher in
MPIR_Breakpoint until it is told to go on. What the launcher says there is read by the process that
has started this gdb: its end of a socket is gdb's standard input. What is said are lines.
"""

import os
import signal
import struct
from typing import Any, List, Optional

import gdb

_PID = int(os.environ["MPI_QUEUES_LAUNCHER"])

# The kernel's name of the entry point in what it tells a program (AT_ENTRY, getauxval(3)).
_AT_ENTRY = 9

_SETTINGS = ("confirm off", "pagination off", "language c", "breakpoint pending on",
             "follow-fork-mode parent", "detach-on-fork on", "follow-exec-mode same",
             "may-call-functions off", "debug-file-directory")


class _Peer:
    """Who has started this gdb."""

    def __init__(self) -> None:
        self._fd = os.dup(0)  # which no child inherits
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.close(nothing)

    def say(self, line: str) -> None:
        """Says something. Raises OSError if nobody is there."""
        os.write(self._fd, line.encode("utf-8", "replace") + b"\n")

    def hear(self) -> str:
        """Returns the next line; empty if nobody is there any more."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._fd, 1)
            if not byte:
                return ""
            line += byte
        return line.decode("utf-8", "replace").strip()


class _Notice(gdb.Breakpoint):
    """A breakpoint that knows whether it was hit."""

    def __init__(self, where: str) -> None:
        super().__init__(where, internal=True)
        self.silent = True
        self._is_hit = False

    def stop(self) -> bool:
        """Hears that it was hit."""
        self._is_hit = True
        return True

    def was_hit(self) -> bool:
        """Says whether it was hit since this was asked last."""
        was_hit, self._is_hit = self._is_hit, False
        return was_hit


def _address(name: str) -> Optional[int]:
    """Returns the address of a symbol of the launcher; None if it has none of the name."""
    try:
        return int(gdb.parse_and_eval("(long) &" + name))
    except gdb.error:
        return None


def _announce(_: Any = None) -> None:
    """Tells the launcher that a debugger is there, if it asks."""
    where = _address("MPIR_being_debugged")
    if where is not None:
        gdb.selected_inferior().write_memory(where, struct.pack("=i", 1))


def _entry() -> Optional[int]:
    """Returns the address at which the program begins, once the loader is through."""
    with open("/proc/%d/auxv" % _PID, "rb") as file:
        text = file.read()
    for key, value in struct.iter_unpack("@NN", text[:len(text) // 16 * 16]):
        if key == _AT_ENTRY:
            return int(value)
    return None


def _signals(names: str, actions: str) -> None:
    """Sets what is done when the launcher gets signals."""
    for name in names.split():
        gdb.execute("handle %s %s" % (name, actions), to_string=True)


def _settle() -> None:
    """Has the launcher, which stands before its first instruction, take the signals that have
    stopped it there, and that one which ends the stop."""
    _signals("SIGSTOP SIGCONT", "nostop noprint nopass")
    os.kill(_PID, signal.SIGCONT)
    gdb.execute("stepi", to_string=True)
    _signals("all", "nostop noprint pass")
    _signals("SIGINT", "nostop noprint pass")


def _let_go(stays: bool) -> None:
    """Lets go of the launcher, which goes on, or stays stopped for another debugger."""
    if stays:
        os.kill(_PID, signal.SIGSTOP)
    gdb.execute("detach", to_string=True)


def _begin() -> Optional[_Notice]:
    """Has the launcher stop where its program begins, behind the loader's work."""
    gdb.execute("set auto-solib-add on")
    if _announce in _connected:
        gdb.events.new_objfile.disconnect(_announce)
        _connected.remove(_announce)
    entry = _entry()
    return _Notice("*%#x" % entry) if entry is not None else None


# What serves gdb's event for new files.
_connected: List[Any] = []


def _has_begun() -> None:
    """Tells the launcher of the debugger as its program begins.

    What it loads from now on is looked at only where it has a part of the interface: to read the
    symbols of Open MPI's many plugins takes longer than all else that is done here.
    """
    _announce()
    has = [_address(name) is not None for name in ("MPIR_Breakpoint", "MPIR_being_debugged")]
    if has[0] != has[1]:
        gdb.events.new_objfile.connect(_announce)
        _connected.append(_announce)
    else:
        gdb.execute("set auto-solib-add off")


def _follow(peer: _Peer) -> None:
    """Follows the launcher to its end. Raises gdb.error if it has ended."""
    notice = _Notice("MPIR_Breakpoint")
    gdb.execute("catch exec", to_string=True)
    begin = _begin()
    while True:
        gdb.execute("continue", to_string=True)
        if notice.was_hit():
            peer.say("stopped")
            answer = peer.hear()
            if answer != "go":
                _let_go(answer == "leave")
                return
        elif begin is not None and begin.was_hit():
            begin.delete()
            begin = None
            _has_begun()
        else:  # it has executed another program in place of this one
            begin = _begin()


def _main() -> None:
    """Attaches to the launcher, and follows it."""
    peer = _Peer()
    for text in _SETTINGS:
        gdb.execute("set " + text, to_string=True)
    try:
        gdb.execute("attach %d" % _PID, to_string=True)
        _settle()
    except gdb.error as error:
        peer.say("failed " + " ".join(str(error).split()))
        return
    peer.say("attached")
    try:
        _follow(peer)
    except gdb.error as error:
        peer.say("ended " + " ".join(str(error).split()))


_main()
