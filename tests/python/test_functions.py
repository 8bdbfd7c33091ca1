"""$mpi_rank(), $mpi_size(), $mpi_comm_rank() and $mpi_comm()."""

from typing import Any, List

import gdb
from harness import StoppedTest, end_program, evaluate, run_program
from mpi_queues import functions


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class FunctionsTest(StoppedTest):
    """The functions in a program that has stopped."""

    program = "handles"

    def setUp(self) -> None:
        super().setUp()
        functions._places.clear()
        self.select("inner")

    def asked(self, method: str) -> List[Any]:
        """Returns the parameters of the requests of a method."""
        return [m["params"] for m in self.received() if m.get("method") == method]

    def place(self, rank: Any, size: Any, initialized: bool = True) -> None:
        """Says what the helper answers."""
        functions._places.clear()
        self.fake("good", rank={"rank": rank, "size": size, "initialized": initialized})

    def test_place(self) -> None:
        self.place(3, 8)
        self.assertEqual((evaluate("$mpi_rank()"), evaluate("$mpi_size()")), (3, 8))
        self.assertEqual(evaluate("$mpi_rank() + $mpi_size()"), 11)
        self.assertEqual([p["process"]["inferior"] for p in self.asked("rank")], [self.number])

    def test_before_init(self) -> None:
        """What the launcher says can change, and is asked for each time."""
        self.place(3, 8, False)
        self.assertEqual((evaluate("$mpi_rank()"), evaluate("$mpi_rank()")), (3, 3))
        self.assertEqual(len(self.asked("rank")), 2)

    def test_unknown(self) -> None:
        self.place(None, None, False)
        self.assertIn("The rank of this process is not known", self.fails("print $mpi_rank()"))
        self.assertIn("The size of MPI_COMM_WORLD is not known", self.fails("print $mpi_size()"))
        self.assertIn("You must provide no arguments to $mpi_rank.",
                      self.fails("print $mpi_rank(1)"))
        self.fake("error", code=1, message="Nothing.")
        self.assertIn("Nothing.", self.fails("print $mpi_rank()"))

    def test_condition(self) -> None:
        """gdb tells of no stop where a condition is false, and evaluates it in the process's own
        inferior."""
        for rank, stops in ((3, True), (4, False)):
            self.place(rank, 8)
            gdb.execute("break stop if $mpi_rank() == 3", to_string=True)
            try:
                run_program(self.program)
                where = gdb.execute("info program", to_string=True)
                self.assertEqual("It stopped at breakpoint" in where
                                 or "It stopped at a breakpoint" in where, stops, where)
                self.assertEqual(len(self.asked("rank")), 1)
            finally:
                gdb.execute("delete", to_string=True)

    def test_another_process(self) -> None:
        self.place(3, 8)
        self.assertEqual(evaluate("$mpi_rank()"), 3)
        run_program(self.program)
        self.assertEqual(evaluate("$mpi_rank()"), 3)
        self.assertEqual(len(self.asked("rank")), 2)

    def test_communicator_rank(self) -> None:
        self.fake("handles")
        for expression, value in (("comm", 10), ("halo.comm", 31), ("integer + 12", 7)):
            self.assertEqual(evaluate("$mpi_comm_rank(%s)" % expression), value)
            self.assertEqual(evaluate("$mpi_comm_rank(%s)" % expression), value)
        self.assertEqual(len(self.asked("handles")), 6)
        self.assertIn("This process has no rank in", self.fails("print $mpi_comm_rank(unknown)"))
        self.assertIn("takes a communicator, and not a value of type \"double\"",
                      self.fails("print $mpi_comm_rank(real)"))
        self.assertIn("You must provide one argument", self.fails("print $mpi_comm_rank()"))

    def test_communicator(self) -> None:
        self.fake("good", **{"communicator/find": {"handle": 10}})
        self.assertEqual(evaluate("$mpi_comm(\"halo exchange\") == comm"), 1)
        self.assertEqual(str(gdb.parse_and_eval("$mpi_comm(\"x\")").type), "MPI_Comm")
        self.assertEqual([p["name"] for p in self.asked("communicator/find")],
                         ["halo exchange", "x"])
        self.assertIn("takes the name of a communicator as a string",
                      self.fails("print $mpi_comm(comm)"))
        self.fake("good", **{"communicator/find": {"handle": None}})
        self.assertIn("The handle of the communicator \"x\" is not known.",
                      self.fails("print $mpi_comm(\"x\")"))

    def test_no_process(self) -> None:
        end_program()
        try:
            self.assertIn("The program is not being run", self.fails("print $mpi_rank()"))
        finally:
            run_program(self.program)

    def test_help(self) -> None:
        text = self.command("help function")
        for name in ("mpi_rank", "mpi_size", "mpi_comm_rank", "mpi_comm"):
            self.assertIn("function %s -- " % name, text)
            self.assertIn("Usage: $%s (" % name, self.command("help function " + name))
