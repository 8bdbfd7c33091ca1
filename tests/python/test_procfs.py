"""What the kernel says of processes."""

import os
import subprocess
import time
import unittest

from mpi_queues import procfs


class StatTest(unittest.TestCase):
    """Fields of /proc/PID/stat."""

    def test_fields(self) -> None:
        before = time.clock_gettime(time.CLOCK_BOOTTIME)
        with subprocess.Popen(["sh", "-c", "kill -STOP $$"]) as child:
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
            fields = procfs.stat(child.pid)
            after = time.clock_gettime(time.CLOCK_BOOTTIME)
            child.kill()
        self.assertEqual(fields[procfs.STATE], b"T")
        ticks = os.sysconf("SC_CLK_TCK")
        began = int(fields[procfs.START_TIME]) / ticks
        self.assertTrue(before - 1 / ticks <= began <= after, (before, began, after))

    def test_any_name(self) -> None:
        name = "/proc/self/comm"
        with open(name) as file:
            before = file.read().strip()
        try:
            with open(name, "w") as file:
                file.write("a) Z 1 (b")
            self.assertIn(procfs.stat(os.getpid())[procfs.STATE], (b"R", b"S"))
        finally:
            with open(name, "w") as file:
                file.write(before)

    def test_nobody(self) -> None:
        self.assertEqual(procfs.stat(1 << 30), [])
