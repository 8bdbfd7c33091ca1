"""When Ctrl-C is noticed.

A KeyboardInterrupt can arise between any two byte codes, also between the read of a message
and its handling. While a request is served SIGINT is therefore held back by the signal mask, and
let through only where an interruption loses nothing: while waiting, and inside gdb's own calls,
but for reads of the memory of a process of this machine (see services).
So is SIGTERM, which gdb's handler turns into a KeyboardInterrupt, too, before gdb ends itself
(in gdb 10 its worker threads take the signal all the same).
gdb's signal handlers stay as they are.
"""

import contextlib
import errno
import signal
import termios
import threading
from typing import Any, Callable, Iterator, Optional, Set, TypeVar

Value = TypeVar("Value")

_SIGNALS = {signal.SIGINT, signal.SIGTERM}

# The signals that were blocked before the outermost block that holds some back; None outside.
_outside: Optional[Set[int]] = None


def _mask(how: int, signals: Any) -> bool:
    """Changes the signal mask, even if Ctrl-C comes meanwhile; returns whether it did."""
    interrupted = False
    while True:
        try:
            signal.pthread_sigmask(how, signals)
            return interrupted
        except KeyboardInterrupt:
            interrupted = True


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Holds Ctrl-C back inside the block; one that came meanwhile is noticed at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    if _mask(signal.SIG_BLOCK, _SIGNALS):
        _mask(signal.SIG_SETMASK, before)
        raise KeyboardInterrupt
    with _restored(before):
        yield


@contextlib.contextmanager
def unended() -> Iterator[None]:
    """Holds back, inside the block, the signals that end gdb: SIGHUP when its terminal is closed.

    The kernel stops a process to which gdb attaches. Where gdb ends before it has noticed that,
    nobody lets the process go on.
    """
    with _restored(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP})):
        yield


@contextlib.contextmanager
def _restored(before: Set[int]) -> Iterator[None]:
    """Restores the signal mask after the block."""
    global _outside
    is_outermost = _outside is None
    if is_outermost:
        _outside = before
    try:
        yield
    finally:
        if is_outermost:
            _outside = None
        if _mask(signal.SIG_SETMASK, before):
            raise KeyboardInterrupt


def end_lost() -> None:
    """Restores the signal mask if Python frames were lost inside a block that holds signals back
    (see lost)."""
    global _outside
    before, _outside = _outside, None
    if before is not None:
        _mask(signal.SIG_SETMASK, before)  # a Ctrl-C that waited has nothing left to interrupt


def interrupt() -> None:
    """Interrupts what gdb does, from any thread, as Ctrl-C does.

    It stands in for gdb.interrupt, which takes a lock of gdb's and then Python's: gdb's own
    thread, which has Python's, takes that lock whenever it looks for Ctrl-C, so that both wait
    for ever. Seen in gdb 16.3.
    """
    main = threading.main_thread().ident
    assert main is not None  # it has been started
    signal.pthread_kill(main, signal.SIGINT)


def allow(function: Callable[..., Value], *args: Any) -> Value:
    """Calls function with Ctrl-C let through, inside held().

    Raises KeyboardInterrupt where it is noticed; what function returned is lost then.
    """
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return function(*args)
    finally:
        if _mask(signal.SIG_BLOCK, _SIGNALS):
            raise KeyboardInterrupt


def check() -> None:
    """Raises KeyboardInterrupt, inside held(), if Ctrl-C came or if gdb is going to end because its
    terminal was closed. gdb may end as soon as it waits for an event, so nothing may be begun that
    must not be left half done."""
    allow(lambda: None)
    if signal.SIGHUP in signal.sigpending() or _has_lost_terminal():
        raise KeyboardInterrupt


def _has_lost_terminal() -> bool:
    """Reports whether the terminal from which gdb reads has been closed."""
    try:
        termios.tcgetattr(0)
    except termios.error as error:  # for what is no terminal it is another one
        return bool(error.args[0] == errno.EIO)
    return False
