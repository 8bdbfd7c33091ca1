"""`mpi-detach', after all kinds of events."""

from typing import List, Optional

import gdb
import test_jobs
from harness import end_program, run_program
from mpi_queues import inferiors


class DetachTest(test_jobs.JobTest):
    """mpi-detach."""

    def attach(self, count: int) -> List[int]:
        """Attaches to processes; returns their ids."""
        pids = self.start(count)
        self.job(pids)
        self.command("mpi-attach 4711")
        return pids

    def number(self, pid: int) -> int:
        """Returns the inferior of a process."""
        return next(number for number, its in self.inferiors() if its == pid)

    def test_gone(self) -> None:
        """One was killed, one detached, one removed, one runs another process, by hand."""
        pids = self.attach(6)
        other = self.start(1)[0]
        numbers = [self.number(pid) for pid in pids]
        gdb.execute("set confirm off")
        gdb.execute("inferior %d" % numbers[5], to_string=True)
        gdb.execute("kill inferiors %d" % numbers[1], to_string=True)
        gdb.execute("detach inferiors %d" % numbers[2], to_string=True)
        gdb.execute("detach inferiors %d" % numbers[3], to_string=True)
        gdb.execute("remove-inferiors %d" % numbers[3], to_string=True)
        gdb.execute("inferior %d" % numbers[4], to_string=True)
        gdb.execute("detach", to_string=True)
        gdb.execute("attach %d" % other, to_string=True)
        self.assertEqual(self.command("mpi-detach"),
                         "Detached 2 processes, which go on running.\n"
                         "4 processes were not attached any more.\n")
        self.assertEqual(self.inferiors(), [(numbers[0], 0), (numbers[4], other)])
        self.assertEqual(gdb.selected_inferior().pid, other)
        self.assert_running(pids[0], *pids[2:])

    def test_times(self) -> None:
        """How long each was attached is told to who debugs this."""
        pids = self.attach(2)
        gdb.execute("set mpi-queues debug on")
        try:
            told = self.command("mpi-detach")
        finally:
            gdb.execute("set mpi-queues debug off")
        for pid in pids:
            self.assertRegex(told, r"\[mpi-queues\] inferior \d+ \(process %d\) was attached for "
                                   r"\d+\.\d{3} s\." % pid)
        self.assertRegex(told, r"The longest was \d+\.\d{3} s\.")

    def test_only_ours(self) -> None:
        """The inferior that was there is gone: one that was added stays in its place."""
        pids = self.attach(2)
        first, second = self.number(pids[0]), self.number(pids[1])
        gdb.execute("set confirm off")
        gdb.execute("detach inferiors %d" % first, to_string=True)
        gdb.execute("inferior %d" % second, to_string=True)
        gdb.execute("remove-inferiors %d" % first, to_string=True)
        self.command("mpi-detach")
        self.assertEqual(self.inferiors(), [(second, 0)])
        self.assertIsNone(gdb.current_progspace().filename)
        self.assert_running(*pids)

    def test_selection(self) -> None:
        """A process of the user's stays selected, with its frame."""
        run_program("plain")
        mine = gdb.selected_inferior().num
        self.before = test_jobs.settings()
        pids = self.start(2)
        self.job(pids)
        self.command("mpi-attach 4711")
        self.assertEqual(gdb.selected_inferior().pid, pids[0])
        gdb.execute("inferior %d" % mine, to_string=True)
        gdb.execute("up", to_string=True)
        frame = gdb.selected_frame()
        self.command("mpi-detach")
        self.assertEqual((gdb.selected_inferior().num, gdb.selected_frame()), (mine, frame))
        self.command("mpi-attach 4711")
        self.command("mpi-detach")
        self.assertEqual(gdb.selected_inferior().num, mine)
        end_program()

    def test_running(self) -> None:
        """Processes that were let go on by the user."""
        pids = self.attach(3)
        gdb.execute("continue &", to_string=True)
        gdb.execute("inferior %d" % self.number(pids[1]), to_string=True)
        self.command("mpi-detach")
        self.assertEqual([pid for _, pid in self.inferiors()], [0])
        self.assert_running(*pids)

    def test_breakpoints(self) -> None:
        """None of the user's stays in the programs."""
        pids = self.start(2)
        self.job(pids)
        gdb.execute("set breakpoint always-inserted on")
        try:
            self.command("mpi-attach 4711")
            address = int(gdb.parse_and_eval("(long)&'clock_nanosleep'"))

            def code(pid: int) -> bytes:
                with open("/proc/%d/mem" % pid, "rb") as memory:
                    memory.seek(address)
                    return memory.read(1)

            gdb.execute("break *%d" % address, to_string=True)
            self.assertEqual(code(pids[0]), b"\xcc")
            self.command("mpi-detach")
            self.assertNotEqual(code(pids[0]), b"\xcc")
        finally:
            gdb.execute("delete")
            gdb.execute("set breakpoint always-inserted off")
        self.assert_running(*pids)

    def test_refused(self) -> None:
        """What can't be detached stays, and can be detached later."""
        pids = self.attach(3)
        detach = inferiors.detach

        def failing(number: int) -> Optional[str]:
            return "ptrace: No." if number == self.number(pids[1]) else detach(number)

        setattr(inferiors, "detach", failing)
        try:
            shown = self.command("mpi-detach")
        finally:
            setattr(inferiors, "detach", detach)
        self.assertIn("Detached 2 processes", shown)
        self.assertIn("\nInferior %d could not be detached: ptrace: No.\n" % self.number(pids[1]),
                      shown)
        self.assertIn(pids[1], [pid for _, pid in self.inferiors()])
        self.assertEqual(self.command("mpi-detach"), "Detached 1 process, which goes on running.\n")
        self.assert_running(*pids)
