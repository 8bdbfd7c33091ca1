"""`-all' and `mpi-deadlock': several processes in one request."""

import os
from typing import Any, Dict, List

import gdb
import test_inferiors
import test_jobs
from harness import end_program, run_program
from mpi_queues import commands, jobs, process, process_exit, selection


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class AllTest(test_inferiors.InferiorsTest):
    """-all."""

    def asked(self, command: str) -> Dict[str, Any]:
        """Returns what a command, which shows nothing, asks for."""
        before = self.look()
        self.fake("good")
        self.assertEqual(self.command(command), "")
        self.assertEqual(test_inferiors.selected(), before)
        return self.request()

    def test_processes(self) -> None:
        third = self.add_third()
        self.add("")
        with selection.inferior_selected(self.second):
            expected = process.current_process()
        gdb.execute("inferior %d" % third, to_string=True)
        gdb.execute("inferior %d" % self.first, to_string=True)
        for command in ("mpi-queues -all", "mpi-deadlock -all"):
            params = self.asked(command)
            self.assertEqual([p["inferior"] for p in params["processes"]],
                             [self.first, self.second, third])
            self.assertEqual(params["processes"][1], expected)
            self.assertEqual((params["obstacles"], params["source"]["starters"]), ([], []))

    def test_without(self) -> None:
        """The current inferior alone, whatever others there are."""
        for command in ("mpi-queues", "mpi-deadlock"):
            params = self.asked(command)
            self.assertEqual([p["inferior"] for p in params["processes"]], [self.first])
            self.assertEqual([p["inferior"] for p in params["source"]["starters"]], [self.second])
            self.assertEqual(params["obstacles"], [])

    def test_no_process_is_selected(self) -> None:
        self.kill(self.first)
        self.fake("good")
        self.assertIn("The program is not being run", self.fails("mpi-queues"))
        self.assertEqual(self.command("mpi-queues -all"), "")
        self.assertEqual([p["inferior"] for p in self.request()["processes"]], [self.second])
        self.assertEqual(gdb.selected_inferior().num, self.first)
        self.kill(self.second)
        for command in ("mpi-queues -all", "mpi-deadlock -all"):
            self.assertIn("The program is not being run: `mpi-attach'", self.fails(command))

    def test_obstacles(self) -> None:
        describe = process._describe

        def failing(inferior: gdb.Inferior) -> Any:
            if inferior.num == self.second:
                raise gdb.error("Can't fetch\nregisters.")
            return describe(inferior)

        setattr(process, "_describe", failing)
        try:
            params = self.asked("mpi-queues -all")
            obstacle = params["obstacles"][0]
            self.assertEqual(os.path.basename(obstacle.pop("executable")), "debug")
            self.assertEqual(params["obstacles"], [{
                "inferior": self.second, "pid": self.inferior(self.second).pid, "rank": None,
                "reason": "Can't fetch registers."}])
            self.assertEqual([p["inferior"] for p in params["processes"]], [self.first])
            self.kill(self.first)
            self.assertEqual(self.fails("mpi-queues -all"), "Can't fetch registers.")
        finally:
            setattr(process, "_describe", describe)

    def test_exits(self) -> None:
        """The helper hears of each process that it was told of."""
        process_exit._known.clear()
        pids = [(number, self.inferior(number).pid) for number in (self.first, self.second)]
        self.fake("good")
        self.command("mpi-queues -all")
        self.kill(self.second)
        self.kill(self.first)
        run_program("plain")
        self.command("mpi-queues")
        gone = [m["params"] for m in self.received() if m.get("method") == "exited"]
        self.assertEqual(sorted((p["inferior"], p["pid"]) for p in gone), pids)

    def test_deadlock(self) -> None:
        params = self.asked("mpi-deadlock -all -json")
        self.assertEqual(sorted(params), ["absent", "format", "obstacles", "processes", "source",
                                          "styled", "window"])
        self.assertEqual((params["format"], params["styled"], params["absent"]),
                         ("json", False, []))
        self.assertEqual(self.asked("mpi-deadlock")["format"], "text")
        path = os.path.join(self.folder, "out")
        self.fake("calls", calls=[["output/write", {"stream": "display", "length": 0,
                                                    "data": "YWJj", "last": False}]])
        self.assertEqual(self.command("mpi-deadlock -all -output " + path), "")
        with open(path) as file:
            self.assertEqual(file.read(), "abc")
        self.assertEqual(self.command("mpi-deadlock"), "abc")
        for arguments, expected in (("-all x", "Junk at end of arguments: \"x\".  Try \"help"
                                     " mpi-deadlock\"."), ("-comm x", "Unrecognized option"),
                                    ("-output", "requires an argument")):
            self.assertIn(expected, self.fails("mpi-deadlock " + arguments))

    def test_help(self) -> None:
        text = self.command("help mpi-deadlock")
        self.assertIn("\nUsage: mpi-deadlock [OPTION]...\n\nOptions:\n  -all\n", text)
        for option in commands._DEADLOCK_OPTIONS:
            self.assertIn("\n  -" + option.name, text)
        self.assertEqual(self.command("complete mpi-deadlock -").splitlines(),
                         ["mpi-deadlock -all", "mpi-deadlock -json", "mpi-deadlock -output",
                          "mpi-deadlock -svg"])
        self.assertLessEqual(max(map(len, text.splitlines())), 80)


class RanksTest(test_jobs.JobTest):
    """What `mpi-attach' has learned goes with the processes."""

    def ranks(self, members: List[Any]) -> List[Any]:
        """Returns the ranks of processes or obstacles."""
        return [member["rank"] for member in members]

    def test_ranks(self) -> None:
        pids = self.start(4)
        stranger = self.start(1)[0]
        others = [self.rank(pids[3], 3), self.rank(5, 4, "node"), self.rank(6, 5, exited=True)]
        found = self.job(pids[:3] + others)
        self.command("mpi-attach 4711")
        gdb.execute("set confirm off")
        number = next(i.num for i in gdb.inferiors() if i.pid == pids[3])
        gdb.execute("detach inferiors %d" % number, to_string=True)
        gdb.execute("add-inferior -no-connection", to_string=True)
        gdb.execute("inferior %d" % max(i.num for i in gdb.inferiors()), to_string=True)
        gdb.execute("attach %d" % stranger, to_string=True)
        self.command("mpi-deadlock -all")
        params = self.request()
        self.assertEqual(self.ranks(params["processes"]), [0, 1, 2, None])
        self.assertEqual(params["absent"], found["ranks"][3:])
        self.command("mpi-queues")
        self.assertEqual(self.ranks(self.request()["processes"]), [None])
        self.assertEqual(self.ranks(self.request()["source"]["starters"]), [0, 1, 2])
        self.command("mpi-deadlock")
        self.assertEqual(self.request()["absent"], [])
        self.command("mpi-detach")
        self.assertEqual(jobs.absent(), [])
        self.command("mpi-deadlock -all")
        self.assertEqual(self.request()["absent"], [])

    def test_running(self) -> None:
        """One that runs is an obstacle, with its rank."""
        pids = self.start(3)
        self.job(pids)
        self.command("mpi-attach 4711")
        number = next(i.num for i in gdb.inferiors() if i.pid == pids[1])
        gdb.execute("inferior %d" % number, to_string=True)
        gdb.execute("continue &", to_string=True)
        self.command("mpi-queues -all -json")
        params = self.request()
        self.assertEqual(self.ranks(params["processes"]), [0, 2])
        self.assertEqual(self.ranks(params["obstacles"]), [1])
        self.assertRegex(params["obstacles"][0]["reason"], r"^Thread %d\.1 is running" % number)
        self.assertIn("is running", self.fails("mpi-queues"))
