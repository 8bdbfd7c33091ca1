"""Notifications to the helper, which may be there or not."""

import os
import select
from typing import Any, List

from harness import HelperTest, end_program, run_program, running_helper
from mpi_queues import link


def setUpModule() -> None:
    """Starts the program that the commands are for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


class NotifyTest(HelperTest):
    """Notifications."""

    def notified(self) -> List[Any]:
        """Returns what the helper was told of."""
        return [m["params"] for m in self.received() if m.get("method") == "exited"]

    def notify(self, count: int, size: int = 1) -> None:
        """Notifies. A helper that reads nothing meanwhile does not hold it up."""
        for pid in range(count):
            link.LINK.notify("exited", {"inferior": 1, "pid": pid, "more": "x" * size})

    def test_none_runs(self) -> None:
        self.fake("good")
        self.notify(1)
        self.assertIsNone(link.LINK._helper)
        self.assertFalse(os.path.exists(self.log_path))

    def test_runs(self) -> None:
        self.fake("good")
        self.command("mpi-queues")
        first = link.LINK._running().pid
        self.notify(3)
        self.command("mpi-queues")
        self.assertEqual([p["pid"] for p in self.notified()], [0, 1, 2])
        self.assertEqual(first, link.LINK._running().pid)

    def test_dead(self) -> None:
        self.fake("die_between")
        self.command("mpi-queues")
        first = link.LINK._running().pid
        running_helper()._process.wait()
        self.notify(3)
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)

    def test_deaf(self) -> None:
        """A helper that does not read its pipe can't block gdb, and is replaced."""
        self.fake("deaf_between", until="/nowhere/at/all")
        self.command("mpi-queues")
        first = link.LINK._running().pid
        self.notify(100, 5000)
        self.fake_for_the_next("good")
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)
        self.assert_reaped(first)

    def test_slow(self) -> None:
        """One that reads its pipe in the end stays, and misses nothing."""
        end = os.path.join(self.folder, "end")
        self.fake("deaf_between", until=end)
        self.command("mpi-queues")
        first = running_helper()
        self.notify(20, 5000)
        self.assertFalse(first.is_ready(), "the pipe took all")
        open(end, "w").close()
        while not first.is_ready():
            select.select([], [first._process.stdin], [])
        self.command("mpi-queues")
        self.assertEqual(first.pid, link.LINK._running().pid)
        self.assertEqual([p["pid"] for p in self.notified()], list(range(20)))
