"""`mpi-attach' and `mpi-detach' as a user at a terminal has them: confirm, pager, Ctrl-C."""

import os
import random
import re
import subprocess
import tempfile
import time
import unittest
from typing import Any, List

from terminal import Terminal

CTRL_C = "\x03"


def state(pid: int) -> str:
    """Returns the state of a process."""
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rpartition(")")[2].split()[0]


class JobTest(unittest.TestCase):
    """A gdb on a terminal, and processes that play ranks."""

    def start(self, count: int, **more: Any) -> Terminal:
        """Starts processes, and gdb with a program of its own."""
        self.pids: List[int] = []
        for _ in range(count):
            process = subprocess.Popen(["/bin/sleep", "1000"], stdin=subprocess.DEVNULL,
                                       start_new_session=True)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.pids.append(process.pid)
        ranks: List[Any] = [{"rank": n, "pid": pid, "host": "", "executable": "", "exited": False,
                             "exit_code": None, "signal": "", "obstacle": "", "image": None}
                            for n, pid in enumerate(self.pids)]
        terminal = Terminal("good", os.path.join(tempfile.mkdtemp(), "log"), ranks={
            "launcher": 4711, "name": "mpirun", "size": count, "ranks": ranks, "self": 0,
            "others": None, "aborting": None, "nodes": None, "culprits": None, "images": None,
            "not_asked": ""}, **more)
        self.addCleanup(terminal.__exit__)
        return terminal

    def inferiors(self, terminal: Terminal) -> int:
        """Returns how many inferiors there are."""
        return len(re.findall(r"\n[* ] \d+ ", terminal.command("info inferiors")))

    def assert_running(self) -> None:
        """Checks that all processes go on."""
        self.assertEqual({state(pid) for pid in self.pids} - {"S", "R"}, set())

    def test_nothing_is_asked(self) -> None:
        terminal = self.start(12, term="dumb")  # it shows no progress
        for setting in ("confirm on", "pagination on", "height 6", "width 70"):
            terminal.command("set " + setting)
        for _ in range(3):
            shown = terminal.command("mpi-attach 4711")
            self.assertRegex(shown, r"\A[^\n]*\r\nAttached 12 ranks of mpirun \(process 4711\): ")
            # Nothing of what gdb says of each.
            self.assertLess(shown.count("\n"), 5, shown)
            self.assertNotIn("[Switching", shown)
            self.assertIn("is on", terminal.command("show confirm"))
            self.assertIn("is on", terminal.command("show pagination"))
            self.assertIn("process %d" % self.pids[0], terminal.command("inferior"))
            self.assertIn("Detached 12 processes", terminal.command("mpi-detach"))
            self.assertEqual(self.inferiors(terminal), 1)
            self.assert_running()
        # An empty line does not do it again.
        terminal.command("mpi-attach 4711")
        self.assertNotIn("Attached", terminal.command(""))
        terminal.command("mpi-detach")

    def test_continue(self) -> None:
        """gdb's own commands work on what is attached."""
        terminal = self.start(3)
        terminal.command("mpi-attach 4711")
        self.assertIn("sleep", terminal.command("backtrace"))
        terminal.send("continue\n")
        terminal.expect("Continuing.")
        terminal.wait(lambda: state(self.pids[0]) == "S", "rank 0 to go on")
        self.assertEqual(state(self.pids[1]), "t")
        terminal.send(CTRL_C)
        self.assertIn("SIGINT", terminal.expect("PROMPT>"))
        self.assertIn("Detached 3 processes", terminal.command("mpi-detach"))
        self.assert_running()

    def test_ctrl_c(self) -> None:
        """Wherever Ctrl-C comes, gdb and the processes are well, and all can be let go of."""
        terminal = self.start(20)
        terminal.command("mpi-attach 4711")
        terminal.command("mpi-detach")
        chance = random.Random(1)
        partly = 0
        for _ in range(25):
            terminal.send("mpi-attach 4711\n")
            terminal.expect("mpi-attach 4711")
            end = time.monotonic() + chance.random() * 0.3
            while time.monotonic() < end and "PROMPT>" not in terminal.seen:
                terminal.read(0.001)
            terminal.send(CTRL_C)
            shown = terminal.expect("PROMPT>")
            for wrong in ("Traceback", "Python Exception", "fresh one", "SIGINT"):
                self.assertNotIn(wrong, shown)
            terminal.send("echo SYNC\\n\n")
            terminal.expect("SYNC\r\n")
            terminal.expect("PROMPT>")
            attached = sum(state(pid) == "t" for pid in self.pids)
            self.assertEqual(self.inferiors(terminal), attached + 1)
            if 0 < attached < 20:
                partly += 1
                self.assertRegex(shown, r"(Rank|Ranks) [-\d]+( \(process \d+\))? (is|are) not"
                                        r" attached, since that was interrupted")
                self.assertIn("Quit\r\n", shown)
            shown = terminal.command("mpi-detach")
            self.assertIn("Detached %d process" % attached if attached else "nothing to detach",
                          shown)
            self.assertEqual(self.inferiors(terminal), 1)
            self.assert_running()
        self.assertGreater(partly, 3)
        self.assertIn("is off", terminal.command("show confirm"))
        self.assertIn("Attached 20 ranks", terminal.command("mpi-attach 4711"))
        self.assertIn("Detached 20 processes", terminal.command("mpi-detach"))
        self.assert_running()
