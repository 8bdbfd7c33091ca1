"""`mpi-attach' to ranks of other machines, whose part this one plays."""

import os
import signal
import threading
import time
from typing import Any, Dict, List

import gdb
from harness import HERE
from mpi_queues import fatal, inferiors, jobs, nodes, procfs, stops
from mpi_queues.targets import kind_of
from test_jobs import JobTest, rank_of

LINE = "gdbserver --multi --once -"
LOST = "The connection with its machine has ended."


class NodesTest(JobTest):
    """Ranks of node1 are reached through a gdbserver of this machine."""

    def job(self, pids: List[Any], named: int = 0, **more: Any) -> Dict[str, Any]:
        """Has the helper say that node1 can be reached."""
        node = {"host": "node1", "line": LINE, "failure": ""}
        return super().job(pids, named, **dict({"nodes": [node]}, **more))

    def far(self, pids: List[int], first: int = 0) -> List[Any]:
        """Returns processes as ranks of node1, in order."""
        return [self.rank(pid, first + n, "node1") for n, pid in enumerate(pids)]

    def by_pid(self, pid: int) -> gdb.Inferior:
        """Returns the inferior of a process."""
        return next(inferior for inferior in gdb.inferiors() if inferior.pid == pid)

    def assert_gone(self) -> None:
        """Checks that nothing is left of connections."""
        self.assertEqual(str(gdb.parameter("sysroot")), "target:")
        self.assertEqual(gdb.parameter("remotetimeout"), 2)
        self.assertIn("auto", gdb.execute("maint show target-non-stop", to_string=True))
        self.assertFalse([i.num for i in gdb.inferiors() if kind_of(i) == "remote"])
        names = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                fields = procfs.stat(int(name))
                if fields and int(fields[procfs.PARENT]) == os.getpid():
                    with open("/proc/%s/cmdline" % name, "rb") as file:
                        names.append(file.read())
        self.assertFalse([name for name in names if b"gdbserver" in name])

    def test_both(self) -> None:
        pids = self.start(4)
        ranks = [self.rank(pids[0], 0), *self.far(pids[1:3], 1), self.rank(pids[3], 3)]
        self.job(ranks)
        shown = self.command("mpi-attach 4711")
        self.assertIn("Attached 4 ranks of mpirun (process 4711): inferiors ", shown)
        self.assertIn("are ranks 0-3.\nRanks 1-2 are on node1.\n", shown)
        self.assertEqual([kind_of(self.by_pid(pid)) for pid in pids],
                         ["live", "remote", "remote", "live"])
        self.assertEqual([rank_of(pid) for pid in pids], [0, 1, 2, 3])
        self.assertEqual([jobs.host_of(self.by_pid(pid)) for pid in pids],
                         ["", "node1", "node1", ""])
        numbers = [self.by_pid(pid).num for pid in pids]
        self.assertEqual(numbers, sorted(numbers))
        for pid in pids:
            self.assertFalse([t for t in self.by_pid(pid).threads() if t.is_running()])
        self.assertFalse(jobs.absent())
        self.assertIn("4 ranks of mpirun (process 4711) were attached before",
                      self.command("mpi-attach 4711"))
        self.assertIn("Detached 4 processes", self.command("mpi-detach"))
        self.assert_running(*pids)
        self.assert_gone()

    def test_no_look_at_this_machine(self) -> None:
        """The process id of a rank elsewhere is none of this machine's."""
        pids = self.start(2)
        self.job(self.far(pids))
        asked: List[int] = []
        stat, status = procfs.stat, procfs._status

        def stat_seen(pid: int) -> List[bytes]:
            asked.append(pid)
            return stat(pid)

        def status_seen(pid: int, name: str, most: int) -> List[str]:
            asked.append(pid)
            return status(pid, name, most)

        setattr(procfs, "stat", stat_seen)
        setattr(procfs, "_status", status_seen)
        try:
            self.command("mpi-attach 4711")
            gone = [self.by_pid(pid) for pid in pids]
            self.command("mpi-detach")
        finally:
            setattr(procfs, "stat", stat)
            setattr(procfs, "_status", status)
        self.assertFalse(set(asked) & set(pids))
        self.assertFalse([i for i in gone if i.is_valid() and i.num in stops._exits])
        self.assert_running(*pids)
        self.assert_gone()

    def test_one_number_twice(self) -> None:
        """Of two machines' processes with one number, each is its own."""
        pid, other = self.start(2)
        self.job([self.rank(pid, 0), *self.far([other, pid], 1)], pid)
        self.assertIn("Attached 2 ranks", self.command("mpi-attach -ranks 1-2 4711"))
        # The rank of this machine that is meant is not attached.
        self.assertEqual(gdb.selected_inferior().pid, other)
        here, = [rank for rank in jobs.absent() if rank["pid"] == pid]
        self.assertEqual((here["rank"], here["host"]), (0, ""))
        self.assertEqual(rank_of(pid), 2)
        shown = self.command("mpi-attach 4711")
        self.assertRegex(shown, r"2 ranks .*were attached before: inferiors? \d+")
        self.assertRegex(shown, r"Rank 0 \(process \d+\) could not be attached: ")
        self.command("mpi-detach")
        self.assert_running(pid, other)
        self.assert_gone()

    def test_cut_off(self) -> None:
        """Of a process whose connection is lost it is not said that it has ended, though there is
        none of its number here."""
        pid, = self.start(1)
        self.job(self.far([pid]))
        self.command("mpi-attach 4711")
        number = self.by_pid(pid).num
        has_ended = procfs.has_ended
        setattr(procfs, "has_ended", lambda pid: True)
        try:
            gdb.execute("disconnect", to_string=True)
        finally:
            setattr(procfs, "has_ended", has_ended)
        self.assertNotIn(number, stops._exits)
        self.assertEqual([rank["host"] for rank in jobs.absent()], [])
        self.assert_running(pid)
        self.assertIn("1 process was not attached any more", self.command("mpi-detach"))
        self.assert_gone()

    def test_ended(self) -> None:
        """How a rank elsewhere has ended is that rank's, and not that of a number."""
        pid, = self.start(1)
        self.job(self.far([pid]))
        self.command("mpi-attach 4711")
        rank, = jobs.of_inferior(self.by_pid(pid)).ranks  # type: ignore[union-attr]
        self.assertIn("exited", self.fails("call (void)_exit(3)"))
        gone = stops.exit_of_rank(rank)
        assert gone is not None
        self.assertEqual((gone.rank, gone.code, gone.host), (0, 3, "node1"))
        self.assertIsNone(stops.exit_of_rank(dict(rank, host="node2")))  # type: ignore[arg-type]
        self.assertIsNone(stops.exit_of_process(pid))
        self.command("mpi-detach")
        self.assert_gone()

    def test_signal(self) -> None:
        """Whether a rank elsewhere has sent itself a signal is not known where its number in its
        own namespace is not."""
        pid, = self.start(1)
        self.job(self.far([pid]))
        self.command("mpi-attach 4711")
        os.kill(pid, signal.SIGABRT)
        gdb.execute("continue", to_string=True)
        told = fatal.signal_of(gdb.selected_inferior(), "remote")
        assert told is not None
        self.assertEqual((told["name"], told["own"], told["handled"]), ("SIGABRT", None, None))
        self.command("mpi-detach")  # which lets the signal go on, too
        self.assert_gone()

    def test_shared(self) -> None:
        """A connection stays that another inferior has a process by."""
        pids = self.start(2)
        self.job(self.far(pids[:1]))
        self.command("mpi-attach 4711")
        gdb.execute("add-inferior", to_string=True)
        number = max(inferior.num for inferior in gdb.inferiors())
        gdb.execute("inferior %d" % number, to_string=True)
        gdb.execute("attach %d" % pids[1], to_string=True)
        self.assertIn("Detached 1 process", self.command("mpi-detach"))
        self.assertEqual(self.by_pid(pids[1]).num, number)
        self.assertTrue(self.by_pid(pids[1]).threads())
        self.assert_running(pids[0])
        gdb.execute("detach inferiors %d" % number, to_string=True)
        nodes.disconnect(number)
        nodes.end()
        self.assert_running(*pids)
        self.assert_gone()

    def test_files_of_here(self) -> None:
        """Files are found where they were before, for ranks of this machine, too."""
        pids = self.start(2)
        roots: List[str] = []
        attach_one = inferiors.attach

        def seen(number: int, pid: int, in_background: bool) -> str:
            roots.append(str(gdb.parameter("sysroot")))
            return attach_one(number, pid)

        there, = self.far(pids[1:], 1)
        self.job([there])
        self.assertIn("(not all of them have build ids)", self.command("mpi-attach 4711"))
        ids = [objfile.build_id for objfile in gdb.objfiles()
               if not objfile.owner and "/" in str(objfile.filename)]
        self.command("mpi-detach")
        self.job([self.rank(pids[0], 0), dict(there, image=0)], images=[{"build_ids": ids}])
        setattr(inferiors, "attach", seen)
        try:
            shown = self.command("mpi-attach 4711")
        finally:
            setattr(inferiors, "attach", attach_one)
        self.assertNotIn("build ids", shown)
        self.assertEqual(roots, ["target:"])
        gdb.execute("inferior %d" % self.by_pid(pids[1]).num, to_string=True)
        self.assertFalse([o for o in gdb.objfiles() if str(o.filename).startswith("target:")])
        self.command("mpi-detach")
        self.assert_running(*pids)
        self.assert_gone()

    def test_many(self) -> None:
        self.job(self.far(list(range(1000000, 1000000 + nodes.MOST + 1))))
        self.assertIn("65 ranks would be attached, of which some are on other machines, and one"
                      " gdb takes 64", self.fails("mpi-attach 4711"))
        pid, = self.start(1)
        self.job(self.far([pid] + list(range(1000000, 1000000 + nodes.MOST))))
        self.assertIn("Attached 1 rank", self.command("mpi-attach -ranks 0 4711"))
        self.command("mpi-detach")
        self.assert_gone()

    def test_lost_at_the_end(self) -> None:
        """That a connection has ended is noticed without another rank's need of it."""
        pids = self.start(2)
        self.job([self.rank(pids[0], 0), *self.far([pids[1], 1 << 30], 1)])
        exits = dict(stops._exits)
        shown = self.command("mpi-attach 4711")
        self.assertIn("Cannot attach to process %d: No such process" % (1 << 30), shown)
        if LOST in shown:
            self.assertIn("Attached 1 rank of", shown)
            self.assertIn("Rank 1 could not be attached: " + LOST, shown)
            self.assert_running(pids[1])
        else:
            self.assertIn("Attached 2 ranks of", shown)
            self.assertTrue(self.by_pid(pids[1]).threads())
        self.assertEqual(stops._exits, exits)
        self.command("mpi-detach")
        self.assert_running(*pids)
        self.assert_gone()

    def test_lost(self) -> None:
        """gdbserver ends where it can't attach, and lets go of all. Newer ones (16.3) do not."""
        pids = self.start(2)
        self.job(self.far([pids[0], 1 << 30, pids[1]]))
        shown = self.command("mpi-attach 4711")
        self.assertIn("Cannot attach to process %d: No such process" % (1 << 30), shown)
        if LOST in shown:
            self.assertIn("Attached 1 rank of", shown)
            self.assertIn("Rank 0 could not be attached: " + LOST, shown)
            self.assert_running(pids[0])
        else:
            self.assertIn("Attached 2 ranks of", shown)
            self.assertTrue(self.by_pid(pids[0]).threads())
        self.command("mpi-detach")
        self.assert_running(*pids)
        self.assert_gone()

    def unstopped(self) -> str:
        """Has node1 be one that never reports a stop. Returns the path of a file that is there once
        it should have."""
        pids = self.start(2)
        mark = os.path.join(self.folder, "mark")
        line = "python3 %s %s" % (os.path.join(HERE, "unstopped.py"), mark)
        self.job([self.rank(pids[0], 0), *self.far(pids[1:], 1)],
                 nodes=[{"host": "node1", "line": line, "failure": ""}])
        return mark

    def test_no_stop(self) -> None:
        """gdb waits for a stop without a limit."""
        self.unstopped()
        seconds = nodes._SECONDS
        setattr(nodes, "_SECONDS", 1)
        try:
            shown = self.command("mpi-attach 4711")
        finally:
            setattr(nodes, "_SECONDS", seconds)
        self.assertIn("Attached 1 rank of", shown)
        self.assertIn("could not be attached: gdbserver did not report its stop within 1 s.", shown)
        self.command("mpi-detach")
        self.assert_gone()

    def test_interrupted_without_stop(self) -> None:
        mark = self.unstopped()

        def interrupt() -> None:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is for gdb's thread
            while not os.path.exists(mark):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        self.assertEqual(self.fails("mpi-attach 4711"), "Quit")
        self.assert_gone()

    def test_unreached(self) -> None:
        pid, = self.start(1)
        node = {"host": "node1", "failure": ""}
        for line, reason in (("echo no way >&2; exit 3", "no way."), ("exit 3", "")):
            self.job([self.rank(pid, 0)] + self.far([77, 78], 1), nodes=[dict(node, line=line)])
            shown = self.command("mpi-attach 4711")
            self.assertIn("Attached 1 rank of", shown)
            self.assertIn("Ranks 1-2 could not be attached: " + reason, shown)
            self.command("mpi-detach")
            self.assert_running(pid)
            self.assert_gone()
        self.job([self.rank(pid, 0)] + self.far([77], 2), nodes=[
            dict(node, line="", failure="no answer came within 1m"),
            dict(node, host="node2", line="", failure="it is\x1b gone.")], not_asked="they hide.")
        shown = self.command("mpi-attach 4711")
        self.assertIn("The ranks on node2 are not known: it is", shown)
        self.assertIn("Other machines were not asked: they hide.", shown)
        self.assertNotIn("\x1b", shown)
        self.command("mpi-detach")

    def test_beside_others(self) -> None:
        """gdb can't be made to wait for several targets while it has a process."""
        pids = self.start(2)
        self.job([pids[0]])
        self.command("mpi-attach 4711")
        self.job([self.rank(pids[0], 0)] + self.far(pids[1:], 1))
        self.assertIn("only before it has any process", self.fails("mpi-attach 4711"))
        self.command("mpi-detach")
        self.assert_running(*pids)

    def test_options(self) -> None:
        for words, reason in (("-ranks 0 -partners 4711", "name one."), ("-ranks x 4711", "rank"),
                              ("-ranks 8 4711", "Unknown rank 8."), ("1 2", "Junk")):
            self.job(self.far([77]))
            self.assertIn(reason, self.fails("mpi-attach " + words))
