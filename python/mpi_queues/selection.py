"""Restores what the user has selected and set, or touches none of it."""

import contextlib
from typing import Iterator, Optional

import gdb

from .errors import Failure

# Where nothing may be touched: whether something would have been. Else None.
_would_touch: Optional[bool] = None


class Untouchable(Failure):
    """What was asked for can't be had without touching what the user has selected or set."""

    def __init__(self) -> None:
        super().__init__("That can't be read in the midst of gdb's own work.")


@contextlib.contextmanager
def untouched() -> Iterator[None]:
    """Keeps the extension, inside the block, from selecting or setting anything: gdb is in the
    midst of its own work. Raises Untouchable if the block fails for that."""
    global _would_touch
    before, _would_touch = _would_touch, False
    try:
        yield
    except Failure:
        if _would_touch:
            raise Untouchable  # the request that wanted it has failed with a reason of its own
        raise
    finally:
        _would_touch = before


def end_lost() -> None:
    """Lets everything be selected and set again if Python frames were lost inside untouched()
    (see lost)."""
    global _would_touch
    _would_touch = None


def touch() -> None:
    """Raises Untouchable where nothing may be selected or set, and no command executed."""
    global _would_touch
    if _would_touch is not None:
        _would_touch = True
        raise Untouchable


@contextlib.contextmanager
def inferior_selected(number: int) -> Iterator[Optional[gdb.Inferior]]:
    """Selects an inferior inside the block; yields it, or None if there is none of this number.

    gdb's own functions for memory and symbols work on the selected inferior only, whatever
    inferior they are called for (before gdb 14).
    """
    wanted = next((i for i in gdb.inferiors() if i.num == number), None)
    before = gdb.selected_inferior()
    if wanted is None or wanted.num == before.num or not wanted.threads():
        yield wanted
        return
    touch()
    # Around the switch, since the language `auto' depends on the frame selected when it is set.
    with c_language(), selection_kept():
        # The command `inferior' would tell the user of the switch, whatever its caller wants.
        threads = wanted.threads()
        next((thread for thread in threads if thread.is_stopped()), threads[0]).switch()
        yield wanted


def select_inferior(number: int) -> None:
    """Selects an inferior without output."""
    if gdb.selected_inferior().num != number:
        touch()
        with notifications_suppressed():
            gdb.execute("inferior %d" % number, to_string=True)


@contextlib.contextmanager
def selection_kept() -> Iterator[None]:
    """Selects, after the block, the inferior, thread and frame that were selected before, as far
    as they still exist."""
    inferior = gdb.selected_inferior()
    thread = gdb.selected_thread()
    frame = _selected_frame()
    try:
        yield
    finally:
        if not (thread and thread.is_valid()) and inferior.is_valid():
            select_inferior(inferior.num)
        _reselect(thread, frame)


@contextlib.contextmanager
def c_language() -> Iterator[None]:
    """Sets the language of expressions and type names to C inside the block."""
    before = str(gdb.parameter("language"))
    if before == "c" or _would_touch is not None and _is_like_c():
        yield
        return
    touch()
    set_language("c")
    try:
        yield
    finally:
        set_language(before)


def _is_like_c() -> bool:
    """Says whether gdb reads expressions as those of C, whatever the name of the language is."""
    try:
        # Other languages have no such operator, and those that have it can't ask for a symbol so.
        return int(gdb.parse_and_eval("1 ? 2 : (int) sizeof(::main)")) == 2
    except gdb.error as error:
        return str(error).startswith('No symbol "')


@contextlib.contextmanager
def whole_backtrace() -> Iterator[None]:
    """Lifts the user's limit on the depth of backtraces inside the block."""
    before = gdb.parameter("backtrace limit")
    if not before:  # unlimited
        yield
        return
    gdb.execute("set backtrace limit unlimited", to_string=True)
    try:
        yield
    finally:
        gdb.execute("set backtrace limit %d" % before, to_string=True)


@contextlib.contextmanager
def notifications_suppressed() -> Iterator[None]:
    """Keeps gdb from telling the user of stops and switches inside the block.

    It writes those past whoever wants a command's output. Before gdb 12 that can't be helped.
    """
    with setting("suppress-cli-notifications", "on"):
        yield


@contextlib.contextmanager
def unattended() -> Iterator[None]:
    """Keeps gdb from asking questions and from reporting each step inside the block."""
    debuginfod = _value("debuginfod enabled")
    if debuginfod == "ask":
        debuginfod = "off"  # not asked, gdb would set it so for good
    with setting("confirm", "off"), setting("pagination", "off"), notifications_suppressed(), \
            setting("debuginfod enabled", debuginfod or ""):
        yield


@contextlib.contextmanager
def functions_not_called() -> Iterator[None]:
    """Keeps expressions inside the block from calling functions of the process."""
    with setting("may-call-functions", "off"):
        yield


@contextlib.contextmanager
def setting(name: str, value: str) -> Iterator[None]:
    """Changes a setting inside the block, if this gdb has it."""
    before = _value(name)
    if before is None or before == value:
        yield
        return
    touch()
    try:
        # Where a process is selected that has ended, gdb does this, and fails afterwards.
        gdb.execute("set %s %s" % (name, value), to_string=True)
        yield
    finally:
        gdb.execute("set %s %s" % (name, before), to_string=True)


def _value(name: str) -> Optional[str]:
    """Returns the value of a setting; None if this gdb does not have it."""
    try:
        value = gdb.parameter(name)
    except RuntimeError:
        return None
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Makes unwinding possible inside the block in a gdb that can't do it by itself.

    cuda-gdb 11.8 with Debian's Python does not recognise the None by which gdb's Python code says
    that no unwinder of the user's knows a frame. It goes on if that code is not there, with a
    complaint at each frame, which is kept quiet.
    """
    name = "_execute_unwinders"
    unwinders = getattr(gdb, name, None)
    if unwinders is None or _can_unwind():
        yield
        return
    delattr(gdb, name)
    try:
        with setting("python print-stack", "none"):
            yield
    finally:
        setattr(gdb, name, unwinders)


def _can_unwind() -> bool:
    """Says whether gdb can unwind, as far as it does not depend on the stack."""
    try:
        gdb.newest_frame()
    except gdb.error as error:
        return "nwinder" not in str(error)
    return True


def set_language(name: str) -> None:
    """Sets gdb's language without output."""
    try:
        gdb.execute("set language " + name, to_string=True)
    except gdb.error:
        pass  # `auto' sets the language first and only then looks at a frame that may be bad


def selected_thread() -> Optional[gdb.InferiorThread]:
    """Returns the selected thread, None if there is none."""
    thread = gdb.selected_thread()
    # cuda-gdb 11.8 has a None of its own, which is not Python's.
    return thread if isinstance(thread, gdb.InferiorThread) and thread.is_valid() else None


def _selected_frame() -> Optional[gdb.Frame]:
    """Returns the selected frame; None if there is none that gdb can unwind."""
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


def _reselect(thread: Optional[gdb.InferiorThread], frame: Optional[gdb.Frame]) -> None:
    """Selects a thread and a frame of it, as far as they still exist."""
    if thread and thread.is_valid():
        thread.switch()
    try:
        if frame and frame.is_valid():
            frame.select()
    except gdb.error:
        pass  # without a thread gdb can't even say so
