"""Notifications to the helper, which may be there or not."""

import os
import select
import time
from typing import Any, List

from harness import HelperTest, end_program, run_program
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
        """Notifies, and checks that nothing waits for the helper."""
        began = time.monotonic()
        for pid in range(count):
            link.LINK.notify("exited", {"inferior": 1, "pid": pid, "more": "x" * size})
        self.assertLess(time.monotonic() - began, 2)

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
        link.LINK._running()._process.wait()
        self.notify(3)
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)

    def test_deaf(self) -> None:
        """A helper that does not read its pipe can't block gdb, and is replaced."""
        self.fake("deaf_between", seconds=1000)
        self.command("mpi-queues")
        first = link.LINK._running().pid
        self.notify(100, 5000)
        self.fake_for_the_next("good")
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)
        self.assert_reaped(first)

    def test_slow(self) -> None:
        """One that reads its pipe in the end stays, and misses nothing."""
        self.fake("deaf_between", seconds=0.5)
        self.command("mpi-queues")
        first = link.LINK._running()
        self.notify(20, 5000)
        self.assertFalse(first.is_ready(), "the pipe took all")
        end = time.monotonic() + 20
        while not first.is_ready() and time.monotonic() < end:
            select.select([], [first._process.stdin], [], 1)
        self.command("mpi-queues")
        self.assertEqual(first.pid, link.LINK._running().pid)
        self.assertEqual([p["pid"] for p in self.notified()], list(range(20)))
