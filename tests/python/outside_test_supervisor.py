"""The end of a gdb that has started a job."""

import unittest

from outside_test_gdbinit import GDBINIT, run_gdb

# next() calls interrupt_main(), so that no line of Python runs between it and the next handler.
INTERRUPT = "python import _thread, functools; " \
    "gdb.events.gdb_exiting.connect(functools.partial(next, iter(_thread.interrupt_main, 1)))"
JOB = """
from mpi_queues import supervisor
class Job:
    def end_with_gdb(self):
        print("the job is ended: %s" % supervisor._is_exiting)
job = Job()
supervisor._all.add(job)
"""


class ExitTest(unittest.TestCase):
    """What gdb does with the job when it ends."""

    def test_interrupted(self) -> None:
        """SIGTERM also interrupts whatever Python runs next."""
        has_event = "python print(hasattr(gdb.events, 'gdb_exiting'))"
        if run_gdb(has_event) != "True\n":
            self.skipTest("this gdb does not say that it ends")
        job = "python exec(%r)" % JOB
        shown = run_gdb("source " + GDBINIT, job)
        self.assertEqual(shown, "the job is ended: True\n")
        shown = run_gdb(INTERRUPT, "source " + GDBINIT, job)
        self.assertIn("KeyboardInterrupt", shown)
        self.assertIn("the job is ended: True\n", shown)
