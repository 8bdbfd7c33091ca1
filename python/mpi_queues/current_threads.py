"""The current thread of each inferior: the one that its user means when he names the inferior."""

from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import stops
from .selection import selected_thread

# The thread of each inferior, by its number, that was selected or has stopped last.
_last: Dict[int, gdb.InferiorThread] = {}
# The threads that are being stopped by the extension: it is not what they do that stops them.
_interrupted: Set[Tuple[int, Tuple[int, int, int]]] = set()


def of(inferior: gdb.Inferior) -> Optional[gdb.InferiorThread]:
    """Returns the thread of an inferior that is selected or, if it is another inferior's that is,
    the one that was selected or has stopped last, else the first; None if there is none."""
    threads = sorted(inferior.threads(), key=lambda thread: int(thread.num))
    for wanted in selected_thread(), _last.get(inferior.num):
        if wanted is not None and wanted.is_valid() \
                and any(thread.ptid == wanted.ptid for thread in threads):
            return wanted
    return threads[0] if threads else None


def stopped(inferior: gdb.Inferior) -> List[gdb.InferiorThread]:
    """Returns the threads of an inferior that do not run: the current one first, the others in
    order."""
    current = of(inferior)
    ordered = sorted(inferior.threads(), key=lambda thread: (
        current is None or thread.ptid != current.ptid, thread.num))
    return [thread for thread in ordered if thread.is_stopped()]


def remember() -> None:
    """Remembers which thread is selected."""
    thread = selected_thread()
    if thread is not None:
        _last[thread.inferior.num] = thread


def interrupted(thread: gdb.InferiorThread) -> None:
    """Hears that the extension stops a thread."""
    _interrupted.add((thread.inferior.num, thread.ptid))


def _on_stop(event: Any) -> None:
    """Serves gdb's event for a stop."""
    try:
        thread = stops.thread_of(event) or selected_thread()
        if thread is None:
            return
        if (thread.inferior.num, thread.ptid) in _interrupted:
            _interrupted.discard((thread.inferior.num, thread.ptid))
        else:
            _last[thread.inferior.num] = thread
    except (Exception, KeyboardInterrupt):
        pass  # another thread is taken then


def _before_prompt(*_: Any) -> None:
    """Serves gdb's event for its prompt, before which the user may have selected a thread."""
    try:
        remember()
    except gdb.error:
        pass  # it is in the midst of something


gdb.events.stop.connect(_on_stop)
gdb.events.before_prompt.connect(_before_prompt)
