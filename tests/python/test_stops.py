"""The signal by which a supervisor wakes gdb."""

import os
import subprocess
import unittest

import gdb
from harness import PROGRAMS, end_program
from mpi_queues import running, stops

# How often the program is woken.
TIMES = 30


class WakeTest(unittest.TestCase):
    """A program that steps over a breakpoint all the time."""

    def tearDown(self) -> None:
        gdb.execute("delete", to_string=True)
        end_program()

    def test_stepping(self) -> None:
        """gdb tells of the signal, and the program goes on where it was: with SIGTRAP it would come
        to main again, or gdb would not stop."""
        gdb.execute("set confirm off")
        gdb.execute("file " + os.path.join(PROGRAMS, "stepping"), to_string=True)
        gdb.execute("tbreak main", to_string=True)
        gdb.execute("run </dev/null >/dev/null 2>&1", to_string=True)
        gdb.execute("break here if 0", to_string=True)
        gdb.execute("break again", to_string=True)
        with running.handled(stops.WAKE, "stop print nopass"):
            for _ in range(TIMES):
                # It comes while the program runs.
                kill = subprocess.Popen(["sh", "-c", "sleep 0.02; kill -s %s %d" % (
                    stops.WAKE[3:], gdb.selected_inferior().pid)])
                gdb.execute("continue", to_string=True)
                self.assertEqual((kill.wait(), stops.was_woken()), (0, True))
