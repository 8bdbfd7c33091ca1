"""Lists of ranks, `mpi-ranks', `mpi-rank' and `mpi-apply'."""

from typing import Any, Dict, List, Optional

import gdb
import test_inferiors
import test_jobs
from harness import HelperTest, end_program
from mpi_queues import functions, ranks, stops


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class ListsTest(HelperTest):
    """Lists of ranks in the arguments of commands."""

    def test_take(self) -> None:
        gdb.execute("set $two = 2")
        gdb.execute("set $five = 5")
        for text, expected in (
                ("", ([], "")), ("  ", ([], "")), ("bt 3", ([], "bt 3")),
                ("3", ([(3, 3)], "")), ("0-3,7", ([(0, 3), (7, 7)], "")),
                ("0 2 5-7 bt 1", ([(0, 0), (2, 2), (5, 7)], "bt 1")),
                ("0, 2 -q p 1", ([(0, 0), (2, 2)], "-q p 1")),
                ("$two-$five p $x", ([(2, 5)], "p $x")),
                ("all", (None, "")), ("all bt", (None, "bt")), ("* bt", (None, "bt")),
                ("allocate", ([], "allocate"))):
            self.assertEqual(ranks.take(text), expected, text)

    def test_wrong(self) -> None:
        for text, expected in (
                ("1-", "Invalid rank: 1-"), ("1.2 bt", "Invalid rank: 1.2"),
                ("5x", "Invalid rank: 5x"), ("3-1", "inverted range"),
                ("-1", "negative value"), ("0 -1", "negative value"),
                ("$none", "Convenience variable $none must have an integer value."),
                (",1", "Invalid rank: ,1")):
            with self.assertRaises(gdb.GdbError) as caught:
                ranks.take(text)
            self.assertEqual(str(caught.exception), expected)
        with self.assertRaises(gdb.GdbError) as caught:
            ranks.parse("0-1 x", "mpi-stacks")
        self.assertEqual(str(caught.exception), "Junk at end of arguments: \"x\".  "
                         "Try \"help mpi-stacks\".")

    def test_missing(self) -> None:
        """The work does not grow with the numbers that a range names."""
        self.assertEqual(ranks.missing([(0, 9), (20, 1 << 40)], [0, 1, 5, 25]),
                         [(2, 4), (6, 9), (20, 24), (26, 1 << 40)])
        self.assertEqual(ranks.missing([(0, 1)], [0, 1, 2]), [])
        self.assertEqual(ranks.missing([(3, 3), (3, 3)], []), [(3, 3)])

    def test_nothing(self) -> None:
        end_program()
        for command in ("mpi-ranks", "mpi-rank", "mpi-rank all", "mpi-stacks", "mpi-print 1",
                        "mpi-apply all p 1"):
            message = self.fails(command)
            self.assertIn("Invalid rank: all" if command == "mpi-rank all" else
                          "The program is not being run", message)
        for command in ("mpi-rank 3", "mpi-apply 3 p 1", "mpi-stacks 3"):
            self.assertEqual(self.fails(command), "Unknown rank 3.")


class RanksTest(test_inferiors.InferiorsTest):
    """Two inferiors, the ranks 4 and 2, and a third of no known rank."""

    def setUp(self) -> None:
        super().setUp()
        self.third = self.add_third()
        functions._places.clear()
        self.know(self.first, 4)
        self.know(self.second, 2)
        self.fake("good", rank={"rank": None, "size": None, "initialized": False})

    def know(self, number: int, rank: int) -> None:
        """Says which rank an inferior is."""
        functions._places[number] = self.inferior(number).pid, functions._Place(rank, 8)

    def places(self) -> List[Dict[str, Any]]:
        """Returns the rows of mpi-ranks, which leaves no trace in gdb."""
        before = self.look()
        self.assertEqual(self.command("mpi-ranks"), "")
        self.assertEqual(test_inferiors.selected(), before)
        rows: List[Dict[str, Any]] = self.request()["places"]
        return rows

    def test_members(self) -> None:
        self.assertEqual([(m.inferior.num, m.rank, m.name) for m in ranks.members()],
                         [(self.second, 2, "rank 2"), (self.first, 4, "rank 4"),
                          (self.third, None, "inferior %d" % self.third)])

    def test_places(self) -> None:
        pid = self.inferior(self.first).pid
        stops._reasons[self.first, pid] = "SIGILL"
        rows = self.places()
        self.assertEqual([(row["rank"], row["inferior"], row["state"], row["selected"])
                          for row in rows],
                         [(2, self.second, "stopped", False), (4, self.first, "stopped", True),
                          (None, self.third, "stopped", False)])
        self.assertEqual([(row["reason"], row["thread"]) for row in rows[:2]],
                         [("SIGILL", 1), ("SIGILL in thread 1", 2)])
        params = self.request()
        self.assertEqual(sorted(process["inferior"] for process in params["processes"]),
                         [self.first, self.second, self.third])
        self.assertEqual((params["format"], params["styled"]), ("text", False))
        self.command("mpi-ranks -json")
        self.assertEqual(self.request()["format"], "json")

    def test_ended(self) -> None:
        ranks.members()
        pid = self.inferior(self.second).pid
        self.kill(self.second)
        rows = self.places()
        self.assertEqual([(row["rank"], row["pid"], row["state"]) for row in rows][0],
                         (2, pid, "exited"))
        self.assertEqual(self.fails("mpi-rank 2"), "Unknown rank 2.")

    def thread(self) -> Any:
        """Returns the inferior and the thread that are selected."""
        thread = gdb.selected_thread()
        return gdb.selected_inferior().num, thread.num if thread else None

    def test_select(self) -> None:
        gdb.execute("thread 2", to_string=True)
        self.command("mpi-rank 2")
        self.assertEqual(self.thread(), (self.second, 1))
        self.assertIn("[Current rank is 2 (inferior %d [process " % self.second,
                      self.command("mpi-rank"))
        self.command("mpi-rank 4")
        self.assertEqual(self.thread(), (self.first, 2))
        gdb.execute("inferior %d" % self.third, to_string=True)
        self.assertIn("The rank of the current inferior is not known", self.command("mpi-rank"))

    def test_two_of_one_rank(self) -> None:
        self.know(self.second, 4)
        self.assertEqual(self.fails("mpi-rank 4"),
                         "Several processes are rank 4, those of inferiors %d, %d: `inferior %d'"
                         " selects one." % (self.first, self.second, self.first))

    def apply(self, arguments: str) -> str:
        """Returns what mpi-apply prints, which leaves no trace in what is selected."""
        before = self.look()
        try:
            return self.command("mpi-apply " + arguments)
        finally:
            self.assertEqual(test_inferiors.selected(), before)

    def test_apply(self) -> None:
        pids = [self.inferior(n).pid for n in (self.second, self.first, self.third)]
        heads = ["\nRank 2 (inferior %d, process %d):\n" % (self.second, pids[0]),
                 "\nRank 4 (inferior %d, process %d):\n" % (self.first, pids[1]),
                 "\nInferior %d (inferior %d, process %d):\n" % (self.third, self.third, pids[2])]
        self.assertEqual(self.apply("all echo x\\n"), "x\n".join(heads) + "x\n")
        self.assertEqual(self.apply("all -q output $_inferior"),
                         "%d%d%d" % (self.second, self.first, self.third))
        self.assertEqual(self.apply("4 2 -q output $_thread"), "12")
        self.assertEqual(self.apply("2 4 -s -q output 1 / ($_inferior == %d)" % self.first), "1")
        self.assertIn(heads[1] + "Undefined command", self.apply("all -c nonsense"))
        self.assertEqual(self.apply("2 -- output 1"), heads[0] + "1")

    def test_apply_fails(self) -> None:
        for arguments, expected in (
                ("", "Please specify a list of ranks"), ("bt", "Invalid rank: bt"),
                ("4", "Please specify a command following the list of ranks"),
                ("4 -q", "Please specify a command following the list of ranks"),
                ("4 -c -s p 1", "mpi-apply: -c and -s are mutually exclusive"),
                ("4 -x p 1", "Unrecognized option at: -x"),
                ("7-9 p 1", "Unknown ranks 7-9."), ("all nonsense", "Undefined command")):
            before = self.look()
            self.assertIn(expected, self.fails("mpi-apply " + arguments))
            self.assertEqual(test_inferiors.selected(), before)

    def test_complete(self) -> None:
        for text, expected in (
                ("mpi-apply a", ["mpi-apply all"]), ("mpi-apply 0-2 -", [
                    "mpi-apply 0-2 -c", "mpi-apply 0-2 -q", "mpi-apply 0-2 -s"]),
                ("mpi-apply 0,2 mpi-ran", ["mpi-apply 0,2 mpi-rank", "mpi-apply 0,2 mpi-ranks"]),
                ("mpi-apply all -q mpi-ranks -j", ["mpi-apply all -q mpi-ranks -json"]),
                ("mpi-ranks -j", ["mpi-ranks -json"]),
                ("mpi-stacks a", ["mpi-stacks all"]), ("mpi-stacks -t", ["mpi-stacks -threads"])):
            self.assertEqual(self.command("complete " + text).splitlines(), expected, text)

    def test_help(self) -> None:
        for name in ("mpi-ranks", "mpi-rank", "mpi-apply", "mpi-print", "mpi-stacks"):
            text = self.command("help " + name)
            self.assertIn("\nUsage: " + name, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 81, name)


class JobTest(test_jobs.JobTest):
    """Ranks that `mpi-attach' knows."""

    def rows(self) -> List[Any]:
        """Returns what is told of each rank."""
        self.command("mpi-ranks")
        return [(row["rank"], row["state"], row["host"]) for row in self.request()["places"]]

    def row(self, number: Optional[int], state: str, host: str = "") -> Any:
        """Returns what should be told of a rank."""
        return number, state, host

    def test_states(self) -> None:
        pids = self.start(3)
        self.job(pids[:2] + [self.rank(pids[2], 2), self.rank(5, 3, "node"),
                             self.rank(6, 4, exited=True)])
        self.command("mpi-attach 4711")
        gdb.execute("set confirm off")
        numbers = {i.pid: i.num for i in gdb.inferiors()}
        gdb.execute("detach inferiors %d" % numbers[pids[2]], to_string=True)
        gdb.execute("inferior %d" % numbers[pids[1]], to_string=True)
        gdb.execute("continue &", to_string=True)
        self.assertEqual(self.rows(), [
            self.row(0, "stopped"), self.row(1, "running"), self.row(2, "not attached"),
            self.row(3, "not attached", "node"), self.row(4, "exited")])
        self.command("mpi-stacks")
        self.assertEqual([(u["rank"], u["reason"]) for u in self.request()["unread"]],
                         [(1, "running"), (2, "not attached"), (3, "on node"), (4, "exited")])
        self.command("mpi-print 7")
        self.assertEqual([(e["rank"], e["text"], e["failure"])
                          for e in self.request()["evaluations"]],
                         [(0, "7", ""), (1, "", "running")])
        self.assertIn("is running", self.command("mpi-apply 1 -q bt"))
        self.assertEqual(self.fails("mpi-rank 3"), "Rank 3 is not attached.")
