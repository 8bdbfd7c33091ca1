"""Leaves what the user has selected and set as it was."""

import contextlib
from typing import Iterator, Optional

import gdb


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
    thread = gdb.selected_thread()
    frame = _selected_frame()
    # Around the switch, since the language `auto' depends on the frame selected when it is set.
    with c_language():
        try:
            # The command `inferior' would tell the user of the switch, whatever its caller wants.
            wanted.threads()[0].switch()
            yield wanted
        finally:
            if not thread:
                gdb.execute("inferior %d" % before.num, to_string=True)
            _reselect(thread, frame)


@contextlib.contextmanager
def thread_kept() -> Iterator[None]:
    """Selects the thread and frame of before again after the block."""
    thread = gdb.selected_thread()
    frame = _selected_frame()
    try:
        yield
    finally:
        _reselect(thread, frame)


@contextlib.contextmanager
def c_language() -> Iterator[None]:
    """Makes expressions and type names mean what they mean in C inside the block."""
    before = str(gdb.parameter("language"))
    if before == "c":
        yield
        return
    _set_language("c")
    try:
        yield
    finally:
        _set_language(before)


@contextlib.contextmanager
def whole_backtrace() -> Iterator[None]:
    """Lets frames be followed beyond the user's limit inside the block."""
    before = gdb.parameter("backtrace limit")
    if not before:  # unlimited
        yield
        return
    gdb.execute("set backtrace limit unlimited", to_string=True)
    try:
        yield
    finally:
        gdb.execute("set backtrace limit %d" % before, to_string=True)


def _set_language(name: str) -> None:
    """Sets gdb's language without a word."""
    try:
        gdb.execute("set language " + name, to_string=True)
    except gdb.error:
        pass  # `auto' sets the language first and only then looks at a frame that may be bad


def _selected_frame() -> Optional[gdb.Frame]:
    """Returns the selected frame, or None where there is none that gdb can unwind."""
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


def _reselect(thread: Optional[gdb.InferiorThread], frame: Optional[gdb.Frame]) -> None:
    """Selects a thread and a frame of it, as far as they still exist."""
    if thread and thread.is_valid():
        thread.switch()
    if frame and frame.is_valid():
        try:
            frame.select()
        except gdb.error:
            pass
