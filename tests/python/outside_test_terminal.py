"""What a user at a terminal does and sees: Ctrl-C, the pager, progress, styles."""

import array
import base64
import fcntl
import os
import random
import re
import tempfile
import termios
import time
import unittest
from typing import Any

from terminal import Terminal

CTRL_C = "\x03"
PAGER = "--Type <RET>"


def waiting_bytes(pid: int) -> int:
    """Returns how much a process has not read of its standard input."""
    with open("/proc/%d/fd/0" % pid, "rb") as file:
        count = array.array("i", [0])
        fcntl.ioctl(file, termios.FIONREAD, count)
    return count[0]


class TerminalTest(unittest.TestCase):
    """A test of a gdb on a terminal."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()

    def start(self, scenario: str, **arguments: Any) -> Terminal:
        """Starts gdb."""
        terminal = Terminal(scenario, os.path.join(self.folder, "log"), **arguments)
        self.addCleanup(terminal.__exit__)
        return terminal

    def helper_pid(self, terminal: Terminal) -> str:
        """Returns the helper's process id, or None."""
        shown = terminal.command("python from mpi_queues.link import LINK; "
                                 "print('PID', LINK._helper and LINK._helper.pid)")
        found = re.search(r"PID (\w+)\r", shown.split("\n", 1)[1])
        assert found, shown
        return found.group(1)

    def assert_quit(self, shown: str) -> None:
        """Checks that a command ended as gdb's own do when interrupted."""
        self.assertRegex(shown, r"Quit\r\n")
        self.assertNotIn("Traceback", shown)
        self.assertNotIn("Python Exception", shown)


class InterruptTest(TerminalTest):
    """Ctrl-C."""

    def test_cancels(self) -> None:
        terminal = self.start("obedient")
        terminal.send("mpi-queues\n")
        terminal.expect("WAITING")
        terminal.send(CTRL_C)
        self.assert_quit(terminal.expect("PROMPT>"))
        pid = self.helper_pid(terminal)
        self.assertIn("AGAIN", terminal.command("mpi-queues"))
        self.assertEqual(self.helper_pid(terminal), pid)
        self.assertEqual(len(terminal.received("cancel")), 1)

    def test_termination_waits_for_the_exchange(self) -> None:
        terminal = self.start("obedient")
        terminal.send(r"""python exec("import signal, threading\n"""
                      r"""from mpi_queues import interrupts\n"""
                      r"""with interrupts.held():\n"""
                      r""" signal.pthread_kill(threading.get_ident(), signal.SIGTERM)\n"""
                      r""" print('SER' + 'VED')")""" "\n")
        terminal.expect("SERVED")

    def test_second_one_ends_the_helper(self) -> None:
        terminal = self.start("stubborn")
        terminal.command("python from mpi_queues import exchange; exchange.CANCEL_SECONDS = 1e6")
        terminal.send("mpi-queues\n")
        terminal.expect("WAITING")
        terminal.send(CTRL_C)
        terminal.wait(lambda: bool(terminal.received("cancel")), "the cancellation")
        terminal.send(CTRL_C)
        self.assert_quit(terminal.expect("PROMPT>"))
        self.assertEqual(self.helper_pid(terminal), "None")

    def test_time_limit(self) -> None:
        for scenario in ("stubborn", "spam"):
            self.check_time_limit(scenario)

    def check_time_limit(self, scenario: str) -> None:
        """Checks that a helper is not waited for that does not stop."""
        terminal = self.start(scenario)
        terminal.command("python from mpi_queues import exchange; exchange.CANCEL_SECONDS = 1")
        terminal.send("mpi-queues\n")
        terminal.expect("WAITING")
        terminal.send(CTRL_C)
        shown = terminal.expect("PROMPT>")
        self.assertIn("did not stop within 1 seconds of being asked to", shown)
        self.assertIn("The next command starts a fresh one", shown)
        self.assertEqual(self.helper_pid(terminal), "None")

    def test_helper_that_does_not_read(self) -> None:
        terminal = self.start("deaf")
        terminal.send("mpi-queues\n")
        terminal.wait(lambda: bool(terminal.received("deaf")), "the helper's request")
        helper = terminal.received("deaf")[0]["pid"]
        terminal.wait(lambda: waiting_bytes(helper) > 60000, "a pipe that is full")
        terminal.send(CTRL_C + CTRL_C)
        while "PROMPT>" not in terminal.seen:
            terminal.send(CTRL_C)
            while terminal.read(0.5):
                pass
        self.assert_quit(terminal.expect("PROMPT>"))
        self.assertEqual(self.helper_pid(terminal), "None")

    def test_during_the_handshake(self) -> None:
        terminal = self.start("silent_at_start")
        terminal.send("mpi-queues\n")
        terminal.wait(lambda: bool(terminal.received("initialize")), "the handshake")
        terminal.send(CTRL_C)
        self.assert_quit(terminal.expect("PROMPT>"))
        self.assertEqual(self.helper_pid(terminal), "None")

    def test_any_time(self) -> None:
        """Wherever Ctrl-C comes, the command ends and the next one works."""
        pieces = 10
        terminal = self.start("calls", calls=[
            ["memory/read", {"inferior": 1, "ranges": [{"address": 0, "length": 8}] * 50}],
            ["symbols/find", {"inferior": 1, "names": ["a%d" % i for i in range(20)]}],
            ["output/write", {"stream": "display", "length": 0, "data": "LkFCQ0RFCg==",
                              "last": False}],
        ] * pieces)
        chance = random.Random(1)
        terminal.command("mpi-queues")
        for _ in range(40):
            terminal.send("mpi-queues\n")
            terminal.expect("mpi-queues")
            end = time.monotonic() + chance.random() * 0.06
            while time.monotonic() < end and "PROMPT>" not in terminal.seen:
                terminal.read(0.001)
            terminal.send(CTRL_C)
            shown = terminal.expect("PROMPT>")
            self.assertNotIn("Traceback", shown)
            # Of one that comes as the command returns, only gdb can say anything.
            if shown.count(".ABCDE") < pieces:
                self.assertNotIn("Python Exception", shown)
            self.assertNotIn("fresh one", shown)
            terminal.send("echo SYNC\\n\n")
            terminal.expect("SYNC\r\n")
            terminal.expect("PROMPT>")
        self.assertIn(".ABCDE", terminal.command("mpi-queues"))


# A request in a thread that stops for ever while it serves a call-back: it leaves behind what a
# request does whose Python frames gdb has dropped.
LOSE_A_REQUEST = """
import threading
from mpi_queues import parameters
from mpi_queues.link import LINK
reached = threading.Event()
def serve(method, params):
    reached.set()
    threading.Event().wait()
arguments = "queues", {}, dict, serve, parameters.helper_name(), False
threading.Thread(target=LINK.request, args=arguments, daemon=True).start()
reached.wait()
"""

# Ctrl-C while gdb unwinds the frame of main, at which backtraces end.
INTERRUPT_UNWINDING = """
import gdb.unwinder
from mpi_queues import threads
class Interrupter(gdb.unwinder.Unwinder):
    is_wanted = False
    def __call__(self, frame):
        if Interrupter.is_wanted:
            raise KeyboardInterrupt
gdb.unwinder.register_unwinder(None, Interrupter("interrupter"))
stop_reason = threads._stop_reason
def interrupted(frame):
    Interrupter.is_wanted = True
    try:
        return stop_reason(frame)
    finally:
        Interrupter.is_wanted = False
threads._stop_reason = interrupted
"""


class LostTest(TerminalTest):
    """Python frames that gdb has dropped without ending them."""

    def run_script(self, terminal: Terminal, text: str) -> str:
        """Runs a Python script in gdb; returns what gdb writes."""
        path = os.path.join(self.folder, "script.py")
        with open(path, "w") as file:
            file.write(text)
        return terminal.command("source " + path)

    def blocked(self, terminal: Terminal) -> str:
        """Returns which signals gdb's own thread blocks."""
        shown = terminal.command("python import signal; "
                                 "print('MASK', signal.pthread_sigmask(signal.SIG_BLOCK, ()))")
        return shown.split("MASK")[-1]

    def test_request_without_frames(self) -> None:
        """A request without frames is over at the prompt: the next command works."""
        text = {"stream": "display", "length": 0, "last": False,
                "data": base64.b64encode(b"SHOWN").decode()}
        terminal = self.start("calls", calls=[["output/write", text]])
        self.run_script(terminal, LOSE_A_REQUEST)
        self.assertEqual(len(terminal.received("queues")), 1)
        self.assertEqual(self.helper_pid(terminal), "None")
        self.assertIn("SHOWN", terminal.command("mpi-queues"))

    def test_ctrl_c_in_unwinding(self) -> None:
        """Where Ctrl-C meets the unwinding of main, gdb 18.1 drops the frames of the request. The
        next command works, and Ctrl-C is let through."""
        params = {"inferior": 1, "depth": 50, "variables": []}
        terminal = self.start("calls", calls=[["threads/list", params]])
        terminal.command("continue")
        before = self.blocked(terminal)
        self.run_script(terminal, INTERRUPT_UNWINDING)
        terminal.command("mpi-queues")
        self.run_script(terminal,
                        "Interrupter.is_wanted = False\nthreads._stop_reason = stop_reason")
        self.assertEqual(self.blocked(terminal), before)
        terminal.command("mpi-queues")
        with open(terminal.log) as file:
            self.assertIn('"function": "main"', file.read())


class PagerTest(TerminalTest):
    """gdb's pager."""

    def ended_by(self, key: str) -> None:
        """Checks that a key ends the command at the pager."""
        terminal = self.start("flood")
        terminal.command("set height 20")
        for _ in range(2):
            terminal.send("mpi-queues\n")
            terminal.expect(PAGER)
            terminal.send("\n")
            terminal.expect(PAGER)
            terminal.send(key)
            self.assert_quit(terminal.expect("PROMPT>"))
        pid = self.helper_pid(terminal)
        terminal.command("set height 0")
        self.assertIn("line 9999", terminal.command("mpi-queues"))
        self.assertEqual(self.helper_pid(terminal), pid)

    def test_q(self) -> None:
        self.ended_by("q\n")

    def test_ctrl_c(self) -> None:
        self.ended_by(CTRL_C)


class LooksTest(TerminalTest):
    """Progress and styles."""

    def test_progress(self) -> None:
        terminal = self.start("progress")
        for patience, expected in ((1e9, False), (0, True)):
            terminal.command("python import mpi_queues.progress; "
                             "mpi_queues.progress.PATIENCE = %r" % patience)
            shown = terminal.command("mpi-queues")
            self.assertEqual("\rstep 1" in shown, expected, shown)
            if expected:
                self.assertRegex(shown, r"\rstep \d+ *\r +\rRESULT")

    def test_no_progress_on_a_dumb_terminal(self) -> None:
        terminal = self.start("progress", term="dumb")
        terminal.command("python import mpi_queues.progress; mpi_queues.progress.PATIENCE = 0")
        self.assertNotIn("step", terminal.command("mpi-queues"))

    def test_styles(self) -> None:
        terminal = self.start("good")

        def styled(command: str) -> bool:
            terminal.command(command)
            return bool(terminal.received("queues")[-1]["params"]["styled"])

        self.assertTrue(styled("mpi-queues"))
        self.assertFalse(styled("python x = gdb.execute('mpi-queues', to_string=True)"))
        self.assertFalse(styled("mpi-queues -json"))
        self.assertFalse(styled("mpi-queues -output %s/out" % self.folder))
        terminal.command("set style enabled off")
        self.assertFalse(styled("mpi-queues"))
