"""`mpi-attach': processes become inferiors, and go on afterwards."""

import os
import signal
import subprocess
import time
import unittest.mock
from typing import Any, Dict, List, Tuple

import gdb
from harness import HelperTest, PROGRAMS, end_program, takes_several
from mpi_queues import attaching, inferiors, jobs, link, procfs
from mpi_queues.targets import kind_of

SETTINGS = ("confirm", "pagination", "suppress-cli-notifications", "debuginfod enabled",
            "language", "height", "width", "non-stop", "schedule-multiple")


REQUEST = {"far": True, "hosts": [], "via": "", "culprits": False}


def settings() -> Dict[str, Any]:
    """Returns what a user has set."""
    found: Dict[str, Any] = {}
    for name in SETTINGS:
        try:
            found[name] = gdb.parameter(name)
        except RuntimeError:  # not in this gdb
            pass
    return found


def state(pid: int) -> str:
    """Returns the state of a process: "S", "t" while it is traced, "T" if it is stopped, "Z"."""
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rpartition(")")[2].split()[0]


def rank_of(pid: int) -> Any:
    """Returns the rank of a process of this machine that was attached."""
    found = [jobs.rank_of(i, kind_of(i)) for i in gdb.inferiors() if i.pid == pid]
    return found[0] if found else None


class JobTest(HelperTest):
    """A test with processes that play ranks."""

    def setUp(self) -> None:
        super().setUp()
        if not takes_several():
            self.skipTest("cuda-gdb 11.8 crashes of several programs, with or without mpi-queues")
        end_program()
        self.processes: List[Any] = []
        # A user's, who has changed nothing, but for what would ask here.
        gdb.execute("set confirm on")
        self.before = settings()

    def tearDown(self) -> None:
        super().tearDown()
        gdb.execute("set confirm off")
        for inferior in gdb.inferiors():
            if inferior.pid:
                gdb.execute("detach inferiors %d" % inferior.num, to_string=True)
        jobs._attached.clear()
        jobs._jobs.clear()
        numbers = [inferior.num for inferior in gdb.inferiors()]
        gdb.execute("inferior %d" % numbers[0], to_string=True)
        gdb.execute("file", to_string=True)
        for number in numbers[1:]:
            gdb.execute("remove-inferiors %d" % number, to_string=True)
        for process in self.processes:
            process.kill()
            process.wait()

    def start(self, count: int) -> List[int]:
        """Starts processes; returns their ids."""
        for _ in range(count):
            self.processes.append(subprocess.Popen(
                ["/bin/sleep", "1000"], stdin=subprocess.DEVNULL, start_new_session=True))
        return [process.pid for process in self.processes[-count:]]

    def job(self, pids: List[Any], named: int = 0, **more: Any) -> Dict[str, Any]:
        """Has the helper say that processes are the ranks from 0 on, or as they say themselves."""
        ranks = [self.rank(p, index) if isinstance(p, int) else p for index, p in enumerate(pids)]
        found = dict({"launcher": 4711, "name": "mpirun", "size": len(ranks), "ranks": ranks,
                      "self": named, "others": None, "aborting": None, "nodes": None,
                      "culprits": None, "images": None, "not_asked": ""}, **more)
        self.fake("good", ranks=found)
        return found

    def rank(self, pid: int, rank: Any = None, host: str = "", exited: bool = False,
             obstacle: str = "") -> Any:
        """Returns a rank as the helper says it."""
        return {"rank": rank, "pid": pid, "host": host, "executable": "/bin/sleep",
                "exited": exited, "exit_code": None, "signal": "", "obstacle": obstacle,
                "image": None}

    def inferiors(self) -> List[Tuple[int, int]]:
        """Returns the inferiors, with their processes."""
        return sorted((inferior.num, inferior.pid) for inferior in gdb.inferiors())

    def assert_running(self, *pids: int) -> None:
        """Checks that processes are neither stopped nor traced nor gone."""
        for pid in pids:
            self.assertIn(state(pid), "RS", pid)

    def assert_settled(self) -> None:
        """Checks that a command has left the settings as they were."""
        self.assertEqual(settings(), self.before)


class AttachTest(JobTest):
    """mpi-attach."""

    def test_jobs(self) -> None:
        first = gdb.selected_inferior().num
        pids = self.start(3)
        # In the order of ranks, whatever order they are told in.
        self.job([self.rank(pids[2], 2), self.rank(pids[0], 0), self.rank(pids[1], 1)])
        shown = self.command("mpi-attach 4711")
        self.assertEqual(self.request(), dict(REQUEST, pid=4711))
        second = max(number for number, _ in self.inferiors()) - 1
        self.assertEqual(self.inferiors(),
                         [(first, pids[0]), (second, pids[1]), (second + 1, pids[2])])
        self.assertIn("Attached 3 ranks of mpirun (process 4711): inferior", shown)
        self.assertIn("%d are ranks " % (second + 1), shown)
        self.assertEqual(shown.count("\n"), 1)
        self.assertEqual(gdb.selected_inferior().num, first)
        self.assertEqual([state(pid) for pid in pids], ["t"] * 3)
        self.assert_settled()
        for inferior in gdb.inferiors():
            self.assertFalse(any(thread.is_running() for thread in inferior.threads()))
        self.assertEqual(self.command("mpi-detach"),
                         "Detached 3 processes, which go on running.\n")
        self.assertEqual(self.inferiors(), [(first, 0)])
        self.assertIsNone(gdb.current_progspace().filename)
        self.assert_running(*pids)
        self.assert_settled()
        self.assertIn("nothing to detach", self.fails("mpi-detach"))

    def test_rank_named(self) -> None:
        """The rank that was asked for is selected; without an argument it is the current one."""
        pids = self.start(3)
        self.job(pids, pids[1])
        self.command("mpi-attach %#x" % pids[1])
        self.assertEqual(self.request(), dict(REQUEST, pid=pids[1]))
        self.assertEqual(gdb.selected_inferior().pid, pids[1])
        shown = self.command("mpi-attach")
        self.assertEqual(self.request(), dict(REQUEST, pid=pids[1]))
        self.assertRegex(shown, r"\A3 ranks of mpirun \(process 4711\) were attached before: "
                                r"inferior.*0-?.*\.\n\Z")
        self.assertEqual(gdb.selected_inferior().pid, pids[1])
        self.assertEqual(len(self.inferiors()), 3)

    def test_inferiors_there(self) -> None:
        """A program and a process of the user's stay, and ranks that are inferiors."""
        first = gdb.selected_inferior().num
        pids = self.start(3)
        gdb.execute("attach %d" % pids[1], to_string=True)
        gdb.execute("add-inferior -no-connection", to_string=True)
        second = max(number for number, _ in self.inferiors())
        gdb.execute("inferior %d" % second, to_string=True)
        gdb.execute("file " + os.path.join(PROGRAMS, "plain"), to_string=True)
        self.job(pids)
        shown = self.command("mpi-attach 4711")
        self.assertIn("Attached 2 ranks of", shown)
        self.assertIn("\n1 rank was attached before: inferior %d is rank 1." % first, shown)
        numbers = dict(self.inferiors())
        self.assertEqual((numbers[first], numbers[second], len(numbers)), (pids[1], 0, 4))
        self.assertEqual(gdb.selected_inferior().pid, pids[0])
        self.assertIn("Detached 2 processes", self.command("mpi-detach"))
        self.assertEqual(self.inferiors(), [(first, pids[1]), (second, 0)])
        self.assertEqual(gdb.selected_inferior().num, second)
        self.assertEqual(os.path.basename(gdb.current_progspace().filename or ""), "plain")
        self.assert_running(pids[0], pids[2])

    def test_several_jobs(self) -> None:
        pids = self.start(4)
        self.job(pids[:2])
        self.command("mpi-attach 4711")
        self.job(pids[2:], launcher=4712, name="", others=None)
        self.assertIn("of the launcher (process 4712)", self.command("mpi-attach 4712"))
        self.assertEqual([rank_of(pid) for pid in pids], [0, 1, 0, 1])
        self.assertIn("Detached 4 processes", self.command("mpi-detach"))

    def test_another_process_of_the_same_id(self) -> None:
        pids = self.start(1)
        self.job([self.rank(pids[0], 5)])
        self.command("mpi-attach 4711")
        self.assertEqual(rank_of(pids[0]), 5)
        beginning = jobs._beginning
        setattr(jobs, "_beginning", lambda pid: b"another time")
        try:
            self.assertIsNone(rank_of(pids[0]))
        finally:
            setattr(jobs, "_beginning", beginning)

    def test_who_can_not_be_attached(self) -> None:
        """The others are, and each reason is said once."""
        pids = self.start(3)
        dead = self.start(2)
        for process in self.processes[3:]:
            process.kill()
            process.wait()
        self.job([pids[0], dead[0], pids[1], dead[1], os.getpid(), 0, pids[2]])
        shown = self.command("mpi-attach 4711")
        self.assertIn("Attached 3 ranks", shown)
        for line in ("Ranks 1, 3 could not be attached: its process is not there any more.\n",
                     "Rank 4 (process %d) could not be attached: it is this gdb.\n" % os.getpid(),
                     "Rank 5 (a process) could not be attached: its process id is not known.\n"):
            self.assertIn(line, shown)
        self.assertEqual(sorted(pid for _, pid in self.inferiors()), sorted(pids))

    def test_who_is_not_trusted(self) -> None:
        """A launcher of another user's says that a process is its rank."""
        pids = self.start(2)
        reason = "process 1 (x) is not taken for rank 0"
        self.job([self.rank(pids[0], 0, obstacle=reason), pids[1]])
        shown = self.command("mpi-attach 4711")
        self.assertIn("Rank 0 (process %d) could not be attached: %s.\n" % (pids[0], reason), shown)
        self.assertEqual([pid for _, pid in self.inferiors()], [pids[1]])

    def test_nobody_can_be_attached(self) -> None:
        first = gdb.selected_inferior().num
        self.job([1 << 22, os.getpid()])
        message = self.fails("mpi-attach 4711")
        self.assertIn("Rank 0 (process 4194304) could not be attached: its process is not there"
                      " any more.\nRank 1 (process %d) could not" % os.getpid(), message)
        self.assertEqual(self.inferiors(), [(first, 0)])
        self.assertIsNone(gdb.current_progspace().filename)
        self.assert_settled()
        self.job([])
        self.assertEqual(self.fails("mpi-attach 4711"),
                         "No rank of mpirun (process 4711) runs on this machine.")

    def test_the_helper_itself(self) -> None:
        self.job([])
        self.fails("mpi-attach 4711")
        helper = link.LINK.pid()
        self.assertIn("belongs to mpi-queues", inferiors.obstacle(helper))
        self.assertEqual(inferiors.obstacle(os.getppid()), "")

    def test_a_rank_that_sleeps(self) -> None:
        """gdb never gets to see a process that can't stop: a rank that has gone to such a sleep
        since the job was found is left alone, without a signal, and the others are attached."""
        pids = self.start(1)
        sleeper = self.asleep()
        self.job([sleeper, pids[0]])
        shown = self.command("mpi-attach 4711")
        self.assertIn("Rank 0 (process %d) could not be attached: it can't be stopped: thread %d"
                      " has been in uninterruptible sleep for 1 second.\n" % (sleeper, sleeper),
                      shown)
        self.assertEqual([pid for _, pid in self.inferiors()], pids)
        with open("/proc/%d/status" % sleeper) as status:
            lines = dict(line.split(":", 1) for line in status)
        self.assertEqual([int(lines[name], 16) for name in ("SigPnd", "ShdPnd")], [0, 0])
        self.assertEqual(int(lines["TracerPid"]), 0)

    def test_a_rank_that_reads_a_disk(self) -> None:
        """A rank that is met in one short sleep after another is attached."""
        pids = self.start(1)
        self.job(pids)
        sleeps = [{pids[0]: (b"4711", b"%d" % switches)} for switches in (1, 1, 2)]
        with unittest.mock.patch.object(procfs, "asleep", lambda pid: sleeps.pop(0)):
            self.assertIn("Attached 1 rank", self.command("mpi-attach 4711"))
        self.assertEqual(sleeps, [])

    def asleep(self) -> int:
        """Starts a process that no signal wakes: its child shares its memory, and ends later."""
        script = "import ctypes, time\nctypes.CDLL(None).vfork() or time.sleep(3600)"
        process = subprocess.Popen(["python3", "-c", script])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        child = ""
        while not child or not procfs.asleep(process.pid):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
            with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as children:
                child = children.read()
        self.addCleanup(os.kill, int(child), signal.SIGKILL)
        return process.pid

    def test_gdb_refuses(self) -> None:
        """gdb's own reason is said, and its inferior is used for the next one."""
        pids = self.start(2)
        thread = self.start(1)[0]
        tracer = subprocess.Popen([os.environ["TEST_GDB"], "-nx", "-q", "-p", str(thread)],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        while state(thread) != "t":
            time.sleep(0.01)
        try:
            self.job([pids[0], thread, pids[1]])
            shown = self.command("mpi-attach 4711")
        finally:
            assert tracer.stdin
            tracer.stdin.close()
            tracer.wait()
        self.assertIn("Attached 2 ranks", shown)
        self.assertRegex(shown, r"\nRank 1 \(process %d\) could not be attached: .*permitted"
                         % thread)
        self.assertEqual(sorted(pid for _, pid in self.inferiors()), sorted(pids))

    def test_scope(self) -> None:
        """Who may not trace is told what the kernel's setting leaves him."""
        for scope, has, lacks in (
                ("1", "is 1: use sudo, allow it", "stays so"),
                ("1", ", or put `mpi-queues rank --'", "stays so"),
                ("2", "is 2: use sudo, or allow it", "mpi-run"),
                ("3", "is 3: it stays so until the next boot.", "sudo")):
            told, = attaching._told_of_scope(scope)
            self.assertIn(has, told)
            self.assertNotIn(lacks, told)
        self.assertEqual(attaching._told_of_scope(""), [])

    def test_elsewhere(self) -> None:
        pids = self.start(1)
        away = [self.rank(5, n, "node%d" % (n % 2)) for n in range(1, 6)]
        self.job([pids[0]] + away + [self.rank(7, 6, exited=True)], others=[77, 78])
        shown = self.command("mpi-attach 4711").splitlines()
        self.assertEqual(shown[1:], [
            "Rank 6 (process 7) has exited.",
            "Ranks 1, 3, 5 are on node1, ranks 2, 4 are on node0: `mpi-attach -hosts HOSTS -via"
            " COMMAND' reaches them, as `mpi-queues report' does.",
            "The launcher has started 2 processes besides (77-78), as MPI_Comm_spawn does:"
            " `mpi-attach 77' attaches to that job."])
        self.command("mpi-detach")
        self.job([self.rank(pids[0], 3)], size=8)
        self.assertIn("\nRanks 0-2, 4-7 of 8 are not on this machine: `mpi-attach -hosts",
                      self.command("mpi-attach 4711"))

    def test_nonsense(self) -> None:
        pids = self.start(2)
        strange = [self.rank(pids[0], -5), self.rank(pids[0], 1), self.rank(pids[1], 1 << 40),
                   self.rank(-1, 7), self.rank(1 << 40, 8), self.rank(5, 9, "a\x1b[31m\nb" * 99),
                   self.rank(5, None, "c")]
        self.job(strange, -7, launcher=-3, name="\x1b[31m" + "x" * 1000, size=-1,
                 others=[-1, 0, 1 << 50])
        shown = self.command("mpi-attach 4711")
        self.assertNotIn("\x1b", shown)
        self.assertLess(len(shown), 2000)
        self.assertIn("Attached 2 ranks: ", shown)
        self.assertEqual(sorted(pid for _, pid in self.inferiors()), sorted(pids))
        self.assertEqual([rank_of(pid) for pid in pids], [None, None])
        answers: List[Any] = [
            None, 5, {}, dict(self.job(pids), ranks=[5]), dict(self.job(pids), launcher=None),
            dict(self.job(pids), ranks=[{"rank": "x"}])]
        for wrong in answers:
            self.fake("good", ranks=wrong)
            self.assertIn("answered with nonsense", self.fails("mpi-attach 4711"))

    def test_many(self) -> None:
        def attach_to(count: int) -> str:
            self.job([self.rank((1 << 22) + n, n, "" if n % 2 else "node") for n in range(count)])
            return self.fails("mpi-attach 4711")

        self.assert_linear(attach_to, 200)
        message = attach_to(2000)
        self.assertLess(len(message), 2000)
        self.assertIn("and 980 more could not be attached", message)
        attaching._MAX_RANKS = 3
        try:
            self.job([1 << 22] * 4)
            self.assertIn("has 4 ranks, which can't be", self.fails("mpi-attach 4711"))
        finally:
            attaching._MAX_RANKS = 1 << 20

    def test_arguments(self) -> None:
        self.job([])
        for argument in ("x", "-- -1", "0", "1.5", "99999999999", "''"):
            self.assertIn("Illegal process-id: ", self.fails("mpi-attach " + argument))
        self.assertIn("Junk at end of arguments: \"2\"", self.fails("mpi-attach 1 2"))
        self.assertIn("Junk at end of arguments: \"1\"", self.fails("mpi-detach 1"))
        self.assertIn("has no process: name", self.fails("mpi-attach"))
        self.fake("error", code=1, message="Process 7 is no part of an MPI job.")
        self.assertEqual(self.fails("mpi-attach 7"), "Process 7 is no part of an MPI job.")
        for command in ("mpi-attach", "mpi-detach"):
            text = self.command("help " + command)
            self.assertIn("\nUsage: " + command, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 85)
            self.assertIn("%s -- " % command, self.command("apropos " + command))

    def test_non_stop(self) -> None:
        self.job(self.start(1))
        gdb.execute("set non-stop on")
        try:
            self.assertIn("`set non-stop off'", self.fails("mpi-attach 4711"))
        finally:
            gdb.execute("set non-stop off")

    def test_settings_of_a_user(self) -> None:
        for setting in ("confirm off", "schedule-multiple on", "height 3", "width 20",
                        "language ada", "debuginfod enabled off", "suppress-cli-notifications on"):
            name, value = setting.rsplit(" ", 1)
            try:
                before = gdb.execute("show " + name, to_string=True)
                gdb.execute("set " + setting)
            except gdb.error:
                continue  # not in this gdb
            self.before = settings()
            try:
                pids = self.start(2)
                self.job(pids)
                self.command("mpi-attach 4711")
                self.assert_settled()
                self.command("mpi-detach")
                self.assert_settled()
                self.assert_running(*pids)
            finally:
                default = {"confirm": "on", "language": "auto", "height": "0", "width": "0"}
                gdb.execute("set %s %s" % (name, default.get(name, "off")))
            self.assertTrue(before)
