"""Resumes the ranks of a job together, and steps over what only starting them brings."""

import contextlib
import os
import signal
from typing import Any, Iterator, List

import gdb

from .selection import select_inferior, setting, unattended


def settle(number: int, pid: int) -> None:
    """Has an inferior, which has just been attached before the first instruction of its program,
    take the signals that have stopped it there, and that one which ends the stop.

    Without the first they would be reported as if the user had sent them; without the second each
    new thread of the process would stop at its beginning.
    """
    select_inferior(number)
    with _unseen("SIGSTOP"), _unseen("SIGCONT"), unattended(), \
            setting("schedule-multiple", "off"):
        os.kill(pid, signal.SIGCONT)
        gdb.execute("stepi", to_string=True)


@contextlib.contextmanager
def _unseen(name: str) -> Iterator[None]:
    """Keeps a signal inside the block from users and programs."""
    row = gdb.execute("info signals " + name, to_string=True).splitlines()[-1].split()
    before = [word if answer == "Yes" else "no" + word
              for word, answer in zip(("stop", "print", "pass"), row[1:4])]
    gdb.execute("handle %s nostop noprint nopass" % name, to_string=True)
    try:
        yield
    finally:
        gdb.execute("handle %s %s" % (name, " ".join(before)), to_string=True)


class _Stops:
    """What gdb has told of stops since the inferiors were resumed."""

    def __init__(self) -> None:
        self.stopped = False

    def __enter__(self) -> "_Stops":
        gdb.events.stop.connect(self._on_stop)
        return self

    def __exit__(self, *_: Any) -> None:
        gdb.events.stop.disconnect(self._on_stop)

    def _on_stop(self, event: Any) -> None:
        self.stopped = True


def proceed(inferiors: List[gdb.Inferior]) -> bool:
    """Lets inferiors go on, all of them, until one stops; says whether one has stopped.

    gdb stops all of them when one ends, too. They go on then, until none is left.
    """
    current = gdb.selected_inferior()
    while True:
        live = [inferior for inferior in inferiors if inferior.is_valid() and inferior.pid]
        if not live:
            return False
        if current not in live:
            _select(live[0])
        with _Stops() as stops, setting("schedule-multiple", "on"):
            gdb.execute("continue")
        if stops.stopped:
            return True
        current = gdb.selected_inferior()


def _select(inferior: gdb.Inferior) -> None:
    """Selects the first thread of an inferior."""
    threads = inferior.threads()
    if threads:
        min(threads, key=lambda thread: thread.num).switch()

